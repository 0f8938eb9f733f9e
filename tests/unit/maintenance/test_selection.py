# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which routes are meant, by what they are and by what they led to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.labels import parse_selector
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import Backup
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.options import Target
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.recalling import LAST_APPLIED, recall
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import Route, Scene
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.seed import is_seeds
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.selection import (
    choose,
    missing,
    namespaces_of,
    needed_kinds,
    why_no_page,
)
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, Resource, record_of
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    INGRESS,
    INGRESS_ROUTE,
    ISTIO,
    OPENSHIFT,
    Item,
    a_route,
    an_ingress,
    an_ingress_route,
    path,
    rule,
    swapped,
    traefik_entry,
)

INGRESSES = Resource("networking.k8s.io", "v1", "Ingress", "ingresses", namespaced=True)
ROUTES = Resource("traefik.io", "v1alpha1", "IngressRoute", "ingressroutes", namespaced=True)
ALL = frozenset((one.group, one.kind) for one in ROUTE_KINDS)
MEANT = {
    "": ALL,
    "Ingress": frozenset({("networking.k8s.io", "Ingress")}),
    "IngressRoute": frozenset({("traefik.io", "IngressRoute")}),
}


def placed(item: Item, name: str, namespace: str = "shop", **labels: str) -> Item:
    item["metadata"].update(name=name, namespace=namespace, uid=f"{namespace}-{name}", labels=labels)
    return item


def a_scene() -> Scene:
    routes = [
        Route(
            INGRESS,
            INGRESSES,
            placed(an_ingress(rule("a.x", path("/", "web"), path("/api", "api"))), "one", tier="web"),
        ),
        Route(INGRESS, INGRESSES, placed(an_ingress(rule("b.x", path("/", "web-2"))), "two")),
        Route(INGRESS, INGRESSES, placed(an_ingress(rule("c.y", path("/", "web"))), "three", "other")),
        Route(INGRESS_ROUTE, ROUTES, placed(an_ingress_route(traefik_entry("Host(`a.x`)", "web")), "crd")),
        Route(INGRESS, INGRESSES, placed(an_ingress({"host": "bare"}), "bare")),
    ]
    return Scene(routes={route.uid: route for route in routes})


def behind(route: Route) -> Route:
    """The same route in maintenance."""
    item, changes, _done = swapped(dict(route.item), route.kind)
    kept = Backup(record_of({"name": "backup", "uid": "b"}), route.ref, changes)
    return Route(route.kind, route.resource, item, kept)


def names(targets: list[Target], *, before: bool = False, all_behind: bool = False) -> list[str]:
    scene = a_scene()
    if all_behind:
        scene.routes = {uid: behind(route) for uid, route in scene.routes.items()}
    return [one.route.ref.name for one in choose(targets, MEANT, scene, before=before)]


CASES: dict[str, tuple[list[Target], list[str]]] = {
    "a namespace": ([Target(namespace="shop")], ["one", "two", "crd"]),
    "everything": ([], ["three", "one", "two", "crd"]),
    "a name": ([Target(namespace="shop", name="two")], ["two"]),
    "a kind": ([Target(kind="IngressRoute")], ["crd"]),
    "a label": ([Target(labels=parse_selector("tier=web", "x"))], ["one"]),
    "hosts": ([Target(hosts=("*.x",))], ["one", "two", "crd"]),
    "paths": ([Target(paths=("/api*",))], ["one"]),
    "a Service": ([Target(service="web")], ["three", "one", "crd"]),
    "a class": ([Target(ingress_class="nginx")], ["three", "one", "two"]),
    "another class": ([Target(ingress_class="traefik")], []),
    "two wishes for one route": ([Target(name="one", namespace="shop"), Target(hosts=("a.x",))], ["one", "crd"]),
    "everything must fit": ([Target(namespace="other", hosts=("a.x",))], []),
}


@pytest.mark.parametrize(("targets", "found"), named(CASES))
def test_routes_that_fit_are_chosen_once_and_in_order(targets: list[Target], found: list[str]) -> None:
    assert names(targets) == found


@pytest.mark.parametrize(("targets", "found"), named(CASES))
def test_the_same_routes_are_chosen_when_they_show_a_page(targets: list[Target], found: list[str]) -> None:
    assert names(targets, all_behind=True) == found
    narrow = any(target.is_narrow for target in targets)
    taken_back = [name for name in names(targets, before=True, all_behind=True) if narrow or name != "bare"]
    assert taken_back == found


def test_a_route_that_has_no_place_left_can_still_be_taken_back() -> None:
    assert "bare" in names([Target(namespace="shop")], before=True)


