# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-playbook without its start-up: one process imports Ansible and the collection, and forks for each run.

A start of ansible-playbook costs about a second of CPU, most of it imports and the compiling of the collection's
modules, for which Ansible keeps no bytecode. A fork runs the same `PlaybookCLI` with the arguments, environment and
directory of the run, in the namespaces that an `nsenter` before it names. Settings that Ansible reads while it is
imported must be those of the process that forks; a run with others is started as a program of its own, and so is the
first with any settings.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from lab.die_with_parent import PR_SET_PDEATHSIG

JOBS = "ansible_collections.sunset.kube.plugins.module_utils.jobs"
# Read for each task or each connection, not while Ansible is imported.
READ_LATER = {"ANSIBLE_REMOTE_TEMP", "ANSIBLE_ASYNC_DIR"}
# Where Ansible keeps modules that it has packed for shipping: once for all runs.
PACKED = "ansiballz_cache"
# Actions of Ansible's own that our playbooks and roles use most.
BUILT_IN = ("assert", "command", "debug", "fail", "include_tasks", "normal", "set_fact", "validate_argument_spec")
# Open in every process of a run, on its directory: the environment that the kernel shows is that of the first process.
MARK = 250
REQUEST_BYTES = 1 << 20


class Forked:
    """A run under way: what `subprocess.Popen` is for a program."""

    def __init__(self, ending: socket.socket) -> None:
        self._ending = ending.makefile("r")
        ending.close()
        self.pid = int(self._ending.readline())
        self.returncode: int | None = None
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="preloaded-ending", daemon=True).start()

    def poll(self) -> int | None:
        return self.returncode if self._over.is_set() else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired("ansible-playbook", timeout or 0.0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _watch(self) -> None:
        # Nothing is said when the process that waits for it is killed; it takes the run with it.
        self.returncode = int(self._ending.readline() or -signal.SIGKILL)
        self._ending.close()
        self._over.set()


class Preloaded:
    """The process that has imported everything."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # It ends when the socket is closed, also by our death.
        command = [sys.executable, "-m", "integration.preloaded", str(theirs.fileno())]
        of_no_run = {key: value for key, value in environment.items() if key != "RECORD_RESULTS"}
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=of_no_run, pass_fds=[theirs.fileno()])
        theirs.close()
        self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_BYTES)
        atexit.register(self.close)

    def run(self, command: Sequence[str], directory: Path, environment: Mapping[str, str], output: IO[bytes]) -> Forked:
        ours, theirs = socket.socketpair()
        namespaces, program = _namespaces_of(command)
        request = {
            "command": program,
            "namespaces": namespaces,
            "directory": str(directory),
            "environment": dict(environment),
        }
        with theirs:
            given = array.array("i", [output.fileno(), theirs.fileno()])
            self._requests.sendmsg([json.dumps(request).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
        return Forked(ours)

    def close(self) -> None:
        self._requests.close()  # the end of its work
        self._process.wait()


_by_settings: dict[str, Preloaded | None] = {}


def start(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes] | Forked:
    """Start an ansible-playbook, or any other program. What it prints goes to `output`."""
    if Path(_namespaces_of(command)[1][0]).name == "ansible-playbook":
        settings = _read_on_import(environment)
        if settings in _by_settings:
            ready = _by_settings[settings] or Preloaded(environment)
            _by_settings[settings] = ready
            return ready.run(command, directory, environment, output)
        _by_settings[settings] = None
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=dict(environment), cwd=directory
    )


def _namespaces_of(command: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files of the namespaces that `nsenter` would enter, and the program that it would start there."""
    if command[0] != "nsenter":
        return [], list(command)
    end = command.index("--")
    return [option.partition("=")[2] for option in command[1:end]], list(command[end + 1 :])


def _read_on_import(environment: Mapping[str, str]) -> str:
    prefixes = ("ANSIBLE_", "PYTHON", "LANG", "LC_", "NO_COLOR", "TERM", "COLUMNS", "HOME", "PATH")
    read = {key: value for key, value in environment.items() if key.startswith(prefixes) and key not in READ_LATER}
    return json.dumps(read, sort_keys=True)


# -- in the process that forks ---------------------------------------------------------------------------------------


def serve(requests: socket.socket) -> None:
    _import_everything()
    gc.collect()
    gc.freeze()
    gc.disable()  # a run is short, and a collection would copy every page
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the tests; they close the socket
    while True:
        data, handles, _flags, _address = socket.recv_fds(requests, REQUEST_BYTES, 2)
        _reap()
        if not data:
            return
        if os.fork() == 0:
            requests.close()
            _wait_for_one(json.loads(data), *handles)
        for handle in handles:
            os.close(handle)


def _wait_for_one(request: Mapping[str, Any], output: int, ending: int) -> None:
    """Start the run, say its number, and how it ended."""
    _die_with_parent()
    _enter(request["namespaces"])
    child = os.fork()
    if child == 0:
        os.close(ending)
        _die_with_parent()
        _run(request, output)
    os.close(output)
    os.write(ending, f"{child}\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(ending, f"{status}\n".encode())
    os._exit(0)


def _run(request: Mapping[str, Any], output: int) -> None:
    from ansible import constants
    from ansible.cli import playbook
    from ansible.utils.path import cleanup_tmp_file

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.dup2(os.open(request["directory"], os.O_RDONLY), MARK)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    atexit.unregister(cleanup_tmp_file)  # of the directory that all forks would share
    packed = Path(constants.DEFAULT_LOCAL_TMP, PACKED)
    constants.DEFAULT_LOCAL_TMP = tempfile.mkdtemp(
        prefix="ansible-local-", dir=Path(constants.DEFAULT_LOCAL_TMP).parent
    )
    atexit.register(cleanup_tmp_file, constants.DEFAULT_LOCAL_TMP, warn=True)
    Path(constants.DEFAULT_LOCAL_TMP, PACKED).symlink_to(packed)
    sys.argv = list(request["command"])
    playbook.PlaybookCLI.cli_executor(sys.argv)


def _enter(namespaces: Sequence[str]) -> None:
    """Enter them all; that of processes counts for the next child. All are opened first: their names may be no more."""
    libc = ctypes.CDLL(None, use_errno=True)
    for handle in [os.open(file, os.O_RDONLY) for file in namespaces]:
        if libc.setns(handle, 0):
            raise OSError(ctypes.get_errno(), "a namespace cannot be entered")
        os.close(handle)


def _reap() -> None:
    """Take note of runs that have ended, and of the CPU they have used."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _import_everything() -> None:
    """What a run of one of our tasks would import, and the plugins that Ansible loads for each run."""
    from ansible import cli, constants
    from ansible.cli import playbook  # noqa: F401
    from ansible.executor import playbook_executor, task_executor, task_queue_manager  # noqa: F401
    from ansible.plugins import loader
    from ansible.plugins.callback import default  # noqa: F401
    from ansible.plugins.strategy import linear  # noqa: F401

    loader.init_plugin_loader()
    cli.init_plugin_loader = lambda _paths=None: None  # a second time is an error
    for kind in (loader.connection_loader, loader.shell_loader, loader.become_loader):
        list(kind.all(class_only=True))
    for name in constants.INVENTORY_ENABLED:
        loader.inventory_loader.get(name)
    for kind in (loader.filter_loader, loader.test_loader):
        list(kind.all())
    jobs = importlib.import_module(JOBS)
    for module in pkgutil.iter_modules(jobs.__path__, f"{JOBS}."):
        importlib.import_module(module.name)
        loader.action_loader.get(f"sunset.kube.{module.name.rpartition('.')[2]}", class_only=True)
    for name in BUILT_IN:
        loader.action_loader.get(f"ansible.builtin.{name}", class_only=True)
    Path(constants.DEFAULT_LOCAL_TMP, PACKED).mkdir()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
