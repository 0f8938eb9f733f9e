# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What would go along unseen: instances of a definition, and content of a namespace, that the plan does not show.

Room: teardown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..objects import ObjectRef, Record, Resource, ref_to
from ..problems import Problem, Refused
from ..well_known import MADE_BY_US
from .guards import CRD, Facts, carries_a_keep_marker, part_of_the_cluster
from .members.looking import TRANSIENT, Looker, Member
from .verdicts import Fate

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from .plan import Plan

NAMESPACES = ("", "namespaces")
Seen = tuple[Resource, Record]


@dataclass(frozen=True)
class Foreign:
    """A member that others would go with, and who they are."""

    member: Member
    others: Sequence[ObjectRef]
    kept: frozenset[str] = frozenset()  # uids of those among them that the plan keeps

    @property
    def why(self) -> str:
        kept = [one for one in self.others if one.uid in self.kept]
        if kept:
            more = f" (and {len(self.others) - 1} more)" if len(self.others) > 1 else ""
            return f"{kept[0]}, which is kept, would go with it{more}"
        if len(self.others) == 1:
            return f"{self.others[0]}, which is not in this plan, would go with it"
        return f"{len(self.others)} objects that are not in this plan would go with it, {self.others[0]} among them"


def is_namespace(member: Member) -> bool:
    return (member.resource.group, member.resource.plural) == NAMESPACES


def look_into_namespaces(members: Iterable[Member], looker: Looker) -> None:
    for member in members:
        if is_namespace(member):
            looker.look_into_namespace(member.record.name)


def find_foreign(plan: Plan, looker: Looker) -> list[Foreign]:
    """Definitions and namespaces of the plan that would take more with them than the plan shows."""
    going = {entry.member.record.uid for entry in plan.going}
    kept = frozenset(entry.member.record.uid for entry in plan.kept if entry.verdict.fate is Fate.KEEP)
    found = []
    for entry in plan.going:
        kind = (entry.member.resource.group, entry.member.resource.plural)
        if kind == CRD:
            strangers = _instances(entry.member, looker, going)
        elif kind == NAMESPACES:
            seen = [(listing.scope.resource, record) for listing in looker.listings for record in listing.records]
            strangers = _content(entry.member.record.name, seen, going)
        else:
            continue
        if strangers:
            found.append(Foreign(entry.member, list(dict.fromkeys(ref_to(*one) for one in strangers)), kept))
    return found


def kept_among(foreign: Iterable[Foreign]) -> list[Foreign]:
    """Those that hold something kept: consent to lose what is not in the plan is none to lose these."""
    return [entry for entry in foreign if any(one.uid in entry.kept for one in entry.others)]


def going_along(plan: Plan) -> set[str]:
    """uids that the plan keeps and that go all the same, with their namespace or their definition."""
    going = [entry.member for entry in plan.going]
    kinds = {one.record.name for one in going if (one.resource.group, one.resource.plural) == CRD}
    places = {one.record.name for one in going if (one.resource.group, one.resource.plural) == NAMESPACES}
    kept = [entry.member for entry in plan.kept]
    return {one.record.uid for one in kept if one.resource.qualified in kinds or one.record.namespace in places}


def look_again(member: Member, cluster: Cluster, in_plan: Collection[str], facts: Facts) -> Foreign | None:
    """What would go with a definition or a namespace now, right before it is deleted; None for all other kinds.

    One list for a definition, one a kind for a namespace. What something in the plan owns goes with its owner.
    """
    kind = (member.resource.group, member.resource.plural)
    if kind == CRD:
        strangers = _not_owned(_instances_now(member, cluster), in_plan)
    elif kind == NAMESPACES:
        strangers = _not_owned(_content_now(member.record.name, cluster), in_plan)
    else:
        return None
    marked = frozenset(
        record.uid for resource, record in strangers if carries_a_keep_marker(Member(resource, record, ""), facts)
    )
    return Foreign(member, [ref_to(*one) for one in strangers], marked) if strangers else None


def refuse(foreign: Sequence[Foreign]) -> None:
    if not foreign:
        return
    first = foreign[0]
    more = f" (and {len(foreign) - 1} more)" if len(foreign) > 1 else ""
    raise Refused(
        "delete",
        which=f"{first.member.ref}{more}",
        why=first.why,
        next_step="put them into an earlier step, or set foreign_instances to cascade or keep; nothing was changed",
    )


def _resource_of(definition: Member, resolve: Callable[..., Any]) -> Any:
    plural, _dot, group = definition.record.name.partition(".")
    return resolve(plural, f"{group}/", by_hand=False)


def _instances(definition: Member, looker: Looker, going: Collection[str]) -> list[Seen]:
    resource = _resource_of(definition, looker.resolve)
    if resource is None:
        return []  # not served any more: the API server is already taking it apart
    return [(resource, record) for record in looker.everything(resource) if record.uid not in going]


def _instances_now(definition: Member, cluster: Cluster) -> list[Seen]:
    resource, _warning = _resource_of(definition, cluster.resolve)
    if resource is None:
        return []
    try:
        listings = cluster.list_everywhere(resource)
    except Problem:
        if cluster.is_installed(resource):
            raise
        return []
    return [(resource, record) for listing in listings for record in listing.records]


def _content_now(namespace: str, cluster: Cluster) -> list[Seen]:
    cluster.forget_catalogue()  # a kind may have come since
    kinds = [kind for kind in cluster.deletable_kinds() if kind.namespaced]
    wanted = [kind for kind in kinds if (kind.group, kind.plural) not in TRANSIENT]
    seen: list[Seen] = []

    def look(kind: Resource) -> None:
        seen.extend((kind, record) for record in cluster.list(kind, namespace).records)

    cluster.for_each(wanted, look)
    return _content(namespace, seen, ())


def _content(namespace: str, seen: Iterable[Seen], going: Collection[str]) -> list[Seen]:
    strangers = []
    for resource, record in seen:
        if not resource.namespaced or (resource.group, resource.plural) in TRANSIENT:
            continue
        if record.namespace != namespace or record.uid in going:
            continue
        if record.labels.get(MADE_BY_US[0]) == MADE_BY_US[1]:
            continue  # a maintenance page of ours, in front of what goes
        if not part_of_the_cluster(Member(resource, record, ""), Facts()):
            strangers.append((resource, record))
    return strangers


def _not_owned(seen: Sequence[Seen], in_plan: Collection[str]) -> list[Seen]:
    """Without what is in the plan, and without what that owns, directly or through each other."""
    ours = set(in_plan)
    left = [one for one in seen if one[1].uid not in ours]
    while True:
        owned = {record.uid for _kind, record in left if record.owner_uids and ours.issuperset(record.owner_uids)}
        if not owned:
            return left
        ours |= owned
        left = [one for one in left if one[1].uid not in owned]
