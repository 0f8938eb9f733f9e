# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a backup holds only what putting a page in front of its route can have written.

Room: maintenance (pure). A backup is a ConfigMap, and anything can be written into it. So each of its changes has to be
one that swap.py, carving.py or overlaying.py makes: at a place that the kind of route has in its table, to the value
that stands there meanwhile. What stood there before is all that a backup may decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..pointers import ABSENT, value_of
from ..profiles.gitops_owners import GITOPS_OWNERS
from ..profiles.route_annotations import ROUTE_ANNOTATIONS
from .changes import Change, Role, annotation_pointer
from .locations import page_for, page_in, words_of
from .markers import OVERLAY_PREFIX
from .middlewares import ROUTER_MIDDLEWARES
from .route_kinds import ROUTE_KINDS, Backend, RouteKind
from .swap import value_meanwhile

# No list of a route is longer: an object has at most a few MiB.
_NUMBER = r"\d{1,6}"
_PLACEHOLDER = re.compile(r"\\\*|\\\{\d\\\}")


def why_not_ours(changes: Sequence[Change], kind: RouteKind, namespace: str, uid: str) -> str:
    """The first change that nothing of ours makes in such a route, in words; empty where all can be ours."""
    for change in changes:
        try:
            fits = _CHECKS[change.role](change, changes, kind, (namespace, uid))
        except (ValueError, TypeError, RecursionError):  # an identity that is none
            fits = False
        if not fits:
            return f"{change.role.value} at {change.pointer or change.pattern or change.identity}"
    return ""


Owner = tuple[str, str]  # namespace and uid of the route
Check = Callable[[Change, Sequence[Change], RouteKind, Owner], bool]


def _backend(change: Change, _all: Sequence[Change], kind: RouteKind, owner: Owner) -> bool:
    backend = next((one for one in kind.backends if one.pattern == change.pattern), None)
    if backend is None or not _is_known_by(change, [backend]) or not _stands_at(change.pointer, backend.pattern):
        return False
    page = page_in(change.after, backend.page)
    written = page is not None and page_for(backend.page, page, owner[0]) == change.after
    return written and _is_alike(change.before, backend.page) and page_in(change.before, backend.page) is None


def _beside(change: Change, _all: Sequence[Change], kind: RouteKind, _owner: Owner) -> bool:
    whole = "{" not in change.pattern
    if whole == bool(change.identity) or not _stands_at(change.pointer, change.pattern):
        return False
    if not whole and not _is_known_by(change, kind.backends):
        return False
    if kind.middlewares and change.pattern == kind.middlewares:
        # A chain is replaced by its members: which, only the Middlewares of that time could tell.
        return isinstance(change.before, list) and (change.after is ABSENT or isinstance(change.after, list))
    for beside in kind.beside:
        if beside.pattern == change.pattern:
            there = beside.always or change.before is not ABSENT
            meant = not beside.only_if or change.before in beside.only_if
            return there and meant and _same(change.after, value_meanwhile(change.before, beside))
    return False


def _annotation(change: Change, _all: Sequence[Change], _kind: RouteKind, _owner: Owner) -> bool:
    key, after = change.identity, change.after
    texts = all(value is ABSENT or isinstance(value, str) for value in (change.before, after))
    if not texts or change.pattern or change.pointer != annotation_pointer(key):
        return False
    if key == ROUTER_MIDDLEWARES or (key, after) in [owner.pause_object for owner in GITOPS_OWNERS]:
        return True
    rule = ROUTE_ANNOTATIONS.get(key)
    return rule is not None and not rule.refuse and _same(after, ABSENT if rule.meanwhile is None else rule.meanwhile)


def _added(change: Change, changes: Sequence[Change], kind: RouteKind, _owner: Owner) -> bool:
    """Leads to where one of the places led before, and only a part of its requests do."""
    if not (change.before is ABSENT or change.before == change.after) or not isinstance(change.after, Mapping):
        return False
    for backend in kind.backends:
        if kind.carving and change.pattern == backend.entry.rpartition("/")[0] and _is_known_by(change, [backend]):
            leads_to = value_of(change.after, backend.pattern.removeprefix(backend.pattern.rpartition("/")[0]))
            known = [one.before for one in changes if one.role is Role.BACKEND and one.pattern == backend.pattern]
            words = [value_of(change.after, key) for key in _words(backend) if key != "/name"]
            narrowed = any(word is not ABSENT and word for word in words)
            return leads_to in known and narrowed and _stands_in(change.pointer, change.pattern)
    return False


def _in_front(change: Change, _all: Sequence[Change], _kind: RouteKind, owner: Owner) -> bool:
    kinds = [one.name for one in ROUTE_KINDS if one.overlay and one.kind == "IngressRoute"]
    return change.pattern in kinds and change.pointer == f"{OVERLAY_PREFIX}{owner[1]}" and not change.identity


_CHECKS: dict[Role, Check] = {
    Role.BACKEND: _backend,
    Role.BESIDE: _beside,
    Role.ANNOTATION: _annotation,
    Role.ADDED: _added,
    Role.ADMITTED: _added,
    Role.IN_FRONT: _in_front,
}


def _words(backend: Backend) -> list[str]:
    """What an entry is known by, as pointers inside of it."""
    return [one.removeprefix(backend.entry) for one in backend.known_by if one.startswith(f"{backend.entry}/")]


def _is_known_by(change: Change, backends: Iterable[Backend]) -> bool:
    """Its identity is one that locations.py makes for such a place."""
    words = json.loads(words_of(change.identity))
    return isinstance(words, list) and any(
        words[:1] == [backend.pattern] and len(words) == 1 + len(backend.known_by) for backend in backends
    )


def _stands_at(pointer: str, pattern: str) -> bool:
    return re.fullmatch(_PLACEHOLDER.sub(lambda _found: _NUMBER, re.escape(pattern)), pointer) is not None


def _stands_in(pointer: str, pattern: str) -> bool:
    """One entry of a list, or its end."""
    place, _slash, last = pointer.rpartition("/")
    return _stands_at(place, pattern) and re.fullmatch(rf"-|{_NUMBER}", last) is not None


def _is_alike(value: Any, template: Any) -> bool:
    return isinstance(value, Mapping) if isinstance(template, Mapping) else type(value) is type(template)


def _same(one: Any, other: Any) -> bool:
    return one is other or (one is not ABSENT and other is not ABSENT and bool(one == other))
