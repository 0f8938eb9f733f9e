# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of all action plugins: runs the engine in the controller's own process, with live lines.

Room: action (base). Where the task is not local, it ships the module of the same name instead. Evidence is
written here, on the controller, in both cases.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils.clock import RealClock, StopSign
from ..module_utils.evidence.ending import ending_of
from ..module_utils.evidence.files import EvidenceFolder, Timeline
from ..module_utils.evidence.lines import LiveLines
from ..module_utils.evidence.ranked_results import joined
from ..module_utils.evidence.report_page import page_of
from ..module_utils.front import Job, perform
from ..module_utils.problems import Refused
from ..module_utils.reporting import stop_on_signals
from ..module_utils.visible import visible, visible_if_failed
from .undo_command import undo_command

# In place of what a module hands back that could not even start.
_NOTHING: dict[str, Any] = {"plan": {}, "timeline": [], "undo": None, "graph": None, "cluster": "", "failure": ""}

# The variable with which a playbook of the operator names the custom resource that asked for all of this.
ASKED_BY = "sunset_kube_asked_by"
# They speak of the resource themselves.
ENDS = ("reconcile_begin", "reconcile_end")


class EngineAction(ActionBase):
    """One job, in this process or on the host."""

    JOB: Job
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_async = True
    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        base = super().run(tmp, task_vars)
        if base.get("skipped"):
            return base
        with self._task_environment():  # K8S_AUTH_* may stand there
            _checked, params = self.validate_argument_spec(argument_spec=self.JOB.arguments, **self.JOB.rules)
        folder = self._evidence_folder(params)
        timeline = folder.begin_timeline() if folder and self._runs_here() else None
        try:
            result = (
                self._run_here(params, folder, timeline, self._asked_by(task_vars))
                if self._runs_here()
                else self._run_there(task_vars)
            )
        finally:
            if timeline:
                timeline.close()
        self._warn(result)
        if folder is not None:
            self._write_evidence(folder, timeline, result, params.get("undo_vault_password"))
        if not self._task.diff:
            result.pop("diff", None)
        for line in result.get("text", ()):
            Display().display(f"  {visible(str(line))}")
        if result.get("undo_command"):
            Display().display(f"  undo it with: {result['undo_command']}")
        return {**base, **visible_if_failed(result)}

    @contextlib.contextmanager
    def _task_environment(self) -> Iterator[None]:
        """The variables of play, block and task, as a shipped module has them; afterwards all is as it was before.

        Workers are processes with one task each, so no other task sees them.
        """
        given: dict[str, Any] = {}
        if self._task.environment:
            self._compute_environment_string(given)
        before = dict(os.environ)
        os.environ.update({str(name): str(value) for name, value in given.items()})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _evidence_folder(self, params: dict[str, Any]) -> EvidenceFolder | None:
        """Made before anything is done: a directory that cannot be written must not be found out afterwards."""
        directory = params.get("evidence_dir")
        if not directory:
            return None
        if self._task.async_val:
            raise AnsibleActionFail(
                "evidence_dir cannot be used with async: the result of a background task passes us by"
            )
        try:
            return EvidenceFolder(directory, self.JOB.name, time.time())
        except OSError as problem:
            raise AnsibleActionFail(f"cannot write to evidence_dir: {problem}") from problem

    def _runs_here(self) -> bool:
        """Local, as ourselves and in the foreground: no reason to start another Python."""
        return self._connection.transport == "local" and not self._play_context.become and not self._task.async_val

    def _run_here(
        self,
        params: dict[str, Any],
        folder: EvidenceFolder | None,
        timeline: Timeline | None,
        asked_by: Mapping[str, str] | None,
    ) -> dict[str, Any]:
        stop = StopSign()
        bundles: list[dict[str, Any]] = []

        def set_aside(bundle: dict[str, Any]) -> None:
            bundles.append(bundle)
            if folder is not None:
                _write_undo(folder, joined(bundles), params.get("undo_vault_password"))

        lines = LiveLines(self._show, RealClock(stop))
        where: dict[str, str] = {}
        with self._task_environment(), stop_on_signals(stop):
            result = perform(
                self.JOB,
                params,
                check_mode=self._task.check_mode,
                stop=stop,
                show=lines,
                here=True,
                keep=timeline.add if timeline else None,
                met=where.update,
                set_aside=set_aside,
                asked_by=asked_by,
            )
        return {**result, **where}

    def _asked_by(self, task_vars: dict[str, Any] | None) -> Mapping[str, str] | None:
        named = (task_vars or {}).get(ASKED_BY)
        return self._templar.template(named) if isinstance(named, Mapping) and self.JOB.name not in ENDS else None

    def _run_there(self, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        result: dict[str, Any] = self._execute_module(task_vars=task_vars, wrap_async=bool(self._task.async_val))
        return result

    def _show(self, line: str) -> None:
        Display().display(f"  {self.JOB.name}: {line}")

    def _warn(self, result: dict[str, Any]) -> None:
        for text in map(visible, result.pop("_warnings", ())):
            Display().warning(text)
            result.setdefault("warnings", []).append(text)

    def _write_evidence(
        self, folder: EvidenceFolder, timeline: Timeline | None, result: dict[str, Any], password: str | None
    ) -> None:
        """Of a run that never began too: a pipeline must not take the one before for this one."""
        evidence = {**_NOTHING, **(result.pop("_evidence", None) or {})}
        if self.JOB.plans:
            folder.write_plan(evidence["plan"])
        if timeline is None or timeline.problem:
            folder.write_timeline(evidence["timeline"])
        if evidence["undo"]:
            _write_undo(folder, evidence["undo"], password)
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        job, check_mode = f"sunset.kube.{self.JOB.name}", self._task.check_mode
        page = page_of(result, job, evidence["cluster"], when, _who(), check_mode=check_mode)
        folder.write_reports(page, result, evidence["timeline"], evidence["plan"], evidence["graph"])
        ending = ending_of(result, evidence["failure"], check_mode)
        folder.write_ending({"job": job, "cluster": evidence["cluster"], **ending})
        result["evidence"] = folder.path
        if not check_mode and _can_be_undone(evidence["undo"], password):
            result["undo_command"] = undo_command(os.path.abspath(folder.path), self._task.args)


def _write_undo(folder: EvidenceFolder, bundle: dict[str, Any], password: str | None) -> None:
    try:
        folder.write_undo(bundle["steps"], bundle["left_out"])
        if bundle.get("secrets") and password:
            folder.write_secrets(_encrypted(bundle["secrets"], password))
    except OSError as problem:
        raise Refused("cannot write the undo bundle", which=folder.path, why=str(problem)) from problem


def _can_be_undone(bundle: dict[str, Any] | None, password: str | None) -> bool:
    if not bundle:
        return False
    return any(step["objects"] for step in bundle["steps"]) or bool(password and bundle.get("secrets"))


def _who() -> str:
    """The person at the terminal, or the account of a pipeline, and where."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        user = f"user {os.getuid()}"
    return f"{user} on {platform.node()}"


def _encrypted(objects: list[dict[str, Any]], password: str) -> str:
    """A List of objects under ansible-vault: `ansible-vault decrypt` with the same password brings it back."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    sealed: bytes = VaultLib().encrypt(text, secret=VaultSecret(password.encode()))
    return sealed.decode()
