# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three ways our modules run: in this process, by a real ansible-playbook, and shipped as a module of their own.

All three take the options of a task and give back its result. `open_cluster` is for what lies below the modules.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
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
from integration import preloaded
from lab.waiting import until

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

    process: subprocess.Popen[bytes] | preloaded.Forked
    directory: Path

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return (self.directory / "output").read_text()

    @property
    def results(self) -> list[Result]:
        """The results of the tasks that have ended so far."""
        recorded = self.directory / "results.jsonl"
        lines = recorded.read_text().splitlines(keepends=True) if recorded.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]  # the last one may be half written

    def until(self, look: Callable[[], Any], what: str, timeout: float = PATIENCE) -> None:
        """Wait while it runs; one that ends before its time says why."""

        def seen_or_ended() -> bool:
            return bool(look()) or self.process.poll() is not None

        until(seen_or_ended, what, timeout=timeout, every=0.05)
        assert look(), f"it ended before {what}:\n{self.output}"

    def processes(self) -> list[int]:
        """Its processes that still run, orphans too: all have our directory open, or in their environment.

        But for SSH connections kept for later, which write over it the name of their socket: in network tests that is
        below a folder of our name in /run.
        """
        marks = f"RECORD_RESULTS={self.directory}/".encode(), f"/run/{self.directory.name}/".encode()
        told = {place: (_told(place / "environ"), _told(place / "cmdline")) for place in Path("/proc").glob("[0-9]*")}
        return [
            int(place.name)
            for place, texts in told.items()
            if any(map(bytes.__contains__, texts, marks)) or self._is_open_in(place)
        ]

    def _is_open_in(self, process: Path) -> bool:
        with contextlib.suppress(OSError):  # it ended meanwhile, or has no such file
            return os.readlink(process / "fd" / str(preloaded.MARK)) == str(self.directory)
        return False

    def kill(self) -> None:
        """End it and everything it started on this machine at once, as a crash would. Killing it twice is fine."""

        def none_is_left() -> bool:
            left = self.processes()  # one that was just being started is only seen the next time
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not left

        until(none_is_left, "the last process of a killed playbook to end", every=0.02)
        self.process.wait(PATIENCE)

    def finish(self, timeout: float = PATIENCE) -> PlayRun:
        self.process.wait(timeout)
        return PlayRun(self.process.returncode, self.output, self.results)


@contextlib.contextmanager
def started(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> Iterator[Play]:
    """An ansible-playbook by this command, running. It is ended, if need be, when the block is left."""
    with (directory / "output").open("wb") as output:
        play = Play(preloaded.start(command, directory, environment, output), directory)
    try:
        yield play
    finally:
        play.kill()


def playbook_command(
    directory: Path,
    hosts: str,
    tasks: Sequence[Mapping[str, Any]],
    *arguments: str,
    check: bool = False,
    diff: bool = False,
) -> list[str]:
    """Writes the tasks as a playbook and returns what runs it."""
    play = [{"hosts": hosts, "gather_facts": False, "tasks": list(tasks)}]
    (directory / "play.yml").write_text(json.dumps(play))
    switches = ["--check"] * check + ["--diff"] * diff
    return [_program("ansible-playbook"), *switches, *arguments, str(directory / "play.yml")]


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
        here = ("--inventory", "localhost,", "--connection", "local")
        command = playbook_command(directory, "localhost", tasks, *here, *extra_args, check=check, diff=diff)
        with started(command, directory, _surroundings(directory, kubeconfig)) as play:
            yield play


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


def _told(of_a_process: Path) -> bytes:
    with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to somebody else
        return of_a_process.read_bytes()
    return b""


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _surroundings(directory: Path, kubeconfig: Path) -> dict[str, str]:
    """For a playbook on this host and on the cluster of the kubeconfig."""
    return {
        **settings(directory),
        "ANSIBLE_REMOTE_TEMP": str(directory / "remote"),
        "ANSIBLE_ASYNC_DIR": str(directory / "async"),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "K8S_AUTH_KUBECONFIG": str(kubeconfig),
    }


def settings(directory: Path) -> dict[str, str]:
    """Nothing is written outside of the directory, and of one that all runs of these tests share."""
    home = _home()
    return {
        **os.environ,
        "ANSIBLE_CONFIG": str(home / "ansible.cfg"),
        "ANSIBLE_HOME": str(home / "ansible"),
        "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("callbacks")),
        "ANSIBLE_CALLBACKS_ENABLED": "record_results",
        "ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).with_name("connections")),
        "ANSIBLE_NOCOLOR": "1",
        "RECORD_RESULTS": str(directory / "results.jsonl"),
    }


@functools.cache
def _home() -> Path:
    """A home of Ansible's with settings that say nothing, until these tests end."""
    home = Path(tempfile.mkdtemp(prefix="ansible-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "ansible.cfg").touch()
    return home
