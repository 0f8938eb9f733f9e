# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with a network each, policies on them, and the module that takes policies back."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs import nncp_revert
from integration.nmstate_conditions import is_true
from integration.nmstate_handlers import ENACTMENTS, POLICIES, STATES, Handler, Handlers, State
from integration.ranked import OnEvent
from integration.running import Result, run_job
from integration.stage import Body, Stage, body
from lab.net import nmstate
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

OPT_IN = "sunset.dev/delete-on-removal"
PROGRESS = "sunset.dev/revert-progress"
ORIGINAL = "sunset.dev/original-node-selector"
FINALIZER = "sunset.dev/nncp-revert"
FLEET = "lab.example.com/fleet"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@pytest.fixture(scope="session")
def nmstate_kinds(plane: ControlPlane) -> None:
    nmstate.install(plane)


def network(number: int) -> State:
    """A node as it is before any policy: management on eth0, a spare eth1."""
    address = {"ip": f"198.51.100.{number}", "prefix-length": 24}
    up: State = {"type": "ethernet", "state": "up", "mtu": 1500, "ipv6": {"enabled": False}}
    static = {"enabled": True, "dhcp": False, "address": [address]}
    default = {
        "destination": "0.0.0.0/0",
        "next-hop-address": "198.51.100.254",
        "next-hop-interface": "eth0",
        "table-id": 254,
        "metric": 100,
    }
    return {
        "interfaces": [
            {"name": "eth0", **up, "ipv4": static},
            {"name": "eth1", **up, "ipv4": {"enabled": False}},
        ],
        "routes": {"config": [default]},
        "dns-resolver": {"config": {"server": ["203.0.113.1"], "search": []}},
    }


def vlan(number: int = 100) -> State:
    """What most tests apply: a virtual interface, and something that had another value before."""
    one = {
        "name": f"eth1.{number}",
        "type": "vlan",
        "state": "up",
        "vlan": {"base-iface": "eth1", "id": number},
        "ipv4": {"enabled": True, "dhcp": False, "address": [{"ip": f"203.0.113.{number}", "prefix-length": 24}]},
    }
    return {"interfaces": [one, {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}]}


