# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook that deletes, reverts or creates asks at a terminal; without one it stops and says how to go on."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from integration.collection_playbooks import ending, play_named
from integration.fleets import Detacher, is_untouched, member
from integration.nmstate_fleet import Fleet
from integration.running import PATIENCE, _program, _surroundings
from integration.stage import CLEANUP, GROUP, Stage, config_map, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.users import User

pytestmark = pytest.mark.quick

EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
NOT_CONFIRMED = re.compile(r"not confirmed, so nothing was changed.*-e confirm=([0-9a-f]+), or -e confirm=skip", re.S)


@pytest.fixture
def user(as_user: AsUser) -> User:
    return as_user("confirming", EVERYTHING)


def at_a_terminal(answer: str, directory: Path, user: User, playbook: str, **variables: str) -> tuple[int, str]:
    """`ansible-playbook`, with a terminal of its own and a person who answers its question."""
    directory.mkdir()
    given = [part for key, value in variables.items() for part in ("-e", f"{key}={value}")]
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(directory)
        program = _program("ansible-playbook")
        os.execve(program, [program, playbook, *given], _surroundings(directory, user.kubeconfig))
    shown, deadline = "", time.monotonic() + PATIENCE
    try:
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096).decode(errors="replace")
            # Ansible discards what was typed before it listens: the person types it again while nothing happens.
            elif re.search(r"Type yes to [^\n]*:\s*$", shown):
                os.write(terminal, f"{answer}\r".encode())
    except OSError:  # the other end is closed
        pass
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


def own_profile(directory: Path, stage: Stage) -> str:
    """A drain of the widgets here, as a file of variables."""
    file = directory / "own.yml"
    file.write_text(
        f"profile: {{name: own, finalizers: [{CLEANUP}], operator_kinds: [{{group: {GROUP}, kind: Widget}}]}}\n"
        f"instance: {{namespaces: [{stage.namespace}]}}\n"
    )
    return f"@{file}"


def test_at_a_terminal_the_question_names_the_cluster_and_only_yes_counts(
    stage: Stage, user: User, tmp_path: Path
) -> None:
    made = stage.put(config_map("front", stage.namespace), widget("basket", stage.namespace))
    variables = {"namespace": stage.namespace, "source": "namespace"}
    code, shown = at_a_terminal("no", tmp_path / "no", user, "sunset.kube.uninstall", **variables)
    server = "https://127.0.0.1:[0-9]+"
    assert re.search(rf"Type yes to delete these 2 objects from context lab \({server}\)", shown), shown
    assert (code, bool(NOT_CONFIRMED.search(shown))) == (2, True), shown
    assert not any(map(stage.is_gone, made))
    code, shown = at_a_terminal("yes", tmp_path / "yes", user, "sunset.kube.uninstall", **variables)
    assert (code, all(map(stage.is_gone, made))) == (0, True), shown


def test_a_drain_asks_too(stage: Stage, user: User, tmp_path: Path, audit: AuditTrail) -> None:
    """Without a terminal it stops unchanged and says how to go on; the hash it names carries out that plan."""
    (thing,) = stage.put(widget("w", stage.namespace, CLEANUP))
    given = ("-e", own_profile(tmp_path, stage))
    stopped = play_named("sunset.kube.drain", tmp_path / "stopped", user.kubeconfig, *given)
    found = NOT_CONFIRMED.search(stopped.stdout)
    assert found is not None, stopped.stdout
    assert (stopped.rc, audit.writes(user.name)) == (2, [])
    assert re.search(r"To drain this object in context lab \(https://", stopped.stdout)
    audit.begin_anew()
    word = play_named("sunset.kube.drain", tmp_path / "word", user.kubeconfig, *given, confirm=True)
    assert (word.rc, audit.events(user.name)) == (2, []), word.stdout
    assert "confirm takes prompt, skip or the hash of a plan, and True is none of them" in word.stdout
    run = play_named("sunset.kube.drain", tmp_path / "run", user.kubeconfig, *given, confirm=found[1])
    assert (run.rc, stage.finalizers(thing)) == (0, []), run.stdout
    empty = play_named("sunset.kube.drain", tmp_path / "empty", user.kubeconfig, *given)
    assert empty.rc == 0, empty.stdout


def test_the_deletion_of_a_cluster_asks_too(stage: Stage, detach: Detacher, tmp_path: Path) -> None:
    name = member(stage)
    run = play_named("sunset.kube.delete_cluster", tmp_path, detach.user.kubeconfig, cluster=name, guard="permanent")
    assert (run.rc, bool(NOT_CONFIRMED.search(run.stdout))) == (2, True), run.stdout
    assert "To delete this cluster from context lab (https://" in run.stdout
    assert is_untouched(stage, name)
    guards = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    assert not [one for one in stage.api.get(guards)[1]["items"] if "hub" in one["metadata"]["name"]]


