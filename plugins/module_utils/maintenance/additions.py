# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Entries that stand in a route only because of us: where they are now, and the patch that brings them up to date.

Room: maintenance (pure). They lead to the application while the rest shows the page. In a backup each is a change whose
`before` is absent; one that was taken away again is recorded once more, with `before` the same as `after`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..paths import covers
from ..pointers import bound, value_of
from .changes import Change, Operation, latest
from .locations import locations_of
from .route_kinds import RouteKind


def added_now(item: Mapping[str, Any], kind: RouteKind, known: Sequence[Change]) -> list[tuple[Change, str]]:
    """Each entry of ours that is still as we wrote it, whatever defaults the server has put into it, and its place."""
    changes = [one for one in latest(known).values() if one.role.is_an_entry and one.before != one.after]
    if not changes:
        return []
    chosen = {location.identity: location.chosen for location in locations_of(item, kind)}
    found: list[tuple[Change, str]] = []
    taken: set[str] = set()
    for change in changes:
        place = list_of(change, chosen)
        entries = value_of(item, place)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            pointer = f"{place}/{number}"
            if pointer not in taken and covers(entry, change.after):
                taken.add(pointer)
                found.append((change, pointer))
                break
    return found


def added_entries(item: Mapping[str, Any], kind: RouteKind, known: Sequence[Change]) -> tuple[str, ...]:
    """The same as prefixes of pointers: whatever stands below them is ours."""
    return tuple(f"{pointer}/" for _change, pointer in added_now(item, kind, known))


def list_of(change: Change, chosen: Mapping[str, tuple[int, ...]]) -> str:
    """The list an entry is in: that of the entry it was made for, or where that one stood, if it is gone."""
    if "{" not in change.pattern:
        return change.pattern
    if change.identity in chosen:
        return bound(change.pattern, chosen[change.identity])
    return change.pointer.rpartition("/")[0]


def removals(pointers: Iterable[str]) -> list[Operation]:
    """From the back of each list, so that the places before stay true."""
    ordered = sorted(pointers, key=lambda one: [int(key) if key.isdigit() else 0 for key in one.split("/")])
    return [{"op": "remove", "path": pointer} for pointer in reversed(ordered)]


def brought_up_to_date(
    item: Mapping[str, Any], kind: RouteKind, known: Sequence[Change], wanted: Sequence[Change]
) -> tuple[list[Change], list[Operation]]:
    """What to record and to send, so that of our entries exactly those stand there that are wanted.

    Places of wanted entries count in the lists without ours. The operations come after all others of a patch: they
    move what stands behind them.
    """
    present = added_now(item, kind, known)
    keys = {change.key for change in wanted}
    leaving = [(change, pointer) for change, pointer in present if change.key not in keys]
    staying = {change.key for change, pointer in present if change.key in keys}
    coming = [change for change in wanted if change.key not in staying]
    if any(_is_in_front(change) for change in wanted) and (leaving or coming or _have_moved(present, wanted)):
        # Places in the middle are only right in a list without any of ours.
        leaving, coming = list(present), list(wanted)
    gone = [dataclasses.replace(change, before=change.after) for change, _pointer in leaving if change.key not in keys]
    adding = sorted(coming, key=_place)
    return gone + coming, [*removals(pointer for _change, pointer in leaving), *_insertions(adding)]


def _is_in_front(change: Change) -> bool:
    return not change.pointer.endswith("/-")


def _have_moved(present: Sequence[tuple[Change, str]], wanted: Sequence[Change]) -> bool:
    places = {change.key: change.pointer for change in wanted}
    ours = {pointer for _change, pointer in present}
    return any(_without(pointer, ours) != places[change.key] for change, pointer in present if change.key in places)


def _without(pointer: str, ours: set[str]) -> str:
    """The place an entry would have, were none of ours before it."""
    place, _slash, number = pointer.rpartition("/")
    before = sum(f"{place}/{one}" in ours for one in range(int(number)))
    return f"{place}/{int(number) - before}"


def _place(change: Change) -> tuple[str, int]:
    place, _slash, number = change.pointer.rpartition("/")
    return place, int(number) if number.isdigit() else -1


def _insertions(adding: Sequence[Change]) -> list[Operation]:
    """What goes to the end in order; what goes to the middle from the back, so that the places before stay true."""
    at_the_end = [change for change in adding if not _is_in_front(change)]
    in_front = [change for change in adding if _is_in_front(change)]
    return [{"op": "add", "path": one.pointer, "value": one.after} for one in (*at_the_end, *reversed(in_front))]
