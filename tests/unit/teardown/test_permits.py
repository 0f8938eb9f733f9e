# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which ServiceAccounts may change objects of a kind."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.permits import (
    Binding,
    Permit,
    Permits,
    fetch_permits,
)
from ansible_collections.sunset.kube.plugins.module_utils.well_known import BINDINGS, ROLES
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, PODS, cluster_on, named, refusal

OPS = ("ops", "dns")


def rule(groups: str, resources: str, verbs: str, **more: Any) -> dict[str, Any]:
    return {"apiGroups": groups.split(), "resources": resources.split(), "verbs": verbs.split(), **more}


def permits(*rules: dict[str, Any], namespace: str = "") -> Permits:
    role = ("ClusterRole", "", "dns")
    return Permits({role: rules}, [Binding(namespace, role, (OPS,))])


G = DOMAINS.group
# name: (rules, kind, whether by name; None: not at all)
RULES: dict[str, tuple[dict[str, Any], Resource, bool | None]] = {
    "the kind itself": (rule(G, "domains", "get patch"), DOMAINS, True),
    "update is enough": (rule(G, "domains", "update"), DOMAINS, True),
    "its finalizers": (rule(G, "domains/finalizers", "update"), DOMAINS, True),
    "every verb": (rule(G, "domains", "*"), DOMAINS, True),
    "its whole group": (rule(G, "*", "patch"), DOMAINS, True),
    "its name in every group": (rule("*", "domains", "patch"), DOMAINS, True),
    "everything": (rule("*", "*", "*"), DOMAINS, False),
    "only looking": (rule(G, "domains", "get list watch"), DOMAINS, None),
    "only its status": (rule(G, "domains/status", "patch"), DOMAINS, None),
    "another group": (rule("other.example.com", "domains", "patch"), DOMAINS, None),
    "another kind": (rule(G, "zones", "patch"), DOMAINS, None),
    "one object by name": (rule(G, "domains", "patch", resourceNames=["web"]), DOMAINS, None),
    "no resources at all": ({"nonResourceURLs": ["/metrics"], "verbs": ["*"]}, DOMAINS, None),
    "pods of the core group": ({"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}, PODS, True),
}


@pytest.mark.parametrize(("given", "kind", "by_name"), named(RULES))
def test_what_a_rule_allows(given: dict[str, Any], kind: Resource, by_name: bool | None) -> None:
    expected = [] if by_name is None else [Permit(OPS, "", by_name)]
    assert permits(given).to_change(kind, "shop") == expected


def test_a_permit_of_one_namespace_is_none_elsewhere() -> None:
    here = permits(rule(G, "domains", "patch"), namespace="shop")
    assert here.to_change(DOMAINS, "shop")
    assert here.to_change(DOMAINS, "bank") == []


def test_roles_and_bindings_are_read_with_four_lists() -> None:
    server = FakeServer(*ROLES, *BINDINGS)
    account, person = {"kind": "ServiceAccount", "name": "dns"}, {"kind": "User", "name": "jo"}
    everywhere, here = {"kind": "ClusterRole", "name": "everywhere"}, {"kind": "Role", "name": "here"}
    rules = {"rules": [rule(G, "domains", "patch")]}
    server.add(ROLES[0], "everywhere", "").update(rules)
    server.add(ROLES[1], "here", "shop").update(rules)
    server.add(BINDINGS[0], "a", "").update(roleRef=everywhere, subjects=[{**account, "namespace": "ops"}, person])
    server.add(BINDINGS[0], "b", "").update(roleRef=everywhere, subjects=[person])
    server.add(BINDINGS[1], "c", "shop").update(roleRef=here, subjects=[account])
    found = fetch_permits(cluster_on(server))
    assert found.to_change(DOMAINS, "shop") == [Permit(OPS, "", True), Permit(("shop", "dns"), "shop", True)]
    lists = [asked for asked in server.asked if "rbac" in asked.path]
    assert len(lists) == 4


def test_who_holds_a_role_that_is_put_together_from_others_is_nobody_in_particular() -> None:
    """Whoever has `edit` may change every kind that a product adds to it, a pipeline for example."""
    server = FakeServer(*ROLES, *BINDINGS)
    edit = {"rules": [rule(G, "domains", "patch")], "aggregationRule": {"clusterRoleSelectors": []}}
    server.add(ROLES[0], "edit", "").update(edit)
    subjects = [{"kind": "ServiceAccount", "name": "dns", "namespace": "ops"}]
    server.add(BINDINGS[0], "a", "").update(roleRef={"kind": "ClusterRole", "name": "edit"}, subjects=subjects)
    assert fetch_permits(cluster_on(server)).to_change(DOMAINS, "shop") == [Permit(OPS, "", False)]


def test_a_cluster_without_roles_is_not_one_that_may_not_be_looked_at() -> None:
    assert fetch_permits(cluster_on(FakeServer())).unreadable == []


def test_roles_that_may_not_be_listed_are_said() -> None:
    server = FakeServer(*ROLES, *BINDINGS)
    server.refuse("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", refusal(403, "Forbidden", "no"))
    assert fetch_permits(cluster_on(server)).unreadable == ["ClusterRoles: HTTP 403 Forbidden, no"]
