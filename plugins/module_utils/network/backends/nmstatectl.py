# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state by nmstatectl, the net below it by a checkpoint of NetworkManager that we hold ourselves.

Room: network, backends.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from ..guard import profiles
from .ip_command import CannotApply
from .under_checkpoint import UnderCheckpoint, listed, refuse_beside_others

_TIMEOUT = 120.0


class Nmstatectl(UnderCheckpoint):
    name = "nmstatectl"

    @staticmethod
    def is_there() -> bool:
        return shutil.which("nmstatectl") is not None and profiles.is_running()

    def capture(self) -> Mapping[str, Any]:
        # The running configuration: what a lease has brought does not look as if somebody had configured it.
        found: Mapping[str, Any] = json.loads(self._run(["show", "--running-config", "--show-secrets", "--json"]))
        return found

    def apply(self, state: Mapping[str, Any], seconds: float) -> str:
        """nmstatectl leaves its checkpoint behind, to be dropped or rolled back by its path."""
        refuse_beside_others()
        self._run(["apply", "--no-commit", "--timeout", str(int(seconds) + 1)], json.dumps(state))
        return next(iter(listed()), "")

    def _run(self, words: list[str], given: str = "") -> str:
        try:
            done = subprocess.run(
                ["nmstatectl", *words], input=given, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise CannotApply("nmstatectl does not work", why=str(problem)) from problem
        if done.returncode:
            raise CannotApply(f"nmstatectl {words[0]} was refused", why=_short(done.stderr))
        return done.stdout


def _short(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and "INFO" not in line and "DEBUG" not in line]
    return " ".join(lines[-5:])[:600]
