# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page stands before an application while it is taken out, and goes with its last route. Real pods and Traefik."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.collection_playbooks import play_named, playing_named
from integration.maintaining import Maintenance, ingress
from integration.stage import FOREIGN, config_map
from lab.node import workloads
from lab.node.images import NGINX_IMAGE
from lab.node.traefik import Traefik
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.node


def variables(namespace: str, maintenance: str, **more: Any) -> dict[str, Any]:
    quickly = {"maintenance_workload": {"image": NGINX_IMAGE, "replicas": 1}, "maintenance_linger": 0}
    return {
        **quickly,
        "source": "namespace",
        "namespace": namespace,
        "confirm": "skip",
        "maintenance": maintenance,
        "timeout": 90,
        **more,
    }


def test_visitors_see_the_page_until_the_last_route_is_gone(
    plane: ControlPlane, node_namespace: str, traefik: Traefik, tmp_path: Path
) -> None:
    here, host = Maintenance(plane, node_namespace), f"shop.{node_namespace}.example.com"
    workloads.start_app(plane.api, node_namespace, "shop")
    plane.api.create(ingress(node_namespace, host=host), config_map("held", node_namespace, FOREIGN))
    traefik.wait_for(host, lambda reply: reply.status == 200)
    held = f"/api/v1/namespaces/{node_namespace}/configmaps/held"
    wanted = variables(node_namespace, "true", delete_namespace=True, stages=["drain", "delete", "verify"])
    with playing_named("sunset.kube.uninstall", tmp_path / "run", plane.admin.kubeconfig, **wanted) as play:
        until(lambda: _is_going(plane, held), "the deletion to wait", timeout=90)
        assert traefik.ask(host).status == 503, "the application is half gone, and nobody says so"
        plane.api.patch(held, {"metadata": {"finalizers": None}})
        done = play.finish(120)
    assert done.rc == 0, done.stdout
    assert plane.api.get(f"/api/v1/namespaces/{node_namespace}")[0] == 404
    assert here.ours() == []


def _is_going(plane: ControlPlane, path: str) -> bool:
    status, found = plane.api.get(path)
    return status == 200 and bool(found["metadata"].get("deletionTimestamp"))


def test_routes_and_page_stay_on_demand(
    plane: ControlPlane, node_namespace: str, traefik: Traefik, tmp_path: Path
) -> None:
    host = f"shop.{node_namespace}.example.com"
    workloads.start_app(plane.api, node_namespace, "shop")
    plane.api.create(ingress(node_namespace, host=host))
    traefik.wait_for(host, lambda reply: reply.status == 200)
    done = play_named(
        "sunset.kube.uninstall", tmp_path / "run", plane.admin.kubeconfig, **variables(node_namespace, "keep")
    )
    assert done.rc == 0, done.stdout
    traefik.wait_for(host, lambda reply: reply.status == 503)
    assert plane.api.get(f"/apis/apps/v1/namespaces/{node_namespace}/deployments/shop")[0] == 404
    again = play_named(
        "sunset.kube.uninstall", tmp_path / "again", plane.admin.kubeconfig, **variables(node_namespace, "keep")
    )
    assert again.rc == 0, again.stdout
    assert " changed=0 " in again.stdout
