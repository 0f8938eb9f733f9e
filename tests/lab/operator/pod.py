# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator as a pod on the lab's node, deployed with the project's own manifests.

The pod is on the pod network, as anywhere. The API server listens on loopback only, so a relay on the node's bridge
leads there; nothing else of the manifests is changed than the image and two variables with the relay's address. The
ports of ansible-operator are fixed, but they are the pod's own: any number of labs run beside each other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab import processes, tools
from lab.node import place as node_place
from lab.node.node import Node
from lab.operator import image, manifests
from lab.operator.manifests import NAME, NAMESPACE
from lab.plane import relay
from lab.plane.controlplane import ControlPlane
from lab.plane.ports import free_port
from lab.problems import LabError
from lab.processes import Process
from lab.stopping import Stoppable
from lab.waiting import until

EVERY_RIGHT = (".",)  # config/rights itself: all of them


class Operator(Stoppable):
    """The running operator. Made by `start`."""

    namespace = NAMESPACE
    service_account = f"system:serviceaccount:{NAMESPACE}:{NAME}"

    def __init__(
        self, plane: ControlPlane, node: Node, documents: list[dict[str, Any]], to_the_server: Process
    ) -> None:
        self.plane = plane
        self.node = node
        self._documents = documents
        self._relay = to_the_server

    @classmethod
    def start(
        cls,
        plane: ControlPlane,
        node: Node,
        *,
        rights: Iterable[str] = EVERY_RIGHT,
        components: Iterable[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Operator:
        """Deploy it and wait until it is ready. A plane has room for one.

        `rights` are folders of config/rights, `components` those of config/components (what these watch must be
        installed).
        """
        archive, reference = image.built()
        if reference not in node.images():
            node.load_image(archive)
        host, port = node.place.address, str(free_port())
        where = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        documents = manifests.for_the_lab(reference, rights, components, {**where, **(environment or {})})
        passing_on = [sys.executable, relay.__file__, f"{host}:{port}", str(urlsplit(plane.url).port)]
        operator = cls(plane, node, documents, processes.start(passing_on, node.directory / "relay.log"))
        try:
            operator._apply(one for one in documents if one["kind"] == "Namespace")
            node.admit(NAMESPACE)
            operator._apply(documents)
            operator.wait_until_ready()
        except BaseException:
            operator.stop()
            raise
        return operator

    def stop(self, *, keep_files: bool = False) -> None:
        """Take everything away. Resources that are still there lose their finalizers: nobody is left to serve them."""
        deployment = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}"
        self.plane.api.delete(deployment, {"propagationPolicy": "Background"})
        for pod in self.pods():
            self._delete_now(pod)
        for definition in (one for one in self._documents if one["kind"] == "CustomResourceDefinition"):
            self._release(definition)
        self._kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", documents=self._documents)
        # These take a moment, and the next operator would meet them on their way out.
        slow = [one for one in self._documents if one["kind"] in ("Namespace", "CustomResourceDefinition")]
        for path in map(self.plane.api.path_of, slow):
            until(lambda path=path: self.plane.api.get(path)[0] == 404, f"{path} to be gone")  # type: ignore[misc]
        processes.stop([self._relay])

    # -- what tests do with it ---------------------------------------------------------------------------------------

    def pods(self) -> list[dict[str, Any]]:
        """All of them, also one that is on its way out."""
        selector = f"app.kubernetes.io/name={NAME}"
        _status, found = self.plane.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=selector)
        pods: list[dict[str, Any]] = found.get("items") or []
        return pods

    def wait_until_ready(self, *, timeout: float = 90.0) -> dict[str, Any]:
        """The pod that is ready, once there is one."""

        def ready() -> dict[str, Any] | None:
            return next((pod for pod in self.pods() if _is_ready(pod)), None)

        try:
            return until(ready, "the operator's pod to be ready", timeout=timeout, every=0.25)
        except LabError as problem:
            raise LabError(f"{problem}. Its state: {self._state()}. Its log:\n{self.logs()[-3000:]}") from problem

    def wait_until_leading(self, *, timeout: float = 60.0) -> str:
        """The name of the pod that leads: from now on it acts on resources."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{NAME}"

        def leads() -> str | None:
            status, lease = self.plane.api.get(path)
            holder = str(lease["spec"].get("holderIdentity") or "").partition("_")[0] if status == 200 else ""
            return holder if holder in {pod["metadata"]["name"] for pod in self.pods() if _is_ready(pod)} else None

        return until(leads, "the operator to lead", timeout=timeout, every=0.25)

    def kill(self) -> None:
        """End the pod at once, as a lost node would. The Deployment brings another one."""
        for pod in self.pods():
            self._delete_now(pod)

    def restart(self) -> dict[str, Any]:
        """Kill it and wait for the next one."""
        self.kill()
        return self.wait_until_ready()

    def logs(self, *arguments: str) -> str:
        return self._kubectl("logs", f"--namespace={NAMESPACE}", f"deployment/{NAME}", *arguments, check=False)

    def run(self, *command: str) -> str:
        """What a command says in the operator's container."""
        return self._kubectl("exec", f"--namespace={NAMESPACE}", f"deployment/{NAME}", "--", *command)

    def memory(self) -> int:
        """Bytes that the pod needs now: its working set, as the kernel counts it."""
        uids = [pod["metadata"]["uid"] for pod in self.pods() if _is_ready(pod)]
        for uid in uids:
            for folder in node_place.cgroup_folders(self.node.place, f"pod{uid}"):
                if used := _working_set(folder):
                    return used
        raise LabError(f"there is no control group of pod {', '.join(uids) or 'of the operator'}")

    # -- inside ------------------------------------------------------------------------------------------------------

    def _apply(self, documents: Iterable[dict[str, Any]]) -> None:
        self._kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", documents=documents)

    def _delete_now(self, pod: Mapping[str, Any]) -> None:
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}"
        self.plane.api.delete(path, {"gracePeriodSeconds": 0})

    def _release(self, definition: Mapping[str, Any]) -> None:
        spec = definition["spec"]
        for version in (one["name"] for one in spec["versions"] if one["storage"]):
            home = f"/apis/{spec['group']}/{version}"
            for item in self.plane.api.get(f"{home}/{spec['names']['plural']}")[1].get("items") or ():
                if item["metadata"].get("finalizers"):
                    place = f"{home}/namespaces/{item['metadata']['namespace']}/{spec['names']['plural']}"
                    self.plane.api.patch(f"{place}/{item['metadata']['name']}", {"metadata": {"finalizers": None}})

    def _state(self) -> str:
        return json.dumps([pod["status"].get("containerStatuses") or pod["status"] for pod in self.pods()])

    def _kubectl(self, *arguments: str, documents: Iterable[dict[str, Any]] = (), check: bool = True) -> str:
        said = subprocess.run(
            [str(tools.kubectl()), f"--kubeconfig={self.plane.admin.kubeconfig}", *arguments],
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(documents)}),
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode and check:
            raise LabError(f"kubectl {arguments[0]} failed: {said.stderr.strip()[-2000:]}")
        return said.stdout


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in pod["status"].get("conditions") or ()}
    return conditions.get("Ready") == "True" and not pod["metadata"].get("deletionTimestamp")


def _working_set(folder: Path) -> int:
    """What is used, without files that can be read again; 0 if this group does not count memory."""
    for name, key in (("memory.current", "inactive_file"), ("memory.usage_in_bytes", "total_inactive_file")):
        if (folder / name).exists():
            told = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            return int((folder / name).read_text()) - int(told.get(key, 0))
    return 0
