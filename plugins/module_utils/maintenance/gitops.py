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
from typing import Any

from ..gitops.healers import Healer, maker_of
from ..gitops.owners import Owners
from ..objects import Resource
from .backups import Paused
from .outcome import MaintenanceOutcome, Run
from .scene import Route


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
    owners = Owners(run.cluster)
    for route in routes:
        for healer in owners.healers_of(_item_of(route)):
            _settle(route, healer, mode, truce, owners, outcome, run)
        _warn_of_maker(route, outcome, run)
    return truce


def _item_of(route: Route) -> dict[str, Any]:
    return {**route.item, "apiVersion": route.resource.api_version, "kind": route.resource.kind}


def _settle(
    route: Route, healer: Healer, mode: str, truce: Truce, owners: Owners, outcome: MaintenanceOutcome, run: Run
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
