# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook, the role and the Helm hook that drain: what a person or `helm uninstall` really starts."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.collection_playbooks import play_named
from integration.products import (
    GATEWAY_EXISTS,
    LEGACY,
    OPERATOR_NAMES,
    Drainer,
    anchor,
    controller,
    custom,
    gateway_class,
    ingress,
    ingress_class,
    marked,
    one_of_each,
    operator_deployment,
    refusing,
    service,
    set_status,
)
from integration.ranked import failed, succeeded
from integration.running import PlayRun, run_playbook
from integration.stage import CLEANUP, FOREIGN, GROUP, Body, Stage, widget
from lab import tools
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.users import User

TEMPLATE = Path(__file__).parents[2] / "extensions" / "helm" / "pre-delete-drain.yaml.tpl"


def drain_playbook(directory: Path, user: User, *arguments: str, **variables: Any) -> PlayRun:
    """`ansible-playbook sunset.kube.drain`, as the documentation says."""
    return play_named("sunset.kube.drain", directory, user.kubeconfig, *arguments, **{"confirm": "skip", **variables})


def drained(run: PlayRun) -> dict[str, Any]:
    (result,) = [result for result in run.results if "drain_status" in result]
    return result


# -- playbook ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_the_playbook_drains_shows_it_and_leaves_evidence(
    stage: Stage, drainer: Drainer, tmp_path: Path, audit: AuditTrail
) -> None:
    here = stage.namespace
    user, operator = one_of_each(stage, LEGACY)
    (ko,) = stage.put(anchor("ngrok-operator", here, LEGACY))
    domain = next(thing for thing in operator if thing["kind"] == "Domain")
    set_status(stage, domain, {"id": "rd_7"})
    set_status(stage, ko, {"id": "k8sop_7"})
    evidence = tmp_path / "evidence"
    variables = {"profile": "ngrok", "policy": "Retain", "timeout": 60, "evidence_dir": str(evidence)}
    checked = drain_playbook(tmp_path / "check", drainer.user, "--check", **variables)
    assert checked.rc == 0, checked.stdout
    assert audit.writes(drainer.user.name) == []
    assert drained(checked)["drain_status"] == "pending"
    assert drained(checked)["plan_hash"] in checked.stdout.split("Show what was drained")[1]
    run = drain_playbook(tmp_path / "run", drainer.user, **variables)
    assert run.rc == 0, run.stdout
    assert "drain completed, 11/11 done, policy Retain" in run.stdout
    assert all(stage.finalizers(thing) == [] for thing in (*user, *operator))
    assert stage.is_gone(ko)
    folder = Path(drained(run)["evidence"])
    assert folder.parent == evidence
    assert {file.name for file in folder.iterdir()} == {
        "junit.xml",
        "plan.json",
        "report.html",
        "report.md",
        "result.json",
        "timeline.jsonl",
        "undo",
    }
    report = (folder / "report.md").read_text()
    assert "- drain: completed, 11/11, policy Retain" in report
    assert "status.id: rd_7" in report
    (undo,) = [json.loads(file.read_text()) for file in (folder / "undo").iterdir()]
    assert [item["metadata"]["name"] for item in undo["items"]] == ["ngrok-operator"], "nothing else was deleted"
    plan = json.loads((folder / "plan.json").read_text())
    assert (plan["profile"], plan["policy"], plan["plan_hash"]) == ("ngrok", "Retain", drained(run)["plan_hash"])
    ids = {row["object"]["name"]: row["external"] for row in plan["ledger"]}
    assert ids == {"o": {"status.id": "rd_7"}, "ngrok-operator": {"status.id": "k8sop_7"}}
    timeline = [json.loads(line) for line in (folder / "timeline.jsonl").read_text().splitlines()]
    assert len([row for row in timeline if row["event"] == "did"]) >= 12


def test_the_playbook_fails_when_the_drain_fails(stage: Stage, drainer: Drainer, tmp_path: Path) -> None:
    """So that nothing is uninstalled after it."""
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    with refusing(stage, lb, "false", "the treasury says no", "UPDATE"):
        run = drain_playbook(tmp_path, drainer.user, profile="ngrok")
    assert run.rc != 0
    assert "the treasury says no" in run.stdout
    assert stage.finalizers(lb) == [LEGACY]


def test_the_playbook_says_what_is_missing(drainer: Drainer, tmp_path: Path) -> None:
    run = drain_playbook(tmp_path, drainer.user)
    assert run.rc != 0
    assert "-e profile=ngrok" in run.stdout


