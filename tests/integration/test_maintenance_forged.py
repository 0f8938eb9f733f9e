# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups that a tenant has written: a ConfigMap beside a route decides nothing that a page does not."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

import pytest

from integration.forging import BACKEND, BEFORE, IDENTITY, PATHS, SHOWN, change, forged, shown
from integration.gitops import PAUSED_FOR, SKIP, application
from integration.maintaining import Body, Maintenance, ingress, services_in, shape
from integration.ranked import failed, succeeded
from integration.running import warnings_of
from lab.plane.controlplane import ControlPlane

pytestmark = pytest.mark.quick

SNIPPET = "nginx.ingress.kubernetes.io/server-snippet"


FORGED = {
    "another host": change(
        "beside",
        "/spec/rules/0/host",
        "/spec/rules/0/host",
        before="bank.example.com",
        after="shop.example.com",
    ),
    "a label": change("beside", "/metadata/labels/team", "/metadata/labels/team", before="platform"),
    "any annotation": change("annotation", "", "/metadata/annotations/team", "team", before="platform"),
    "a rule that is deleted": change(
        "added",
        "/spec/rules/{0}/http/paths",
        "/spec/rules/0/http/paths/-",
        IDENTITY,
        after={"path": "/kept"},
    ),
    "a place far away": change(
        "backend",
        PATHS,
        "/spec/rules/999999999/http/paths/0/backend",
        IDENTITY,
        before=BEFORE,
        after=SHOWN,
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_change_that_no_page_makes_is_not_restored_and_its_backup_is_named(
    maintenance_here: Maintenance, case: str
) -> None:
    maintenance = maintenance_here
    [route] = maintenance.api.create(shown(maintenance.namespace))
    [backup] = maintenance.api.create(forged(route, **{"0000": BACKEND, "0001": FORGED[case]}))
    before = shape(maintenance.live(route))

    # Where the application has to be ready first, its Services are read from the backup.
    reopen = {"endpoints": case == "a place far away"}
    message = failed(maintenance("disabled", reopen=reopen, timeout=10))

    assert f"ConfigMap {maintenance.namespace}/{backup['metadata']['name']}" in message
    assert "a change that no page makes" in message
    assert shape(maintenance.live(route)) == before
    assert failed(maintenance("enabled", check_mode=True)), "nor is it added to"

    # Without it the backup is what a task of ours would have left, and the page goes.
    maintenance.edit(backup, {"op": "remove", "path": "/data/0001"})
    succeeded(maintenance("disabled"))
    assert services_in(maintenance.live(route)) == {"shop"}


def test_a_backup_of_a_route_that_never_showed_a_page_changes_nothing(maintenance_here: Maintenance) -> None:
    maintenance = maintenance_here
    [route] = maintenance.api.create(ingress(maintenance.namespace))
    pointer = "/metadata/annotations/nginx.ingress.kubernetes.io~1server-snippet"
    snippet = change("annotation", "", pointer, SNIPPET, before="location /steal { }")
    maintenance.api.create(forged(route, **{"0000": BACKEND, "0001": snippet}))
    before = shape(maintenance.live(route))

    succeeded(maintenance("disabled"))

    assert shape(maintenance.live(route)) == before


@pytest.fixture
def key(plane: ControlPlane, namespace: str) -> str:
    """Where the operator would keep it."""
    return f"{namespace}/sunset-operator-backup-key"


def test_with_a_key_only_what_was_signed_with_it_is_restored(
    maintenance_on_node: Maintenance, key: str, plane: ControlPlane
) -> None:
    maintenance = maintenance_on_node
    [route, other] = maintenance.api.create(
        ingress(maintenance.namespace), ingress(maintenance.namespace, "other", "other.example.com")
    )
    before = [shape(maintenance.live(one)) for one in (route, other)]
    targets = [{"namespace": maintenance.namespace, "name": "web"}]
    secret = "/api/v1/namespaces/{}/secrets/{}".format(*key.split("/"))

    succeeded(maintenance("enabled", targets=targets, backup_key_secret=key, check_mode=True))
    assert plane.api.get(secret)[0] == 404
    succeeded(maintenance("enabled", targets=targets, backup_key_secret=key))
    assert plane.api.get(secret)[0] == 200
    [backup] = maintenance.backups().values()
    path = f"/api/v1/namespaces/{maintenance.namespace}/configmaps/{backup['metadata']['name']}"
    named = f"ConfigMap {maintenance.namespace}/{backup['metadata']['name']}"

    # Well-formed, and still not what stood there.
    lie = json.loads(backup["data"]["0000"])
    lie["before"]["service"]["name"] = "elsewhere"
    assert plane.api.patch(path, {"data": {"0000": json.dumps(lie)}})[0] == 200
    told = failed(maintenance("disabled", backup_key_secret=key))
    assert "the backup is not trusted" in told
    assert named in told
    assert "ansible-playbook sunset.kube.maintenance -e state=disabled" in told
    assert services_in(maintenance.live(route)) != {"elsewhere"}
    # A signature that is no ASCII is wrong, and no more than that.
    assert plane.api.patch(path, {"data": {"hmac": "\u00e9"}})[0] == 200
    assert "the backup is not trusted" in failed(maintenance("disabled", backup_key_secret=key))
    # One without any signature, for a route without a page, is not believed either.
    maintenance.api.create(forged(other, **{"0000": BACKEND}))
    told = failed(maintenance("enabled", backup_key_secret=key))
    assert f"maintenance-backup-{other['metadata']['uid']}" in told
    maintenance.api.delete(f"{path.rpartition('/')[0]}/maintenance-backup-{other['metadata']['uid']}")

    # As it was: a second place adds to it, and it is signed anew.
    assert plane.api.patch(path, {"data": backup["data"]})[0] == 200
    assert not succeeded(maintenance("enabled", targets=targets, backup_key_secret=key))["changed"]
    assert succeeded(maintenance("disabled", backup_key_secret=key))["changed"]
    assert [shape(maintenance.live(one)) for one in (route, other)] == before
    assert maintenance.ours() == []


def test_a_user_on_the_command_line_restores_what_the_operator_does_not_trust(
    maintenance_here: Maintenance, key: str
) -> None:
    maintenance = maintenance_here
    [route] = maintenance.api.create(shown(maintenance.namespace))
    maintenance.api.create(forged(route, **{"0000": BACKEND}))

    assert "is not trusted" in failed(maintenance("disabled", backup_key_secret=key))
    succeeded(maintenance("disabled"))

    assert services_in(maintenance.live(route)) == {"shop"}


@pytest.fixture
def elsewhere(plane: ControlPlane, gitops_kinds: None) -> Iterator[Body]:
    """An Application of another team, paused by us for a route that is not in the tenant's namespace."""
    paused = {SKIP: "true", PAUSED_FOR: "Ingress of-others/web"}
    [made] = plane.api.create(application(f"app-{secrets.token_hex(4)}", "default", annotations=paused))
    yield made
    plane.api.delete(plane.api.path_of(made))


@pytest.mark.parametrize("state", ["disabled", "swept"])
def test_neither_a_forged_pause_nor_a_sweep_resumes_an_application_of_other_namespaces(
    maintenance_here: Maintenance, elsewhere: Body, state: str
) -> None:
    maintenance = maintenance_here
    paused = {
        "api_version": "argoproj.io/v1alpha1",
        "kind": "Application",
        "namespace": "default",
        "name": elsewhere["metadata"]["name"],
        "annotation": SKIP,
        "value": "true",
    }
    [route] = maintenance.api.create(shown(maintenance.namespace))
    [backup] = maintenance.api.create(forged(route, **{"0000": BACKEND, "paused-0": json.dumps(paused)}))
    over = {"metadata": {"annotations": {"sunset.dev/maintenance-until": "2020-01-01T00:00:00Z"}}}
    assert maintenance.api.patch(maintenance.api.path_of(backup), over)[0] == 200

    done = succeeded(maintenance(state, sweep_after=0))

    assert maintenance.live(elsewhere)["metadata"]["annotations"] == elsewhere["metadata"]["annotations"]
    assert services_in(maintenance.live(route)) == {"shop"}, warnings_of(done)
    assert maintenance.backups() == {}


def test_a_sweep_of_one_namespace_ends_its_own_share_of_a_pause(maintenance_here: Maintenance, elsewhere: Body) -> None:
    maintenance = maintenance_here
    here, path = maintenance.namespace, maintenance.api.path_of(elsewhere)
    [kept] = maintenance.api.create(
        application("mine", here, annotations={SKIP: "true", PAUSED_FOR: f"Ingress {here}/web"})
    )

    swept = succeeded(maintenance("swept", sweep_after=0))["swept"]

    assert swept == [f"pause of Application {here}/mine"]
    assert "annotations" not in maintenance.live(kept)["metadata"]
    assert maintenance.route(path)["metadata"]["annotations"][SKIP] == "true"
