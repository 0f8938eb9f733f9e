# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.locations import (
    ServiceRef,
    locations_of,
    other_services,
    page_for,
    page_in,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import (
    ROUTE_KINDS,
    Backend,
    RouteKind,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    HTTP_ROUTE,
    INGRESS,
    INGRESS_ROUTE,
    ISTIO,
    OPENSHIFT,
    PAGE,
    SHAPES,
    Item,
    a_route,
    an_ingress,
    an_ingress_route,
    path,
    rule,
    to_service,
    traefik_entry,
)


@pytest.mark.parametrize(("kind", "spec", "services", "hosts"), named(SHAPES))
def test_every_known_kind_shows_its_services_and_hosts(
    kind: RouteKind, spec: Item, services: set[str], hosts: set[str]
) -> None:
    found = locations_of(a_route(spec), kind)
    assert {one.name for place in found for one in place.services} == services
    assert {host for place in found for host in place.hosts} == hosts


def test_there_is_a_shape_for_every_known_kind() -> None:
    assert {kind.name for kind in ROUTE_KINDS} == {shape[0].name for shape in SHAPES.values()}


def test_places_without_backends_are_no_locations() -> None:
    item = an_ingress(rule("a", path("/", "web")), {"host": "bare"}, {"host": "null", "http": None})
    assert [place.pointer for place in locations_of(item, INGRESS)] == ["/spec/rules/0/http/paths/0/backend"]
    entries = an_ingress_route(traefik_entry("Host(`a`)"), {"match": "Host(`b`)", "services": None})
    assert locations_of(entries, INGRESS_ROUTE) == []
    assert locations_of({"metadata": {}}, INGRESS) == []


def test_an_entry_is_known_by_its_words_wherever_it_moves() -> None:
    one, other = path("/a", "web"), path("/b", "api")
    there = {place.paths: place.identity for place in locations_of(an_ingress(rule("h", one, other)), INGRESS)}
    moved = an_ingress({"host": "new"}, rule("h", other, one))
    assert {place.paths: place.identity for place in locations_of(moved, INGRESS)} == there


def test_entries_with_the_same_words_still_have_identities_of_their_own() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", "x"), traefik_entry("Host(`a`)", "y"))
    assert len({place.identity for place in locations_of(item, INGRESS_ROUTE)}) == 2


@pytest.mark.parametrize(
    ("match", "hosts", "paths"),
    named(
        {
            "host": ("Host(`a.b`)", ["a.b"], []),
            "several hosts": ("Host(`a`, `b`) || Host(`c`)", ["a", "b", "c"], []),
            "host and path": ("Host(`a`) && PathPrefix(`/x`)", ["a"], ["/x"]),
            "double quotes": ('Host("a") && Path("/y")', ["a"], ["/y"]),
            "not this path": ("Host(`a`) && !PathPrefix(`/x`)", ["a"], []),
            "not, with a space": ("Host(`a`) && ! Path(`/x`)", ["a"], []),
            "no words we know": ("HeaderRegexp(`x`, `y`)", [], []),
        }
    ),
)
def test_hosts_and_paths_are_read_from_traefiks_rules(match: str, hosts: list[str], paths: list[str]) -> None:
    place = locations_of(an_ingress_route(traefik_entry(match, "web")), INGRESS_ROUTE)[0]
    assert (list(place.hosts), list(place.paths)) == (hosts, paths)


@pytest.mark.parametrize(
    ("host", "service"),
    named(
        {
            "a plain name is in the route's own namespace": ("web", ServiceRef("shop", "web")),
            "name and namespace": ("web.other", ServiceRef("other", "web")),
            "the whole name": ("web.other.svc.cluster.local", ServiceRef("other", "web")),
        }
    ),
)
def test_istio_names_services_by_host(host: str, service: ServiceRef) -> None:
    item = a_route({"http": [{"route": [{"destination": {"host": host}}]}]})
    assert locations_of(item, ISTIO)[0].services == (service,)


def test_services_of_another_namespace_or_kind_are_told_apart() -> None:
    refs = [{"name": "x", "namespace": "other"}, {"name": "y", "kind": "TraefikService"}, {"port": 80}]
    item = an_ingress_route({"match": "Host(`a`)", "services": refs})
    found = locations_of(item, INGRESS_ROUTE)[0].services
    assert found == (ServiceRef("other", "x"), ServiceRef("shop", "y", "TraefikService"))


def test_an_openshift_route_names_services_beside_its_backend() -> None:
    spec = SHAPES["Route"][1]
    assert [one.name for one in other_services(a_route(spec), OPENSHIFT)] == ["web2"]


@pytest.mark.parametrize(
    ("value", "page"),
    named(
        {
            "as we write it": (to_service(PAGE), PAGE),
            "as the maintenance-operator writes it": (to_service("maintenance-7f9a4bc2", 80), "maintenance-7f9a4bc2"),
            "another port": (to_service(PAGE, 8080), PAGE),
            "a Service of somebody else": (to_service("web"), None),
            "a name that only begins like a page": (to_service(f"{PAGE}-x"), None),
            "too few digits": (to_service("maintenance-0123"), None),
            "no digits at all": (to_service("maintenance-backend"), None),
            "a resource": ({"resource": {"kind": "Bucket", "name": PAGE}}, None),
            "nothing": (None, None),
        }
    ),
)
def test_a_page_is_told_from_an_application(value: Any, page: str | None) -> None:
    assert page_in(value, INGRESS.backends[0].page) == page


@pytest.mark.parametrize(("kind", "spec", "_services", "_hosts"), named(SHAPES))
def test_what_is_written_for_a_page_is_recognised_as_that_page(
    kind: RouteKind, spec: Item, _services: Any, _hosts: Any
) -> None:
    for backend in kind.backends:
        assert page_in(page_for(backend.page, PAGE, "shop"), backend.page) == PAGE


def test_defaults_that_the_server_adds_to_a_page_do_not_hide_it() -> None:
    value = page_for(HTTP_ROUTE.backends[0].page, PAGE, "shop")
    assert page_in([{**value[0], "group": "", "weight": 1}], HTTP_ROUTE.backends[0].page) == PAGE


def test_a_page_beside_an_application_is_neither() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", PAGE, "web"))
    place = locations_of(item, INGRESS_ROUTE)[0]
    assert (place.page, place.half_page) == (None, PAGE)


def test_a_kind_of_ones_own_needs_nothing_but_data() -> None:
    mine = RouteKind(
        "edge.example.com",
        "Door",
        (Backend("/spec/doors/*/to", {"svc": "$service"}, ("/spec/doors/{0}/sign",), name="/svc"),),
        hosts=("/spec/doors/{0}/sign",),
    )
    item = a_route({"doors": [{"sign": "front", "to": {"svc": "hall"}}, {"sign": "back"}]})
    place = locations_of(item, mine)[0]
    assert (place.hosts, place.services, place.where) == (("front",), (ServiceRef("shop", "hall"),), "front/")
    assert page_in({"svc": PAGE}, mine.backends[0].page) == PAGE
