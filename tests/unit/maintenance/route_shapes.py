# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Routes of every known kind for tests, as a user would write them, and a patch as the API server would apply it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jsonpatch

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.changes import Change
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.checked_backup import why_not_ours
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS, RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, Swap, swap

PAGE = "maintenance-0123456789"
OTHER_PAGE = "maintenance-abcdef0123"
Item = dict[str, Any]


def kind(name: str, group: str = "") -> RouteKind:
    return next(one for one in ROUTE_KINDS if one.kind == name and group in one.group)


INGRESS, INGRESS_ROUTE, HTTP_ROUTE = kind("Ingress"), kind("IngressRoute", "traefik.io"), kind("HTTPRoute")
GRPC_ROUTE, OPENSHIFT, CONTOUR, ISTIO = kind("GRPCRoute"), kind("Route"), kind("HTTPProxy"), kind("VirtualService")


def a_route(spec: Mapping[str, Any], annotations: Mapping[str, str] | None = None) -> Item:
    metadata: Item = {"namespace": "shop", "name": "web", "uid": "u-1", "resourceVersion": "7"}
    if annotations is not None:
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "spec": copy.deepcopy(dict(spec))}


def to_service(name: str, port: Any = 80) -> Item:
    return {"service": {"name": name, "port": {"number": port} if isinstance(port, int) else {"name": port}}}


def path(where: str, service: str, path_type: str = "Prefix") -> Item:
    return {"path": where, "pathType": path_type, "backend": to_service(service)}


def rule(host: str, *paths: Item) -> Item:
    return {"host": host, "http": {"paths": list(paths)}}


def an_ingress(*rules: Item, **more: Any) -> Item:
    return a_route({"ingressClassName": "nginx", "rules": list(rules), **more})


def traefik_entry(match: str, *services: str, **more: Any) -> Item:
    return {"kind": "Rule", "match": match, "services": [{"name": one, "port": 80} for one in services], **more}


def an_ingress_route(*entries: Item) -> Item:
    return a_route({"entryPoints": ["web"], "routes": list(entries)})


# kind → a whole spec, its Services, its hosts
SHAPES: dict[str, tuple[RouteKind, Item, set[str], set[str]]] = {
    "Ingress": (
        INGRESS,
        {
            "defaultBackend": to_service("fallback", "http"),
            "rules": [rule("a.example.com", path("/", "web"), path("/api", "api")), {"host": "bare.example.com"}],
            "tls": [{"hosts": ["a.example.com"], "secretName": "a"}],
        },
        {"fallback", "web", "api"},
        {"a.example.com"},
    ),
    "IngressRoute": (
        INGRESS_ROUTE,
        {
            "routes": [
                traefik_entry("Host(`a.example.com`) && PathPrefix(`/x`)", "web", "web2"),
                {"match": "Host(`r`)"},
            ]
        },
        {"web", "web2"},
        {"a.example.com"},
    ),
    "IngressRoute of the old group": (
        kind("IngressRoute", "traefik.containo.us"),
        {"routes": [traefik_entry("Host(`a.example.com`)", "web")]},
        {"web"},
        {"a.example.com"},
    ),
    "HTTPRoute": (
        HTTP_ROUTE,
        {
            "hostnames": ["a.example.com"],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
                    "filters": [{"type": "RequestMirror"}, {"type": "RequestHeaderModifier"}],
                    "retry": {"attempts": 3},
                    "backendRefs": [{"name": "web", "port": 80, "weight": 9}, {"name": "web2", "port": 80}],
                },
                {"filters": [{"type": "RequestRedirect"}]},
            ],
        },
        {"web", "web2"},
        {"a.example.com"},
    ),
    "GRPCRoute": (
        GRPC_ROUTE,
        {"hostnames": ["g.example.com"], "rules": [{"backendRefs": [{"name": "rpc", "port": 9000}]}]},
        {"rpc"},
        {"g.example.com"},
    ),
    "Route": (
        OPENSHIFT,
        {
            "host": "a.example.com",
            "path": "/",
            "to": {"kind": "Service", "name": "web", "weight": 50},
            "alternateBackends": [{"kind": "Service", "name": "web2", "weight": 50}],
            "tls": {"termination": "reencrypt", "destinationCACertificate": "PEM"},
        },
        {"web"},
        {"a.example.com"},
    ),
    "HTTPProxy": (
        CONTOUR,
        {
            "virtualhost": {"fqdn": "a.example.com"},
            "routes": [
                {
                    "conditions": [{"prefix": "/"}],
                    "services": [{"name": "web", "port": 80}],
                    "healthCheckPolicy": {"path": "/up"},
                }
            ],
        },
        {"web"},
        {"a.example.com"},
    ),
    "VirtualService": (
        ISTIO,
        {
            "hosts": ["a.example.com"],
            "http": [
                {
                    "match": [{"uri": {"prefix": "/"}}],
                    "route": [{"destination": {"host": "web.other.svc.cluster.local"}}],
                    "mirror": {"host": "shadow"},
                },
                {"redirect": {"uri": "/x"}},
            ],
        },
        {"web"},
        {"a.example.com"},
    ),
}


def patched(item: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> Item:
    """As the API server would: every test must hold."""
    result: Item = jsonpatch.apply_patch(copy.deepcopy(dict(item)), [dict(one) for one in operations])
    return result


def swapped(
    item: Item, of: RouteKind, page: str = PAGE, known: Sequence[Change] = (), selection: Selection | None = None
) -> tuple[Item, list[Change], Swap]:
    """The route behind the page, what its backup holds then, and what was done."""
    done = swap(item, of, selection or Selection(), page, known)
    assert why_not_ours([*known, *done.changes], of, "shop", "u-1") == "", "what a swap makes is taken back"
    return patched(item, done.operations), [*known, *done.changes], done


def without_empty_annotations(item: Mapping[str, Any]) -> Item:
    """A map of annotations that has become empty is none."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "annotations" or value}
    return {**item, "metadata": metadata}
