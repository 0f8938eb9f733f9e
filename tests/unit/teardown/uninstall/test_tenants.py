# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whoever may not look at everything is told so, and goes on where it was only good to know."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, LEASES, NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import InMemoryCluster, api_error
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, goes, uninstalled

OPERATOR = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "operator", "namespace": "shop"}}
WANTED: dict[str, Any] = {"manifests": [OPERATOR], "namespace": "shop", "profile": "none", "stages": ["delete"]}


def without(plural: str, status: int) -> InMemoryCluster:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(DEPLOYMENTS, "operator")
    cluster.add(LEASES, "leader", spec={"holderIdentity": "operator-6f9c8b7d4-x2xkz_1"})
    cluster.unseen[plural] = api_error(status, message="no")
    return cluster


UNSEEN = {
    "his namespace": (
        "namespaces",
        {"Deployment shop/operator", "Lease shop/leader"},
        "namespace shop is being deleted",
    ),
    "Leases": ("leases", {"Deployment shop/operator"}, "leader Leases in shop stay"),
}


@pytest.mark.parametrize(("plural", "going", "said"), named(UNSEEN))
def test_a_tenant_plans_without_what_he_may_not_see(plural: str, going: set[str], said: str) -> None:
    plan = uninstalled(without(plural, 403), check_mode=True, **WANTED)
    assert plan.failure is None
    assert goes(plan) == going
    assert [said in text for text in plan.warnings] == [True]


@pytest.mark.parametrize("plural", ["namespaces", "leases"])
def test_what_does_not_answer_is_not_taken_for_forbidden(plural: str) -> None:
    with pytest.raises(ApiError, match="HTTP 500"):
        uninstalled(without(plural, 500), check_mode=True, **WANTED)


def test_a_namespace_that_is_to_go_must_be_seen() -> None:
    with pytest.raises(ApiError, match="HTTP 403"):
        uninstalled(without("namespaces", 403), check_mode=True, delete_namespace=True, **WANTED)
