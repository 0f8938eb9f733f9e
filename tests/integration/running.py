# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three ways our modules run: in this process, by a real ansible-playbook, and shipped as a module of their own.

All three take the options of a task and give back its result. `open_cluster` is for what lies below the modules.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.sunset.kube.plugins.module_utils.clock import RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import Job, connection_options, perform
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import load_endpoint

Result = dict[str, Any]
# Long enough for a busy machine, short enough that a hanging test says so.
PATIENCE = 120.0


def run_job(
    job: Job,
    params: Mapping[str, Any],
    kubeconfig: Path | Mapping[str, Any] | None = None,
    *,
    check_mode: bool = False,
    stop: StopSign | None = None,
    on_event: Callable[[Any], None] | None = None,
) -> Result:
    """The engine in this process, with the defaults of the module's own argument specification."""
    given = dict(params)
    if kubeconfig is not None:
        given["kubeconfig"] = str(kubeconfig) if isinstance(kubeconfig, Path) else dict(kubeconfig)
    checked = ArgumentSpecValidator(job.arguments, **job.rules).validate(given)
    assert not checked.error_messages, checked.error_messages
    return perform(
        job,
        checked.validated_parameters,
        check_mode=check_mode,
        stop=stop or StopSign(),
        show=on_event or (lambda event: None),
    )


def warnings_of(result: Mapping[str, Any]) -> str:
    """Everything a run warned of, as one text; jobs and tasks keep it in different places."""
    listed = [*result.get("_warnings", ()), *result.get("warnings", ())]
    return "\n".join(map(str, listed))


@contextlib.contextmanager
def open_cluster(kubeconfig: Path, *, parallel: int = 16, stop: StopSign | None = None) -> Iterator[Cluster]:
    """A `Cluster` as the domain rooms get it, closed afterwards."""
    sign = stop or StopSign()
    options = connection_options({"kubeconfig": str(kubeconfig), "in_cluster": "false"})
    cluster = Cluster(lambda: load_endpoint(options), RealClock(sign), sign, parallel)
    try:
        yield cluster
    finally:
        cluster.close()


@dataclass(frozen=True)
class PlayRun:
    """How an ansible-playbook ended. `results` holds each task's result in the order they came."""

    rc: int
    stdout: str
    results: list[Result] = field(default_factory=list)

    @property
    def result(self) -> Result:
        """The result of the only task."""
        assert len(self.results) == 1, self.stdout
        return self.results[0]


@dataclass(frozen=True)
class Play:
    """An ansible-playbook under way, with everything it writes in one directory."""

    process: subprocess.Popen[str]
    directory: Path

    def processes(self) -> list[int]:
        """Its processes that still run, orphans too: all of them have our directory in their environment."""
        mark = f"ANSIBLE_HOME={self.directory}/".encode()
        return [int(place.name) for place in Path("/proc").glob("[0-9]*") if mark in _environment(place)]

    def finish(self, timeout: float = PATIENCE) -> PlayRun:
        stdout, _ = self.process.communicate(timeout=timeout)
        recorded = self.directory / "results.jsonl"
        lines = recorded.read_text().splitlines() if recorded.exists() else []
        return PlayRun(self.process.returncode, stdout, [json.loads(line) for line in lines])


@contextlib.contextmanager
def playing(
    tasks: Sequence[Mapping[str, Any]],
    kubeconfig: Path,
    *,
    check: bool = False,
    diff: bool = False,
    extra_args: Sequence[str] = (),
) -> Iterator[Play]:
    """A real ansible-playbook on localhost, running. It is ended, if need be, when the block is left."""
    with tempfile.TemporaryDirectory(prefix="play-") as place:
        directory = Path(place)
        play = [{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks)}]
        (directory / "play.yml").write_text(json.dumps(play))
        command = [_program("ansible-playbook"), "--inventory", "localhost,", "--connection", "local"]
        command += ["--check"] * check + ["--diff"] * diff + [*extra_args, str(directory / "play.yml")]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_surroundings(directory, kubeconfig),
            cwd=directory,
        )
        try:
            yield Play(process, directory)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def run_playbook(
    tasks: Sequence[Mapping[str, Any]],
    kubeconfig: Path,
    *,
    check: bool = False,
    diff: bool = False,
    extra_args: Sequence[str] = (),
) -> PlayRun:
    """Run these tasks by a real ansible-playbook, to the end."""
    with playing(tasks, kubeconfig, check=check, diff=diff, extra_args=extra_args) as play:
        return play.finish()


def run_module(
    name: str,
    params: Mapping[str, Any],
    kubeconfig: Path,
    *,
    check: bool = False,
    diff: bool = False,
    extra_args: Sequence[str] = (),
) -> PlayRun:
    """One task whose module is packed, shipped and started as a process of its own, as on any other host."""
    task = {"name": "shipped", f"sunset.kube.{name}": dict(params), "connection": "elsewhere"}
    return run_playbook([task], kubeconfig, check=check, diff=diff, extra_args=extra_args)


@contextlib.contextmanager
def module_process(name: str, params: Mapping[str, Any], kubeconfig: Path) -> Iterator[subprocess.Popen[str]]:
    """The module itself as a process that can be sent signals; its result is on its stdout."""
    arguments = {"ANSIBLE_MODULE_ARGS": {**params, "kubeconfig": str(kubeconfig), "_ansible_remote_tmp": "."}}
    with tempfile.TemporaryDirectory(prefix="module-") as place:
        file = Path(place) / "arguments.json"
        file.write_text(json.dumps(arguments))
        process = subprocess.Popen(
            [sys.executable, "-m", f"ansible_collections.sunset.kube.plugins.modules.{name}", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_surroundings(Path(place), kubeconfig),
            cwd=place,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def _environment(process: Path) -> bytes:
    with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to somebody else
        return (process / "environ").read_bytes()
    return b""


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _surroundings(directory: Path, kubeconfig: Path) -> dict[str, str]:
    """The tester's own settings stay out, and nothing is written outside of the directory."""
    own = ("ANSIBLE_", "K8S_AUTH_", "KUBE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(own)}
    (directory / "ansible.cfg").touch()
    return {
        **kept,
        "ANSIBLE_COLLECTIONS_PATH": os.environ.get("ANSIBLE_COLLECTIONS_PATH", ""),
        "ANSIBLE_CONFIG": str(directory / "ansible.cfg"),
        "ANSIBLE_HOME": str(directory / "ansible"),
        "ANSIBLE_REMOTE_TEMP": str(directory / "remote"),
        "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("callbacks")),
        "ANSIBLE_CALLBACKS_ENABLED": "record_results",
        "ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).with_name("connections")),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "RECORD_RESULTS": str(directory / "results.jsonl"),
        "K8S_AUTH_KUBECONFIG": str(kubeconfig),
    }
