# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""pytest fixtures: a control plane for the run; a namespace, users, faults and an audit trail for each test.

A plugin: `pytest_plugins = ["lab.fixtures"]` in a conftest.py, or `pytest -p lab.fixtures`.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import pytest

from lab.faults import FaultProxy
from lab.net.network import Net
from lab.node import images, routes
from lab.node.node import Node
from lab.node.traefik import Traefik
from lab.operator.pod import Operator
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.plane.grants import Grant, grant, revoke
from lab.plane.namespaces import delete_namespace
from lab.plane.users import User

# Fixture → marker of the tests that use it, directly or not. The first one counts: in tests of the network, `node` is a
# server of theirs.
MARKERS = {"running_net": "net", "node": "node"}


class AsUser(Protocol):
    def __call__(
        self,
        name: str,
        rules: Iterable[Mapping[str, Any]] = (),
        namespace: str | None = None,
        groups: Iterable[str] = (),
    ) -> User: ...


def pytest_configure() -> None:
    """Let SIGTERM end a run as Ctrl-C does, so that fixtures are torn down and no directory stays behind.

    Ctrl-C, too: a run that a shell has started in the background ignores it, and so would its subprocesses.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that asks for what not every machine has, so that it can be chosen (`-m node`) or left out."""
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        marker = next((marker for fixture, marker in MARKERS.items() if fixture in asked), None)
        if marker is not None:
            item.add_marker(marker)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One control plane for the whole run. SUNSET_KUBE_KEEP=1 keeps its logs and audit log afterwards."""
    running = ControlPlane.start(tmp_path_factory.mktemp("plane"))
    try:
        yield running
    finally:
        running.stop(keep_files=_keep())


@pytest.fixture
def namespace(plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own. It is deleted afterwards, without waiting for it to be gone."""
    name = f"test-{secrets.token_hex(5)}"
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    delete_namespace(plane, name)


@pytest.fixture
def as_user(plane: ControlPlane) -> Iterator[AsUser]:
    """Makes users that may do what the given RBAC rules say, in one namespace or in the whole cluster."""
    grants: list[Grant] = []

    def make(
        name: str,
        rules: Iterable[Mapping[str, Any]] = (),
        namespace: str | None = None,
        groups: Iterable[str] = (),
    ) -> User:
        user = plane.user(name, groups)
        grants.append(grant(plane.api, user, rules, namespace))
        return user

    yield make
    for given in grants:
        revoke(plane.api, given)


@pytest.fixture
def faults(plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy in front of the API server that does no harm until the test adds a rule."""
    with FaultProxy(plane) as proxy:
        yield proxy


@pytest.fixture
def audit(plane: ControlPlane) -> AuditTrail:
    """What the API server was asked since the test began."""
    return AuditTrail(plane.audit)


@pytest.fixture(scope="session")
def node(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node for the run's control plane, with the lab's nginx and app images, for the pods of `node_namespace`."""
    running = Node.start(plane, tmp_path_factory.mktemp("node"))
    try:
        for archive in (images.nginx(), images.app()):
            running.load_image(archive)
        yield running
    finally:
        running.stop(keep_files=_keep())


@pytest.fixture
def node_namespace(node: Node, namespace: str) -> str:
    """The test's namespace, its pods let in on the node."""
    node.admit(namespace)
    return namespace


@pytest.fixture(scope="module")
def operator(plane: ControlPlane, node: Node) -> Iterator[Operator]:
    """The operator in a pod, with every right, for the tests of one file. Foreign kinds are not watched."""
    with Operator.start(plane, node) as running:
        yield running


@pytest.fixture(scope="session")
def route_kinds(plane: ControlPlane) -> None:
    """The kinds of Traefik and of Gateway API, without anybody who serves them."""
    routes.install(plane)


@pytest.fixture(scope="session")
def traefik(
    plane: ControlPlane, node: Node, route_kinds: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Traefik]:
    """Traefik for all namespaces of the run's control plane, with a node behind it."""
    with Traefik.start(plane, tmp_path_factory.mktemp("traefik")) as running:
        yield running


@pytest.fixture(scope="session")
def running_net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    """The network of the run. Tests ask for `net`."""
    running = Net.start(tmp_path_factory.mktemp("net"))
    try:
        yield running
    finally:
        running.stop(keep_files=_keep())


@pytest.fixture
def net(running_net: Net) -> Net:
    """A network of one node, a gateway and a controller, each as new. `net.reset(...)` makes it another kind."""
    running_net.reset_if_used()
    return running_net


def _keep() -> bool:
    return os.environ.get("SUNSET_KUBE_KEEP") == "1"
