# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where an application can still be reached although its routes show a page.

Room: maintenance. Only lists are asked for, as many as there are kinds and namespaces. What could not be looked at is
named: nobody may take it for closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..paths import value_at
from ..pointers import values
from ..problems import Problem
from ..well_known import SERVICES
from .additions import added_entries
from .backups import Backup
from .changes import latest
from .claims import claim, services_in
from .drift import put_back
from .locations import Location, ServiceRef, locations_of
from .originals import applied
from .outcome import MaintenanceOutcome
from .route_kinds import NO_PAGES, Backend, RouteKind
from .scene import Route, Scene
from .selection import is_a_solver
from .swap import Swap

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Entry = dict[str, str]


@dataclass(frozen=True)
class Closed:
    """A route as it is now, and which of its places are behind a page."""

    route: Route
    places: frozenset[str]
    services: tuple[ServiceRef, ...]  # where these places led to
    exempt: frozenset[str] = frozenset()


def closed_places(route: Route, places: Iterable[str], known: Iterable[ServiceRef], exempt: Iterable[str]) -> Closed:
    """With what the backup says of places that were closed before."""
    closed = frozenset(places)
    claims = claim(route.locations, latest(route.known).values())
    changes = [claims.of(place) for place in route.locations if place.identity in closed]
    before = [
        service
        for change in changes
        if change is not None
        for service in services_in(change, route.kind, route.namespace)
    ]
    return Closed(route, closed, tuple(dict.fromkeys([*known, *before])), frozenset(exempt))


def tell_what_stays_open(
    swaps: Iterable[tuple[Route, Swap]], scene: Scene, outcome: MaintenanceOutcome, cluster: Cluster
) -> None:
    """After these routes were changed so. Before that, ask for routes as they will be."""
    closed = [
        closed_places(
            route,
            [place.identity for place in swap.swapped],
            swap.services,
            [place.identity for place in swap.exempt],
        )
        for route, swap in swaps
    ]
    outcome.coverage, unseen = stays_open(closed, scene, cluster)
    outcome.unseen += unseen


def as_it_will_be(route: Route, swap: Swap) -> Route:
    """The route behind its page, before anything was written: with the entries that will be kept open."""
    after = Backup(route.record, route.ref, [*route.known, *swap.changes])
    return Route(route.kind, route.resource, applied(route.item, swap.operations), after)


def stays_open(closed: Sequence[Closed], scene: Scene, cluster: Cluster) -> tuple[list[Entry], list[str]]:
    """Everything that still leads to what was closed, and where we could not look."""
    unseen: list[str] = []
    mine = {one.route.uid: one for one in closed}
    routes = [mine[uid].route if uid in mine else route for uid, route in scene.routes.items()]
    leads_to = _Leads(routes, cluster, unseen)
    services = leads_to(service for one in closed for service in one.services)
    hosts = frozenset(
        host for one in closed for place in one.route.locations if place.identity in one.places for host in place.hosts
    )
    found: list[Entry] = []
    for route in routes:
        for place in route.locations:
            shared = leads_to(place.services) & services
            why = _why_open(route, place, mine.get(route.uid), shared, hosts)
            if why:
                found += _entries(route.ref.kind, route.namespace, route.ref.name, place, shared, why)
    found += _without_pages(services, cluster, unseen)
    found += _without_routes(services, cluster, unseen)
    order = ("kind", "namespace", "name", "host", "path")
    return sorted(found, key=lambda entry: [entry[key] for key in order]), unseen


def _why_open(
    route: Route, place: Location, mine: Closed | None, shared: frozenset[ServiceRef], hosts: frozenset[str]
) -> str:
    if route.is_closed(place) or (mine and place.identity in mine.places):
        return ""
    if mine is not None:
        if place.pointer.startswith(added_entries(route.item, route.kind, route.known)):
            return "kept open on purpose, as an exempt path or a bypass"
        if any(place.identity == other.identity for other in put_back(route)):
            return "put back during maintenance"
        return "an exempt path" if place.identity in mine.exempt else "not among the targets"
    if not shared and not hosts & set(place.hosts):
        return ""
    if is_a_solver(route):
        return "cert-manager proves the host by it"
    return "another route to the same Service" if shared else "another route for the same host"


def _entries(
    kind: str, namespace: str, name: str, place: Location, shared: Iterable[ServiceRef], why: str
) -> Iterator[Entry]:
    services = sorted({f"{one.namespace}/{one.name}" for one in shared or place.services})
    for host in place.hosts or ("*",):
        for path in place.paths or ("/",):
            yield _entry(kind, namespace, name, host, path, ", ".join(services), why)


def _entry(kind: str, namespace: str, name: str, host: str, path: str, service: str, why: str) -> Entry:
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "host": host,
        "path": path,
        "service": service,
        "why": why,
    }


# -- Traefik's Services of Services ------------------------------------------------------------------------------------

