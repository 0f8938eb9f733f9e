# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routes of every shape go behind the page with all their places, and come back with all that was edited meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.maintaining import Body, Maintenance, http_route, ingress, ingress_route, services_in, shape
from integration.ranked import succeeded
from integration.running import warnings_of

NGINX = "nginx.ingress.kubernetes.io/"
SHAPING = {
    NGINX + "auth-url": "https://login.example.com",
    NGINX + "backend-protocol": "HTTPS",
    NGINX + "limit-rps": "9",
}
LONG = ".".join("x" * 60 for _label in range(4)) + ".x23456789"  # as long as a name may be: 253


def everything(namespace: str) -> Body:
    """A default backend, a named port, a resource, a host without paths, TLS, and annotations for the backend."""
    item = ingress(namespace, "everything", "all.example.com")
    resource = {"resource": {"apiGroup": "k8s.example.com", "kind": "Bucket", "name": "files"}}
    item["spec"]["rules"][0]["http"]["paths"].append({"path": "/files", "pathType": "Exact", "backend": resource})
    item["spec"]["rules"].append({"host": "bare.example.com"})
    item["spec"]["defaultBackend"] = {"service": {"name": "fallback", "port": {"number": 8080}}}
    item["spec"]["tls"] = [{"hosts": ["all.example.com"], "secretName": "cert"}]
    item["metadata"]["annotations"] = dict(SHAPING)
    return item


def middleware(namespace: str, name: str, **spec: Any) -> Body:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "traefik.io/v1alpha1", "kind": "Middleware", "metadata": metadata, "spec": spec}


def behind_a_login(namespace: str) -> Body:
    item = ingress_route(namespace, "members", "members.example.com")
    entry = item["spec"]["routes"][0]
    entry["middlewares"] = [{"name": "login"}, {"name": "strip"}]
    entry["services"] = [{"name": "blue", "port": 80, "weight": 9}, {"name": "mesh", "kind": "TraefikService"}]
    item["spec"]["routes"].append(
        {"kind": "Rule", "match": "Host(`m2.example.com`)", "services": [{"name": "blue", "port": "http"}]}
    )
    return item


def mirrored(namespace: str) -> Body:
    item = http_route(namespace, "mirrored", "mirror.example.com")
    shadow = {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "shadow", "port": 80}}}
    item["spec"]["rules"][0]["filters"] = [shadow]
    redirect = {"type": "RequestRedirect", "requestRedirect": {"statusCode": 301, "hostname": "new.example.com"}}
    item["spec"]["rules"].append(
        {"matches": [{"path": {"type": "PathPrefix", "value": "/old"}}], "filters": [redirect]}
    )
    return item


@pytest.fixture
def routes(maintenance_on_node: Maintenance) -> list[Body]:
    """In a namespace where only restricted pods may run."""
    here, api = maintenance_on_node.namespace, maintenance_on_node.api
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    assert api.patch(f"/api/v1/namespaces/{here}", label)[0] == 200
    api.create(
        middleware(here, "login", basicAuth={"secret": "users"}),
        middleware(here, "strip", stripPrefix={"prefixes": ["/"]}),
    )
    named = [everything(here), ingress(here, "twins"), ingress_route(here, "twins"), ingress(here, LONG)]
    return api.create(*named, behind_a_login(here), mirrored(here))