def test_named_routes_that_are_not_there_are_missed() -> None:
    targets = [Target(namespace="shop", name="one"), Target(kind="IngressRoute", namespace="shop", name="one")]
    assert missing(targets, MEANT, a_scene()) == ["IngressRoute shop/one"]


def test_only_kinds_that_targets_may_have_must_be_seen() -> None:
    assert needed_kinds([Target(kind="Ingress", namespace="a")], MEANT) == MEANT["Ingress"]
    assert needed_kinds([Target(kind="Ingress"), Target(namespace="a")], MEANT) == ALL
    assert needed_kinds([], MEANT) == ALL


def test_namespaces_are_known_only_if_every_target_names_one() -> None:
    assert namespaces_of([Target(namespace="a"), Target(namespace="b")]) == frozenset({"a", "b"})
    assert namespaces_of([Target(namespace="a"), Target(hosts=("x",))]) is None
    assert namespaces_of([]) is None


SEED = "maintenance-operator.mithucste30.io/"
NO_PAGE: dict[str, tuple[Any, Item, str]] = {
    "Istio routes TCP": (ISTIO, a_route({"tcp": [{"route": []}]}), "routes TCP"),
    "Istio passes TLS through": (ISTIO, a_route({"tls": [{"match": []}]}), "passed through unread"),
    "Istio delegates": (ISTIO, a_route({"http": [{"delegate": {"name": "x"}}]}), "delegates"),
    "Istio with empty lists": (ISTIO, a_route({"tcp": [], "tls": []}), ""),
    "OpenShift passes TLS through": (OPENSHIFT, a_route({"tls": {"termination": "passthrough"}}), "passed through"),
    "OpenShift re-encrypts": (OPENSHIFT, a_route({"tls": {"termination": "reencrypt"}}), ""),
    "nginx passes TLS through": (
        INGRESS,
        a_route({}, {"nginx.ingress.kubernetes.io/ssl-passthrough": "true"}),
        "passed through unread",
    ),
    "nginx does not": (INGRESS, a_route({}, {"nginx.ingress.kubernetes.io/ssl-passthrough": "false"}), ""),
    "the operator is told to": (INGRESS, a_route({}, {SEED + "enabled": "true"}), "maintenance-operator"),
    "our own operator is told to": (
        INGRESS,
        {
            **a_route({}),
            "metadata": {"labels": {"sunset.dev/managed": "true"}, "annotations": {SEED + "enabled": "true"}},
        },
        "",
    ),
    "the operator shows a page": (
        INGRESS,
        an_ingress(rule("h", path("/", "maintenance-7f9a4bc2"))),
        "maintenance-operator",
    ),
    "the operator left its marker": (INGRESS, a_route({}, {SEED + "original-service": "true"}), ""),
}


@pytest.mark.parametrize(("kind", "item", "why"), named(NO_PAGE))
def test_why_no_page_can_be_shown(kind: Any, item: Item, why: str) -> None:
    said = why_no_page(Route(kind, INGRESSES, item))
    assert why in said
    assert bool(why) == bool(said)


def test_what_was_applied_is_recalled_only_for_places_that_nobody_backed_up() -> None:
    plain = an_ingress(rule("h", path("/a", "a"), path("/b", "b")))
    applied = json.dumps(an_ingress(rule("h", path("/a", "old-a"), path("/b", "old-b"))))
    item, changes, _done = swapped(plain, INGRESS)
    item["metadata"]["annotations"][LAST_APPLIED] = applied
    kept = Backup(record_of({"name": "x", "uid": "b"}), ObjectRef("v1", "Ingress", "shop", "web", "u-1"), changes[:1])
    route = Route(INGRESS, INGRESSES, item, kept)
    assert len(recall([route])) == 1
    assert [change.before["service"]["name"] for change in route.recalled] == ["old-b"]
    for broken in ("", "no json", "[]", '{"spec": 5}'):
        item["metadata"]["annotations"][LAST_APPLIED] = broken
        route.recalled = ()
        assert recall([route]) == []


def test_the_operators_routes_are_known_by_its_marker_or_its_pages() -> None:
    marked = Route(INGRESS, INGRESSES, a_route({}, {SEED + "original-service": "true"}))
    stripped = Route(INGRESS, INGRESSES, an_ingress(rule("h", path("/", "maintenance-7f9a4bc2"))))
    ours = Route(INGRESS, INGRESSES, swapped(an_ingress(rule("h", path("/", "web"))), INGRESS)[0])
    assert [is_seeds(route) for route in (marked, stripped, ours)] == [True, True, False]
