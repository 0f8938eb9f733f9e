# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One brake for all workers: an overloaded API server is heard by everybody, not only by whom it told.

Room: kube. A 429 or 503 with Retry-After pauses every worker and halves how many may send at once; twenty calm
rounds let one more in again. Nothing is limited before the server complains.
"""

from __future__ import annotations

import threading

from ..clock import Clock, StopSign

# Each complaint costs everybody a second: go back up slowly.
_CALM_ROUNDS = 20


class Brake:
    def __init__(self, clock: Clock, most: int, stop: StopSign) -> None:
        self._clock = clock
        self._stop = stop
        self._most = most
        self._allowed = most
        self._sending = 0
        self._calm = 0
        self._paused_until = 0.0
        self._free = threading.Condition()
        self.throttled_seconds = 0.0

    def enter(self) -> None:
        """Wait until the pause is over and there is a place to send from."""
        while True:
            with self._free:
                pause = self._paused_until - self._clock.now()
                # Nobody waits any more after the stop sign: writes end at it, and the last reads may go.
                if self._stop.is_set() or (pause <= 0 and self._sending < self._allowed):
                    self._sending += 1
                    return
                if pause <= 0:
                    self._clock.wait(self._free, 1.0)
                    continue
            self._clock.sleep(pause)

    def leave(self) -> None:
        with self._free:
            self._sending -= 1
            if self._allowed < self._most:
                self._calm += 1
                if self._calm >= self._allowed * _CALM_ROUNDS:
                    self._calm = 0
                    self._allowed += 1
            self._free.notify_all()

    def complain(self, pause: float) -> None:
        """The server asked for a pause of so many seconds."""
        with self._free:
            now = self._clock.now()
            until = now + pause
            if until > self._paused_until:
                # Workers told in the same moment share one pause; only its growth counts.
                self.throttled_seconds += until - max(now, self._paused_until)
                if now >= self._paused_until:
                    self._allowed = max(1, self._allowed // 2)
                self._paused_until = until
            self._calm = 0
