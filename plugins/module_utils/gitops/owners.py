# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking for the owners that objects name: are they there, do they heal, can they be made to wait?

Room: gitops. What cannot be seen is said of each owner; it is never taken for one that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..problems import CannotLook, Problem
from ..profiles.gitops_owners import GitopsOwner
from .healers import PAUSED_FOR, Claim, Healer, Item, claims_on, maker_of, owners_meant, preserves

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

# Marks outlive their owner, and one may be left that manages this cluster from another one.
NOT_HERE = "it is not in this cluster"


class Owners:
    """One list a kind, however many objects name one; one by one only where lists are forbidden."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lists: dict[tuple[str, str], list[dict[str, Any]] | Problem] = {}
        self._read: dict[tuple[str, str, str, str], Item | Problem | None] = {}

    def healers_of(self, item: Item) -> list[Healer]:
        """Whoever says, or may say, that this object is his. It must say its `apiVersion` and `kind`."""
        return [healer for claim in claims_on(item) for healer in self._healers(claim, item)]

    def resource_of(self, owner: GitopsOwner) -> Resource:
        resource = self._cluster.find_kind(owner.group, owner.kind).resource
        if resource is None:
            raise CannotLook(
                "cannot pause", which=f"{owner.tool}'s {owner.kind}", why="the kind is not served any more"
            )
        return resource

    def _healers(self, claim: Claim, owned: Item) -> list[Healer]:
        if not claim.owner.quiet:
            return [Healer(claim)]  # nothing in it would tell that it does not heal
        listed = self._all(claim.owner.group, claim.owner.kind)
        if isinstance(listed, Problem):
            return [self._one_by_one(claim, listed)]
        meant = owners_meant(claim, owned, listed)
        if meant or claim.ambiguous:
            return [Healer(claim, item) for item in meant]
        return [Healer(claim, unseen=NOT_HERE)]

    def _all(self, group: str, kind: str) -> list[dict[str, Any]] | Problem:
        if (group, kind) not in self._lists:
            finding = self._cluster.find_kind(group, kind)
            if finding.resource is None:
                blind = finding.availability.value in ("forbidden", "group unavailable")
                self._lists[group, kind] = Problem(kind, why=finding.why) if blind else []
            else:
                try:
                    self._lists[group, kind] = self._cluster.list_whole(finding.resource)
                except Problem as problem:
                    self._lists[group, kind] = problem
        return self._lists[group, kind]

    def _one_by_one(self, claim: Claim, refusal: Problem) -> Healer:
        found = self._get(claim.owner.group, claim.owner.kind, claim.namespace, claim.name) if claim.namespace else None
        if isinstance(found, Problem) or (found is None and not claim.namespace):
            return Healer(claim, unseen=refusal.why)
        return Healer(claim, found) if found else Healer(claim, unseen=NOT_HERE)

    def _get(self, group: str, kind: str, namespace: str, name: str) -> Item | Problem | None:
        key = (group, kind, namespace, name)
        if key not in self._read:
            resource = self._cluster.find_kind(group, kind).resource
            try:
                self._read[key] = self._cluster.read_whole(resource, namespace, name) if resource else None
            except Problem as problem:
                self._read[key] = problem
        return self._read[key]

    def why_no_pause(self, healer: Healer) -> str:
        """A generator takes off its owners what it has not put there, our pause included."""
        generator = healer.owner.generator
        kind, name = maker_of(healer.item or {})
        if generator is None or kind != generator.kind:
            return ""
        keys = [healer.owner.pause_owner[0] if healer.owner.pause_owner else "", PAUSED_FOR]
        found = self._get(generator.group, generator.kind, healer.namespace, name)
        if found is None or (not isinstance(found, Problem) and preserves(found, healer.owner, keys)):
            return ""
        where = f"{generator.kind} {healer.namespace}/{name}"
        if isinstance(found, Problem):
            return f"{healer} was made by {where}, which cannot be seen ({found.why}) and may end a pause"
        field_name = generator.preserves.removeprefix("/").replace("/", ".")
        return f"{healer} was made by {where}, which would end the pause; add {' and '.join(keys)} to its {field_name}"
