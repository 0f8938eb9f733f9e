# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a ranked deletion runs: force, time-outs and their reasons, newcomers, dependants, interruptions, other clusters.

Waits end with an event, never with a sleep; what was sent is read from the API server's audit log.
"""

from __future__ import annotations

import base64
import json
import secrets
import stat
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.ranked import (
    RBAC,
    Remover,
    both,
    cluster_role,
    define,
    deletions,
    failed,
    in_portions,
    kept,
    manifest,
    named,
    names,
    remaining,
    service,
    service_account,
    succeeded,
    when_waiting_for,
)
from integration.running import Result, run_playbook
from integration.stage import (
    CLEANUP,
    FOREIGN,
    GROUP,
    GUARD,
    Body,
    Stage,
    body,
    bring_to_life,
    config_map,
    crd,
    deployment,
    gadget,
    widget,
)
from lab import tools
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.components import APISERVER, CONTROLLER_MANAGER
from lab.plane.controlplane import ControlPlane
from lab.plane.users import read_kubeconfig
from lab.waiting import until

NAMESPACED = {"predefinedResourceGroup": "namespaced-resources"}
CLUSTER_SCOPED = {"predefinedResourceGroup": "cluster-scoped-resources"}
FORCED = [{**NAMESPACED, "forceDelete": True}]
ALL_WIDGETS = {"resources": [{"group": GROUP, "kind": "Widget", "selector": {"all": True}}]}


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


def the_namespace(name: str) -> Body:
    return body("v1", "Namespace", name, "")


def survivor(result: Result) -> dict[str, Any]:
    [row] = result["survivors"]
    assert row["blocked_by"], "a survivor without a reason helps nobody"
    found: dict[str, Any] = row
    return found


# -- force -------------------------------------------------------------------------------------------------------------


def test_force_strips_the_finalizers_it_may_and_the_object_goes(remove: Remover, stage: Stage) -> None:
    made = stage.put(widget("a", stage.namespace, CLEANUP, FOREIGN), widget("b", stage.namespace))
    result = succeeded(remove(named(*made), deletion_groups=FORCED, force_after=0))
    assert remaining(stage, made) == []
    assert (result["steps"][0]["deleted"], result["steps"][0]["released"]) == (2, 1)


def test_without_force_on_the_step_nothing_is_stripped(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP))
    failed(remove(named(held), deletion_groups=[NAMESPACED], force_after=0, timeout=10))
    assert stage.finalizers(held) == [CLEANUP]
    assert [event.verb for event in audit.writes(remove.user.name)] == ["delete"]


def test_a_controller_that_is_in_time_is_not_overtaken_by_force(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP))
    release = when_waiting_for(CLEANUP, lambda: stage.release(held))
    result = succeeded(remove(named(held), deletion_groups=FORCED, force_after=600, on_event=release))
    assert result["steps"][0]["released"] == 0
    assert [event.verb for event in audit.writes(remove.user.name)] == ["delete"]


def test_force_comes_after_its_time(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP))
    result = succeeded(remove(named(held), deletion_groups=FORCED, force_after=2))
    assert stage.is_gone(held)
    assert result["steps"][0]["released"] == 1


def test_a_finalizer_that_guards_money_is_never_stripped_by_force(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP, GUARD))
    result = remove(named(held), deletion_groups=FORCED, force_after=0, timeout=10)
    failed(result)
    assert stage.finalizers(held) == [GUARD]
    row = survivor(result)
    assert row["finalizers"] == [GUARD]
    assert any("load balancer" in blocker["text"] for blocker in row["blocked_by"])


def test_a_finalizer_that_guards_money_goes_when_it_is_allowed_by_its_name(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP, GUARD))
    succeeded(remove(named(held), deletion_groups=FORCED, force_after=0, force_allow=[GUARD]))
    assert stage.is_gone(held)


def test_a_denied_finalizer_is_never_stripped(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP, FOREIGN))
    result = remove(
        named(held), deletion_groups=FORCED, force_after=0, force_deny=["foreign.example.org/*"], timeout=10
    )
    failed(result)
    assert stage.finalizers(held) == [FOREIGN]
    assert survivor(result)["finalizers"] == [FOREIGN]


def test_what_was_terminating_before_is_forced_as_well(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP))
    result = succeeded(remove(named(held), deletion_groups=FORCED, force_after=0))
    assert stage.is_gone(held)
    assert [event.verb for event in audit.writes(remove.user.name)] == ["patch"]
    assert result["changed"] is True


def bound_pod(name: str, namespace: str) -> Body:
    """On a node that does not exist: nobody ever confirms that its containers have ended."""
    spec = {
        "nodeName": "nowhere",
        "terminationGracePeriodSeconds": 600,
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "example/main:1"}],
    }
    return body("v1", "Pod", name, namespace, spec=spec)


def with_accounts(stage: Stage) -> str:
    """A namespace in which pods can be created."""
    here = stage.namespace
    path = f"/api/v1/namespaces/{here}/serviceaccounts/default"
    until(lambda: stage.api.get(path)[0] == 200, "the default service account", every=0.05)
    return here


def test_a_pod_on_a_dead_node_is_deleted_without_grace_under_force(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    [pod] = stage.put(bound_pod("stuck", with_accounts(stage)))
    succeeded(remove(named(pod), deletion_groups=FORCED, force_after=0))
    assert stage.is_gone(pod)
    sent = [(event.request or {}).get("gracePeriodSeconds") for event in audit.writes(remove.user.name)]
    assert sent == [None, 0]


def test_without_force_a_pod_keeps_its_grace_period_and_the_survivor_says_so(remove: Remover, stage: Stage) -> None:
    [pod] = stage.put(bound_pod("stuck", with_accounts(stage)))
    result = remove(named(pod), timeout=10)
    failed(result)
    assert [blocker["what"] for blocker in survivor(result)["blocked_by"]] == ["grace"]


def test_the_tasks_own_grace_period_is_sent(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    [pod] = stage.put(bound_pod("stuck", with_accounts(stage)))
    succeeded(remove(named(pod), grace_period_seconds=0))
    assert [(event.request or {})["gracePeriodSeconds"] for event in audit.writes(remove.user.name)] == [0]


def test_the_propagation_policy_is_sent(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    [thing] = stage.put(config_map("a", stage.namespace))
    succeeded(remove(named(thing), propagation_policy="Foreground"))
    assert [(event.request or {})["propagationPolicy"] for event in audit.writes(remove.user.name)] == ["Foreground"]


# -- out of time: who is left, and why ---------------------------------------------------------------------------------


def test_out_of_time_is_a_failure_that_names_the_survivor_and_later_steps_are_not_begun(
    remove: Remover, stage: Stage
) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP), manager="keeper")
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    result = remove(named(held, later), timeout=10)
    said = failed(result)
    assert "out of time" in said
    assert "held" in said, "the first survivors are named"
    row = survivor(result)
    assert (row["kind"], row["namespace"], row["name"]) == ("Widget", stage.namespace, "held")
    assert (row["uid"], row["finalizers"]) == (held["metadata"]["uid"], [CLEANUP])
    assert isinstance(row["deleting_for"], int)
    [blocker] = row["blocked_by"]
    assert (blocker["what"], blocker["finalizer"]) == ("finalizer", CLEANUP)
    assert blocker["alive"] in ("gone", "unknown")
    assert blocker["suggestion"]
    assert result["changed"] is True, "its deletion was asked for"
    assert stage.look(later) == later


def test_a_survivor_whose_controller_lives_says_so(remove: Remover, stage: Stage) -> None:
    word = f"k{secrets.token_hex(4)}"
    with_accounts(stage)
    [workload] = stage.put(deployment(f"{word}-operator", stage.namespace))
    bring_to_life(stage, workload)
    [held] = stage.put(widget("held", stage.namespace, f"{word}.example.com/cleanup"))
    result = remove(named(held), timeout=10)
    failed(result)
    [blocker] = survivor(result)["blocked_by"]
    assert blocker["alive"] == "alive"
    assert f"{stage.namespace}/{word}-operator" in blocker["owner"]


def test_on_demand_the_run_goes_on_without_the_survivors(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, CLEANUP))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    groups = [{**NAMESPACED, "timeout": 5}, CLUSTER_SCOPED]
    result = succeeded(remove(named(held, later), deletion_groups=groups, on_timeout="continue"))
    assert names(result["survivors"]) == ["held"]
    assert remaining(stage, [held, later]) == ["held"]
    assert [step["deleted"] for step in result["steps"]] == [0, 1]


def test_a_steps_own_time_ends_the_run_long_before_the_whole_time(remove: Remover, stage: Stage) -> None:
    """With 600 seconds for the run, this test would never end in time without the step's own."""
    [held] = stage.put(widget("held", stage.namespace, CLEANUP))
    result = remove(named(held), deletion_groups=[{**NAMESPACED, "timeout": 5}], timeout=600)
    assert "out of time" in failed(result)
    assert names(result["survivors"]) == ["held"]


