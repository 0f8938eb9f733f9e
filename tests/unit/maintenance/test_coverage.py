# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where an application is still reachable: what is listed, with its reason, and what is said about the unseen."""

from __future__ import annotations

from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.coverage import closed_places, stays_open
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import Route, Scene
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, cluster_on, refusal

KINDS = {kind.kind: kind for kind in reversed(ROUTE_KINDS)}
INGRESSES = Resource("networking.k8s.io", "v1", "Ingress", "ingresses", True, verbs=VERBS)
INGRESS_ROUTES = Resource("traefik.io", "v1alpha1", "IngressRoute", "ingressroutes", True, verbs=VERBS)
TCP = Resource("traefik.io", "v1alpha1", "IngressRouteTCP", "ingressroutetcps", True, verbs=VERBS)
TRAEFIK_SERVICES = Resource("traefik.io", "v1alpha1", "TraefikService", "traefikservices", True, verbs=VERBS)
SERVICES = Resource("", "v1", "Service", "services", True, verbs=VERBS)
PAGE = "maintenance-0123456789"


def ingress(name: str, *places: tuple[str, str, str], namespace: str = "shop", **metadata: Any) -> Route:
    """Places are host, path and Service."""
    rules = [
        {
            "host": host,
            "http": {"paths": [{"path": path, "pathType": "Prefix", "backend": {"service": {"name": service}}}]},
        }
        for host, path, service in places
    ]
    item = {"metadata": {"name": name, "namespace": namespace, "uid": name, **metadata}, "spec": {"rules": rules}}
    return Route(KINDS["Ingress"], INGRESSES, item)


def ingress_route(name: str, host: str, service: dict[str, Any]) -> Route:
    entry = {"match": f"Host(`{host}`)", "services": [service]}
    item = {"metadata": {"name": name, "namespace": "shop", "uid": name}, "spec": {"routes": [entry]}}
    return Route(KINDS["IngressRoute"], INGRESS_ROUTES, item)


def open_places(server: FakeServer, closed: Route, *others: Route, only: str = "") -> tuple[list[str], list[str]]:
    """What is told, shortened, when the places of `closed` (only those of one path) get behind a page."""
    places = [place for place in closed.locations if not only or only in place.paths]
    services = [service for place in places for service in place.services]
    scene = Scene(routes={route.uid: route for route in (closed, *others)})
    mine = closed_places(closed, [place.identity for place in places], services, ())
    found, unseen = stays_open([mine], scene, cluster_on(server))
    told = [f"{one['kind']} {one['name']} {one['host']}{one['path']} {one['service']}: {one['why']}" for one in found]
    return told, unseen


def test_nothing_is_told_when_every_place_is_closed() -> None:
    web = ingress("web", ("shop.example.com", "/", "web"))
    stranger = ingress("blog", ("blog.example.com", "/", "blog"))
    namesake = ingress("other", ("other.example.com", "/", "web"), namespace="elsewhere")
    assert open_places(FakeServer(SERVICES), web, stranger, namesake) == ([], [])


def test_other_routes_places_and_solvers_are_told_with_their_reasons() -> None:
    web = ingress("web", ("shop.example.com", "/", "web"), ("shop.example.com", "/api", "api"))
    backdoor = ingress("backdoor", ("old.example.com", "/", "web"))
    same_host = ingress("assets", ("shop.example.com", "/assets", "assets"))
    solver = ingress(
        "solver",
        ("shop.example.com", "/.well-known/acme-challenge/x", "solver"),
        labels={"acme.cert-manager.io/http01-solver": "true"},
    )
    closed_too = ingress("closed", ("shop.example.com", "/", PAGE))
    closed_too.item["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["port"] = {"number": 80}

    told, unseen = open_places(FakeServer(SERVICES), web, backdoor, same_host, solver, closed_too, only="/")

    assert told == [
        "Ingress assets shop.example.com/assets shop/assets: another route for the same host",
        "Ingress backdoor old.example.com/ shop/web: another route to the same Service",
        "Ingress solver shop.example.com/.well-known/acme-challenge/x shop/solver: cert-manager proves the host by it",
        "Ingress web shop.example.com/api shop/api: not among the targets",
    ]
    assert unseen == []


def test_routes_without_pages_and_services_without_routes_are_told() -> None:
    server = FakeServer(SERVICES, TCP)
    entry = {"match": "HostSNI(`db.example.com`)", "services": [{"name": "web", "port": 5432}]}
    server.add(TCP, "raw", spec={"routes": [entry]})
    server.add(TCP, "strangers", namespace="elsewhere", spec={"routes": [entry]})
    server.add(SERVICES, "web", spec={"type": "NodePort", "selector": {"app": "web"}})
    balanced = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}]}}
    server.add(SERVICES, "web-direct", spec={"type": "LoadBalancer", "selector": {"app": "web"}}, status=balanced)
    server.add(SERVICES, "web-internal", spec={"type": "ClusterIP", "selector": {"app": "web"}})
    server.add(SERVICES, "other", spec={"type": "LoadBalancer", "selector": {"app": "other"}})

    told, _unseen = open_places(server, ingress("web", ("shop.example.com", "/", "web")))

    assert told == [
        "IngressRouteTCP raw db.example.com/ shop/web: it routes TCP, which has no pages",
        "Service web * shop/web: a Service of type NodePort needs no route",
        "Service web-direct 203.0.113.9 shop/web-direct: a Service of type LoadBalancer for the same Pods",
    ]


def test_a_service_of_services_leads_to_those_within() -> None:
    server = FakeServer(SERVICES, TRAEFIK_SERVICES)
    server.add(TRAEFIK_SERVICES, "both", spec={"weighted": {"services": [{"name": "blue"}, {"name": "green"}]}})
    server.add(TRAEFIK_SERVICES, "outer", spec={"mirroring": {"name": "both", "kind": "TraefikService"}})
    front = ingress_route("front", "shop.example.com", {"name": "outer", "kind": "TraefikService"})
    backdoor = ingress("backdoor", ("old.example.com", "/", "green"))

    told, _unseen = open_places(server, front, backdoor)

    assert told == ["Ingress backdoor old.example.com/ shop/green: another route to the same Service"]


def test_what_may_not_be_looked_at_is_named() -> None:
    server = FakeServer(SERVICES, TCP)
    server.refuse("GET", "/api/v1/namespaces/shop/services", refusal(403, "Forbidden", "no"))
    server.refuse("GET", "/apis/traefik.io/v1alpha1/ingressroutetcps", refusal(403, "Forbidden", "no"))

    told, unseen = open_places(server, ingress("web", ("shop.example.com", "/", "web")))

    assert told == []
    assert unseen == [
        "ingressroutetcps.traefik.io: HTTP 403 Forbidden, no",
        "services in namespace shop: HTTP 403 Forbidden, no",
    ]
