# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program `ip`: asked, or told what to do.

Room: network, backends.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from ...problems import CannotLook, Problem

_TIMEOUT = 30.0


class CannotApply(Problem):
    """The node said no; what was there is restored by whoever guards the change."""


def ask_ip(*words: str) -> list[dict[str, Any]]:
    done = _run(["ip", "-j", "-d", *words])
    if done.returncode:
        raise CannotLook("cannot look at the network of this node", why=done.stderr.strip() or "ip does not answer")
    listed: list[dict[str, Any]] = json.loads(done.stdout or "[]")
    return [one for one in listed if one]  # it leaves {} for what it filtered out


def tell_ip(words: Sequence[str]) -> None:
    done = _run(["ip", *words])
    if done.returncode:
        raise CannotApply("the kernel said no", which=f"to: ip {' '.join(words)}", why=done.stderr.strip())


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))
