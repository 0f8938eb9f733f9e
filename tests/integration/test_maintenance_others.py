# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others are at work, too: routes are edited, reverted, stripped, deleted and made anew while they show a page."""

from __future__ import annotations

from integration.maintaining import INGRESSES, Body, Maintenance, ingress, services_in, shape
from integration.ranked import failed, succeeded
from integration.running import warnings_of
from lab.plane.audit import AuditTrail
from lab.waiting import until

BACKEND = "/spec/rules/0/http/paths/0/backend"


def named(maintenance: Maintenance, *names: str) -> list[Body]:
    return maintenance.api.create(*(ingress(maintenance.namespace, name, f"{name}.example.com") for name in names))


def test_a_route_is_kept_behind_its_page_whatever_others_do_to_it(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    before = shape(maintenance.live(route))
    page = succeeded(maintenance("enabled"))["targets"][0]["page"]
    ((_uid, kept),) = maintenance.backups().items()

    maintenance.edit(route, {"op": "remove", "path": "/metadata/annotations/sunset.dev~1maintenance"})
    assert succeeded(maintenance("enabled"))["changed"]
    ((_uid, stripped),) = maintenance.backups().items()
    assert stripped["data"] == kept["data"]
    assert shape(maintenance.live(route))["annotations"] == {"sunset.dev/maintenance": page}

    original = before["spec"]["rules"][0]["http"]["paths"][0]["backend"]
    maintenance.edit(route, {"op": "replace", "path": BACKEND, "value": original})
    assert maintenance.info()["targets"][0]["state"] == "partial"
    assert succeeded(maintenance("enabled"))["changed"]
    assert services_in(maintenance.live(route)) == {page}
    ((_uid, reverted),) = maintenance.backups().items()
    assert reverted["data"] == kept["data"]

    other = {"service": {"name": "other", "port": {"number": 81}}}
    maintenance.edit(route, {"op": "replace", "path": BACKEND, "value": other})
    succeeded(maintenance("enabled"))
    assert services_in(maintenance.live(route)) == {page}
    succeeded(maintenance("disabled"))
    assert maintenance.live(route)["spec"]["rules"][0]["http"]["paths"][0]["backend"] == other
    assert maintenance.ours() == []


def test_a_backup_that_somebody_deleted_is_missed_and_never_made_from_the_page(
    maintenance_on_node: Maintenance,
) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    page = succeeded(maintenance("enabled"))["targets"][0]["page"]
    (kept,) = maintenance.backups().values()
    assert maintenance.api.delete(maintenance.api.path_of({**kept, "apiVersion": "v1", "kind": "ConfigMap"}))[0] == 200

    assert "a page is there without a backup" in failed(maintenance("enabled"))
    assert "no backup says what stood there" in failed(maintenance("disabled"))
    assert maintenance.backups() == {}
    assert services_in(maintenance.live(route)) == {page}
    backend = {"service": {"name": "shop", "port": {"name": "http"}}}
    maintenance.edit(route, {"op": "replace", "path": BACKEND, "value": backend})
    succeeded(maintenance("disabled"))
    assert maintenance.ours() == []


def test_a_deleted_route_takes_page_and_backup_along_and_its_namesake_is_another_route(
    maintenance_on_node: Maintenance,
) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    succeeded(maintenance("enabled"))
    maintenance.api.delete(maintenance.api.path_of(route))
    (namesake,) = named(maintenance, "web")
    assert namesake["metadata"]["uid"] != route["metadata"]["uid"]
    assert succeeded(maintenance("disabled"))["targets"] == []
    succeeded(maintenance("swept", sweep_after=0))
    assert maintenance.live(namesake)["metadata"]["resourceVersion"] == namesake["metadata"]["resourceVersion"]
    until(lambda: maintenance.ours() == [], "everything of the deleted route to be collected")


def test_the_collector_alone_removes_what_a_deleted_route_needed(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    one, other = named(maintenance, "one", "other")
    succeeded(maintenance("enabled"))
    maintenance.api.delete(maintenance.api.path_of(one))
    until(lambda: set(maintenance.backups()) == {other["metadata"]["uid"]}, "its backup to be collected")
    assert len([thing for thing in maintenance.ours() if thing.startswith("deployments/")]) == 1
    maintenance.api.delete(maintenance.api.path_of(other))
    until(lambda: maintenance.ours() == [], "the page to be collected")


def test_another_page_is_ready_before_routes_change_and_the_old_one_goes_last(
    maintenance_on_node: Maintenance, audit: AuditTrail
) -> None:
    maintenance = maintenance_on_node
    here = maintenance.namespace
    metadata = {"name": "maintenance-page-shop", "namespace": here}
    source = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"page.html": "<p>one</p>"}}
    maintenance.api.create(source)
    first, second = named(maintenance, "first", "second")
    only = [{"namespace": here, "name": "first"}]
    old = succeeded(maintenance("enabled", page={"name": "shop"}))["page_sets"][0]["name"]

    # The same page for the same content: only the source decides.
    assert not succeeded(maintenance("enabled", page={"name": "shop"}))["changed"]
    changed = {"data": {"page.html": "<p>two</p>", "page.txt": "two"}}
    assert maintenance.api.patch(maintenance.api.path_of(source), changed)[0] == 200
    audit.begin_anew()
    switched = succeeded(maintenance("enabled", targets=only, page={"name": "shop"}))
    new = next(one["name"] for one in switched["page_sets"] if one["state"] == "made")
    assert new != old
    assert [services_in(maintenance.live(route)) for route in (first, second)] == [{new}, {old}]
    order = [(event.verb, event.resource, event.name) for event in audit.writes("maintainer")]
    made, shown = order.index(("create", "deployments", new)), order.index(("patch", "ingresses", "first"))
    released = order.index(("patch", "configmaps", old))
    assert made < shown < released

    audit.begin_anew()
    succeeded(maintenance("enabled", page={"name": "shop"}))
    order = [(event.verb, event.resource, event.name) for event in audit.writes("maintainer")]
    assert order.index(("patch", "ingresses", "second")) < order.index(("delete", "configmaps", old))
    assert {services_in(maintenance.live(route)).pop() for route in (first, second)} == {new}
    assert not any(old in thing for thing in maintenance.ours())
    succeeded(maintenance("disabled"))
    assert maintenance.ours() == []


