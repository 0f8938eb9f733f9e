# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is there any use in waiting? Not if everybody who could let an object go is proven gone, twice, with time between.

Room: teardown. Whoever may only be restarting, who cannot be seen and who is not known counts as somebody who may come.
Looks are few: they get twice as far apart each time, so their number grows with the logarithm of the wait. Only when
somebody seems to be gone, what an explanation knows of the kind is asked for as well: he may have a successor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ..clock import Clock
from ..objects import Record, Resource
from ..problems import Problem
from ..well_known import PODS
from .blockers.ownership import custom_kinds, look_around
from .departure import Leaver
from .obstacles.finding import look_for_obstacles
from .owners import Life, OwnerFacts, Workload, candidates, controller_names, fetch_owner_facts, judge_owner

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

PATIENCE = 5.0  # seconds of waiting before the first look
BETWEEN = 6.0  # seconds between the two looks that must agree
# A leader that was not heard of for so many of its Lease's durations does not come back by itself.
_LONG_AGO = 10
_APP_LABELS = ("app", "app.kubernetes.io/name", "name")

HasRung = Callable[[Leaver], bool]


class Watchman:
    """Looks after those that one wave waits for."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._began = clock.now()
        self._next_look = self._began + PATIENCE
        self._suspects: dict[str, str] = {}  # uid → resourceVersion at the last look
        self.facts: OwnerFacts | None = None  # of the last look

    def hopeless(self, pending: Sequence[Leaver], has_rung: HasRung) -> list[Leaver]:
        """Those that two looks agree on. Between the looks, and where there is nothing to prove, nobody is asked."""
        now = self._clock.now()
        suspects = [leaver for leaver in pending if _is_only_held(leaver.record) and not has_rung(leaver)]
        if now < self._next_look or not suspects:
            return []
        found = self._with_nobody_behind(suspects)
        before, self._suspects = self._suspects, {one.record.uid: one.record.resource_version for one in found}
        # An object that was written in between has somebody who cares for it.
        proven = [one for one in found if before.get(one.record.uid) == one.record.resource_version]
        fresh = len(proven) < len(found)
        self._next_look = now + (BETWEEN if fresh else max(BETWEEN, now - self._began))
        return proven

    def _with_nobody_behind(self, suspects: Sequence[Leaver]) -> list[Leaver]:
        facts = self.facts = fetch_owner_facts(self._cluster)
        alone = _those_alone(suspects, facts)
        if alone and self._could_look_around(alone, facts):
            alone = _those_alone(alone, facts)
            held = {(name, who_set(one.record, name), one.resource) for one in alone for name in one.record.finalizers}
            return [] if held and self._is_about(held, facts) else alone
        return []

    def _could_look_around(self, alone: Sequence[Leaver], facts: OwnerFacts) -> bool:
        """Who else may change these kinds, which release they are from, whose webhooks answer."""
        found = [(one.resource, one.record) for one in alone]
        custom = custom_kinds(found)
        if not custom:
            return True
        ground = look_for_obstacles(custom, {record.namespace for _kind, record in found}, self._cluster)
        facts.around = look_around(custom, ground, self._cluster)
        return not ground.unreadable and not facts.around.permits.unreadable

    def _is_about(self, held: Collection[tuple[str, tuple[str, ...], Resource]], facts: OwnerFacts) -> bool:
        """A pod of theirs that runs without a workload, or is still stopping, can act."""
        try:
            pods = self._cluster.list(PODS).records
        except Problem:
            return True
        names = {name for finalizer, managers, kind in held for name in controller_names(finalizer, managers, kind)}
        workloads = [
            one for finalizer, managers, kind in held for one in candidates(finalizer, managers, facts, kind)[0]
        ]
        return any(_is_pod_of(pod, names, workloads) for pod in pods)


def _those_alone(leavers: Iterable[Leaver], facts: OwnerFacts) -> list[Leaver]:
    """Judged once for all that are alike."""
    alike: dict[tuple[object, ...], bool] = {}

    def is_alone(leaver: Leaver, finalizer: str) -> bool:
        managers = who_set(leaver.record, finalizer)
        key = (finalizer, managers, leaver.resource, leaver.record.namespace)
        if key not in alike:
            alike[key] = nobody_may_come(finalizer, managers, facts, leaver.resource, leaver.record.namespace)
        return alike[key]

    return [leaver for leaver in leavers if all(is_alone(leaver, name) for name in leaver.record.finalizers)]


def nobody_may_come(
    finalizer: str, managers: Sequence[str], facts: OwnerFacts, kind: Resource | None = None, namespace: str = ""
) -> bool:
    """Whether it is proven that nobody is there, and nobody is on his way."""
    if facts.unreadable:
        return False
    owner = judge_owner(finalizer, managers, facts, kind, namespace)
    workloads, leases = candidates(finalizer, managers, facts, kind)
    named = [one for one in facts.workloads if str(one) == owner.who]
    if any(one.wanted or one.available for one in (*workloads, *named)):
        return False  # it has no replica now; that may change
    if any(lease.age <= _LONG_AGO * lease.lasts for lease in leases):
        return False
    return owner.life is Life.GONE


def _is_only_held(record: Record) -> bool:
    return record.terminating and bool(record.finalizers)


def who_set(record: Record, finalizer: str) -> tuple[str, ...]:
    return tuple(manager for name, manager in record.finalizer_managers if name == finalizer)


def _is_pod_of(pod: Record, names: Collection[str], workloads: Sequence[Workload]) -> bool:
    if any(pod.namespace == one.namespace and pod.name.startswith(f"{one.name}-") for one in workloads):
        return True
    own = {pod.name, *(pod.labels.get(label, "") for label in _APP_LABELS)}
    return bool(own & set(names)) or any(pod.name.startswith(f"{name}-") for name in names)
