# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A namespace that is empty and does not go: finalizers of its spec, and who should take the last one off."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import (
    Blocked,
)
from ansible_collections.sunset.kube.tests.unit.fakes import LEASES, NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.blockers.explaining import explained
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, InMemoryCluster, api_error

LONG_AGO, NOW = "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z"


def namespace(*finalizers: str, **more: Any) -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", spec={"finalizers": list(finalizers)}, **{"deleted": True, **more})
    return cluster


def of_namespace(cluster: InMemoryCluster) -> Blocked:
    return explained(cluster).blocked[0]


def manager(cluster: InMemoryCluster, renewed: str) -> InMemoryCluster:
    spec = {"holderIdentity": "master-0_1", "leaseDurationSeconds": 15, "renewTime": renewed}
    cluster.add(LEASES, "kube-controller-manager", "kube-system", spec=spec)
    return cluster


def test_a_finalizer_of_somebody_else_in_its_spec_is_told() -> None:
    row = of_namespace(namespace("kubernetes", "openshift.io/origin"))
    [cause] = row.causes
    assert (cause.what, cause.certain) == ("spec finalizer", True)
    assert cause.text.startswith("openshift.io/origin in its spec.finalizers holds it")
    assert row.suggestion.endswith("kubectl get namespace shop -o yaml")


def test_a_namespace_that_is_not_deleted_is_held_by_nothing() -> None:
    assert of_namespace(namespace("kubernetes", "openshift.io/origin", deleted=False)).causes == []


def test_a_controller_that_is_not_heard_of_is_why_an_empty_namespace_stays() -> None:
    row = of_namespace(manager(namespace("kubernetes"), LONG_AGO))
    [cause] = row.causes
    assert (cause.what, cause.text) == (
        "controller",
        "nothing is left in it, but nobody ends it: kube-controller-manager was last heard of 3600 s ago"
        " (Lease kube-system/kube-controller-manager)",
    )
    assert row.suggestion.startswith("bring kube-controller-manager back")


def full(cluster: InMemoryCluster) -> InMemoryCluster:
    cluster.add(CONFIG_MAPS, "left")
    return cluster


NOT_ITS_FAULT = {
    "it is alive": manager(namespace("kubernetes"), NOW),
    "it has no Lease": namespace("kubernetes"),
    "something is left": full(manager(namespace("kubernetes"), LONG_AGO)),
}


@pytest.mark.parametrize("cluster", NOT_ITS_FAULT.values(), ids=NOT_ITS_FAULT)
def test_the_controller_is_not_blamed_where_nothing_proves_it(cluster: InMemoryCluster) -> None:
    assert "controller" not in [cause.what for cause in of_namespace(cluster).causes]


def test_a_lease_that_may_not_be_seen_is_said_and_proves_nothing() -> None:
    cluster = manager(namespace("kubernetes"), LONG_AGO)
    cluster.unseen["leases"] = api_error(403, "Forbidden", "no")
    told = explained(cluster)
    assert told.blocked[0].causes == []
    assert "whether kube-controller-manager is alive: HTTP 403 Forbidden, no" in told.unreadable


ASKED = {"an empty one": (namespace("kubernetes"), 1), "one with content": (full(namespace("kubernetes")), 0)}


@pytest.mark.parametrize(("cluster", "times"), named(ASKED))
def test_the_controller_is_asked_for_only_where_a_namespace_is_empty(cluster: InMemoryCluster, times: int) -> None:
    explained(cluster)
    asked = [each.path for each in cluster.server.asked]
    assert asked.count(LEASES.path("kube-system", "kube-controller-manager")) == times
