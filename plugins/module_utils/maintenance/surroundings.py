# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task must know beyond each route itself: Traefik's Middlewares and classes, and the routers side by side.

Room: maintenance. Only what this task needs is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..objects import Resource
from ..problems import Problem
from .carving import Openings, why_not_open
from .middlewares import Middlewares, known_middlewares
from .options import MaintenanceOptions
from .originals import as_it_was
from .scene import Route, Scene
from .swap import Selection
from .traefik_rules import V2, V3, Dialect, Router, router_of

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_GROUP = "traefik.io"
_CONTROLLER = "traefik.io/ingress-controller"
# Understood without any IngressClass.
_USUAL_CLASS = "traefik"


@dataclass(frozen=True)
class Surroundings:
    middlewares: Middlewares = field(default_factory=Middlewares)
    openings: Openings = field(default_factory=Openings)
    classes: frozenset[str] = frozenset()  # ingress classes that Traefik serves
    routes: Resource | None = None  # Traefik's own kind of routes, where it is installed

    def why_not_open(self, route: Route, selection: Selection) -> list[str]:
        before = as_it_was(route.item, route.kind, route.known)
        return why_not_open(before, route.kind, selection, self.openings, self.middlewares)


def look_around(options: MaintenanceOptions, chosen: Sequence[Route], scene: Scene, cluster: Cluster) -> Surroundings:
    middlewares = known_middlewares(chosen, cluster)
    if not options.bypass and not options.opened and options.strategy == "swap":
        return Surroundings(middlewares)
    found = scene.resources.get(f"IngressRoute.{_GROUP}")
    classes = _classes(scene, cluster) if found else frozenset()
    # This kind came with Traefik 3.
    dialect = V3 if cluster.find_kind(_GROUP, "ServersTransportTCP").resource else V2
    routers = tuple(_routers(scene.routes.values(), classes, dialect)) if found else ()
    openings = Openings(options.opened, options.bypass, routers, dialect)
    return Surroundings(middlewares, openings, classes, found[1] if found else None)


def _classes(scene: Scene, cluster: Cluster) -> frozenset[str]:
    resource = cluster.find_kind("networking.k8s.io", "IngressClass").resource
    try:
        items = cluster.list_whole(resource) if resource else []
    except Problem as problem:
        scene.unseen.append(f"ingress classes: {problem.why}")
        return frozenset({_USUAL_CLASS})
    ours = {one["metadata"]["name"] for one in items if (one.get("spec") or {}).get("controller") == _CONTROLLER}
    others = {one["metadata"]["name"] for one in items} - ours
    return frozenset(ours | ({_USUAL_CLASS} - others))


def _routers(routes: Iterable[Route], classes: frozenset[str], dialect: Dialect) -> Iterator[Router]:
    """Every place Traefik serves, as it is without maintenance."""
    for route in routes:
        if route.kind.overlay != "traefik" or (route.kind.kind == "Ingress" and not is_served(route, classes)):
            continue
        before = as_it_was(route.item, route.kind, route.known)
        for location in Route(route.kind, route.resource, before).locations:
            router = router_of(before, route.kind, location, dialect)
            if router is not None:
                yield router


def is_served(route: Route, classes: frozenset[str]) -> bool:
    """Whether Traefik serves this Ingress, by its class."""
    name = route.item["spec"].get("ingressClassName") or route.annotations.get("kubernetes.io/ingress.class")
    return name in classes
