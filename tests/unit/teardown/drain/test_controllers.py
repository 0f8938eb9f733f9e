# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The product's controllers: who runs, stopping them, starting them again."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from ansible_collections.sunset.kube.plugins.module_utils.problems import Problem
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.controllers import (
    Controllers,
    find_controllers,
    start_again,
    stop,
    try_stop,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owners import Life
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DAEMONSETS,
    DEPLOYMENTS,
    LEASES,
    PODS,
    STATEFULSETS,
    Told,
    named,
)
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import DrainCluster, profile_of
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import api_error

LABELS = {"app": "shop-operator"}
FRESH = {"holderIdentity": "x", "renewTime": "2026-01-01T00:00:00Z", "leaseDurationSeconds": 15}


def find(
    cluster: DrainCluster, namespace: str = "ops", managers: Any = (), names: Any = (), **profile: Any
) -> Controllers:
    return find_controllers(profile_of(**profile), namespace, managers, cluster, names=names)


def life(found: Controllers) -> tuple[str, str]:
    return found.owner.life.value, found.owner.why


# -- who runs ----------------------------------------------------------------------------------------------------------

WORKLOADS: dict[str, tuple[Any, dict[str, Any], int, int, bool]] = {
    "a Deployment": (DEPLOYMENTS, {"spec": {"replicas": 3}, "status": {"availableReplicas": 2}}, 3, 2, True),
    "a Deployment that says nothing wants one": (DEPLOYMENTS, {"spec": {}, "status": {}}, 1, 0, True),
    "a Deployment that was scaled down": (DEPLOYMENTS, {"spec": {"replicas": 0}}, 0, 0, False),
    "a StatefulSet": (STATEFULSETS, {"spec": {"replicas": 2}, "status": {"availableReplicas": 2}}, 2, 2, True),
    "a DaemonSet cannot be scaled": (
        DAEMONSETS,
        {"spec": {}, "status": {"desiredNumberScheduled": 4, "numberReady": 3}},
        4,
        3,
        False,
    ),
}


@pytest.mark.parametrize(("resource", "facts", "wanted", "available", "running"), named(WORKLOADS))
def test_a_workload_with_the_label_is_a_controller(
    resource: Any, facts: dict[str, Any], wanted: int, available: int, running: bool
) -> None:
    cluster = DrainCluster()
    cluster.add(resource, "op", "ops", labels=LABELS, **facts)
    found = find(cluster)
    [one] = found.found
    assert (one.wanted, one.available, found.running == [one]) == (wanted, available, running)
    assert found.owner.life is (Life.ALIVE if available else Life.GONE)


LABELLED: dict[str, tuple[dict[str, Any], int]] = {
    "at the workload": ({"labels": LABELS}, 1),
    "at its pods only": ({"spec": {"template": {"metadata": {"labels": LABELS}}}}, 1),
    "another value": ({"labels": {"app": "shop"}}, 0),
    "none": ({}, 0),
}


@pytest.mark.parametrize(("facts", "count"), named(LABELLED))
def test_the_label_may_be_at_the_workload_or_at_its_pods(facts: dict[str, Any], count: int) -> None:
    cluster = DrainCluster()
    cluster.add(DEPLOYMENTS, "op", "ops", **facts)
    assert len(find(cluster).found) == count


def test_any_of_several_selectors_will_do() -> None:
    cluster = DrainCluster()
    cluster.add(DEPLOYMENTS, "a", "ops", labels={"app": "a"})
    cluster.add(DEPLOYMENTS, "b", "ops", labels={"app": "b", "tier": "x"})
    found = find(cluster, workloads=["app=a", "app=b,tier=x", "app=c"])
    assert [one.record.name for one in found.found] == ["a", "b"]


def test_a_running_workload_is_proof_of_life() -> None:
    cluster = DrainCluster()
    cluster.deploy()
    assert life(find(cluster)) == ("alive", "Deployment ops/shop-operator has 1 of 1 replicas available")


