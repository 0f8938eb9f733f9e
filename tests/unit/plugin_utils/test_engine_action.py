# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action front: here or on the host, with live lines, warnings and evidence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins.action import ActionBase

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Planned
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, RUN, Job
from ansible_collections.sunset.kube.plugins.module_utils.reporting import Report
from ansible_collections.sunset.kube.plugins.plugin_utils import engine_action
from ansible_collections.sunset.kube.plugins.plugin_utils.engine_action import EngineAction
from ansible_collections.sunset.kube.tests.unit.fakes import named


class Screen:
    """In place of Ansible's display."""

    lines: list[str]
    warnings: list[str]

    def __call__(self) -> Screen:
        return self

    def __init__(self) -> None:
        self.lines, self.warnings = [], []

    def display(self, text: str) -> None:
        self.lines.append(text)

    def warning(self, text: str) -> None:
        self.warnings.append(text)


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen()
    monkeypatch.setattr(engine_action, "Display", shown)
    return shown


CLUSTER = {"cluster": "http://api.example.com:80", "cluster_name": "http://api.example.com:80"}


def works(context: Any) -> Report:
    context.tell(Planned("nothing to do", "abc"))
    diff = {"before": "a", "after": "b"}
    return Report({"changed": True}, warnings=["careful"], diff=diff, plan={"plan_hash": "abc"})


def action(work: Any = works, **surroundings: Any) -> Any:
    """An action plugin with only as much of Ansible around it as it looks at."""
    settings = {
        "transport": "local",
        "become": False,
        "async_val": 0,
        "diff": False,
        "check_mode": False,
        **surroundings,
    }

    class Action(EngineAction):
        JOB = Job("job", {**CONNECTION, **RUN}, lambda params: None, work)

    task = SimpleNamespace(
        async_val=settings["async_val"],
        diff=settings["diff"],
        check_mode=settings["check_mode"],
        args={"host": "http://api.example.com", **settings.get("args", {})},
        action="sunset.kube.job",
        collections=[],
        environment=settings.get("environment"),
    )
    made = Action.__new__(Action)
    made._load_name = task.action
    made._task = task
    made._connection = SimpleNamespace(transport=settings["transport"])
    made._play_context = SimpleNamespace(become=settings["become"])
    return made


@pytest.fixture(autouse=True)
def bare_base(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Ansible's own part of an action: returns this."""
    base: dict[str, Any] = {}
    monkeypatch.setattr(ActionBase, "run", lambda self, tmp=None, task_vars=None: dict(base))
    return base


def test_a_local_task_runs_here_with_live_lines_and_warnings(screen: Screen) -> None:
    assert action().run() == {"changed": True, "warnings": ["careful"], **CLUSTER}
    told = ["  job: cluster http://api.example.com:80 (option host)", "  job: plan abc: nothing to do"]
    assert (screen.lines, screen.warnings) == (told, ["careful"])


def test_the_tasks_environment_is_there_while_the_task_runs_and_not_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, Any] = {}

    def look(context: Any) -> Report:
        seen.update(user=context.params["impersonate_user"], proxy=os.environ.get("https_proxy"))
        raise RuntimeError("in the middle")

    monkeypatch.setattr(
        ActionBase, "_compute_environment_string", lambda self, out: out.update(self._task.environment[0])
    )
    before = dict(os.environ)
    given = {"K8S_AUTH_IMPERSONATE_USER": "jane", "https_proxy": 3128}
    with pytest.raises(RuntimeError):
        action(look, environment=[given]).run()
    assert (seen, dict(os.environ)) == ({"user": "jane", "proxy": "3128"}, before)


HERE: dict[str, tuple[dict[str, Any], bool]] = {
    "local": ({}, True),
    "on another host": ({"transport": "ssh"}, False),
    "as another user": ({"become": True}, False),
    "in the background": ({"async_val": 60}, False),
}


