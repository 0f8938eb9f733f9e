# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real Traefik in front of a control plane with a node: Ingress, IngressRoute and HTTPRoute, on loopback.

It runs as a process of this machine and reaches pods by the addresses in their EndpointSlices.
"""

from __future__ import annotations

import contextlib
import http.client
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import processes, tools
from lab.node import routes
from lab.plane import components
from lab.plane.controlplane import ControlPlane, answers_ok
from lab.plane.grants import grant, revoke
from lab.plane.ports import free_port
from lab.stopping import Stoppable
from lab.waiting import until

CLASS = "traefik"  # the name of the IngressClass and of the GatewayClass
ENTRY_POINT = "web"
CLASSES = (
    {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": {"name": CLASS},
        "spec": {"controller": "traefik.io/ingress-controller"},
    },
    {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": CLASS},
        "spec": {"controllerName": "traefik.io/gateway-controller"},
    },
)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: str


class Traefik(Stoppable):
    """A running Traefik. Made by `start`."""

    def __init__(self, port: int, log: Path, leaving: contextlib.ExitStack) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.log = log
        self._leaving = leaving

    @classmethod
    def start(cls, plane: ControlPlane, directory: Path, *, throttle: str = "100ms", gateways: bool = True) -> Traefik:
        """Start Traefik for all namespaces of a plane, with the kinds it serves; ready for routes on return.

        `throttle` is how long it keeps changes to itself after one: two seconds as delivered, the slowest part of a
        test. A second one beside the first must leave the gateways to it: both would write their status.
        """
        program = tools.ensure(["traefik"])["traefik"]
        routes.install(plane)
        port, own_port, log = free_port(), free_port(), directory / "traefik.log"
        with contextlib.ExitStack() as leaving:
            user = plane.user("traefik")
            leaving.callback(revoke, plane.api, grant(plane.api, user, routes.traefik_rules()))
            for one in CLASSES:
                status, _answer = plane.api.post(plane.api.path_of(one, collection=True), one)
                if status != 409:  # there already, for another Traefik
                    leaving.callback(plane.api.delete, plane.api.path_of(one))
            environment = {**os.environ, **components.ENVIRONMENT, "KUBECONFIG": str(user.kubeconfig)}
            command = [str(program), *_flags(port, own_port, throttle, gateways)]
            process = processes.start(command, log, environment=environment)
            leaving.callback(processes.stop, [process])

            def serves() -> bool:
                return answers_ok(http.client.HTTPConnection("127.0.0.1", own_port, timeout=2), "/ping")

            processes.wait_until_healthy(process, "traefik", serves, log)
            return cls(port, log, leaving.pop_all())

    def stop(self, *, keep_files: bool = False) -> None:
        self._leaving.close()

    def ask(
        self, host: str, path: str = "/", *, method: str = "GET", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request for a host, through Traefik."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers={"Host": host, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read().decode(errors="replace"))
        finally:
            connection.close()

    def wait_for(self, host: str, fits: Callable[[Reply], bool], path: str = "/", *, timeout: float = 20.0) -> Reply:
        """Ask until the reply fits: routes take effect a moment after they were written."""

        def look() -> Reply | None:
            reply = self.ask(host, path)
            return reply if fits(reply) else None

        return until(look, f"another reply of {host}{path} through Traefik; its log: {self.log}", timeout=timeout)

    def gateway(self, namespace: str, name: str = "gateway") -> dict[str, Any]:
        """A Gateway for HTTPRoutes of the same namespace, to be created by a test."""
        listener = {"name": ENTRY_POINT, "protocol": "HTTP", "port": self.port}
        return {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"gatewayClassName": CLASS, "listeners": [listener]},
        }


def _flags(port: int, own_port: int, throttle: str, gateways: bool) -> list[str]:
    return [
        "--global.checkNewVersion=false",
        "--global.sendAnonymousUsage=false",
        f"--entryPoints.{ENTRY_POINT}.address=127.0.0.1:{port}",
        f"--entryPoints.traefik.address=127.0.0.1:{own_port}",
        "--ping=true",
        "--providers.kubernetesIngress=true",
        "--providers.kubernetesCRD=true",
        f"--providers.kubernetesGateway={str(gateways).lower()}",
        f"--providers.providersThrottleDuration={throttle}",
        "--log.level=INFO",
    ]
