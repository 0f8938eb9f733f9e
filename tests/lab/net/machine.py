# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine of the lab's network: a sandbox with a network of its own, and the programs that run in it."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import processes
from lab.net import ask
from lab.problems import LabError
from lab.processes import Process
from lab.sandbox import Sandbox, SandboxSpec

TCP_LISTENS, UDP_LISTENS = "0A", "07"  # how /proc/net calls a socket that waits
STATES = {"tcp": TCP_LISTENS, "udp": UDP_LISTENS}
PATIENCE = 60.0  # seconds for a command


class Machine:
    """A machine that is on from the start and until `switch_off`."""

    def __init__(self, name: str, directory: Path, spec: SandboxSpec, *, within: Sandbox | None = None) -> None:
        self.name = name
        self.directory = directory
        self._spec = spec
        self._within = within
        self._running: dict[str, Process] = {}
        directory.mkdir(exist_ok=True)
        self.sandbox = Sandbox(directory, spec, within=within)

    def switch_off(self) -> None:
        """As by the power switch: every process is gone at once. Doing it twice is fine."""
        self.sandbox.close()
        processes.stop(self._running.values(), patience=0)  # what led them in
        self._running.clear()

    def switch_on(self) -> None:
        """Start the sandbox again, with what is on its disk and with nothing running or plugged in."""
        self.sandbox = Sandbox(self.directory, self._spec, within=self._within)

    # -- commands and files ------------------------------------------------------------------------------------------

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` on this machine, for those who start it themselves."""
        return self.sandbox.inside(command)

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout: float = PATIENCE,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on this machine to its end. With `check`, a failure is a LabError that says what it said."""
        done = subprocess.run(
            self.inside(command),
            input=stdin,
            capture_output=True,
            text=True,
            env=dict(self.environment() if env is None else env),
            timeout=timeout,
            check=False,
        )
        if check and done.returncode:
            raise LabError(f"`{' '.join(command)}` failed on {self.name}: {(done.stderr or done.stdout).strip()}")
        return done

    def environment(self) -> Mapping[str, str]:
        """What commands find in their environment."""
        return os.environ

    def path(self, inside: str) -> Path:
        """A file of this machine, to be read or written from outside."""
        return self.sandbox.root / inside.lstrip("/")

    def ip(self, *arguments: str) -> list[dict[str, Any]]:
        """What `ip` answers, parsed."""
        answer = self.run(["ip", "-json", "-details", *arguments], check=True).stdout
        return [entry for entry in json.loads(answer or "[]") if entry]  # it leaves {} for what it filtered out

    # -- looking at the network from here ----------------------------------------------------------------------------

    def pings(self, address: str) -> bool:
        """Whether an address answers an echo request from here."""
        return bool(self._ask("echo", address))

    def resolve(self, name: str, server: str) -> list[str] | None:
        """The IPv4 addresses this resolver tells us for a name; None when it does not answer."""
        return self._ask("name", name, server)

    def fetch(self, url: str) -> int | None:
        """The status a web server answers us with; None when it does not."""
        return self._ask("page", url)

    def _ask(self, *question: str) -> Any:
        command = [sys.executable, "-I", "-S", str(Path(ask.__file__).resolve()), *question]
        return json.loads(self.run(command, check=True).stdout)

    # -- programs ----------------------------------------------------------------------------------------------------

    def log(self, program: str) -> Path:
        return self.directory / f"{program}.log"

    @property
    def programs(self) -> list[str]:
        """The names of the programs we started that run now."""
        return [name for name, process in self._running.items() if process.alive()]

    def start(self, program: str, command: Sequence[str], ready: Callable[[], bool]) -> None:
        """Start a program that stays, and wait until it is ready. Starting one that runs is fine."""
        if program in self.programs:
            return
        process = processes.start(self.inside(command), self.log(program), environment=self.environment())
        self._running[program] = process
        processes.wait_until_healthy(process, f"{program} on {self.name}", ready, self.log(program), every=0.02)

    def kill(self, program: str) -> None:
        """End a program at once, as a crash would. Killing one that does not run is fine."""
        if program in self._running:
            processes.stop([self._running.pop(program)], patience=0)

    def listens(self, protocol: str, port: int, address: str = "0.0.0.0") -> bool:
        """Whether somebody waits here for IPv4 packets to this port."""
        lines = (self.sandbox.root / "proc/1/net" / protocol).read_text().splitlines()[1:]
        entries = [line.split() for line in lines]
        return (address, port) in _sockets(entry[1] for entry in entries if entry[3] == STATES[protocol])


def _sockets(local: Iterable[str]) -> set[tuple[str, int]]:
    """Addresses and ports out of the kernel's spelling: 0100007F:0016 is 127.0.0.1, port 22."""
    pairs = (entry.split(":") for entry in local)
    return {(socket.inet_ntoa(struct.pack("=I", int(address, 16))), int(port, 16)) for address, port in pairs}


def run_out_here(command: Sequence[str], stdin: str = "") -> str:
    """Run a command of ours and return what it said; a failure is a LabError with what it complained about."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        raise LabError(f"`{' '.join(command)}` failed: {done.stderr.strip()}. It was told:\n{stdin}")
    return done.stdout
