# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays reachable is told before and during maintenance, and so is what was changed meanwhile, and by whom."""

from __future__ import annotations

import pytest

from integration.maintaining import INGRESSES, Maintenance, ingress, ingress_route
from integration.ranked import succeeded
from integration.running import Result, warnings_of
from lab.plane.controlplane import ControlPlane


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    return Maintenance(plane, node_namespace)


def told(result: Result) -> list[str]:
    return [f"{one['kind']} {one['name']} {one['host']}{one['path']}: {one['why']}" for one in result["coverage"]]


def test_other_ways_to_the_application_are_told_in_check_mode_after_it_and_by_info(maintenance: Maintenance) -> None:
    here = maintenance.namespace
    passing = {
        "apiVersion": "traefik.io/v1alpha1",
        "kind": "IngressRouteTCP",
        "metadata": {"name": "raw", "namespace": here},
        "spec": {"routes": [{"match": "HostSNI(`raw.example.com`)", "services": [{"name": "shop", "port": 80}]}]},
    }
    exposed = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "shop", "namespace": here},
        "spec": {"type": "NodePort", "ports": [{"port": 80, "name": "http"}], "selector": {"app": "shop"}},
    }
    front = ingress(here, "front", "front.example.com")
    backend = {"service": {"name": "blog", "port": {"number": 80}}}
    front["spec"]["rules"].append({"host": "blog.example.com", "http": {"paths": [_prefix("/", backend)]}})
    maintenance.api.create(exposed, passing, front, ingress_route(here, "backdoor", "back.example.com"))
    target = [{"namespace": here, "kind": "Ingress", "name": "front", "hosts": ["front.*"]}]
    expected = [
        "Ingress front blog.example.com/: not among the targets",
        "IngressRoute backdoor back.example.com/: another route to the same Service",
        "IngressRouteTCP raw raw.example.com/: it routes TCP, which has no pages",
        "Service shop *: a Service of type NodePort needs no route",
    ]

    tried = succeeded(maintenance("enabled", targets=target, check_mode=True))
    on = succeeded(maintenance("enabled", targets=target))
    again = succeeded(maintenance("enabled", targets=target))
    info = succeeded(maintenance.info())
    without = succeeded(maintenance.info(coverage=False))

    assert told(tried) == told(on) == told(again) == told(info) == expected
    assert told(without) == []


def test_what_is_kept_open_on_purpose_is_told_without_the_secret(maintenance: Maintenance) -> None:
    # A host of its own: other tests leave routes for the usual one in namespaces that are about to go.
    host = f"{maintenance.namespace}.example.com"
    maintenance.api.create(ingress_route(maintenance.namespace, host=host))
    openings = {"exempt_paths": ["/health"], "bypass": {"headers": {"X-Pass": "sesame"}}}
    purpose = "kept open on purpose, as an exempt path or a bypass"

    tried = succeeded(maintenance("enabled", check_mode=True, **openings))
    on = succeeded(maintenance("enabled", **openings))
    info = succeeded(maintenance.info())

    assert told(tried) == told(on) == told(info)
    assert f"IngressRoute web {host}/health: {purpose}" in told(on)
    assert "sesame" not in repr([tried["coverage"], on["coverage"], info["coverage"]])


def test_whoever_puts_a_route_back_is_named(maintenance: Maintenance) -> None:
    here = maintenance.namespace
    maintenance.api.create(ingress(here))
    path = f"{INGRESSES.format(here)}/web"
    succeeded(maintenance("enabled", window={"for": "1h"}))
    backend = {"service": {"name": "shop", "port": {"name": "http"}}}
    back = [{"op": "replace", "path": "/spec/rules/0/http/paths/0/backend", "value": backend}]
    status, answer = maintenance.api.patch(path, back, fieldManager="healer")
    assert status == 200, answer

    [seen] = succeeded(maintenance.info())["targets"]
    assert seen["conflicts"] == ["shop.example.com/ was put back (by healer)"]
    assert seen["until"]

    again = succeeded(maintenance("enabled", window={"for": "1h"}))
    assert "shop.example.com/ was put back by healer, and is closed again" in warnings_of(again)
    assert again["changed"]
    assert [one["conflicts"] for one in succeeded(maintenance.info())["targets"]] == [[]]


def _prefix(path: str, backend: dict[str, object]) -> dict[str, object]:
    return {"path": path, "pathType": "Prefix", "backend": backend}
