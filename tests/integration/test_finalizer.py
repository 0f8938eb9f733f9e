# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole contract of `sunset.kube.finalizer`, on a real API server."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Planned
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from ansible_collections.sunset.kube.plugins.module_utils.objects import parse_time
from integration.running import PlayRun, Result, run_job, run_module, run_playbook, warnings_of
from integration.stage import (
    CLEANUP,
    CRDS,
    FOREIGN,
    GROUP,
    WIDGETS,
    Body,
    Stage,
    body,
    bring_to_life,
    config_map,
    crd,
    deployment,
    gadget,
    lease,
    widget,
)
from lab.faults import FaultProxy
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.plane.grants import grant
from lab.plane.users import User
from lab.waiting import until

pytestmark = pytest.mark.quick

WIDGET_RULES = {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["get", "list", "patch"]}
READ_WIDGETS = {**WIDGET_RULES, "verbs": ["get", "list"]}
READ_OWNERS = [
    {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets", "daemonsets"], "verbs": ["list"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["list"]},
]
READ_NAMESPACES = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}


@pytest.fixture
def free(plane: ControlPlane, stage: Stage) -> Any:
    """Runs the job on the test's namespace as the administrator; options given by the test win."""

    def run(*, check_mode: bool = False, user: User | None = None, on_event: Any = None, **options: Any) -> Result:
        params = {"kind": "Widget", "finalizers": [CLEANUP], "namespace": stage.namespace, **options}
        params = {key: value for key, value in params.items() if value is not None}
        kubeconfig = (user or plane.admin).kubeconfig
        return run_job(JOB, params, kubeconfig, check_mode=check_mode, on_event=on_event)

    return run


def names(rows: list[dict[str, Any]]) -> list[str]:
    """The names of objects in a list of the result, in order."""
    return sorted(row["object"]["name"] if "object" in row else row["name"] for row in rows)


def succeeded(result: Result) -> Result:
    assert not result.get("failed"), result["msg"]
    return result


# -- what goes and what stays ----------------------------------------------------------------------------------------


def test_only_the_named_finalizer_goes_and_the_object_waits_for_the_others(free: Any, stage: Stage) -> None:
    [held] = stage.hang(widget("held", stage.namespace, "a.example.org/first", CLEANUP, FOREIGN))
    result = succeeded(free())
    assert stage.finalizers(held) == ["a.example.org/first", FOREIGN]
    assert result["changed"] is True
    [removed] = result["removed"]
    assert removed["object"]["uid"] == held["metadata"]["uid"]
    assert (removed["finalizers"], removed["gone"]) == ([CLEANUP], False)
    [survivor] = result["survivors"]
    assert (survivor["name"], survivor["finalizers"]) == ("held", ["a.example.org/first", FOREIGN])


def test_an_object_goes_with_its_last_finalizer(free: Any, stage: Stage) -> None:
    [last] = stage.hang(widget("last", stage.namespace, CLEANUP))
    result = succeeded(free())
    assert stage.is_gone(last)
    assert result["removed"][0]["gone"] is True
    assert result["survivors"] == []
    assert (result["counts"]["removed"], result["counts"]["gone"]) == (1, 1)
    assert (result["steps"][0]["released"], result["steps"][0]["deleted"]) == (1, 1)


def test_a_glob_takes_every_finalizer_of_its_domain_and_no_other(free: Any, stage: Stage) -> None:
    mine = ["keeper.example.com/one", "keeper.example.com/two"]
    [held] = stage.hang(widget("held", stage.namespace, mine[0], FOREIGN, mine[1]))
    result = succeeded(free(finalizers=["keeper.example.com/*"]))
    assert stage.finalizers(held) == [FOREIGN]
    assert sorted(result["removed"][0]["finalizers"]) == mine


def test_a_name_takes_no_finalizer_that_merely_begins_like_it(free: Any, stage: Stage) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP + "-later"))
    result = succeeded(free())
    assert stage.finalizers(held) == [CLEANUP + "-later"]
    assert (result["changed"], result["removed"]) == (False, [])


def test_a_built_in_kind_is_freed_by_its_short_name_too(free: Any, stage: Stage) -> None:
    [stuck] = stage.hang(config_map("stuck", stage.namespace, CLEANUP))
    assert succeeded(free(kind="cm"))["removed"][0]["object"]["kind"] == "ConfigMap"
    assert stage.is_gone(stuck)


def test_a_live_object_is_not_touched_and_the_reason_is_given(free: Any, stage: Stage) -> None:
    [live] = stage.put(widget("live", stage.namespace, CLEANUP))
    result = succeeded(free())
    assert stage.look(live) == live
    [kept] = result["kept"]
    assert (kept["object"]["name"], kept["finalizer"], kept["verdict"]) == ("live", CLEANUP, "keep")
    assert "not being deleted" in kept["reason"]
    assert "terminating_only" in kept["reason"]
    assert result["changed"] is False


