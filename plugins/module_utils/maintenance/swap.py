# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put a page in front of one route: which places change, and the patch that changes them.

Room: maintenance (pure). Nothing is decided here about other routes, and nothing is sent.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..pointers import ABSENT, bound, value_of
from ..profiles.route_annotations import ROUTE_ANNOTATIONS
from .additions import added_entries, brought_up_to_date
from .changes import (
    Change,
    Operation,
    Role,
    annotate,
    annotation_pointer,
    guarded,
    latest,
    put,
    with_entries_back,
)
from .claims import Claims, claim
from .locations import Location, ServiceRef, locations_of, other_services, page_for
from .markers import MARKER
from .middlewares import NO_MIDDLEWARES, ROUTER_MIDDLEWARES, Middlewares
from .route_kinds import Beside, RouteKind

# Entries for what stays open, for the chosen places of a route as it is now, with what its backup holds: carving.py.
Carve = Callable[[Mapping[str, Any], RouteKind, Sequence[Change], Sequence[Location]], "list[Change]"]
# An entry of a list: by what it is known, and which one it is now. Nothing for the route as a whole.
Entry = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Wish:
    """Which places of a route are meant. Empty means all."""

    hosts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    service: str = ""

    def takes(self, location: Location) -> bool:
        return (
            _one_fits(self.hosts, location.hosts)
            and _one_fits(self.paths, location.paths)
            and (not self.service or any(one.name == self.service for one in location.services))
        )


@dataclass(frozen=True)
class Selection:
    """All wishes for one route together, and the paths that stay open whatever they say."""

    wishes: tuple[Wish, ...] = (Wish(),)
    exempt: tuple[str, ...] = ()
    # Annotations for the time: by these whoever would put the route back is asked not to.
    annotations: tuple[tuple[str, str], ...] = ()
    # Annotations of the maintenance-operator, whose page this one takes over: they go for good.
    marks: tuple[str, ...] = ()

    def takes(self, location: Location) -> bool:
        return any(wish.takes(location) for wish in self.wishes)

    def exempts(self, location: Location) -> bool:
        """All paths of the place begin with an exempt one."""
        return bool(location.paths) and all(is_below(path, self.exempt) for path in location.paths)


def _one_fits(globs: Sequence[str], texts: Sequence[str]) -> bool:
    return not globs or any(fnmatch.fnmatchcase(text, glob) for glob in globs for text in texts)


def is_below(path: str, starts: Sequence[str]) -> bool:
    return any(path == start.rstrip("/") or path.startswith(start.rstrip("/") + "/") for start in starts)


@dataclass
class Swap:
    """What putting the page in front of one route comes to."""

    changes: list[Change] = field(default_factory=list)  # not in the backup yet
    operations: list[Operation] = field(default_factory=list)
    swapped: list[Location] = field(default_factory=list)  # as they are before
    exempt: list[Location] = field(default_factory=list)
    lost: list[Location] = field(default_factory=list)  # show a page already, and nobody knows what stood there
    services: list[ServiceRef] = field(default_factory=list)  # what the places pointed at, where it is known

    @property
    def needed(self) -> bool:
        return bool(self.operations)


def swap(
    item: Mapping[str, Any],
    kind: RouteKind,
    selection: Selection,
    page: str,
    known: Sequence[Change] = (),
    middlewares: Middlewares = NO_MIDDLEWARES,
    carve: Carve = lambda _item, _kind, _known, _chosen: [],
) -> Swap:
    """`known` is what the backup of this route holds: what is in it already is never recorded from a swapped route."""
    result = Swap()
    recorded = latest(known)
    namespace = str((item.get("metadata") or {}).get("namespace") or "")
    ours = added_entries(item, kind, known)
    places = [location for location in locations_of(item, kind) if not location.pointer.startswith(ours)]
    claims = claim(places, recorded.values())
    chosen = [location for location in places if _is_chosen(location, selection, claims, result)]
    for location in chosen:
        identity = claims.identity_of(location)
        _swap_backend(item, location, identity, page, namespace, recorded, result)
        for beside in kind.beside:
            if "{" in beside.pattern:
                _swap_beside(item, beside, (identity, location.chosen), recorded, result)
        if kind.middlewares:
            entry = (identity, location.chosen)
            _swap_middlewares(item, kind.middlewares, entry, namespace, middlewares, recorded, result)
    if chosen:
        result.services += other_services(item, kind)
        for beside in kind.beside:
            if "{" not in beside.pattern:
                _swap_beside(item, beside, ("", ()), recorded, result)
        additions, operations = brought_up_to_date(item, kind, known, carve(item, kind, known, chosen))
        result.changes += [change for change in additions if _is_news(change, recorded)]
        result.operations += operations
        meanwhile = {**dict(selection.annotations), **annotations_meanwhile(item, middlewares)}
        result.operations += _swap_annotations(item, page, meanwhile, recorded, result)
    result.operations = guarded(item, result.operations)
    return result


