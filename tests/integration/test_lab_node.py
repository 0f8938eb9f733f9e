# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's node runs pods, Traefik routes to them, and neither leaves anything on the machine."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.node import images
from lab.node import place as node_place
from lab.node.config import KERNEL_SETTINGS
from lab.node.node import Node
from lab.node.place import Place
from lab.node.traefik import CLASS, Traefik
from lab.node.workloads import app, ready_addresses, start_app
from lab.plane.controlplane import ControlPlane
from lab.problems import LabError
from lab.processes import runs
from lab.waiting import until

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.node  # also those that start a node by themselves


def ask_pod(address: str, path: str = "/", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, 8080, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


# -- pods ------------------------------------------------------------------------------------------------------------


def test_a_deployment_of_nginx_becomes_available_and_answers(plane: ControlPlane, node_namespace: str) -> None:
    start_app(plane.api, node_namespace, "pages", image=images.NGINX_IMAGE, replicas=2)
    _status, deployment = plane.api.get(f"/apis/apps/v1/namespaces/{node_namespace}/deployments/pages")
    assert deployment["status"]["availableReplicas"] == 2
    addresses = ready_addresses(plane.api, node_namespace, "pages")
    assert [ask_pod(address) for address in addresses] == [(200, "nginx of the lab\n")] * 2


def test_an_app_says_its_name_to_every_method_and_its_log_can_be_read(plane: ControlPlane, node_namespace: str) -> None:
    start_app(plane.api, node_namespace, "shop")
    [address] = ready_addresses(plane.api, node_namespace, "shop")
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        assert ask_pod(address, "/any/path?wait=1ms", method) == (200, "app shop\n")
    _status, pods = plane.api.get(f"/api/v1/namespaces/{node_namespace}/pods")
    [name] = [pod["metadata"]["name"] for pod in pods["items"]]
    assert plane.api.get(f"/api/v1/namespaces/{node_namespace}/pods/{name}/log")[0] == 200


def test_pods_of_other_namespaces_stay_pending(plane: ControlPlane, node: Node, namespace: str) -> None:
    plane.api.create(*app(namespace, "stranger"))

    def refused() -> list[str]:
        _status, pods = plane.api.get(f"/api/v1/namespaces/{namespace}/pods")
        conditions = [one for pod in pods["items"] for one in pod["status"].get("conditions") or ()]
        return [one["message"] for one in conditions if one.get("reason") == "Unschedulable"]

    assert "untolerated taint" in until(refused, "the scheduler to refuse the pod")[0]


def test_an_image_that_was_not_loaded_is_asked_of_nobody(plane: ControlPlane, node_namespace: str) -> None:
    plane.api.create(*app(node_namespace, "unknown", image="registry.example.com/unknown:1"))

    def complaint() -> str:
        _status, events = plane.api.get(f"/api/v1/namespaces/{node_namespace}/events")
        return "".join(one["message"] for one in events["items"] if one["reason"] == "Failed")

    assert "127.0.0.1:1: connect: connection refused" in until(complaint, "the pull to fail")


def test_pods_outlive_a_kubelet_that_comes_back(plane: ControlPlane, node: Node, node_namespace: str) -> None:
    start_app(plane.api, node_namespace, "before")
    [address] = ready_addresses(plane.api, node_namespace, "before")
    [container] = containers_of(plane, node_namespace, "before")
    node.kill("kubelet")
    try:
        assert "kubelet" not in node.pids
        assert ask_pod(address) == (200, "app before\n")
    finally:
        node.begin("kubelet")
    start_app(plane.api, node_namespace, "after")
    # A kubelet that comes back knows of no probe yet and may call the pod unready until the first one.
    until(lambda: ready_addresses(plane.api, node_namespace, "before") == [address], "the first pod to be ready again")
    assert containers_of(plane, node_namespace, "before") == [container]


def containers_of(plane: ControlPlane, namespace: str, name: str) -> list[tuple[str, int]]:
    """The ids of an application's containers, and how often each was restarted."""
    _status, pods = plane.api.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"app={name}")
    statuses = [status for pod in pods["items"] for status in pod["status"]["containerStatuses"]]
    return [(status["containerID"], status["restartCount"]) for status in statuses]


# -- routes ----------------------------------------------------------------------------------------------------------


def ingress(namespace: str, host: str) -> dict[str, Any]:
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "shop", "namespace": namespace},
        "spec": {"ingressClassName": CLASS, "rules": [{"host": host, "http": {"paths": paths}}]},
    }


def ingress_route(namespace: str, host: str) -> dict[str, Any]:
    route = {"kind": "Rule", "match": f"Host(`{host}`)", "services": [{"name": "shop", "port": 80}]}
    return {
        "apiVersion": "traefik.io/v1alpha1",
        "kind": "IngressRoute",
        "metadata": {"name": "shop", "namespace": namespace},
        "spec": {"entryPoints": ["web"], "routes": [route]},
    }


