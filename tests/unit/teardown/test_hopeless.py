# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nobody is left to let go is reported in seconds; whoever may still act is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Noted
from ansible_collections.sunset.kube.plugins.module_utils.problems import Hopeless, TimedOut
from ansible_collections.sunset.kube.plugins.module_utils.profiles.at_home import AT_HOME
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_finalizers import PRODUCTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.hopeless import BETWEEN, PATIENCE
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import RankedOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, LEASES, PODS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    InMemoryCluster,
    api_error,
    named_members,
    ranked,
)

KNOWN = "finalizer.acme.cert-manager.io"  # of a product that always runs beside its objects
OWN = "shop.example.com/cleanup"
OF_THE_KIND = f"{DOMAINS.group}/cleanup"
SOON = PATIENCE + BETWEEN + 2


def held(*finalizers: str) -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(DOMAINS, "web", finalizers=list(finalizers))
    return cluster


def operator(
    cluster: InMemoryCluster, *, wanted: int, available: int = 0, name: str = "shop-operator"
) -> InMemoryCluster:
    cluster.add(DEPLOYMENTS, name, "ops", spec={"replicas": wanted}, status={"availableReplicas": available})
    return cluster


def lease(cluster: InMemoryCluster, renewed: str, name: str = "shop-operator") -> InMemoryCluster:
    spec = {"holderIdentity": "pod", "leaseDurationSeconds": 15, "renewTime": renewed}
    cluster.add(LEASES, name, "ops", spec=spec)
    return cluster


def allowed(cluster: InMemoryCluster, account: str, group: str) -> InMemoryCluster:
    """A running workload whose name says nothing, with an account that may change these kinds."""
    pod = {"spec": {"serviceAccountName": account, "containers": []}}
    cluster.add(DEPLOYMENTS, account, "ops", spec={"replicas": 1, "template": pod}, status={"availableReplicas": 1})
    cluster.add(ROLES, account, rules=[{"apiGroups": [group], "resources": ["*"], "verbs": ["*"]}])
    cluster.add(
        ROLE_BINDINGS,
        account,
        roleRef={"kind": "ClusterRole", "name": account},
        subjects=[{"kind": "ServiceAccount", "namespace": "ops", "name": account}],
    )
    return cluster


def remove(cluster: InMemoryCluster, **params: Any) -> RankedOutcome:
    return ranked(cluster, **{"members": named_members((DOMAINS, "web")), "timeout": 600, **params})


HOPELESS: dict[str, Callable[[], InMemoryCluster]] = {
    "a known product that is not there": lambda: held(KNOWN),
    "a controller that is scaled to zero": lambda: operator(held(OWN), wanted=0),
    "a Lease that nobody has renewed for long": lambda: lease(held(OWN), "2025-12-31T20:00:00Z"),
    "two of them": lambda: operator(held(OWN, KNOWN), wanted=0),
    "one beside whom another runs that may not change the kind": lambda: allowed(
        operator(held(OF_THE_KIND), wanted=0, name="ingress-operator"), "somebody", "other.example.com"
    ),
}


@pytest.mark.parametrize("make", named(HOPELESS))
def test_what_nobody_is_left_to_let_go_is_reported_in_seconds(make: Callable[[], InMemoryCluster]) -> None:
    cluster = make()
    outcome = remove(cluster)
    assert outcome.seconds < SOON
    assert isinstance(outcome.failure, Hopeless)
    said = str(outcome.failure)
    assert said.startswith("stuck in step namespaced resources: 1 of 1 objects are still there, and nobody is left")
    assert "Domain shop/web (finalizer " in said
    assert "sunset.kube.finalizer" in said


def test_it_can_be_switched_off() -> None:
    outcome = remove(held(KNOWN), fail_fast=False)
    assert (type(outcome.failure), outcome.seconds) == (TimedOut, 600.0)


def bare_pod(cluster: InMemoryCluster) -> InMemoryCluster:
    cluster.add(PODS, "cert-manager-6d8f", "cert-manager")
    return cluster


def stopping_pod(cluster: InMemoryCluster) -> InMemoryCluster:
    cluster.add(PODS, "shop-operator-6d8f", "ops", deleted=True)
    return operator(cluster, wanted=0)


def unseen(cluster: InMemoryCluster, plural: str) -> InMemoryCluster:
    cluster.unseen[plural] = api_error(403, "Forbidden")
    return cluster


WAITED_FOR: dict[str, Callable[[], InMemoryCluster]] = {
    "a controller that lives": lambda: operator(held(OWN), wanted=1, available=1),
    "one without a ready replica, which may be starting": lambda: operator(held(OWN), wanted=1),
    "one nobody knows": lambda: held(OWN),
    "a product that may work from another cluster": lambda: held("cluster.open-cluster-management.io/x"),
    "one of several": lambda: operator(held(OWN, "other.example.org/x"), wanted=0),
    "one with a Lease of some seconds ago": lambda: lease(operator(held(OWN), wanted=0), "2025-12-31T23:59:00Z"),
    "workloads that may not be listed": lambda: unseen(held(KNOWN), "deployments"),
    "Leases that may not be listed": lambda: unseen(held(KNOWN), "leases"),
    "pods that may not be listed": lambda: unseen(held(KNOWN), "pods"),
    "a pod without a workload": lambda: bare_pod(held(KNOWN)),
    "a pod that is still stopping": lambda: stopping_pod(held(OWN)),
    "a successor of another name": lambda: allowed(
        operator(held(OF_THE_KIND), wanted=0, name="ingress-operator"), "successor", DOMAINS.group
    ),
    "one beside a Lease of an older version": lambda: allowed(
        lease(held(OF_THE_KIND), "2025-12-31T20:00:00Z", name=f"a1.{DOMAINS.group}"), "rebuilt", "*"
    ),
    "roles that may not be listed": lambda: unseen(
        operator(held(OF_THE_KIND), wanted=0, name="ingress-operator"), "clusterroles"
    ),
    "Kubernetes itself": lambda: held("kubernetes.io/pvc-protection"),
}


