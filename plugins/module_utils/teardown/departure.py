# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete a set of objects and wait until every one of these uids is gone.

Room: teardown. The watch is opened before the first write, so nothing is missed. An answer, a watch event or a list may
prove that a uid is gone; nothing else does. A scope that cannot be seen proves nothing, however long it lasts.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..objects import Record, Resource, ref_to
from ..problems import Problem
from .events import Did, Progress, Tell

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.lists import Listing, Scope
    from ..kube.writes import Written


@dataclass
class Leaver:
    """One object on its way out, with its newest known metadata."""

    resource: Resource
    record: Record


@dataclass
class Departed:
    """How a departure ended."""

    gone: int = 0
    replaced: list[Leaver] = field(default_factory=list)
    refused: list[tuple[Leaver, Problem]] = field(default_factory=list)
    survivors: list[Leaver] = field(default_factory=list)
    blind: dict[str, Problem] = field(default_factory=dict)


class Departure:
    """Books over who is still there. Fed by watching threads and by the answers to our own writes."""

    def __init__(self, leavers: Iterable[Leaver], clock: Clock) -> None:
        self._pending = {leaver.record.uid: leaver for leaver in leavers}
        self._total = len(self._pending)
        self._clock = clock
        self._moved = threading.Condition()
        self._blind: dict[str, Problem] = {}
        self.outcome = Departed()

    # -- told by whoever watches ---------------------------------------------------------------------------------------

    def changed(self, scope: Scope, record: Record) -> None:
        leaver = self._pending.get(record.uid)
        if leaver is not None:
            leaver.record = record

    def vanished(self, scope: Scope, record: Record) -> None:
        self._strike_off(record.uid)

    def listed(self, listing: Listing) -> None:
        self._blind.pop(str(listing.scope), None)
        here = {record.uid: record for record in listing.records}
        for uid, leaver in list(self._pending.items()):
            if uid in here:
                leaver.record = here[uid]
            elif _covers(listing.scope, leaver):
                self._strike_off(uid)

    def blinded(self, scope: Scope, problem: Problem) -> None:
        self._blind[str(scope)] = problem

    # -- told by whoever writes ----------------------------------------------------------------------------------------

    def wrote(self, leaver: Leaver, written: Written) -> None:
        uid = leaver.record.uid
        if written.gone:
            self._strike_off(uid)
        elif written.replaced:
            if self._strike_off(uid, count=False):
                self.outcome.replaced.append(leaver)
        elif written.problem is not None:
            if self._strike_off(uid, count=False):
                self.outcome.refused.append((leaver, written.problem))
        elif written.record is not None:
            leaver.record = written.record

    # -- asked by whoever waits ----------------------------------------------------------------------------------------

    def wait(self, deadline: Deadline, stop: StopSign, tick: Callable[[Departure], None]) -> Departed:
        """Until nobody is left, the time is over or somebody wishes to stop. `tick` is called about once a second."""
        while True:
            with self._moved:
                if self._pending and not deadline.passed() and not stop.is_set():
                    self._clock.wait(self._moved, min(1.0, deadline.left()))
                over = not self._pending or deadline.passed() or stop.is_set()
            tick(self)
            if over:
                break
        self.outcome.survivors = list(self._pending.values())
        self.outcome.blind = dict(self._blind)
        return self.outcome

    def progress(self, step: str, deadline: Deadline) -> Progress:
        waiting: Counter[str] = Counter()
        for leaver in list(self._pending.values()):
            waiting[", ".join(leaver.record.finalizers) or "no finalizer"] += 1
        left = len(self._pending)
        return Progress(step, self._total - left, self._total, deadline.left(), dict(waiting.most_common(3)))

    def _strike_off(self, uid: str, *, count: bool = True) -> bool:
        with self._moved:
            known = self._pending.pop(uid, None) is not None
            if known and count:
                self.outcome.gone += 1
            if not self._pending:
                self._moved.notify_all()
            return known


def _covers(scope: Scope, leaver: Leaver) -> bool:
    """Would this list have shown the object, if it were there?"""
    same_kind = (scope.resource.group, scope.resource.plural) == (leaver.resource.group, leaver.resource.plural)
    return same_kind and scope.namespace in (None, leaver.record.namespace)


def delete_and_wait(
    listings: Iterable[Listing],
    leavers: list[Leaver],
    cluster: Cluster,
    clock: Clock,
    stop: StopSign,
    deadline: Deadline,
    tell: Tell,
    *,
    step: str = "delete",
) -> Departed:
    """The whole of it: follow, delete in parallel what is not yet terminating, wait for every uid."""
    departure = Departure(leavers, clock)

    def send(leaver: Leaver) -> None:
        written = cluster.delete(leaver.resource, leaver.record)
        departure.wrote(leaver, written)
        tell(Did("delete", ref_to(leaver.resource, leaver.record), written.effect.value))

    with cluster.following(listings, departure):
        # A second DELETE on a terminating object can put foregroundDeletion back and block it for good.
        cluster.for_each([leaver for leaver in leavers if not leaver.record.terminating], send)
        return departure.wait(deadline, stop, lambda now: tell(now.progress(step, deadline)))
