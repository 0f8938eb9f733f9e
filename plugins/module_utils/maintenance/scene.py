# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is there: every route of every known kind, the pages and the backups. Looked at once, by lists.

Room: maintenance. "Could not look" is never "nothing there": a kind that cannot be listed is an error where it is
needed, and is named where it only would have been good to know.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..problems import BadOption, CannotLook, Interrupted, Problem, Refused
from ..profiles.maintenance_operator import DEFAULT_NAMES, Names
from ..well_known import CONFIG_MAPS
from .backup_key import NO_KEY, BackupKey
from .backups import Backup, backup_name, holders_in, made_at, not_readable, read_backup
from .changes import Change
from .checked_backup import why_not_ours
from .locations import Location, locations_of
from .markers import BACKUP, DIGEST, MARKER, OVERLAY, OVERLAY_PLACES, PAGE, ROLE
from .route_kinds import NO_PAGES, RouteKind

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_OURS = f"{ROLE} in ({PAGE},{BACKUP})"
Place = tuple[str, str]  # namespace and name
_MANY_NAMESPACES = 16  # from here on one list of everything is cheaper than one a namespace


@dataclass
class Route:
    """One route as it was read, with its backup if it has one."""

    kind: RouteKind
    resource: Resource
    item: Mapping[str, Any]
    backup: Backup | None = None
    recalled: Sequence[Change] = ()  # of places that the backup does not tell of
    overlay: Route | None = None  # a second route in front of it, made by us
    unreadable: Unreadable | None = None  # what should be its backup
    operator: Names = DEFAULT_NAMES  # how the maintenance-operator calls its annotations here

    @property
    def known(self) -> Sequence[Change]:
        """What is known of how it was before."""
        return [*(self.backup.changes if self.backup else ()), *self.recalled]

    @property
    def record(self) -> Record:
        return record_of(self.item["metadata"])

    @property
    def uid(self) -> str:
        return str(self.item["metadata"].get("uid") or "")

    @property
    def namespace(self) -> str:
        return str(self.item["metadata"].get("namespace") or "")

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def locations(self) -> list[Location]:
        return locations_of(self.item, self.kind)

    @property
    def pages(self) -> set[str]:
        """Names of the pages it shows now."""
        own = {location.page for location in self.locations if location.page}
        return own | self.overlay.pages if self.overlay else own

    def is_closed(self, location: Location) -> bool:
        """Whether one of its places shows a page, by itself or by what is in front of it."""
        return location.page is not None or short(location.identity) in covered_by(self.overlay)

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.item["metadata"].get("annotations") or {}

    @property
    def is_flagged(self) -> bool:
        """The maintenance-operator is asked for its page."""
        return self.annotations.get(self.operator.enabled) == self.operator.value

    @property
    def operators_marks(self) -> tuple[str, ...]:
        """Annotations of the maintenance-operator that it carries."""
        return tuple(mark for mark in self.operator.marks if mark in self.annotations)

    @property
    def is_in_maintenance(self) -> bool:
        return bool(self.backup or self.pages or MARKER in self.annotations)


def covered_by(overlay: Route | None) -> frozenset[str]:
    """The places an overlay is in front of, by their short names."""
    return frozenset(overlay.annotations.get(OVERLAY_PLACES, "").split()) if overlay else frozenset()


def short(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:10]


@dataclass
class HostedPage:
    """A page that is there: its ConfigMap, and the routes it is kept for."""

    record: Record
    owners: tuple[str, ...]
    digest: str
    made_at: float = 0.0

    @property
    def place(self) -> tuple[str, str]:
        return self.record.namespace, self.record.name


@dataclass(frozen=True)
class Unreadable:
    """A ConfigMap that calls itself a backup and is none."""

    holders: frozenset[str]
    why: str


@dataclass
class Scene:
    routes: dict[str, Route] = field(default_factory=dict)  # by uid
    pages: dict[tuple[str, str], HostedPage] = field(default_factory=dict)
    orphans: list[Backup] = field(default_factory=list)  # backups of routes that are not there
    strays: list[Route] = field(default_factory=list)  # overlays of routes that are not there
    resources: dict[str, tuple[RouteKind, Resource]] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)  # where we could not look, and why
    unlisted: list[str] = field(default_factory=list)  # kinds of routes among them
    operators: list[Names] = field(default_factory=lambda: [DEFAULT_NAMES])  # of the maintenance-operator
    unreadable: list[Unreadable] = field(default_factory=list)


