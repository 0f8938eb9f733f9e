# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A second route in front of one that is not touched: the same rules, one step above, and the page behind them.

Room: maintenance (pure). Only Traefik can do this. Above means right above: whoever won against the route itself, such
as another application on a longer path of the same host, wins against the overlay, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..objects import Resource
from ..pointers import bound, value_of
from .carving import Openings
from .locations import Location, ServiceRef, page_for
from .markers import MARKER, OUR_LABEL, OVERLAY, OVERLAY_DIGEST, OVERLAY_PLACES, OVERLAY_PREFIX, ROLE
from .middlewares import ROUTER_MIDDLEWARES, Middlewares
from .route_kinds import HTTP_PORT, SERVICE, RouteKind
from .scene import Route, covered_by, short
from .swap import Selection
from .traefik_rules import HIGHEST_PRIORITY, V2, Router, any_path, anybody, router_of, router_setting, without_rivals

CLASS = "kubernetes.io/ingress.class"
USUAL_CLASS = "traefik"
_PAGE = [{"kind": "Service", "name": SERVICE, "port": HTTP_PORT}]
_COPIED = ("entryPoints", "tls", "parentRefs")
_GATEWAY = "of two routes with the same matches, Gateway API prefers the older one, so one in front would lose"
_NOBODY = "no priority puts a second route in front of it; only Traefik knows priorities"


@dataclass(frozen=True)
class Traefik:
    """What there is of Traefik in a cluster."""

    routes: tuple[RouteKind, Resource] | None = None  # its own kind of routes, where it is installed
    classes: frozenset[str] = frozenset()  # ingress classes that it serves
    annotated: frozenset[str] = frozenset()  # classes that its own routes name, in an annotation

    def serves(self, route: Route) -> bool:
        """Whether an Ingress is Traefik's, by its class."""
        return class_of(route) in self.classes


@dataclass(frozen=True)
class Overlay:
    kind: RouteKind
    resource: Resource
    name: str
    spec: Mapping[str, Any]
    annotations: Mapping[str, str]
    owner: Mapping[str, Any]
    places: Sequence[Location] = ()
    exempt: Sequence[Location] = ()
    services: Sequence[ServiceRef] = field(default=())

    @property
    def body(self) -> dict[str, Any]:
        """Nothing of the route's labels: whoever tracks it by them must not take ours for its own."""
        metadata = {
            "name": self.name,
            "labels": {ROLE: OVERLAY, OUR_LABEL[0]: OUR_LABEL[1]},
            "annotations": dict(self.annotations),
            "ownerReferences": [self.owner],
        }
        return {"metadata": metadata, "spec": self.spec}

    @property
    def summary(self) -> dict[str, Any]:
        """For previews. The rules themselves may tell how to get around the page."""
        return {"overlay": self.name, "page": self.annotations[MARKER], "places": [one.where for one in self.places]}


def class_of(route: Route) -> str:
    return str(route.item["spec"].get("ingressClassName") or route.annotations.get(CLASS) or "")


def why_no_overlay(route: Route, selection: Selection, traefik: Traefik, openings: Openings) -> str:
    """Empty where an overlay can be put in front."""
    if route.kind.overlay != "traefik":
        return _GATEWAY if route.kind.group == "gateway.networking.k8s.io" else _NOBODY
    if route.kind.kind == "Ingress":
        if traefik.routes is None:
            return "Traefik's own kind of routes is not installed, and an Ingress has no priority"
        if not traefik.serves(route):
            name = class_of(route)
            return f"its class {name} is not Traefik's" if name else "it names no class, so it may not be Traefik's"
        if _options_of(route) is None:
            return "its TLS options are in another namespace or in a file, where an overlay cannot refer to them"
    places = [place for place in route.locations if selection.takes(place) and not selection.exempts(place)]
    routers = [router_of(route.item, route.kind, place, openings.dialect) for place in places]
    if any(one is not None and one.high >= HIGHEST_PRIORITY for one in routers):
        return "its priority is the highest there is: nothing can be put above it"
    if places and not any(routers):
        return "Traefik does not serve its places"
    return ""