@pytest.mark.parametrize(
    "more",
    [{"plan_hash": "0123456789abcdef"}, {"drain_plan_hash": "0123456789abcdef"}],
    ids=["plan_hash", "drain_plan_hash"],
)
def test_the_playbook_does_not_ignore_the_hash_of_a_plan(
    stage: Stage, drainer: Drainer, tmp_path: Path, more: dict[str, str]
) -> None:
    """Somebody who names a plan must not get another one."""
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    run = drain_playbook(tmp_path, drainer.user, profile="ngrok", **more)
    assert run.rc != 0, run.stdout
    assert stage.finalizers(lb) == [LEGACY]


def test_the_playbook_takes_a_profile_of_ones_own(stage: Stage, drainer: Drainer, tmp_path: Path) -> None:
    (thing,) = stage.put(widget("w", stage.namespace, CLEANUP))
    profile = {"name": "own", "finalizers": [CLEANUP], "operator_kinds": [{"group": GROUP, "kind": "Widget"}]}
    run = drain_playbook(
        tmp_path, drainer.user, profile=profile, instance={"namespaces": [stage.namespace]}, drain_freeze=True
    )
    assert run.rc == 0, run.stdout
    assert stage.finalizers(thing) == []


def test_the_playbook_shows_drafts(stage: Stage, drainer: Drainer, tmp_path: Path, audit: AuditTrail) -> None:
    (thing,) = stage.put(widget("w", stage.namespace, CLEANUP))
    run = drain_playbook(tmp_path, drainer.user, "-e", "profile=auto")
    assert run.rc == 0, run.stdout
    assert CLEANUP in run.stdout
    assert stage.finalizers(thing) == [CLEANUP]
    assert audit.writes(drainer.user.name) == []


# -- role --------------------------------------------------------------------------------------------------------------


def role(**variables: Any) -> dict[str, Any]:
    return {"ansible.builtin.include_role": {"name": "sunset.kube.drain"}, "vars": variables}


def test_the_role_refuses_what_it_does_not_know_and_a_failed_drain_ends_the_play(
    stage: Stage, drainer: Drainer
) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    after = {"name": "uninstall", "ansible.builtin.debug": {"msg": "too late"}}
    for variables in ({}, {"drain_profile": "ngrok", "drain_policy": "Burn"}, {"drain_profile": "ngrokk"}):
        run = run_playbook([role(**variables), after], drainer.user.kubeconfig)
        assert run.rc != 0
        assert "too late" not in run.stdout
    assert stage.finalizers(lb) == [LEGACY]


# -- the Helm hook -----------------------------------------------------------------------------------------------------


class Hook:
    """The hook as the real helm renders it from a chart that is nothing but the hook."""

    def __init__(self, directory: Path, namespace: str) -> None:
        self._program = tools.ensure(["helm"])["helm"]
        self._directory = directory
        self.namespace = namespace
        chart = directory / "chart"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(json.dumps({"apiVersion": "v2", "name": "shop", "version": "1.0.0"}))
        values = {"image": "registry.example.com/sunset-kube:0.1.0", "profile": "ngrok", "policy": "Retain"}
        (chart / "values.yaml").write_text(json.dumps({"drain": {**values, "timeout": 300}}))
        (chart / "templates" / "pre-delete-drain.yaml").write_text(TEMPLATE.read_text())

    def render(self) -> list[Body]:
        home = {f"HELM_{name}_HOME": str(self._directory / name) for name in ("CACHE", "CONFIG", "DATA")}
        command = [str(self._program), "template", "shop", str(self._directory / "chart"), "-n", self.namespace]
        done = subprocess.run(command, env={**os.environ, **home}, check=True, capture_output=True, text=True)
        return [document for document in yaml.safe_load_all(done.stdout) if document]


@pytest.fixture
def hook(tmp_path: Path, stage: Stage) -> Hook:
    return Hook(tmp_path, stage.namespace)


def of_kind(manifests: list[Body], kind: str) -> Body:
    (found,) = [one for one in manifests if one["kind"] == kind]
    return found