def http_route(namespace: str, host: str) -> dict[str, Any]:
    rules = [{"backendRefs": [{"name": "shop", "port": 80}]}]
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "shop", "namespace": namespace},
        "spec": {"parentRefs": [{"name": "gateway"}], "hostnames": [host], "rules": rules},
    }


def test_traefik_routes_all_three_kinds_to_the_pods(plane: ControlPlane, node_namespace: str, traefik: Traefik) -> None:
    start_app(plane.api, node_namespace, "shop", replicas=2)
    plane.api.create(traefik.gateway(node_namespace))
    kinds = {"ingress": ingress, "ingressroute": ingress_route, "httproute": http_route}
    for name, manifest in kinds.items():
        host = f"{name}.{node_namespace}.example.com"
        assert traefik.ask(host).status == 404
        plane.api.create(manifest(node_namespace, host))
        reply = traefik.wait_for(host, lambda reply: reply.status == 200)
        assert (reply.body, reply.headers["X-App"]) == ("app shop\n", "shop")


def test_the_kinds_of_routes_are_there_without_traefik(plane: ControlPlane, route_kinds: None) -> None:
    for group, plural in (("traefik.io/v1alpha1", "ingressroutes"), ("gateway.networking.k8s.io/v1", "grpcroutes")):
        assert plane.api.get(f"/apis/{group}/{plural}")[0] == 200


# -- nothing is left behind ------------------------------------------------------------------------------------------


def traces(place: Place, directory: Path) -> list[str]:
    """What a node could have left on the machine."""
    routes = subprocess.run(["ip", "route", "show"], capture_output=True, text=True, check=True).stdout
    return [
        *(line for line in Path("/proc/self/mounts").read_text().splitlines() if str(directory) in line),
        *(f"bridge {place.bridge}" for _link in Path("/sys/class/net").glob(place.bridge)),
        *(f"route {line}" for line in routes.splitlines() if f"metric {place.metric}" in line),
        *(f"cgroup {path}" for path in Path("/sys/fs/cgroup").glob(f"**{place.cgroup}")),
        *(f"process {pid}" for pid in processes_naming(str(directory))),
        *(f"file {path}" for path in directory.glob("*")),
    ]


def processes_naming(text: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if text in command and runs(int(folder.name)):
            found.append(f"{folder.name} {command}")
    return found


def kernel_settings() -> dict[str, str]:
    return {name: Path(f"/proc/sys/{name}").read_text() for name in (*KERNEL_SETTINGS, "net/ipv4/ip_forward")}


def test_stop_leaves_nothing_on_the_machine(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    before = kernel_settings()
    with Node.start(plane, tmp_path / "short", scheduler=False) as node:
        node.load_image(images.app())
        deployment, service = app(namespace, "shop")
        deployment["spec"]["template"]["spec"]["nodeName"] = node.name
        plane.api.create(deployment, service)
        until(lambda: ready_addresses(plane.api, namespace, "shop"), "the app to be ready")
        assert kernel_settings() == before
        # What can be seen from outside is there, so its absence later means something.
        seen = traces(node.place, node.directory)
        assert {line.split()[0] for line in seen} == {"bridge", "route", "cgroup", "process", "file"}
    assert traces(node.place, node.directory) == []
    assert kernel_settings() == before
    assert plane.api.get(f"/api/v1/nodes/{node.name}")[0] == 404
    node.stop()


IN_ANOTHER_PROCESS = """
import sys, time
from lab.plane.controlplane import ControlPlane
from lab.node.node import Node
with Node.start(ControlPlane.attach(sys.argv[1]), sys.argv[2], scheduler=False) as node:
    print(node.place.number, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_process(plane: ControlPlane, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Place, Path]]:
    """Another Python process that runs a node: the process, the node's place, its directory."""
    directory = tmp_path / "other"
    command = [sys.executable, "-c", textwrap.dedent(IN_ANOTHER_PROCESS), str(plane.directory), str(directory)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        place = Place(int(process.stdout.readline()))
        yield process, place, directory
        process.kill()


def test_what_a_killed_process_leaves_is_swept_by_the_next_node(
    plane: ControlPlane, other_process: tuple[subprocess.Popen[str], Place, Path]
) -> None:
    process, place, directory = other_process
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    until(lambda: processes_naming(str(directory)) == [], "the node's processes to end")
    assert directory.exists()  # nobody was left to remove it
    with node_place.taken(directory.with_name("next")) as next_place:
        assert next_place == place
        assert not directory.exists()
    assert traces(place, directory) == []
    plane.api.delete(f"/api/v1/nodes/lab-node{place.number}")


def test_a_node_is_refused_where_it_cannot_live(plane: ControlPlane, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"/var/tmp/x cannot hold a node, which sees another /run and /var"):
        Node.start(plane, "/var/tmp/x")
    (tmp_path / "something").touch()
    with pytest.raises(LabError, match="is not empty"):
        Node.start(plane, tmp_path)
