# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kept objects that the garbage collector would delete with their owners: found before the first write.

Room: teardown. The garbage collector deletes an object when every owner it names is gone. Where all owners of a kept
object are deleted, by the plan or by the garbage collector itself, the kept object is detached from them first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..objects import Record, Resource, ref_to
from .dependants import dependant_of
from .detachments import Detachment
from .guards import Facts, judge
from .members.looking import Looker, Member
from .plan import GOING, Entry, Plan

Kind = tuple[str, str]
_PODS, _REVISIONS = ("", "pods"), ("apps", "controllerrevisions")
# Owner → kinds that its controller adopts again as soon as they have no owner.
ADOPTED: dict[Kind, tuple[Kind, ...]] = {
    ("apps", "deployments"): (("apps", "replicasets"),),
    ("apps", "replicasets"): (_PODS,),
    ("apps", "statefulsets"): (_PODS, _REVISIONS),
    ("apps", "daemonsets"): (_PODS, _REVISIONS),
    ("batch", "jobs"): (_PODS,),
    ("", "replicationcontrollers"): (_PODS,),
}


def look_for_what_they_own(plan: Plan, looker: Looker) -> None:
    """List every kind where something is deleted: a keep marker counts on objects that no source names, too."""
    namespaces = {entry.member.record.namespace for entry in plan.going if entry.member.resource.namespaced}
    unseen = looker.look_around(namespaces) if namespaces else []
    if unseen:
        more = f" and {len(unseen) - 1} more" if len(unseen) > 1 else ""
        looker.warnings.append(
            f"could not look for kept objects in {unseen[0]}{more}; what deleted objects own there is deleted with them"
        )


def plan_detachments(plan: Plan, looker: Looker, facts: Facts) -> None:
    """Pure but for what was listed before: puts into each step what it has to detach before its first delete."""
    family = _Family(plan, looker)
    family.follow(facts)
    found = family.detachments()
    orphaning = {uid for one in found if one.adopted for uid in one.roots}
    for step in plan.steps:
        uids = {entry.member.record.uid for entry in step.going}
        step.detachments = [one for one in found if one.roots & uids]
        found = [one for one in found if not one.roots & uids]
        for wave in step.waves:
            # The garbage collector leaves alone what these own, so it is deleted like everything else.
            wave += family.left_by({entry.member.record.uid for entry in wave} & orphaning, facts)


@dataclass
class _Family:
    """What the objects of a plan own, directly and through each other, as far as it was listed."""

    plan: Plan
    looker: Looker
    going: dict[str, Member] = field(init=False)
    doomed: dict[str, tuple[Resource, Record]] = field(init=False)  # deleted, by us or by the garbage collector

    def __post_init__(self) -> None:
        self.going = {entry.member.record.uid: entry.member for entry in self.plan.going}
        self.doomed = {uid: (member.resource, member.record) for uid, member in self.going.items()}

    def follow(self, facts: Facts) -> None:
        """Find everything that the garbage collector would delete. What a guard keeps is entered into the plan."""
        children = self._children()
        stays = {one.uid for _resource, one in self._staying()}
        queue = list(self.doomed)
        while queue:
            for resource, record in children.get(queue.pop(), ()):
                if record.uid in self.doomed or record.uid in stays:
                    continue
                if not all(uid in self.doomed for uid in record.owner_uids):
                    continue
                member = dependant_of(*self.doomed[record.owner_uids[0]], resource, record, facts)
                verdict = judge(member, facts)
                if verdict.fate in GOING:
                    self.doomed[record.uid] = (resource, record)
                    queue.append(record.uid)
                else:
                    stays.add(record.uid)
                    self.plan.keep(member, verdict)

    def detachments(self) -> list[Detachment]:
        found: dict[str, Detachment] = {}
        for resource, record in self._staying():
            owners = record.owner_uids
            if owners and not record.terminating and all(uid in self.doomed for uid in owners):
                found[record.uid] = self._detachment(resource, record)
        return list(found.values())

    def left_by(self, orphaning: set[str], facts: Facts) -> list[Entry]:
        """What is in no plan because the garbage collector would delete it, and these owners are deleted without it."""
        members = [
            dependant_of(*self.doomed[record.owner_uids[0]], resource, record, facts)
            for uid, (resource, record) in self.doomed.items()
            if uid not in self.going and orphaning & set(record.owner_uids)
        ]
        return [Entry(member, judge(member, facts)) for member in members]

    def _detachment(self, resource: Resource, record: Record) -> Detachment:
        owners = [self.doomed[uid] for uid in dict.fromkeys(record.owner_uids)]
        kind = (resource.group, resource.plural)
        return Detachment(
            resource,
            record,
            tuple(ref_to(*owner) for owner in owners),
            self._roots(record),
            adopted=any(kind in ADOPTED.get((owner.group, owner.plural), ()) for owner, _record in owners),
        )

    def _roots(self, record: Record) -> frozenset[str]:
        above: set[str] = set()
        queue = list(record.owner_uids)
        while queue:
            uid = queue.pop()
            if uid not in above and uid in self.doomed:
                above.add(uid)
                queue += self.doomed[uid][1].owner_uids
        return frozenset(above & self.going.keys())

    def _staying(self) -> Iterable[tuple[Resource, Record]]:
        for entry in self.plan.kept:
            yield entry.member.resource, entry.member.record
        for release in self.plan.releases:
            if release.record.uid not in self.going:
                yield release.resource, release.record

    def _children(self) -> dict[str, list[tuple[Resource, Record]]]:
        children: dict[str, list[tuple[Resource, Record]]] = defaultdict(list)
        for listing in self.looker.listings:
            for record in listing.records:
                for uid in record.owner_uids:
                    children[uid].append((listing.scope.resource, record))
        return children
