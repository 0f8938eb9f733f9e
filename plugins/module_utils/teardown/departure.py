# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete a set of objects and wait until every one of these uids is gone.

Room: teardown. The watch is opened before the first write, so nothing is missed. An answer, a watch event or a list may
prove that a uid is gone; nothing else does. A scope that cannot be seen proves nothing, however long it lasts.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..events import Did, Progress, Tell
from ..objects import ObjectRef, Record, Resource, ref_to
from ..problems import Interrupted, Problem

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.lists import Listing, Scope
    from ..kube.writes import Written


@dataclass
class Leaver:
    """One object on its way out, with its newest known metadata."""

    resource: Resource
    record: Record

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)


@dataclass
class Departed:
    """How a departure ended, for those it was about."""

    gone: int = 0
    by_others: list[Leaver] = field(default_factory=list)  # of these: what another client has deleted
    replaced: list[Leaver] = field(default_factory=list)
    refused: list[tuple[Leaver, Problem]] = field(default_factory=list)
    survivors: list[Leaver] = field(default_factory=list)
    blind: dict[str, Problem] = field(default_factory=dict)


class Departure:
    """Books over who is still there. Fed by watching threads and by the answers to our own writes.

    Many may be in the books while only some are waited for: those of the step whose turn it is.
    """

    def __init__(self, leavers: Iterable[Leaver], clock: Clock, by_us: Iterable[str] = ()) -> None:
        self._pending = {leaver.record.uid: leaver for leaver in leavers}
        self._awaited = set(self._pending)
        self._total = self._left = len(self._awaited)
        self._clock = clock
        self._moved = threading.Condition()
        self._blind: dict[str, Problem] = {}
        self._replaced: dict[str, Leaver] = {}
        self._refused: dict[str, tuple[Leaver, Problem]] = {}
        self._given_up = False
        self.by_us = set(by_us)  # uids that were deleted by our own request
        self._struck: dict[str, Leaver] = {}

    def expect(self, leavers: Iterable[Leaver]) -> None:
        """From now on `wait` is about these. Who is not in the books any more is gone already."""
        with self._moved:
            self._awaited = {leaver.record.uid for leaver in leavers}
            self._total = len(self._awaited)
            self._left = len(self._awaited & self._pending.keys())
            self._given_up = False

    def enter(self, leavers: Iterable[Leaver]) -> None:
        """Keep books on these as well, found later."""
        with self._moved:
            for leaver in leavers:
                self._pending.setdefault(leaver.record.uid, leaver)

    def forget(self, leaver: Leaver) -> None:
        """It is kept after all: nobody waits for it, and it is not counted as gone."""
        with self._moved:
            if leaver.record.uid in self._awaited:
                self._awaited.discard(leaver.record.uid)
                self._total -= 1
                self._left -= leaver.record.uid in self._pending
            self._pending.pop(leaver.record.uid, None)

    def is_here(self, leaver: Leaver) -> bool:
        return leaver.record.uid in self._pending

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

    def deleted(self, leaver: Leaver, written: Written) -> None:
        """The answer to a DELETE of ours. ALREADY means that another client was faster."""
        if written.changed:
            self.by_us.add(leaver.record.uid)
        self.wrote(leaver, written)

    def refuse(self, leaver: Leaver, problem: Problem) -> None:
        """It is not deleted, and the run has failed."""
        self._refused[leaver.record.uid] = (leaver, problem)
        self._strike_off(leaver.record.uid)

    def wrote(self, leaver: Leaver, written: Written) -> None:
        uid = leaver.record.uid
        if written.gone:
            self._strike_off(uid)
        elif written.replaced:
            self._replaced[uid] = leaver  # before striking off: that may wake whoever counts
            self._strike_off(uid)
        elif written.problem is not None:
            self.refuse(leaver, written.problem)
        elif written.record is not None:
            leaver.record = written.record

    # -- asked by whoever waits ----------------------------------------------------------------------------------------

    def pending(self) -> list[Leaver]:
        """Those waited for that are still there."""
        with self._moved:
            return [self._pending[uid] for uid in self._awaited if uid in self._pending]

    def give_up(self) -> None:
        """There is no use in waiting for those that are left. Told by `tick`."""
        self._given_up = True

    def wait(self, deadline: Deadline, stop: StopSign, tick: Callable[[Departure], None]) -> Departed:
        """Until nobody is left, the time is over or somebody wishes to stop. `tick` is called about once a second."""
        while True:
            with self._moved:
                if self._left > 0 and not deadline.passed() and not stop.is_set():
                    self._clock.wait(self._moved, min(1.0, deadline.left()))
                over = self._left <= 0 or deadline.passed() or stop.is_set()
            tick(self)
            if over or self._given_up:
                break
        survivors = self.pending()
        replaced = [leaver for uid, leaver in self._replaced.items() if uid in self._awaited]
        refused = [entry for uid, entry in self._refused.items() if uid in self._awaited]
        return Departed(
            gone=self._total - len(survivors) - len(replaced) - len(refused),
            by_others=self._deleted_by_others({*self._replaced, *self._refused}),
            replaced=replaced,
            refused=refused,
            survivors=survivors,
            blind=dict(self._blind),
        )

    def _deleted_by_others(self, without: set[str]) -> list[Leaver]:
        """What we deleted takes its dependants along: those count as ours."""
        gone = {uid: self._struck[uid] for uid in self._awaited if uid in self._struck and uid not in without}
        return [
            leaver
            for uid, leaver in gone.items()
            if uid not in self.by_us and not self.by_us.intersection(self._above(leaver))
        ]

    def _above(self, leaver: Leaver) -> Iterator[str]:
        """Its owners and theirs, as far as they are in the books."""
        seen: set[str] = set()
        queue = list(leaver.record.owner_uids)
        while queue:
            uid = queue.pop()
            if uid not in seen:
                seen.add(uid)
                yield uid
                above = self._struck.get(uid) or self._pending.get(uid)
                queue += above.record.owner_uids if above else ()

    def progress(self, step: str, deadline: Deadline, note: Callable[[Record], str] | None = None) -> Progress:
        """How far it is. `note` says in words what holds an object."""
        left = self.pending()
        waiting = Counter((note or what_holds)(leaver.record) for leaver in left)
        return Progress(step, self._total - len(left), self._total, deadline.left(), dict(waiting.most_common(3)))

    def _strike_off(self, uid: str) -> bool:
        with self._moved:
            leaver = self._pending.pop(uid, None)
            known = leaver is not None
            if leaver is not None:
                self._struck[uid] = leaver
            # The common case is cheap: whoever is not waited for, or not the last, wakes nobody.
            if known and uid in self._awaited:
                self._left -= 1
                if self._left <= 0:
                    self._moved.notify_all()
            return known


def what_holds(record: Record) -> str:
    return ", ".join(record.finalizers) or "the API server"


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
        if stop.is_set() or deadline.passed():
            return
        written = cluster.delete(leaver.resource, leaver.record)
        departure.deleted(leaver, written)
        tell(Did("delete", leaver.ref, written.effect.value))

    with cluster.following(listings, departure):
        # A second DELETE on a terminating object can put foregroundDeletion back and block it for good.
        with contextlib.suppress(Interrupted):  # what was done until then is reported
            cluster.for_each([leaver for leaver in leavers if not leaver.record.terminating], send)
        return departure.wait(deadline, stop, lambda now: tell(now.progress(step, deadline)))
