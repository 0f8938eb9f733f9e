# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page in front of routes that are not touched: it comes and goes through the real Traefik without a gap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.load import Door, Load
from integration.maintaining import INGRESSES, Maintenance, http_route, ingress, ingress_route
from integration.ranked import failed, succeeded
from integration.running import Result, warnings_of
from lab.node import workloads
from lab.node.traefik import Traefik
from lab.plane.controlplane import ControlPlane

Body = dict[str, Any]
APP = "shop"
ROUTES = "/apis/traefik.io/v1alpha1/namespaces/{}/ingressroutes"
HTTP_ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/{}/httproutes"
SECRET = "let-me-in-5309"


@pytest.fixture
def shop(plane: ControlPlane, node_namespace: str, traefik: Traefik) -> Maintenance:
    """One application behind an Ingress and an IngressRoute, and another one on a path of both hosts."""
    shop = Maintenance(plane, node_namespace)
    for name in (APP, "api"):
        workloads.start_app(plane.api, node_namespace, name)
    plane.api.create(
        ingress(node_namespace, host=host_of(shop, "ingress")),
        ingress_route(node_namespace, host=host_of(shop, "crd")),
    )
    for name in ("ingress", "crd"):
        other = ingress_route(node_namespace, f"api-{name}", host_of(shop, name), "api")
        # Only one letter longer than what Traefik makes of the Ingress: it stands right above it.
        other["spec"]["routes"][0]["match"] += " && PathPrefix(`/a`)"
        plane.api.create(other)
        traefik.wait_for(host_of(shop, name), lambda reply: reply.body == "app shop\n")
        traefik.wait_for(host_of(shop, name), lambda reply: reply.body == "app api\n", "/api")
    return shop


def host_of(shop: Maintenance, name: str) -> str:
    return f"{name}.{shop.namespace}.example.com"


def overlays(shop: Maintenance) -> list[Body]:
    _status, listed = shop.api.get(ROUTES.format(shop.namespace), labelSelector="sunset.dev/maintenance=overlay")
    found: list[Body] = listed["items"]
    return found


def page_id(result: Result) -> str:
    (page,) = {target["page"] for target in result["targets"]}
    return str(page).removeprefix("maintenance-")


def test_an_overlay_comes_changes_and_goes_without_a_gap_and_the_routes_are_not_touched(
    shop: Maintenance, traefik: Traefik
) -> None:
    paths = [f"{INGRESSES.format(shop.namespace)}/web", f"{ROUTES.format(shop.namespace)}/web"]
    before = [shop.route(path) for path in paths]
    hosts = [host_of(shop, name) for name in ("ingress", "crd")]
    asked: Body = {
        "targets": [{"name": "web", "namespace": shop.namespace}],
        "strategy": "overlay",
        "bypass": {"headers": {"X-Tester": SECRET}},
        "exempt_paths": ["/health"],
        "linger": 2,
    }
    told = []
    with Load([Door(host, traefik.port, host) for host in hosts], APP) as load:
        told.append(succeeded(shop("enabled", check_mode=True, **asked)))
        assert overlays(shop) == []
        told.append(succeeded(shop("enabled", **asked)))
        first = page_id(told[-1])
        assert set(load.now()) == {first}
        for host in hosts:
            assert traefik.ask(host, headers={"X-Tester": SECRET}).body == "app shop\n"
            assert traefik.ask(host, "/health").body == "app shop\n"
            assert traefik.ask(host, "/api").body == "app api\n", "another application, which nobody meant"
        told.append(succeeded(shop("enabled", **asked)))
        assert not told[-1]["changed"]

        told.append(succeeded(shop("enabled", **{**asked, "page": {"title": "Longer than planned"}})))
        second = page_id(told[-1])
        assert set(load.now()) == {second}
        assert {target["strategy"] for target in shop.info()["targets"]} == {"overlay"}

        told.append(succeeded(shop("disabled", linger=2)))
        assert set(load.now()) == {"app"}

    assert load.wrong("app", first, second) == []
    assert [shop.route(path) for path in paths] == before, "with the same resourceVersion"
    assert overlays(shop) == []
    assert shop.ours() == []
    assert SECRET not in json.dumps(told)


