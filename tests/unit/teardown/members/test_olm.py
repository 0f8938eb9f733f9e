# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of an operator that OLM installed."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.olm import olm_membership
from ansible_collections.sunset.kube.tests.unit.fakes import Call, named, record, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    INSTALL_PLANS,
    OLM,
    OPERATOR_GROUPS,
    SUBSCRIPTIONS,
    VERSIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SECRETS, SERVED, InMemoryCluster

PACKAGE = "operators.coreos.com/shop-operator.shop"
SPEC: dict[str, Any] = {
    "install": {
        "spec": {
            "deployments": [{"name": "shop-controller"}],
            "permissions": [{"serviceAccountName": "shop-operator"}],
            "clusterPermissions": [{"serviceAccountName": "shop-operator"}, {"serviceAccountName": "shop-reader"}],
        }
    },
    "customresourcedefinitions": {"owned": [{"name": "orders.shop.example.com", "kind": "Order", "version": "v1"}]},
    "apiservicedefinitions": {"owned": [{"group": "stock.example.com", "version": "v1", "kind": "Stock"}]},
}


def version(cluster: InMemoryCluster, name: str = "shop-operator.v1.2.0", namespace: str = "shop", **more: Any) -> Any:
    return cluster.add(VERSIONS, name, namespace, **{"spec": SPEC, **more})


def subscription(cluster: InMemoryCluster, name: str = "shop", **more: Any) -> Any:
    status = {"installedCSV": "shop-operator.v1.2.0", "currentCSV": "shop-operator.v1.2.0"}
    return cluster.add(SUBSCRIPTIONS, name, **{"spec": {"name": "shop-operator"}, "status": status, **more})


def installed() -> InMemoryCluster:
    cluster = InMemoryCluster(*SERVED, *OLM)
    subscription(cluster)
    version(cluster)
    return cluster


def found_in(cluster: InMemoryCluster, name: str = "shop") -> Membership:
    return olm_membership(name, "shop", cluster)


def claims(found: Membership, *, kept: bool = False) -> list[str]:
    return [
        f"{claim.kind} {claim.namespace}/{claim.name}".replace(" /", " ")
        for claim in found.claims
        if bool(claim.keep) is kept
    ]


def why_kept(found: Membership) -> dict[str, str]:
    return {f"{claim.kind} {claim.name}": claim.keep for claim in found.claims if claim.keep}


def test_the_installed_version_names_what_belongs_to_it() -> None:
    found = found_in(installed())
    assert claims(found) == [
        "Subscription shop/shop",
        "ClusterServiceVersion shop/shop-operator.v1.2.0",
        "OperatorCondition shop/shop-operator.v1.2.0",
        "Deployment shop/shop-controller",
        "ServiceAccount shop/shop-operator",
        "ServiceAccount shop/shop-reader",
        "CustomResourceDefinition orders.shop.example.com",
        "APIService v1.stock.example.com",
    ]
    assert [(claim.kind, claim.name) for claim in found.records] == [("Operator", "shop-operator.shop")]
    assert found.warnings == []


def test_what_olm_labelled_is_searched_where_it_can_be() -> None:
    labels = "olm.owner=shop-operator.v1.2.0,olm.owner.namespace=shop,olm.owner.kind=ClusterServiceVersion"
    searched = {(search.kind, search.namespace) for search in found_in(installed()).searches}
    assert {search.label_selector for search in found_in(installed()).searches} == {labels}
    assert searched == {
        *((kind, "shop") for kind in ("Deployment", "Service", "ServiceAccount", "Role", "RoleBinding")),
        *((kind, None) for kind in ("ClusterRole", "ClusterRoleBinding")),
        *((f"{kind}WebhookConfiguration", None) for kind in ("Validating", "Mutating")),
    }


@pytest.mark.parametrize("cluster", [InMemoryCluster(), InMemoryCluster(*SERVED, *OLM)], ids=["no OLM", "no such one"])
def test_what_is_not_there_is_missing(cluster: InMemoryCluster) -> None:
    assert "there is no OLM Subscription shop/shop" in found_in(cluster).missing