def test_the_reversal_of_a_network_policy_asks_too(fleet: Fleet, tmp_path: Path, audit: AuditTrail) -> None:
    fleet.nodes(2)
    policy = fleet.prepared_policy()
    audit.begin_anew()
    run = play_named("sunset.kube.revert_network", tmp_path, fleet.user.kubeconfig, nncp=policy)
    assert (run.rc, bool(NOT_CONFIRMED.search(run.stdout))) == (2, True), run.stdout
    assert f"To revert policy {policy} on these 2 nodes of context lab (https://" in run.stdout
    assert audit.writes(fleet.user.name) == []


STUB = """
- name: Stand in for the module on the node
  ansible.builtin.set_fact:
    network_revert_result:
      {changed: true, reverted: ["{{ inventory_hostname }}"], kept: [], drifted: [], revert_state: {}}
- name: Tell
  ansible.builtin.debug:
    msg: >-
      {{ 'planned' if network_revert_planning | default(ansible_check_mode) else 'reverted' }} {{ inventory_hostname }}
"""


@pytest.mark.slow
def test_nodes_are_planned_under_one_hash_and_asked_for_once_before_the_first(tmp_path: Path) -> None:
    """The playbook as it is, with the node's module played."""
    shutil.copytree(os.environ["ANSIBLE_COLLECTIONS_PATH"] + "/ansible_collections", tmp_path / "ansible_collections")
    role = tmp_path / "ansible_collections" / "sunset" / "kube" / "roles" / "network_revert"
    (role / "tasks" / "node.yml").write_text(STUB)

    def run(*more: str) -> tuple[int, str]:
        given = ["-i", "n1,n2,n3", "-c", "local", "-e", "policy=storage", *more]
        env = {**_surroundings(tmp_path, tmp_path / "none"), "ANSIBLE_COLLECTIONS_PATH": str(tmp_path)}
        command = [_program("ansible-playbook"), "sunset.kube.revert_network", *given]
        done = subprocess.run(
            command, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    code, shown = run()
    found = NOT_CONFIRMED.search(shown)
    assert found is not None, shown
    assert "To revert network policy storage on these 3 nodes without a terminal" in shown
    assert (code, shown.count("planned n"), "reverted n" in shown) == (2, 3, False), shown
    code, shown = run("-e", f"confirm={found[1]}", "-e", "force=true")
    assert (code, "the plan has changed" in shown, "reverted n" in shown) == (2, True, False), shown
    code, shown = run("-e", f"confirm={found[1]}")
    assert (code, shown.count("reverted n")) == (0, 3), shown


def test_a_run_says_how_to_undo_it_and_the_undo_asks_too(
    stage: Stage, user: User, tmp_path: Path, audit: AuditTrail
) -> None:
    evidence = tmp_path / "evi dence"
    shop = [config_map("front", stage.namespace), widget("basket", stage.namespace)]
    made = stage.put(*shop)
    variables = {"manifests": shop, "namespace": stage.namespace, "evidence_dir": str(evidence), "confirm": "skip"}
    there = ("-e", f"kubeconfig={user.kubeconfig}", "-e", "context=lab")
    run = play_named("sunset.kube.uninstall", tmp_path / "run", user.kubeconfig, *there, **variables)
    assert (run.rc, all(map(stage.is_gone, made))) == (0, True), run.stdout
    [line] = [line for line in run.stdout.splitlines() if line.startswith("  undo it with: ")]
    undo = shlex.split(line.removeprefix("  undo it with: "))
    assert "context=lab" in undo

    def typed(name: str, *more: str) -> tuple[int, str]:
        directory = tmp_path / name
        directory.mkdir()
        done = subprocess.run(
            [_program(undo[0]), *undo[1:], *more],
            env={**_surroundings(directory, tmp_path / "no-such-file")},
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout

    audit.begin_anew()
    code, shown = typed("stopped")
    found = NOT_CONFIRMED.search(shown)
    assert (code, found is not None) == (2, True), shown
    assert "To create these 2 objects in context lab (https://" in shown
    assert f"ConfigMap {stage.namespace}/front" in shown
    assert audit.writes(user.name) == []
    code, shown = typed("other", "-e", "confirm=0123456789abcdef")
    assert (code, "the plan has changed" in shown, audit.writes(user.name)) == (2, True, []), shown
    reports = tmp_path / "reports"
    code, shown = typed("undone", "-e", f"confirm={found[1]}", "-e", f"evidence_dir={reports}")
    assert code == 0, shown
    assert [stage.api.get(stage.api.path_of(one))[0] for one in made] == [200, 200]
    assert ending(reports)["plan_hash"] == found[1]
    code, shown = typed("again")
    assert code == 0, shown
