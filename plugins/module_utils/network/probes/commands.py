# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands that only look, run to their end or to the end of their time.

Room: network (probes).
"""

from __future__ import annotations

import os
import subprocess

from ...problems import CannotLook


def output_of(command: list[str], timeout: float = 10.0) -> str:
    """What a command prints. `CannotLook` when it is missing, too slow, or says no."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=max(timeout, 0.1),
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CannotLook(
            "cannot run", which=" ".join(command), why=_why(problem), next_step=f"install {command[0]} on this node"
        ) from problem
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise CannotLook("cannot look", which=" ".join(command), why=said[0] if said else f"exit {done.returncode}")
    return done.stdout.decode(errors="replace")


def _why(problem: OSError | subprocess.TimeoutExpired) -> str:
    return "it does not come to an end" if isinstance(problem, subprocess.TimeoutExpired) else str(problem.strerror)