@pytest.mark.parametrize("make", named(WAITED_FOR))
def test_whoever_may_still_act_is_waited_for(make: Callable[[], InMemoryCluster]) -> None:
    outcome = remove(make(), timeout=120)
    assert (type(outcome.failure), outcome.seconds) == (TimedOut, 120.0)


def test_who_runs_beside_a_stale_lease_is_waited_for_on_a_kind_of_kubernetes_too() -> None:
    """Rights are not asked for there: nearly everybody may change a ConfigMap."""
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "web", finalizers=[OWN])
    lease(cluster, "2025-12-31T20:00:00Z", name="a1.shop.example.com")
    operator(cluster, wanted=1, available=1, name="rebuilt")
    outcome = remove(cluster, members=named_members((CONFIG_MAPS, "web")), timeout=120)
    assert (type(outcome.failure), outcome.seconds) == (TimedOut, 120.0)


def test_a_controller_that_comes_back_between_the_looks_is_waited_for() -> None:
    cluster = held(KNOWN)
    start = cluster.clock.now()
    cluster.clock.at(start + PATIENCE + 2, lambda: operator(cluster, wanted=1, name="cert-manager"))
    cluster.clock.at(start + 90, lambda: cluster.release(DOMAINS, "web"))
    outcome = remove(cluster)
    assert (outcome.failure, cluster.left()) == (None, ["Deployment ops/cert-manager"])


def test_an_object_that_somebody_writes_is_not_given_up_until_it_is_left_alone() -> None:
    cluster = held(KNOWN)
    start = cluster.clock.now()
    cluster.clock.at(start + PATIENCE + 2, lambda: cluster.change(DOMAINS, "web", annotations={"a": "b"}))
    outcome = remove(cluster)
    assert isinstance(outcome.failure, Hopeless)
    assert PATIENCE + 2 * BETWEEN <= outcome.seconds < SOON + BETWEEN + 1


def test_what_force_will_free_later_is_not_given_up() -> None:
    cluster = held(KNOWN)
    groups = [{"predefinedResourceGroup": "namespaced-resources", "forceDelete": True}]
    outcome = remove(cluster, deletion_groups=groups, force_after=60)
    assert (outcome.failure, cluster.left(), outcome.seconds) == (None, [], 60.0)


def test_what_force_may_not_free_is_given_up() -> None:
    groups = [{"predefinedResourceGroup": "namespaced-resources", "forceDelete": True}]
    outcome = remove(held(KNOWN), deletion_groups=groups, force_after=60, force_deny=[KNOWN])
    assert isinstance(outcome.failure, Hopeless)


def test_as_long_as_another_object_may_go_it_is_waited_for_and_the_hopeless_one_is_named() -> None:
    cluster, told = held(KNOWN), Told()
    cluster.add(CONFIG_MAPS, "slow", finalizers=[OWN])
    cluster.clock.at(cluster.clock.now() + 100, lambda: cluster.release(CONFIG_MAPS, "slow"))
    outcome = remove(cluster, members=named_members((DOMAINS, "web"), (CONFIG_MAPS, "slow")), told=told)
    assert isinstance(outcome.failure, Hopeless)
    assert [str(one.ref) for one in outcome.diagnosis.survivors] == ["Domain shop/web"]
    assert 100 <= outcome.seconds < 250
    first = next(event.text for event in told if isinstance(event, Noted))
    assert "nobody is left who would let Domain shop/web go; waiting for 1 others" in first


def test_with_on_timeout_continue_the_next_step_begins_at_once() -> None:
    cluster = held(KNOWN)
    cluster.add(SECRETS, "later")
    groups = [{"resources": [{"kind": "domain"}]}, {"resources": [{"kind": "secret"}]}]
    members = named_members((DOMAINS, "web"), (SECRETS, "later"))
    outcome = remove(cluster, members=members, deletion_groups=groups, on_timeout="continue")
    assert (outcome.failure, cluster.left()) == (None, ["Domain shop/web"])
    assert outcome.seconds < SOON


def test_the_number_of_looks_grows_with_the_logarithm_of_the_wait() -> None:
    looks = {}
    for timeout in (60, 6000):
        cluster = operator(held(OWN), wanted=1)
        remove(cluster, timeout=timeout)
        looks[timeout] = cluster.lists.count("deployments")
    assert looks[6000] - looks[60] <= 8
    assert looks[60] <= 8


def test_every_product_that_is_always_at_home_is_in_the_catalogue_with_its_controllers() -> None:
    controllers = {product.owner: product.controllers for product in PRODUCTS}
    assert all(controllers.get(name) for name in AT_HOME)