def conditions(stage: Stage, thing: Body) -> dict[str, str]:
    status = stage.look(thing).get("status") or {}
    return {one["type"]: one["status"] for one in status.get("conditions") or ()}


def test_a_namespace_that_stays_tells_what_is_left_in_it(remove: Remover, stage: Stage) -> None:
    here = stage.another_namespace()
    stage.put(widget("held", here, CLEANUP))
    space = stage.look(the_namespace(here))
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    until(
        lambda: conditions(stage, space).get("NamespaceFinalizersRemaining") == "True",
        "the namespace controller to give its reasons",
        timeout=30,
        every=0.1,
    )
    result = remove(named(space), foreign_instances="cascade", timeout=10)
    failed(result)
    told = str(survivor(result)["blocked_by"])
    assert f"finalizers hold what is left in it: {CLEANUP}" in told
    assert "still in it: 1 Widget" in told
    assert f"namespace={here} name=held finalizers={CLEANUP}" in result["msg"], (
        "what holds it is not the namespace itself"
    )


def test_a_definition_that_stays_tells_that_instances_are_left(remove: Remover, stage: Stage) -> None:
    made = define(stage, crd("Thing", f"{secrets.token_hex(4)}.example.com"))
    stage.put(body(f"{made['spec']['group']}/v1", "Thing", "held", stage.namespace, CLEANUP))
    assert stage.api.delete(stage.api.path_of(made))[0] == 200
    until(lambda: conditions(stage, made).get("Terminating") == "True", "the definition to say why", every=0.1)
    result = remove(named(made), foreign_instances="cascade", timeout=10)
    failed(result)
    told = str(survivor(result)["blocked_by"])
    assert "the API server says: " in told
    assert f"1 object of this kind is left, 1 being deleted, held by {CLEANUP}" in told
    assert "customresourcecleanup.apiextensions.k8s.io" in told


