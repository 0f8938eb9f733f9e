# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many clusters are dealt with at the same time. Who waits for somebody else lets another have the place.

Room: teardown.
"""

from __future__ import annotations

import threading

from ...clock import Deadline, StopSign

_TURN = 0.5  # seconds; the wish to stop, set in a signal handler, cannot notify anybody


class Places:
    def __init__(self, number: int) -> None:
        self._free = number
        self._moved = threading.Condition()

    def wait_for_one(self, deadline: Deadline, stop: StopSign) -> bool:
        """Whether there is a place now. False: the time is over, or somebody wishes to stop."""
        with self._moved:
            while self._free < 1:
                if deadline.passed() or stop.is_set():
                    return False
                self._moved.wait(_TURN)
            self._free -= 1
            return True

    def return_one(self) -> None:
        with self._moved:
            self._free += 1
            self._moved.notify()


class Place:
    """The place of one cluster, which it has or has not at the moment."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._taken = False

    def take(self, deadline: Deadline, stop: StopSign) -> bool:
        """Have it, now or when one is free. False: the time is over, or somebody wishes to stop."""
        self._taken = self._taken or self._places.wait_for_one(deadline, stop)
        return self._taken

    def give_up(self) -> None:
        if self._taken:
            self._taken = False
            self._places.return_one()
