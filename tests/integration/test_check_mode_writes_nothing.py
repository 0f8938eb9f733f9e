# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode changes nothing, proven by the API server's own audit log. For every module: a new one is one more row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.front import Job
from ansible_collections.sunset.kube.plugins.module_utils.jobs import (
    drain,
    finalizer,
    freeze,
    hub_guard,
    managed_cluster,
    nncp_guard,
    nncp_revert,
    ranked_delete,
)
from integration.fleets import WORK_FINALIZER, addon, member, unguard, work, work_binding
from integration.ranked import named
from integration.running import run_job, run_playbook
from integration.stage import CLEANUP, FOREIGN, GROUP, WIDGETS, Body, Stage, body, config_map, gadget, widget
from lab.controllers import hub
from lab.fixtures import AsUser
from lab.net import nmstate
from lab.plane.audit import AuditEvent, AuditTrail

pytestmark = pytest.mark.quick

# All rights: what is not written is not written because we do not, not because we may not.
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


@dataclass(frozen=True)
class Row:
    """One module, and how to prepare a case in which a real run would change something."""

    job: Job
    prepare: Callable[[Stage], tuple[dict[str, Any], list[Body]]]  # options, and objects that must stay as they are

    @property
    def name(self) -> str:
        return self.job.name


def hanging_widgets(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    namespace = stage.another_namespace()  # of its own: the rows share one playbook below
    things = stage.hang(widget("a", namespace, CLEANUP), widget("b", namespace, CLEANUP, FOREIGN))
    return {"kind": "Widget", "finalizers": [CLEANUP], "namespace": namespace}, things


def release_in_three_steps(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    """With everything on that writes: patches before the deletion, and force."""
    namespace = stage.another_namespace()
    things = stage.put(config_map("a", namespace), widget("b", namespace, CLEANUP), gadget(f"c-{namespace}"))
    options = {
        "members": named(*things),
        "before_delete": {"annotate": {"example.com/farewell": "yes"}},
        "deletion_order_rules": [{"deletionRank": 100, "forceDelete": True}],
        "force_after": 0,
    }
    return options, things


def operator_with_everything_on(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    """Both kinds of objects, a freeze, and consent to force."""
    namespace = stage.another_namespace()
    things = stage.put(config_map("a", namespace, CLEANUP), widget("b", namespace, CLEANUP, FOREIGN))
    profile = {
        "name": f"product-{namespace}",
        "finalizers": [CLEANUP],
        "user_kinds": [{"group": "", "kind": "ConfigMap"}],
        "operator_kinds": [{"group": GROUP, "kind": "Widget"}],
    }
    options = {"profile": profile, "instance": {"namespaces": [namespace]}, "freeze": True, "settle": 0, "force": True}
    return options, things


def frozen_widgets(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    namespace = stage.another_namespace()
    [thing] = stage.put(widget("a", namespace, CLEANUP))
    name = f"freeze-{namespace}"

    def lift() -> None:
        for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            stage.api.delete(f"/apis/admissionregistration.k8s.io/v1/{plural}/{name}")

    stage.afterwards(lift)
    return {"name": name, "kinds": [WIDGETS], "namespaces": [namespace], "expires_after": 60}, [thing]


def cluster_with_everything_on(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    """An unreachable one, with consent to force, to orphan, and to freeze."""
    for definition in hub.definitions():
        stage.api.apply_crd(definition)
    name = member(stage, available="Unknown")
    things = stage.put(addon("a", name), work("w", name, WORK_FINALIZER), work_binding(name, WORK_FINALIZER))
    options = {"name": name, "on_unreachable": "force", "spoke_content": "orphan", "force_after": 0, "timeout": 60}
    return {**options, "namespace": "delete"}, things


def hub_with_a_cluster(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    for definition in hub.definitions():
        stage.api.apply_crd(definition)
    stage.afterwards(lambda: unguard(stage))
    return {"state": "present"}, stage.put(work("w", member(stage)))


def node_to_be_recorded(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    for definition in nmstate.definitions():
        stage.api.apply_crd(definition)
    namespace = stage.another_namespace()
    labels = {"lab.example.com/recorded": namespace}
    things = stage.put(
        {**body("v1", "Node", f"node-{namespace}", "", labels=labels), "spec": {}},
        body("nmstate.io/v1beta1", "NodeNetworkState", f"node-{namespace}", ""),
    )
    state = {"status": {"currentState": {"interfaces": []}}}
    assert stage.api.patch(f"{stage.api.path_of(things[1])}/status", state)[0] == 200
    options = {"policy": "vlan", "state": "prepared", "node_selector": labels, "namespace": namespace}
    return options, things[1:]  # whoever looks after nodes may write to the first


def network_policies_to_be_guarded(stage: Stage) -> tuple[dict[str, Any], list[Body]]:
    def lift() -> None:
        for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            stage.api.delete(f"/apis/admissionregistration.k8s.io/v1/{plural}/nncp-immutable.sunset.dev")

    stage.afterwards(lift)
    return {"state": "present"}, stage.put(config_map("a", stage.another_namespace()))


ROWS = [
    Row(finalizer.JOB, hanging_widgets),
    Row(ranked_delete.JOB, release_in_three_steps),
    Row(drain.JOB, operator_with_everything_on),
    Row(freeze.JOB, frozen_widgets),
    Row(hub_guard.JOB, hub_with_a_cluster),
    Row(managed_cluster.JOB, cluster_with_everything_on),
    Row(nncp_revert.JOB, node_to_be_recorded),
    Row(nncp_guard.JOB, network_policies_to_be_guarded),
]
rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def no_write(events: list[AuditEvent]) -> bool:
    """Not one request that was meant to change something; dry runs and access reviews are none."""
    return [event for event in events if event.mutating] == []


@rows
def test_in_check_mode_the_engine_sends_dry_runs_only(
    row: Row, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    user = as_user(f"checks-{row.name}", EVERYTHING)
    options, things = row.prepare(stage)
    before = stage.versions(things)
    result = run_job(row.job, options, user.kubeconfig, check_mode=True)
    assert result["changed"] is True, "the case is too easy: a real run would change nothing either"
    events = audit.events(user.name)
    assert no_write(events)
    assert any(event.dry_run for event in events), "the server was to try every write"
    assert stage.versions(things) == before


@pytest.mark.parametrize("connection", ["local", "elsewhere"])
def test_in_check_mode_a_playbook_sends_dry_runs_only(
    connection: str, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    """All modules in one playbook, once in the controller's process and once shipped."""
    user = as_user("checks-playbooks", EVERYTHING)
    prepared = [row.prepare(stage) for row in ROWS]
    things = [thing for _options, objects in prepared for thing in objects]
    before = stage.versions(things)
    tasks = [
        {f"sunset.kube.{row.name}": options, "connection": connection}
        for row, (options, _objects) in zip(ROWS, prepared, strict=True)
    ]
    run = run_playbook(tasks, user.kubeconfig, check=True)
    assert run.rc == 0, run.stdout
    assert [result["changed"] for result in run.results] == [True] * len(ROWS)
    assert no_write(audit.events(user.name))
    assert stage.versions(things) == before


@rows
def test_the_same_case_without_check_mode_does_write(
    row: Row, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    """Or the tests above would prove nothing."""
    user = as_user(f"writes-{row.name}", EVERYTHING)
    options, _objects = row.prepare(stage)
    result = run_job(row.job, options, user.kubeconfig)
    assert result["changed"] is True
    assert not no_write(audit.events(user.name))
