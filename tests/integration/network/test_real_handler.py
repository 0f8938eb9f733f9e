# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy that the real handler of kubernetes-nmstate applied to a real node is taken back through it."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import nncp_revert
from integration.running import run_job
from lab.net import nmstate, nmstate_handler
from lab.net.network import Net
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.net
POLICIES = "/apis/nmstate.io/v1/nodenetworkconfigurationpolicies"
STATES = "/apis/nmstate.io/v1beta1/nodenetworkstates"
VXLAN = {
    "name": "vx0",
    "type": "vxlan",
    "state": "up",
    "vxlan": {"base-iface": "eth3", "id": 42, "remote": "198.51.100.150"},
}
ADDRESS = {"ip": "198.51.100.140", "prefix-length": 25}
ETH3 = {
    "name": "eth3",
    "type": "ethernet",
    "state": "up",
    "ipv4": {"enabled": True, "dhcp": False, "address": [ADDRESS]},
}


@contextlib.contextmanager
def registered(plane: ControlPlane, name: str, address: str) -> Iterator[None]:
    """The node is known to the cluster, stays Ready, and its handler's pod can be seen. There is no kubelet."""
    labels = {"kubernetes.io/hostname": name}
    plane.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}})
    over = threading.Event()

    def beat() -> None:
        while True:
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            ready = {"type": "Ready", "status": "True", "reason": "Lab", "lastHeartbeatTime": now}
            status = {"conditions": [ready], "addresses": [{"type": "InternalIP", "address": address}]}
            plane.api.patch(f"/api/v1/nodes/{name}/status", {"status": status})
            if over.wait(5.0):
                return

    beating = threading.Thread(target=beat)
    beating.start()
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "handler", "namespace": "default", "labels": {"component": "kubernetes-nmstate-handler"}},
        "spec": {
            "nodeName": name,
            "automountServiceAccountToken": False,
            "containers": [{"name": "handler", "image": "example/handler:1"}],
        },
    }
    plane.api.create(pod)
    try:
        yield
    finally:
        over.set()
        beating.join()
        plane.api.delete("/api/v1/namespaces/default/pods/handler", {"gracePeriodSeconds": 0})
        plane.api.delete(f"/api/v1/nodes/{name}")


def reported(plane: ControlPlane, name: str) -> bool:
    status, found = plane.api.get(f"{STATES}/{name}")
    return status == 200 and bool((found.get("status") or {}).get("currentState"))


def is_available(plane: ControlPlane, name: str) -> bool:
    _status, found = plane.api.get(f"{POLICIES}/{name}")
    conditions = {one["type"]: one["status"] for one in (found.get("status") or {}).get("conditions") or ()}
    assert conditions.get("Degraded") != "True", found["status"]
    return conditions.get("Available") == "True"


def addresses(net: Net) -> dict[str, Any]:
    node = net.node(0)
    return {name: node.addresses(name) for name in node.links()}


def test_what_the_real_handler_applied_comes_off_through_it(plane: ControlPlane, net: Net) -> None:
    nmstate.install(plane)
    node = net.node(0)
    before = addresses(net)
    with registered(plane, node.name, node.address), nmstate_handler.running(plane, node):
        until(lambda: reported(plane, node.name), "the node's first report")
        prepared = run_job(nncp_revert.JOB, {"policy": "storage", "state": "prepared"}, plane.admin.kubeconfig)
        assert prepared["outcome"] == "prepared", prepared
        policy = {
            "apiVersion": "nmstate.io/v1",
            "kind": "NodeNetworkConfigurationPolicy",
            "metadata": {"name": "storage", "annotations": {"sunset.dev/delete-on-removal": "true"}},
            "spec": {"desiredState": {"interfaces": [ETH3, VXLAN]}},
        }
        plane.api.create(policy)
        until(lambda: is_available(plane, "storage"), "the handler to apply the policy", timeout=150)
        assert "vx0" in addresses(net)
        result = run_job(nncp_revert.JOB, {"policy": "storage", "timeout": 240}, plane.admin.kubeconfig)
        assert result["outcome"] == "reverted", result
        assert [(one["node"], one["phase"]) for one in result["nodes"]] == [(node.name, "reverted")]
    assert addresses(net) == before
    assert plane.api.get(f"{POLICIES}/storage")[0] == 404
    assert plane.api.get(POLICIES)[1]["items"] == []