@pytest.mark.parametrize(("surroundings", "here"), named(HERE))
def test_the_engine_runs_here_or_its_module_is_sent(
    surroundings: dict[str, Any], here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []

    def execute(self: Any, **how: Any) -> dict[str, Any]:
        sent.append(how)
        return {"changed": False, "_warnings": ["from there"]}

    monkeypatch.setattr(ActionBase, "_execute_module", execute)
    result = action(**surroundings).run(task_vars={"x": 1})
    background = bool(surroundings.get("async_val"))
    assert sent == ([] if here else [{"task_vars": {"x": 1}, "wrap_async": background}])
    assert result["warnings"] == (["careful"] if here else ["from there"])


def test_the_job_knows_that_it_runs_on_the_controller() -> None:
    assert action(lambda context: Report({"here": context.here})).run() == {"here": True, **CLUSTER}


def test_bad_options_fail_before_anything_is_done() -> None:
    began: list[int] = []
    with pytest.raises(AnsibleError, match="no_such_option"):
        action(lambda context: began.append(1), args={"no_such_option": 1}).run()
    assert began == []


@pytest.mark.parametrize("wanted", [True, False], ids=["with --diff", "without"])
def test_the_diff_is_shown_only_where_it_is_wanted(wanted: bool) -> None:
    assert ("diff" in action(diff=wanted).run()) is wanted


@pytest.mark.parametrize("wanted", [True, False], ids=["with --check", "without"])
def test_check_mode_is_handed_to_the_job(wanted: bool) -> None:
    result = action(lambda context: Report({"check": context.check_mode}), check_mode=wanted).run()
    assert result == {"check": wanted, **CLUSTER}


def test_a_task_that_ansible_skips_is_skipped(bare_base: dict[str, Any]) -> None:
    bare_base["skipped"] = True
    assert action(lambda context: 1 / 0).run() == {"skipped": True}


# -- evidence ----------------------------------------------------------------------------------------------------------


def test_evidence_is_written_here_and_its_folder_named(tmp_path: Path) -> None:
    result = action(args={"evidence_dir": str(tmp_path)}).run()
    folder = Path(result["evidence"])
    assert (folder.parent, folder.name.endswith("Z-job"), "_evidence" in result) == (tmp_path, True, False)
    assert json.loads((folder / "plan.json").read_text(encoding="utf-8"))["plan_hash"] == "abc"
    rows = [json.loads(line) for line in (folder / "timeline.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["event"] for row in rows] == ["planned"]


def test_evidence_that_came_from_the_host_is_written_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undo = {"steps": [{"step": "first", "objects": [{"kind": "Domain"}]}], "left_out": []}
    evidence = {
        "plan": {"plan_hash": "far"},
        "timeline": [{"event": "noted", "time": "2026-01-01T00:00:00+00:00"}],
        "undo": undo,
        "cluster": "far away",
    }
    monkeypatch.setattr(ActionBase, "_execute_module", lambda self, **how: {"changed": True, "_evidence": evidence})
    result = action(transport="ssh", args={"evidence_dir": str(tmp_path)}).run()
    folder = Path(result["evidence"])
    assert json.loads((folder / "plan.json").read_text(encoding="utf-8")) == {"plan_hash": "far"}
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "junit.xml",
        "plan.json",
        "report.html",
        "report.md",
        "result.json",
        "timeline.jsonl",
        "undo/01-first.json",
    ]
    assert (
        result["undo_command"] == f"ansible-playbook sunset.kube.undo -e bundle={folder} -e host=http://api.example.com"
    )


def ending(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "latest" / "result.json").read_text(encoding="utf-8"))
    return found


def test_a_job_that_never_began_says_so_where_pipelines_look(tmp_path: Path) -> None:
    action(args={"evidence_dir": str(tmp_path)}).run()
    assert ending(tmp_path)["outcome"] == "done"
    result = action(args={"evidence_dir": str(tmp_path), "client_cert": "/x"}).run()
    told = ending(tmp_path)
    assert (told["outcome"], told["failed"], told["message"]) == ("refused", True, result["msg"])
    assert 'failures="1"' in (tmp_path / "latest" / "junit.xml").read_text(encoding="utf-8")


def test_a_module_that_could_not_even_start_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ActionBase, "_execute_module", lambda self, **how: {"failed": True, "msg": "no python"})
    action(transport="ssh", args={"evidence_dir": str(tmp_path)}).run()
    assert (ending(tmp_path)["outcome"], ending(tmp_path)["message"]) == ("failed", "no python")


