# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sandbox for a node: mounts and processes that nobody outside sees, and a network of its own where that is wanted.

A node mounts a lot, scatters files and leaves processes that outlive their parent. In here all of that hangs on one
process, its init: when that ends, however it ends, the kernel ends every process inside and drops every mount,
interface and route.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab import processes, sandbox_init
from lab.waiting import until


@dataclass(frozen=True)
class SandboxSpec:
    """How a sandbox differs from the machine around it."""

    overlays: Sequence[str] = ()  # directories that are seen as they are and keep what is written to themselves
    hidden: Sequence[str] = ()  # below them, not seen unless it is written anew
    forgotten: Sequence[str] = ()  # those of them that start anew each time
    empty: Sequence[str] = ()
    disk: Path | None = None  # where what is written is kept, and found again; None: gone with the sandbox
    network: bool = False  # without: the machine's own network
    hostname: str = ""
    stand_ins: Mapping[str, int] = field(default_factory=dict)  # below /proc/sys, written in vain
    settings: Mapping[str, int] = field(default_factory=dict)  # below /proc/sys/net, for a network of our own

    def as_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), default=str)


class Sandbox:
    """A running sandbox. Commands run `inside` it; `close` ends everything in it."""

    def __init__(self, directory: Path, spec: SandboxSpec, *, within: Sandbox | None = None) -> None:
        """Start a sandbox that keeps its log in the directory. `within`: it sees the mounts of that sandbox."""
        log = directory / "sandbox.log"
        (directory / sandbox_init.READY).unlink(missing_ok=True)
        self._own = {"mount": "mnt", **({"net": "net", "uts": "uts"} if spec.network else {})}
        command = ["unshare", *(f"--{space}" for space in self._own), "--propagation=private"]
        command += ["--pid", "--fork", "--kill-child", "--mount-proc"]
        first = [sys.executable, "-I", "-S", str(Path(sandbox_init.__file__).resolve()), str(directory), spec.as_json()]
        self._unshare = processes.start([*(within.mounts() if within else ()), *command, *first], log)
        try:
            processes.wait_until_healthy(
                self._unshare, "the sandbox", (directory / sandbox_init.READY).exists, log, every=0.01
            )
        except BaseException:
            processes.stop([self._unshare], patience=0)
            raise
        self.first = int(Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text())

    @property
    def root(self) -> Path:
        """The root directory as it is seen inside. Beware of links in it: an absolute one leads outside."""
        return Path(f"/proc/{self.first}/root")

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` in the sandbox."""
        return self._enter({**self._own, "pid": "pid_for_children"}, command)

    def in_network(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` out here, but in the sandbox's network."""
        return self._enter({"net": "net"}, command)

    def mounts(self) -> list[str]:
        """What to put before a command so that it sees the sandbox's mounts."""
        return self._enter({"mount": "mnt"}, ())

    def close(self) -> None:
        """End every process in the sandbox and wait until the last one is gone. Closing twice is fine."""
        if self._unshare.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.first, signal.SIGKILL)
            # The kernel lets the first process go only after all the others; `unshare` then ends by itself.
            until(lambda: not self._unshare.alive(), "the processes of the sandbox to end", every=0.01)

    def _enter(self, spaces: Mapping[str, str], command: Sequence[str]) -> list[str]:
        home = f"/proc/{self._unshare.pid}/ns"
        return ["nsenter", *(f"--{space}={home}/{file}" for space, file in spaces.items()), "--", *command]
