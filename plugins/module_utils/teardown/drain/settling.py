# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is it quiet? Watches whether anybody puts the product's finalizers back.

Room: teardown. A controller that was not told of the drain, or a pod that learned it late, adds them again; only a
watch over some seconds shows that.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline, StopSign
from ...objects import Record
from ...problems import Problem
from .profile import ProfileKind, finalizers_of

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.lists import Listing, Scope

_BATCH = 0.5  # seconds between the first finalizer that came back and the next round, so that one round takes many


class Settling:
    """A listener that remembers who carries the finalizers. Those carried from the start are not news."""

    def __init__(self, kinds: dict[tuple[str, str], ProfileKind], known: set[str], clock: Clock) -> None:
        self._kinds = kinds
        self._known = known
        self._clock = clock
        self._moved = threading.Condition()
        self._blind: set[str] = set()
        self.back: dict[str, Record] = {}

    def changed(self, scope: Scope, record: Record) -> None:
        kind = self._kinds.get((scope.resource.group, scope.resource.plural))
        carries = kind is not None and bool(finalizers_of(record, kind)) and not record.terminating
        with self._moved:
            if carries and record.uid not in self._known:
                self.back[record.uid] = record
                self._moved.notify_all()
            elif not carries:
                self._known.discard(record.uid)
                self.back.pop(record.uid, None)

    def vanished(self, scope: Scope, record: Record) -> None:
        with self._moved:
            self.back.pop(record.uid, None)

    def listed(self, listing: Listing) -> None:
        self._blind.discard(str(listing.scope))
        for record in listing.records:
            self.changed(listing.scope, record)

    def blinded(self, scope: Scope, problem: Problem) -> None:
        self._blind.add(str(scope))

    def wait(self, seconds: float, stop: StopSign) -> bool:
        """Whether it stayed quiet for so long."""
        deadline = Deadline(self._clock, seconds)
        with self._moved:
            while not self.back and not deadline.passed() and not stop.is_set():
                self._clock.wait(self._moved, min(1.0, deadline.left()))
            return not self.back and not self._blind  # what cannot be seen is not quiet


def stays_quiet(
    listings: list[Listing],
    kinds: dict[tuple[str, str], ProfileKind],
    known: set[str],
    seconds: float,
    cluster: Cluster,
    clock: Clock,
    stop: StopSign,
) -> bool:
    settling = Settling(kinds, known, clock)
    with cluster.following(listings, settling):
        quiet = settling.wait(seconds, stop)
    if not quiet:
        clock.sleep(_BATCH)
    return quiet