def test_only_the_installations_namespace_counts_where_it_is_known() -> None:
    cluster = DrainCluster()
    cluster.deploy(namespace="dev", name="op")
    assert (len(find(cluster).found), len(find(cluster, "").found)) == (0, 1)


def test_nothing_labelled_and_nothing_that_fits_means_gone() -> None:
    why = "no workload is labelled app=shop-operator in ops"
    assert life(find(DrainCluster())) == ("gone", why)
    assert life(find(DrainCluster(), "")) == ("gone", why.removesuffix(" in ops"))


def test_without_labels_to_look_for_nobody_knows() -> None:
    assert find(DrainCluster(), workloads=[]).owner.life is Life.UNKNOWN


def test_a_workload_that_fits_the_finalizers_name_is_a_hint() -> None:
    cluster = DrainCluster()
    cluster.add(DEPLOYMENTS, "shop-controller-manager", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    found = find(cluster)
    assert (found.found, found.owner.life, found.running) == ([], Life.ALIVE, [])


def test_a_field_manager_is_a_hint_too() -> None:
    cluster = DrainCluster()
    cluster.add(DEPLOYMENTS, "janitor", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    assert [find(cluster, managers=managers).owner.life for managers in ((), ("janitor",))] == [Life.GONE, Life.ALIVE]


def test_the_workload_that_the_task_names_is_the_controller_where_its_namespace_is_known() -> None:
    cluster = DrainCluster()
    cluster.add(DEPLOYMENTS, "edge", "ops", spec={"replicas": 1}, status={"availableReplicas": 1})
    found = find(cluster, names=("edge",))
    assert ([str(one.ref) for one in found.running], found.owner.life) == (["Deployment ops/edge"], Life.ALIVE)
    assert find(cluster, "", names=("edge",)).running == []


OLD = {**FRESH, "renewTime": "2025-12-31T23:59:44Z"}  # its term ended a second ago
WROTE = {"managedFields": [{"manager": "shop-op", "operation": "Update"}]}
LEASED: dict[str, tuple[str, dict[str, Any], Life]] = {
    "named after the controller": ("edge-leader", {"spec": FRESH}, Life.ALIVE),
    "another tail": ("edge-leader-election", {"spec": FRESH}, Life.ALIVE),
    "a lock": ("edge-lock", {"spec": FRESH}, Life.ALIVE),
    "named after the program": ("shop-op-leader", {"spec": FRESH}, Life.ALIVE),
    "named after the domain": ("0a1b.shop.example.com", {"spec": FRESH}, Life.ALIVE),
    "held by its pod": ("any", {"spec": {**FRESH, "holderIdentity": "edge-manager-5d4f-x2x4z_1"}}, Life.ALIVE),
    "written by the program that set the finalizers": ("any", {"spec": FRESH, **WROTE}, Life.ALIVE),
    "its term has ended": ("edge-leader", {"spec": OLD}, Life.GONE),
    "nobody holds it": ("edge-leader", {"spec": {**FRESH, "holderIdentity": ""}}, Life.GONE),
    "of another controller": ("ledge-leader", {"spec": FRESH}, Life.GONE),
    "written by a person": ("any", {"spec": FRESH, "managedFields": [{"manager": "kubectl-edit"}]}, Life.GONE),
}


@pytest.mark.parametrize(("name", "facts", "expected"), named(LEASED))
def test_a_lease_that_the_controller_renews_shows_life(name: str, facts: dict[str, Any], expected: Life) -> None:
    """Of a controller that the task or its objects call edge-manager, whose program is shop-op."""
    cluster = DrainCluster()
    cluster.add(LEASES, name, "ops", **facts)
    found = find(cluster, managers=("shop-op", "kubectl-edit"), names=("edge-manager",))
    assert (found.found, found.owner.life) == ([], expected)


def test_a_lease_in_another_namespace_shows_nothing() -> None:
    cluster = DrainCluster()
    cluster.add(LEASES, "edge-leader", "dev", spec=FRESH)
    assert find(cluster, names=("edge",)).owner.life is Life.GONE


def test_a_fresh_lease_shows_life_though_no_replica_is_available_yet() -> None:
    cluster = DrainCluster()
    cluster.deploy(available=0)
    cluster.add(LEASES, "leader.shop.example.com", "ops", spec=FRESH)
    found = find(cluster)
    assert (len(found.found), found.owner.life) == (1, Life.ALIVE)


def test_what_cannot_be_looked_at_is_unknown_and_not_gone() -> None:
    cluster = DrainCluster()
    cluster.unseen["deployments"] = api_error(403, "Forbidden", "no")
    assert life(find(cluster)) == ("unknown", "could not look: HTTP 403 Forbidden, no")


def test_another_installations_operator_does_not_bring_ours_to_life() -> None:
    cluster = DrainCluster()
    cluster.deploy(available=0, replicas=0, namespace="ops")
    cluster.deploy(namespace="dev")
    assert find(cluster, "ops").owner.life is Life.GONE


PARTED = {"workloads": ["app=shop-operator"], "finalized_by": ["app=shop-operator,part=manager"]}


def parted(manager: int, agent: int) -> DrainCluster:
    """A manager that takes finalizers off, and an agent of the same name that does not."""
    cluster = DrainCluster()
    for part, replicas in (("manager", manager), ("agent", agent)):
        cluster.deploy(replicas, replicas, name=f"shop-operator-{part}")
        cluster.metadata(DEPLOYMENTS, f"shop-operator-{part}", "ops")["labels"]["part"] = part
    return cluster


def test_life_is_the_workload_that_takes_the_finalizers_off_and_all_are_stopped() -> None:
    found = find(parted(1, 1), **PARTED)
    assert life(found) == ("alive", "Deployment ops/shop-operator-manager has 1 of 1 replicas available")
    assert [one.record.name for one in found.running] == ["shop-operator-agent", "shop-operator-manager"]


def test_a_helper_of_the_same_name_is_no_life() -> None:
    found = find(parted(0, 1), managers=("shop-operator",), **PARTED)
    assert life(found) == ("gone", "Deployment ops/shop-operator-manager has no available replica")


def test_a_helper_alone_is_no_life_either() -> None:
    cluster = parted(0, 1)
    cluster.remove(DEPLOYMENTS, "shop-operator-manager", "ops")
    why = "no workload is labelled app=shop-operator,part=manager in ops"
    assert life(find(cluster, managers=("shop-operator",), **PARTED)) == ("gone", why)


@pytest.mark.parametrize(("replicas", "expected"), [(0, Life.GONE), (1, Life.ALIVE)])
def test_the_lease_of_one_that_was_scaled_to_nothing_is_over(replicas: int, expected: Life) -> None:
    cluster = parted(0, 1)
    cluster.objects["apps", "deployments", "ops", "shop-operator-manager"]["spec"]["replicas"] = replicas
    held_by = {**FRESH, "holderIdentity": "shop-operator-manager-5d4f-x2x4z_1"}
    cluster.add(LEASES, "shop-operator-leader", "ops", spec=held_by)
    assert find(cluster, managers=("shop-operator",), **PARTED).owner.life is expected


# -- stopping and starting ---------------------------------------------------------------------------------------------


def two() -> tuple[DrainCluster, Controllers]:
    cluster = DrainCluster()
    cluster.deploy(3, 3)
    cluster.deploy(1, 1, name="shop-operator-2")
    return cluster, find(cluster)


def test_controllers_are_scaled_to_nothing_and_back_to_what_they_had() -> None:
    cluster, found = two()
    told = Told()
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), told)
    assert [cluster.replicas(), cluster.replicas("shop-operator-2"), cluster.clock.slept] == [0, 0, []]
    assert start_again(found.running, cluster, told) == []
    assert [cluster.replicas(), cluster.replicas("shop-operator-2")] == [3, 1]
    assert [(event.action, event.object.name) for event in told if isinstance(event, Did)] == [
        ("scale to 0", "shop-operator"),
        ("scale to 0", "shop-operator-2"),
        ("scale to 3", "shop-operator"),
        ("scale to 1", "shop-operator-2"),
    ]


