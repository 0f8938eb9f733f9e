# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task must know beyond each route itself: Traefik's Middlewares and classes, and the routers side by side.

Room: maintenance. Only what this task needs is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..problems import Interrupted, Problem
from .carving import Openings, why_not_open
from .locations import locations_of
from .middlewares import GROUPS, Middlewares, known_middlewares
from .options import MaintenanceOptions
from .originals import as_it_was
from .overlay import CLASS, USUAL_CLASS, Overlay, Traefik, overlay_for, why_no_overlay
from .scene import Route, Scene
from .swap import Selection
from .traefik_rules import V2, V3, Dialect, Router, is_broken, router_of

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_CONTROLLER = "traefik.io/ingress-controller"


@dataclass(frozen=True)
class Surroundings:
    middlewares: Middlewares = field(default_factory=Middlewares)
    openings: Openings = field(default_factory=Openings)
    traefik: Traefik = field(default_factory=Traefik)
    strategy: str = "swap"
    warnings: tuple[str, ...] = ()

    def overlays(self, route: Route, selection: Selection) -> bool:
        """Whether this route is left as it is, with another one in front. What began one way goes on that way."""
        if self.strategy == "auto" and not route.overlay:
            swapped = bool(route.known or route.pages)
            return not swapped and not why_no_overlay(route, selection, self.traefik, self.openings)
        return self.strategy != "swap"

    def why_not(self, route: Route, selection: Selection) -> list[str]:
        """Every reason why the task cannot have its way with a route."""
        if not self.overlays(route, selection):
            if route.overlay:
                return ["an overlay is in front of it: use strategy: overlay, or state: disabled first"]
            before = as_it_was(route.item, route.kind, route.known)
            return why_not_open(before, route.kind, selection, self.openings, self.middlewares)
        if not route.overlay and route.pages:
            return ["it shows a page by itself: use strategy: swap, or state: disabled first"]
        why = why_no_overlay(route, selection, self.traefik, self.openings)
        return [f"no overlay: {why}; use strategy: swap"] if why else []

    def overlay_for(self, route: Route, selection: Selection, page: str) -> Overlay:
        return overlay_for(route, selection, page, self.traefik, self.openings, self.middlewares)


def look_around(options: MaintenanceOptions, chosen: Sequence[Route], scene: Scene, cluster: Cluster) -> Surroundings:
    middlewares = known_middlewares(chosen, cluster)
    if not options.bypass and not options.opened and options.strategy == "swap":
        return Surroundings(middlewares)
    found = next(
        (scene.resources[name] for group in GROUPS if (name := f"IngressRoute.{group}") in scene.resources), None
    )
    if found is None:
        return Surroundings(middlewares, Openings(options.opened, options.bypass), strategy=options.strategy)
    traefik = Traefik(found, _classes(scene, cluster), _annotated(scene.routes.values()))
    # This kind came with Traefik 3.
    dialect = V3 if cluster.find_kind(GROUPS[0], "ServersTransportTCP").resource else V2
    routers = tuple(_routers(scene.routes.values(), traefik, dialect))
    openings = Openings(options.opened, options.bypass, routers, dialect)
    hosts = {host for route in chosen for location in route.locations for host in location.hosts}
    broken = tuple(_broken(scene.routes.values(), traefik, dialect, hosts))
    return Surroundings(middlewares, openings, traefik, options.strategy, broken)


def _classes(scene: Scene, cluster: Cluster) -> frozenset[str]:
    resource = cluster.find_kind("networking.k8s.io", "IngressClass").resource
    try:
        items = cluster.list_whole(resource) if resource else []
    except Interrupted:
        raise
    except Problem as problem:
        scene.unseen.append(f"ingress classes: {problem.why}")
        return frozenset({USUAL_CLASS})
    ours = {one["metadata"]["name"] for one in items if (one.get("spec") or {}).get("controller") == _CONTROLLER}
    others = {one["metadata"]["name"] for one in items} - ours
    return frozenset(ours | ({USUAL_CLASS} - others))  # that one is understood without any IngressClass


def _annotated(routes: Iterable[Route]) -> frozenset[str]:
    return frozenset(
        route.annotations[CLASS] for route in routes if route.kind.kind == "IngressRoute" and CLASS in route.annotations
    )


def _routers(routes: Iterable[Route], traefik: Traefik, dialect: Dialect) -> Iterator[Router]:
    """Every place Traefik serves, as it is without maintenance."""
    for route in _served(routes, traefik):
        before = as_it_was(route.item, route.kind, route.known)
        for location in locations_of(before, route.kind):
            router = router_of(before, route.kind, location, dialect)
            if router is not None:
                yield router


def _broken(routes: Iterable[Route], traefik: Traefik, dialect: Dialect, hosts: Set[str]) -> Iterator[str]:
    """Places with these hosts that do not count, because Traefik cannot read their rules."""
    for route in _served(routes, traefik):
        for location in route.locations:
            near = not location.hosts or hosts & set(location.hosts)
            if near and is_broken(route.item, route.kind, location, dialect):
                yield f"{route.ref}: its rule at {location.pointer} is left out: a bracket or a quote is not closed"


def _served(routes: Iterable[Route], traefik: Traefik) -> Iterator[Route]:
    for route in routes:
        if route.kind.overlay == "traefik" and (route.kind.kind != "Ingress" or traefik.serves(route)):
            yield route