def look(
    kinds: Sequence[RouteKind],
    namespaces: frozenset[str] | None,
    cluster: Cluster,
    *,
    widely: bool = True,
    needed: frozenset[tuple[str, str]] | None = None,
    key: BackupKey = NO_KEY,
) -> Scene:
    """`namespaces`: where targets may be (None: everywhere). `widely`: all routes, for what stays reachable.

    `needed`: kinds that targets may have (None: all). The others would only have been good to know. `key`: with which
    backups have to be signed.
    """
    scene = Scene()
    wide = None if widely else namespaces
    found: list[Route] = []
    for kind in kinds:
        try:
            resource = _served(kind, cluster)
            if resource is not None:
                found += _routes(kind, resource, wide, namespaces, scene, cluster)
                scene.resources[kind.name] = (kind, resource)
        except Interrupted:
            raise
        except Problem as problem:
            if needed is None or (kind.group, kind.kind) in needed:
                raise
            scene.unseen.append(f"{kind.name}: {problem.why}")
            scene.unlisted.append(kind.name)
    overlays = [route for route in found if is_overlay(route.item)]
    scene.routes = {route.uid: route for route in found if route not in overlays}
    scene.strays = _put_in_front(overlays, scene.routes)
    for item in _config_maps(namespaces, cluster):
        _sort_in(item, scene, key)
    return scene


def is_overlay(item: Mapping[str, Any]) -> bool:
    """One of ours in front of another route: never a target itself."""
    return bool((item["metadata"].get("labels") or {}).get(ROLE) == OVERLAY)


def _put_in_front(overlays: Iterable[Route], routes: Mapping[str, Route]) -> list[Route]:
    """Each overlay belongs to the route that owns it. Those whose route is not there."""
    strays = []
    for overlay in overlays:
        owner = next((routes[uid] for uid in overlay.record.owner_uids if uid in routes), None)
        if owner is None:
            strays.append(overlay)
        else:
            owner.overlay = overlay
    return strays


def look_again(routes: Iterable[Route], cluster: Cluster) -> dict[str, Route]:
    """The same routes as they are now, by uid; those that are gone or were made anew are missing."""
    wanted = {route.uid: route for route in routes}
    places: dict[str, set[str]] = {}
    for route in wanted.values():
        places.setdefault(route.kind.name, set()).add(route.namespace)
    found: dict[str, Route] = {}
    for route in {one.kind.name: one for one in wanted.values()}.values():
        for item in _items(route.resource, frozenset(places[route.kind.name]), cluster):
            known = wanted.get(item["metadata"].get("uid") or "")
            if known is not None:
                found[known.uid] = dataclasses.replace(known, item=item, overlay=None)
    fronts = {route.overlay.resource: route.overlay.kind for route in wanted.values() if route.overlay}
    for resource, kind in fronts.items():
        namespaces = frozenset(route.namespace for route in wanted.values() if route.overlay)
        items = _items(resource, namespaces, cluster)
        _put_in_front([Route(kind, resource, item) for item in items if is_overlay(item)], found)
    return found


def look_for_held(
    holder: str, namespaces: frozenset[str] | None, cluster: Cluster, key: BackupKey = NO_KEY
) -> tuple[list[Backup], list[Unreadable]]:
    """Backups of routes that are in maintenance on behalf of this one, and those that only say so."""
    seen = Scene()
    for item in _config_maps(namespaces, cluster):
        _sort_in(item, seen, key)
    held = [backup for backup in seen.orphans if holder in backup.holders]
    return held, [one for one in seen.unreadable if holder in one.holders]


def look_at_ours(
    namespaces: frozenset[str], cluster: Cluster, key: BackupKey = NO_KEY
) -> tuple[dict[Place, HostedPage], dict[str, Backup]]:
    """Pages by place, and backups by the uid of their route, as they are now."""
    seen = Scene()
    for item in _config_maps(namespaces, cluster):
        _sort_in(item, seen, key)
    return seen.pages, {backup.target.uid: backup for backup in seen.orphans}