def test_every_place_of_every_shape_shows_the_page_and_comes_back_as_it_was_with_what_was_edited(
    maintenance_on_node: Maintenance, routes: list[Body]
) -> None:
    maintenance = maintenance_on_node
    before = [shape(maintenance.live(route)) for route in routes]

    on = succeeded(maintenance("enabled", reason="CHG-7", window={"end": "2126-01-01T00:00:00Z"}))
    page = on["page_sets"][0]["name"]
    assert on["counts"] == {"targets": 6, "enabled": 6}
    assert [len(on["page_sets"]), {target["page"] for target in on["targets"]}] == [1, {page}]
    for route in routes:
        assert services_in(maintenance.live(route)) == {page}, route["metadata"]["name"]
    live = maintenance.live(routes[0])
    assert "resource" not in json.dumps(live["spec"]["rules"][0]["http"]["paths"])
    assert live["spec"]["rules"][1] == {"host": "bare.example.com"}
    assert live["metadata"]["annotations"] == {
        NGINX + "backend-protocol": "HTTP",
        NGINX + "limit-rps": "9",
        "sunset.dev/maintenance": page,
    }
    assert maintenance.live(routes[4])["spec"]["routes"][0]["middlewares"] == [{"name": "strip"}]
    assert "filters" not in maintenance.live(routes[5])["spec"]["rules"][0]
    assert set(maintenance.backups()) == {route["metadata"]["uid"] for route in routes}
    assert not succeeded(maintenance("enabled", reason="CHG-7", window={"end": "2126-01-01T00:00:00Z"}))["changed"]

    told = succeeded(maintenance.info())
    assert {(one["state"], one["reason"], one["until"]) for one in told["targets"]} == {
        ("enabled", "CHG-7", "2126-01-01T00:00:00Z")
    }
    assert all(one["since"] and one["by"] == "maintainer" for one in told["targets"])

    backend = {"service": {"name": "new", "port": {"number": 80}}}
    maintenance.edit(
        routes[0],
        {
            "op": "add",
            "path": "/spec/rules/0/http/paths/0",
            "value": {"path": "/new", "pathType": "Exact", "backend": backend},
        },
        {"op": "replace", "path": "/spec/tls/0/secretName", "value": "renewed"},
        {"op": "add", "path": "/metadata/annotations/team", "value": "shop"},
    )
    maintenance.edit(routes[1], {"op": "replace", "path": "/spec/rules/0/http/paths/0/backend", "value": backend})
    maintenance.edit(
        routes[4],
        {
            "op": "replace",
            "path": "/spec/routes/0/match",
            "value": "Host(`members.example.com`) || Host(`m3.example.com`)",
        },
        {"op": "add", "path": "/spec/routes/0/middlewares/-", "value": {"name": "compress"}},
        {"op": "remove", "path": "/spec/routes/1"},
    )

    off = succeeded(maintenance("disabled"))
    assert off["counts"] == {"targets": 6, "disabled": 6}
    after = [shape(maintenance.live(route)) for route in routes]
    assert [after[2], after[3], after[5]] == [before[2], before[3], before[5]]
    before[0]["spec"]["rules"][0]["http"]["paths"].insert(0, {"path": "/new", "pathType": "Exact", "backend": backend})
    before[0]["spec"]["tls"][0]["secretName"] = "renewed"
    before[0]["annotations"]["team"] = "shop"
    assert after[0] == before[0]
    assert services_in(after[1]) == {"new"}
    entry = after[4]["spec"]["routes"][0]
    assert entry["services"] == before[4]["spec"]["routes"][0]["services"]
    assert [one["name"] for one in entry["middlewares"]] == ["login", "strip", "compress"]
    assert len(after[4]["spec"]["routes"]) == 1
    warnings = warnings_of(off)
    assert "its backend was edited during maintenance" in warnings
    assert "was removed during maintenance" in warnings
    assert maintenance.ours() == []
    assert not succeeded(maintenance("disabled"))["changed"]


def test_only_what_was_asked_for_goes_behind_the_page(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    here = maintenance.namespace
    shop, office = (
        ingress(here, "shop", "shop.example.com", "shop"),
        ingress(here, "office", "office.example.com", "office"),
    )
    paths = shop["spec"]["rules"][0]["http"]["paths"]
    paths.append(
        {"path": "/api", "pathType": "Prefix", "backend": {"service": {"name": "api", "port": {"number": 80}}}}
    )
    solver = ingress(here, "solver", service="solver")
    solver["metadata"]["labels"] = {"acme.cert-manager.io/http01-solver": "true", "tier": "edge"}
    office["metadata"]["labels"] = {"tier": "edge"}
    office["spec"]["ingressClassName"] = "other"
    maintenance.api.create(shop, office, solver)

    def shown(**target: Any) -> list[str]:
        result = succeeded(maintenance.run(state="enabled", check_mode=True, targets=[{"namespace": here, **target}]))
        pending = [one for one in result["targets"] if one["state"] == "pending"]
        return sorted(
            f"{one['name']}{path}" for one in pending for place in one["locations"] for path in place["paths"]
        )

    assert shown(name="office") == ["office/"]
    assert shown(hosts=["shop.*"]) == ["shop/", "shop/api"]
    assert shown(paths=["/api*"]) == ["shop/api"]
    assert shown(service="api") == ["shop/api"]
    assert shown(label_selector="tier=edge") == ["office/"]
    assert shown(ingress_class="other") == ["office/"]
    assert shown(kind="ingresses.networking.k8s.io") == ["office/", "shop/", "shop/api"]

    narrow = [{"namespace": here, "service": "api"}]
    on = succeeded(maintenance.run(state="enabled", targets=narrow))
    page = on["page_sets"][0]["name"]
    assert [services_in(maintenance.live(one)) for one in (shop, office, solver)] == [
        {"shop", page},
        {"office"},
        {"solver"},
    ]
    wrong = [{"namespace": here, "service": "ap"}]
    assert succeeded(maintenance.run(state="disabled", targets=wrong))["targets"] == []
    succeeded(maintenance("enabled"))
    assert succeeded(maintenance.run(state="disabled", targets=narrow))["changed"]
    assert services_in(maintenance.live(shop)) == {page, "api"}
    assert not succeeded(maintenance.run(state="disabled", targets=narrow))["changed"]
    assert not succeeded(maintenance.run(state="disabled", targets=narrow, check_mode=True))["changed"]
    assert succeeded(maintenance("disabled"))["counts"] == {"targets": 2, "disabled": 2}
    assert services_in(maintenance.live(shop)) == {"shop", "api"}
    assert maintenance.ours() == []