def test_a_live_object_is_released_on_demand_and_lives_on(free: Any, stage: Stage) -> None:
    [live] = stage.put(widget("live", stage.namespace, CLEANUP, FOREIGN))
    result = succeeded(free(terminating_only=False))
    assert stage.finalizers(live) == [FOREIGN]
    assert "deletionTimestamp" not in stage.look(live)["metadata"]
    assert (result["removed"][0]["gone"], result["survivors"]) == (False, [])


def test_a_second_run_finds_nothing_to_do(free: Any, stage: Stage) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP, FOREIGN))
    assert succeeded(free())["changed"] is True
    before = stage.versions([held])
    again = succeeded(free())
    assert (again["changed"], again["removed"]) == (False, [])
    assert stage.versions([held]) == before


def test_it_costs_one_list_of_the_kind_and_one_patch_an_object(
    free: Any, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    user = as_user("thrifty", [WIDGET_RULES, *READ_OWNERS])
    stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(20)))
    audit.begin_anew()
    result = succeeded(free(user=user))
    asked = [event for event in audit.events(user.name) if event.resource == "widgets"]
    assert [event.verb for event in asked] == ["list"] + ["patch"] * 20
    assert (result["requests"]["patch"], result["requests"]["delete"]) == (20, 0)


# -- grace -----------------------------------------------------------------------------------------------------------


def test_within_the_grace_an_object_is_skipped_with_the_reason(free: Any, stage: Stage) -> None:
    [young] = stage.hang(widget("young", stage.namespace, CLEANUP))
    result = succeeded(free(grace=3600))
    assert stage.look(young) == young
    assert "grace is 3600 s" in result["kept"][0]["reason"]
    assert result["changed"] is False


def test_the_grace_counts_by_the_servers_clock_not_by_ours(
    free: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    [young] = stage.hang(widget("young", stage.namespace, CLEANUP))
    tomorrow = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    result = succeeded(free(grace=3600))
    assert stage.look(young) == young
    assert names(result["kept"]) == ["young"]


def test_after_the_grace_an_object_is_freed(free: Any, stage: Stage, plane: ControlPlane) -> None:
    [old] = stage.hang(widget("old", stage.namespace, CLEANUP))
    deleted_at = parse_time(old["metadata"]["deletionTimestamp"])
    until(lambda: time.time() - deleted_at > 1.0, "a second to pass since the deletion", every=0.05)
    succeeded(free(grace=1))
    assert stage.is_gone(old)


# -- finalizers that guard money or data -----------------------------------------------------------------------------


def load_balancer(stage: Stage) -> tuple[Body, str]:
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    guard = "service.kubernetes.io/load-balancer-cleanup"
    [service] = stage.hang(body("v1", "Service", "balanced", stage.namespace, guard, spec=spec))
    return service, guard


def claim_in_use(stage: Stage) -> tuple[Body, str]:
    """A pod on a node holds it, so that the cluster's own controller leaves the finalizer where it is."""
    namespace = stage.namespace
    until(
        lambda: stage.api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")[0] == 200,
        "the default service account",
    )
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = body("v1", "PersistentVolumeClaim", "data", namespace, spec=storage)
    pod = {
        "nodeName": "nowhere",
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "example/main:1"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    stage.put(body("v1", "Pod", "user", namespace, spec=pod))
    [held] = stage.hang(claim)
    return held, "kubernetes.io/pvc-protection"


@pytest.mark.parametrize("prepare", [load_balancer, claim_in_use])
def test_a_protected_finalizer_needs_its_full_name_and_consent(free: Any, stage: Stage, prepare: Any) -> None:
    held, guard = prepare(stage)
    domain = guard.partition("/")[0]
    for finalizers, consent, hint in (
        ([f"{domain}/*"], True, "full name"),
        ([guard], False, "allow_protected"),
    ):
        result = succeeded(free(kind=held["kind"], finalizers=finalizers, allow_protected=consent, owner="any"))
        assert (result["changed"], result["kept"][0]["verdict"]) == (False, "protected")
        assert "it guards" in result["kept"][0]["reason"]
        assert hint in result["kept"][0]["reason"]
        assert stage.finalizers(held) == [guard]
    result = succeeded(free(kind=held["kind"], finalizers=[guard], allow_protected=True, owner="any"))
    assert result["changed"] is True
    assert stage.is_gone(held)


# -- the controller behind a finalizer -------------------------------------------------------------------------------


@pytest.fixture
def word() -> str:
    """A product's name that no other test uses: controllers are looked for in the whole cluster."""
    return f"shop{time.monotonic_ns():x}"


def test_while_the_operator_named_like_the_finalizer_runs_its_objects_are_left_to_it(
    free: Any, stage: Stage, word: str
) -> None:
    finalizer = f"{word}.example.com/cleanup"
    [held] = stage.hang(widget("held", stage.namespace, finalizer))
    [operator] = stage.put(deployment(f"{word}-operator", stage.namespace))
    bring_to_life(stage, operator)
    result = succeeded(free(finalizers=[finalizer]))
    assert stage.look(held) == held
    assert result["changed"] is False
    assert f"Deployment {stage.namespace}/{word}-operator has 1 of 1 replicas" in result["kept"][0]["reason"]
    assert "owner: any" in result["kept"][0]["reason"]

    assert succeeded(free(finalizers=[finalizer], owner="any"))["changed"] is True
    assert stage.is_gone(held)


def test_a_running_container_called_like_the_field_manager_counts_as_the_controller(
    free: Any, stage: Stage, word: str
) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP), manager=f"{word}-keeper")
    [workload] = stage.put(deployment("backend", stage.namespace, container=f"{word}-keeper"))
    bring_to_life(stage, workload)
    result = succeeded(free())
    assert stage.look(held) == held
    assert f"Deployment {stage.namespace}/backend" in result["kept"][0]["reason"]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_an_operator_that_may_be_starting_keeps_it_and_one_that_is_scaled_to_zero_does_not(
    free: Any, stage: Stage, word: str, kind: str
) -> None:
    finalizer = f"{word}.example.com/cleanup"
    [held] = stage.hang(widget("held", stage.namespace, finalizer))
    made = {**deployment(f"{word}-operator", stage.namespace), "kind": kind}
    made["spec"] |= {"serviceName": "none"} if kind == "StatefulSet" else {}
    [workload] = stage.put(made)
    [kept] = succeeded(free(finalizers=[finalizer]))["kept"]
    assert f"{kind} {stage.namespace}/{word}-operator may be starting" in kept["reason"]
    assert stage.api.patch(stage.api.path_of(workload), {"spec": {"replicas": 0}})[0] == 200
    succeeded(free(finalizers=[finalizer]))
    assert stage.is_gone(held)