def _is_chosen(location: Location, selection: Selection, claims: Claims, result: Swap) -> bool:
    if location.page is not None:
        if claims.of(location) is None:
            result.lost.append(location)
        return True  # what shows a page is ours to keep up to date, whatever was selected this time
    if selection.exempts(location):
        result.exempt.append(location)
        return False
    if selection.takes(location) and location.half_page:
        result.lost.append(location)
    return selection.takes(location)


def _swap_backend(
    item: Mapping[str, Any],
    location: Location,
    identity: str,
    page: str,
    namespace: str,
    recorded: Mapping[Any, Change],
    result: Swap,
) -> None:
    result.swapped.append(location)
    after = page_for(location.backend.page, page, namespace)
    change = Change(Role.BACKEND, identity, location.backend.pattern, location.pointer, location.value, after)
    if location.page is None:
        result.services += location.services
        if _is_news(change, recorded):
            result.changes.append(change)
    if location.page != page:
        result.operations += put(item, location.pointer, after)


def _swap_beside(
    item: Mapping[str, Any], beside: Beside, entry: Entry, recorded: Mapping[Any, Change], result: Swap
) -> None:
    identity, chosen = entry
    pointer = bound(beside.pattern, chosen)
    now = value_of(item, pointer)
    if (now is ABSENT and not beside.always) or (beside.only_if and now not in beside.only_if):
        return
    after = value_meanwhile(now, beside)
    if now == after:
        return
    _note(item, Change(Role.BESIDE, identity, beside.pattern, pointer, now, after), recorded, result)


def value_meanwhile(now: Any, beside: Beside) -> Any:
    """What stands beside a backend while the page is shown."""
    key, words = beside.without
    if not key:
        return beside.page
    entries = now if isinstance(now, list) else []
    left = [entry for entry in entries if not (isinstance(entry, Mapping) and entry.get(key) in words)]
    return left if left or not entries else ABSENT


def _swap_middlewares(
    item: Mapping[str, Any],
    pattern: str,
    entry: Entry,
    namespace: str,
    middlewares: Middlewares,
    recorded: Mapping[Any, Change],
    result: Swap,
) -> None:
    identity, chosen = entry
    pointer = bound(pattern, chosen)
    now = value_of(item, pointer)
    if not isinstance(now, list):
        return
    left = middlewares.left_of_references(now, namespace)
    if left != now:
        after = left or ABSENT
        _note(item, Change(Role.BESIDE, identity, pattern, pointer, now, after), recorded, result)


def _note(item: Mapping[str, Any], change: Change, recorded: Mapping[Any, Change], result: Swap) -> None:
    before = recorded.get(change.key)
    if before is not None:  # what we took out of a list the last time belongs to it still
        change = dataclasses.replace(change, before=with_entries_back(before, change.before))
    if _is_news(change, recorded):
        result.changes.append(change)
    result.operations += put(item, change.pointer, change.after)


def _is_news(change: Change, recorded: Mapping[Any, Change]) -> bool:
    before = recorded.get(change.key)
    return before is None or before.before != change.before


def annotations_meanwhile(item: Mapping[str, Any], middlewares: Middlewares = NO_MIDDLEWARES) -> dict[str, Any]:
    """Annotations that would break the page, hide it or go around it, and what each is while it is shown."""
    known = (item.get("metadata") or {}).get("annotations") or {}
    meanwhile: dict[str, Any] = {}
    for key, now in known.items():
        rule = ROUTE_ANNOTATIONS.get(key)
        if rule is not None and not rule.refuse:
            meanwhile[key] = ABSENT if rule.meanwhile is None else rule.meanwhile
        elif key == ROUTER_MIDDLEWARES:
            meanwhile[key] = middlewares.left_of_annotation(now) or ABSENT
    return {key: after for key, after in meanwhile.items() if after != known[key]}


def _swap_annotations(
    item: Mapping[str, Any], page: str, meanwhile: Mapping[str, Any], recorded: Mapping[Any, Change], result: Swap
) -> list[Operation]:
    known = (item.get("metadata") or {}).get("annotations") or {}
    wanted: dict[str, Any] = {key: after for key, after in meanwhile.items() if known.get(key, ABSENT) != after}
    for key, after in wanted.items():
        change = Change(Role.ANNOTATION, key, "", annotation_pointer(key), known.get(key, ABSENT), after)
        if _is_news(change, recorded):
            result.changes.append(change)
    if known.get(MARKER) != page:
        wanted[MARKER] = page
    return annotate(item, wanted)