def test_an_upgrade_under_way_has_two_versions() -> None:
    cluster = installed()
    subscription(cluster, status={"installedCSV": "shop-operator.v1.2.0", "currentCSV": "shop-operator.v1.3.0"})
    version(cluster, "shop-operator.v1.3.0")
    versions = [text for text in claims(found_in(cluster)) if text.startswith("ClusterServiceVersion")]
    assert versions == [f"ClusterServiceVersion shop/shop-operator.v1.{minor}.0" for minor in (2, 3)]


LEFT: dict[str, tuple[str, dict[str, Any], str]] = {
    "by its label": ("operator-x.v1", {"labels": {PACKAGE: ""}}, "shop-operator"),
    "by its name": ("shop-operator.v1.2.0", {}, "shop-operator"),
}


@pytest.mark.parametrize(("name", "facts", "asked"), named(LEFT))
def test_a_run_that_was_cut_off_after_the_subscription_goes_on(name: str, facts: dict[str, Any], asked: str) -> None:
    cluster = InMemoryCluster(*SERVED, *OLM)
    version(cluster, name, **facts)
    found = found_in(cluster, asked)
    assert f"ClusterServiceVersion shop/{name}" in claims(found)
    assert "is gone; what its installed versions brought is taken" in found.warnings[0]


# -- what others need, too ---------------------------------------------------------------------------------------------


def test_a_definition_that_another_operator_owns_too_stays() -> None:
    cluster = installed()
    version(cluster, "shop-operator.v1.2.0", "bank")
    assert why_kept(found_in(cluster)) == {
        f"CustomResourceDefinition {name}": "ClusterServiceVersion bank/shop-operator.v1.2.0 owns it, too"
        for name in ("orders.shop.example.com",)
    } | {"APIService v1.stock.example.com": "ClusterServiceVersion bank/shop-operator.v1.2.0 owns it, too"}


def test_a_copy_is_no_second_owner_and_goes_along() -> None:
    cluster = installed()
    version(cluster, "shop-operator.v1.2.0", "bank", labels={"olm.copiedFrom": "shop"})
    version(cluster, "other.v1", "bank", labels={"olm.copiedFrom": "shop"})
    found = found_in(cluster)
    assert why_kept(found) == {}
    assert "ClusterServiceVersion bank/shop-operator.v1.2.0" in claims(found)
    assert "ClusterServiceVersion bank/other.v1" not in claims(found)


def test_who_cannot_see_other_namespaces_keeps_what_others_may_own() -> None:
    cluster = installed()

    def only_here(call: Call) -> Answer | None:
        everywhere = call.verb == "list" and call.resource == VERSIONS and not call.namespace
        return refusal(403, "Forbidden", "not everywhere") if everywhere and not call.metadata_only else None

    cluster.server.meddlers.append(only_here)
    kept = why_kept(found_in(cluster))
    assert set(kept) == {"CustomResourceDefinition orders.shop.example.com", "APIService v1.stock.example.com"}
    assert all("cannot be seen (HTTP 403 Forbidden, not everywhere)" in why for why in kept.values())


def test_an_account_that_a_neighbour_uses_stays() -> None:
    cluster = installed()
    version(cluster, "other.v1", spec={"install": SPEC["install"]})
    assert why_kept(found_in(cluster))["ServiceAccount shop-reader"] == (
        "ClusterServiceVersion shop/other.v1 uses it, too"
    )


PLANS: dict[str, tuple[dict[str, Any], bool, str]] = {
    "by the subscription": ({"ownerReferences": [{"uid": "Subscription-shop-shop"}]}, True, ""),
    "by the version": ({"spec": {"clusterServiceVersionNames": ["shop-operator.v1.2.0"]}}, True, ""),
    "of somebody else": ({"spec": {"clusterServiceVersionNames": ["other.v1"]}}, False, ""),
    "of both": (
        {"spec": {"clusterServiceVersionNames": ["shop-operator.v1.2.0", "other.v1"]}},
        True,
        "it also installed other.v1",
    ),
}


@pytest.mark.parametrize(("facts", "taken", "why"), named(PLANS))
def test_the_plans_that_installed_it_go_with_it(facts: dict[str, Any], taken: bool, why: str) -> None:
    cluster = installed()
    version(cluster, "other.v1", spec={})
    cluster.add(INSTALL_PLANS, "install-abc", **facts)
    found = {claim.name: claim.keep for claim in found_in(cluster).claims if claim.kind == "InstallPlan"}
    assert found == ({"install-abc": why} if taken else {})


