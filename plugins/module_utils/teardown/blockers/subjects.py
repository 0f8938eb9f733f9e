# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From what somebody asks about to the objects that are there.

Room: teardown. Bounded: a list a kind and scope, and one GET for a namespace that is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...events import Tell
from ...objects import Record, Resource
from ...problems import CannotLook
from ...well_known import DEFINITIONS, NAMESPACES
from ..members.claims import Membership
from ..members.looking import Looker
from ..members.sources import OtherCluster, chosen_source, read_members
from .census import Census, Seen
from .target import Target

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

FOREGROUND = "foregroundDeletion"


@dataclass
class Subjects:
    """What an explanation is about."""

    title: str
    found: list[Seen] = field(default_factory=list)
    missing: str = ""  # why there is nothing to explain
    # Somebody asked for these by name: they are shown whatever their state is.
    named: set[str] = field(default_factory=set)


def survivors_as_subjects(found: Sequence[Seen], census: Census, cluster: Cluster) -> Subjects:
    """What a run leaves, and what is left in namespaces among it. In the words of a run there is no title."""
    subjects = Subjects("what is still there", list(found), named={record.uid for _kind, record in found})
    places = [record.name for kind, record in found if is_namespace(kind)]
    if len(places) > _FEW:
        census.look(census.listable(namespaced=True), None, lambda record: record.terminating)
    else:
        for place in places:
            census.look(census.listable(namespaced=True), place, lambda record: True)
    inside = [(kind, record) for kind, record in census.everything() if record.namespace in places]
    subjects.found += [seen for seen in inside if seen[1].uid not in subjects.named]
    complete(subjects, census, cluster)
    for kind, record in found:  # last: what is known already is not counted when it is listed
        census.add(kind, [record])
    return subjects


def find_subjects(
    target: Target, census: Census, cluster: Cluster, other_cluster: OtherCluster, tell: Tell
) -> Subjects:
    if target.members is not None:
        source, value = chosen_source(target.members)
        if source == "namespace":  # the namespace itself is of interest too, and closed kinds are no reason to stop
            return _of_namespace(str(value), census, cluster)
        return _of_members(target, census, cluster, other_cluster, tell)
    if target.kind:
        return _of_kind(target, census, cluster)
    if target.namespace:
        return _of_namespace(target.namespace, census, cluster)
    return _of_everything(census, cluster)


def _of_everything(census: Census, cluster: Cluster) -> Subjects:
    """What is being deleted, and what should be, as its namespace goes."""
    going = terminating_namespaces(census, cluster)

    def hangs(record: Record) -> bool:
        return record.terminating or record.namespace in going

    census.look(census.listable(namespaced=False), None, lambda record: hangs(record) or _holds_owners(record))
    found = [(kind, record) for kind, record in census.everything() if hangs(record)]
    return Subjects("everything that is being deleted", found)


def _of_namespace(name: str, census: Census, cluster: Cluster) -> Subjects:
    subjects = Subjects(f"namespace {name}")

    def read_it() -> None:
        record = cluster.read(NAMESPACES, "", name)
        if record is None:
            subjects.missing = f"there is no namespace {name}"
        else:
            census.add(NAMESPACES, [record])
            subjects.named.add(record.uid)

    census.attempt(f"Namespace {name}", read_it)
    if subjects.missing:
        return subjects
    census.look(census.listable(namespaced=True), name, lambda record: True)
    subjects.found += list(census.everything())
    return subjects


