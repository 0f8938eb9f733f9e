# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What still bears a trace of an application that should be gone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.leftovers import look_for_leftovers
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.traces import INSTANCE, Traces
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, LEASES, NAMESPACES, Told
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import BASKETS, F
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import SHOP as PRODUCT
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import APPLICATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, DEFINITIONS, InMemoryCluster
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import a_cluster, uninstalled

SHOP = frozenset({"shop"})
OPERATOR = frozenset({("shop", "shop-operator")})
LABELLED: dict[str, Any] = {"labels": {INSTANCE: "shop"}}


def left(traces: Traces, resource: Resource, name: str, **more: Any) -> list[tuple[str, str]]:
    """What is found in a cluster with this one object: trace and reason."""
    cluster = InMemoryCluster()
    cluster.add(resource, name, **more)
    found = look_for_leftovers(traces, cluster, cluster.clock, Deadline(cluster.clock, 60), Told())
    return [(one.trace, one.why) for one in found.found]


@pytest.mark.parametrize(
    ("traces", "why"),
    [
        (Traces("x", workloads=OPERATOR), "a workload that is gone held it"),
        (Traces("x", accounts=OPERATOR), "it is named after a ServiceAccount that is gone"),
    ],
    ids=["of a workload", "of an account, when the workload went before"],
)
def test_a_leader_lease_is_found_by_the_name_of_its_holder(traces: Traces, why: str) -> None:
    assert left(traces, LEASES, "shop-operator-leader") == [("lease", why)]
    assert left(traces, LEASES, "shop-operators-leader") == []
    assert left(traces, LEASES, "shop-operator", namespace="other") == []


def test_a_lease_named_after_somebody_who_is_there_is_no_leftover() -> None:
    cluster = InMemoryCluster()
    cluster.add(LEASES, "shop-leader")
    cluster.add(LEASES, "shop-billing-leader")
    cluster.add(DEPLOYMENTS, "shop-billing")
    traces = Traces("x", workloads=frozenset({("shop", "shop")}))
    found = look_for_leftovers(traces, cluster, cluster.clock, Deadline(cluster.clock, 60), Told())
    assert [str(one.ref) for one in found.found] == ["Lease shop/shop-leader"]


def test_what_a_drain_let_go_of_and_left_is_no_leftover() -> None:
    cluster = a_cluster()
    cluster.add(NAMESPACES, "shop", "")
    cluster.add(CONFIG_MAPS, "settings")
    cluster.add(BASKETS, "kept", "other", finalizers=[F])
    drain = {"profile": PRODUCT, "instance": {"namespaces": ["shop", "other"]}, "policy": "Retain"}
    done = uninstalled(cluster, namespace="shop", gitops="ignore", **drain)
    assert done.failure is None
    assert cluster.left() == ["Basket other/kept", "Namespace shop"]
    assert done.leftovers is not None
    assert done.leftovers.found == []


def test_what_is_marked_to_be_kept_is_no_leftover() -> None:
    traces = Traces("x", release="shop", namespaces=SHOP)
    assert left(traces, CONFIG_MAPS, "records", **LABELLED) == [("label", f"it is labelled {INSTANCE}=shop")]
    kept = {**LABELLED, "annotations": {"helm.sh/resource-policy": "keep"}}
    assert left(traces, CONFIG_MAPS, "records", **kept) == []


def test_what_only_has_the_same_name_is_no_leftover() -> None:
    cluster = a_cluster()
    destination = {"destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}}
    cluster.add(APPLICATIONS, "redis", "argocd", spec=destination, status={})
    cluster.add(CONFIG_MAPS, "cache", "bank", labels={"app.kubernetes.io/name": "redis"})
    cluster.add(CONFIG_MAPS, "rest", labels={"argocd.argoproj.io/instance": "redis"})
    done = uninstalled(cluster, release="redis", namespace="argocd")
    assert done.leftovers is not None
    assert [str(one.ref) for one in done.leftovers.found] == ["ConfigMap shop/rest"]


@pytest.mark.parametrize(("instances", "expected"), [(0, ["definition"]), (1, [])], ids=["deserted", "in use"])
def test_a_definition_without_a_record_that_names_it_is_told_when_nothing_uses_it(
    instances: int, expected: list[str]
) -> None:
    cluster = InMemoryCluster()
    cluster.add(DEFINITIONS, f"{DOMAINS.plural}.{DOMAINS.group}", "")
    for number in range(instances):
        cluster.add(DOMAINS, f"d{number}", "elsewhere")
    traces = Traces("x", orphans=frozenset({(DOMAINS.group, DOMAINS.plural)}))
    found = look_for_leftovers(traces, cluster, cluster.clock, Deadline(cluster.clock, 60), Told())
    assert [one.trace for one in found.found] == expected
