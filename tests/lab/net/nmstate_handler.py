# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real handler of kubernetes-nmstate, on a node of the lab's network, at work for the lab's control plane.

The node cannot reach this machine. A socket in the node's own files, which both sides see, leads from one to the other.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from lab import tools
from lab.net.node import NetNode
from lab.plane import relay
from lab.plane.controlplane import ControlPlane

SOCKET = "/run/api.sock"
KUBECONFIG = "/etc/handler.kubeconfig"
PROGRAM, RELAY = "/usr/local/bin/nmstate-handler", "/usr/local/bin/relay.py"
LOCK = "/var/k8s_nmstate/handler_lock"


@contextlib.contextmanager
def running(plane: ControlPlane, node: NetNode) -> Iterator[None]:
    """As long as the block runs. It asks for a name that the lab's resolvers know, not for one of the internet's."""
    port = urlsplit(plane.url).port or 443
    program = tools.ensure(["nmstate-handler"])["nmstate-handler"]
    shutil.copy(program, node.path(PROGRAM))
    shutil.copy(relay.__file__, node.path(RELAY))
    node.path(KUBECONFIG).write_text(Path(plane.admin.kubeconfig).read_text())
    node.path(LOCK).parent.mkdir(exist_ok=True)
    settings = {
        "KUBECONFIG": KUBECONFIG,
        "NODE_NAME": node.name,
        "POD_NAMESPACE": "default",
        "NMSTATE_INSTANCE_NODE_LOCK_FILE": LOCK,
        "PROBE_DNS_HOST": "api.example.com",
        "METRICS_BIND_ADDRESS": "127.0.0.1:8089",
    }
    with _served(node.path(SOCKET), port):
        node.start("relay", [sys.executable, RELAY, str(port), SOCKET], lambda: node.listens("tcp", port, "127.0.0.1"))
        command = ["env", *(f"{key}={value}" for key, value in settings.items()), PROGRAM]
        node.start("nmstate-handler", command, lambda: node.path("/tmp/healthy").exists())
        try:
            yield
        finally:
            node.kill("nmstate-handler")
            node.kill("relay")


@contextlib.contextmanager
def _served(place: Path, port: int) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()
        accepting = threading.Thread(
            target=relay.serve, args=(server, lambda: socket.create_connection(("127.0.0.1", port))), daemon=True
        )
        accepting.start()
        yield
