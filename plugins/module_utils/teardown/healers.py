# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who would bring members back: owners outside of the plan that name them as theirs.

Room: teardown. Members say it in labels and annotations, which their lists have brought along; owners are looked for
once a kind. Owner references are known by uid only, so makers are found the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..gitops.healers import Claim, Healer
from ..gitops.owners import NOT_HERE, Owners
from ..objects import ObjectRef, Resource
from ..problems import Problem
from ..profiles.gitops_owners import GITOPS_OWNERS, GitopsOwner
from .members.looking import Member

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Place = tuple[str, str, str, str]  # group, kind, namespace, name


@dataclass(frozen=True)
class BringsBack:
    """One owner, and what it would bring back."""

    owner: str  # for people: "Argo CD, Application argocd/shop"
    example: ObjectRef
    count: int
    quiet: str = ""  # why it does not do so by itself, if so
    unseen: str = ""  # why it could not be looked at, if so
    way_out: str = ""
    uids: frozenset[str] = field(default=frozenset(), compare=False)  # of what it would bring back

    @property
    def certain(self) -> bool:
        """Whether it does so as far as anybody can tell; what may not be looked at counts as if it did."""
        return not self.quiet and self.unseen != NOT_HERE

    @property
    def text(self) -> str:
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        which = f"{self.example}{more}"
        if self.quiet:
            return f"{self.owner} owns {which} and does not bring it back by itself: {self.quiet}"
        if self.unseen:
            return f"{self.owner} may bring back {which}: it cannot be seen ({self.unseen})"
        return f"{self.owner} brings back {which}"


def find_healers(
    members: Sequence[Member], cluster: Cluster, leaving: Sequence[Member] | None = None
) -> list[BringsBack]:
    """Owners that do not leave themselves. Loud ones first, then those that could not be seen, then quiet ones.

    `leaving` are those that go, if not all members do.
    """
    going = {_place_of(member) for member in (members if leaving is None else leaving)}
    found: dict[Place, list[tuple[Healer, Member]]] = {}
    for healer, member in (*_named(members, cluster), *_makers(members, cluster)):
        place = (healer.owner.group, healer.owner.kind, healer.namespace, healer.name)
        if place not in going:
            found.setdefault(place, []).append((healer, member))
    back = [_brings_back(pairs) for pairs in found.values()]
    return sorted(back, key=lambda one: (bool(one.quiet), bool(one.unseen), one.owner))


def _place_of(member: Member) -> Place:
    return member.resource.group, member.resource.kind, member.record.namespace, member.record.name


def _brings_back(pairs: Sequence[tuple[Healer, Member]]) -> BringsBack:
    healer, member = pairs[0]
    uids = frozenset(one.record.uid for _healer, one in pairs)
    # Claims of one object may be plain while those of another are ambiguous; one plain claim is enough.
    unseen = healer.unseen if all(one.unseen for one, _member in pairs) else ""
    way_out = next((one.way_out for one, _member in pairs if one.way_out), "")
    return BringsBack(str(healer), member.ref, len(uids), healer.why_quiet, unseen, way_out, uids)


def _named(members: Iterable[Member], cluster: Cluster) -> Iterator[tuple[Healer, Member]]:
    owners = Owners(cluster)
    for member in members:
        if member.dependant:
            continue  # its owner makes it anew, or goes; labels are copied down to it
        for healer in owners.healers_of(_item_of(member)):
            yield healer, member


def _item_of(member: Member) -> dict[str, Any]:
    record, resource = member.record, member.resource
    metadata = {"name": record.name, "labels": record.labels, "annotations": record.annotations}
    if record.namespace:
        metadata["namespace"] = record.namespace
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


# -- makers: known by uid only -----------------------------------------------------------------------------------------


def _makers(members: Sequence[Member], cluster: Cluster) -> Iterator[tuple[Healer, Member]]:
    own = {member.record.uid for member in members}
    orphans = [member for member in members if set(member.record.owner_uids) - own]
    if not orphans:
        return
    for owner in (*_OWN_BY_REFERENCE, *_GENERATORS):
        finding = cluster.find_kind(owner.group, owner.kind)
        if finding.resource is None:
            continue
        yield from _made_by(owner, finding.resource, orphans, cluster)


def _made_by(
    owner: GitopsOwner, resource: Resource, orphans: Sequence[Member], cluster: Cluster
) -> Iterator[tuple[Healer, Member]]:
    try:
        records = cluster.list(resource).records
    except Problem:
        return  # an owner reference alone does not say that it is one of these
    for record in records:
        claim = Claim(owner, record.name, record.namespace)
        yield from ((Healer(claim), member) for member in orphans if record.uid in member.record.owner_uids)


_OWN_BY_REFERENCE = tuple(owner for owner in GITOPS_OWNERS if any(sign.how == "owner" for sign in owner.signs))
# They make owners anew, the one that is a record of the plan among them.
_GENERATORS = tuple(
    GitopsOwner(owner.tool, owner.generator.group, owner.generator.kind, (), way_out="delete it, or take it out of it")
    for owner in GITOPS_OWNERS
    if owner.generator is not None
)
