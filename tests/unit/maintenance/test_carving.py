# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays open has an entry of its own, on every kind of route, and nothing of it is left afterwards."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.bypass import Bypass
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.carving import Openings, why_not_open
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.middlewares import Middlewares
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, Wish
from ansible_collections.sunset.kube.tests.unit.maintenance.carved_routes import (
    OTHER_PAGE,
    PAGE,
    Body,
    Life,
    http_proxy,
    http_route,
    ingress,
    ingress_route,
    kind_of,
    route,
    virtual_service,
)

HEALTH = Openings(paths=("/health",))
TESTERS = Openings(bypass=Bypass(headers=(("X-Tester", "s3cret"),)))
EVERYBODY = Openings(
    bypass=Bypass((("X-Tester", "s3cret"),), (("tester", "s3cret"),), ("203.0.113.0/24",)), paths=("/health",)
)
PREFIX = {"type": "PathPrefix", "value": "/"}
ROUTES = {
    "Ingress": ingress("/", "/api"),
    "IngressRoute": ingress_route("Host(`shop.example.com`)", "Host(`shop.example.com`) && PathPrefix(`/api`)"),
    "HTTPRoute": http_route({"matches": [{"path": PREFIX}]}, {"matches": [{"path": {**PREFIX, "value": "/api"}}]}),
    "HTTPProxy": http_proxy({"conditions": [{"prefix": "/"}]}, {"conditions": [{"prefix": "/api"}]}),
    "VirtualService": virtual_service({"match": [{"uri": {"prefix": "/api"}}]}, {}),
}


def entries(life: Life) -> list[Body]:
    """The list our entries are put into."""
    spec = life.spec
    if "rules" in spec and "http" in spec["rules"][0]:
        paths: list[Body] = spec["rules"][0]["http"]["paths"]
        return paths
    found: list[Body] = spec.get("routes") or spec.get("http") or spec["rules"]
    return found


def is_open(entry: Body) -> bool:
    return PAGE not in repr(entry) and OTHER_PAGE not in repr(entry)


@pytest.mark.parametrize("kind", ROUTES)
@pytest.mark.parametrize("openings", [HEALTH, TESTERS], ids=["exempt path", "bypass"])
def test_entries_come_once_and_go_without_a_trace(kind: str, openings: Openings) -> None:
    if kind == "Ingress" and openings.bypass:
        openings = HEALTH
    life = Life(ROUTES[kind])
    before = copy.deepcopy(life.item)

    assert life.enable(openings).needed
    assert any(is_open(entry) for entry in entries(life)), "something stays open"
    assert not life.enable(openings).operations, "a second run has nothing to do"

    life.disable()
    assert life.item["spec"] == before["spec"]


@pytest.mark.parametrize("kind", ROUTES)
def test_another_page_leaves_the_entries_where_they_are(kind: str) -> None:
    life = Life(ROUTES[kind])
    life.enable(HEALTH)
    opened = [entry for entry in entries(life) if is_open(entry)]

    life.enable(HEALTH, OTHER_PAGE)

    assert [entry for entry in entries(life) if is_open(entry)] == opened
    assert PAGE not in repr(life.spec)


@pytest.mark.parametrize("kind", ROUTES)
def test_what_shall_be_open_no_more_is_taken_away_and_may_come_back(kind: str) -> None:
    life = Life(ROUTES[kind])
    life.enable(HEALTH)
    with_health = copy.deepcopy(life.spec)

    life.enable(Openings())
    assert not any(is_open(entry) for entry in entries(life))
    assert "/health" not in repr(life.spec)

    life.enable(HEALTH)
    assert life.spec == with_health
    life.disable()
    assert life.spec == ROUTES[kind]["spec"]


@pytest.mark.parametrize("kind", ROUTES)
def test_defaults_that_the_server_puts_into_an_entry_do_not_hide_it_from_us(kind: str) -> None:
    life = Life(ROUTES[kind])
    life.enable(HEALTH)
    for entry in entries(life):
        if is_open(entry):
            entry["aDefault"] = "of a newer version"

    assert not life.enable(HEALTH).operations
    life.disable()
    assert life.spec == ROUTES[kind]["spec"]


@pytest.mark.parametrize("kind", ROUTES)
def test_an_entry_that_somebody_adds_meanwhile_stays_and_ours_still_go(kind: str) -> None:
    life = Life(ROUTES[kind])
    before = copy.deepcopy(entries(life))
    life.enable(HEALTH)
    new = copy.deepcopy(before[0])
    for key in ("path", "match", "matches", "conditions"):
        if key in new:
            new[key] = {"path": "/new", "match": "Host(`new.example.com`)"}.get(key, [])
    if kind == "VirtualService":
        new["match"] = [{"uri": {"prefix": "/new"}}]
    entries(life).insert(0, new)

    life.disable()

    assert entries(life) == [new, *before]