def test_the_hooks_manifests_are_what_the_server_takes(stage: Stage, drainer: Drainer, hook: Hook) -> None:
    manifests = hook.render()
    assert {one["kind"] for one in manifests} == {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job"}
    for manifest in manifests:
        path = stage.api.path_of(manifest, collection=True)
        status, answer = stage.api.post(path, manifest, dryRun="All", fieldValidation="Strict")
        assert status == 201, answer
        assert manifest["metadata"]["annotations"]["helm.sh/hook"] == "pre-delete"
    job = of_kind(manifests, "Job")
    assert job["spec"]["backoffLimit"] == 0
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["ansible-playbook", "sunset.kube.drain"]
    assert container["args"][0] == "--extra-vars"
    assert json.loads(container["args"][1]) == {
        "profile": "ngrok",
        "policy": "Retain",
        "timeout": 300,
        "confirm": "skip",
        "anchor": {"name": "shop", "namespace": hook.namespace},
    }


def test_what_the_hook_runs_drains_with_the_rights_it_has(
    stage: Stage, drainer: Drainer, hook: Hook, as_user: AsUser, tmp_path: Path
) -> None:
    """The arguments of the Job, the rules of its ClusterRole, and nothing else."""
    manifests = hook.render()
    user = as_user("hook", of_kind(manifests, "ClusterRole")["rules"])
    users, operator = one_of_each(stage, LEGACY)
    (ko,) = stage.put(anchor("shop", stage.namespace, LEGACY))
    (container,) = of_kind(manifests, "Job")["spec"]["template"]["spec"]["containers"]
    run = drain_playbook(tmp_path / "play", user, *container["args"])
    assert run.rc == 0, run.stdout
    assert all(stage.finalizers(thing) == [] for thing in (*users, *operator))
    assert stage.is_gone(ko)


@pytest.fixture
def everything(stage: Stage, drainer: Drainer) -> Mapping[str, list[Body]]:
    users, operator = one_of_each(stage, LEGACY)
    classes = stage.put(gateway_class("ours", GATEWAY_EXISTS), ingress_class("second"))
    users += stage.put(ingress("second", stage.namespace, LEGACY, of_class="second"))
    return {"users": [*users, classes[0]], "operator": operator}


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_the_hooks_rights_are_enough_while_the_operator_runs(
    stage: Stage,
    drainer: Drainer,
    hook: Hook,
    as_user: AsUser,
    everything: Mapping[str, list[Body]],
    policy: str,
) -> None:
    """With an anchor of the other policy, which has to be changed first."""
    here = stage.namespace
    other = {"Retain": "Delete", "Delete": "Retain"}[policy]
    user = as_user(f"hook-{policy.lower()}", of_kind(hook.render(), "ClusterRole")["rules"])
    operator_deployment(stage, here)
    (ko,) = stage.put(anchor("shop", here, LEGACY, policy=other))
    with controller(stage, here, "KubernetesOperator", *OPERATOR_NAMES):
        named = {"name": "shop", "namespace": here}
        result = succeeded(drainer(policy=policy, user=user, anchor=named))
    assert [stage.finalizers(thing) for thing in everything["users"]] == [[]] * len(everything["users"])
    assert all(stage.is_gone(thing) == (policy == "Delete") for thing in everything["operator"])
    assert stage.is_gone(ko)
    assert result["drain_status"] == "completed"


def test_the_hooks_rights_are_enough_to_stop_the_operator_and_to_start_it_again(
    stage: Stage, drainer: Drainer, hook: Hook, as_user: AsUser
) -> None:
    here = stage.namespace
    user = as_user("hook-scale", of_kind(hook.render(), "ClusterRole")["rules"])
    workload = operator_deployment(stage, here)
    (lb,) = stage.put(service("lb", here, LEGACY))
    with refusing(stage, lb, "false", "the treasury says no", "UPDATE"):
        message = failed(drainer(user=user, quiesce="scale"))
    assert "the treasury says no" in message
    assert stage.look(workload)["spec"]["replicas"] == 1


def test_the_hooks_rights_are_enough_to_tell_who_holds_what(
    stage: Stage, drainer: Drainer, hook: Hook, as_user: AsUser
) -> None:
    here = stage.namespace
    user = as_user("hook-waits", of_kind(hook.render(), "ClusterRole")["rules"])
    operator_deployment(stage, here)
    (stuck,) = stage.put(custom("Domain", "stuck", here, FOREIGN, LEGACY, labels=marked(here)))
    with controller(stage, here, "Domain"):
        message = failed(drainer(user=user, policy="Delete", timeout=10))
    assert "stuck" in message
    assert FOREIGN in message
    assert stage.finalizers(stuck) == [FOREIGN]


def test_the_hook_of_a_release_whose_anchor_is_gone_leaves_another_release_alone(
    stage: Stage, drainer: Drainer, hook: Hook, tmp_path: Path
) -> None:
    there = stage.another_namespace()
    (theirs,) = stage.put(custom("Domain", "theirs", there, LEGACY, labels=marked(there)))
    stage.put(anchor("other-release", there, LEGACY))
    (container,) = of_kind(hook.render(), "Job")["spec"]["template"]["spec"]["containers"]
    drain_playbook(tmp_path / "play", drainer.user, *container["args"])
    assert stage.finalizers(theirs) == [LEGACY]
