# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was changed in a route during maintenance, in words, with who it was."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jsonpatch
import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import Backup
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.drift import drift_of, last_writer, put_back
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import Route
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, swap
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, Resource
from ansible_collections.sunset.kube.tests.unit.fakes import named, record

KIND = ROUTE_KINDS[0]
INGRESSES = Resource("networking.k8s.io", "v1", "Ingress", "ingresses", True)
ASK = "kustomize.toolkit.fluxcd.io/reconcile"
BACKEND = {"service": {"name": "web", "port": {"name": "http"}}}
ITEM = {
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "1",
        "resourceVersion": "1",
        "managedFields": [
            {"manager": "kubectl", "time": "2026-01-01T10:00:00Z", "fieldsV1": {"f:spec": {}}},
            {"manager": "flux", "time": "2026-01-01T12:00:00Z", "fieldsV1": {"f:spec": {}}},
            {"manager": "labeller", "time": "2026-01-01T13:00:00Z", "fieldsV1": {"f:metadata": {}}},
            {
                "manager": "traefik",
                "time": "2026-01-01T14:00:00Z",
                "subresource": "status",
                "fieldsV1": {"f:status": {}},
            },
        ],
    },
    "spec": {
        "rules": [
            {"host": "shop.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}
        ]
    },
}
PATH = "/spec/rules/0/http/paths/0"


def shown() -> tuple[dict[str, Any], Backup]:
    """The route behind a page, and its backup."""
    done = swap(ITEM, KIND, Selection(annotations=((ASK, "disabled"),)), "maintenance-0123456789")
    steps = [step for step in done.operations if step["op"] != "test"]
    item = jsonpatch.apply_patch(copy.deepcopy(ITEM), steps)
    return item, Backup(
        record("backup"), ObjectRef("networking.k8s.io/v1", "Ingress", "shop", "web", "1"), done.changes
    )


def backend(value: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": f"{PATH}/backend", "value": value}]


OTHER = {"service": {"name": "new", "port": {"number": 80}}}
MARK = "/metadata/annotations/kustomize.toolkit.fluxcd.io~1reconcile"
EDITS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "nothing": ([], []),
    "put back": (backend(BACKEND), ["shop.example.com/ was put back (by flux)"]),
    "another backend": (backend(OTHER), ["shop.example.com/ leads to another backend (by flux)"]),
    "removed": ([{"op": "remove", "path": PATH}], [f"the place {PATH}/backend was removed (by flux)"]),
    "moved to another path": (
        [{"op": "replace", "path": f"{PATH}/path", "value": "/new"}],
        ["host or path of shop.example.com/new was edited (by flux)"],
    ),
    "asked to go on": (
        [{"op": "remove", "path": MARK}],
        [f"annotation {ASK} was edited (by labeller)"],
    ),
}


@pytest.mark.parametrize(("edit", "expected"), named(EDITS))
def test_an_edit_is_told_with_whoever_wrote_last(edit: list[dict[str, Any]], expected: list[str]) -> None:
    item, backup = shown()
    assert drift_of(Route(KIND, INGRESSES, jsonpatch.apply_patch(item, edit), backup)) == expected


def test_a_backup_whose_route_was_never_changed_is_no_drift() -> None:
    _item, backup = shown()
    route = Route(KIND, INGRESSES, ITEM, backup)
    assert put_back(route) == []


WRITERS: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "of the whole": (last_writer, "labeller"),
    "of the spec": (lambda item: last_writer(item, "f:spec"), "flux"),
    "of what nobody wrote": (lambda item: last_writer(item, "f:data"), "nobody known"),
}


@pytest.mark.parametrize(("ask", "expected"), named(WRITERS))
def test_the_last_writer_is_not_the_one_of_the_status(ask: Callable[[dict[str, Any]], str], expected: str) -> None:
    assert ask(ITEM) == expected