def _of_kind(target: Target, census: Census, cluster: Cluster) -> Subjects:
    resource, warning = cluster.resolve(target.kind, target.api_version or None)
    if resource is None:
        return Subjects(target.kind, missing=warning)
    if is_namespace(resource) and target.name:
        return _of_namespace(target.name, census, cluster)
    namespace = target.namespace or None if resource.namespaced else None
    place = f" in namespace {namespace}" if namespace else ""
    subjects = Subjects(f"{resource.kind} {target.name}{place}" if target.name else f"all {resource.qualified}{place}")

    def list_them() -> None:
        selector = target.label_selector or None
        scoped = namespace or not resource.namespaced
        listings = (
            [cluster.list(resource, namespace, selector)] if scoped else cluster.list_everywhere(resource, selector)
        )
        records = [record for listing in listings for record in listing.records]
        wanted = [record for record in records if target.name in ("", record.name)]
        census.add(resource, wanted)
        subjects.found += [(resource, record) for record in wanted]
        subjects.named |= {record.uid for record in wanted} if target.name else set()
        if not wanted:
            subjects.missing = f"there is no {resource.kind}" + (f" {target.name}{place}" if target.name else place)

    census.attempt(f"{resource.qualified}{place}", list_them, resource, namespace or "")
    complete(subjects, census, cluster)
    return subjects


class _TolerantLooker(Looker):
    """Looks for members; what is closed is said and does not end it."""

    def __init__(self, census: Census, cluster: Cluster, tell: Tell) -> None:
        super().__init__(cluster, tell)
        self._census = census

    def resolve(self, kind: str, api_version: str | None, *, by_hand: bool = True) -> Resource | None:
        try:
            return super().resolve(kind, api_version, by_hand=by_hand)
        except CannotLook as problem:
            self._census.could_not(f"{kind}: {problem.why}")
            return None

    def _list_one(self, scope: Any) -> None:
        self._lists[scope] = []
        kind, place = scope.resource, scope.namespace or ""
        self._census.attempt(kind.qualified, lambda: super(_TolerantLooker, self)._list_one(scope), kind, place)


def _of_members(target: Target, census: Census, cluster: Cluster, other_cluster: OtherCluster, tell: Tell) -> Subjects:
    membership: Membership = read_members(target.members or {}, cluster, other_cluster)
    subjects = Subjects(membership.source, missing=membership.missing)
    if membership.missing:
        return subjects
    found = _TolerantLooker(census, cluster, tell).find(membership)
    subjects.found += [(member.resource, member.record) for member in (*found.members, *found.records)]
    complete(subjects, census, cluster)
    for kind, record in subjects.found:  # last: what is known already is not counted when it is listed
        census.add(kind, [record])
    return subjects


def complete(subjects: Subjects, census: Census, cluster: Cluster) -> None:
    """What is needed to explain these: dependants of those that wait for them, and instances of definitions."""
    waiting = [(kind, record) for kind, record in subjects.found if FOREGROUND in record.finalizers]
    places = sorted({record.namespace for kind, record in waiting if kind.namespaced})
    if any(not kind.namespaced for kind, _record in waiting) or len(places) > _FEW:
        census.look(census.listable(namespaced=False), None, _holds_owners)
    else:
        for place in places:
            census.look(census.listable(namespaced=True), place, _holds_owners)
    defined = {record.name for kind, record in subjects.found if is_definition(kind)}
    if defined:
        instances = [kind for kind in cluster.catalogue.resources() if kind.qualified in defined]
        census.look(instances, None, lambda record: record.terminating or bool(record.finalizers))


_FEW = 10


def is_namespace(kind: Resource) -> bool:
    return kind.qualified == NAMESPACES.qualified


def is_definition(kind: Resource) -> bool:
    return kind.qualified == DEFINITIONS.qualified


def _holds_owners(record: Record) -> bool:
    return bool(record.held_owner_uids)


def terminating_namespaces(census: Census, cluster: Cluster) -> set[str]:
    """Names of namespaces on their way out: nothing new starts there. Who may not list them knows those he may read."""
    going = {record.name for kind, record in census.everything() if is_namespace(kind) and record.terminating}

    def list_them() -> None:
        going.update(record.name for record in cluster.list(NAMESPACES).records if record.terminating)

    census.attempt(NAMESPACES.qualified, list_them)
    return going
