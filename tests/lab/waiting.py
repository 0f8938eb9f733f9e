# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's only polling loop: every wait has a deadline and says what it waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from lab.problems import LabError

Found = TypeVar("Found")
PATIENCE = 120.0  # seconds: only what fails takes so long; a busy machine may take a while


def until(look: Callable[[], Found | None], what: str, *, timeout: float = PATIENCE, every: float = 0.1) -> Found:
    """Call `look` until it returns something true and return that; LabError once `timeout` seconds are over."""
    deadline = time.monotonic() + timeout
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() >= deadline:
            raise LabError(f"waited {timeout:g} s in vain for {what}")
        time.sleep(every)