def test_a_fresh_lease_of_the_finalizers_domain_means_the_controller_lives(free: Any, stage: Stage, word: str) -> None:
    finalizer = f"{word}.example.com/cleanup"
    [held] = stage.hang(widget("held", stage.namespace, finalizer))
    stage.put(lease(f"leader.{word}.example.com", stage.namespace, renewed_ago=1))
    result = succeeded(free(finalizers=[finalizer]))
    assert stage.look(held) == held
    assert f"Lease {stage.namespace}/leader.{word}.example.com was renewed" in result["kept"][0]["reason"]


def test_a_stale_lease_means_the_controller_is_gone(free: Any, stage: Stage, word: str) -> None:
    finalizer = f"{word}.example.com/cleanup"
    [held] = stage.hang(widget("held", stage.namespace, finalizer))
    stage.put(lease(f"leader.{word}.example.com", stage.namespace, renewed_ago=3600))
    succeeded(free(finalizers=[finalizer]))
    assert stage.is_gone(held)


def test_without_the_right_to_see_workloads_it_warns_and_goes_on(free: Any, stage: Stage, as_user: AsUser) -> None:
    [stuck] = stage.hang(widget("stuck", stage.namespace, CLEANUP))
    result = succeeded(free(user=as_user("short-sighted", [WIDGET_RULES])))
    assert stage.is_gone(stuck)
    assert "could not be checked" in warnings_of(result)
    assert "Deployments" in warnings_of(result)
    assert "Leases" in warnings_of(result)


# -- which objects ---------------------------------------------------------------------------------------------------


def test_one_object_by_name(free: Any, stage: Stage) -> None:
    one, other = stage.hang(*(widget(name, stage.namespace, CLEANUP) for name in ("one", "other")))
    assert names(succeeded(free(name="one"))["removed"]) == ["one"]
    assert stage.is_gone(one)
    assert stage.look(other) == other


def test_a_name_that_is_not_there_is_nothing_to_do(free: Any, stage: Stage) -> None:
    assert succeeded(free(name="nobody"))["changed"] is False


def test_objects_of_one_namespace_by_label(free: Any, stage: Stage) -> None:
    elsewhere = stage.another_namespace()
    labels = {"app": "shop"}
    chosen, unlabelled, far = stage.hang(
        widget("chosen", stage.namespace, CLEANUP, labels=labels),
        widget("unlabelled", stage.namespace, CLEANUP),
        widget("far", elsewhere, CLEANUP, labels=labels),
    )
    succeeded(free(label_selector="app=shop"))
    assert stage.is_gone(chosen)
    assert [stage.look(unlabelled), stage.look(far)] == [unlabelled, far]