def test_the_last_pod_is_waited_for() -> None:
    cluster, found = two()
    cluster.pods_stay = True
    status = cluster.objects["apps", "deployments", "ops", "shop-operator"]["status"]
    cluster.objects["apps", "deployments", "ops", "shop-operator-2"]["status"]["replicas"] = 0
    cluster.clock.at(cluster.clock.now() + 5, lambda: status.update(replicas=0))
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())
    assert sum(cluster.clock.slept) == 5.0


ENDING: dict[str, tuple[str, float]] = {"it ends": ("Running", 4.0), "it has failed long ago": ("Failed", 0.0)}


@pytest.mark.parametrize(("phase", "waited"), named(ENDING))
def test_a_pod_that_is_ending_is_waited_for_though_it_is_no_replica_any_more(phase: str, waited: float) -> None:
    cluster, found = two()
    labels = {"app": "shop-operator"}
    cluster.objects["apps", "deployments", "ops", "shop-operator"]["spec"]["selector"] = {"matchLabels": labels}
    cluster.add(PODS, "shop-operator-x", "ops", labels=labels, status={"phase": phase}, deleted=True)
    cluster.clock.at(cluster.clock.now() + 4, lambda: cluster.remove(PODS, "shop-operator-x", "ops"))
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())
    assert sum(cluster.clock.slept) == waited


