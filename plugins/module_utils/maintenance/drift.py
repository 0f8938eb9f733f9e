# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was changed in a route while it showed a page, and by whom.

Room: maintenance (pure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..pointers import ABSENT, value_of
from .additions import added_entries
from .changes import Role, latest
from .claims import Claims, claim
from .locations import Location
from .markers import MARKER
from .scene import Route


def last_writer(item: Mapping[str, Any], part: str = "") -> str:
    """Who has changed it last, or a part of it such as `f:spec`, by what the server remembers."""
    fields = [
        one
        for one in item["metadata"].get("managedFields") or ()
        if not one.get("subresource") and (not part or part in (one.get("fieldsV1") or {}))
    ]
    times = sorted((str(one.get("time") or ""), str(one.get("manager") or "")) for one in fields)
    return times[-1][1] if times else "nobody known"


def put_back(route: Route) -> list[Location]:
    """Places that were behind the page, and lead to a backend again."""
    if not route.pages and MARKER not in route.annotations:
        return []  # a backup alone was made by a task that did not come to the route itself
    claims = _claims(route)
    return [place for place in route.locations if place.page is None and claims.of(place) is not None]


def drift_of(route: Route) -> list[str]:
    """In words, with who it was. All of it stays when the page is taken away."""
    writer = last_writer(route.item, "f:spec")
    return [f"{text} (by {writer})" for text in _edits(route)] + list(_annotations(route))


def _edits(route: Route) -> Iterator[str]:
    claims = _claims(route)
    for place in put_back(route):
        change = claims.of(place)
        same = change is not None and place.value == change.before
        yield f"{place.where} {'was put back' if same else 'leads to another backend'}"
    if route.pages or MARKER in route.annotations:
        yield from (f"the place {change.pointer} was removed" for change in claims.left)
    for place in route.locations:
        if place.pointer in claims.guessed:
            yield f"host or path of {place.where} was edited"


def _annotations(route: Route) -> Iterator[str]:
    if MARKER not in route.annotations:
        return
    for change in latest(route.known).values():
        if change.role is not Role.ANNOTATION:
            continue
        now = value_of(route.item, change.pointer)
        if now != change.after and not (now is ABSENT and change.after is ABSENT):
            yield f"annotation {change.identity} was edited (by {last_writer(route.item, 'f:metadata')})"


def _claims(route: Route) -> Claims:
    ours = added_entries(route.item, route.kind, route.known)
    places = [place for place in route.locations if not place.pointer.startswith(ours)]
    return claim(places, latest(route.known).values())
