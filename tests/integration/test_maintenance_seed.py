# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the maintenance-operator of the community has left behind: read, put right, and removed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from integration.maintaining import Body, Maintenance, ingress, ingress_route, services_in, shape
from integration.ranked import failed, succeeded
from integration.running import warnings_of
from lab.fixtures import AsUser
from lab.waiting import until

pytestmark = pytest.mark.quick

SEED = "maintenance-operator.mithucste30.io/"
PAGE = "maintenance-7f9a4bc2"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LABELS = {"app": "maintenance-page", "managed-by": "maintenance-operator", "content-hash": "7f9a4bc2"}


def page_set(namespace: str) -> list[Body]:
    """As the operator writes it: a ConfigMap that counts its users, a bare Pod, a Service."""
    metadata = {"name": PAGE, "namespace": namespace, "labels": LABELS}
    marks = {SEED + "custom-page": "default", SEED + "used-by": "web,forgotten"}
    html = {"name": "html", "configMap": {"name": PAGE}}
    mount = {"name": "html", "mountPath": "/usr/share/nginx/html", "readOnly": True}
    container = {"name": "nginx", "image": "nginx:alpine", "ports": [{"containerPort": 80}], "volumeMounts": [mount]}
    ports = [{"name": "http", "port": 80, "targetPort": 80}]
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {**metadata, "annotations": marks},
            "data": {"index.html": "<p>soon</p>"},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": [container], "volumes": [html]},
        },
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": LABELS, "ports": ports}},
    ]


def backup(route: Body, spec: Any = None) -> Body:
    """One a name: an Ingress and an IngressRoute of the same name overwrite each other's."""
    metadata, spec = route["metadata"], spec or route["spec"]
    keys = ("rules", "defaultBackend") if route["kind"] == "Ingress" else ("routes",)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"maintenance-backup-{metadata['name']}",
            "namespace": metadata["namespace"],
            "labels": {"app": "maintenance-operator", "backup-for": metadata["name"]},
        },
        "data": {"backup": json.dumps({key: spec.get(key) for key in keys})},
    }


def operated(route: Body, *, flag: str | None = "true", swapped: bool = True, applied: bool = False) -> Body:
    """A route in the operator's hands."""
    item = copy.deepcopy(route)
    marks = {SEED + "original-service": "true", SEED + "service-name": PAGE}
    if flag is not None:
        marks[SEED + "enabled"] = flag
    if applied:
        marks[LAST_APPLIED] = json.dumps(route)
    item["metadata"]["annotations"] = marks
    for rule in item["spec"].get("rules", ()) if swapped else ():
        for path in rule["http"]["paths"]:
            path["backend"] = {"service": {"name": PAGE, "port": {"number": 80}}}
    for entry in item["spec"].get("routes", ()) if swapped else ():
        entry["services"] = [{"name": PAGE, "port": 80}]
    return item


def with_marks(route: Body, marks: dict[str, str]) -> Body:
    item = copy.deepcopy(route)
    item["metadata"]["annotations"] = {**(item["metadata"].get("annotations") or {}), **marks}
    return item


def backend_of(route: Body) -> Any:
    return route["spec"]["rules"][0]["http"]["paths"][0]["backend"]


def leftovers(maintenance: Maintenance) -> list[str]:
    found = []
    for plural in ("configmaps", "pods", "services"):
        _status, listed = maintenance.api.get(f"/api/v1/namespaces/{maintenance.namespace}/{plural}")
        found += [
            f"{plural}/{item['metadata']['name']}"
            for item in listed["items"]
            if item["metadata"]["name"].startswith("maintenance-") and not item["metadata"].get("deletionTimestamp")
        ]
    return found


def put(maintenance: Maintenance, *things: Body) -> None:
    account = f"/api/v1/namespaces/{maintenance.namespace}/serviceaccounts/default"
    until(lambda: maintenance.api.get(account)[0] == 200, "the account that a Pod needs")
    maintenance.api.create(*things, *page_set(maintenance.namespace))


