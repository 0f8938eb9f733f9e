# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in front of a route that is not touched, and where nothing can."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.bypass import Bypass
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.carving import Openings
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.middlewares import (
    NO_MIDDLEWARES,
    ROUTER_MIDDLEWARES,
    Middlewares,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.overlay import (
    Overlay,
    Traefik,
    overlay_for,
    why_no_overlay,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.overlaying import is_in_front
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import Route
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, Wish
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.traefik_rules import Router, router_of
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.maintenance.carved_routes import (
    OTHER_PAGE,
    PAGE,
    Body,
    http_proxy,
    http_route,
    ingress,
    ingress_route,
    kind_of,
)

INGRESS_ROUTES = Resource("traefik.io", "v1alpha1", "IngressRoute", "ingressroutes", namespaced=True)
TRAEFIK = Traefik((kind_of(ingress_route()), INGRESS_ROUTES), frozenset({"traefik", "public"}), frozenset({"public"}))
ROUTER = "traefik.ingress.kubernetes.io/router."


def of_traefik(*paths: str, ingress_class: str = "traefik", **annotations: str) -> Body:
    item = ingress(*paths, annotations={ROUTER + key.replace("_", "."): value for key, value in annotations.items()})
    item["spec"]["ingressClassName"] = ingress_class
    return item


def route_of(item: Body) -> Route:
    group, _slash, version = item["apiVersion"].rpartition("/")
    return Route(
        kind_of(item), Resource(group, version, item["kind"], item["kind"].lower() + "s", namespaced=True), item
    )


def in_front(
    item: Body,
    selection: Selection | None = None,
    page: str = PAGE,
    *,
    middlewares: Middlewares = NO_MIDDLEWARES,
    **openings: Any,
) -> Overlay:
    return overlay_for(route_of(item), selection or Selection(), page, TRAEFIK, Openings(**openings), middlewares)


def test_an_overlay_of_an_ingress_says_the_same_one_step_above() -> None:
    overlay = in_front(of_traefik("/"))
    assert overlay.spec == {
        "routes": [
            {
                "kind": "Rule",
                "match": "(Host(`shop.example.com`) && PathPrefix(`/`))",
                "priority": 44,
                "services": [{"kind": "Service", "name": PAGE, "port": 80}],
            }
        ]
    }
    assert overlay.body["metadata"]["ownerReferences"] == [
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "web", "uid": "u1"}
    ]
    assert overlay.annotations["kubernetes.io/ingress.class"] == "traefik"


def test_an_overlay_listens_where_its_ingress_does() -> None:
    item = of_traefik(
        "/", entrypoints="web, websecure", tls="true", tls_certresolver="le", tls_options="shop-tls@kubernetescrd"
    )
    overlay = in_front(item)
    assert overlay.spec["entryPoints"] == ["web", "websecure"]
    assert overlay.spec["tls"] == {"certResolver": "le", "options": {"name": "tls", "namespace": "shop"}}


def test_an_overlay_of_traefiks_own_route_copies_where_it_listens() -> None:
    item = ingress_route(syntax="v2")
    item["spec"] |= {"tls": {"secretName": "cert"}, "parentRefs": [{"name": "parent"}]}
    item["metadata"]["annotations"] = {"kubernetes.io/ingress.class": "inner"}
    overlay = in_front(item, bypass=Bypass(headers=(("X-Tester", "s3cret"),)))
    assert {key: overlay.spec[key] for key in ("entryPoints", "tls", "parentRefs")} == {
        "entryPoints": ["web"],
        "tls": {"secretName": "cert"},
        "parentRefs": [{"name": "parent"}],
    }
    (entry,) = overlay.spec["routes"]
    assert (entry["syntax"], entry["match"]) == (
        "v2",
        "(Host(`shop.example.com`)) && !(Headers(`X-Tester`, `s3cret`))",
    )
    assert overlay.annotations["kubernetes.io/ingress.class"] == "inner"
    assert "s3cret" not in repr(overlay.summary)


@pytest.mark.parametrize(("name", "annotated"), [("traefik", True), ("public", True), ("private", False)])
def test_a_class_is_named_where_traefik_may_ask_for_it(name: str, annotated: bool) -> None:
    overlay = in_front(of_traefik("/", ingress_class=name))
    assert ("kubernetes.io/ingress.class" in overlay.annotations) == annotated


def test_exempt_paths_are_not_covered() -> None:
    overlay = in_front(of_traefik("/", "/health"), Selection(exempt=("/health",)))
    (entry,) = overlay.spec["routes"]
    assert entry["match"].endswith(" && !(Path(`/health`) || PathPrefix(`/health/`))")


def test_middlewares_that_hide_nothing_come_along() -> None:
    known = Middlewares(
        {("shop", "https"): {"redirectScheme": {}}, ("shop", "login"): {"basicAuth": {}}, ("sso", "x"): {"headers": {}}}
    )
    text = "shop-https@kubernetescrd,shop-login@kubernetescrd,sso-x@kubernetescrd,limits@file"
    item = of_traefik("/")
    item["metadata"]["annotations"][ROUTER_MIDDLEWARES] = text
    (entry,) = in_front(item, middlewares=known).spec["routes"]
    assert entry["middlewares"] == [{"name": "https"}, {"name": "limits@file"}]

    own = ingress_route(middlewares=[{"name": "login"}, {"name": "https"}])
    (entry,) = in_front(own, middlewares=known).spec["routes"]
    assert entry["middlewares"] == [{"name": "https"}]


def test_what_is_covered_stays_covered_when_something_else_is_selected() -> None:
    item = of_traefik("/a", "/b")
    route = route_of(item)
    first = overlay_for(route, Selection((Wish(paths=("/a",)),)), PAGE, TRAEFIK, Openings(), NO_MIDDLEWARES)
    route.overlay = as_made(first)
    second = overlay_for(route, Selection((Wish(paths=("/b",)),)), PAGE, TRAEFIK, Openings(), NO_MIDDLEWARES)
    assert [place.paths for place in first.places] == [("/a",)]
    assert [place.paths for place in second.places] == [("/a",), ("/b",)]
    assert [route.is_closed(place) for place in route.locations] == [True, False]


def as_made(overlay: Overlay, **edits: Any) -> Route:
    item = {"apiVersion": "traefik.io/v1alpha1", "kind": "IngressRoute", **overlay.body}
    item["metadata"] = {**item["metadata"], "uid": "o1", "resourceVersion": "9", "namespace": "shop"}
    return Route(overlay.kind, overlay.resource, {**item, **edits})


def test_an_overlay_is_in_front_as_long_as_it_is_as_it_was_made() -> None:
    item = of_traefik("/")
    route, wanted = route_of(item), in_front(item)
    assert not is_in_front(route, wanted)
    route.overlay = as_made(wanted)
    assert is_in_front(route, wanted)
    assert route.pages == {PAGE}
    route.overlay = as_made(wanted, spec={**wanted.spec, "aDefault": True})
    assert is_in_front(route, wanted), "defaults of the server"
    assert not is_in_front(route, in_front(item, page=OTHER_PAGE))
    route.overlay = as_made(wanted, spec={**wanted.spec, "routes": []})
    assert not is_in_front(route, wanted), "edited"
    with_tls = in_front(of_traefik("/", tls="true"))
    route.overlay = as_made(with_tls)
    assert not is_in_front(route, wanted), "something in it is not wanted any more"


@pytest.mark.parametrize(
    ("item", "traefik", "why"),
    [
        (of_traefik("/"), TRAEFIK, ""),
        (ingress_route(), Traefik(), ""),
        (http_route(), TRAEFIK, "Gateway API prefers the older one"),
        (http_proxy(), TRAEFIK, "only Traefik knows priorities"),
        (of_traefik("/"), Traefik(), "is not installed"),
        (of_traefik("/", ingress_class="nginx"), TRAEFIK, "its class nginx is not Traefik's"),
        (ingress("/"), TRAEFIK, "it names no class"),
        (of_traefik("/", tls_options="other-tls@file"), TRAEFIK, "its TLS options"),
        (ingress_route(priority=2**63 - 1001), TRAEFIK, "nothing can be put above it"),
        (ingress_route(""), TRAEFIK, "Traefik does not serve its places"),
    ],
)
def test_where_no_overlay_can_be_the_reason_is_told(item: Body, traefik: Traefik, why: str) -> None:
    told = why_no_overlay(route_of(item), Selection(), traefik, Openings())
    assert why in told
    assert bool(told) == bool(why)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=6), st.integers(1, 90))
def test_an_overlay_stands_above_its_own_route_and_above_nobody_who_stood_above_that(
    priorities: list[int], own: int
) -> None:
    """Rules that all fit the same requests: whoever got one before gets it still, unless it was the route itself."""
    item = ingress_route(*(f"Host(`shop.example.com`) || Host(`{number}`)" for number in range(len(priorities))))
    for entry, priority in zip(item["spec"]["routes"], priorities, strict=True):
        entry["priority"] = priority
    target = ingress_route(priority=own)
    target["metadata"]["uid"] = "u2"
    others = route_of(item)
    from_others = [router_at(others, number) for number in range(len(priorities))]
    overlay = overlay_for(route_of(target), Selection(), PAGE, TRAEFIK, Openings(routers=from_others), NO_MIDDLEWARES)
    (entry,) = overlay.spec["routes"]
    assert entry["priority"] > own
    for router in from_others:
        if router.low > own:
            assert entry["priority"] < router.low or f"!({router.rule})" in entry["match"]
        else:
            assert f"!({router.rule})" not in entry["match"]


def router_at(route: Route, number: int) -> Router:
    found = router_of(route.item, route.kind, route.locations[number])
    assert found is not None
    return dataclasses.replace(found, hosts=())