def test_overlays_follow_their_routes_and_are_never_targets_themselves(shop: Maintenance, traefik: Traefik) -> None:
    api, namespace = shop.api, shop.namespace
    api.create(http_route(namespace))
    by_name = {"targets": [{"name": "web", "namespace": namespace}]}
    assert "Gateway API prefers the older one" in failed(shop("enabled", strategy="overlay", **by_name))

    on = succeeded(shop("enabled", strategy="auto"))
    strategies = {target["kind"]: target["strategy"] for target in on["targets"]}
    assert strategies == {"Ingress": "overlay", "IngressRoute": "overlay", "HTTPRoute": "swap"}
    assert len(on["targets"]) == 5
    assert len(overlays(shop)) == 4
    assert "an overlay is in front of it" in failed(shop("enabled", strategy="swap", **by_name))

    path = f"{INGRESSES.format(namespace)}/web"
    item = shop.route(path)
    (owned,) = [
        one for one in overlays(shop) if one["metadata"]["ownerReferences"][0]["uid"] == item["metadata"]["uid"]
    ]
    another = f"another.{host_of(shop, 'ingress')}"
    item["spec"]["rules"].append({**item["spec"]["rules"][0], "host": another})
    assert api.put(path, item)[0] == 200
    traefik.wait_for(another, lambda reply: reply.status == 200)
    again = succeeded(shop("enabled", strategy="auto"))
    assert [target["name"] for target in again["targets"] if target["changed"]] == ["web"]
    traefik.wait_for(another, lambda reply: reply.status == 503)
    (updated,) = [one for one in overlays(shop) if one["metadata"]["uid"] == owned["metadata"]["uid"]]
    assert len(updated["spec"]["routes"]) == 2

    part = succeeded(shop("disabled", targets=[{"namespace": namespace, "hosts": [another]}]))
    assert [target["state"] for target in part["targets"]] == ["enabled"]
    traefik.wait_for(another, lambda reply: reply.status == 200)
    assert traefik.ask(host_of(shop, "ingress")).status == 503

    stray = ingress_route(namespace, "stray", "stray.example.com")
    stray["metadata"]["labels"] = {"sunset.dev/maintenance": "overlay"}
    api.create(stray)
    succeeded(shop("swept", sweep_after=0))
    assert len(overlays(shop)) == 4, "only the one that belongs to nobody is swept"

    succeeded(shop("disabled"))
    assert overlays(shop) == []
    assert shop.ours() == []
    assert shop.route(f"{HTTP_ROUTES.format(namespace)}/web")["spec"]["rules"][0]["backendRefs"][0]["name"] == "shop"


def test_a_rule_of_others_whose_brackets_do_not_close_catches_no_third_host(
    shop: Maintenance, traefik: Traefik
) -> None:
    host, bank = host_of(shop, "crd"), host_of(shop, "bank")
    others = ingress_route(shop.namespace, "bank", bank, "api")
    others["spec"]["routes"][0]["priority"] = 1
    rival = ingress_route(shop.namespace, "rival", host, "api")
    # Right above the route, so that it is taken out of the overlay's rule.
    rival["spec"]["routes"][0] |= {
        "match": f"Host(`{host}`)) || (Host(`{bank}`)",
        "priority": len(f"Host(`{host}`)") + 1,
    }
    shop.api.create(others, rival)
    traefik.wait_for(bank, lambda reply: reply.body == "app api\n")
    asked = {"targets": [{"kind": "IngressRoute", "name": "web", "namespace": shop.namespace}], "strategy": "overlay"}

    on = succeeded(shop("enabled", **asked))

    assert bank not in json.dumps(overlays(shop)[0]["spec"]), traefik.ask(bank).body
    traefik.wait_for(host, lambda reply: reply.status == 503)
    assert traefik.ask(bank).body == "app api\n"
    assert f"IngressRoute {shop.namespace}/rival: its rule at /spec/routes/0/services is left out" in warnings_of(on)
    succeeded(shop("disabled"))