def test_sweeping_ends_windows_and_removes_what_killed_tasks_left(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    over, goes_on, left = named(maintenance, "over", "goes-on", "left")
    maintenance.edit(
        left, {"op": "add", "path": "/metadata/annotations", "value": {"nginx.ingress.kubernetes.io/auth-url": "x"}}
    )
    succeeded(maintenance("enabled"))
    kept = maintenance.backups()
    ended = {"metadata": {"annotations": {"sunset.dev/maintenance-until": "2026-01-01T00:00:00Z"}}}
    backups = f"/api/v1/namespaces/{maintenance.namespace}/configmaps"
    name = kept[over["metadata"]["uid"]]["metadata"]["name"]
    assert maintenance.api.patch(f"{backups}/{name}", ended)[0] == 200
    # Somebody puts the backend back, but not the login that was suspended.
    original = {"service": {"name": "shop", "port": {"name": "http"}}}
    maintenance.edit(left, {"op": "replace", "path": BACKEND, "value": original})
    states = {one["name"]: one["state"] for one in maintenance.info()["targets"]}
    assert states == {"over": "overdue", "goes-on": "enabled", "left": "partial"}

    young = succeeded(maintenance("swept"))
    assert young["changed"]
    assert services_in(maintenance.live(over)) == {"shop"}
    assert services_in(maintenance.live(goes_on)) != {"shop"}
    assert "auth-url" not in str(
        shape(maintenance.live(left))["annotations"]
    )  # too young: a task may be about to swap it

    succeeded(maintenance("swept", sweep_after=0))
    assert shape(maintenance.live(left))["annotations"] == {"nginx.ingress.kubernetes.io/auth-url": "x"}
    assert set(maintenance.backups()) == {goes_on["metadata"]["uid"]}
    assert services_in(maintenance.live(goes_on)) != {"shop"}
    assert not succeeded(maintenance("swept", sweep_after=0))["changed"]
    result = succeeded(maintenance("disabled"))
    assert "conflict" not in warnings_of(result)
    assert maintenance.ours() == []


def test_a_route_without_any_place_left_is_still_cleaned_up(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    succeeded(maintenance("enabled"))
    maintenance.edit(route, {"op": "remove", "path": "/spec/rules/0/http"})
    off = succeeded(maintenance("disabled"))
    assert "was removed during maintenance" in warnings_of(off)
    path = f"{INGRESSES.format(maintenance.namespace)}/web"
    assert shape(maintenance.route(path))["annotations"] == {}
    assert maintenance.ours() == []