def test_the_timeline_can_be_read_while_the_job_works_and_is_left_if_it_dies(tmp_path: Path) -> None:
    def work(context: Any) -> Report:
        context.tell(Planned("nothing to do", "abc"))
        [line] = (tmp_path / "latest" / "timeline.jsonl").read_text(encoding="utf-8").splitlines()
        raise MemoryError(json.loads(line)["event"])

    with pytest.raises(MemoryError, match="planned"):
        action(work, args={"evidence_dir": str(tmp_path)}).run()
    left = {path.name for path in (tmp_path / "latest").iterdir()}
    assert left == {"timeline.jsonl"}, "no result.json: whoever waits for it knows that the run was cut off"


@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_the_ending_says_whether_it_was_only_a_plan(check_mode: bool, tmp_path: Path) -> None:
    action(check_mode=check_mode, args={"evidence_dir": str(tmp_path)}).run()
    told = ending(tmp_path)
    assert (told["outcome"], told["check_mode"]) == ("planned" if check_mode else "done", check_mode)
    assert (told["job"], told["cluster"]) == ("sunset.kube.job", "http://api.example.com:80 (option host)")


SECRET = {"kind": "Secret", "metadata": {"name": "login"}, "data": {"password": "czNjcmV0"}}


@pytest.mark.parametrize(
    ("password", "files"),
    named({"with a password": ("vault-pw", ["01-first.json", "secrets.vault"]), "without": (None, ["01-first.json"])}),
)
def test_secrets_are_kept_only_sealed_with_the_tasks_password(
    password: str | None, files: list[str], tmp_path: Path
) -> None:
    undo = {"steps": [{"step": "first", "objects": []}], "left_out": [], "secrets": [SECRET]}
    made = action(lambda context: Report({"changed": True}, undo=undo), args={"evidence_dir": str(tmp_path)})
    if password:
        type(made).JOB = Job("job", {**made.JOB.arguments, **VAULT}, made.JOB.check, made.JOB.work)
        made._task.args["undo_vault_password"] = password
    result = made.run()
    folder = Path(result["evidence"])
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}
    assert sorted(path.name for path in (folder / "undo").iterdir()) == files
    assert "czNjcmV0" not in json.dumps(written) + json.dumps(result)
    if password:
        opened = VaultLib([("default", VaultSecret(password.encode()))]).decrypt(written["secrets.vault"])
        assert json.loads(opened) == {"apiVersion": "v1", "kind": "List", "items": [SECRET]}


VAULT = {"undo_vault_password": {"type": "str", "no_log": True}}


def test_no_evidence_is_written_where_none_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "evidence" not in action().run()
    assert list(tmp_path.iterdir()) == []


def test_evidence_cannot_be_asked_for_in_the_background(tmp_path: Path) -> None:
    with pytest.raises(AnsibleError, match="evidence_dir cannot be used with async"):
        action(async_val=60, args={"evidence_dir": str(tmp_path)}).run()


def test_a_directory_that_cannot_be_written_is_told_before_anything_is_done(tmp_path: Path) -> None:
    # Afterwards would be too late: the task would fail without a word about what it deleted.
    began: list[int] = []
    (tmp_path / "file").write_text("")
    with pytest.raises(AnsibleError, match="evidence_dir"):
        action(
            lambda context: began.append(1) or Report({}), args={"evidence_dir": str(tmp_path / "file" / "deep")}
        ).run()
    assert began == []


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_the_job_sees_a_stop_sign_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[StopSign] = []
    monkeypatch.setattr(engine_action, "stop_on_signals", lambda stop: watched.append(stop) or _nothing())
    seen: list[StopSign] = []

    def work(context: Any) -> Report:
        seen.append(context.stop)
        return Report({})

    action(work).run()
    assert seen == watched


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: Any) -> None: ...