_INNER = (
    "/spec/weighted/services/*",
    "/spec/highestRandomWeight/services/*",
    "/spec/mirroring",
    "/spec/mirroring/mirrors/*",
    "/spec/failover/service",
    "/spec/failover/fallback",
)
_OUTER = "TraefikService"


class _Leads:
    """Where references to Services lead to in the end."""

    def __init__(self, routes: Sequence[Route], cluster: Cluster, unseen: list[str]) -> None:
        self._inner: dict[ServiceRef, list[ServiceRef]] = {}
        groups = {
            route.kind.group
            for route in routes
            for place in route.locations
            if any(service.kind == _OUTER for service in place.services)
        }
        for group in sorted(groups):
            for item in _listed(group, _OUTER, cluster, unseen):
                namespace = str(item["metadata"].get("namespace") or "")
                outer = ServiceRef(namespace, str(item["metadata"].get("name") or ""), _OUTER)
                entries = [entry for pattern in _INNER for entry in values(item, pattern) if isinstance(entry, Mapping)]
                self._inner[outer] = [
                    ServiceRef(entry.get("namespace") or namespace, entry["name"], entry.get("kind") or "Service")
                    for entry in entries
                    if entry.get("name")
                ]

    def __call__(self, services: Iterable[ServiceRef]) -> frozenset[ServiceRef]:
        found: set[ServiceRef] = set()
        waiting = list(services)
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self._inner.get(one, ())
        return frozenset(found)


# -- what has no pages -------------------------------------------------------------------------------------------------


def _passing(group: str, kind: str) -> RouteKind:
    """Where the kinds that have no pages name their Services."""
    pattern = "/spec/routes/*/services" if kind.startswith("IngressRoute") else "/spec/rules/*/backendRefs"
    backend = Backend(pattern, None, name="/*/name", namespace="/*/namespace", kind="/*/kind")
    return RouteKind(group, kind, (backend,), hosts=("/spec/hostnames/*",), expressions=("/spec/routes/{0}/match",))


def _without_pages(services: frozenset[ServiceRef], cluster: Cluster, unseen: list[str]) -> Iterator[Entry]:
    for (group, kind), why in NO_PAGES.items() if services else ():
        passing = _passing(group, kind)
        for item in _listed(group, kind, cluster, unseen):
            metadata = item["metadata"]
            for place in locations_of(item, passing):
                shared = frozenset(place.services) & services
                if shared:
                    yield from _entries(kind, metadata.get("namespace") or "", metadata["name"], place, shared, why)


def _listed(group: str, kind: str, cluster: Cluster, unseen: list[str]) -> list[dict[str, Any]]:
    finding = cluster.find_kind(group, kind)
    if finding.resource is None:
        if finding.availability.value in ("forbidden", "group unavailable"):
            unseen.append(f"{kind} of {group}: {finding.why}")
        return []
    return _list(finding.resource, None, cluster, unseen)


def _list(resource: Resource, namespace: str | None, cluster: Cluster, unseen: list[str]) -> list[dict[str, Any]]:
    try:
        return cluster.list_whole(resource, namespace)
    except Problem as problem:
        where = f" in namespace {namespace}" if namespace else ""
        unseen.append(f"{resource.qualified}{where}: {problem.why}")
        return []


# -- Services that are reached without a route -------------------------------------------------------------------------


def _without_routes(services: frozenset[ServiceRef], cluster: Cluster, unseen: list[str]) -> Iterator[Entry]:
    plain = [one for one in services if one.kind == "Service"]
    for namespace in sorted({one.namespace for one in plain}):
        items = _list(SERVICES, namespace, cluster, unseen)
        names = {one.name for one in plain if one.namespace == namespace}
        pods = [selector for item in items if item["metadata"]["name"] in names and (selector := _selector(item))]
        for item in items:
            name = item["metadata"]["name"]
            how = _how_exposed(item)
            if how and name in names:
                yield _exposed(item, namespace, f"a Service of type {how} needs no route")
            elif how and _selector(item) in pods:
                yield _exposed(item, namespace, f"a Service of type {how} for the same Pods")


def _selector(item: Mapping[str, Any]) -> Any:
    return value_at(item, "spec.selector")


def _how_exposed(item: Mapping[str, Any]) -> str:
    kind = str(value_at(item, "spec.type") or "")
    if kind in ("LoadBalancer", "NodePort"):
        return kind
    return f"{kind} with external addresses" if value_at(item, "spec.externalIPs") else ""


def _exposed(item: Mapping[str, Any], namespace: str, why: str) -> Entry:
    name = item["metadata"]["name"]
    given = [one.get("hostname") or one.get("ip") or "" for one in value_at(item, "status.loadBalancer.ingress") or ()]
    addresses = [*given, *(value_at(item, "spec.externalIPs") or ())]
    return _entry("Service", namespace, name, addresses[0] if addresses else "*", "", f"{namespace}/{name}", why)