def test_the_path_of_an_ingress_goes_to_the_backend_it_went_to_before() -> None:
    life = Life(ingress("/", "/api"))
    entries(life)[1]["backend"]["service"]["name"] = "api"

    life.enable(Openings(paths=("/api/health", "/live/")))

    opened = {entry["path"]: entry["backend"]["service"]["name"] for entry in entries(life) if is_open(entry)}
    assert opened == {"/api/health": "api", "/live": "app"}


def test_an_identical_path_of_another_host_is_not_taken_for_ours() -> None:
    item = ingress("/", "/health", host="a.example.com")
    item["spec"]["rules"] += ingress("/", host="b.example.com")["spec"]["rules"]
    life = Life(item)
    life.enable(HEALTH)
    assert [len(rule["http"]["paths"]) for rule in life.spec["rules"]] == [2, 2]
    life.spec["rules"].reverse()

    life.disable()

    assert life.spec["rules"] == item["spec"]["rules"][::-1]


def test_nothing_is_opened_that_was_not_there_before() -> None:
    life = Life(ingress("/exact", path_type="Exact"))
    life.enable(Openings(paths=("/exact/health", "/elsewhere")))
    assert len(entries(life)) == 1


def test_traefik_lets_ours_win_by_one_and_no_more() -> None:
    life = Life(ROUTES["IngressRoute"])
    life.enable(TESTERS)
    shop, api = len("Host(`shop.example.com`)"), len("Host(`shop.example.com`) && PathPrefix(`/api`)")
    assert [entry.get("priority") for entry in entries(life)] == [None, None, shop + 1, api + 1]
    assert entries(life)[2]["match"] == "(Host(`shop.example.com`)) && (Header(`X-Tester`, `s3cret`))"


def test_an_explicit_priority_is_raised_by_one() -> None:
    life = Life(ingress_route(priority=10))
    life.enable(HEALTH)
    assert entries(life)[1]["priority"] == 11


def test_all_ways_to_pass_stand_in_one_rule_of_traefik() -> None:
    life = Life(ingress_route())
    life.enable(EVERYBODY)
    host = "(Host(`shop.example.com`))"
    cookie = r"HeaderRegexp(`Cookie`, `^(.*;\s*)?tester=s3cret(;.*)?$`)"
    assert [entry["match"] for entry in entries(life)[1:]] == [
        f"{host} && (Header(`X-Tester`, `s3cret`) || {cookie} || ClientIP(`203.0.113.0/24`))",
        f"{host} && (Path(`/health`) || PathPrefix(`/health/`))",
    ]


def test_rules_for_traefik_2_use_its_words() -> None:
    life = Life(ingress_route(syntax="v2"))
    life.enable(TESTERS)
    assert "Headers(`X-Tester`, `s3cret`)" in entries(life)[1]["match"]


def test_a_rule_of_gateway_api_keeps_its_filters_and_loses_its_name() -> None:
    header = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["x"]}}
    mirror = {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "mirror", "port": 80}}}
    life = Life(http_route({"name": "all", "matches": [{"path": PREFIX}], "filters": [header, mirror]}))

    life.enable(EVERYBODY_OF_GATEWAY)

    _page, admitted, opened = entries(life)
    assert admitted["matches"] == [
        {"path": PREFIX, "headers": [{"type": "Exact", "name": "X-Tester", "value": "s3cret"}]}
    ]
    assert opened["matches"] == [{"path": {"type": "PathPrefix", "value": "/health"}}]
    assert [entry.get("filters") for entry in (admitted, opened)] == [[header, mirror]] * 2
    assert not any("name" in entry for entry in (admitted, opened))


EVERYBODY_OF_GATEWAY = Openings(paths=("/health",), bypass=TESTERS.bypass)


@pytest.mark.parametrize(
    ("item", "place"),
    [
        (
            http_route(
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": "/api"}}],
                    "filters": [
                        {
                            "type": "URLRewrite",
                            "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v2"}},
                        }
                    ],
                }
            ),
            lambda entry: entry["filters"][0]["urlRewrite"]["path"]["replacePrefixMatch"],
        ),
        (
            http_proxy(
                {
                    "conditions": [{"prefix": "/api"}],
                    "pathRewritePolicy": {"replacePrefix": [{"prefix": "/api", "replacement": "/v2"}]},
                }
            ),
            lambda entry: entry["pathRewritePolicy"]["replacePrefix"][0]["replacement"],
        ),
        (
            virtual_service({"match": [{"uri": {"prefix": "/api"}}], "rewrite": {"uri": "/v2"}}),
            lambda entry: entry["rewrite"]["uri"].rstrip("/"),
        ),
    ],
    ids=["HTTPRoute", "HTTPProxy", "VirtualService"],
)
def test_a_replaced_prefix_leads_to_the_same_path_as_before(item: Body, place: Any) -> None:
    life = Life(item)
    life.enable(Openings(paths=("/api/health",)))
    opened = [entry for entry in entries(life) if is_open(entry)]
    assert {place(entry) for entry in opened} == {"/v2/health"}