def test_without_a_namespace_the_whole_cluster_is_searched(free: Any, stage: Stage) -> None:
    here, there = stage.namespace, stage.another_namespace()
    things = stage.hang(widget("a", here, CLEANUP), widget("b", there, CLEANUP))
    result = succeeded(free(namespace=None))
    assert names(result["removed"]) == ["a", "b"]
    assert all(map(stage.is_gone, things))


def test_a_cluster_scoped_kind_needs_no_namespace_and_takes_none(free: Any, stage: Stage, word: str) -> None:
    [stuck] = stage.hang(gadget(word, CLEANUP))
    refused = free(kind="Gadget", name=word)
    assert refused["failed"]
    assert "cluster-scoped" in refused["msg"]
    assert succeeded(free(kind="Gadget", name=word, namespace=None))["removed"][0]["object"]["namespace"] == ""
    assert stage.is_gone(stuck)


# -- rights ----------------------------------------------------------------------------------------------------------


def test_who_may_list_namespace_by_namespace_only_frees_all_or_is_told_which_one_is_closed(
    narrow_plane: ControlPlane,
) -> None:
    """On the plane without controllers, because every namespace of the cluster counts here."""
    api, user = narrow_plane.api, narrow_plane.user("room-by-room")
    stage = Stage(narrow_plane)
    stuck = stage.hang(widget("a", stage.namespace, CLEANUP), widget("b", stage.another_namespace(), CLEANUP))
    closed = stuck[1]["metadata"]["namespace"]
    grant(api, user, [READ_NAMESPACES, *READ_OWNERS])
    for namespace in api.get("/api/v1/namespaces")[1]["items"]:
        if namespace["metadata"]["name"] != closed:
            grant(api, user, [WIDGET_RULES], namespace["metadata"]["name"])
    audit = AuditTrail(narrow_plane.audit)
    params = {"kind": "Widget", "finalizers": [CLEANUP]}

    refused = run_job(JOB, params, user.kubeconfig)
    assert refused["failed"]
    assert f"cannot list {WIDGETS} in namespace {closed}: HTTP 403" in refused["msg"]
    assert [stage.look(thing) for thing in stuck] == stuck
    assert audit.writes(user.name) == []

    grant(api, user, [WIDGET_RULES], closed)
    result = succeeded(run_job(JOB, params, user.kubeconfig))
    assert names(result["removed"]) == ["a", "b"]
    assert all(map(stage.is_gone, stuck))


def test_who_may_not_list_anywhere_is_told_so_and_nothing_counts_as_empty(
    free: Any, stage: Stage, as_user: AsUser
) -> None:
    result = free(user=as_user("blind", READ_OWNERS), namespace=None)
    assert result["failed"]
    assert "cannot list widgets.lab.example.com" in result["msg"]


@pytest.mark.parametrize("everywhere", [False, True])
def test_without_the_right_to_patch_it_refuses_before_the_first_write(
    free: Any, stage: Stage, as_user: AsUser, audit: AuditTrail, everywhere: bool
) -> None:
    stuck = stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(2)))
    user = as_user("reader", [READ_WIDGETS, *READ_OWNERS])
    result = free(user=user, **({"namespace": None} if everywhere else {}))
    assert result["failed"]
    assert f"not allowed to patch {WIDGETS}" in result["msg"]
    assert stage.namespace in result["msg"]
    assert audit.writes(user.name) == []
    assert [stage.look(thing) for thing in stuck] == stuck


def test_the_right_to_patch_in_the_one_namespace_is_enough(free: Any, stage: Stage, as_user: AsUser) -> None:
    [stuck] = stage.hang(widget("stuck", stage.namespace, CLEANUP))
    user = as_user("tenant", [WIDGET_RULES], stage.namespace)
    succeeded(free(user=user))
    assert stage.is_gone(stuck)


# -- kinds -----------------------------------------------------------------------------------------------------------


def test_a_kind_that_is_not_installed_is_nothing_to_do_with_a_warning(free: Any) -> None:
    result = succeeded(free(api_version="nowhere.example.net/v1", kind="Thingamajig"))
    assert result["changed"] is False
    assert "Thingamajig" in warnings_of(result)
    assert "not installed" in warnings_of(result)


@pytest.mark.parametrize("mistyped", [{"kind": "Wigdet"}, {"kind": "widgts", "api_version": f"{GROUP}/v1"}])
def test_a_near_miss_of_a_kind_is_an_error_with_the_right_one(free: Any, mistyped: dict[str, str]) -> None:
    result = free(**mistyped)
    assert result["failed"]
    assert "did you mean Widget (lab.example.com/v1)" in result["msg"]


