# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""There and back: what stood at each place returns, and what was edited meanwhile stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.changes import Change
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.markers import MARKER
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.middlewares import Middlewares
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.restore import Restore, restore
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, swap
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    HTTP_ROUTE,
    INGRESS,
    INGRESS_ROUTE,
    PAGE,
    SHAPES,
    Item,
    a_route,
    an_ingress,
    an_ingress_route,
    patched,
    path,
    rule,
    swapped,
    to_service,
    traefik_entry,
    without_empty_annotations,
)


def restored(item: Item, kind: RouteKind, changes: list[Change]) -> tuple[Item, Restore]:
    done = restore(item, kind, changes)
    return without_empty_annotations(patched(item, done.operations)), done


def services_of(item: Item) -> dict[str, str]:
    """What each path of an Ingress leads to."""
    return {
        entry["path"]: entry["backend"]["service"]["name"]
        for one in item["spec"]["rules"]
        for entry in (one.get("http") or {}).get("paths", ())
    }


@pytest.mark.parametrize(("kind", "spec", "_services", "_hosts"), named(SHAPES))
def test_every_known_kind_comes_back_exactly_as_it_was(
    kind: RouteKind, spec: Item, _services: Any, _hosts: Any
) -> None:
    before = a_route(spec)
    behind, changes, done = swapped(before, kind)
    assert done.needed
    assert behind != before
    back, way_back = restored(behind, kind, changes)
    assert back == before
    assert (way_back.conflicts, way_back.stuck) == ([], [])


@pytest.mark.parametrize(("kind", "spec", "_services", "_hosts"), named(SHAPES))
def test_a_second_swap_has_nothing_to_do(kind: RouteKind, spec: Item, _services: Any, _hosts: Any) -> None:
    behind, changes, _done = swapped(a_route(spec), kind)
    again = swap(behind, kind, Selection(), PAGE, changes)
    assert (again.operations, again.changes, again.lost) == ([], [], [])


def test_a_patch_is_refused_when_the_spec_has_changed_since() -> None:
    item = an_ingress(rule("h", path("/", "web")))
    done = swap(copy.deepcopy(item), INGRESS, Selection(), PAGE)
    assert patched(item, done.operations)
    item["spec"]["rules"][0]["http"]["paths"].insert(0, path("/new", "new"))
    with pytest.raises(Exception, match="is not equal to tested value"):
        patched(item, done.operations)


# What somebody does to an Ingress of /a, /b and /c during maintenance → where its paths lead afterwards
def _paths(item: Item) -> list[Item]:
    found: list[Item] = item["spec"]["rules"][0]["http"]["paths"]
    return found


def _insert(item: Item) -> None:
    _paths(item).insert(0, path("/new", "new"))


def _reorder(item: Item) -> None:
    _paths(item).reverse()


def _remove(item: Item) -> None:
    del _paths(item)[0]


def _remove_and_insert(item: Item) -> None:
    _remove(item)
    _insert(item)


def _edit_backend(item: Item) -> None:
    _paths(item)[1]["backend"] = to_service("edited")


def _rename(item: Item) -> None:
    _paths(item)[1]["path"] = "/renamed"


def _insert_and_rename(item: Item) -> None:
    _insert(item)
    _paths(item)[2]["path"] = "/renamed"


def _rename_the_host(item: Item) -> None:
    item["spec"]["rules"][0]["host"] = "new.example.com"


def _replace_all(item: Item) -> None:
    _paths(item)[:] = [path("/other", "other")]


EDITS = {
    "nothing": (lambda item: None, {"/a": "a", "/b": "b", "/c": "c"}, 0),
    "insert": (_insert, {"/new": "new", "/a": "a", "/b": "b", "/c": "c"}, 0),
    "reorder": (_reorder, {"/a": "a", "/b": "b", "/c": "c"}, 0),
    "remove": (_remove, {"/b": "b", "/c": "c"}, 1),
    "remove and insert": (_remove_and_insert, {"/new": "new", "/b": "b", "/c": "c"}, 1),
    "edit a backend": (_edit_backend, {"/a": "a", "/b": "edited", "/c": "c"}, 1),
    "rename": (_rename, {"/a": "a", "/renamed": "b", "/c": "c"}, 1),
    "insert and rename": (_insert_and_rename, {"/new": "new", "/a": "a", "/renamed": "b", "/c": "c"}, 1),
    "rename the host": (_rename_the_host, {"/a": "a", "/b": "b", "/c": "c"}, 3),
    "replace all": (_replace_all, {"/other": "other"}, 3),
}


