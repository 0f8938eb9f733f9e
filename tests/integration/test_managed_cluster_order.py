# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking a cluster off a hub in order: the gate, barriers, priorities, the agent, the namespace."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, StepBegan
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
    member,
    row_of,
    work,
    work_binding,
)
from integration.ranked import define, deletions, failed, succeeded, when_waiting_for
from integration.running import warnings_of
from integration.stage import FOREIGN, GROUP, Body, Stage, body, crd, gadget, widget
from lab.plane.audit import AuditTrail
from lab.waiting import until

pytestmark = pytest.mark.quick

HOOK = "addon.open-cluster-management.io/addon-pre-delete"
# Without what takes seconds, where it does not matter.
QUICK: dict[str, Any] = {"namespace": "keep", "freeze": False}
KEEP_LABEL = "cluster.open-cluster-management.io/keep-upon-cluster-deletion"
RETAIN = "open-cluster-management.io/retain-namespace"


def later(seconds: float, act: Any) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


# -- wait_for ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["Widget", f"widgets.v1.{GROUP}", f"{GROUP}/v1/widgets"])
def test_the_gate_holds_everything_back_and_then_it_goes_on(stage: Stage, detach: Detacher, spelling: str) -> None:
    name = member(stage)
    (gate,) = stage.put(widget("app", name))
    (thing,) = stage.put(work("w", name))
    seen: list[bool] = []

    def open_it() -> None:
        seen.append(is_untouched(stage, name) and stage.look(thing)["metadata"].get("deletionTimestamp") is None)
        stage.api.delete(stage.api.path_of(gate))

    timer = later(1, open_it)
    succeeded(detach(name, **QUICK, wait_for=[spelling]))
    timer.join()
    assert seen == [True]
    assert is_gone(stage, name)


@pytest.mark.slow
def test_a_gate_that_stays_shut_is_named_and_nothing_was_deleted(
    stage: Stage, detach: Detacher, audit: AuditTrail
) -> None:
    name = member(stage)
    stage.put(gadget(name), widget("elsewhere", stage.namespace), work("w", name))
    kinds = ["Gadget", "Widget", "things.v1.nowhere.example.com"]
    result = detach(name, **QUICK, wait_for=kinds, wait_for_missing="ignore", timeout=10)
    assert f"Gadget {name}" in failed(result)
    assert is_untouched(stage, name)
    assert row_of(result, name)["waits_for"] == [f"Gadget {name}"]
    assert (row_of(result, name)["phase"], result["changed"]) == ("waiting", False)
    assert [one for one in deletions(audit, detach.user) if not one.startswith("sunset-")] == []


@pytest.mark.parametrize("entry", ["bad entry!", "things.v1.nowhere.example.com"], ids=["malformed", "not served"])
def test_an_entry_that_nothing_can_be_waited_for_by_is_an_error_before_the_first_write(
    stage: Stage, detach: Detacher, audit: AuditTrail, entry: str
) -> None:
    name = member(stage)
    assert entry in failed(detach(name, **QUICK, wait_for=["Widget", entry]))
    assert is_untouched(stage, name)
    assert deletions(audit, detach.user) == []


