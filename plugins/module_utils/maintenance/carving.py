# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Entries beside a place that shows the page, for what stays open: exempt paths, and those who may pass.

Room: maintenance (pure). Each kind of route has its own way to say so, in carvings.py. An entry is made of the one it
stands beside, as that was before maintenance, narrowed to the path or to those who may pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..pointers import ABSENT
from .bypass import Bypass
from .carvings import CARVINGS, CannotCarve, Place
from .changes import Change, Role
from .locations import Location, locations_of
from .middlewares import NO_MIDDLEWARES, Middlewares
from .options import ACME
from .originals import as_it_was
from .route_kinds import RouteKind
from .swap import Selection, annotations_meanwhile, is_below
from .traefik_rules import V3, Dialect, Router

_BYPASS = ("headers", "cookies", "cidrs")


@dataclass(frozen=True)
class Openings:
    """What stays open, and what is known of the routes around."""

    paths: tuple[str, ...] = ()
    bypass: Bypass = field(default_factory=Bypass)
    routers: Sequence[Router] = ()
    dialect: Dialect = V3

    def __bool__(self) -> bool:
        return bool(self.paths or self.bypass)

    def carve(
        self, item: Mapping[str, Any], kind: RouteKind, known: Sequence[Change], chosen: Sequence[Location]
    ) -> list[Change]:
        """The entries that belong into a route whose chosen places show a page."""
        if not self or not kind.carving:
            return []
        before = as_it_was(item, kind, known)
        identities = {location.identity for location in chosen}
        places = [
            Place(before, kind, location, self.routers, self.dialect)
            for location in locations_of(before, kind)
            if location.identity in identities
        ]
        return [change for place in places for change in self._beside(place)]

    def _beside(self, place: Place) -> list[Change]:
        carving = CARVINGS[place.kind.carving]
        opened = list(carving.paths(place, self.paths)) if self.paths else []
        admitted = list(carving.bypass(place, self.bypass)) if self.bypass else []
        return [_change(place, Role.ADMITTED, one, first=carving.in_front) for one in admitted] + [
            _change(place, Role.ADDED, one, first=carving.in_front) for one in opened
        ]


def _change(place: Place, role: Role, entry: dict[str, Any], *, first: bool) -> Change:
    location = place.location
    pattern = location.backend.entry.rpartition("/")[0]
    here = location.pointer.rpartition("/")[0]
    pointer = here if first else f"{here.rpartition('/')[0]}/-"
    return Change(role, location.identity, pattern, pointer, ABSENT, entry)


def why_not_open(
    item: Mapping[str, Any],
    kind: RouteKind,
    selection: Selection,
    openings: Openings,
    middlewares: Middlewares = NO_MIDDLEWARES,
) -> list[str]:
    """Every reason why a route, as it was before maintenance, cannot keep open what shall stay open."""
    places = [
        location
        for location in locations_of(item, kind)
        if selection.takes(location) and not selection.exempts(location)
    ]
    if not places:
        return []
    reasons = _annotations_in_the_way(item, kind, selection, openings, middlewares)
    carving = CARVINGS.get(kind.carving)
    for word in _BYPASS:
        why = carving.cannot.get(word) if carving else f"{kind.kind} routes cannot tell them apart"
        if getattr(openings.bypass, word) and why:
            reasons.append(f"bypass.{word}: {why}")
    if carving is None:
        closed = [path for path in openings.paths if any(_is_inside(path, location) for location in places)]
        reasons += [f"exempt_paths: {kind.kind} routes cannot leave {path} open" for path in closed]
        return reasons
    if not reasons:
        try:
            openings.carve(item, kind, (), places)
        except CannotCarve as problem:
            reasons.append(problem.why)
    return reasons


def _is_inside(path: str, location: Location) -> bool:
    return not location.paths or any(is_below(path, [one]) for one in location.paths)


def _annotations_in_the_way(
    item: Mapping[str, Any], kind: RouteKind, selection: Selection, openings: Openings, middlewares: Middlewares
) -> list[str]:
    """Annotations count for a whole Ingress: without those for logins, what stays open would be open to everybody."""
    off = annotations_meanwhile(item, middlewares)
    if not off:
        return []
    staying = [
        location.where
        for location in locations_of(item, kind)
        if (selection.exempts(location) or not selection.takes(location))
        and not all(is_below(path, [ACME]) for path in location.paths or ("/",))
    ]
    staying += [path for path in openings.paths if not is_below(path, [ACME])] if kind.carving else []
    if not staying:
        return []
    return [f"{', '.join(sorted(off))} must be off while the page is shown, also for {staying[0]}, which stays open"]