@pytest.mark.parametrize(("edit", "services", "told"), named(EDITS))
def test_edits_during_maintenance_are_kept_and_told(edit: Any, services: dict[str, str], told: int) -> None:
    behind, changes, _done = swapped(an_ingress(rule("h", path("/a", "a"), path("/b", "b"), path("/c", "c"))), INGRESS)
    edit(behind)
    back, way_back = restored(behind, INGRESS, changes)
    assert services_of(back) == services
    assert way_back.stuck == []
    assert len(way_back.conflicts) == told, way_back.conflicts
    assert MARKER not in back["metadata"].get("annotations", {})


@pytest.mark.parametrize(("edit", "services", "_told"), named(EDITS))
def test_the_same_edits_and_a_second_swap_before_the_way_back(edit: Any, services: dict[str, str], _told: int) -> None:
    behind, changes, _done = swapped(an_ingress(rule("h", path("/a", "a"), path("/b", "b"), path("/c", "c"))), INGRESS)
    edit(behind)
    behind, changes, again = swapped(behind, INGRESS, known=changes)
    assert again.lost == []
    assert set(services_of(behind).values()) == {PAGE}
    back, way_back = restored(behind, INGRESS, changes)
    assert services_of(back) == services
    assert way_back.stuck == []


def test_nobody_guesses_which_of_two_removed_entries_a_renamed_one_was() -> None:
    behind, changes, _done = swapped(an_ingress(rule("h", path("/a", "a"), path("/b", "b"))), INGRESS)
    del _paths(behind)[0]
    _paths(behind)[0]["path"] = "/c"
    back, way_back = restored(behind, INGRESS, changes)
    assert services_of(back) == {"/c": PAGE}
    assert "no backup says what stood there" in way_back.stuck[0]
    assert back["metadata"]["annotations"][MARKER] == PAGE  # still marked: there is something left to do


def test_a_renamed_entry_is_told_from_a_removed_one_by_the_host_it_kept() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", "x"), traefik_entry("Host(`b`)", "y"))
    behind, changes, _done = swapped(item, INGRESS_ROUTE)
    del behind["spec"]["routes"][0]
    behind["spec"]["routes"][0]["match"] = "Host(`b`) || Host(`c`)"
    back, way_back = restored(behind, INGRESS_ROUTE, changes)
    assert (back["spec"]["routes"][0]["services"][0]["name"], way_back.stuck) == ("y", [])


def test_nobody_guesses_when_one_of_two_entries_with_the_same_words_is_gone() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", "x", priority=1), traefik_entry("Host(`a`)", "y", priority=2))
    behind, changes, _done = swapped(item, INGRESS_ROUTE)
    del behind["spec"]["routes"][0]
    _back, way_back = restored(behind, INGRESS_ROUTE, changes)
    assert len(way_back.stuck) == 1


def test_entries_with_the_same_words_and_backend_need_no_guess() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", "x", priority=1), traefik_entry("Host(`a`)", "x", priority=2))
    behind, changes, _done = swapped(item, INGRESS_ROUTE)
    del behind["spec"]["routes"][0]
    back, way_back = restored(behind, INGRESS_ROUTE, changes)
    assert (back["spec"]["routes"][0]["services"], way_back.stuck) == ([{"name": "x", "port": 80}], [])


def test_an_entry_copied_with_its_page_is_told_and_not_given_a_backend_of_another() -> None:
    behind, changes, _done = swapped(an_ingress(rule("h", path("/a", "a"))), INGRESS)
    _paths(behind).append({**copy.deepcopy(_paths(behind)[0]), "path": "/copy"})
    back, way_back = restored(behind, INGRESS, changes)
    assert services_of(back) == {"/a": "a", "/copy": PAGE}
    assert len(way_back.stuck) == 1


