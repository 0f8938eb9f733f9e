# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the machine somebody else used while we measured. A measurement in a crowd says little."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
_LONGEST_WAIT = 60.0


class Bystanders:
    """From now on, until `share` is asked. `ours` are the processes that belong to the measurement and stay alive."""

    def __init__(self, ours: Iterable[int]) -> None:
        self._ours = [os.getpid(), *ours]
        self._began = time.monotonic()
        self._busy, self._known = _busy_seconds(), _seconds_of(self._ours)

    def share(self, child_seconds: float) -> float:
        """Others' part of all processor time, 0 to 1. `child_seconds` is what the measured process itself took."""
        possible = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        known = _seconds_of(self._ours) - self._known + child_seconds
        others = _busy_seconds() - self._busy - known
        return min(1.0, max(0.0, others / possible))


class Patience:
    """The seconds a whole run may spend waiting for others to finish."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait_for_calm(self, share: float) -> None:
        """Return when others use no more than this share of the machine, or after a minute, or when all is spent."""
        began = time.monotonic()
        most = min(self._left, _LONGEST_WAIT)
        while time.monotonic() - began < most:
            moment = Bystanders(())
            time.sleep(1.0)
            if moment.share(0.0) <= share:
                break
        self._left -= time.monotonic() - began


def _busy_seconds() -> float:
    """All processor time of this machine that was not idle; what the host took away from it (steal) counts."""
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_guests = map(int, _first_line(Path("/proc/stat"))[1:])
    return (user + nice + system + irq + softirq + steal) / TICKS


def _seconds_of(pids: Iterable[int]) -> float:
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(after_name[11]) + int(after_name[12])
    return total / TICKS


def _first_line(file: Path) -> list[str]:
    with file.open() as lines:
        return lines.readline().split()
