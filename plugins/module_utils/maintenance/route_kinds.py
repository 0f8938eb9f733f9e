# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds of routes: where they keep their backends, and what stands there during maintenance. A new kind is one entry.

Room: maintenance (data). What can be said of a kind by data is said here; users add kinds of their own the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..pointers import ABSENT

# Filled in when a page stands there: the Service of the page, and the namespace it is in.
SERVICE, NAMESPACE = "$service", "$namespace"
HTTP_PORT, GRPC_PORT = 80, 8081


@dataclass(frozen=True)
class Backend:
    """One place of backends. Entries with the same words at `known_by` are the same entry, wherever they have moved."""

    pattern: str
    page: Any
    known_by: tuple[str, ...] = ()
    # How a Service is named there: relative patterns of its name, and of the namespace and kind beside it.
    name: str = "/name"
    namespace: str = "/namespace"
    kind: str = "/kind"

    @property
    def entry(self) -> str:
        """The entry of a list that it belongs to, with `{0}`, `{1}` for the stars."""
        stars = iter(range(9))
        return re.sub(r"\*", lambda _star: f"{{{next(stars)}}}", self.pattern.rpartition("/")[0])


@dataclass(frozen=True)
class Beside:
    """Something beside a backend that would keep the page from being seen, or send requests on to the application."""

    pattern: str
    page: Any = ABSENT  # what stands there meanwhile
    without: tuple[str, tuple[str, ...]] = ("", ())  # instead: the same list without entries whose key has such a value
    only_if: tuple[Any, ...] = ()  # left alone unless it is one of these
    always: bool = False  # written even where nothing stood


@dataclass(frozen=True)
class Refusal:
    """What no page can be put in front of, and why."""

    pattern: str
    why: str
    values: tuple[Any, ...] = ()  # empty: whatever stands there