def test_where_pods_may_not_be_listed_the_replicas_count() -> None:
    cluster, found = two()
    selector = {"matchLabels": {"app": "shop-operator"}}
    cluster.objects["apps", "deployments", "ops", "shop-operator"]["spec"]["selector"] = selector
    cluster.unseen["pods"] = api_error(403, "Forbidden", "no")
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())
    assert cluster.clock.slept == []


def test_the_time_of_the_task_ends_the_wait_for_the_last_pod() -> None:
    cluster, found = two()
    cluster.pods_stay = True
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 7), Told())
    assert sum(cluster.clock.slept) == 7.0


def test_a_pod_that_does_not_go_is_not_waited_for_without_end() -> None:
    cluster, found = two()
    cluster.pods_stay = True
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())
    assert sum(cluster.clock.slept) == 60.0


def test_a_controller_that_is_gone_meanwhile_needs_no_stopping() -> None:
    cluster, found = two()
    cluster.remove(DEPLOYMENTS, "shop-operator", "ops")
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())


def test_a_refused_stop_is_an_error() -> None:
    cluster, found = two()
    cluster.refusals["Deployment ops/shop-operator-2"] = api_error(403, "Forbidden", "no")
    with pytest.raises(Problem):
        stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())


def test_one_that_cannot_be_started_again_does_not_keep_the_others() -> None:
    cluster, found = two()
    stop(found.running, cluster, cluster.clock, StopSign(), Deadline(cluster.clock, 600), Told())
    cluster.refusals["Deployment ops/shop-operator"] = api_error(403, "Forbidden", "no")
    failed = [(one.ref.name, problem.why) for one, problem in start_again(found.found, cluster, Told())]
    assert failed == [("shop-operator", "HTTP 403 Forbidden, no")]
    assert cluster.replicas("shop-operator-2") == 1


def test_a_rehearsal_stops_nobody() -> None:
    cluster, found = two()
    try_stop(found.running, cluster)
    assert (cluster.replicas(), cluster.log) == (
        3,
        [f"patch Deployment ops/{name} (dry run)" for name in ("shop-operator", "shop-operator-2")],
    )


def test_a_rehearsal_shows_a_refusal() -> None:
    cluster, found = two()
    cluster.refusals["Deployment ops/shop-operator"] = api_error(403, "Forbidden", "no")
    with pytest.raises(Problem):
        try_stop(found.running, cluster)