def dead_webhook(stage: Stage, operation: str, resource: str, group: str = "") -> None:
    """Every such request in the test's namespace is refused: the webhook that should say yes does not exist."""
    here = stage.namespace
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
    hook = {
        "name": "dead.example.com",
        "clientConfig": {"url": "https://127.0.0.1:9/admit"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": here}},
    }
    kind = "ValidatingWebhookConfiguration"
    stage.put(body("admissionregistration.k8s.io/v1", kind, f"dead-{here}", "", webhooks=[hook]))


def test_a_webhook_that_refuses_deletions_is_recognised(remove: Remover, stage: Stage) -> None:
    [thing] = stage.put(config_map("guarded", stage.namespace))
    dead_webhook(stage, "DELETE", "configmaps")
    path = stage.api.path_of(thing)
    until(lambda: stage.api.delete(path, dryRun="All")[0] == 500, "the webhook to be in force", every=0.05)
    result = remove(named(thing), timeout=20)
    assert "guarded" in failed(result)
    told = survivor(result)["blocked_by"]
    assert {blocker["what"] for blocker in told} == {"webhook"}
    assert "dead.example.com" in told[0]["text"]
    assert f"kubectl delete validatingwebhookconfiguration dead-{stage.namespace}" in told[1]["suggestion"]


def test_a_webhook_that_refuses_the_stripping_of_finalizers_is_recognised(remove: Remover, stage: Stage) -> None:
    """Its backend went before it, as Helm does it: now nothing can be forced."""
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP))
    dead_webhook(stage, "UPDATE", "widgets", GROUP)
    path, touch = stage.api.path_of(held), {"metadata": {"annotations": {"a": "b"}}}
    until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 500, "the webhook to be in force", every=0.05)
    result = remove(named(held), deletion_groups=FORCED, force_after=0, timeout=10)
    failed(result)
    told = survivor(result)["blocked_by"]
    assert "webhook" in [blocker["what"] for blocker in told]
    assert "dead.example.com" in str(told)
    status, _answer = stage.api.delete(
        f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/dead-{stage.namespace}"
    )
    assert status == 200  # or the stage could not be cleared
    until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 200, "the webhook to be gone", every=0.05)


