# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the maintenance-operator has left: read, so that its routes can be taken back and its remains removed.

Room: maintenance. It keeps a ConfigMap `maintenance-backup-<name of the route>` with the route's old rules, marks on
the route, and pages `maintenance-<8 digits>` that count their users in an annotation.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..commands import playbook
from ..events import Did
from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..pointers import ABSENT
from ..problems import CannotLook, Refused
from ..profiles.maintenance_operator import Names
from ..well_known import CONFIG_MAPS, PODS, SERVICES
from .backups import Backup, Began, Remarks, made_at
from .changes import Change, Operation, annotate, guarded, latest
from .claims import claim
from .locations import locations_of
from .markers import (
    SEED_BACKUP_FOR,
    SEED_BACKUP_LABEL,
    SEED_HOLDER,
    SEED_LABELS,
    SEED_SERVICE,
    SEED_USED_BY,
)
from .outcome import MaintenanceOutcome, Run
from .recalling import backends_in
from .restore import restore
from .scene import Place, Route, Scene, Unreadable
from .seed_names import recognise

SEED_PAGE_NAME = re.compile(r"maintenance-[0-9a-f]{8}")
_DATA = "backup"
_PARTS = (PODS, SERVICES, CONFIG_MAPS)
# What it writes down of an Ingress, and of an IngressRoute.
_SHAPES = (frozenset({"rules", "defaultBackend"}), frozenset({"routes"}))
_KINDS = ("Ingress", "IngressRoute")
_DEFAULT_BACKEND = "/spec/defaultBackend"


