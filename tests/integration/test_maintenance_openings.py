# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Some paths and some people still reach the application while everybody else sees the page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.maintaining import Maintenance, http_route, ingress, ingress_route, shape
from integration.ranked import failed, succeeded
from integration.route_definitions import more_route_kinds
from lab.node import workloads
from lab.node.traefik import Reply, Traefik
from lab.plane.controlplane import ControlPlane

__all__ = ["more_route_kinds"]
Body = dict[str, Any]
HOST = "shop.example.com"
BYPASS = {"headers": {"X-Tester": "let-me-in-5309"}}


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    return Maintenance(plane, node_namespace)


def http_proxy(namespace: str) -> Body:
    routes = [{"conditions": [{"prefix": "/"}], "services": [{"name": "shop", "port": 80}]}]
    return {
        "apiVersion": "projectcontour.io/v1",
        "kind": "HTTPProxy",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"virtualhost": {"fqdn": HOST}, "routes": routes},
    }


def virtual_service(namespace: str) -> Body:
    http = [
        {"name": name, "match": [{"uri": {"prefix": prefix}}], "route": [{"destination": {"host": "shop"}}]}
        for name, prefix in (("api", "/api"), ("all", "/"))
    ]
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"hosts": [HOST], "http": http},
    }


def openshift_route(namespace: str) -> Body:
    return {
        "apiVersion": "route.openshift.io/v1",
        "kind": "Route",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"host": HOST, "to": {"kind": "Service", "name": "shop"}},
    }


def test_every_kind_that_can_keeps_its_openings_through_another_page_and_loses_them_afterwards(
    maintenance: Maintenance, more_route_kinds: None
) -> None:
    api, namespace = maintenance.api, maintenance.namespace
    made = api.create(
        *(
            kind(namespace)
            for kind in (ingress_route, http_route, http_proxy, virtual_service, openshift_route, ingress)
        )
    )
    paths = [api.path_of(item) for item in made]
    before = [shape(maintenance.route(path)) for path in paths]
    asked = {"exempt_paths": ["/health"], "bypass": BYPASS}

    why = failed(maintenance("enabled", **asked))
    for text in ("Route routes cannot tell them apart", "cannot leave /health open", "an Ingress cannot tell"):
        assert text in why
    assert [shape(maintenance.route(path)) for path in paths] == before, "nothing was changed"

    able = [path for path in paths if "/ingresses/" not in path and "route.openshift.io" not in path]
    asked["targets"] = [
        {"kind": kind, "namespace": namespace} for kind in ("IngressRoute", "HTTPRoute", "HTTPProxy", "VirtualService")
    ]
    planned = succeeded(maintenance("enabled", check_mode=True, **asked))
    on = succeeded(maintenance("enabled", **asked))
    again = succeeded(maintenance("enabled", **asked))
    assert (on["changed"], again["changed"]) == (True, False)
    for path in able:
        spec = json.dumps(maintenance.route(path)["spec"])
        assert "let-me-in-5309" in spec
        assert "/health" in spec

    other = succeeded(maintenance("enabled", page={"title": "Another page"}, **asked))
    assert other["targets"][0]["page"] != on["targets"][0]["page"]
    for path in able:
        spec = json.dumps(maintenance.route(path)["spec"])
        assert on["targets"][0]["page"] not in spec
        assert spec.count("let-me-in-5309") == (2 if "virtualservices" in path else 1)

    leaving = succeeded(maintenance("disabled", check_mode=True))
    off = succeeded(maintenance("disabled"))
    assert [shape(maintenance.route(path)) for path in paths] == before
    assert maintenance.ours() == []
    assert "let-me-in-5309" not in json.dumps([planned, on, again, other, leaving, off])


def test_those_who_may_pass_reach_the_application_through_traefik(maintenance: Maintenance, traefik: Traefik) -> None:
    api, namespace = maintenance.api, maintenance.namespace
    host = f"{namespace}.example.com"
    workloads.start_app(api, namespace, "shop")
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"users": "me:$apr1$x$y"}}
    api.create({**secret, "metadata": {"name": "users", "namespace": namespace}})
    for name, spec in (
        ("login", {"basicAuth": {"secret": "users"}}),
        ("all", {"chain": {"middlewares": [{"name": "login"}]}}),
    ):
        metadata = {"name": name, "namespace": namespace}
        api.create({"apiVersion": "traefik.io/v1alpha1", "kind": "Middleware", "metadata": metadata, "spec": spec})
    open_route = ingress_route(namespace, host=host)
    locked = ingress_route(namespace, "locked", host=f"locked.{host}")
    locked["spec"]["routes"][0]["middlewares"] = [{"name": "all"}]
    annotated = ingress(namespace, "annotated", host=f"annotated.{host}")
    annotated["metadata"]["annotations"] = {
        "traefik.ingress.kubernetes.io/router.middlewares": f"{namespace}-all@kubernetescrd"
    }
    api.create(open_route, locked, annotated)
    traefik.wait_for(host, lambda reply: reply.status == 200)
    for name in ("locked", "annotated"):
        traefik.wait_for(f"{name}.{host}", lambda reply: reply.status == 401)

    bypass = {"headers": {"X-Tester": "yes"}, "cookies": {"tester": "s3.cret"}, "cidrs": ["203.0.113.0/24"]}
    targets = [{"kind": "IngressRoute", "namespace": namespace}]
    succeeded(maintenance("enabled", targets=targets, bypass=bypass, exempt_paths=["/health"]))
    succeeded(maintenance("enabled", targets=[{"kind": "Ingress", "namespace": namespace}]))
    for name in (host, f"locked.{host}", f"annotated.{host}"):
        traefik.wait_for(name, _shows_the_page)

    def ask(path: str = "/", **headers: str) -> int:
        return traefik.ask(host, path, headers=headers).status

    assert ask(**{"X-Tester": "yes"}) == 200
    assert ask(**{"X-Tester": "no"}) == 503
    assert ask(Cookie="a=b; tester=s3.cret; c=d") == 200
    assert ask(Cookie="tester=s3xcret") == 503
    assert ask(Cookie="tester=s3.cretly") == 503
    assert [ask(path) for path in ("/health", "/health/live", "/healthy")] == [200, 200, 503]
    assert traefik.ask(f"locked.{host}", headers={"X-Tester": "yes"}).status == 401, "its login is not skipped"

    succeeded(maintenance("enabled", targets=targets, bypass={"cidrs": ["127.0.0.0/8"]}))
    traefik.wait_for(host, lambda reply: reply.status == 200)
    assert ask(path="/health") == 200

    succeeded(maintenance("disabled"))
    for name in ("locked", "annotated"):
        traefik.wait_for(f"{name}.{host}", lambda reply: reply.status == 401)


def _shows_the_page(reply: Reply) -> bool:
    return reply.status == 503 and "X-Maintenance" in reply.headers
