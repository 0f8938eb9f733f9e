# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routers as Traefik makes them of routes, and who is in whose way."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.locations import locations_of
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.traefik_rules import (
    V2,
    Router,
    any_path,
    is_broken,
    router_of,
    without_rivals,
)
from ansible_collections.sunset.kube.tests.unit.maintenance.carved_routes import (
    Body,
    ingress,
    ingress_route,
    kind_of,
    route,
)

ROUTER = "traefik.ingress.kubernetes.io/router"


def routers(item: Body) -> list[Router | None]:
    kind = kind_of(item)
    return [router_of(item, kind, location) for location in locations_of(item, kind)]


@pytest.mark.parametrize(
    ("item", "rule", "low", "high"),
    [
        (ingress("/"), "Host(`shop.example.com`) && PathPrefix(`/`)", 43, 43),
        # With strict prefixes it would be (Path("/api") || PathPrefix("/api/")).
        (ingress("/api"), "Host(`shop.example.com`) && PathPrefix(`/api`)", 46, 65),
        (ingress("/api", path_type="Exact"), "Host(`shop.example.com`) && Path(`/api`)", 40, 40),
        (
            ingress("/", host="*.example.com"),
            r'HostRegexp("^[a-zA-Z0-9-]+\\.example\\.com$") && PathPrefix(`/`)',
            64,
            64,
        ),
        (ingress("/", host=""), "PathPrefix(`/`)", 15, 15),
        (ingress("/", annotations={f"{ROUTER}.priority": "7"}), "Host(`shop.example.com`) && PathPrefix(`/`)", 7, 7),
        (
            ingress("/[a-z]+", path_type="ImplementationSpecific", annotations={f"{ROUTER}.pathmatcher": "PathRegexp"}),
            "Host(`shop.example.com`) && PathRegexp(`/[a-z]+`)",
            49,
            49,
        ),
        (ingress_route(), "Host(`shop.example.com`)", 24, 24),
        (ingress_route(priority=3), "Host(`shop.example.com`)", 3, 3),
    ],
)
def test_a_place_counts_for_what_traefik_makes_of_it(item: Body, rule: str, low: int, high: int) -> None:
    (router,) = routers(item)
    assert router is not None
    assert (router.rule, router.low, router.high) == (rule, low, high)


def test_a_default_backend_is_served_only_where_there_are_no_rules() -> None:
    backend: dict[str, Any] = {"service": {"name": "app"}}
    alone = route("networking.k8s.io/v1", "Ingress", {"defaultBackend": backend})
    beside = ingress("/")
    beside["spec"]["defaultBackend"] = backend
    assert [one.low if one else None for one in routers(alone)] == [-(2**31)]
    assert [one.rule if one else None for one in routers(beside)] == [
        "Host(`shop.example.com`) && PathPrefix(`/`)",
        None,
    ]


def router(rule: str, count: int, *, hosts: tuple[str, ...] = (), paths: tuple[str, ...] = (), **more: Any) -> Router:
    return Router(rule, rule, rule, count, count, hosts, paths, **more)


def test_only_those_right_above_are_taken_out_of_a_rule() -> None:
    one = router("A", 10, hosts=("a",), paths=("/v1",))
    others = [
        one,
        router("below", 10),
        router("right above", 11),
        router("far above", 12),
        router("another host", 11, hosts=("b",)),
        router("another path", 11, paths=("/x",)),
        router("a longer path", 11, hosts=("a",), paths=("/v10",)),
        router("another language", 11, dialect=V2),
    ]
    assert without_rivals(one, others) == "(A) && !(right above) && !(a longer path)"


WHOLE = ["Host(`a`) && (Path(`/)`) || !Path(`/b`))", 'Host(`a`) && Header(`x`, "\\")")', "HostRegexp(`[a-z]{2}`)\n"]
BROKEN = [
    "Host(`a`)) || (Host(`bank`)",
    "Host(`a`",
    "Host(`a)",
    'Host("a\\")',
    "Host(`a`) // ",
    "Host(`a`) /* ",
    "(Host(`a`)]",
]


@pytest.mark.parametrize("rule", [*WHOLE, *BROKEN])
def test_a_rule_that_would_end_another_one_counts_for_nothing(rule: str) -> None:
    item = ingress_route()
    item["spec"]["routes"][0]["match"] = rule
    [kind] = [kind_of(item)]
    [location] = locations_of(item, kind)
    assert (router_of(item, kind, location) is None) is (rule in BROKEN)
    assert is_broken(item, kind, location) is (rule in BROKEN)


def test_the_end_of_a_line_is_not_the_end_of_a_rule() -> None:
    assert without_rivals(router("A\n", 10), [router("B\n", 11)]) == "(A) && !(B)"


def test_a_path_holds_itself_and_what_is_below_it() -> None:
    assert any_path(["/health", "/.well-known/"]) == (
        "Path(`/health`) || PathPrefix(`/health/`) || PathPrefix(`/.well-known/`)"
    )
