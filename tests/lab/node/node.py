# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real node for a control plane: containerd, kubelet and scheduler, so that pods run and can be reached.

Everything lives in one directory and one sandbox, and ends with the process that started it. Nothing routes service
addresses: pods are reached by their own, as the EndpointSlices have them.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab import processes, tools
from lab.node import config, images
from lab.node import place as node_place
from lab.node.config import CONTAINERD, KUBELET, PAUSE_IMAGE, PRIVATE, SANDBOX, SCHEDULER, TAINT, NodeLayout
from lab.plane import components
from lab.plane.controlplane import ControlPlane, answers_ok
from lab.plane.ports import free_port
from lab.problems import LabError
from lab.processes import Process
from lab.sandbox import Sandbox
from lab.stopping import Stoppable

PROGRAMS = ("containerd", "ctr", "runc", "nsenter", "unshare", "ip")
TOLERATIONS = "scheduler.alpha.kubernetes.io/defaultTolerations"


class Node(Stoppable):
    """A node, running until `stop`. Made by `start`."""

    def __init__(self, plane: ControlPlane, layout: NodeLayout, sandbox: Sandbox) -> None:
        self.plane = plane
        self.name = layout.name
        self.place = layout.place
        self.layout = layout
        self.directory = layout.directory
        self._sandbox = sandbox
        self._running: dict[str, Process] = {}
        self._leaving = contextlib.ExitStack()
        built = tools.ensure([KUBELET, SCHEDULER])
        kubelet = plane.user(f"system:node:{self.name}", ["system:nodes"]).kubeconfig
        scheduler = plane.user("system:kube-scheduler").kubeconfig
        self._commands: dict[str, list[str]] = {
            CONTAINERD: sandbox.inside(["containerd", *config.containerd_flags(layout)]),
            KUBELET: sandbox.inside([str(built[KUBELET]), *config.kubelet_flags(layout, kubelet)]),
            SCHEDULER: [str(built[SCHEDULER]), *config.scheduler_flags(layout, scheduler)],
        }
        self._probes: dict[str, Callable[[], bool]] = {
            CONTAINERD: lambda: self._ctr("version").returncode == 0,
            KUBELET: lambda: answers_ok(http.client.HTTPConnection("127.0.0.1", layout.health_port), "/healthz"),
            SCHEDULER: lambda: answers_ok(_to_self_signed(layout.scheduler_port), "/healthz"),
        }

    @classmethod
    def start(cls, plane: ControlPlane, directory: str | os.PathLike[str], *, scheduler: bool = True) -> Node:
        """Start a node in a directory that is empty or not there yet, and wait until it is ready for pods.

        It takes pods of the namespaces that are let in (`admit`), and no others. A plane needs one scheduler: a second
        node comes without.
        """
        _refuse_without_means()
        tools.ensure([KUBELET, SCHEDULER])
        folder = _prepared(Path(directory).absolute())
        with contextlib.ExitStack() as leaving:
            place = leaving.enter_context(node_place.taken(folder))
            layout = NodeLayout(folder, f"lab-node{place.number}", place, free_port(), free_port())
            config.write(layout, plane.ca_file)
            sandbox = Sandbox(folder, SANDBOX)
            leaving.callback(sandbox.close)
            node = cls(plane, layout, sandbox)
            leaving.callback(node._end_processes)
            node._bring_up(scheduler)
            node._leaving = leaving.pop_all()  # until here a failure ends all of it; the logs stay, they say why
            return node

    def stop(self, *, keep_files: bool = False) -> None:
        """End everything the node runs, and remove what it left on the machine. Stopping twice is fine."""
        self._leaving.close()
        if not keep_files:
            shutil.rmtree(self.directory, ignore_errors=True)

    # -- what tests do with a node -----------------------------------------------------------------------------------

    def admit(self, namespace: str) -> None:
        """Let the pods of a namespace run here: those made from now on tolerate the node's taint."""
        toleration = f'[{{"key": "{TAINT["key"]}", "operator": "Exists"}}]'
        path = f"/api/v1/namespaces/{namespace}"
        status, answer = self.plane.api.patch(path, {"metadata": {"annotations": {TOLERATIONS: toleration}}})
        if status != 200:
            raise LabError(f"namespace {namespace} cannot be let in: {status} {answer.get('message')}")

    def load_image(self, archive: Path) -> None:
        """Bring an image into the node, as it would be after a pull."""
        done = self._ctr("images", "import", str(archive))
        if done.returncode:
            raise LabError(f"{archive} cannot be loaded: {done.stderr.strip()}")

    def images(self) -> list[str]:
        """The references of the images the node has."""
        return self._ctr("images", "list", "--quiet").stdout.split()

    def kill(self, name: str) -> None:
        """End one program at once, as a crash would. Pods go on running."""
        if name in self._running:
            processes.stop([self._running.pop(name)], patience=0)

    def begin(self, name: str) -> None:
        """Start a program that does not run, and wait until it is healthy."""
        if name not in self._commands:
            raise LabError(f"a node has no {name!r}; it has {', '.join(self._commands)}")
        log = self.layout.log(name)
        environment = {**os.environ, **components.ENVIRONMENT, **config.ENVIRONMENT}
        self._running[name] = process = processes.start(self._commands[name], log, environment=environment)
        processes.wait_until_healthy(process, name, self._probes[name], log)

    @property
    def pids(self) -> dict[str, int]:
        """The programs that run now."""
        return {name: process.pid for name, process in self._running.items() if process.alive()}

    # -- inside ------------------------------------------------------------------------------------------------------

    def _bring_up(self, scheduler: bool) -> None:
        self.begin(CONTAINERD)
        self.load_image(images.pause(PAUSE_IMAGE))
        self.begin(KUBELET)
        if scheduler:
            self.begin(SCHEDULER)
        kubelet, log = self._running[KUBELET], self.layout.log(KUBELET)
        processes.wait_until_healthy(kubelet, f"node {self.name}", self._is_ready, log)

    def _is_ready(self) -> bool:
        status, node = self.plane.api.get(f"/api/v1/nodes/{self.name}")
        conditions: list[dict[str, Any]] = node["status"].get("conditions") or [] if status == 200 else []
        return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

    def _end_processes(self) -> None:
        processes.stop(self._running.values(), patience=0)
        self._running.clear()
        with contextlib.suppress(OSError, http.client.HTTPException):  # the plane may be gone before us
            self.plane.api.delete(f"/api/v1/nodes/{self.name}")

    def _ctr(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = self._sandbox.inside(["ctr", "--address", config.SOCKET, "--namespace", "k8s.io", *arguments])
        return subprocess.run(command, capture_output=True, text=True, check=False)


def _refuse_without_means() -> None:
    if os.geteuid() != 0:
        raise LabError("a node needs root: it makes namespaces, mounts and a bridge. Run the tests as root")
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        raise LabError(
            f"a node needs {', '.join(missing)} on PATH. On Debian: "
            "apt-get install containerd runc containernetworking-plugins iproute2 util-linux"
        )


def _prepared(directory: Path) -> Path:
    if any(directory.is_relative_to(place) for place in PRIVATE):
        raise LabError(
            f"{directory} cannot hold a node, which sees another {' and '.join(PRIVATE)}. Choose one in /tmp"
        )
    if directory.exists() and any(directory.iterdir()):
        raise LabError(f"{directory} is not empty. Choose another directory, or remove it if it is an old node")
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _to_self_signed(port: int) -> http.client.HTTPSConnection:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", port, context=trust)