def test_a_version_that_is_not_served_is_replaced_with_a_warning(free: Any, stage: Stage) -> None:
    [stuck] = stage.hang(widget("stuck", stage.namespace, CLEANUP))
    result = succeeded(free(api_version=f"{GROUP}/v1alpha1"))
    assert stage.is_gone(stuck)
    assert f"{GROUP}/v1 is used instead" in warnings_of(result)


def test_a_served_version_is_used_as_given(free: Any, stage: Stage) -> None:
    stage.hang(widget("stuck", stage.namespace, CLEANUP))
    result = succeeded(free(api_version=f"{GROUP}/v1beta1"))
    assert result["removed"][0]["object"]["api_version"] == f"{GROUP}/v1beta1"
    assert warnings_of(result) == ""


@pytest.mark.parametrize("with_group", [True, False])
def test_a_kind_behind_a_dead_api_service_is_a_failure_never_nothing_there(
    free: Any, dead_group: str, with_group: bool
) -> None:
    api_version = f"{dead_group}/v1" if with_group else None
    result = free(kind="Corpse", api_version=api_version)
    assert result["failed"]
    assert "cannot look for Corpse" in result["msg"]
    assert dead_group in result["msg"]


def test_a_dead_api_service_does_not_stand_in_the_way_of_other_kinds(free: Any, stage: Stage, dead_group: str) -> None:
    [stuck] = stage.hang(widget("stuck", stage.namespace, CLEANUP))
    succeeded(free())
    assert stage.is_gone(stuck)


# -- limits and plans ------------------------------------------------------------------------------------------------


def test_more_objects_than_allowed_stop_the_run_before_the_first_write(
    free: Any, stage: Stage, audit: AuditTrail
) -> None:
    stuck = stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(3)))
    refused = free(max_objects=2)
    assert refused["failed"]
    assert "max_objects is 2" in refused["msg"]
    assert [stage.look(thing) for thing in stuck] == stuck
    assert succeeded(free(max_objects=3))["counts"]["gone"] == 3


def test_the_plan_hash_of_check_mode_is_accepted_as_long_as_the_plan_is_the_same(free: Any, stage: Stage) -> None:
    stuck = stage.hang(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(3)))
    plan_hash = succeeded(free(check_mode=True))["plan_hash"]
    result = succeeded(free(plan_hash=plan_hash))
    assert result["plan_hash"] == plan_hash
    assert all(map(stage.is_gone, stuck))


def test_a_plan_that_changed_meanwhile_is_refused_before_the_first_write(free: Any, stage: Stage) -> None:
    first = stage.hang(widget("w0", stage.namespace, CLEANUP))
    plan_hash = succeeded(free(check_mode=True))["plan_hash"]
    stuck = first + stage.hang(widget("w1", stage.namespace, CLEANUP))
    result = free(plan_hash=plan_hash)
    assert result["failed"]
    assert "the plan has changed" in result["msg"]
    assert [stage.look(thing) for thing in stuck] == stuck


def test_a_namesake_with_another_uid_makes_another_plan(free: Any, stage: Stage) -> None:
    [first] = stage.hang(widget("same", stage.namespace, CLEANUP))
    plan_hash = free(check_mode=True)["plan_hash"]
    stage.release(first)
    stage.hang(widget("same", stage.namespace, CLEANUP))
    assert free(check_mode=True)["plan_hash"] != plan_hash


def test_check_mode_predicts_the_change_and_leaves_everything_as_it_is(free: Any, stage: Stage) -> None:
    stuck = stage.hang(widget("a", stage.namespace, CLEANUP), widget("b", stage.namespace, CLEANUP, FOREIGN))
    before = stage.versions(stuck)
    result = succeeded(free(check_mode=True))
    assert stage.versions(stuck) == before
    assert result["changed"] is True
    assert names(result["removed"]) == ["a", "b"]
    [step] = result["plan"]
    assert names(step["objects"]) == ["a", "b"]
    assert result["diff"]["before"] == (
        f"Widget {stage.namespace}/a: {CLEANUP}\nWidget {stage.namespace}/b: {CLEANUP}, {FOREIGN}\n"
    )
    assert result["diff"]["after"] == (f"Widget {stage.namespace}/a: none\nWidget {stage.namespace}/b: {FOREIGN}\n")
    assert succeeded(free())["plan_hash"] == result["plan_hash"]


def test_check_mode_predicts_no_change_where_there_is_none(free: Any, stage: Stage) -> None:
    stage.put(widget("live", stage.namespace, CLEANUP))
    assert succeeded(free(check_mode=True))["changed"] is False


