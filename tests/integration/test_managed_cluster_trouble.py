# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking clusters off a hub when things go wrong: dead agents, interruptions, missing rights, fleets, other hubs."""

from __future__ import annotations

import functools
import json
import signal
import threading
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned, StepEnded
from integration.fleets import (
    API_CLEANUP,
    CLUSTERS,
    WORK_FINALIZER,
    Detacher,
    addon,
    agent,
    freezes,
    has_namespace,
    is_gone,
    is_untouched,
    joined,
    managed_cluster_body,
    member,
    report,
    row_of,
    until_accepted,
    work,
    work_binding,
)
from integration.ranked import deletions, failed, succeeded, when_waiting_for
from integration.running import PATIENCE, module_process, warnings_of
from integration.stage import FOREIGN, Stage, bring_to_life, deployment
from lab.faults import Answer, FaultProxy, Rule
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.waiting import until

# Without what takes seconds, where it does not matter.
QUICK: dict[str, Any] = {"namespace": "keep", "freeze": False}
HOOK = "addon.open-cluster-management.io/addon-pre-delete"
SITE = "lab.example.com/site"


# -- agents that do not answer -----------------------------------------------------------------------------------------


def test_a_cluster_the_hub_does_not_accept_is_treated_as_unreachable(stage: Stage, detach: Detacher) -> None:
    name = member(stage, accepted=False)
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    assert "the hub does not accept it" in failed(detach(name, **QUICK))
    assert is_untouched(stage, name)
    result = succeeded(detach(name, **QUICK, on_unreachable="force", force_after=1))
    assert stage.is_gone(held)
    assert "60 minutes" in warnings_of(result)


def test_an_unreachable_cluster_without_content_just_goes(stage: Stage, detach: Detacher) -> None:
    name = member(stage, API_CLEANUP, available="Unknown")
    stage.put(work("free", name))
    succeeded(detach(name, **QUICK, force_after=1))
    assert is_gone(stage, name)


def test_waiting_for_an_agent_that_comes_back(stage: Stage, detach: Detacher) -> None:
    name = member(stage, available="False")
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    act = when_waiting_for(WORK_FINALIZER, lambda: stage.release(held))
    result = succeeded(detach(name, **QUICK, on_unreachable="wait", on_event=act))
    assert row_of(result, name)["may_remain_on_spoke"] == []
    assert is_gone(stage, name)


def test_waiting_for_an_agent_that_does_not_come_back_strips_nothing(stage: Stage, detach: Detacher) -> None:
    name = member(stage, available="False")
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    assert WORK_FINALIZER in failed(detach(name, **QUICK, on_unreachable="wait", timeout=10, force_after=0))
    assert stage.finalizers(held) == [WORK_FINALIZER]


def test_force_takes_ours_leaves_foreign_ones_and_tells_what_may_remain(stage: Stage, detach: Detacher) -> None:
    name = member(stage, available="Unknown")
    (hooked,) = stage.put(addon("hooked", name, HOOK))
    ours, foreign = stage.put(work("ours", name, WORK_FINALIZER), work("theirs", name, WORK_FINALIZER, FOREIGN))
    result = detach(name, **QUICK, on_unreachable="force", force_after=1, timeout=15)
    assert FOREIGN in failed(result)
    assert stage.is_gone(hooked)
    assert stage.is_gone(ours)
    assert stage.finalizers(foreign) == [FOREIGN]
    assert sorted(row_of(result, name)["may_remain_on_spoke"]) == ["ConfigMap default/ours", "ConfigMap default/theirs"]


def test_force_waits_its_time(stage: Stage, detach: Detacher) -> None:
    name = member(stage, available="Unknown")
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    failed(detach(name, **QUICK, on_unreachable="force", force_after=60, timeout=10))
    assert stage.finalizers(held) == [WORK_FINALIZER]