def overlay_for(
    route: Route,
    selection: Selection,
    page: str,
    traefik: Traefik,
    openings: Openings,
    middlewares: Middlewares,
) -> Overlay:
    """What shall stand in front of a route. Places it is in front of already stay so, whatever is selected now."""
    own = route.kind.kind == "IngressRoute"
    found = traefik.routes if not own else (route.kind, route.resource)
    if found is None:
        raise AssertionError("why_no_overlay has said so before")
    covered = covered_by(route.overlay)
    exempt = [place for place in route.locations if selection.exempts(place)]
    wanted = [
        place
        for place in route.locations
        if place not in exempt and (selection.takes(place) or short(place.identity) in covered)
    ]
    served = [(place, router_of(route.item, route.kind, place, openings.dialect)) for place in wanted]
    entries = [
        _entry(route, place, router, _match(router, selection, openings), page, middlewares)
        for place, router in served
        if router is not None
    ]
    spec = {**(_from_route(route) if own else _from_ingress(route)), "routes": entries}
    names = " ".join(short(place.identity) for place, router in served if router is not None)  # as its entries stand
    ref = route.ref
    return Overlay(
        *found,
        name=f"{OVERLAY_PREFIX}{route.uid}",
        spec=spec,
        annotations={MARKER: page, OVERLAY_DIGEST: digest_of(spec), OVERLAY_PLACES: names, **_class(route, traefik)},
        owner={"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "uid": ref.uid},
        places=[place for place, router in served if router is not None],
        exempt=exempt,
        services=[service for place in wanted for service in place.services],
    )


def digest_of(spec: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def _match(router: Router, selection: Selection, openings: Openings) -> str:
    passing = [any_path(selection.exempt)] if selection.exempt else []
    passing += [anybody(openings.bypass, router.dialect)] if openings.bypass else []
    rule = without_rivals(router, openings.routers)
    return f"{rule} && !({' || '.join(passing)})" if passing else rule


def _entry(
    route: Route, place: Location, router: Router, match: str, page: str, middlewares: Middlewares
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "kind": "Rule",
        "match": match,
        "priority": router.priority_above,
        "services": page_for(_PAGE, page, route.namespace),
    }
    shown = _middlewares(route, place, middlewares)
    if shown:
        entry["middlewares"] = shown
    if router.dialect == V2 and route.kind.group == "traefik.io" and _syntax(route, place):
        entry["syntax"] = "v2"
    return entry


def _syntax(route: Route, place: Location) -> str:
    if route.kind.kind == "Ingress":
        return router_setting(route.item, "rulesyntax")
    return str(value_of(route.item, bound("/spec/routes/{0}/syntax", place.chosen)) or "")


def _middlewares(route: Route, place: Location, middlewares: Middlewares) -> list[Mapping[str, Any]]:
    """Those of the route that do not hide the page, such as a redirect to HTTPS."""
    if route.kind.kind != "Ingress":
        known = value_of(route.item, bound(route.kind.middlewares, place.chosen))
        return middlewares.left_of_references(known, route.namespace) if isinstance(known, list) else []
    shown: list[Mapping[str, Any]] = []
    for name in middlewares.left_of_annotation(route.annotations.get(ROUTER_MIDDLEWARES, "")).split(","):
        space, member = middlewares.place_of(name.strip()) or ("", "")
        if space == route.namespace:
            shown.append({"name": member})
        elif "@" in name and not name.strip().endswith("@kubernetescrd"):
            shown.append({"name": name.strip()})  # of a file or the like; others must not be referred to from here
    return shown


def _from_route(route: Route) -> dict[str, Any]:
    return {key: route.item["spec"][key] for key in _COPIED if key in route.item["spec"]}


def _from_ingress(route: Route) -> dict[str, Any]:
    """As the annotations say. Certificates stay known to Traefik by the Ingress itself."""
    spec: dict[str, Any] = {}
    points = [one.strip() for one in router_setting(route.item, "entrypoints").split(",") if one.strip()]
    if points:
        spec["entryPoints"] = points
    resolver, options = router_setting(route.item, "tls.certresolver"), _options_of(route)
    if router_setting(route.item, "tls") == "true" or resolver or options:
        tls: dict[str, Any] = {"certResolver": resolver} if resolver else {}
        spec["tls"] = {**tls, **({"options": options} if options else {})}
    return spec


def _options_of(route: Route) -> dict[str, str] | None:
    """Where its TLS options are, as one of Traefik's own routes says it. None: it cannot."""
    name = router_setting(route.item, "tls.options")
    if not name or name == "default":
        return {}
    start, end = f"{route.namespace}-", "@kubernetescrd"
    if name.startswith(start) and name.endswith(end):
        return {"name": name.removeprefix(start).removesuffix(end), "namespace": route.namespace}
    return None


def _class(route: Route, traefik: Traefik) -> dict[str, str]:
    """Traefik may be told to serve only routes of a class; those who run it so have it on other routes, too."""
    if route.kind.kind != "Ingress":
        return {CLASS: route.annotations[CLASS]} if CLASS in route.annotations else {}
    name = class_of(route)
    return {CLASS: name} if name == USUAL_CLASS or name in traefik.annotated else {}
