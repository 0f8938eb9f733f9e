# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes control plane on loopback: etcd, kube-apiserver and kube-controller-manager, all in one directory.

There is no node, so pods stay Pending (`lab.node` brings one); namespaces, garbage collection, RBAC, admission and
audit are the real thing.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab import processes, tools
from lab.node.place import NUMBERS, Place
from lab.plane import components
from lab.plane.api import Api
from lab.plane.audit import POLICY, AuditLog
from lab.plane.certificates import Authority, service_account_key
from lab.plane.components import APISERVER, CONTROLLER_MANAGER, ETCD, Layout, Ports
from lab.plane.ports import free_port
from lab.plane.users import Access, User, write_kubeconfig
from lab.problems import LabError
from lab.processes import Process
from lab.stopping import Stoppable
from lab.waiting import until

RECORD = "plane.json"  # what runs here; its presence marks a directory as a control plane's
MASTERS = "system:masters"


@dataclass(frozen=True)
class Component:
    """One part of the plane: its command line and how to ask whether it is well."""

    command: tuple[str, ...]
    probe: Callable[[], bool]


class ControlPlane(Stoppable):
    """A control plane, running until `stop`. Made by `start`, or by `attach` for one that another process started."""

    def __init__(
        self,
        layout: Layout,
        commands: Mapping[str, Sequence[str]],
        *,
        environment: Mapping[str, str] = components.ENVIRONMENT,
        detached: bool = False,
    ) -> None:
        self.layout = layout
        self.directory = layout.directory
        self.url = layout.url
        self.ca_file = layout.pki / "ca.crt"
        self._environment = environment
        self._detached = detached
        self._authority = Authority(layout.pki, "ca")
        self._running: dict[str, Process] = {}
        self._components = {name: Component(tuple(commands[name]), self._probe(name)) for name in commands}
        self.admin = self._user("lab-admin", (MASTERS,), layout.admin_kubeconfig)
        self.audit = AuditLog(layout.audit_log, lambda path: _discard(self.api.get(path)))
        self.api = Api(self.admin)

    @classmethod
    def start(
        cls,
        directory: str | os.PathLike[str],
        *,
        apiserver_flags: Sequence[str] = (),
        controller_manager: bool = True,
        controller_manager_flags: Sequence[str] = (),
        environment: Mapping[str, str] = components.ENVIRONMENT,
        detached: bool = False,
    ) -> ControlPlane:
        """Start a control plane in a directory that is empty or not there yet, and wait until it is ready.

        Its processes end with this process, whatever happens to it, unless they are `detached`.
        """
        names = [ETCD, APISERVER] + [CONTROLLER_MANAGER] * controller_manager
        programs = tools.ensure(names)
        layout = _prepared(Path(directory).absolute())
        flags = {
            ETCD: components.etcd_flags(layout),
            APISERVER: components.apiserver_flags(layout, apiserver_flags),
            CONTROLLER_MANAGER: components.controller_manager_flags(layout, controller_manager_flags),
        }
        commands = {name: [str(programs[name]), *flags[name]] for name in names}
        plane = cls(layout, commands, environment=environment, detached=detached)
        plane._write_record()  # from here on `attach` can find and stop it, should we be killed while starting
        try:
            for name in names:
                plane.begin(name)
            if controller_manager:
                plane._wait_for_controllers()
        except BaseException:
            plane.stop(keep_files=True)  # the logs say why
            raise
        return plane

    @classmethod
    def attach(cls, directory: str | os.PathLike[str]) -> ControlPlane:
        """The control plane that another process started in this directory, running or not."""
        file = Path(directory).absolute() / RECORD
        try:
            record: dict[str, Any] = json.loads(file.read_text())
        except FileNotFoundError as problem:
            raise LabError(f"there is no control plane in {directory}. Start one with: python -m lab up") from problem
        layout = Layout(file.parent, Ports(**record["ports"]))
        plane = cls(layout, record["commands"], detached=True)
        plane._running = {name: Process(**known) for name, known in record["processes"].items()}
        return plane

    def stop(self, *, keep_files: bool = False) -> None:
        """End every component and remove the directory. Stopping twice is fine."""
        self.api.close()
        # One after the other: an API server that loses its etcd while it shuts down waits for it in vain.
        for name in (CONTROLLER_MANAGER, APISERVER, ETCD):
            if name in self._running:
                processes.stop([self._running.pop(name)])
        if self.directory.exists():
            self._write_record()
            if not keep_files:
                shutil.rmtree(self.directory)

    # -- users -------------------------------------------------------------------------------------------------------

    def user(self, name: str, groups: Iterable[str] = ()) -> User:
        """A user with a client certificate. It may do nothing until somebody grants it something."""
        groups = tuple(groups)
        pair = self._authority.client(name, groups)
        return self._user(name, groups, pair.cert_file.with_suffix(".kubeconfig"))

    def service_account_token(self, namespace: str, name: str, *, seconds: int = 3600) -> str:
        """A fresh token of a service account that exists."""
        spec = {"expirationSeconds": seconds}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        status, answer = self.api.post(path, body)
        if status != 201:
            raise LabError(f"no token for service account {namespace}/{name}: {status} {answer.get('message')}")
        token: str = answer["status"]["token"]
        return token

    def token_kubeconfig(self, file: Path, token: str) -> Path:
        """A kubeconfig that authenticates with a token instead of a certificate."""
        return write_kubeconfig(file, "token", Access(self.url, self.ca_file.read_text(), token=token))

    # -- components: they can be killed, begun again, suspended and resumed ------------------------------------------

    @property
    def pids(self) -> dict[str, int]:
        """The components that run now."""
        return {name: process.pid for name, process in self._running.items() if process.alive()}

    @property
    def component_names(self) -> tuple[str, ...]:
        """The components this plane is made of, running or not."""
        return tuple(self._components)

    def begin(self, name: str) -> None:
        """Start a component that does not run, on its old port, and wait until it is healthy."""
        component = self._component(name)
        if name in self.pids:
            raise LabError(f"{name} runs already as process {self.pids[name]}")
        log = self.layout.log(name)
        environment = {**os.environ, **self._environment}
        self._running[name] = process = processes.start(
            component.command, log, detached=self._detached, environment=environment
        )
        self._write_record()
        processes.wait_until_healthy(process, name, component.probe, log)

    def kill(self, name: str) -> None:
        """End a component at once, as a crash would. What it had not written is lost."""
        self._component(name)
        if name in self._running:
            processes.stop([self._running.pop(name)], patience=0)
            self._write_record()

    def restart(self, name: str) -> None:
        """Kill a component and begin it again: same port, same data."""
        self.kill(name)
        self.begin(name)

    def suspend(self, name: str) -> None:
        """Freeze a component: connections stay open, nothing is answered."""
        self._signal(name, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        self._signal(name, signal.SIGCONT)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _component(self, name: str) -> Component:
        if name not in self._components:
            raise LabError(f"this control plane has no {name!r}; it has {', '.join(self._components)}")
        return self._components[name]

    def _signal(self, name: str, number: signal.Signals) -> None:
        self._component(name)
        if name not in self.pids:
            raise LabError(f"{name} does not run; start it with begin({name!r})")
        self._running[name].signal(number)

    def _user(self, name: str, groups: tuple[str, ...], kubeconfig: Path) -> User:
        pair = self._authority.client(name, groups)
        access = Access(self.url, self.ca_file.read_text(), pair.cert_file.read_text(), pair.key_file.read_text())
        return User(name, groups, pair.cert_file, pair.key_file, write_kubeconfig(kubeconfig, name, access))

    def _probe(self, name: str) -> Callable[[], bool]:
        ports = self.layout.ports
        trust = ssl.create_default_context(cafile=str(self.ca_file))
        return {
            ETCD: lambda: answers_ok(http.client.HTTPConnection("127.0.0.1", ports.etcd, timeout=2), "/health"),
            # As administrator: what anonymous users may see depends on the flags a test gives.
            APISERVER: lambda: _status_of(self.api, "/readyz") == 200,
            CONTROLLER_MANAGER: lambda: answers_ok(
                http.client.HTTPSConnection("127.0.0.1", ports.controller_manager, timeout=2, context=trust), "/healthz"
            ),
        }[name]

    def _wait_for_controllers(self) -> None:
        """Healthy is not yet at work: wait for the first thing every test relies on, the default service account."""
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        until(lambda: self.api.get(path)[0] == 200, "the default service account")

    def _write_record(self) -> None:
        """Write down what runs, whole or not at all: `attach` may read it any time."""
        record = {
            "ports": asdict(self.layout.ports),
            "commands": {name: component.command for name, component in self._components.items()},
            "processes": {name: {"pid": p.pid, "started": p.started} for name, p in self._running.items()},
        }
        scratch = self.directory / f"{RECORD}.new"
        scratch.write_text(json.dumps(record, indent=2) + "\n")
        scratch.rename(self.directory / RECORD)


def _prepared(directory: Path) -> Layout:
    """Make the directory with everything that is there before the first process."""
    if directory.exists() and any(directory.iterdir()):
        raise LabError(f"{directory} is not empty. Choose another directory, or remove it if it is an old lab")
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o700)  # it holds the administrator's key
    layout = Layout(directory, Ports(*_distinct_ports(4)))
    for folder in (layout.pki, layout.audit_log.parent, layout.log(ETCD).parent):
        folder.mkdir()
    layout.audit_policy.write_text(json.dumps(POLICY, indent=2) + "\n")
    _write_certificates(layout)
    return layout