@pytest.mark.slow
def test_out_of_time_is_a_failure_that_says_how_far_it_came_and_the_next_run_goes_on(
    free: Any, stage: Stage, faults: FaultProxy
) -> None:
    stage.hang(*(widget(f"w{n:02}", stage.namespace, CLEANUP) for n in range(12)))
    kubeconfig = faults.kubeconfig()

    def slow_down(event: Any) -> None:
        if isinstance(event, Planned):
            faults.latency = 1.0

    params = {"kind": "Widget", "finalizers": [CLEANUP], "namespace": stage.namespace, "parallel": 1, "timeout": 8}
    result = run_job(JOB, params, kubeconfig, on_event=slow_down)
    done = 12 - len(stage.api.get(f"/apis/{GROUP}/v1/namespaces/{stage.namespace}/widgets")[1]["items"])
    assert result["failed"]
    assert "out of time" in result["msg"]
    assert f"{done} of 12 objects" in result["msg"]
    assert 0 < done < 12
    assert (result["changed"], result["counts"]["gone"]) == (True, done)
    assert succeeded(free())["counts"]["gone"] == 12 - done


# -- refusals of the server ------------------------------------------------------------------------------------------


@pytest.fixture
def deny_updates(plane: ControlPlane, stage: Stage) -> Iterator[Any]:
    """Installs an admission policy that refuses updates of Widgets labelled so, with the given reason."""
    paths: list[str] = []

    def install(reason: str) -> None:
        name = f"deny-{stage.namespace}"
        rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["widgets"]}
        validation = {"expression": "false", "message": "the vault is sealed", "reason": reason}
        spec = {
            "matchConstraints": {
                "resourceRules": [rule],
                "objectSelector": {"matchLabels": {"sealed": stage.namespace}},
            },
            "validations": [validation],
        }
        kind = "ValidatingAdmissionPolicy"
        group = "admissionregistration.k8s.io/v1"
        binding = {"policyName": name, "validationActions": ["Deny"]}
        made = plane.api.create(
            body(group, kind, name, "", spec=spec), body(group, f"{kind}Binding", name, "", spec=binding)
        )
        paths.extend(plane.api.path_of(thing) for thing in made)

    yield install
    for path in reversed(paths):
        plane.api.delete(path)


@pytest.mark.parametrize(("reason", "code"), [("Invalid", 422), ("Forbidden", 403)])
def test_an_object_the_server_refuses_fails_the_task_in_the_servers_words_and_the_others_are_freed(
    free: Any, stage: Stage, deny_updates: Any, audit: AuditTrail, as_user: AsUser, reason: str, code: int
) -> None:
    sealed, *others = stage.hang(
        widget("sealed", stage.namespace, CLEANUP, labels={"sealed": stage.namespace}),
        *(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(5)),
    )
    deny_updates(reason)
    poke = [{"op": "add", "path": "/metadata/annotations", "value": {}}]
    until(
        lambda: stage.api.patch(stage.api.path_of(sealed), poke, dryRun="All")[0] == code, "the policy to be in force"
    )
    user = as_user("refused", [WIDGET_RULES, *READ_OWNERS])
    result = free(user=user)
    assert result["failed"]
    assert f"Widget {stage.namespace}/sealed" in result["msg"]
    assert "the vault is sealed" in result["msg"]
    assert stage.look(sealed) == sealed
    assert all(map(stage.is_gone, others))
    assert result["changed"] is True
    assert (result["counts"]["failed"], result["counts"]["gone"]) == (1, 5)
    assert names(result["survivors"]) == ["sealed"]
    tries = [event for event in audit.events(user.name) if event.verb == "patch" and event.name == "sealed"]
    assert [event.code for event in tries] == [code], "a refusal is final: asking again changes nothing"


def test_in_check_mode_the_servers_refusal_is_known_before_anything_is_changed(
    free: Any, stage: Stage, deny_updates: Any
) -> None:
    stuck = stage.hang(
        widget("sealed", stage.namespace, CLEANUP, labels={"sealed": stage.namespace}),
        widget("free", stage.namespace, CLEANUP),
    )
    deny_updates("Invalid")
    poke = [{"op": "add", "path": "/metadata/annotations", "value": {}}]
    until(lambda: stage.api.patch(stage.api.path_of(stuck[0]), poke, dryRun="All")[0] == 422, "the policy in force")
    result = free(check_mode=True)
    assert result["failed"]
    assert "the vault is sealed" in result["msg"]
    assert [stage.look(thing) for thing in stuck] == stuck


