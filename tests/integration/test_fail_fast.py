# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nobody is left to let go ends a run in seconds, on a real API server; whoever may still act is waited for.

With 600 seconds for a run, a test that waits for all of them would never end in time.
"""

from __future__ import annotations

import secrets
from collections import Counter
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Noted
from ansible_collections.sunset.kube.plugins.module_utils.jobs import drain, uninstall
from integration.ranked import Remover, failed, named, names, succeeded
from integration.running import Result, run_job
from integration.stage import FOREIGN, GROUP, Body, Stage, deployment, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane

ACME = "finalizer.acme.cert-manager.io"  # catalogued, of a product that always runs beside its objects
LISTS = ("deployments", "statefulsets", "daemonsets", "leases", "pods")


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


def scaled_to_zero(name: str, namespace: str) -> Body:
    made = deployment(name, namespace)
    made["spec"]["replicas"] = 0
    return made


def looks(audit: AuditTrail, user: str) -> Counter[str]:
    """How often each kind was listed in which controllers are looked for: in the whole cluster."""
    events = [event for event in audit.events(user) if event.verb == "list" and event.resource in LISTS]
    return Counter(event.resource for event in events if not event.namespace)


def test_a_catalogued_controller_whose_deployment_is_gone_ends_the_run_in_seconds(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    [held] = stage.put(widget("held", stage.namespace, ACME))
    result = remove(named(held), timeout=600)
    said = failed(result)
    assert said.startswith("stuck in step namespaced resources: 1 of 1 objects are still there")
    assert f"Widget {stage.namespace}/held (finalizer {ACME}: it guards the DNS record" in said
    assert "cert-manager is not in the cluster" in said
    assert f"name=held finalizers={ACME}" in said, "the next command is there"
    [row] = result["survivors"]
    [blocker] = row["blocked_by"]
    assert (blocker["finalizer"], blocker["alive"]) == (ACME, "gone")
    assert result["steps"][0]["seconds"] < 30
    seen = looks(audit, remove.user.name)
    assert seen["pods"] == 2, "once for each of the two looks"
    assert seen["deployments"] <= 4, "two looks, and one for the explanation"
    assert not [
        event for event in audit.events(remove.user.name) if event.verb == "get" and event.resource == "widgets"
    ]


def test_a_controller_that_is_scaled_to_zero_ends_it_too_and_one_that_is_starting_does_not(
    remove: Remover, stage: Stage
) -> None:
    word = f"k{secrets.token_hex(4)}"
    [workload] = stage.put(scaled_to_zero(f"{word}-operator", stage.namespace))
    [held] = stage.put(widget("held", stage.namespace, f"{word}.example.com/cleanup"))
    said = failed(remove(named(held), timeout=600))
    assert f"Deployment {stage.namespace}/{word}-operator has no available replica" in said
    path = stage.api.path_of(workload)
    assert stage.api.patch(path, {"spec": {"replicas": 1}})[0] == 200
    assert "out of time" in failed(remove(named(held), timeout=20)), "it wants a replica, which may come any moment"


def test_a_controller_that_comes_back_between_the_looks_is_waited_for(remove: Remover, stage: Stage) -> None:
    """It is there again before the second look, and does its work later."""
    word = f"k{secrets.token_hex(4)}"
    [workload] = stage.put(scaled_to_zero(f"{word}-operator", stage.namespace))
    [held] = stage.put(widget("held", stage.namespace, f"{word}.example.com/cleanup"))
    ticks: list[str] = []

    def see(event: Any) -> None:
        ticks.append(type(event).__name__)
        waited = ticks.count("Progress")
        if waited == 8:  # a second each: after the first look, before the second
            assert stage.api.patch(stage.api.path_of(workload), {"spec": {"replicas": 1}})[0] == 200
        if waited == 16:
            stage.release(held)

    result = succeeded(remove(named(held), timeout=600, on_event=see))
    assert result["counts"]["deleted"] == 1
    assert stage.is_gone(held)


def test_an_owner_that_is_not_known_is_waited_for_until_the_time_is_over(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, FOREIGN))
    result = remove(named(held), timeout=20)
    assert "out of time" in failed(result)
    assert result["survivors"][0]["blocked_by"][0]["alive"] == "unknown"


def test_who_may_not_look_for_controllers_waits(remove: Remover, stage: Stage, as_user: AsUser) -> None:
    [held] = stage.put(widget("held", stage.namespace, ACME))
    rules = [{"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list", "watch", "get", "delete", "patch"]}]
    user = as_user("half-blind", rules, namespace=stage.namespace)
    result = remove(named(held), timeout=20, user=user)
    assert "out of time" in failed(result)
    told = result["survivors"][0]["blocked_by"]
    assert [one["what"] for one in told] == ["finalizer", "blind"]
    assert told[0]["alive"] == "unknown"
    assert "403" in told[1]["text"]


def test_others_of_the_step_are_waited_for_and_the_hopeless_one_is_named_meanwhile(
    remove: Remover, stage: Stage
) -> None:
    slow, held = stage.put(widget("slow", stage.namespace, FOREIGN), widget("held", stage.namespace, ACME))
    notes: list[str] = []

    def see(event: Any) -> None:
        if isinstance(event, Noted) and "nobody is left" in event.text:
            notes.append(event.text)
            stage.release(slow)

    result = remove(named(slow, held), timeout=600, on_event=see)
    assert failed(result).startswith("stuck")
    assert "held go; waiting for 1 others" in notes[0]
    assert names(result["survivors"]) == ["held"]


def test_what_force_will_free_is_not_given_up(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, ACME))
    groups = [{"predefinedResourceGroup": "namespaced-resources", "forceDelete": True}]
    succeeded(remove(named(held), deletion_groups=groups, force_after=18, timeout=600))
    assert stage.is_gone(held)


def test_an_uninstall_ends_in_seconds_too_and_names_its_own_way_out(plane: ControlPlane, stage: Stage) -> None:
    [held] = stage.put(widget("held", stage.namespace, ACME))
    user = plane.user("uninstaller", (MASTERS,))
    manifest = {key: held[key] for key in ("apiVersion", "kind")} | {
        "metadata": {"name": "held", "namespace": stage.namespace}
    }
    options = {"manifests": [manifest], "timeout": 600, "profile": "none", "stages": ["delete"]}
    result: Result = run_job(uninstall.JOB, options, user.kubeconfig)
    said = failed(result)
    assert said.startswith("stuck")
    assert "set force: true to strip these finalizers" in said


def test_a_drain_ends_in_seconds_too(plane: ControlPlane, stage: Stage) -> None:
    """The operator lets its objects go; what is left is the finalizer of somebody who is gone for good."""
    word = f"k{secrets.token_hex(4)}"
    ours = f"{word}.example.com/finalizer"
    [held] = stage.put(widget("held", stage.namespace, ours, ACME))
    profile = {"name": word, "finalizers": [ours], "operator_kinds": [{"group": GROUP, "kind": "Widget"}]}
    options = {
        "profile": profile,
        "policy": "Delete",
        "instance": {"namespaces": [stage.namespace]},
        "user_authored": "drain",
        "timeout": 600,
    }

    def play_the_operator(event: Any) -> None:
        if isinstance(event, Did) and event.action == "delete":
            assert stage.api.patch(stage.api.path_of(held), {"metadata": {"finalizers": [ACME]}})[0] == 200

    user = plane.user("drainer", (MASTERS,))
    result: Result = run_job(drain.JOB, options, user.kubeconfig, on_event=play_the_operator)
    assert "nobody is left who would let them go" in failed(result)
    assert names(result["survivors"]) == ["held"]
    assert stage.finalizers(held) == [ACME]