def test_the_freeze_begins_when_the_gate_opens(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (gate,) = stage.put(widget("app", name))
    (held,) = stage.put(addon("held", name, HOOK))
    codes: list[int] = []

    def try_one() -> None:
        late = addon("late", name)
        codes.append(stage.api.post(stage.api.path_of(late, collection=True), late, dryRun="All")[0])

    def open_it() -> None:
        try_one()
        stage.api.delete(stage.api.path_of(gate))

    def let_go() -> None:
        try_one()
        stage.release(held)

    timer = later(1, open_it)
    act = when_waiting_for(HOOK, let_go)
    succeeded(detach(name, namespace="keep", wait_for=["Widget"], on_event=act))
    timer.join()
    assert codes == [201, 403]
    assert freezes(stage) == []


@pytest.mark.parametrize("why", ["gate", "agent"])
def test_a_cluster_that_waits_lets_another_have_its_place(stage: Stage, detach: Detacher, why: str) -> None:
    """With one place for two clusters: the first can only go when the second is gone."""
    first, second = member(stage), member(stage)
    holder = widget("app", first) if why == "gate" else work("held", first, WORK_FINALIZER)
    (thing,) = stage.put(holder)

    def free_the_first() -> None:
        until(lambda: is_gone(stage, second), "the second to go", timeout=40)
        stage.api.delete(stage.api.path_of(thing))
        if why == "agent":
            stage.release(thing)

    waiting = threading.Thread(target=free_the_first)
    waiting.start()
    succeeded(detach(first, second, **QUICK, wait_for=["Widget"], concurrency=1))
    waiting.join()
    assert is_gone(stage, first)


# -- barriers and priorities -------------------------------------------------------------------------------------------


def test_an_addon_that_is_held_holds_the_works_back(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    name = member(stage)
    (held,) = stage.put(addon("held", name, HOOK))
    works = stage.put(*(work(f"w{n}", name) for n in range(3)))
    alive: list[bool] = []

    def let_go() -> None:
        alive.append(all("deletionTimestamp" not in stage.look(one)["metadata"] for one in works))
        stage.release(held)

    succeeded(detach(name, **QUICK, on_event=when_waiting_for(HOOK, let_go)))
    assert alive == [True]
    order = [one for one in deletions(audit, detach.user) if not one.startswith("sunset-")]
    assert order[:2] == [name, "held"]
    assert sorted(order[2:5]) == ["w0", "w1", "w2"]


def hook_says(stage: Stage, thing: Body, status: str, reason: str) -> None:
    said = {"type": "HookManifestCompleted", "status": status, "reason": reason, "message": "lab"}
    patch = {"status": {"conditions": [{**said, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
    assert stage.api.patch(f"{stage.api.path_of(thing)}/status", patch)[0] == 200


@pytest.mark.slow
def test_an_addons_hook_that_never_ends_is_named(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (held,) = stage.put(addon("held", name, HOOK))
    (thing,) = stage.put(work("addon-held-pre-delete", name))
    hook_says(stage, held, "False", "HookManifestIsNotCompleted")
    result = detach(name, **QUICK, timeout=10)
    message = failed(result)
    assert "hook of addon held (work addon-held-pre-delete): HookManifestCompleted is False" in message
    assert HOOK in message
    assert stage.finalizers(held) == [HOOK]
    assert "deletionTimestamp" not in stage.look(thing)["metadata"], "the hook still runs"
    row = row_of(result, name)
    assert (row["phase"], row["condition"]["reason"]) == ("cleaning up", "ResourceRemaining")
    assert row["remaining"] == {"managedclusteraddons": 1, "manifestworks": 1}
    (hook,) = row["hooks"]
    assert (hook["addon"], hook["state"], hook["works"]) == ("held", "waiting", ["addon-held-pre-delete"])
    assert hook["condition"]["reason"] == "HookManifestIsNotCompleted"


def test_an_addons_hook_is_waited_for_and_reported(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (held,) = stage.put(addon("held", name, HOOK))
    stage.put(work("addon-held-pre-delete", name))
    hook_says(stage, held, "True", "HookManifestIsCompleted")
    result = succeeded(detach(name, **QUICK, on_event=when_waiting_for(HOOK, lambda: stage.release(held))))
    (hook,) = row_of(result, name)["hooks"]
    assert (hook["state"], hook["condition"]["status"]) == ("finished", "True")


def test_each_priority_waits_for_the_one_before(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    """Lower first; what Go cannot read counts as 0, and is told."""
    name = member(stage)
    texts = {"a": None, "b": " 5", "c": "300", "d": "+5", "e": "20", "f": "20", "g": "100"}
    stage.put(*(work(one, name, WORK_FINALIZER, priority=text) for one, text in texts.items()))
    with agent(stage, name, delay=0.3) as running:
        result = succeeded(detach(name, **QUICK))
    order = [one for one in deletions(audit, detach.user) if one in texts]
    assert [sorted(order[:3]), order[3], sorted(order[4:6]), order[6]] == [["a", "b", "c"], "d", ["e", "f"], "g"]
    assert running.cleaned[3] == "d"
    assert running.cleaned[-1] == "g"
    assert "' 5'" in warnings_of(result)
    assert "'300'" in warnings_of(result)


# -- the agent's own works ---------------------------------------------------------------------------------------------


def deleting(stage: Stage, thing: Body, status: str) -> None:
    condition = {"type": "Deleting", "status": status, "reason": "Lab", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    path = f"{stage.api.path_of(thing)}/status"
    assert stage.api.patch(path, {"status": {"conditions": [{**condition, "message": ""}]}})[0] == 200


def test_the_agents_definitions_go_last_and_only_when_it_says_so(
    stage: Stage, detach: Detacher, audit: AuditTrail
) -> None:
    name = member(stage)
    (crds,) = stage.put(work(f"{name}-klusterlet-crds", name, WORK_FINALIZER))
    manifest = {"apiVersion": "operator.open-cluster-management.io/v1", "kind": "Klusterlet", "metadata": {"name": "k"}}
    brings = work("by-content", name, WORK_FINALIZER)
    brings["spec"]["workload"]["manifests"] = [manifest]
    stage.put(brings, work("w", name, WORK_FINALIZER, priority="100"))
    held_back: list[bool] = []

    def speak() -> None:
        until(lambda: "deletionTimestamp" in stage.look(crds)["metadata"], "the definitions to be deleted")
        deleting(stage, crds, "False")
        asked = len(audit.events(detach.user.name))
        until(lambda: len(audit.events(detach.user.name)) > asked + 2, "the task to look again")
        held_back.append(stage.finalizers(crds) == [WORK_FINALIZER])
        deleting(stage, crds, "True")

    speaker = threading.Thread(target=speak)
    paths = agent(stage, name)
    speaker.start()
    with paths as running:
        # The agent is gone by then: it does not let its own definitions go.
        running._clean = _all_but(running._clean, crds["metadata"]["name"])  # type: ignore[method-assign]
        succeeded(detach(name, **QUICK))
    speaker.join()
    assert held_back == [True]
    order = [one for one in deletions(audit, detach.user) if not one.startswith("sunset-")]
    assert order[:4] == [name, "w", "by-content", f"{name}-klusterlet-crds"]
    assert is_gone(stage, name)


def _all_but(clean: Any, name: str) -> Any:
    return lambda place, item: None if item["metadata"]["name"] == name else clean(place, item)


# -- bindings ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_work_binding_keeps_its_finalizer_while_works_exist(stage: Stage, detach: Detacher) -> None:
    name = member(stage, API_CLEANUP)
    (binding,) = stage.put(work_binding(name, WORK_FINALIZER))
    (held,) = stage.put(work("held", name, WORK_FINALIZER))
    failed(detach(name, **QUICK, timeout=10, force_after=0))
    assert stage.finalizers(binding) == [WORK_FINALIZER]
    assert "deletionTimestamp" not in stage.look(binding)["metadata"], "the agent still needs its rights"
    stage.release(held)
    succeeded(detach(name, **QUICK, force_after=1))
    assert stage.is_gone(binding)
    assert is_gone(stage, name)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["addon_only", "none"])
def test_works_left_to_others_are_waited_for_and_named(stage: Stage, detach: Detacher, policy: str) -> None:
    name = member(stage)
    (binding,) = stage.put(work_binding(name, WORK_FINALIZER))
    (theirs,) = stage.put(work("theirs", name))
    labels = {"open-cluster-management.io/addon-name": "metrics"}
    (of_addon,) = stage.put(work("of-addon", name, labels=labels))
    result = detach(name, **QUICK, manifestworks=policy, timeout=10)
    message = failed(result)
    assert f"manifestworks: {policy}" in message
    assert stage.is_gone(of_addon) is (policy == "addon_only")
    assert "deletionTimestamp" not in stage.look(theirs)["metadata"]
    assert stage.finalizers(binding) == [WORK_FINALIZER]
    assert row_of(result, name)["remaining"] == {"manifestworks": 1 if policy == "addon_only" else 2}


def test_works_left_to_others_that_go_let_the_rest_go(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    (theirs,) = stage.put(work("theirs", name))
    timer = later(1.5, lambda: stage.api.delete(stage.api.path_of(theirs)))
    succeeded(detach(name, **QUICK, manifestworks="none"))
    timer.join()
    assert is_gone(stage, name)


# -- the namespace -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "when"),
    [({"labels": {KEEP_LABEL: ""}}, "before"), ({"annotations": {RETAIN: "x"}}, "meanwhile")],
    ids=["label before", "annotation meanwhile"],
)
def test_a_mark_keeps_the_namespace_and_that_is_success(
    stage: Stage, detach: Detacher, mark: dict[str, Any], when: str
) -> None:
    name = member(stage)
    stage.put(work("w", name))

    def put_on(event: Any = None) -> None:
        assert stage.api.patch(f"/api/v1/namespaces/{name}", {"metadata": mark})[0] == 200

    def meanwhile(event: Any) -> None:
        if isinstance(event, StepBegan):
            put_on()

    if when == "before":
        put_on()
    result = succeeded(
        detach(name, on_event=meanwhile if when == "meanwhile" else None, namespace="delete", freeze=False)
    )
    row = row_of(result, name)
    assert (row["phase"], row["namespace"]["kept"], row["namespace"]["gone"]) == ("gone", True, False)
    assert row["namespace"]["reason"].startswith("it carries ")
    assert has_namespace(stage, name)
    assert is_gone(stage, name)
    again = succeeded(detach(name))
    assert (again["changed"], row_of(again, name)["namespace"]["kept"]) == (False, True)


def test_a_hosted_cluster_keeps_the_namespace(stage: Stage, detach: Detacher) -> None:
    define(stage, crd("HostedCluster", "hypershift.openshift.io"))
    name = member(stage)
    stage.put(body("hypershift.openshift.io/v1", "HostedCluster", "guest", name))
    reason = row_of(succeeded(detach(name)), name)["namespace"]["reason"]
    assert reason == "it holds a hosted cluster: HostedCluster guest"
    assert has_namespace(stage, name)


@pytest.mark.slow
def test_a_pod_at_work_keeps_the_namespace_and_one_that_has_ended_does_not(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    account = body("v1", "ServiceAccount", "default", name)
    until(lambda: stage.find(account), "the account")
    spec = {"containers": [{"name": "main", "image": "example/main:1"}], "automountServiceAccountToken": False}
    (pod,) = stage.put(body("v1", "Pod", "job", name, spec=spec))
    assert row_of(succeeded(detach(name)), name)["namespace"]["reason"] == "pods run in it: Pod job"
    stage.api.patch(f"{stage.api.path_of(pod)}/status", {"status": {"phase": "Succeeded"}})
    again = succeeded(detach(name))
    assert (again["changed"], row_of(again, name)["namespace"]["gone"]) == (True, True)


@pytest.mark.slow
def test_a_namespace_without_the_label_goes_only_when_told(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    stage.api.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": None}})
    assert "no label" in row_of(succeeded(detach(name)), name)["namespace"]["reason"]
    assert has_namespace(stage, name)
    assert row_of(succeeded(detach(name, namespace="delete")), name)["namespace"]["gone"]


@pytest.mark.slow
def test_foreign_finalizers_on_the_managed_cluster_are_never_stripped(stage: Stage, detach: Detacher) -> None:
    name = member(stage, API_CLEANUP, FOREIGN)
    result = detach(name, **QUICK, timeout=10, force_after=1)
    assert FOREIGN in failed(result)
    assert stage.api.get(f"{CLUSTERS}/{name}")[1]["metadata"]["finalizers"] == [FOREIGN]
    assert row_of(result, name)["phase"] == "finishing"


def test_content_is_orphaned_before_anybody_deletes_it(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    name = member(stage)
    (thing,) = stage.put(work("w", name, WORK_FINALIZER))
    (extra,) = stage.put(addon("a", name))
    seen: list[Any] = []

    def look(event: Any) -> None:
        if isinstance(event, Did) and event.object.kind == "ManagedCluster" and not seen:
            seen.append(stage.look(thing)["spec"].get("deleteOption"))

    with agent(stage, name):
        succeeded(detach(name, **QUICK, spoke_content="orphan", on_event=look))
    assert seen == [{"propagationPolicy": "Orphan"}]
    first = next(event for event in audit.writes(detach.user.name) if event.verb == "delete")
    patched = {
        event.name for event in audit.writes(detach.user.name) if event.verb == "patch" and event.time < first.time
    }
    assert {thing["metadata"]["name"], extra["metadata"]["name"]} <= patched