def test_an_object_that_breaks_its_own_schema_is_reported_with_the_servers_words(
    free: Any, stage: Stage, plane: ControlPlane, word: str
) -> None:
    group = f"{word}.example.com"
    kind = crd("Vase", group)
    plane.api.apply_crd(kind)
    try:
        make = {"api_version": f"{group}/v1", "kind": "Vase", "namespace": stage.namespace}
        broken, whole = stage.hang(
            body(f"{group}/v1", "Vase", "broken", stage.namespace, CLEANUP),
            body(f"{group}/v1", "Vase", "whole", stage.namespace, CLEANUP, glazed=True),
        )
        rule = {"rule": "has(self.glazed)", "message": "a vase must say whether it is glazed"}
        schema = {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"glazed": {"type": "boolean"}},
                "x-kubernetes-validations": [rule],
            }
        }
        plane.api.apply_crd(crd("Vase", group, schema=schema))
        poke = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]
        until(lambda: stage.api.patch(stage.api.path_of(broken), poke, dryRun="All")[0] == 422, "the schema in force")
        result = free(**make)
        assert result["failed"]
        assert f"Vase {stage.namespace}/broken" in result["msg"]
        assert "a vase must say whether it is glazed" in result["msg"]
        assert stage.is_gone(whole)
        assert stage.look(broken) == broken
        plane.api.apply_crd(kind)
        until(lambda: stage.api.patch(stage.api.path_of(broken), poke, dryRun="All")[0] == 200, "the old schema")
        stage.release(broken)
    finally:
        plane.api.delete(f"{CRDS}/vases.{group}")


def test_a_definition_that_waits_for_its_hanging_objects_goes_when_they_are_freed(
    free: Any, stage: Stage, plane: ControlPlane, word: str
) -> None:
    group = f"{word}.example.com"
    plane.api.apply_crd(crd("Vase", group))
    path = f"{CRDS}/vases.{group}"
    vases = stage.put(*(body(f"{group}/v1", "Vase", name, stage.namespace, CLEANUP) for name in ("a", "b")))
    plane.api.delete(path)
    until(
        lambda: all("deletionTimestamp" in stage.look(vase)["metadata"] for vase in vases),
        "the definition's deletion to reach its objects",
    )
    result = succeeded(free(kind="Vase", api_version=f"{group}/v1", namespace=None))
    assert result["counts"]["gone"] == 2
    until(lambda: plane.api.get(path)[0] == 404, "the definition to go")


# -- the fronts ------------------------------------------------------------------------------------------------------


def task(stage: Stage, **options: Any) -> dict[str, Any]:
    return {"sunset.kube.finalizer": {"kind": "Widget", "finalizers": CLEANUP, "namespace": stage.namespace, **options}}


def test_a_result_is_cut_to_200_and_says_so_while_the_evidence_is_complete_and_private(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    stuck = stage.hang(*(widget(f"w{n:03}", stage.namespace, CLEANUP) for n in range(205)))
    run = run_playbook([task(stage, evidence_dir=str(tmp_path / "evidence"))], plane.admin.kubeconfig)
    assert run.rc == 0, run.stdout
    result = run.result
    assert len(result["removed"]) == 200
    assert result["truncated"] == {"removed": 205}
    assert result["counts"]["gone"] == 205
    assert all(map(stage.is_gone, stuck[::40]))

    folder = Path(result["evidence"])
    assert folder.parent == tmp_path / "evidence"
    plan, timeline = folder / "plan.json", folder / "timeline.jsonl"
    assert [stat.S_IMODE(file.stat().st_mode) for file in (plan, timeline)] == [0o600, 0o600]
    planned = json.loads(plan.read_text())
    assert planned["plan_hash"] == result["plan_hash"]
    assert names(planned["steps"][0]["objects"]) == [thing["metadata"]["name"] for thing in stuck]
    rows = [json.loads(line) for line in timeline.read_text().splitlines()]
    written = [row for row in rows if row["event"] == "did"]
    assert sorted(row["object"]["uid"] for row in written) == sorted(thing["metadata"]["uid"] for thing in stuck)
    assert "lab-admin" not in plan.read_text() + timeline.read_text()


@pytest.mark.slow
def test_the_shipped_module_gives_the_same_result_as_the_action_in_process(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    stage.hang(widget("held", stage.namespace, CLEANUP, FOREIGN))
    options = {**task(stage)["sunset.kube.finalizer"], "evidence_dir": str(tmp_path)}
    here = run_playbook([task(stage)], plane.admin.kubeconfig, check=True, diff=True)
    there = run_module("finalizer", options, plane.admin.kubeconfig, check=True, diff=True)
    assert (here.rc, there.rc) == (0, 0), here.stdout + there.stdout
    for run in (here, there):
        for survivor in run.result["survivors"]:
            del survivor["deleting_for"]  # the second run came a moment later
    same = ("changed", "plan_hash", "plan", "removed", "kept", "survivors", "counts", "diff", "requests")
    assert {key: there.result[key] for key in same} == {key: here.result[key] for key in same}
    assert (Path(there.result["evidence"]) / "plan.json").exists()
    assert there.result["evidence"].startswith(str(tmp_path))


def test_a_task_in_the_background_gives_its_result_when_it_is_done(stage: Stage, plane: ControlPlane) -> None:
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP, FOREIGN))
    run = run_playbook([{**task(stage), "async": 60, "poll": 1}], plane.admin.kubeconfig)
    assert run.rc == 0, run.stdout
    assert stage.finalizers(held) == [FOREIGN]
    assert (run.result["changed"], names(run.result["removed"])) == (True, ["held"])