def _write_certificates(layout: Layout) -> None:
    authority = Authority(layout.pki, "ca")
    hosts = ("127.0.0.1", "localhost", components.SERVICE_ADDRESS, "kubernetes", "kubernetes.default.svc")
    # Pods may reach it at their node's address, through a relay.
    authority.server("apiserver", (*hosts, *(place.address for place in map(Place, NUMBERS))))
    authority.server("controller-manager")
    service_account_key(layout.pki)
    clients = {
        "front-proxy-client": Authority(layout.pki, "front-proxy-ca").client("front-proxy-client"),
        "kubelet-client": authority.client("kube-apiserver-kubelet-client", [MASTERS]),
    }
    for name, pair in clients.items():
        pair.cert_file.rename(layout.pki / f"{name}.crt")
        pair.key_file.rename(layout.pki / f"{name}.key")
    manager = authority.client("system:kube-controller-manager")
    access = Access(
        layout.url, authority.files.cert_file.read_text(), manager.cert_file.read_text(), manager.key_file.read_text()
    )
    write_kubeconfig(layout.controller_manager_kubeconfig, "system:kube-controller-manager", access)


def _distinct_ports(count: int) -> list[int]:
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)


def _status_of(api: Api, path: str) -> int | None:
    try:
        return api.get(path)[0]
    except (OSError, http.client.HTTPException):
        return None


def answers_ok(connection: http.client.HTTPConnection, path: str) -> bool:
    """Whether a GET is answered with 200. The connection is closed either way."""
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _discard(answer: object) -> None:
    """The answer does not matter, only that the server has logged the request."""