@dataclass(frozen=True)
class RouteKind:
    group: str
    kind: str
    backends: tuple[Backend, ...]
    hosts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()  # Traefik's rules, which hold hosts and paths
    beside: tuple[Beside, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    more_services: tuple[str, ...] = ()  # names of Services outside of the backends
    classes: tuple[str, ...] = ()  # where the name of the ingress class or gateway stands
    middlewares: str = ""  # where references to Traefik's Middlewares stand
    carving: str = ""  # how an exempt path or a bypass is cut out of an entry; see carving.py
    overlay: str = ""  # how a second route is put in front; see overlay.py

    @property
    def name(self) -> str:
        return f"{self.kind}.{self.group}"


def _traefik_route(group: str) -> RouteKind:
    return RouteKind(
        group,
        "IngressRoute",
        backends=(
            Backend(
                "/spec/routes/*/services",
                [{"kind": "Service", "name": SERVICE, "port": HTTP_PORT}],
                known_by=("/spec/routes/{0}/match",),
                name="/*/name",
                namespace="/*/namespace",
                kind="/*/kind",
            ),
        ),
        expressions=("/spec/routes/{0}/match",),
        refusals=(Refusal("/spec/tls/passthrough", "its TLS is passed through unread", (True,)),),
        classes=("/metadata/annotations/kubernetes.io~1ingress.class",),
        middlewares="/spec/routes/{0}/middlewares",
        carving="traefik",
        overlay="traefik",
    )


def _gateway_route(kind: str, port: int) -> RouteKind:
    return RouteKind(
        "gateway.networking.k8s.io",
        kind,
        backends=(
            Backend(
                "/spec/rules/*/backendRefs",
                [{"kind": "Service", "name": SERVICE, "port": port}],
                known_by=("/spec/rules/{0}/name", "/spec/rules/{0}/matches"),
                name="/*/name",
                namespace="/*/namespace",
                kind="/*/kind",
            ),
        ),
        hosts=("/spec/hostnames/*",),
        paths=("/spec/rules/{0}/matches/*/path/value",),
        beside=(
            # A mirror would go on sending requests to the application.
            Beside("/spec/rules/{0}/filters", without=("type", ("RequestMirror", "ExternalAuth"))),
            Beside("/spec/rules/{0}/retry"),
        ),
        classes=("/spec/parentRefs/*/name",),
        carving="gateway" if kind == "HTTPRoute" else "",
    )


ROUTE_KINDS: tuple[RouteKind, ...] = (
    RouteKind(
        "networking.k8s.io",
        "Ingress",
        backends=(
            Backend(
                "/spec/rules/*/http/paths/*/backend",
                {"service": {"name": SERVICE, "port": {"number": HTTP_PORT}}},
                known_by=(
                    "/spec/rules/{0}/host",
                    "/spec/rules/{0}/http/paths/{1}/path",
                    "/spec/rules/{0}/http/paths/{1}/pathType",
                ),
                name="/service/name",
            ),
            Backend(
                "/spec/defaultBackend",
                {"service": {"name": SERVICE, "port": {"number": HTTP_PORT}}},
                name="/service/name",
            ),
        ),
        hosts=("/spec/rules/{0}/host",),
        paths=("/spec/rules/{0}/http/paths/{1}/path",),
        classes=("/spec/ingressClassName", "/metadata/annotations/kubernetes.io~1ingress.class"),
        carving="ingress",
        overlay="traefik",
    ),
    _traefik_route("traefik.io"),
    _traefik_route("traefik.containo.us"),
    _gateway_route("HTTPRoute", HTTP_PORT),
    _gateway_route("GRPCRoute", GRPC_PORT),
    RouteKind(
        "route.openshift.io",
        "Route",
        backends=(Backend("/spec/to", {"kind": "Service", "name": SERVICE}),),
        more_services=("/spec/alternateBackends/*/name",),
        hosts=("/spec/host",),
        paths=("/spec/path",),
        beside=(
            Beside("/spec/alternateBackends"),
            Beside("/spec/port", {"targetPort": "http"}, always=True),
            # Re-encrypting speaks TLS to the backend, and the page has none.
            Beside("/spec/tls/termination", "edge", only_if=("reencrypt",)),
            Beside("/spec/tls/destinationCACertificate"),
        ),
        refusals=(Refusal("/spec/tls/termination", "its TLS is passed through unread", ("passthrough",)),),
    ),
    RouteKind(
        "projectcontour.io",
        "HTTPProxy",
        backends=(
            Backend(
                "/spec/routes/*/services",
                [{"name": SERVICE, "port": HTTP_PORT}],
                known_by=("/spec/routes/{0}/conditions",),
                name="/*/name",
                namespace="",
                kind="",
            ),
        ),
        hosts=("/spec/virtualhost/fqdn",),
        paths=("/spec/routes/{0}/conditions/*/prefix", "/spec/routes/{0}/conditions/*/exact"),
        beside=(
            # Made for the application's own paths, it would find every page ill.
            Beside("/spec/routes/{0}/healthCheckPolicy"),
            Beside("/spec/routes/{0}/retryPolicy"),
        ),
        refusals=(
            Refusal("/spec/tcpproxy", "it routes TCP, which has no pages"),
            Refusal("/spec/virtualhost/tls/passthrough", "its TLS is passed through unread", (True,)),
        ),
        classes=("/spec/ingressClassName", "/metadata/annotations/projectcontour.io~1ingress.class"),
        carving="contour",
    ),
    RouteKind(
        "networking.istio.io",
        "VirtualService",
        backends=(
            Backend(
                "/spec/http/*/route",
                [{"destination": {"host": f"{SERVICE}.{NAMESPACE}.svc.cluster.local", "port": {"number": HTTP_PORT}}}],
                known_by=("/spec/http/{0}/name", "/spec/http/{0}/match"),
                name="/*/destination/host",
                namespace="",
                kind="",
            ),
        ),
        hosts=("/spec/hosts/*",),
        paths=(
            "/spec/http/{0}/match/*/uri/prefix",
            "/spec/http/{0}/match/*/uri/exact",
            "/spec/http/{0}/match/*/uri/regex",
        ),
        beside=(
            Beside("/spec/http/{0}/mirror"),
            Beside("/spec/http/{0}/mirrors"),
            Beside("/spec/http/{0}/mirrorPercentage"),
            Beside("/spec/http/{0}/mirror_percent"),
            Beside("/spec/http/{0}/fault"),
        ),
        refusals=(
            Refusal("/spec/tcp/0", "it routes TCP, which has no pages"),
            Refusal("/spec/tls/0", "its TLS is passed through unread"),
            Refusal("/spec/http/*/delegate", "it delegates to another VirtualService; name that one instead"),
        ),
        classes=("/spec/gateways/*",),
        carving="istio",
    ),
)

# Known, and without a page: saying so is better than not finding them.
NO_PAGES: dict[tuple[str, str], str] = {
    ("traefik.io", "IngressRouteTCP"): "it routes TCP, which has no pages",
    ("traefik.io", "IngressRouteUDP"): "it routes UDP, which has no pages",
    ("traefik.containo.us", "IngressRouteTCP"): "it routes TCP, which has no pages",
    ("traefik.containo.us", "IngressRouteUDP"): "it routes UDP, which has no pages",
    ("gateway.networking.k8s.io", "TCPRoute"): "it routes TCP, which has no pages",
    ("gateway.networking.k8s.io", "UDPRoute"): "it routes UDP, which has no pages",
    ("gateway.networking.k8s.io", "TLSRoute"): "its TLS is passed through unread",
}


@dataclass(frozen=True)
class KnownKinds:
    """All kinds of a task: ours and those it brings along."""

    kinds: tuple[RouteKind, ...] = field(default=ROUTE_KINDS)

    def of(self, group: str, kind: str) -> RouteKind | None:
        return next((one for one in self.kinds if (one.group, one.kind) == (group, kind)), None)
