# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook and the role that take clusters off a hub: what a person really starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from integration.collection_playbooks import play_named
from integration.fleets import (
    WORK_FINALIZER,
    Detacher,
    addon,
    has_namespace,
    is_gone,
    is_untouched,
    member,
    row_of,
    work,
)
from integration.running import PlayRun, run_playbook
from integration.stage import Stage, widget
from lab.plane.audit import AuditTrail
from lab.plane.users import User


def delete_cluster(directory: Path, user: User, *arguments: str, **variables: Any) -> PlayRun:
    """`ansible-playbook sunset.kube.delete_cluster`, as the documentation says."""
    return play_named(
        "sunset.kube.delete_cluster", directory, user.kubeconfig, *arguments, **{"confirm": "skip", **variables}
    )


def removal(run: PlayRun) -> dict[str, Any]:
    found = [result for result in run.results if "clusters" in result]
    assert len(found) == 1, run.stdout
    return found[0]


@pytest.mark.quick
def test_the_playbook_checks_removes_shows_and_leaves_evidence(
    stage: Stage, detach: Detacher, tmp_path: Path, audit: AuditTrail
) -> None:
    name = member(stage)
    stage.put(addon("a", name), work("w", name))
    evidence = tmp_path / "evidence"
    variables = {"cluster": name, "evidence_dir": str(evidence), "timeout": 90}
    checked = delete_cluster(tmp_path / "check", detach.user, "--check", **variables)
    assert checked.rc == 0, checked.stdout
    assert audit.writes(detach.user.name) == []
    assert removal(checked)["changed"] is True
    assert re.search(rf"{name} +would go +reachable +1 managedclusteraddons, 1 manifestworks +would go", checked.stdout)
    run = delete_cluster(tmp_path / "run", detach.user, **variables)
    assert run.rc == 0, run.stdout
    assert re.search(rf"{name} +gone +- +- +gone", run.stdout)
    assert is_gone(stage, name)
    assert not has_namespace(stage, name)
    folder = Path(removal(run)["evidence"])
    assert {"plan.json", "report.md", "timeline.jsonl", "undo"} <= {file.name for file in folder.iterdir()}
    assert json.loads((folder / "plan.json").read_text())["plan_hash"] == removal(run)["plan_hash"]
    again = delete_cluster(tmp_path / "again", detach.user, "-e", f"cluster={name}")
    assert (again.rc, removal(again)["changed"]) == (0, False)


def test_the_playbook_takes_several_and_keeps_their_namespaces(stage: Stage, detach: Detacher, tmp_path: Path) -> None:
    names = [member(stage), member(stage)]
    run = delete_cluster(tmp_path, detach.user, cluster=names, keep_namespace=True)
    assert run.rc == 0, run.stdout
    for name in names:
        assert re.search(rf"{name} +gone +- +- +kept +namespace: the task says so", run.stdout)
        assert has_namespace(stage, name)


def test_the_playbook_passes_the_gate_and_the_wish_to_force(stage: Stage, detach: Detacher, tmp_path: Path) -> None:
    name = member(stage, available="Unknown")
    (held,) = stage.put(work("w", name, WORK_FINALIZER))
    (gate,) = stage.put(widget("app", name))
    refused = delete_cluster(tmp_path / "refused", detach.user, cluster=name)
    assert refused.rc != 0
    assert "cannot clean up" in refused.stdout
    shut = delete_cluster(
        tmp_path / "shut", detach.user, cluster=name, wait_for=["Widget"], on_unreachable="wait", timeout=10
    )
    assert shut.rc != 0
    assert "objects of wait_for are still there" in shut.stdout
    assert row_of(removal(shut), name)["waits_for"] == [f"Widget {name}/{gate['metadata']['name']}"]
    assert is_untouched(stage, name)
    assert stage.finalizers(held) == [WORK_FINALIZER]


def test_the_playbook_says_what_is_missing(detach: Detacher, tmp_path: Path) -> None:
    run = delete_cluster(tmp_path, detach.user)
    assert run.rc != 0
    assert "-e cluster=edge-7" in run.stdout


@pytest.mark.parametrize(
    "more", [{"plan_hash": "0123456789abcdef"}, {"max_objects": 1}], ids=["plan_hash", "max_objects"]
)
def test_the_playbook_does_not_ignore_a_limit(
    stage: Stage, detach: Detacher, tmp_path: Path, more: dict[str, Any]
) -> None:
    """Somebody who names a plan must not get another one."""
    name = member(stage)
    stage.put(work("w", name))
    run = delete_cluster(tmp_path, detach.user, cluster=name, keep_namespace=True, **more)
    assert run.rc != 0, run.stdout
    assert is_untouched(stage, name)


def test_the_role_shows_the_others_when_one_cannot_go(stage: Stage, detach: Detacher) -> None:
    good, dark = member(stage), member(stage, available="Unknown")
    stage.put(work("w", dark, WORK_FINALIZER))
    variables = {"managed_cluster_names": [good, dark], "managed_cluster_namespace": "keep"}
    role = {"ansible.builtin.include_role": {"name": "sunset.kube.managed_cluster"}, "vars": variables}
    run = run_playbook([role], detach.user.kubeconfig)
    assert run.rc != 0
    assert f"1 of 2 clusters are not gone ({dark})" in run.stdout
    assert re.search(rf"{dark} +failed: reachable\? +unreachable +1 manifestworks", run.stdout), (
        "no table after a failure"
    )
    assert re.search(rf"{good} +gone", run.stdout)
    assert is_gone(stage, good)


def test_the_role_refuses_what_it_does_not_know(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    for wrong in ({}, {"managed_cluster_names": [name], "managed_cluster_namespace": "burn"}):
        role = {"ansible.builtin.include_role": {"name": "sunset.kube.managed_cluster"}, "vars": wrong}
        assert run_playbook([role], detach.user.kubeconfig).rc != 0
    assert is_untouched(stage, name)
