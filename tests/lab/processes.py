# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts, watches and stops processes. Knows pids, signals and log files; knows nothing of Kubernetes.

Every process leads a process group of its own, so Ctrl-C in a terminal reaches only us and we stop the rest in order.
A process is known by pid and start time: a pid alone may by now belong to somebody else.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from lab.die_with_parent import die_with_parent
from lab.problems import LabError
from lab.waiting import until

STOP_PATIENCE = 3.0  # seconds between SIGTERM and SIGKILL


@dataclass(frozen=True)
class Process:
    """One running program, started by us now or recorded by an earlier run."""

    pid: int
    started: int  # clock ticks since boot, from the kernel
    child: subprocess.Popen[bytes] | None = field(default=None, compare=False, repr=False)

    def alive(self) -> bool:
        if self.child is not None:
            return self.child.poll() is None
        state = _state_of(self.pid)
        return state is not None and state == (self.started, True)

    def signal(self, number: signal.Signals) -> None:
        """Signal the whole process group; a process that is gone already is no error."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)


def start(
    command: Sequence[str],
    log_file: Path,
    *,
    detached: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start a program that writes to `log_file`. It dies with this process, however that ends, unless `detached`."""
    argv = list(command) if detached else die_with_parent(command)

    def fork() -> Process:
        with log_file.open("ab") as log:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=None if environment is None else dict(environment),
            )
        state = _state_of(child.pid)
        return Process(child.pid, state[0] if state else 0, child)

    return _forking_thread().run(fork)


def wait_until_healthy(
    process: Process, name: str, probe: Callable[[], bool], log_file: Path, *, timeout: float = 60.0, every: float = 0.1
) -> None:
    """Return once `probe` says yes; a process that dies or stays unhealthy is reported with the end of its log."""

    def healthy() -> bool:
        if not process.alive():
            raise LabError(f"{name} ended while starting. {log_end(log_file)}")
        return probe()

    try:
        until(healthy, f"{name} to become healthy", timeout=timeout, every=every)
    except LabError as problem:
        if process.alive():
            raise LabError(f"{problem}. {log_end(log_file)}") from problem
        raise


def stop(processes: Iterable[Process], patience: float = STOP_PATIENCE) -> None:
    """End the processes: SIGTERM to all, SIGKILL to those still there after `patience` seconds, and wait for them."""
    remaining = [process for process in processes if process.alive()]
    for process in remaining:
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # a suspended process cannot act on SIGTERM
    remaining = _still_alive_after(remaining, patience)
    for process in remaining:
        process.signal(signal.SIGKILL)
    stuck = _still_alive_after(remaining, 10.0)
    if stuck:
        raise LabError(f"could not end the processes {[process.pid for process in stuck]}; look at them with ps")


def runs(pid: int) -> bool:
    """Whether a process with this pid runs; a dead one that nobody has buried does not."""
    state = _state_of(pid)
    return state is not None and state[1]


def log_end(log_file: Path, lines: int = 15) -> str:
    """The last lines of a log, with its name in front, for error messages."""
    try:
        text = log_file.read_text(errors="replace")
    except FileNotFoundError:
        return f"There is no log at {log_file}."
    return f"The end of {log_file}:\n" + "\n".join(f"  {line}" for line in text.splitlines()[-lines:])


def _still_alive_after(processes: list[Process], seconds: float) -> list[Process]:
    deadline = time.monotonic() + seconds
    while processes and time.monotonic() < deadline:
        time.sleep(0.02)
        processes = [process for process in processes if process.alive()]
    return processes


def _state_of(pid: int) -> tuple[int, bool] | None:
    """Start time of a process and whether it still runs (a zombie does not); None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()  # the command name before may itself hold blanks and brackets
    return int(fields[19]), fields[0] not in ("Z", "X")


class _ForkingThread:
    """The one thread that forks.

    The kernel kills a child when the thread that forked it ends, not only with the process. A test that restarts a
    component from a worker thread must not lose it when that thread ends, so all forks happen in a thread that never
    ends.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Process], Future[Process]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="lab-forks", daemon=True).start()

    def run(self, job: Callable[[], Process]) -> Process:
        result: Future[Process] = Future()
        self._jobs.put((job, result))
        return result.result()

    def _work(self) -> None:
        while True:
            job, result = self._jobs.get()
            try:
                result.set_result(job())
            except BaseException as problem:
                result.set_exception(problem)


_the_forking_thread: dict[int, _ForkingThread] = {}  # by pid: a forked copy of us has none of our threads
_choosing = threading.Lock()


def _forking_thread() -> _ForkingThread:
    with _choosing:
        if os.getpid() not in _the_forking_thread:
            _the_forking_thread[os.getpid()] = _ForkingThread()
        return _the_forking_thread[os.getpid()]