def test_a_page_that_stands_beside_an_application_is_neither_kept_nor_backed_up() -> None:
    item = an_ingress_route(traefik_entry("Host(`a`)", "x"))
    behind, changes, _done = swapped(item, INGRESS_ROUTE)
    behind["spec"]["routes"][0]["services"].append({"name": "y", "port": 80})
    _back, way_back = restored(behind, INGRESS_ROUTE, changes)
    assert "beside something else" in way_back.stuck[0]
    again = swap(behind, INGRESS_ROUTE, Selection(), PAGE, changes)
    assert len(again.lost) == 1


def test_tls_labels_class_and_foreign_annotations_are_never_touched() -> None:
    item = a_route(SHAPES["Ingress"][1], {"team": "shop"})
    behind, changes, _done = swapped(item, INGRESS)
    behind["spec"]["tls"] = [{"hosts": ["new"], "secretName": "new"}]
    behind["spec"]["ingressClassName"] = "other"
    behind["metadata"]["annotations"]["team"] = "ops"
    back, _way_back = restored(behind, INGRESS, changes)
    assert back["spec"]["tls"] == [{"hosts": ["new"], "secretName": "new"}]
    assert back["spec"]["ingressClassName"] == "other"
    assert back["metadata"]["annotations"] == {"team": "ops"}


NGINX = "nginx.ingress.kubernetes.io/"
SHAPING = {NGINX + "backend-protocol": "HTTPS", NGINX + "auth-url": "https://login", NGINX + "limit-rps": "5"}


def test_annotations_that_shape_the_backend_are_suspended_and_come_back() -> None:
    item = a_route(an_ingress(rule("h", path("/", "web")))["spec"], SHAPING)
    behind, changes, _done = swapped(item, INGRESS)
    assert behind["metadata"]["annotations"] == {
        NGINX + "backend-protocol": "HTTP",
        NGINX + "limit-rps": "5",
        MARKER: PAGE,
    }
    assert restored(behind, INGRESS, changes)[0] == item


def test_annotations_that_were_edited_meanwhile_stay_so() -> None:
    item = a_route(an_ingress(rule("h", path("/", "web")))["spec"], SHAPING)
    behind, changes, _done = swapped(item, INGRESS)
    behind["metadata"]["annotations"][NGINX + "auth-url"] = "https://new-login"
    del behind["metadata"]["annotations"][NGINX + "backend-protocol"]
    back, way_back = restored(behind, INGRESS, changes)
    assert back["metadata"]["annotations"] == {NGINX + "auth-url": "https://new-login", NGINX + "limit-rps": "5"}
    assert len(way_back.conflicts) == 2


def test_annotations_set_meanwhile_and_suspended_by_a_second_swap_come_back_as_they_were_set() -> None:
    item = a_route(an_ingress(rule("h", path("/", "web")))["spec"], SHAPING)
    behind, changes, _done = swapped(item, INGRESS)
    behind["metadata"]["annotations"][NGINX + "auth-url"] = "https://new-login"
    behind, changes, _done = swapped(behind, INGRESS, known=changes)
    assert NGINX + "auth-url" not in behind["metadata"]["annotations"]
    back, _way_back = restored(behind, INGRESS, changes)
    assert back["metadata"]["annotations"] == {**SHAPING, NGINX + "auth-url": "https://new-login"}


LOGINS = Middlewares({("shop", name): {"basicAuth": {}} for name in ("login", "login-2")})


def behind_login(*middlewares: str) -> Item:
    refs = [{"name": one} for one in middlewares]
    return an_ingress_route(traefik_entry("Host(`a`)", "web", middlewares=refs))


def names_of(item: Item) -> list[str]:
    return [one["name"] for one in item["spec"]["routes"][0].get("middlewares", ())]


