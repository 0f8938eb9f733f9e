# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a route was like, where no backup says so: kubectl keeps a copy of what was applied last.

Room: maintenance (pure). Only for places that show a page. What was applied may be older than what stood there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .changes import Change, Role, latest
from .claims import claim
from .locations import Location, locations_of
from .route_kinds import RouteKind
from .scene import Route

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def recall(routes: Iterable[Route]) -> list[str]:
    """Give routes the best that is known of places without a backup. Which ones, for people."""
    told = []
    for route in routes:
        claims = claim(route.locations, latest(route.known).values())
        lost = {place.identity for place in route.locations if place.page is not None and claims.of(place) is None}
        if not lost:
            continue
        applied = {one.identity: one for one in _applied(route.annotations, route.kind, route.namespace)}
        route.recalled = [applied[identity] for identity in sorted(lost) if identity in applied]
        if route.recalled:
            told.append(f"{route.ref}: no backup; it gets back what was applied by kubectl ({LAST_APPLIED})")
    return told


def _applied(annotations: Mapping[str, str], kind: RouteKind, namespace: str) -> list[Change]:
    try:
        item = json.loads(annotations.get(LAST_APPLIED) or "{}")
    except ValueError:
        return []
    return backends_in(item.get("spec"), kind, namespace) if isinstance(item, dict) else []


def backends_in(spec: Any, kind: RouteKind, namespace: str) -> list[Change]:
    """The backends of an old spec, as changes that put them back."""
    old = {"metadata": {"namespace": namespace}, "spec": spec if isinstance(spec, dict) else {}}
    return [_change(place) for place in locations_of(old, kind) if place.page is None and not place.half_page]


def _change(location: Location) -> Change:
    return Change(Role.BACKEND, location.identity, location.backend.pattern, location.pointer, location.value)