def test_force_does_not_hurry_a_reachable_cluster(stage: Stage, detach: Detacher) -> None:
    """Its ManagedCluster has no finalizer and vanishes at once; its agent still works."""
    name = member(stage)
    stage.put(work("w", name, WORK_FINALIZER))
    with agent(stage, name, delay=3.0) as running:
        result = succeeded(detach(name, **QUICK, on_unreachable="force", force_after=1))
        assert running.cleaned == ["w"]
        assert running.ledger == set(), "it was stripped before the agent had cleaned up"
    assert row_of(result, name)["may_remain_on_spoke"] == []


# -- clusters that are gone, or come back ------------------------------------------------------------------------------


def test_what_a_vanished_cluster_left_is_cleaned_up(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    stage.api.delete(f"{CLUSTERS}/{name}")
    things = stage.put(addon("a", name), work("w", name), work_binding(name, WORK_FINALIZER))
    denied: list[int] = []

    def try_one(event: Any) -> None:
        if isinstance(event, Did) and event.action == "delete" and not denied:
            path = f"/apis/work.open-cluster-management.io/v1/namespaces/{name}/manifestworks"
            denied.append(stage.api.post(path, work("late", name), dryRun="All")[0])

    result = succeeded(detach(name, namespace="keep", force_after=1, on_event=try_one))
    assert all(stage.is_gone(thing) for thing in things)
    assert denied == [403], "nothing new where there is no cluster"
    assert row_of(result, name)["phase"] == "gone"
    assert freezes(stage) == []


def test_a_cluster_created_anew_meanwhile_is_not_touched(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (held,) = stage.put(addon("held", name, HOOK))
    new: list[Any] = []

    def anew() -> None:
        new.extend(stage.put(managed_cluster_body(name, API_CLEANUP), work("new", name)))
        stage.release(held)

    assert "created anew" in failed(detach(name, **QUICK, on_event=when_waiting_for(HOOK, anew)))
    assert is_untouched(stage, name)
    assert all("deletionTimestamp" not in stage.look(one)["metadata"] for one in new)


def test_a_second_run_changes_nothing(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    name = member(stage, API_CLEANUP)
    stage.put(addon("a", name), work("w", name), work_binding(name, WORK_FINALIZER))
    assert succeeded(detach(name, force_after=1, freeze=False))["changed"] is True
    audit.begin_anew()
    again = succeeded(detach(name, force_after=1))
    assert (again["changed"], row_of(again, name)["phase"]) == (False, "gone")
    assert audit.writes(detach.user.name) == []


# -- freeze, interruption, resume --------------------------------------------------------------------------------------


def test_addons_are_denied_meanwhile_works_are_not_and_all_is_over_afterwards(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (held,) = stage.put(addon("held", name, HOOK))
    codes: list[int] = []

    def try_both() -> None:
        for one in (addon("late", name), work("hook", name)):
            codes.append(stage.api.post(stage.api.path_of(one, collection=True), one, dryRun="All")[0])
        elsewhere = addon("late", stage.namespace)
        codes.append(stage.api.post(stage.api.path_of(elsewhere, collection=True), elsewhere, dryRun="All")[0])
        stage.release(held)

    succeeded(detach(name, namespace="keep", on_event=when_waiting_for(HOOK, try_both)))
    assert codes == [403, 201, 201]
    assert freezes(stage) == []


def test_a_failure_lifts_the_freeze(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    stage.put(addon("held", name, HOOK))
    failed(detach(name, timeout=10))
    assert freezes(stage) == []


def test_a_signal_lifts_the_freeze_and_the_next_run_goes_on(stage: Stage, detach: Detacher) -> None:
    name = member(stage, API_CLEANUP)
    (held,) = stage.put(addon("held", name, HOOK))
    (thing,) = stage.put(work("w", name))
    options = {"name": name, "timeout": 60, "namespace": "keep", "force_after": 1}
    with module_process("managed_cluster", options, detach.user.kubeconfig) as process:
        until(lambda: "deletionTimestamp" in stage.look(held)["metadata"], "the addon to be deleted")
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    result = json.loads(stdout)
    assert result["failed"], stderr
    assert result["changed"] is True
    assert freezes(stage) == []
    assert "deletionTimestamp" not in stage.look(thing)["metadata"]
    stage.release(held)
    assert succeeded(detach(name, namespace="keep", force_after=1))["changed"] is True
    assert is_gone(stage, name)
    assert stage.is_gone(thing)


@pytest.mark.parametrize(
    "wish", [{"manifestworks": "none"}, {"wait_for": ["Pod", "ManifestWork"]}], ids=["none", "gate"]
)
def test_a_stop_ends_every_wait(stage: Stage, detach: Detacher, wish: dict[str, Any]) -> None:
    name = member(stage)
    stage.put(work("w", name))
    stop = StopSign()
    timer = threading.Timer(1, stop.set, ("SIGTERM",))

    def begin(event: Any) -> None:
        """A second after the last thing it says before it waits."""
        deleted = isinstance(event, Did) and event.object.kind == "ManagedCluster"
        if deleted or ("wait_for" in wish and isinstance(event, Planned)):
            timer.start()

    result = detach(name, **QUICK, stop=stop, on_event=begin, **wish)
    timer.join()
    assert "out of time" not in failed(result)
    assert is_untouched(stage, name) is ("wait_for" in wish)


def test_a_failed_run_goes_on_where_it_was(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    name = member(stage, API_CLEANUP)
    (held,) = stage.put(work("held", name, WORK_FINALIZER, priority="1"))
    stage.put(addon("a", name), work("first", name), work("last", name, priority="2"))
    failed(detach(name, **QUICK, timeout=10))
    audit.begin_anew()
    stage.release(held)
    succeeded(detach(name, **QUICK, force_after=1))
    assert deletions(audit, detach.user) == ["last"]
    assert is_gone(stage, name)


# -- check mode, limits, rights ----------------------------------------------------------------------------------------


def test_the_hash_of_the_plan_is_that_of_check_mode(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    stage.put(addon("a", name), work("w", name))
    checked = succeeded(detach(name, check_mode=True))
    assert checked["changed"] is True
    assert is_untouched(stage, name)
    stage.put(work("new", name))
    assert "the plan has changed" in failed(detach(name, plan_hash=checked["plan_hash"]))
    assert is_untouched(stage, name)
    again = succeeded(detach(name, **QUICK, check_mode=True))
    succeeded(detach(name, **QUICK, plan_hash=again["plan_hash"], max_objects=4))


READ = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
OCM = {
    "apiGroups": [f"{part}.open-cluster-management.io" for part in ("cluster", "addon", "work")],
    "resources": ["*"],
    "verbs": ["*"],
}
RBAC = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["*"]}


@pytest.mark.parametrize(
    ("rules", "word"),
    [([READ], "managedclusters"), ([READ, OCM], "rolebindings"), ([READ, OCM, RBAC], "namespaces")],
    ids=["reader", "without bindings", "without namespaces"],
)
def test_a_missing_right_shows_before_the_first_write(
    stage: Stage, detach: Detacher, as_user: AsUser, audit: AuditTrail, rules: list[Any], word: str
) -> None:
    name = member(stage)
    stage.put(addon("a", name), work("w", name), work_binding(name))
    user = as_user(f"lacks-{word}", rules)
    message = failed(detach(name, user=user, freeze=False)).lower()
    assert any(one in message for one in (word, "clusterrole", "addon", "work"))
    assert audit.writes(user.name) == []
    assert is_untouched(stage, name)


def test_a_freeze_one_may_not_set_stops_it_before_the_first_deletion(
    stage: Stage, detach: Detacher, as_user: AsUser
) -> None:
    name = member(stage)
    namespaces = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["*"]}
    user = as_user("cannot-freeze", [READ, OCM, RBAC, namespaces])
    failed(detach(name, user=user))
    assert is_untouched(stage, name)


# -- fleets ------------------------------------------------------------------------------------------------------------


def test_a_selector_takes_its_clusters_and_no_others(stage: Stage, detach: Detacher) -> None:
    here = [member(stage, labels={SITE: "here"}) for _time in range(2)]
    there = member(stage, labels={SITE: "there"})
    result = succeeded(detach(**QUICK, label_selector=f"{SITE}=here"))
    assert [row["name"] for row in result["clusters"]] == sorted(here)
    assert [is_gone(stage, name) for name in here] == [True, True]
    assert is_untouched(stage, there)


def test_two_tasks_do_not_lift_each_others_freeze(stage: Stage, detach: Detacher) -> None:
    slow, fast = member(stage), member(stage)
    (held,) = stage.put(addon("held", slow, HOOK))
    stage.put(work("w", fast))
    codes: list[int] = []

    def run_another() -> None:
        succeeded(detach(fast, namespace="keep"))
        late = addon("late", slow)
        codes.append(stage.api.post(stage.api.path_of(late, collection=True), late, dryRun="All")[0])
        stage.release(held)

    succeeded(detach(slow, namespace="keep", on_event=when_waiting_for(HOOK, run_another)))
    assert codes == [403]
    assert freezes(stage) == []


def test_fifty_clusters_with_forty_works_each_go_in_one_task(stage: Stage, detach: Detacher) -> None:
    names = [f"fleet-{number:02}" for number in range(50)]
    for name in names:
        joined(stage, name)
    stage.put(*(managed_cluster_body(name) for name in names))
    for name in names:
        report(stage, name, "Unknown" if name == "fleet-07" else "True")
        stage.afterwards(functools.partial(stage.api.delete, f"/api/v1/namespaces/{name}"))
    stage.put(*(work(f"w{number}", name) for name in names for number in range(40)))
    (held,) = stage.put(work("held", "fleet-07", WORK_FINALIZER))
    result = detach(*names, namespace="keep", timeout=200, parallel=16)
    assert "1 of 50 clusters are not gone (fleet-07)" in failed(result)
    assert (result["counts"]["clusters_gone"], result["counts"]["deleted"]) == (49, 49 * 40)
    assert [row["name"] for row in result["clusters"] if row["phase"] != "gone"] == ["fleet-07"]
    assert row_of(result, "fleet-07")["remaining"] == {"manifestworks": 41}
    assert is_untouched(stage, "fleet-07")
    assert "deletionTimestamp" not in stage.look(held)["metadata"]
    left = [
        item["metadata"]["namespace"]
        for item in stage.api.get("/apis/work.open-cluster-management.io/v1/manifestworks")[1]["items"]
    ]
    assert set(left) & set(names) == {"fleet-07"}
    requests = sum(count for count in result["requests"].values() if isinstance(count, int))
    assert requests < 49 * 40 + 50 * 40, result["requests"]
    assert freezes(stage) == []


# -- servers and owners that do not behave -----------------------------------------------------------------------------


def test_works_that_are_made_again_and_again_end_the_run(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    labels = {"work.open-cluster-management.io/manifestworkreplicaset": "fleet.web"}
    made = work("w", name, WORK_FINALIZER, labels=labels)
    stage.put(made)

    def until_it_is_back(event: Any) -> None:
        if isinstance(event, StepEnded):
            until(lambda: not stage.is_gone(made), "the work to be made again")

    with agent(stage, name, recreates=50):
        result = detach(name, **QUICK, timeout=120, on_event=until_it_is_back)
    assert "made again and again" in failed(result)
    assert "ManifestWorkReplicaSet fleet/web" in warnings_of(result)


@pytest.mark.parametrize("code", [403, 500])
@pytest.mark.parametrize("plural", ["manifestworks", "managedclusteraddons"])
def test_a_list_that_fails_in_the_middle_is_never_taken_for_empty(
    stage: Stage, detach: Detacher, faults: FaultProxy, code: int, plural: str
) -> None:
    name = member(stage)
    (binding,) = stage.put(work_binding(name, WORK_FINALIZER))
    (thing,) = stage.put(work("w", name, WORK_FINALIZER))

    def break_it(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "ManagedCluster":
            faults.add(Rule(Answer(code), method="GET", path=f"/{plural}$"))

    where = faults.kubeconfig(detach.user)
    failed(detach(name, **QUICK, kubeconfig=where, timeout=15, force_after=0, on_event=break_it))
    assert stage.finalizers(binding) == [WORK_FINALIZER]
    assert stage.finalizers(thing) == [WORK_FINALIZER]


@pytest.mark.parametrize("answer", [Answer(429, retry_after=1), Answer(500), Answer(503)], ids=lambda a: a.status)
def test_a_storm_that_ends_is_ridden_out(stage: Stage, detach: Detacher, faults: FaultProxy, answer: Answer) -> None:
    name = member(stage)
    stage.put(*(work(f"w{n}", name) for n in range(4)))
    rule = faults.add(Rule(answer, method="DELETE", times=3))
    succeeded(detach(name, **QUICK, kubeconfig=faults.kubeconfig(detach.user)))
    assert rule.hits == 3
    assert is_gone(stage, name)


def test_a_selector_nobody_can_read_is_an_error(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    failed(detach(**QUICK, label_selector="a in ("))
    assert is_untouched(stage, name)


def test_a_living_hub_that_does_not_finish_is_waited_for_not_overruled(stage: Stage, detach: Detacher) -> None:
    name = member(stage, API_CLEANUP)
    workload = deployment("hub", stage.namespace)
    workload["metadata"]["labels"] = {"app": "clustermanager-registration-controller"}
    (made,) = stage.put(workload)
    bring_to_life(stage, made)
    result = detach(name, **QUICK, timeout=10, force_after=0)
    assert API_CLEANUP in failed(result)
    assert stage.api.get(f"{CLUSTERS}/{name}")[1]["metadata"]["finalizers"] == [API_CLEANUP]


def test_a_namespace_that_is_on_its_way_out_already_is_waited_for(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    stage.api.delete(f"/api/v1/namespaces/{name}")
    with agent(stage, name):
        result = succeeded(detach(name, freeze=False))
    assert row_of(result, name)["namespace"]["gone"] is True
    assert stage.is_gone(held)


# -- a hub that lives --------------------------------------------------------------------------------------------------


def test_a_living_hub_and_we_do_not_fight(stage: Stage, detach: Detacher, living_hub: None, audit: AuditTrail) -> None:
    names = ["both-a", "both-b"]
    texts = {"w0": None, "w1": None, "w2": "20", "w3": "100"}
    for name in names:
        stage.put(managed_cluster_body(name))
    for name in names:
        until_accepted(stage, name)
        report(stage, name)
        stage.put(
            addon("metrics", name), *(work(one, name, WORK_FINALIZER, priority=text) for one, text in texts.items())
        )
    with agent(stage, *names, delay=0.2) as running:
        result = succeeded(detach(*names, timeout=100, force_after=30))
        assert running.ledger == set()
    for name in names:
        assert is_gone(stage, name)
        assert not has_namespace(stage, name)
    assert result["counts"]["clusters_gone"] == 2
    strips = [
        event.name
        for event in audit.writes(detach.user.name)
        if event.verb in ("patch", "update") and event.resource in ("managedclusters", "manifestworks", "rolebindings")
    ]
    assert strips == [], "the hub and the agents take their finalizers off themselves"


def test_planned_objects_that_vanish_before_the_run_are_no_failure(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (one, other) = stage.put(work("one", name), work("other", name))

    def remove(event: Any) -> None:
        if isinstance(event, Planned):
            stage.api.delete(stage.api.path_of(one))

    succeeded(detach(name, **QUICK, on_event=remove))
    assert stage.is_gone(other)
    assert is_gone(stage, name)