def test_istio_asks_ours_right_before_the_entry_they_are_made_of() -> None:
    life = Life(ROUTES["VirtualService"])
    life.enable(TESTERS)
    shown = [("open" if is_open(entry) else "page", entry.get("match")) for entry in entries(life)]
    tester = {"x-tester": {"exact": "s3cret"}}
    assert shown == [
        ("open", [{"uri": {"prefix": "/api"}, "headers": tester}]),
        ("page", [{"uri": {"prefix": "/api"}}]),
        ("open", [{"headers": tester}]),
        ("page", None),
    ]


def test_entries_of_istio_that_have_lost_their_place_are_put_back_there() -> None:
    life = Life(ROUTES["VirtualService"])
    life.enable(TESTERS)
    right = copy.deepcopy(entries(life))
    moved = entries(life).pop(0)
    entries(life).append(moved)

    assert life.enable(TESTERS).needed
    assert entries(life) == right
    assert not life.enable(TESTERS).operations


def test_a_cookie_is_a_pattern_for_istio_and_a_part_of_the_header_for_contour() -> None:
    cookies = Openings(bypass=Bypass(cookies=(("tester", "s3.cret"),)))
    istio, contour = Life(virtual_service()), Life(http_proxy())
    istio.enable(cookies)
    contour.enable(cookies)
    assert entries(istio)[0]["match"] == [{"headers": {"cookie": {"regex": r"(.*;\s*)?tester=s3\.cret(;.*)?"}}}]
    assert entries(contour)[1]["conditions"] == [{"header": {"name": "Cookie", "contains": "tester=s3.cret"}}]


OPENSHIFT = route("route.openshift.io/v1", "Route", {"host": "shop", "path": "/api", "to": {"name": "app"}})
GRPC = route("gateway.networking.k8s.io/v1", "GRPCRoute", {"rules": [{"backendRefs": [{"name": "app", "port": 80}]}]})
WITH_LOGIN = {"annotations": {"nginx.ingress.kubernetes.io/auth-url": "https://login.example.com"}}


@pytest.mark.parametrize(
    ("item", "openings", "reasons"),
    [
        (OPENSHIFT, HEALTH, []),
        (OPENSHIFT, Openings(paths=("/api/health",)), ["exempt_paths: Route routes cannot leave /api/health open"]),
        (GRPC, HEALTH, ["exempt_paths: GRPCRoute routes cannot leave /health open"]),
        (OPENSHIFT, TESTERS, ["bypass.headers: Route routes cannot tell them apart"]),
        (ingress(), TESTERS, ["bypass.headers: an Ingress cannot tell; use strategy: overlay where Traefik serves it"]),
        (ingress(**WITH_LOGIN), Openings(), []),
        (
            ingress(**WITH_LOGIN),
            HEALTH,
            [
                "nginx.ingress.kubernetes.io/auth-url must be off while the page is shown, "
                "also for /health, which stays open"
            ],
        ),
        (
            http_route({"matches": [{"path": PREFIX, "headers": [{"name": "x-tester", "value": "1"}]}]}),
            TESTERS,
            ["bypass.headers: its rules tell requests apart by X-Tester already; take another header"],
        ),
        (
            ingress("/shop(/|$)(.*)", path_type="ImplementationSpecific"),
            HEALTH,
            ["its path is a regular expression, and whether /health is below it cannot be told"],
        ),
        (http_proxy(root=False), HEALTH, ["it is included by other HTTPProxies, which decide about its paths"]),
        (
            route("networking.k8s.io/v1", "Ingress", {"defaultBackend": {"service": {"name": "app"}}}),
            HEALTH,
            ["it has only a default backend, and no rule to put an exempt path into"],
        ),
        (ingress_route(), EVERYBODY, []),
    ],
)
def test_what_cannot_stay_open_is_told_with_its_reason(item: Body, openings: Openings, reasons: list[str]) -> None:
    assert why_not_open(item, kind_of(item), Selection(exempt=openings.paths), openings) == reasons


def test_each_way_to_pass_that_a_kind_does_not_know_is_a_reason_of_its_own() -> None:
    reasons = why_not_open(http_route(), kind_of(http_route()), Selection(), EVERYBODY)
    assert [reason.partition(":")[0] for reason in reasons] == ["bypass.cookies", "bypass.cidrs"]


def test_a_login_is_not_taken_off_places_that_stay_open() -> None:
    item = ingress("/", "/admin", annotations={"traefik.ingress.kubernetes.io/router.middlewares": LOGIN})
    middlewares = Middlewares({("shop", "login"): {"basicAuth": {}}})
    selection = Selection((Wish(paths=("/",)),))
    reasons = why_not_open(item, kind_of(item), selection, Openings(), middlewares)
    assert reasons == [
        "traefik.ingress.kubernetes.io/router.middlewares must be off while the page is shown, "
        "also for shop.example.com/admin, which stays open"
    ]
    assert not why_not_open(item, kind_of(item), Selection(), Openings(), middlewares)


LOGIN = "shop-login@kubernetescrd"