def name_operator(
    scene: Scene,
    given: Names | None,
    outcome: MaintenanceOutcome,
    run: Run,
    backups: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Which annotations are the maintenance-operator's here. The result says so."""
    outcome.operator, warning = recognise(scene, given, run.cluster, backups)
    if warning:
        outcome.warn(warning, run.tell)


def is_seeds(route: Route) -> bool:
    """Marked by the maintenance-operator, or shows a page of it: ours have more digits."""
    return route.operator.marker in route.annotations or shows_seed_page(route)


def shows_seed_page(route: Route) -> bool:
    return any(map(SEED_PAGE_NAME.fullmatch, route.pages))


# -- its backups -----------------------------------------------------------------------------------------------------


def seed_backups(namespaces: Iterable[str] | None, run: Run) -> list[dict[str, Any]]:
    """ConfigMaps that the operator marks as backups. Every user who may write ConfigMaps there can make one."""
    selector = f"{'='.join(SEED_BACKUP_LABEL)},{SEED_BACKUP_FOR}"
    places = [None] if namespaces is None else sorted(set(namespaces))
    return [item for namespace in places for item in run.cluster.list_whole(CONFIG_MAPS, namespace, selector)]


def adopt_seed_backups(scene: Scene, run: Run) -> None:
    """Give routes that the maintenance-operator has changed a backup made from its own."""
    wanted = [route for route in scene.routes.values() if route.backup is None and is_seeds(route)]
    for route, item in _with_backups(wanted, run):
        if run.key.secret:
            route.unreadable = _not_signed(item)
            scene.unreadable.append(route.unreadable)
        else:
            changes = _still_meant(_changes_in(item, route), route)
            remarks = Remarks(holders=frozenset({SEED_HOLDER}))
            began = Began(by="maintenance-operator")
            if changes is not None:
                route.backup = Backup(record_of(item["metadata"]), route.ref, changes, [], began, remarks)


def inherit(routes: Sequence[Route], run: Run) -> None:
    """What its backups tell of places that show its page, and of which ours tell nothing, counts as known."""
    lost = {route.uid: places for route in routes if (places := _lost(route))}
    for route, item in _with_backups([route for route in routes if route.uid in lost], run):
        if run.key.secret:
            route.unreadable = _not_signed(item)
            continue
        claims = claim(route.locations, _changes_in(item, route) or ())
        found = [claims.by_pointer.get(pointer) for pointer in lost[route.uid]]
        route.recalled = [change for change in found if change is not None]


def _lost(route: Route) -> list[str]:
    claims = claim(route.locations, latest(route.known).values())
    shown = [place for place in route.locations if place.page and SEED_PAGE_NAME.fullmatch(place.page)]
    return [place.pointer for place in shown if claims.of(place) is None]


def _with_backups(routes: Sequence[Route], run: Run) -> Iterator[tuple[Route, dict[str, Any]]]:
    found = {}
    if routes:
        listed = seed_backups([route.namespace for route in routes], run)
        found = {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in listed}
    for route in routes:
        item = found.get((route.namespace, f"{route.operator.backups}-{route.ref.name}"))
        if item is not None and _backed_up(record_of(item["metadata"])) == route.ref.name:
            yield route, item


def _not_signed(item: Mapping[str, Any]) -> Unreadable:
    """Every user who may write ConfigMaps there can make one."""
    record = record_of(item["metadata"])
    why = Refused(
        "the backup is not trusted",
        which=f"ConfigMap {record.namespace}/{record.name}",
        why="it is the maintenance-operator's, which signs none",
        next_step="as a cluster administrator, restore the route with "
        + playbook("maintenance", {"state": "disabled", "namespace": record.namespace}),
    )
    return Unreadable(frozenset({SEED_HOLDER}), str(why))


def _backed_up(record: Record) -> str:
    """Name of the route that one of its backups is for; empty where it is none."""
    its = record.labels.get(SEED_BACKUP_LABEL[0]) == SEED_BACKUP_LABEL[1]
    return record.labels.get(SEED_BACKUP_FOR, "") if its else ""


def _changes_in(item: Mapping[str, Any], route: Route) -> list[Change] | None:
    """An Ingress and an IngressRoute of one name share one backup there: what does not fit this kind is the other's."""
    spec = {key: value for key, value in _old_spec(item).items() if value is not None}
    if not locations_of({"metadata": {"namespace": route.namespace}, "spec": spec}, route.kind):
        return None
    return backends_in(spec, route.kind, route.namespace)


def _old_spec(item: Mapping[str, Any]) -> dict[str, Any]:
    try:
        spec = json.loads((item.get("data") or {}).get(_DATA) or "{}")
    except (ValueError, RecursionError):
        return {}
    return spec if isinstance(spec, dict) else {}


def _still_meant(changes: list[Change] | None, route: Route) -> list[Change] | None:
    """It writes down `defaultBackend`, and does not swap it where there are rules."""
    now = {place.identity: place for place in route.locations if place.page is None}
    return changes and [
        change
        for change in changes
        if change.pattern != _DEFAULT_BACKEND
        or change.identity not in now
        or now[change.identity].value != change.before
    ]


def seed_backup_of(route: Route) -> bool:
    return route.backup is not None and bool(_backed_up(route.backup.record))


def forget_seed(route: Route, run: Run) -> None:
    if route.backup is not None:
        _delete(CONFIG_MAPS, route.backup.record, run)


def sweep_seed_backups(
    backups: Iterable[Mapping[str, Any]],
    scene: Scene,
    run: Run,
    *,
    old: float | None = None,
    settled: frozenset[str] = frozenset(),
    dry_run: bool = False,
) -> list[str]:
    """Of these, the ones that no route needs any more, seen at the routes themselves. What was removed, for people.

    `old`: only what was made before. `settled`: uids of routes that have a backup of ours by now.
    """
    swept = []
    for item in backups:
        record = record_of(item["metadata"])
        young = old is not None and made_at(item) > old
        if young or record.terminating or not _is_its_backup(item, scene):
            continue
        if any(_needs(route, settled) for route in _namesakes(record, scene, run)):
            continue
        # Written to a moment ago: the operator needs it again.
        if dry_run or _delete(CONFIG_MAPS, record, run, unchanged=True):
            swept.append(str(ref_to(CONFIG_MAPS, record)))
    return swept


def _is_its_backup(item: Mapping[str, Any], scene: Scene) -> bool:
    """By labels, name and content: exactly as the operator writes it."""
    record = record_of(item["metadata"])
    name = _backed_up(record)
    named = record.name in [f"{names.backups}-{name}" for names in scene.operators]
    return bool(name) and named and set(item.get("data") or {}) == {_DATA} and set(_old_spec(item)) in _SHAPES


def _namesakes(record: Record, scene: Scene, run: Run) -> Iterator[Route]:
    """The routes a backup may be for, as they are now."""
    if scene.unlisted:
        raise CannotLook("cannot look for routes", which=", ".join(scene.unlisted), why="a backup may be theirs")
    for kind, resource in scene.resources.values():
        if kind.kind in _KINDS:
            item = run.cluster.read_whole(resource, record.namespace, _backed_up(record))
            if item is not None:
                known = scene.routes.get(str(item["metadata"].get("uid") or ""))
                yield dataclasses.replace(known, item=item) if known else Route(kind, resource, item)


def _needs(route: Route, settled: frozenset[str]) -> bool:
    return route.uid not in settled and (route.is_flagged or bool(route.pages))


# -- its page on a route ---------------------------------------------------------------------------------------------


def taken_back(route: Route, marks: Sequence[str]) -> list[Operation]:
    """The patch after which a route is as it was before the operator came: without its page and these marks."""
    gone = {mark: ABSENT for mark in marks if mark in route.annotations}
    if route.recalled and shows_seed_page(route):
        return restore(route.item, route.kind, route.known, gone).operations
    return guarded(route.item, annotate(route.item, gone))


# -- its pages -------------------------------------------------------------------------------------------------------


def sweep_seed_pages(
    scene: Scene,
    namespaces: Iterable[str] | None,
    run: Run,
    *,
    used_by: Sequence[Route] | None = None,
    settled: frozenset[str] = frozenset(),
    dry_run: bool = False,
) -> list[str]:
    """Pages of the maintenance-operator that no route shows, and that it is not about to show. What was removed.

    Its own count of their users is not to be trusted: only to keep a page, or to find one. `used_by`: only pages of
    these routes, as they were. `settled`: uids of routes that will show another page.
    """
    if scene.unlisted:
        raise CannotLook(
            "cannot look for routes", which=", ".join(scene.unlisted), why="they may show one of its pages"
        )
    selector = ",".join(f"{key}={value}" for key, value in SEED_LABELS.items())
    places = [None] if namespaces is None else sorted(set(namespaces))
    routes = [route for route in scene.routes.values() if route.uid not in settled]
    shown = {(route.namespace, page) for route in routes for page in route.pages}
    awaiting = {(route.namespace, route.ref.name) for route in routes if route.is_flagged}
    parts = [
        (resource, record)
        for namespace in places
        for resource in _PARTS
        for record in run.cluster.list(resource, namespace, selector).records
    ]
    counted = [record for _resource, record in parts if SEED_USED_BY in record.annotations]
    users = {(record.namespace, record.name): _users(record) for record in counted}
    kept = shown | {place for place, names in users.items() if any((place[0], name) in awaiting for name in names)}
    found = None if used_by is None else _pages_of(used_by, users)
    swept = []
    for resource, record in parts:
        place = (record.namespace, record.name)
        if place not in kept and not record.terminating and (found is None or place in found):
            swept.append(str(ref_to(resource, record)))
            if not dry_run:
                _delete(resource, record, run)
    return swept


def _users(record: Record) -> list[str]:
    return [name.strip() for name in record.annotations[SEED_USED_BY].split(",")]


def _pages_of(routes: Sequence[Route], users: Mapping[Place, Sequence[str]]) -> set[Place]:
    """What these routes show, what they are marked with, and what counts them among its users."""
    found = {(route.namespace, page) for route in routes for page in route.pages}
    found |= {(route.namespace, route.annotations.get(SEED_SERVICE, "")) for route in routes}
    named = {(route.namespace, route.ref.name) for route in routes}
    return found | {place for place, names in users.items() if any((place[0], name) in named for name in names)}


def _delete(resource: Resource, record: Record, run: Run, *, unchanged: bool = False) -> bool:
    """Whether it was done by us. `unchanged`: only as it was read."""
    written = run.cluster.delete(resource, record, unchanged=unchanged)
    if unchanged and written.problem and written.raced:
        return False
    ref = ObjectRef(resource.api_version, resource.kind, record.namespace, record.name, record.uid)
    run.tell(Did("delete", ref, written.effect.value))
    if written.problem:
        raise written.problem
    return written.changed