def _served(kind: RouteKind, cluster: Cluster) -> Resource | None:
    finding = cluster.find_kind(kind.group, kind.kind)
    if finding.availability.value in ("forbidden", "group unavailable"):
        raise CannotLook(
            f"cannot look for {kind.kind} routes",
            why=finding.why,
            next_step="bring this API back (kubectl get apiservices), or give each target a kind",
        )
    return finding.resource


def _routes(
    kind: RouteKind,
    resource: Resource,
    wide: frozenset[str] | None,
    namespaces: frozenset[str] | None,
    scene: Scene,
    cluster: Cluster,
) -> list[Route]:
    try:
        items = _items(resource, wide, cluster)
    except Problem as problem:
        if wide == namespaces:
            raise
        scene.unseen.append(f"{resource.qualified} of other namespaces: {problem.why}")
        items = _items(resource, namespaces, cluster)
    return [Route(kind, resource, item) for item in items]


def _items(resource: Resource, namespaces: frozenset[str] | None, cluster: Cluster) -> list[dict[str, Any]]:
    if namespaces is None or len(namespaces) > _MANY_NAMESPACES:
        try:
            return cluster.list_whole(resource)
        except Problem:
            if namespaces is None:
                raise
    return [item for namespace in sorted(namespaces or ()) for item in cluster.list_whole(resource, namespace)]


def _config_maps(namespaces: frozenset[str] | None, cluster: Cluster) -> list[dict[str, Any]]:
    if namespaces is None:
        return cluster.list_whole(CONFIG_MAPS, None, _OURS)
    return [item for namespace in sorted(namespaces) for item in cluster.list_whole(CONFIG_MAPS, namespace, _OURS)]


def _sort_in(item: Mapping[str, Any], scene: Scene, key: BackupKey) -> None:
    record = record_of(item["metadata"])
    if record.labels.get(ROLE) == PAGE:
        page = HostedPage(record, record.owner_uids, record.annotations.get(DIGEST, ""), made_at(item))
        scene.pages[page.place] = page
        return
    try:
        backup = read_backup(item, key)
        route = scene.routes.get(backup.target.uid)
        # A user of one namespace must not decide how a route of another one was before.
        if route is None or route.namespace != record.namespace:
            scene.orphans.append(backup)
        else:
            _refuse_what_is_not_ours(backup, route)
            route.backup = backup
    except Refused as problem:
        _set_aside(record, str(problem), scene)


def _refuse_what_is_not_ours(backup: Backup, route: Route) -> None:
    why = why_not_ours(backup.changes, route.kind, route.namespace, route.uid)
    same = (backup.target.kind, backup.target.name) == (route.ref.kind, route.ref.name)
    if why or not same:
        what = f"it holds a change that no page makes ({why})" if same else f"it was made for {backup.target}"
        raise not_readable(backup.record.namespace, backup.record.name, what)


def _set_aside(record: Record, why: str, scene: Scene) -> None:
    """It must not hold up the routes of others; its own one, which only its name tells, is not touched."""
    found = Unreadable(holders_in(record.annotations), why)
    scene.unreadable.append(found)
    own = [route for route in scene.routes.values() if backup_name(route.uid) == record.name]
    for route in own:
        if route.namespace == record.namespace:
            route.unreadable = found


def find_kinds(names: Iterable[str], kinds: Sequence[RouteKind], cluster: Cluster) -> list[RouteKind]:
    """The kinds somebody names, in any spelling. What has no pages, or is not known, is an error that says why."""
    found = []
    for name in dict.fromkeys(names):
        resource, _warning = cluster.resolve(name)
        if resource is None:
            raise BadOption(f"targets: {name}", why="this kind is not installed", next_step="check its name")
        refusal = NO_PAGES.get((resource.group, resource.kind))
        if refusal:
            raise BadOption(f"targets: {resource.kind}", why=f"no page can be shown: {refusal}")
        kind = next((one for one in kinds if (one.group, one.kind) == (resource.group, resource.kind)), None)
        if kind is None:
            known = ", ".join(sorted({one.kind for one in kinds}))
            raise BadOption(
                f"targets: {resource.kind}",
                why=f"we do not know where this kind keeps its backends; known are {known}",
                next_step="say it with route_kinds",
            )
        found.append(kind)
    return found
