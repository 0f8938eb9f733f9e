# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Time, and the wish to stop, as arguments: nobody below the fronts reads the machine's clock or sleeps by himself.

Shared by every room and private to the collection.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from .problems import Interrupted

_TURN = 0.1  # seconds until a sleeper looks at the stop sign again


class Clock(Protocol):
    """Monotonic seconds for deadlines; ages of objects use the server's time instead."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        """Wait on a held condition for at most so long; the caller looks again at what he waits for."""


class RealClock:
    """The machine's own time. `sleep` ends early when somebody wishes to stop."""

    def __init__(self, stop: StopSign | None = None) -> None:
        self._stop = stop or StopSign()

    def now(self) -> float:
        return time.monotonic()

    def date(self) -> str:
        """For records people read: RFC 3339, UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def sleep(self, seconds: float) -> None:
        self._stop.wait(seconds)

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        # Short turns, because a stop sign set in a signal handler cannot notify this condition.
        condition.wait(min(seconds, 0.5))


class StopSign:
    """Raised once (SIGTERM, SIGINT): no further write is sent, waits end, the run still reports.

    Without any lock: a signal handler runs in the middle of whatever the main thread does, and a lock that the thread
    holds just then would never be free again. `threading.Event` has one.
    """

    def __init__(self) -> None:
        self._is_set = False
        self.reason = ""

    def set(self, reason: str) -> None:
        self.reason = self.reason or reason
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._is_set and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _TURN))

    def raise_if_set(self) -> None:
        if self.is_set():
            raise self.interrupted()

    def interrupted(self, also: str = "") -> Interrupted:
        return Interrupted(
            what="stopped",
            why=f"{self.reason}; {also}" if also else self.reason,
            next_step="run the same task again: it goes on where this one stopped",
        )


class Deadline:
    """A point in time of one clock, and what is left until then."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock = clock
        self.seconds = seconds
        self._end = clock.now() + seconds

    def left(self) -> float:
        return max(0.0, self._end - self.clock.now())

    def passed(self) -> bool:
        return self.clock.now() >= self._end
