# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kept is kept: detach what would be deleted with its owners, and look at the end whether everything kept is there.

Room: teardown. Kept objects are detached right before the wave that deletes an owner, and looked at once more right
after its deletes were sent, because a controller may have put the reference back. Where a controller is known to do
that at once (`adopted`), the owner is deleted with the policy Orphan instead: its controller stops at the same moment,
and the garbage collector removes the references. Whatever else such an owner has is in the plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..events import Tell
from ..objects import ObjectRef, Record, Resource, ref_to
from ..problems import Problem
from .detachments import Detachment, detach
from .plan import Entry, Plan
from .releasing import Release
from .verdicts import Fate

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_LOOKS = 3  # how often a reference may come back
_FEW_NAMESPACES = 10


@dataclass
class Keeping:
    cluster: Cluster
    tell: Tell
    detachments: list[Detachment]
    held: dict[str, Problem] = field(default_factory=dict)  # uid of an owner → why what it owns could not be detached

    def __post_init__(self) -> None:
        # uids that are deleted with the policy Orphan
        self.orphaning = {uid for one in self.detachments if one.adopted for uid in one.roots}

    def before(self, uids: Set[str]) -> None:
        """Detach what these objects would take along. One that cannot be detached holds its owners back."""
        due = [one for one in self.detachments if not one.roots.isdisjoint(uids) and not one.adopted]
        self.cluster.for_each([one for one in due if not one.done], self._detach)

    def after(self, uids: Set[str]) -> None:
        """A controller may have put a reference back before its object was deleted: remove it again."""
        due = [one for one in self.detachments if one.changed and not one.roots.isdisjoint(uids)]
        for _look in range(_LOOKS):
            due = self._attached_again(due)
            if not due:
                return
            self.cluster.for_each(due, self._detach)

    def keep_late(self, resource: Resource, record: Record, planned: Mapping[str, ObjectRef]) -> None:
        """Kept since the plan was made: nothing in the plan may take it along. `planned`: what the plan deletes."""
        owners = tuple(planned[uid] for uid in record.owner_uids if uid in planned)
        if owners:
            roots = frozenset({record.uid, *(owner.uid for owner in owners)})
            self.detachments.append(Detachment(resource, record, owners, roots))

    def _attached_again(self, due: list[Detachment]) -> list[Detachment]:
        here = present(self.cluster, [(one.resource, one.record) for one in due]) if due else {}
        for one in due:
            one.record = here.get(one.record.uid, one.record)
        return [one for one in due if one.record.uid in here and one.owner_uids & set(one.record.owner_uids)]

    def _detach(self, one: Detachment) -> None:
        detach(one, self.cluster, self.tell)
        if one.problem:
            self.held.update(dict.fromkeys(one.roots, one.problem))


@dataclass
class KeptCheck:
    """How the last look at what is kept ended."""

    lost: list[ObjectRef] = field(default_factory=list)  # kept on purpose, and deleted all the same
    gone: list[ObjectRef] = field(default_factory=list)  # not ours to delete, and deleted by another client
    unseen: str = ""

    def add(self, other: KeptCheck) -> None:
        """Of another cluster."""
        self.lost += other.lost
        self.gone += other.gone
        self.unseen = self.unseen or other.unseen

    @property
    def missing(self) -> set[str]:
        return {ref.uid for ref in (*self.lost, *self.gone)}

    @property
    def failure(self) -> Problem | None:
        if not self.lost:
            return None
        more = f" (and {len(self.lost) - 1} more, see lost)" if len(self.lost) > 1 else ""
        return Problem(
            "lost",
            which=f"{self.lost[0]}{more}",
            why="it was to be kept, and was deleted during the run",
            next_step="see the API server's audit log for who deleted it; restore it from a backup",
        )


def check_kept(plan: Plan, late: Iterable[Entry], cluster: Cluster, context: str | None) -> KeptCheck:
    """Look once whether everything kept and everything released is still there: one list a kind."""
    steps = [step for step in plan.steps if step.rule.context == context]
    kept = [entry for step in steps for entry in step.kept] + ([*plan.unmatched] if context is None else [])
    on_purpose = {entry.member.record.uid for entry in (*kept, *late) if entry.verdict.fate is Fate.KEEP}
    things = [(entry.member.resource, entry.member.record) for entry in (*kept, *late)]
    going = {entry.member.record.uid for entry in plan.going}
    freed = [one for step in steps for one in step.releases if _stays(one) and one.record.uid not in going]
    if going:  # a run that deletes nothing has not deleted what it released
        on_purpose |= {one.record.uid for one in freed}
    things += [(one.resource, one.record) for one in freed]
    check = KeptCheck()
    try:
        here = present(cluster, things)
    except Problem as problem:
        check.unseen = str(problem)
        return check
    for resource, record in {record.uid: (resource, record) for resource, record in things}.values():
        now = here.get(record.uid)
        if now is None or (now.terminating and not record.terminating):
            pile = check.lost if record.uid in on_purpose and not record.terminating else check.gone
            pile.append(ref_to(resource, record))
    return check


def _stays(release: Release) -> bool:
    return release.done and not release.gone and not release.replaced


def present(cluster: Cluster, things: Iterable[tuple[Resource, Record]]) -> dict[str, Record]:
    """What is there now of these, by uid: one list a kind, or one a namespace where these are few."""
    places: dict[Resource, set[str]] = defaultdict(set)
    for resource, record in things:
        places[resource].add(record.namespace)
    found: dict[str, Record] = {}

    def look(place: tuple[Resource, str | None]) -> None:
        resource, namespace = place
        listings = [cluster.list(resource, namespace)] if namespace else cluster.list_everywhere(resource)
        found.update({record.uid: record for listing in listings for record in listing.records})

    scopes: list[tuple[Resource, str | None]] = []
    for resource, namespaces in places.items():
        few = resource.namespaced and len(namespaces) <= _FEW_NAMESPACES
        scopes += [(resource, namespace) for namespace in sorted(namespaces)] if few else [(resource, None)]
    cluster.for_each(scopes, look)
    return found