# -- whole kinds: newcomers, and who will not give up ------------------------------------------------------------------


def on_deletion_of(name: str, act: Callable[[], Any], times: int = 1) -> Callable[[Any], None]:
    """Acts when the run has deleted an object of this name."""
    left = [times]

    def look(event: Any) -> None:
        if isinstance(event, Did) and event.action == "delete" and event.object.name == name and left[0] > 0:
            left[0] -= 1
            act()

    return look


def test_a_step_that_takes_a_whole_kind_takes_what_is_created_meanwhile_too(remove: Remover, stage: Stage) -> None:
    [first] = stage.put(widget("first", stage.namespace))
    later: list[Body] = []

    def create() -> None:
        later.extend(stage.put(*(widget(f"late-{n}", stage.namespace) for n in range(3))))

    result = succeeded(remove(named(first), deletion_groups=[ALL_WIDGETS], on_event=on_deletion_of("first", create)))
    assert remaining(stage, [first, *later]) == []
    assert len(later) == 3
    assert result["counts"]["deleted"] == 4


def test_a_step_about_members_only_leaves_what_is_created_meanwhile(remove: Remover, stage: Stage) -> None:
    [first] = stage.put(widget("first", stage.namespace))
    later: list[Body] = []

    def create() -> None:
        later.extend(stage.put(widget("late", stage.namespace)))

    succeeded(remove(named(first), deletion_groups=[NAMESPACED], on_event=on_deletion_of("first", create)))
    assert remaining(stage, later) == ["late"]


def test_an_object_that_is_brought_back_again_and_again_is_given_up_with_the_name_of_who_does_it(
    remove: Remover, stage: Stage
) -> None:
    risen = widget("phoenix", stage.namespace, spec={"ashes": True})
    [phoenix] = stage.put(risen, manager="stubborn-operator")
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))

    def rise() -> None:
        stage.put(risen, manager="stubborn-operator")

    result = remove(
        named(phoenix, later),
        deletion_groups=[ALL_WIDGETS, CLUSTER_SCOPED],
        on_event=on_deletion_of("phoenix", rise, times=20),
    )
    said = failed(result)
    assert "recreated 3 times by stubborn-operator" in said
    assert "phoenix" in said
    assert stage.look(later) == later


def test_an_object_that_is_brought_back_once_is_simply_deleted_again(remove: Remover, stage: Stage) -> None:
    [lazarus] = stage.put(widget("lazarus", stage.namespace))
    back: list[Body] = []

    def rise() -> None:
        back.extend(stage.put(widget("lazarus", stage.namespace)))

    succeeded(remove(named(lazarus), deletion_groups=[ALL_WIDGETS], on_event=on_deletion_of("lazarus", rise)))
    assert remaining(stage, [lazarus, *back]) == []


# -- before the deletion -----------------------------------------------------------------------------------------------


def history(stage: Stage, thing: Body) -> list[Body]:
    """What became of an object since it was created, as a watch shows it, up to its deletion."""
    seen = []
    collection = stage.api.path_of(thing, collection=True)
    for event in stage.api.watch(collection, resourceVersion=thing["metadata"]["resourceVersion"], seconds=5):
        if event["object"]["metadata"].get("uid") == thing["metadata"]["uid"]:
            seen.append(event)
            if event["type"] == "DELETED":
                break
    return seen


