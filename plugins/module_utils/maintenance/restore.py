# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take the page away from one route: three-way, place by place. What was edited meanwhile stays as it was edited.

Room: maintenance (pure). For each place there is what stood there before, what we wrote, and what stands there now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..paths import covers
from ..pointers import ABSENT, bound, value_of
from .additions import added_now, removals
from .changes import Change, Operation, Role, annotate, guarded, latest, put, with_entries_back
from .claims import Claims, claim
from .locations import Location, locations_of
from .markers import MARKER
from .route_kinds import RouteKind


@dataclass
class Restore:
    operations: list[Operation] = field(default_factory=list)
    restored: list[Location] = field(default_factory=list)  # as they are before
    conflicts: list[str] = field(default_factory=list)  # kept as they are, and why
    stuck: list[str] = field(default_factory=list)  # still show a page, and nobody knows what stood there
    staying: list[Location] = field(default_factory=list)  # show a page, and are not meant

    @property
    def needed(self) -> bool:
        return bool(self.operations)

    @property
    def whole(self) -> bool:
        """Nothing of the route shows a page any more."""
        return not self.stuck and not self.staying


def restore(
    item: Mapping[str, Any],
    kind: RouteKind,
    known: Sequence[Change],
    marks: Mapping[str, Any] | None = None,
    means: Callable[[Location], bool] = lambda _location: True,
) -> Restore:
    """`means`: only these places. As long as one shows a page, what belongs to the route as a whole stays as it is.

    `marks` are annotations that go with our own marker.
    """
    result = Restore()
    places = locations_of(item, kind)
    if MARKER not in annotations_in(item) and all(place.page is None for place in places):
        # The page, the marker and all the rest are one patch: without the first two, nothing was written.
        known = [change for change in known if change.role is Role.BACKEND]
    changes = latest(known)
    added = [pointer for _change, pointer in added_now(item, kind, known)]
    ours = tuple(f"{pointer}/" for pointer in added)
    locations = [location for location in places if not location.pointer.startswith(ours)]
    claims = claim(locations, changes.values())
    result.staying = [location for location in locations if location.page is not None and not means(location)]
    _restore_backends(item, [location for location in locations if location not in result.staying], claims, result)
    known_by = {claims.identity_of(location): location for location in locations if location not in result.staying}
    for change in changes.values():
        if change.role is Role.BESIDE and (change.identity or not result.staying):
            _restore_beside(item, change, known_by, result)
    if result.staying:
        result.operations = guarded(item, result.operations)
        return result
    result.conflicts += [f"{change.pointer}: was removed during maintenance, and stays so" for change in claims.left]
    result.operations += removals(added)
    wanted = _annotations(item, changes, result)
    if result.whole:
        wanted.update({**(marks or {}), MARKER: ABSENT})
    result.operations = guarded(item, result.operations + annotate(item, wanted))
    return result


def _restore_backends(item: Mapping[str, Any], locations: Sequence[Location], claims: Claims, result: Restore) -> None:
    for location in locations:
        change = claims.of(location)
        if location.page is not None and change is None:
            result.stuck.append(f"{location.where}: shows {location.page}, and no backup says what stood there")
        elif location.half_page:
            result.stuck.append(f"{location.where}: {location.half_page} stands there beside something else")
        elif location.page is None:
            if change is not None and location.value != change.before:
                result.conflicts.append(f"{location.where}: its backend was edited during maintenance, and stays so")
        elif change is not None:
            result.operations += put(item, location.pointer, change.before)
            result.restored.append(location)
            if location.pointer in claims.guessed:
                result.conflicts.append(
                    f"{location.where}: was edited during maintenance; it leads to what stood at {change.pointer}"
                )


def _restore_beside(item: Mapping[str, Any], change: Change, places: Mapping[str, Location], result: Restore) -> None:
    pointer = change.pattern
    if change.identity:
        location = places.get(change.identity)
        if location is None:
            return  # its entry is gone
        pointer = bound(change.pattern, location.chosen)
    now = value_of(item, pointer)
    if now == change.before:
        return
    merged = with_entries_back(change, now)
    if merged != now:
        result.operations += put(item, pointer, merged)
    elif _is_as_written(now, change.after):
        result.operations += put(item, pointer, change.before)
    elif not _holds_all(now, change.before):
        result.conflicts.append(f"{pointer}: was edited during maintenance, and stays so")


def _holds_all(now: Any, before: Any) -> bool:
    """A list that has everything it had, and more: nothing of ours is missing."""
    return isinstance(now, list) and isinstance(before, list) and all(entry in now for entry in before)


def _is_as_written(now: Any, after: Any) -> bool:
    if now is ABSENT or after is ABSENT:
        return now is after
    return covers(now, after)


def annotations_in(item: Mapping[str, Any]) -> Mapping[str, str]:
    return (item.get("metadata") or {}).get("annotations") or {}


def _annotations(item: Mapping[str, Any], changes: Mapping[Any, Change], result: Restore) -> dict[str, Any]:
    known = annotations_in(item)
    wanted: dict[str, Any] = {}
    for change in changes.values():
        if change.role is not Role.ANNOTATION:
            continue
        now = known.get(change.identity, ABSENT)
        if now == change.after or (now is ABSENT and change.after is ABSENT):
            wanted[change.identity] = change.before
        elif now != change.before:
            result.conflicts.append(f"annotation {change.identity}: was edited during maintenance, and stays so")
    return wanted
