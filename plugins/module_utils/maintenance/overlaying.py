# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Put an overlay in front of a route, keep it up to date, and take it away.

Room: maintenance.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..events import Did
from ..objects import ref_to
from ..paths import covers
from ..pointers import ABSENT
from ..problems import CannotLook, Refused
from .changes import Change, Operation, Role, annotate
from .locations import Location
from .markers import MARKER, OVERLAY_DIGEST, OVERLAY_PLACES
from .outcome import Run
from .overlay import CLASS, Overlay, digest_of
from .scene import Route, Scene, is_overlay, short

_RACES = 10
_OURS = (MARKER, OVERLAY_DIGEST, OVERLAY_PLACES, CLASS)


def is_in_front(route: Route, overlay: Overlay) -> bool:
    """Whether just this overlay is there, whatever defaults the server has put into it."""
    return route.overlay is not None and not _operations(route.overlay, overlay)


def put_in_front(route: Route, overlay: Overlay, run: Run) -> bool:
    """After this the overlay is there, and known to the route. Whether anything had to be written."""
    for _race in range(_RACES):
        if route.overlay is None:
            written = run.cluster.create(overlay.resource, route.namespace, overlay.body)
            if written.problem and not written.raced:
                raise written.problem
            route.overlay = _read(route, overlay, run)
            if written.changed and route.overlay is not None:
                run.tell(Did("put page in front of", route.ref, written.effect.value))
                return True
            continue
        operations = _operations(route.overlay, overlay)
        if not operations:
            return False
        written = run.cluster.json_patch(overlay.resource, route.overlay.record, operations)
        if not written.raced and not written.gone:
            run.tell(Did("change page in front of", route.ref, written.effect.value))
            if written.problem:
                raise written.problem
            route.overlay = _read(route, overlay, run)
            return True
        route.overlay = _read(route, overlay, run)
    raise _too_busy(route, "put a page in front of")


def _too_busy(route: Route, what: str) -> Refused:
    return Refused(
        f"cannot {what}",
        which=str(route.ref),
        why="somebody else writes to its overlay again and again",
        next_step="find out who (managedFields tell), and run the task again",
    )


def try_in_front(route: Route, overlay: Overlay, run: Run) -> list[str]:
    """What the server would say no to."""
    if route.overlay is None:
        written = run.cluster.create(overlay.resource, route.namespace, overlay.body, dry_run=True)
    else:
        operations = _operations(route.overlay, overlay)
        written = run.cluster.json_patch(overlay.resource, route.overlay.record, operations, dry_run=True)
    return [str(written.problem)] if written.problem and not written.raced else []


def _read(route: Route, overlay: Overlay, run: Run) -> Route | None:
    item = run.cluster.read_whole(overlay.resource, route.namespace, overlay.name)
    if item is None:
        return None
    if not is_overlay(item):
        raise Refused(
            "cannot put a page in front",
            which=f"of {route.ref}",
            why=f"there is {overlay.kind.kind} {overlay.name}, which is not ours",
            next_step="look at it; delete or rename it, and run the task again",
        )
    return Route(overlay.kind, overlay.resource, item)


def _operations(now: Route, overlay: Overlay) -> list[Operation]:
    """From what is there to what shall be: nothing, if it was made of the same and is as it was made."""
    wanted = {key: overlay.annotations.get(key, ABSENT) for key in _OURS}
    made_of = now.annotations.get(OVERLAY_DIGEST)
    marks = annotate(now.item, wanted)
    if made_of == overlay.annotations[OVERLAY_DIGEST] and covers(now.item.get("spec"), overlay.spec) and not marks:
        return []
    version = {"op": "test", "path": "/metadata/resourceVersion", "value": now.record.resource_version}
    return [version, {"op": "replace", "path": "/spec", "value": overlay.spec}, *marks]


def in_front_of(overlay: Overlay) -> Change:
    """For the backup: whoever cannot see overlays must not take the route for free."""
    return Change(Role.IN_FRONT, "", overlay.kind.name, overlay.name)


def refuse_unseen(routes: Sequence[Route], scene: Scene) -> None:
    """A route whose overlay we cannot see is not free when nothing of it is seen."""
    for route in routes:
        for change in route.known:
            if change.role is Role.IN_FRONT and route.overlay is None and change.pattern not in scene.resources:
                raise CannotLook(
                    f"cannot look for {change.pattern}",
                    why=f"one called {change.pointer} was put in front of {route.ref}",
                    next_step="run the task as somebody who may list them",
                )


def covered_places(route: Route) -> list[Location]:
    """Places of a route that its overlay is in front of."""
    return [place for place in route.locations if route.overlay and route.is_closed(place)]


def take_from_front(route: Route, leaving: Sequence[Location], run: Run) -> bool:
    """The overlay goes, or stands in front of fewer places from now on. Whether anything had to be written."""
    for _race in range(_RACES):
        overlay = route.overlay
        if overlay is None:
            return False
        staying = {short(place.identity) for place in covered_places(route) if place not in leaving}
        if not staying:
            remove(overlay, run)
            route.overlay = None
            return True
        operations = _narrowed(overlay, staying)
        if not operations:
            return False
        written = run.cluster.json_patch(overlay.resource, overlay.record, operations)
        item = run.cluster.read_whole(overlay.resource, overlay.namespace, overlay.record.name)
        route.overlay = Route(overlay.kind, overlay.resource, item) if item else None
        if not written.raced and not written.gone:
            run.tell(Did("open places of", route.ref, written.effect.value))
            if written.problem:
                raise written.problem
            return True
    raise _too_busy(route, "take a page from")


def _narrowed(overlay: Route, staying: Set[str]) -> list[Operation]:
    """Its entries stand in the order in which it names its places."""
    names = overlay.annotations.get(OVERLAY_PLACES, "").split()
    entries = overlay.item["spec"].get("routes") or []
    kept = [(name, entry) for name, entry in zip(names, entries, strict=False) if name in staying]
    if len(kept) == len(names):
        return []
    spec = {**overlay.item["spec"], "routes": [entry for _name, entry in kept]}
    marks = {OVERLAY_DIGEST: digest_of(spec), OVERLAY_PLACES: " ".join(name for name, _entry in kept)}
    version = {"op": "test", "path": "/metadata/resourceVersion", "value": overlay.record.resource_version}
    return [version, {"op": "replace", "path": "/spec", "value": spec}, *annotate(overlay.item, marks)]


def remove(overlay: Route, run: Run) -> None:
    record = overlay.record
    written = run.cluster.delete(overlay.resource, record)
    run.tell(Did("delete", ref_to(overlay.resource, record), written.effect.value))
    if written.problem:
        raise written.problem
