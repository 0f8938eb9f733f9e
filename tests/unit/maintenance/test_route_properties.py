# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Properties over routes nobody thought of."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import (
    Began,
    Remarks,
    new_backup,
    read_backup,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.locations import locations_of
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.restore import restore
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, Wish
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.tests.unit.maintenance.route_shapes import (
    HTTP_ROUTE,
    INGRESS,
    INGRESS_ROUTE,
    OTHER_PAGE,
    PAGE,
    Item,
    a_route,
    patched,
    swapped,
    without_empty_annotations,
)

NAMES = st.sampled_from(["web", "api", "shop", "admin"])
HOSTS = st.sampled_from(["a.example.com", "b.example.com", "*.example.com"])
PATHS = st.sampled_from(["/", "/a", "/a/b", "/~odd", "/.well-known/acme-challenge/x"])
PORTS = st.one_of(st.builds(lambda n: {"number": n}, st.integers(1, 9)), st.just({"name": "http"}))
KEYS = st.sampled_from(
    ["team", "nginx.ingress.kubernetes.io/auth-url", "nginx.ingress.kubernetes.io/backend-protocol", "a/b~c"]
)
ANNOTATIONS = st.none() | st.dictionaries(KEYS, st.sampled_from(["x", "HTTPS", "HTTP"]), max_size=3)

backends = st.one_of(
    st.builds(lambda name, port: {"service": {"name": name, "port": port}}, NAMES, PORTS),
    st.just({"resource": {"apiGroup": "x.example.com", "kind": "Bucket", "name": "b"}}),
)
ingress_paths = st.fixed_dictionaries(
    {"pathType": st.sampled_from(["Prefix", "Exact"]), "backend": backends}, optional={"path": PATHS}
)
ingress_rules = st.fixed_dictionaries(
    {},
    optional={"host": HOSTS, "http": st.builds(lambda paths: {"paths": paths}, st.lists(ingress_paths, max_size=3))},
)
ingresses = st.fixed_dictionaries(
    {}, optional={"defaultBackend": backends, "rules": st.lists(ingress_rules, max_size=3), "tls": st.just([{}])}
)
services = st.lists(st.fixed_dictionaries({"name": NAMES}, optional={"port": st.integers(1, 9)}), max_size=2)
entries = st.fixed_dictionaries(
    {"match": st.builds(lambda host, path: f"Host(`{host}`) && PathPrefix(`{path}`)", HOSTS, PATHS)},
    optional={"services": services, "priority": st.integers(1, 3)},
)
ingress_routes = st.builds(lambda routes: {"routes": routes}, st.lists(entries, max_size=4))
http_rules = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "matches": st.lists(st.builds(lambda path: {"path": {"value": path}}, PATHS), max_size=2),
        "filters": st.lists(
            st.sampled_from([{"type": "RequestMirror", "n": 1}, {"type": "RequestMirror", "n": 2}, {"type": "Other"}]),
            max_size=3,
            unique_by=str,
        ),
        "backendRefs": services,
    },
)
http_routes = st.builds(lambda rules: {"rules": rules}, st.lists(http_rules, max_size=3))

SPECS = st.one_of(
    st.tuples(st.just(INGRESS), ingresses),
    st.tuples(st.just(INGRESS_ROUTE), ingress_routes),
    st.tuples(st.just(HTTP_ROUTE), http_routes),
)
WISHES = st.builds(
    Wish,
    st.lists(HOSTS, max_size=1).map(tuple),
    st.lists(PATHS, max_size=1).map(tuple),
    st.just("") | NAMES,
)
SELECTIONS = st.builds(
    Selection, st.lists(WISHES, min_size=1, max_size=2).map(tuple), st.just(()) | st.just(("/.well-known",))
)


@given(SPECS, ANNOTATIONS, SELECTIONS)
def test_there_and_back_is_as_before(shape: tuple[RouteKind, Item], annotations: Any, selection: Selection) -> None:
    kind, spec = shape
    before = a_route(spec, annotations)
    behind, changes, _done = swapped(before, kind, selection=selection)
    again = swapped(behind, kind, known=changes, selection=selection)[2]
    assert (again.operations, again.lost) == ([], [])
    other, changes, _done = swapped(behind, kind, OTHER_PAGE, changes, selection)
    assert {place.page for place in locations_of(other, kind)} <= {OTHER_PAGE, None}
    back = restore(other, kind, changes)
    assert without_empty_annotations(patched(other, back.operations)) == without_empty_annotations(before)
    assert (back.conflicts, back.stuck) == ([], [])


@given(SPECS, ANNOTATIONS)
def test_no_place_that_was_asked_for_is_left_without_the_page(shape: tuple[RouteKind, Item], annotations: Any) -> None:
    kind, spec = shape
    behind, _changes, _done = swapped(a_route(spec, annotations), kind)
    assert {place.page for place in locations_of(behind, kind)} <= {PAGE}


@given(SPECS, ANNOTATIONS)
def test_a_backup_read_back_is_what_was_written(shape: tuple[RouteKind, Item], annotations: Any) -> None:
    kind, spec = shape
    changes = swapped(a_route(spec, annotations), kind)[1]
    target = ObjectRef("v1", kind.kind, "shop", "web", "u-1")
    item = new_backup(target, changes, [], Began("2026-01-01T00:00:00Z", "me"), Remarks(1767225600.0, "why"))
    item["metadata"]["uid"] = "b"
    read = read_backup(item)
    assert (read.changes, read.target, read.remarks) == (changes, target, Remarks(1767225600.0, "why"))


def lists_in(item: Item, kind: RouteKind) -> list[Any]:
    """The list whose entries a user would edit."""
    spec = item["spec"]
    found = spec.get("routes") if kind is INGRESS_ROUTE else spec.get("rules")
    return found if isinstance(found, list) else []


NEW = {
    "Ingress": {"host": "new", "http": {"paths": [{"path": "/", "backend": {"service": {"name": "new"}}}]}},
    "IngressRoute": {"match": "Host(`new`)", "services": [{"name": "new"}]},
    "HTTPRoute": {"name": "new", "backendRefs": [{"name": "new"}]},
}


@given(SPECS, st.lists(st.tuples(st.sampled_from(["insert", "reverse", "remove"]), st.integers(0, 3)), max_size=4))
def test_entries_that_come_go_and_move_are_never_mixed_up(shape: tuple[RouteKind, Item], edits: list[Any]) -> None:
    """The same edits, made with and without maintenance, end in the same route; else it is said that they do not."""
    kind, spec = shape
    plain = a_route(spec)
    behind, changes, _done = swapped(plain, kind)
    for item in (plain, behind):
        for edit, place in edits:
            entries = lists_in(item, kind)
            if edit == "insert" and isinstance(item["spec"].get("routes" if kind is INGRESS_ROUTE else "rules"), list):
                entries.insert(place, copy.deepcopy(NEW[kind.kind]))
            elif edit == "reverse":
                entries.reverse()
            elif edit == "remove" and place < len(entries):
                del entries[place]
    back = restore(behind, kind, changes)
    result = without_empty_annotations(patched(behind, back.operations))
    twins = any("#" in place.identity.rpartition("]")[2] for place in locations_of(a_route(spec), kind))
    if not back.stuck and not twins:
        assert result == without_empty_annotations(plain)
    if not twins:
        assert back.stuck == []
