# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command that dies with the process that started it.

Run: python die_with_parent.py PARENT_PID COMMAND ARGS...

The kernel sends the signal (PR_SET_PDEATHSIG), so it works even when the parent is killed and cannot clean up. It is
set here, between fork and exec, instead of in a `preexec_fn`: running Python in a forked copy of a process with threads
can hang. Elsewhere than on Linux the command simply runs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1


def die_with_parent(command: Sequence[str]) -> list[str]:
    """The command line that runs `command` so that the kernel kills it when the thread that forks it ends."""
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(os.getpid()), *command]


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the signal was set: nobody would ever stop this command
        sys.exit(f"die_with_parent: process {parent} is gone, not starting {command[0]}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
