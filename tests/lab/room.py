# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A room for a node: mounts and processes that nobody outside sees.

A node mounts a lot, scatters files and leaves processes that outlive their parent. In here all of that hangs on one
process, the room's first: when it ends, however it ends, the kernel ends every process inside and drops every mount.
The network is the machine's own, so that pods can be reached from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lab import furnish, processes
from lab.waiting import until


class Room:
    """An open room. Commands run `inside` it; `close` ends everything in it."""

    def __init__(self, directory: Path) -> None:
        log = directory / "room.log"
        command = ["unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc"]
        first = [sys.executable, "-I", "-S", str(Path(furnish.__file__).resolve()), str(directory)]
        self._door = processes.start([*command, *first], log)
        try:
            processes.wait_until_healthy(self._door, "the node's room", (directory / furnish.READY).exists, log)
        except BaseException:
            processes.stop([self._door], patience=0)
            raise
        self._first = int(Path(f"/proc/{self._door.pid}/task/{self._door.pid}/children").read_text())

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` in the room."""
        spaces = f"/proc/{self._door.pid}/ns"
        return ["nsenter", f"--mount={spaces}/mnt", f"--pid={spaces}/pid_for_children", "--", *command]

    def close(self) -> None:
        """End every process in the room and wait until the last one is gone. Closing twice is fine."""
        processes.stop([self._door], patience=0)
        # The kernel lets the first process go only after all the others.
        until(lambda: not processes.runs(self._first), "the node's processes to end", every=0.02)