class Fleet:
    """One test's nodes and policies."""

    def __init__(self, plane: ControlPlane, stage: Stage) -> None:
        self.api, self.stage = plane.api, stage
        self.id = secrets.token_hex(4)
        self.handlers = Handlers(plane.api)
        self.user = plane.user("network-reverter", (MASTERS,))
        self.policies: list[str] = []

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def nodes(self, count: int, *, control_plane: int = 0) -> list[str]:
        """Workers, then nodes of the control plane, each with a handler."""
        names = [self.node(number) for number in range(1, count + 1)]
        names += [self.node(count + number, CONTROL_PLANE) for number in range(1, control_plane + 1)]
        return names

    def node(self, number: int, *labels: str, handled: bool = True) -> str:
        name = f"n{number}-{self.id}"
        marks = {FLEET: self.id, "kubernetes.io/hostname": f"host-{name}", **dict.fromkeys(labels, "")}
        [made] = self.stage.put({**body("v1", "Node", name, "", labels=marks), "spec": {}})
        self.ready(name, number=number)
        handler = Handler(name, made["metadata"]["uid"], network(number), labels=marks)
        self.handlers.of[name] = handler
        if handled:
            self._run_handler(name)
        else:
            handler.alive = False
        self.handlers.report(name)
        return name

    def ready(
        self, name: str, status: str = "True", *, number: int = 1, heartbeat: str = "2026-01-01T00:00:00Z"
    ) -> None:
        condition = {"type": "Ready", "status": status, "reason": "Lab", "lastHeartbeatTime": heartbeat}
        addresses = [{"type": "InternalIP", "address": f"198.51.100.{number}"}]
        answer = self.api.patch(
            f"/api/v1/nodes/{name}/status", {"status": {"conditions": [condition], "addresses": addresses}}
        )
        assert answer[0] == 200, answer

    @contextlib.contextmanager
    def alive(self) -> Iterator[None]:
        """While this lasts, kubelets report: without that, nodes count as lost after 40 seconds."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(5):
                for number, name in enumerate(self.handlers.of, 1):
                    self.ready(name, number=number, heartbeat=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))

        kubelets = threading.Thread(target=beat, name="kubelets", daemon=True)
        kubelets.start()
        try:
            yield
        finally:
            ended.set()
            kubelets.join(20)

    def _run_handler(self, node: str) -> None:
        """Its pod: nobody runs it, but who wants to know where handlers are looks at pods."""
        pod = body("v1", "Pod", f"handler-{node}", self.stage.namespace)
        pod["metadata"]["labels"] = {"component": "kubernetes-nmstate-handler"}
        container = {"name": "handler", "image": "example/handler:1"}
        pod["spec"] = {"nodeName": node, "containers": [container], "automountServiceAccountToken": False}
        path = f"/api/v1/namespaces/{self.stage.namespace}/pods"
        until(lambda: self.api.post(path, pod)[0] in (201, 409), "the namespace to take pods", every=0.05)

    def remove_handler(self, node: str) -> None:
        pods = f"/api/v1/namespaces/{self.stage.namespace}/pods"
        self.api.delete(f"{pods}/handler-{node}", {"gracePeriodSeconds": 0})

    def network(self, node: str) -> State:
        return self.handlers.of[node].network

    def interfaces(self, node: str) -> dict[str, Any]:
        return {one["name"]: one for one in self.network(node)["interfaces"]}

    # -- policies ------------------------------------------------------------------------------------------------------

    def policy(
        self, desired: State | None = None, *, opt_in: bool = True, wait: bool = True, name: str = "", **spec: Any
    ) -> str:
        """A policy of this fleet, applied by its handlers."""
        name = name or f"vlan-{secrets.token_hex(3)}"
        item = body("nmstate.io/v1", "NodeNetworkConfigurationPolicy", name, "")
        item["metadata"]["annotations"] = {OPT_IN: "true"} if opt_in else {}
        item["spec"] = {"nodeSelector": {FLEET: self.id}, "desiredState": desired or vlan(), **spec}
        self.stage.put(item)
        self.policies.append(name)
        if wait:
            self.until_available(name)
        return name

    def look(self, policy: str) -> Body | None:
        status, item = self.api.get(f"{POLICIES}/{policy}")
        return item if status == 200 else None

    def there(self, policy: str) -> Body:
        found = self.look(policy)
        assert found is not None, f"{policy} is gone"
        return found

    def until_available(self, policy: str) -> None:
        until(lambda: is_true(self.there(policy), "Available"), f"{policy} to be on its nodes", every=0.05)

    def long_ago(self, policy: str) -> None:
        """As if its handlers had been done with it for months."""
        for item in self.api.get(ENACTMENTS, labelSelector=f"nmstate.io/policy={policy}")[1]["items"]:
            then = [{**one, "lastTransitionTime": "2026-01-01T00:00:00Z"} for one in item["status"]["conditions"]]
            path = f"{ENACTMENTS}/{item['metadata']['name']}/status"
            assert self.api.patch(path, {"status": {"conditions": then}})[0] == 200

    def opt_out(self, policy: str) -> None:
        assert self.api.patch(f"{POLICIES}/{policy}", {"metadata": {"annotations": {OPT_IN: None}}})[0] == 200

    def progress(self, policy: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.there(policy)["metadata"]["annotations"][PROGRESS])
        return found

    def helpers(self) -> list[Body]:
        wanted = f"sunset.dev/nncp-helper=true,sunset.dev/nncp in ({','.join(self.policies)})"
        found: list[Body] = self.api.get(POLICIES, labelSelector=wanted)[1]["items"]
        return found

    def leftovers(self) -> list[str]:
        """Helper policies and records of ours that are still there."""
        path = f"/api/v1/namespaces/{self.stage.namespace}/configmaps"
        records = self.api.get(path, labelSelector="sunset.dev/nncp-record=true")[1]["items"]
        return [item["metadata"]["name"] for item in (*self.helpers(), *records)]

    def events(self, policy: str) -> list[str]:
        found = self.api.get("/api/v1/namespaces/default/events", fieldSelector=f"involvedObject.name={policy}")[1][
            "items"
        ]
        return [item["reason"] for item in sorted(found, key=lambda item: int(item["metadata"]["resourceVersion"]))]

    # -- the module ----------------------------------------------------------------------------------------------------

    def revert(
        self,
        policy: str,
        *,
        check_mode: bool = False,
        user: User | None = None,
        stop: StopSign | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        params: Mapping[str, Any] = {"policy": policy, "timeout": 60, **options}
        where = (user or self.user).kubeconfig
        return run_job(nncp_revert.JOB, params, where, check_mode=check_mode, stop=stop, on_event=on_event)

    def prepare(self, policy: str, **options: Any) -> Result:
        return self.revert(policy, state="prepared", node_selector={FLEET: self.id}, **options)

    def prepared_policy(self, desired: State | None = None, **more: Any) -> str:
        """Recorded first, then applied."""
        name = f"vlan-{secrets.token_hex(3)}"
        result = self.prepare(name)
        assert not result.get("failed"), result
        return self.policy(desired, name=name, **more)

    def close(self) -> None:
        self.handlers.stop()
        for path in (POLICIES, ENACTMENTS, STATES):
            for item in self.api.get(path)[1]["items"]:
                self.api.patch(f"{path}/{item['metadata']['name']}", {"metadata": {"finalizers": None}})
                self.api.delete(f"{path}/{item['metadata']['name']}")
        for node in self.handlers.of:
            self.remove_handler(node)
        assert self.handlers.problem is None, "the handlers broke down"


@pytest.fixture
def fleet(plane: ControlPlane, stage: Stage, nmstate_kinds: None) -> Iterator[Fleet]:
    made = Fleet(plane, stage)
    made.handlers.start()
    try:
        yield made
    finally:
        made.close()


def phases(result: Result) -> dict[str, str]:
    return {row["node"]: row["phase"] for row in result["nodes"]}