def test_a_task_in_the_background_that_wants_evidence_is_refused_before_anything_is_sent(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    """Its result passes the action by, so nobody could write the files."""
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP))
    background = {**task(stage, evidence_dir=str(tmp_path)), "async": 60, "poll": 1}
    run = run_playbook([background], plane.admin.kubeconfig)
    assert (run.rc, run.result["_status"]) == (2, "failed")
    assert "evidence_dir cannot be used with async" in run.result["msg"]
    assert stage.look(held) == held


def in_process(stage: Stage, plane: ControlPlane) -> PlayRun:
    return run_playbook([task(stage)], plane.admin.kubeconfig)


def shipped(stage: Stage, plane: ControlPlane) -> PlayRun:
    return run_module("finalizer", task(stage)["sunset.kube.finalizer"], plane.admin.kubeconfig)


@pytest.mark.parametrize("run_it", [in_process, shipped])
def test_a_task_that_leaves_something_alone_is_no_skipped_task(stage: Stage, plane: ControlPlane, run_it: Any) -> None:
    [live] = stage.put(widget("live", stage.namespace, CLEANUP))
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP))
    run = run_it(stage, plane)
    assert (run.rc, run.result["_status"]) == (0, "ok"), run.stdout
    assert (stage.is_gone(held), stage.is_gone(live)) == (True, False)
    assert names(run.result["kept"]) == ["live"]


def test_a_task_shows_the_diff_its_warnings_and_its_plan_line_on_screen(stage: Stage, plane: ControlPlane) -> None:
    stage.hang(widget("held", stage.namespace, CLEANUP, FOREIGN))
    run = run_playbook([task(stage, api_version=f"{GROUP}/v1alpha1")], plane.admin.kubeconfig, diff=True)
    assert run.rc == 0, run.stdout
    assert f"-Widget {stage.namespace}/held: {CLEANUP}, {FOREIGN}" in run.stdout
    assert f"+Widget {stage.namespace}/held: {FOREIGN}" in run.stdout
    assert "is not served in this version" in run.stdout
    assert f"plan {run.result['plan_hash']}: remove {CLEANUP} from 1" in run.stdout


def test_a_failed_task_fails_the_play_and_still_says_what_was_done(stage: Stage, plane: ControlPlane) -> None:
    stage.hang(widget("stuck", stage.namespace, CLEANUP))
    run = run_playbook([task(stage, plan_hash="feedfacefeedface")], plane.admin.kubeconfig)
    assert (run.rc, run.result["_status"]) == (2, "failed")
    assert "the plan has changed" in run.result["msg"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_credentials_given_in_the_task_are_nowhere_in_output_result_or_evidence(
    stage: Stage, plane: ControlPlane, tmp_path: Path, elsewhere: bool
) -> None:
    namespace = stage.namespace
    account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
    until(lambda: plane.api.get(account)[0] == 200, "the default service account")
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    binding = body(
        "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", namespace, "", roleRef=role, subjects=[subject]
    )
    stage.put(binding)
    token = plane.service_account_token(namespace, "default")
    stage.hang(widget("stuck", namespace, CLEANUP))
    config = json.loads(plane.token_kubeconfig(tmp_path / "kubeconfig", token).read_text())
    options = {**task(stage)["sunset.kube.finalizer"], "kubeconfig": config, "evidence_dir": str(tmp_path / "evidence")}
    nowhere = tmp_path / "not-used"
    if elsewhere:
        run = run_module("finalizer", options, nowhere, extra_args=["-vvv"])
    else:
        run = run_playbook([{"sunset.kube.finalizer": options}], nowhere, extra_args=["-vvv"])
    assert run.rc == 0, run.stdout
    files = [file.read_text() for file in Path(run.result["evidence"]).iterdir()]
    assert len(files) >= 2
    said = [run.stdout, json.dumps(run.result), *files]
    assert not any(token in text for text in said)