@pytest.mark.parametrize(
    ("middlewares", "meanwhile", "edited", "afterwards"),
    named(
        {
            "alone": (["login"], [], None, ["login"]),
            "in the middle": (["a", "login", "b"], ["a", "b"], None, ["a", "login", "b"]),
            "another added meanwhile": (["a", "login"], ["a"], ["a", "new"], ["a", "login", "new"]),
            "one removed meanwhile": (["a", "login", "b"], ["a", "b"], ["b"], ["login", "b"]),
            "put back by hand": (["a", "login"], ["a"], ["login", "a"], ["login", "a"]),
            "the first one, and reordered": (["login", "a", "b"], ["a", "b"], ["b", "a"], ["login", "b", "a"]),
        }
    ),
)
def test_a_login_is_never_lost(
    middlewares: list[str], meanwhile: list[str], edited: list[str] | None, afterwards: list[str]
) -> None:
    item = behind_login(*middlewares)
    done = swap(item, INGRESS_ROUTE, Selection(), PAGE, (), LOGINS)
    behind = patched(item, done.operations)
    assert names_of(behind) == meanwhile
    if edited is not None:
        behind["spec"]["routes"][0]["middlewares"] = [{"name": one} for one in edited]
    back, way_back = restored(behind, INGRESS_ROUTE, done.changes)
    assert (names_of(back), way_back.conflicts) == (afterwards, [])


def test_a_login_is_not_lost_when_the_rule_of_its_entry_is_edited() -> None:
    item = behind_login("login")
    done = swap(item, INGRESS_ROUTE, Selection(), PAGE, (), LOGINS)
    behind = patched(item, done.operations)
    behind["spec"]["routes"][0]["match"] = "Host(`a`) || Host(`b`)"
    back, _way_back = restored(behind, INGRESS_ROUTE, done.changes)
    assert (names_of(back), back["spec"]["routes"][0]["services"][0]["name"]) == (["login"], "web")


def test_a_second_login_added_meanwhile_hides_nothing_and_both_come_back() -> None:
    item = behind_login("login", "a")
    first = swap(item, INGRESS_ROUTE, Selection(), PAGE, (), LOGINS)
    behind = patched(item, first.operations)
    behind["spec"]["routes"][0]["middlewares"].append({"name": "login-2"})
    second = swap(behind, INGRESS_ROUTE, Selection(), PAGE, first.changes, LOGINS)
    behind = patched(behind, second.operations)
    assert names_of(behind) == ["a"]
    back, _way_back = restored(behind, INGRESS_ROUTE, [*first.changes, *second.changes])
    assert names_of(back) == ["login", "a", "login-2"]


def test_a_mirror_stops_and_other_filters_keep_their_edits() -> None:
    item = a_route(SHAPES["HTTPRoute"][1])
    behind, changes, _done = swapped(item, HTTP_ROUTE)
    filters = behind["spec"]["rules"][0]["filters"]
    assert filters == [{"type": "RequestHeaderModifier"}]
    filters[0]["requestHeaderModifier"] = {"remove": ["x"]}
    back, way_back = restored(behind, HTTP_ROUTE, changes)
    assert back["spec"]["rules"][0]["filters"] == [
        {"type": "RequestMirror"},
        {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["x"]}},
    ]
    assert way_back.conflicts == []


def test_what_is_exempt_keeps_its_backend() -> None:
    selection = Selection(exempt=("/.well-known/acme-challenge/",))
    item = an_ingress(rule("h", path("/", "web"), path("/.well-known/acme-challenge/tok", "solver", "Exact")))
    behind, _changes, done = swapped(item, INGRESS, selection=selection)
    assert services_of(behind) == {"/": PAGE, "/.well-known/acme-challenge/tok": "solver"}
    assert [place.paths for place in done.exempt] == [("/.well-known/acme-challenge/tok",)]


def test_a_page_without_a_backup_is_lost_and_never_backed_up() -> None:
    behind, _changes, _done = swapped(an_ingress(rule("h", path("/", "web"))), INGRESS)
    again = swap(behind, INGRESS, Selection(), PAGE, ())
    assert [place.page for place in again.lost] == [PAGE]
    assert again.changes == []


def test_one_host_may_open_before_the_others() -> None:
    item = a_route(an_ingress(rule("a", path("/", "web")), rule("b", path("/", "api")))["spec"], SHAPING)
    behind, changes, _done = swapped(item, INGRESS)
    part = restore(behind, INGRESS, changes, means=lambda place: place.hosts == ("a",))
    half = patched(behind, part.operations)
    assert not part.whole
    assert [one["http"]["paths"][0]["backend"] for one in half["spec"]["rules"]] == [
        to_service("web"),
        to_service(PAGE),
    ]
    assert half["metadata"] == behind["metadata"]
    assert restored(half, INGRESS, changes)[0] == item
