# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ansible-playbook sunset.kube.explain`, as a new user runs it: on what somebody else broke."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from integration.breaking import dead_webhook, is_refused
from integration.running import PATIENCE, PlayRun, _program, _surroundings
from integration.stage import CLEANUP, FOREIGN, GROUP, Stage, config_map, deployment, widget
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

GUIDE = Path(__file__).parents[2] / "docs" / "docsite" / "rst" / "guide_stuck_namespace.rst"


@pytest.fixture
def user(plane: ControlPlane) -> User:
    return plane.user("newcomer", (MASTERS,))


def type_in(directory: Path, user: User, command: list[str], **variables: str) -> PlayRun:
    """A command as somebody types it, without an inventory."""
    directory.mkdir(exist_ok=True)
    done = subprocess.run(
        [_program(command[0]), *command[1:]],
        env={**_surroundings(directory, user.kubeconfig), **variables},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    recorded = directory / "results.jsonl"
    lines = recorded.read_text().splitlines() if recorded.exists() else []
    return PlayRun(done.returncode, done.stdout, [json.loads(line) for line in lines])


def explain(directory: Path, user: User, *arguments: str, **variables: str) -> PlayRun:
    given = [part for key, value in variables.items() for part in ("-e", f"{key}={value}")]
    return type_in(directory, user, ["ansible-playbook", "sunset.kube.explain", *given, *arguments])


def explained(run: PlayRun) -> dict[str, Any]:
    assert run.rc == 0, run.stdout
    (result,) = [result for result in run.results if "blockers" in result]
    return result


def test_a_namespace_that_somebody_else_broke_is_repaired_with_the_commands_the_playbook_shows(
    stage: Stage, user: User, tmp_path: Path, audit: AuditTrail
) -> None:
    """A finalizer of nobody, and a dead webhook that lets nobody take it off: copy, paste, gone."""
    here = stage.namespace
    held, free = stage.put(widget("held", here, CLEANUP), config_map("free", here))
    hook = dead_webhook(stage, "widgets", "UPDATE", group=GROUP)
    until(lambda: is_refused(stage, held, "UPDATE"), "the webhook to be in force", every=0.05)
    path = f"/api/v1/namespaces/{here}"
    assert stage.api.delete(path)[0] == 200
    until(
        lambda: "deletionTimestamp" in stage.look(held)["metadata"], "the widget to be deleted", timeout=30, every=0.1
    )

    run = explain(tmp_path / "run", user, namespace=here)
    result = explained(run)
    for line in result["text"]:
        assert f"  {line}" in run.stdout.splitlines(), "the tree is printed as it is, not as JSON"
    assert audit.writes(user.name) == []

    first = result["next_steps"][0].rpartition(": ")[2]
    assert first == f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}"
    assert stage.api.delete(stage.api.path_of(hook))[0] == 200
    until(lambda: not is_refused(stage, held, "UPDATE"), "the webhook to be gone", every=0.05)
    after = explained(explain(tmp_path / "after", user, "--check", namespace=here))
    [second] = after["next_steps"]
    known, _colon, command = second.rpartition(": ")
    assert known == "if you know that nobody should remove it any more (what is lost without it is not known)"
    done = type_in(tmp_path / "repair", user, shlex.split(command))
    assert done.rc == 0, done.stdout
    assert stage.is_gone(held)
    assert stage.is_gone(free)
    until(lambda: stage.api.get(path)[0] == 404, "the namespace to be gone", timeout=40, every=0.2)


@pytest.mark.quick
def test_the_playbook_explains_an_object_and_says_when_there_is_no_release(
    stage: Stage, user: User, tmp_path: Path
) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    # With its version: other tests may have a Widget of their own.
    named = {"api_version": f"{GROUP}/v1", "kind": "Widget", "name": "w"}
    one = explain(tmp_path / "one", user, namespace=stage.namespace, **named)
    assert [row["object"]["name"] for row in explained(one)["blockers"]] == ["w"]
    none = explain(tmp_path / "none", user, release="no-such")
    cluster, missing = explained(none)["text"]
    assert (cluster.startswith("cluster https://127.0.0.1:"), "no-such" in missing) == (True, True)
    assert {f"  {cluster}", f"  {missing}"} <= set(none.stdout.splitlines())


def test_a_cluster_that_a_variable_of_ansible_has_chosen_is_named_beside_the_commands(
    stage: Stage, user: User, tmp_path: Path
) -> None:
    """kubectl does not know K8S_AUTH_*: pasted as it is, a command would meet the cluster of another context."""
    stage.hang(widget("w", stage.namespace, CLEANUP))
    text = explained(explain(tmp_path / "chosen", user, namespace=stage.namespace))["text"]
    there = text[0].removeprefix("cluster ")
    assert text[text.index("next:") + 1] == f"  (for {there}: point kubectl and ansible there first)"
    command = ["ansible-playbook", "sunset.kube.explain", "-e", f"namespace={stage.namespace}"]
    shared = {"K8S_AUTH_KUBECONFIG": "", "KUBECONFIG": str(user.kubeconfig)}
    text = explained(type_in(tmp_path / "shared", user, command, **shared))["text"]
    assert text[text.index("next:") + 1].startswith("  1. "), "kubectl has it from the same variable"


def test_a_report_with_a_picture_of_what_waits_for_what_is_left_where_the_playbook_is_told_to(
    stage: Stage, user: User, tmp_path: Path
) -> None:
    here = stage.namespace
    operator = deployment("keeper-operator", here)
    operator["metadata"]["finalizers"] = [FOREIGN]
    stage.put(operator, widget("w", here, CLEANUP))
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    run = explain(tmp_path / "run", user, namespace=here, evidence_dir=str(tmp_path / "evidence"))
    folder = Path(explained(run)["evidence"])
    assert (tmp_path / "evidence" / "latest").resolve() == folder
    files = {path.name for path in folder.iterdir()}
    assert files == {"report.html", "report.md", "junit.xml", "timeline.jsonl", "result.json"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())
    page = (folder / "report.html").read_text()
    assert "What waits for what" in page
    assert 'class="arc circle"' in page, "the operator goes with the namespace that waits for its work"
    assert f"finalizers={CLEANUP}" in page
    assert json.loads((folder / "result.json").read_text())["outcome"] == "blocked"


def test_the_playbook_of_the_guide_works_as_it_is_written(stage: Stage, user: User, tmp_path: Path) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    block = GUIDE.read_text().rpartition(".. code-block:: yaml")[2]
    playbook = tmp_path / "guide.yml"
    playbook.write_text(textwrap.dedent(block).replace("namespace: shop", f"namespace: {stage.namespace}"))
    run = type_in(tmp_path, user, ["ansible-playbook", str(playbook)])
    assert [row["object"]["name"] for row in explained(run)["blockers"]] == [stage.namespace, "w"]
