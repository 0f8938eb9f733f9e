# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which recorded backend belongs to which place of a route as it is now.

Room: maintenance (pure). Entries are known by their words (host, path, match), wherever they have moved. One whose
words were edited is found by what is left over on both sides; where that could mean several, nobody guesses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..pointers import place_order
from .changes import Change, Role
from .locations import Location, ServiceRef, services_at, words_of
from .route_kinds import RouteKind

Item = TypeVar("Item")
# Words that nearly every entry has: to share one of them means nothing.
_SAY_NOTHING = frozenset({"Prefix", "Exact", "ImplementationSpecific", "PathPrefix", "RegularExpression", "/"})


@dataclass
class Claims:
    by_pointer: dict[str, Change] = field(default_factory=dict)  # of the place as it is now
    guessed: set[str] = field(default_factory=set)  # pointers of places whose words were edited
    left: list[Change] = field(default_factory=list)  # recorded, and no place is theirs any more

    def of(self, location: Location) -> Change | None:
        return self.by_pointer.get(location.pointer)

    def identity_of(self, location: Location) -> str:
        """By what the place is known in the backup."""
        change = self.of(location)
        return change.identity if change is not None else location.identity


def claim(locations: Sequence[Location], changes: Iterable[Change]) -> Claims:
    backends = sorted((one for one in changes if one.role is Role.BACKEND), key=lambda one: place_order(one.pointer))
    claims = Claims()
    places = _grouped(locations, lambda one: words_of(one.identity))
    for words, recorded in _grouped(backends, lambda one: words_of(one.identity)).items():
        for location, change in _by_words(places.get(words, []), recorded):
            claims.by_pointer[location.pointer] = change
    taken = {one.identity for one in claims.by_pointer.values()}
    claims.left = [change for change in backends if change.identity not in taken]
    strangers = [one for one in locations if one.page is not None and claims.of(one) is None]
    for location, change in _by_what_is_left(strangers, claims.left):
        claims.by_pointer[location.pointer] = change
        claims.guessed.add(location.pointer)
        claims.left.remove(change)
    return claims


def _by_words(places: Sequence[Location], recorded: Sequence[Change]) -> Iterable[tuple[Location, Change]]:
    """Entries with the same words are told apart by their order, which only helps as long as none has come or gone."""
    shown = [one for one in places if one.page is not None]
    if len(places) == len(recorded):
        return zip(places, recorded, strict=True)
    if len(shown) == len(recorded):
        return zip(shown, recorded, strict=True)
    if places and all(one.before == recorded[0].before for one in recorded):
        return zip(shown or places, recorded, strict=False)
    return []


def _by_what_is_left(strangers: Sequence[Location], left: Sequence[Change]) -> list[tuple[Location, Change]]:
    found: list[tuple[Location, Change]] = []
    for pattern in dict.fromkeys(one.backend.pattern for one in strangers):
        places = [one for one in strangers if one.backend.pattern == pattern]
        recorded = [one for one in left if one.pattern == pattern]
        if len(places) == len(recorded):
            found += zip(places, recorded, strict=True)
        else:
            found += [(place, one) for place in places if (one := _only_relative(place, places, recorded))]
    return found


def _only_relative(place: Location, places: Sequence[Location], recorded: Sequence[Change]) -> Change | None:
    """The one entry that shares a word with this place, and with no other."""
    kin = [one for one in recorded if _share_a_word(place.identity, one.identity)]
    if len(kin) != 1 or sum(_share_a_word(other.identity, kin[0].identity) for other in places) != 1:
        return None
    return kin[0]


def _share_a_word(one: str, other: str) -> bool:
    return bool(_texts(json.loads(words_of(one))[1:]) & _texts(json.loads(words_of(other))[1:]))


def _texts(value: Any) -> set[str]:
    """Hosts, paths and names inside of words; of a rule, what stands there in quotes."""
    if isinstance(value, dict):
        return _texts(list(value.values()))
    if isinstance(value, list):
        return set().union(*map(_texts, value))
    if not isinstance(value, str) or value in _SAY_NOTHING:
        return set()
    return set(re.findall(r"[`\"]([^`\"]+)[`\"]", value)) or {value}


def _grouped(items: Iterable[Item], key: Callable[[Item], str]) -> dict[str, list[Item]]:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def services_in(change: Change, kind: RouteKind, namespace: str) -> list[ServiceRef]:
    """The Services that a recorded backend names, read by the same table as those of a route."""
    places = [backend for backend in kind.backends if backend.pattern == change.pattern]
    return [service for backend in places for service in services_at(change.before, backend, namespace)]