@pytest.mark.parametrize("kind", [ingress, ingress_route], ids=["Ingress", "IngressRoute"])
@pytest.mark.parametrize("state", ["disabled", "swept"])
def test_a_route_in_the_operators_hands_is_taken_back(maintenance_here: Maintenance, kind: Any, state: str) -> None:
    maintenance = maintenance_here
    route = kind(maintenance.namespace)
    flag = "true" if state == "disabled" else "false"
    put(maintenance, operated(route, flag=flag), backup(route))
    assert {one["by"] for one in maintenance.info()["targets"]} == {"maintenance-operator"}

    result = succeeded(maintenance(state))
    assert result["changed"]
    assert shape(maintenance.live(route)) == {"spec": route["spec"], "annotations": {}, "labels": {}}
    assert leftovers(maintenance) == []
    assert not succeeded(maintenance(state))["changed"]


def test_sweeping_leaves_alone_what_the_operator_is_told_to_show(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    put(maintenance, operated(route), backup(route))
    before = maintenance.live(route)
    assert not succeeded(maintenance("swept"))["changed"]
    assert maintenance.live(route) == before
    assert len(leftovers(maintenance)) == 4


def test_marks_that_stayed_behind_are_swept_and_are_not_in_the_way(maintenance_here: Maintenance) -> None:
    """Its marker is never removed, so that it works only once for each route."""
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    maintenance.api.create(operated(route, flag=None, swapped=False))
    assert succeeded(maintenance("enabled", check_mode=True))["counts"] == {"targets": 1, "pending": 1}
    assert succeeded(maintenance("swept"))["swept"] == [f"marks on Ingress {maintenance.namespace}/web"]
    assert shape(maintenance.live(route))["annotations"] == {}


@pytest.mark.parametrize("overwritten", [False, True], ids=["without a backup", "with a backup of the page itself"])
def test_a_lost_backend_comes_from_what_was_applied_or_is_said_to_be_lost(
    maintenance_here: Maintenance, overwritten: bool
) -> None:
    maintenance = maintenance_here
    lost, kept = ingress(maintenance.namespace, "lost"), ingress(maintenance.namespace, "kept")
    shown = operated(lost, flag=None)
    put(maintenance, shown, operated(kept, flag=None, applied=True))
    if overwritten:
        maintenance.api.create(backup(lost, shown["spec"]), backup(kept, shown["spec"]))

    for state in ("disabled", "swept"):
        result = maintenance(state)
        assert "no backup says what stood there" in failed(result)
        assert services_in(maintenance.live(kept)) == {"shop"}
        assert services_in(maintenance.live(lost)) == {PAGE}
        assert f"services/{PAGE}" in leftovers(maintenance)  # still shown
        if state == "disabled":
            assert "what was applied by kubectl" in warnings_of(result)


def test_a_backup_of_the_namesake_is_neither_used_nor_deleted(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    one, other = ingress(maintenance.namespace), ingress_route(maintenance.namespace)
    put(maintenance, operated(one, applied=True), operated(other), backup(other))

    succeeded(maintenance("disabled", targets=[{"namespace": maintenance.namespace, "kind": "Ingress", "name": "web"}]))
    assert services_in(maintenance.live(one)) == {"shop"}
    assert "configmaps/maintenance-backup-web" in leftovers(maintenance)
    succeeded(maintenance("disabled"))
    assert maintenance.live(other)["spec"] == other["spec"]
    assert leftovers(maintenance) == []


@pytest.mark.parametrize("state", ["disabled", "swept"])
@pytest.mark.parametrize("shown", [False, True], ids=["never in maintenance", "in maintenance"])
def test_the_users_choice_of_a_page_stays_on_the_route(maintenance_here: Maintenance, state: str, shown: bool) -> None:
    """The operator reads the annotation and never removes it: the next window shows the same page."""
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    chosen = {SEED + "custom-page": "blue"}
    put(maintenance, with_marks(operated(route, flag="false") if shown else route, chosen), backup(route))

    result = succeeded(maintenance(state, sweep_after=0))
    assert f"marks on Ingress {maintenance.namespace}/web" not in result["swept"]
    assert shape(maintenance.live(route)) == {"spec": route["spec"], "annotations": chosen, "labels": {}}


def test_after_a_refusal_the_same_task_removes_the_rest(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    put(maintenance, operated(route))
    assert succeeded(maintenance("disabled", check_mode=True))["swept"] == [], "it is still shown"
    assert "then run the task again: it removes the rest" in failed(maintenance("disabled"))

    path = "/spec/rules/0/http/paths/0/backend"
    maintenance.edit(route, {"op": "replace", "path": path, "value": backend_of(route)})
    assert succeeded(maintenance("disabled"))["changed"]
    assert shape(maintenance.live(route)) == {"spec": route["spec"], "annotations": {}, "labels": {}}
    assert leftovers(maintenance) == []
    assert not succeeded(maintenance("disabled"))["changed"]


def test_backups_that_no_route_needs_any_more_are_swept(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    here = maintenance.namespace
    restored, shown, flagged = (ingress(here, name, f"{name}.example.com") for name in ("restored", "shown", "flagged"))
    namesake, gone = ingress_route(here, "namesake"), ingress(here, "gone")
    put(
        maintenance,
        restored,
        with_marks(operated(shown, flag="true"), {}),
        with_marks(flagged, {SEED + "enabled": "true"}),
        ingress(here, "namesake"),
        with_marks(namesake, {SEED + "enabled": "true"}),
        *(backup(one) for one in (restored, shown, flagged, namesake, gone)),
    )
    another, user = backup(ingress(here, "another")), backup(ingress(here, "users"))
    another["data"]["notes"] = "kept by hand"
    user["metadata"]["name"] = "settings-users"
    maintenance.api.create(another, user)

    assert not succeeded(maintenance("swept"))["changed"], "they are not old enough"
    would = succeeded(maintenance("swept", sweep_after=0, check_mode=True))["swept"]
    assert would == [f"ConfigMap {here}/maintenance-backup-{name}" for name in ("gone", "restored")]
    assert succeeded(maintenance("swept", sweep_after=0))["swept"] == would
    assert [one for one in leftovers(maintenance) if "backup" in one] == [
        f"configmaps/maintenance-backup-{name}" for name in ("another", "flagged", "namesake", "shown")
    ]
    assert maintenance.api.get(f"/api/v1/namespaces/{here}/configmaps/settings-users")[0] == 200
    assert not succeeded(maintenance("swept", sweep_after=0))["changed"]


def test_a_default_backend_that_the_operator_never_swaps_was_not_put_back(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    route = ingress(maintenance.namespace)
    route["spec"]["defaultBackend"] = backend_of(route)
    put(maintenance, operated(route), backup(route))
    [told] = maintenance.info()["targets"]
    assert (told["state"], told["conflicts"]) == ("enabled", [])
    succeeded(maintenance("disabled"))
    assert maintenance.live(route)["spec"] == route["spec"]


def test_a_page_stays_where_routes_that_may_show_it_cannot_be_seen(
    maintenance_here: Maintenance, as_user: AsUser
) -> None:
    maintenance = maintenance_here
    route, unseen = ingress(maintenance.namespace), ingress_route(maintenance.namespace, "unseen")
    put(maintenance, operated(route), backup(route), operated(unseen), backup(unseen))
    every = ["get", "list", "watch", "create", "patch", "delete"]
    rules = [
        {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": every},
        {"apiGroups": [""], "resources": ["configmaps", "services", "pods"], "verbs": every},
    ]
    user = as_user("sees-ingresses", rules, maintenance.namespace)
    only = [{"namespace": maintenance.namespace, "kind": "Ingress"}]

    result = succeeded(maintenance("disabled", targets=only, user=user))
    assert "what the maintenance-operator made stays" in warnings_of(result)
    assert maintenance.live(route)["spec"] == route["spec"]
    assert f"services/{PAGE}" in leftovers(maintenance)
    assert "configmaps/maintenance-backup-unseen" in leftovers(maintenance)