def group(cluster: InMemoryCluster, name: str = "shop-group") -> dict[str, str]:
    cluster.add(OPERATOR_GROUPS, name)
    return {claim.name: claim.keep for claim in found_in(cluster).claims if claim.kind == "OperatorGroup"}


def test_an_operator_group_that_nobody_else_needs_goes_with_its_roles() -> None:
    cluster = installed()
    assert group(cluster) == {"shop-group": ""}
    labels = "olm.owner=shop-group,olm.owner.namespace=shop,olm.owner.kind=OperatorGroup"
    searches = [search for search in found_in(cluster).searches if search.label_selector == labels]
    assert [(search.kind, search.namespace) for search in searches] == [("ClusterRole", None)]


def test_an_operator_group_stays_for_another_version() -> None:
    cluster = installed()
    version(cluster, "other.v1", spec={})
    assert group(cluster) == {"shop-group": "ClusterServiceVersion shop/other.v1 needs it, too"}


def test_an_operator_group_stays_for_another_subscription() -> None:
    cluster = installed()
    cluster.add(SUBSCRIPTIONS, "bank")
    assert group(cluster) == {"shop-group": "Subscription shop/bank needs it, too"}


def test_the_operator_group_that_comes_with_olm_stays() -> None:
    assert group(installed(), "global-operators") == {"global-operators": "it comes with OLM itself"}


def test_certificates_of_its_webhooks_are_members() -> None:
    cluster = installed()
    uid = "ClusterServiceVersion-shop-shop-operator.v1.2.0"
    managed = {"olm.managed": "true"}
    cluster.add(SECRETS, "shop-cert", labels=managed, ownerReferences=[{"uid": uid}])
    cluster.add(SECRETS, "other-cert", labels=managed, ownerReferences=[{"uid": "other"}])
    assert [text for text in claims(found_in(cluster)) if text.startswith("Secret")] == ["Secret shop/shop-cert"]


def test_a_name_too_long_for_a_label_is_not_searched() -> None:
    cluster = InMemoryCluster(*SERVED, *OLM)
    long = "shop-operator.v" + "1" * 60
    subscription(cluster, status={"installedCSV": long})
    version(cluster, long)
    found = found_in(cluster)
    assert (found.searches, f"ClusterServiceVersion shop/{long}" in claims(found)) == ([], True)


# -- whose objects they are --------------------------------------------------------------------------------------------

OWN = {"olm.owner": "shop-operator.v1.2.0", "olm.owner.kind": "ClusterServiceVersion", "olm.owner.namespace": "shop"}
MARKS: dict[str, tuple[dict[str, str], bool, str]] = {
    "labelled": (OWN, True, ""),
    "of another version": (
        {**OWN, "olm.owner": "other.v1"},
        True,
        "it belongs to ClusterServiceVersion shop/other.v1",
    ),
    "of another version, found beyond": (
        {**OWN, "olm.owner": "other.v1"},
        False,
        "it belongs to ClusterServiceVersion shop/other.v1",
    ),
    "of the operator group that goes, too": (
        {**OWN, "olm.owner": "shop-group", "olm.owner.kind": "OperatorGroup"},
        True,
        "",
    ),
    "of another operator group": (
        {**OWN, "olm.owner": "g", "olm.owner.kind": "OperatorGroup"},
        True,
        "it belongs to OperatorGroup shop/g",
    ),
    "of a namesake elsewhere": (
        {"olm.owner": "shop-group", "olm.owner.kind": "OperatorGroup", "olm.owner.namespace": "bank"},
        True,
        "it belongs to OperatorGroup bank/shop-group",
    ),
    "of the same version elsewhere": (
        {**OWN, "olm.owner.namespace": "bank"},
        True,
        "it belongs to ClusterServiceVersion bank/shop-operator.v1.2.0",
    ),
    "unlabelled": ({}, True, "it carries no label olm.owner"),
    "never labelled": ({}, False, ""),
}


@pytest.mark.parametrize(("labels", "marked", "why"), named(MARKS))
def test_a_live_object_must_still_be_of_an_installed_version(labels: dict[str, str], marked: bool, why: str) -> None:
    cluster = installed()
    cluster.add(OPERATOR_GROUPS, "shop-group")
    not_ours = found_in(cluster).not_ours
    assert not_ours is not None
    assert not_ours(record(labels=labels), marked) == why