def test_the_whole_step_is_annotated_and_patched_before_its_first_deletion(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    made = stage.put(config_map("a", stage.namespace), config_map("b", stage.namespace))
    [other] = stage.put(gadget(f"other-{stage.namespace}"))
    wish = {"annotate": {"example.com/farewell": "yes"}, "patch": {"data": {"note": "gone fishing"}}}
    groups = [{**NAMESPACED, "beforeDelete": wish}, CLUSTER_SCOPED]
    succeeded(remove(named(*made, other), deletion_groups=groups))
    for thing in made:
        first, *_rest = history(stage, thing)
        assert first["type"] == "MODIFIED"
        assert first["object"]["metadata"]["annotations"] == {"example.com/farewell": "yes"}
        assert first["object"]["data"] == {"note": "gone fishing"}
    verbs = [event.verb for event in audit.writes(remove.user.name)]
    assert verbs == ["patch", "patch", "delete", "delete", "delete"]


def test_workloads_are_scaled_before_they_are_deleted_and_other_kinds_are_left_as_they_are(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = with_accounts(stage)
    app, plain = stage.put(deployment("app", here), config_map("plain", here))
    sets = f"/apis/apps/v1/namespaces/{here}/replicasets"
    until(lambda: stage.api.get(sets)[1]["items"], "its ReplicaSet", every=0.05)
    succeeded(remove(named(app, plain), before_delete={"scale": 0}))
    patches = [event.name for event in audit.writes(remove.user.name) if event.verb == "patch"]
    assert patches == ["app"]
    assert any(event["object"]["spec"]["replicas"] == 0 for event in history(stage, app))


def test_check_mode_patches_nothing_before_a_deletion(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    made = stage.put(config_map("a", stage.namespace))
    succeeded(remove(named(*made), check_mode=True, before_delete={"annotate": {"example.com/farewell": "yes"}}))
    assert audit.writes(remove.user.name) == []
    assert stage.look(made[0]) == made[0]


# -- dependants --------------------------------------------------------------------------------------------------------


def test_what_a_deployment_owns_is_in_the_plan_and_deleted_by_ourselves(
    plane: ControlPlane, remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = with_accounts(stage)
    [app] = stage.put(deployment("app", here))

    def owned() -> list[str]:
        _status, pods = stage.api.get(f"/api/v1/namespaces/{here}/pods")
        _status, sets = stage.api.get(f"/apis/apps/v1/namespaces/{here}/replicasets")
        return [item["metadata"]["name"] for item in (*(pods["items"] or ()), *(sets["items"] or ()))]

    until(lambda: len(owned()) == 2, "its ReplicaSet and its Pod", every=0.05)
    children = owned()
    plane.suspend(CONTROLLER_MANAGER)  # or the garbage collector may be faster
    try:
        result = succeeded(remove(named(app)))
        assert owned() == []  # asked now: once resumed, it may create them again before it sees the Deployment deleted
    finally:
        plane.resume(CONTROLLER_MANAGER)
    assert sorted(deletions(audit, remove.user)) == sorted(["app", *children])
    assert deletions(audit, remove.user)[0] == "app", "or its controller would replace what it loses"
    assert result["steps"][0]["total"] == 3


def owned_by(thing: Body, owner: Body, *more: Body) -> Body:
    owners = [
        {"apiVersion": o["apiVersion"], "kind": o["kind"], "name": o["metadata"]["name"], "uid": o["metadata"]["uid"]}
        for o in (owner, *more)
    ]
    return {**thing, "metadata": {**thing["metadata"], "ownerReferences": owners}}


def test_what_a_custom_resource_owns_is_deleted_by_ourselves_unless_somebody_else_owns_it_too(
    remove: Remover, second_plane: ControlPlane, elsewhere: Stage
) -> None:
    """In a cluster without a garbage collector: whatever goes, went by our hand."""
    here = elsewhere.namespace
    owner, other, member = elsewhere.put(widget("owner", here), widget("other", here), config_map("member", here))
    made = elsewhere.put(
        owned_by(config_map("child", here), owner),
        owned_by(config_map("shared", here), owner, other),
        config_map("stranger", here),
    )
    result = succeeded(remove(named(owner, member), kubeconfig=second_plane.admin.kubeconfig))
    assert remaining(elsewhere, [owner, other, member, *made]) == ["other", "shared", "stranger"]
    assert result["steps"][0]["deleted"] == 3


def test_a_dependant_with_a_keep_marker_stays_in_nobodys_way(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here = stage.namespace
    owner, member = stage.put(widget("owner", here), config_map("member", here))
    child = owned_by(config_map("child", here), owner)
    child["metadata"]["annotations"] = {"sunset.dev/keep": "true"}
    stage.put(child)
    audit.begin_anew()
    result = succeeded(remove(named(owner, member)))
    assert "child" not in deletions(audit, remove.user)
    assert kept(result)["child"][0] == "keep"


# -- again, and in spite of everything ---------------------------------------------------------------------------------


def test_a_second_run_changes_nothing_and_writes_nothing(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    made = stage.put(config_map("a", stage.namespace), cluster_role(f"b-{stage.namespace}"))
    assert succeeded(remove(named(*made)))["changed"] is True
    audit.begin_anew()
    result = succeeded(remove(named(*made)))
    assert (result["changed"], result["counts"]["gone"], result["survivors"]) == (False, 2, [])
    assert audit.writes(remove.user.name) == []


def test_a_run_that_was_stopped_sends_nothing_more_and_the_next_one_goes_on(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    made = stage.put(*(config_map(f"map-{n}", stage.namespace) for n in range(20)))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    stop = StopSign()

    def stop_soon(event: Any) -> None:
        if isinstance(event, Did):
            stop.set("received SIGTERM")

    first = remove(named(*made, later), stop=stop, parallel=2, on_event=stop_soon)
    assert "SIGTERM" in failed(first)
    sent = deletions(audit, remove.user)
    assert 0 < len(sent) <= 3, "what two workers had under way"
    assert first["counts"]["deleted"] == len(sent)
    assert stage.look(later) == later
    second = succeeded(remove(named(*made, later)))
    assert second["counts"]["deleted"] == 21 - len(sent)
    assert remaining(stage, [*made, later]) == []


def test_a_restart_of_the_api_server_in_mid_run_does_not_end_it(
    remove: Remover, second_plane: ControlPlane, elsewhere: Stage
) -> None:
    here = elsewhere.namespace
    held, later = elsewhere.put(widget("held", here, CLEANUP), config_map("later", here))

    def restart() -> None:
        second_plane.restart(APISERVER)
        elsewhere.release(held)

    groups = [{"resources": [{"group": GROUP, "kind": "Widget"}]}, NAMESPACED]
    result = succeeded(
        remove(
            named(held, later),
            kubeconfig=second_plane.admin.kubeconfig,
            deletion_groups=groups,
            on_event=when_waiting_for(CLEANUP, restart),
        )
    )
    assert remaining(elsewhere, [held, later]) == []
    assert [step["deleted"] for step in result["steps"]] == [1, 1]


# -- another cluster ---------------------------------------------------------------------------------------------------


def test_an_empty_plan_of_one_cluster_is_no_consent_for_another(remove: Remover, second_plane: ControlPlane) -> None:
    absent = named(body("v1", "ConfigMap", "absent", "default"))
    seen = succeeded(remove(absent, check_mode=True))
    assert not seen["changed"]
    there = {"kubeconfig": second_plane.admin.kubeconfig, "plan_hash": seen["plan_hash"]}
    assert "the plan has changed" in failed(remove(absent, **there))
    succeeded(remove(absent, plan_hash=seen["plan_hash"]))


def everywhere(kind: str, **more: Any) -> dict[str, Any]:
    group: dict[str, Any] = {"resources": [{"kind": kind, **more}], "deleteAllResources": True, "targetName": "second"}
    return {"customResourceGroup": group}


def test_a_step_may_be_about_another_cluster(
    remove: Remover, stage: Stage, elsewhere: Stage, plane: ControlPlane, second_plane: ControlPlane
) -> None:
    mine, stays = stage.put(config_map("mine", stage.namespace), widget("stays", stage.namespace))
    there = elsewhere.put(widget("a", elsewhere.namespace), widget("b", elsewhere.namespace))
    result = succeeded(
        remove(
            named(mine),
            kubeconfig=both(plane, second_plane),
            deletion_groups=[everywhere("Widget"), NAMESPACED],
        )
    )
    assert remaining(elsewhere, there) == []
    assert remaining(stage, [mine, stays]) == ["stays"]
    assert [step["deleted"] for step in result["steps"]] == [2, 1]


def test_two_steps_may_be_about_the_same_other_cluster_and_the_barrier_holds_there(
    remove: Remover, stage: Stage, elsewhere: Stage, plane: ControlPlane, second_plane: ControlPlane
) -> None:
    here = elsewhere.namespace
    held, later = elsewhere.put(widget("held", here, CLEANUP), config_map("later", here))
    seen: list[Body] = []

    def release() -> None:
        seen.append(elsewhere.look(later))
        elsewhere.release(held)

    groups = [everywhere("Widget"), everywhere("ConfigMap", namespaces=[here])]
    result = succeeded(
        remove(
            named(),
            kubeconfig=both(plane, second_plane),
            deletion_groups=groups,
            on_event=when_waiting_for(CLEANUP, release),
        )
    )
    assert seen == [later]
    assert remaining(elsewhere, [held, later]) == []
    assert [step["deleted"] for step in result["steps"]] == [1, 1]


def test_a_context_that_does_not_exist_is_refused_before_anything_is_deleted(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    [mine] = stage.put(config_map("mine", stage.namespace))
    said = failed(remove(named(mine), deletion_groups=[NAMESPACED, everywhere("Widget")]))
    assert "second" in said
    assert audit.writes(remove.user.name) == []


def test_a_step_about_another_cluster_is_not_done_at_the_address_of_this_one(
    remove: Remover, stage: Stage, plane: ControlPlane, second_plane: ControlPlane
) -> None:
    made = stage.put(config_map("mine", stage.namespace), widget("stays", stage.namespace))
    here: dict[str, Any] = {
        "host": read_kubeconfig(plane.admin.kubeconfig).server,
        "validate_certs": False,
        "client_cert": remove.user.cert_file,
        "client_key": remove.user.key_file,
    }
    groups = [everywhere("Widget", namespaces=[stage.namespace]), NAMESPACED]
    said = failed(remove(named(made[0]), kubeconfig=both(plane, second_plane), deletion_groups=groups, **here))
    assert "context second names another cluster, and host is given" in said
    assert remaining(stage, made) == ["mine", "stays"]


# -- namespaces that nobody finalizes ----------------------------------------------------------------------------------


def test_an_empty_namespace_is_finalized_on_demand_and_only_then(
    remove: Remover, second_plane: ControlPlane, elsewhere: Stage
) -> None:
    where = second_plane.admin.kubeconfig
    space = elsewhere.look(the_namespace(elsewhere.another_namespace()))
    result = remove(named(space), kubeconfig=where, force_after=0, timeout=10)
    assert names(result["survivors"]) == [space["metadata"]["name"]]
    assert survivor(result)
    result = succeeded(remove(named(space), kubeconfig=where, force_after=0, finalize_namespaces=True))
    assert elsewhere.is_gone(space)
    assert result["changed"] is True


def test_a_namespace_with_anything_left_in_it_is_never_finalized(
    remove: Remover, second_plane: ControlPlane, elsewhere: Stage
) -> None:
    """Or the objects would stay in storage, out of everybody's reach."""
    here = elsewhere.another_namespace()
    [left] = elsewhere.put(widget("left", here))
    space = elsewhere.look(the_namespace(here))
    result = remove(
        named(space),
        kubeconfig=second_plane.admin.kubeconfig,
        foreign_instances="cascade",
        finalize_namespaces=True,
        force_after=0,
        timeout=10,
    )
    failed(result)
    assert elsewhere.look(space)["spec"]["finalizers"] == ["kubernetes"]
    assert not elsewhere.is_gone(left)
    assert names(result["survivors"]) == [here]


# -- many --------------------------------------------------------------------------------------------------------------

PORTION, NAMESPACES, RANKS = 5, 20, 5
ROLE = {"apiGroup": RBAC, "kind": "Role", "name": "none"}
BACKEND = {"service": {"name": "none", "port": {"number": 80}}}
LIMIT = {"limits": [{"type": "Container"}]}
TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "example/main:1"}]}}
MANY: dict[tuple[str, str], Body] = {
    ("v1", "ConfigMap"): {},
    ("v1", "Secret"): {},
    ("v1", "ServiceAccount"): {},
    ("v1", "LimitRange"): {"spec": LIMIT},
    ("v1", "PodTemplate"): {"template": TEMPLATE},
    (f"{RBAC}/v1", "Role"): {"rules": []},
    (f"{RBAC}/v1", "RoleBinding"): {"roleRef": ROLE, "subjects": []},
    ("networking.k8s.io/v1", "NetworkPolicy"): {"spec": {"podSelector": {}}},
    ("networking.k8s.io/v1", "Ingress"): {"spec": {"defaultBackend": BACKEND}},
    (f"{GROUP}/v1", "Widget"): {},
}


def test_five_thousand_objects_of_ten_kinds_go_in_five_ranks_with_one_request_each(
    remove: Remover, stage: Stage, plane: ControlPlane, as_user: AsUser, audit: AuditTrail
) -> None:
    label = {"many": secrets.token_hex(4)}
    spaces = [stage.another_namespace() for _time in range(NAMESPACES)]
    bodies = [
        body(api_version, kind, f"r{rank}-{n}", space, labels=label, **content)
        for (api_version, kind), content in MANY.items()
        for space in spaces
        for rank in range(RANKS)
        for n in range(PORTION)
    ]
    with ThreadPoolExecutor(8, thread_name_prefix="many") as pool:
        made = list(pool.map(lambda one: plane.api.post(plane.api.path_of(one, collection=True), one)[0], bodies))
    assert made == [201] * len(bodies)
    rules = [
        {
            "deletionRank": 10 * rank,
            "types": [{"apiVersion": version, "kind": kind, "names": [f"r{rank}-*"]} for version, kind in MANY],
        }
        for rank in range(RANKS)
    ]
    user = as_user("many", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    kinds = [kind for _version, kind in MANY]
    members = {"selector": {"label_selector": f"many={label['many']}", "kinds": kinds}}
    audit.begin_anew()
    result = succeeded(remove(members, user=user, deletion_order_rules=rules, timeout=300))
    total = len(MANY) * NAMESPACES * RANKS * PORTION
    assert total == 5000
    assert result["counts"]["deleted"] == total
    assert [step["deleted"] for step in result["steps"][:RANKS]] == [total // RANKS] * RANKS
    seen = audit.events(user.name)
    order = [event.name.partition("-")[0] for event in seen if event.verb == "delete"]
    assert order == sorted(order), "no rank before the one below it is done"
    assert len(order) == total
    assert len(seen) <= 1.05 * total
    for version, kind in MANY:
        path = plane.api.path_of(body(version, kind, "", spaces[0]), collection=True)
        whole = path.replace(f"namespaces/{spaces[0]}/", "")
        assert not plane.api.get(whole, labelSelector=f"many={label['many']}")[1]["items"]


# -- evidence ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_the_evidence_is_complete_private_without_secrets_and_brings_the_objects_back(
    plane: ControlPlane, stage: Stage, tmp_path: Path
) -> None:
    here, word = stage.namespace, secrets.token_hex(12)
    secret = {**body("v1", "Secret", "secret", here), "stringData": {"password": word}}
    made = stage.put(
        {**config_map("map", here), "data": {"a": "b"}},
        secret,
        service("service", here),
        service_account("account", here),
        {**widget("widget", here), "spec": {"size": 3}},
        cluster_role(f"role-{here}"),
    )
    task = {"members": named(*made), "evidence_dir": str(tmp_path / "evidence")}
    run = run_playbook([{"sunset.kube.ranked_delete": task}], plane.admin.kubeconfig)
    assert run.rc == 0, run.stdout
    folder = Path(run.result["evidence"])
    assert folder.parent == tmp_path / "evidence"
    files = {str(file.relative_to(folder)): file for file in folder.rglob("*")}
    assert {"plan.json", "timeline.jsonl", "report.md", "undo"} <= files.keys()
    for file in (folder, *files.values()):
        assert stat.S_IMODE(file.stat().st_mode) == (0o700 if file.is_dir() else 0o600), file
    hidden = (word, base64.b64encode(word.encode()).decode())
    for file in (file for file in files.values() if file.is_file()):
        assert not any(text in file.read_text() for text in hidden), file
    assert not any(text in run.stdout for text in hidden)

    plan = json.loads(files["plan.json"].read_text())
    assert plan["plan_hash"] == run.result["plan_hash"]
    assert sum(step["total"] for step in plan["steps"]) == len(made)
    rows = [json.loads(line) for line in files["timeline.jsonl"].read_text().splitlines()]
    deleted = [row["object"]["name"] for row in rows if row["event"] == "did"]
    expected = [["widget"], ["account", "map", "secret", "service"], [f"role-{here}"]]
    assert in_portions(deleted, expected) == expected
    barrier = [(row["event"], row.get("step")) for row in rows if row["event"] in ("stepbegan", "stepended")]
    assert [event for event, _step in barrier] == ["stepbegan", "stepended"] * 2
    report = files["report.md"].read_text()
    assert run.result["plan_hash"] in report
    assert f"role-{here}" in report or "cluster-scoped resources" in report

    bundles = sorted(folder.glob("undo/*.json"), reverse=True)
    assert [len(json.loads(file.read_text())["items"]) for file in bundles] == [1, 4]
    assert "secret" in (folder / "undo" / "left-out.txt").read_text()
    for file in bundles:
        command = [str(tools.kubectl()), "--kubeconfig", str(plane.admin.kubeconfig), "create", "-f", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for thing in made:
        if thing["kind"] == "Secret":
            continue
        again = stage.look(manifest(thing))
        assert again["metadata"]["uid"] != thing["metadata"]["uid"]
        for part in ("data", "spec", "rules"):
            if part in thing and thing["kind"] != "Service":
                assert again[part] == thing[part]
        stage.api.delete(stage.api.path_of(again))
