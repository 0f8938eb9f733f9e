# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A truce with those who would put routes back: found out before anything is changed, and kept for as long as needed.

Room: maintenance. Who is asked to wait by an annotation on the route itself is asked in the very patch that shows the
page, and goes on with the patch that takes it away. Who is asked by an annotation on his own object is asked after the
backup says so and before the route is changed; pausing.py does that and ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..problems import CannotLook, Problem
from ..profiles.gitops_owners import GitopsOwner
from .backups import Paused
from .healers import Claim, Healer, Item, claims_on, maker_of, owners_meant, preserves
from .markers import PAUSED_FOR
from .outcome import MaintenanceOutcome, Run
from .scene import Route

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass
class Truce:
    """What was found out, by the uid of the route."""

    refused: list[tuple[Route, str]] = field(default_factory=list)
    annotations: dict[str, dict[str, str]] = field(default_factory=dict)
    paused: dict[str, list[Paused]] = field(default_factory=dict)

    def annotations_for(self, route: Route) -> tuple[tuple[str, str], ...]:
        return tuple(self.annotations.get(route.uid, {}).items())

    def paused_for(self, route: Route) -> list[Paused]:
        return self.paused.get(route.uid, [])


def make_truce(routes: Sequence[Route], mode: str, outcome: MaintenanceOutcome, run: Run) -> Truce:
    """`mode`: fail refuses what would be put back, pause makes whoever does it wait, ignore does not look."""
    truce = Truce()
    if mode == "ignore":
        return truce
    owners = _Owners(run.cluster)
    for route in routes:
        for healer in owners.healers_of(route):
            _settle(route, healer, mode, truce, owners, outcome, run)
        _warn_of_maker(route, outcome, run)
    return truce


def _settle(
    route: Route, healer: Healer, mode: str, truce: Truce, owners: _Owners, outcome: MaintenanceOutcome, run: Run
) -> None:
    owner = healer.owner
    if healer.why_quiet:
        outcome.warn(f"{healer} owns {route.ref} and does not put it back by itself: {healer.why_quiet}", run.tell)
        return
    if healer.claim.ambiguous and healer.unseen:
        outcome.warn(f"cannot see whether {healer} puts {route.ref} back: {healer.unseen}", run.tell)
        return
    if mode == "pause" and owner.pause_object:
        truce.annotations.setdefault(route.uid, {}).update([owner.pause_object])
        return
    if mode == "pause" and owner.pause_owner and healer.item is not None:
        refusal = owners.why_no_pause(healer)
        if not refusal:
            truce.paused.setdefault(route.uid, []).append(_paused(healer, owners.resource_of(owner)))
            return
        truce.refused.append((route, refusal))
        return
    truce.refused.append((route, _refusal(healer, mode)))


def _refusal(healer: Healer, mode: str) -> str:
    why = f"cannot be seen ({healer.unseen}) and may put it back" if healer.unseen else "puts it back"
    can_wait = healer.owner.pause_object or (healer.owner.pause_owner and healer.item is not None)
    ways = ["gitops: pause"] if mode == "fail" and can_wait else []
    # Where we cannot see that it is quiet now, we have to be told.
    ways.append(healer.way_out + (", then gitops: ignore" if healer.item is None else ""))
    return f"{healer} {why} (way out: {'; or '.join(ways)})"


def _paused(healer: Healer, resource: Resource) -> Paused:
    annotation, value = healer.owner.pause_owner or ("", "")
    return Paused(resource.api_version, resource.kind, healer.namespace, healer.name, annotation, value)


def _warn_of_maker(route: Route, outcome: MaintenanceOutcome, run: Run) -> None:
    kind, name = maker_of(route.item)
    if kind:
        outcome.warn(f"{route.ref} was made by {kind} {name}, whose controller may put it back", run.tell)


class _Owners:
    """Looks for owners: one list a kind, however many routes name one; one by one only where lists are forbidden."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lists: dict[tuple[str, str], list[dict[str, Any]] | Problem] = {}
        self._read: dict[tuple[str, str, str, str], Item | Problem | None] = {}

    def healers_of(self, route: Route) -> list[Healer]:
        item = {**route.item, "apiVersion": route.resource.api_version, "kind": route.resource.kind}
        return [healer for claim in claims_on(item) for healer in self._healers(claim, item)]

    def resource_of(self, owner: GitopsOwner) -> Resource:
        resource = self._cluster.find_kind(owner.group, owner.kind).resource
        if resource is None:
            raise CannotLook(
                "cannot pause", which=f"{owner.tool}'s {owner.kind}", why="the kind is not served any more"
            )
        return resource

    def _healers(self, claim: Claim, route: Item) -> list[Healer]:
        if not claim.owner.quiet:
            return [Healer(claim)]  # nothing in it would tell that it does not heal
        listed = self._all(claim.owner.group, claim.owner.kind)
        if isinstance(listed, Problem):
            return [self._one_by_one(claim, listed)]
        meant = owners_meant(claim, route, listed)
        if meant or claim.ambiguous:
            return [Healer(claim, item) for item in meant]
        return [Healer(claim, unseen="it is not in this cluster")]

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
        return Healer(claim, found) if found else Healer(claim, unseen="it is not in this cluster")

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
