# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network for tests: nodes, a gateway between them and a controller that runs Ansible, all of it in namespaces.

Nothing of it can be reached from this machine's network, and nothing leads out. It needs root and Debian's
network-manager, openssh-server, dnsmasq-base, dbus, cron and nftables. It ends with the process that started it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab import tools
from lab.net.addresses import MOST_NODES
from lab.net.controller import Controller
from lab.net.files import Supplies
from lab.net.gateway import Gateway
from lab.net.machine import run_out_here
from lab.net.node import NetNode
from lab.problems import LabError
from lab.stopping import Stoppable

PACKAGES = {  # of Debian, with the programs we need of them
    "cron": ("cron",),
    "dbus": ("dbus-daemon",),
    "dnsmasq-base": ("dnsmasq",),
    "iproute2": ("ip",),
    "network-manager": ("NetworkManager", "nm-online"),
    "nftables": ("nft",),
    "openssh-client": ("ssh", "ssh-keygen"),
    "openssh-server": ("/usr/sbin/sshd",),
    "util-linux": ("nsenter", "unshare"),
}


class Net(Stoppable):
    """A running network. Made by `start`."""

    def __init__(self, directory: Path, gateway: Gateway, controller: Controller, nodes: list[NetNode]) -> None:
        self.directory = directory
        self.gateway = gateway
        self.controller = controller
        self.nodes = nodes
        self._used = False
        self._leaving = contextlib.ExitStack()

    @classmethod
    def start(cls, directory: str | os.PathLike[str], *, nodes: int = 1, network_manager: bool = True) -> Net:
        """Start a network in a directory that is empty or not there yet. Every node can be reached on return."""
        _refuse_without_means()
        if not 1 <= nodes <= MOST_NODES:
            raise LabError(f"a network of {nodes} nodes cannot be had: 1 to {MOST_NODES}")
        folder = _prepared(Path(directory).absolute())
        with contextlib.ExitStack() as leaving:
            supplies = _supplies(folder, nodes)
            gateway = Gateway(folder / "gateway", nodes)
            leaving.callback(gateway.switch_off)
            gateway.restore()
            controller = Controller(folder / "controller", gateway)
            leaving.callback(controller.switch_off)
            machines: list[NetNode] = []
            for number in range(nodes):
                machines.append(NetNode(number, folder / f"node{number}", gateway, supplies))
                leaving.callback(machines[-1].switch_off)
            net = cls(folder, gateway, controller, machines)
            net._on_all(lambda node: node.install(network_manager=network_manager))
            net._leaving = leaving.pop_all()  # until here a failure ends all of it; the logs stay, they say why
            return net

    def stop(self, *, keep_files: bool = False) -> None:
        """End everything. Stopping twice is fine."""
        self._leaving.close()
        if not keep_files:
            shutil.rmtree(self.directory, ignore_errors=True)

    def node(self, number: int) -> NetNode:
        return self.nodes[number]

    def reset(self, *, network_manager: bool = True) -> None:
        """Everything as at the start: new nodes, all switches of the gateway on, no lease, no SSH connection."""
        self.gateway.restore()
        self.gateway.forget_leases()
        self.controller.restart()
        self._on_all(lambda node: node.reinstall(network_manager=network_manager))

    def reset_if_used(self) -> None:
        """Reset, but not for the first one who asks: for that one it is new."""
        if self._used:
            self.reset()
        self._used = True

    def inventory(self) -> dict[str, Any]:
        """Ansible's inventory of all nodes; written to a file as JSON, it is one Ansible can read."""
        return {"all": {"hosts": {node.name: node.ssh for node in self.nodes}}}

    def _on_all(self, do: Callable[[NetNode], None]) -> None:
        with ThreadPoolExecutor(len(self.nodes), thread_name_prefix="lab-net") as pool:
            list(pool.map(do, self.nodes))


def _supplies(folder: Path, nodes: int) -> Supplies:
    nmstatectl = tools.ensure(["nmstatectl"])["nmstatectl"]
    ready = Supplies(folder / "host_key", folder / "client_key", folder / "known_hosts", nmstatectl)
    for file in (ready.host_key, ready.client_key):
        run_out_here(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(file)])
    public = ready.host_key.with_suffix(".pub").read_text()
    ready.known_hosts.write_text("".join(f"node{number} {public}" for number in range(nodes)))
    return ready


def _refuse_without_means() -> None:
    if os.geteuid() != 0:
        raise LabError("the lab's network needs root: it makes namespaces and mounts. Run the tests as root")
    missing = [package for package, programs in PACKAGES.items() if not all(map(shutil.which, programs))]
    if missing:
        raise LabError(f"the lab's network needs more programs. On Debian: apt-get install {' '.join(missing)}")


def _prepared(directory: Path) -> Path:
    if directory.exists() and any(directory.iterdir()):
        raise LabError(f"{directory} is not empty. Choose another directory, or remove it if it is an old network")
    directory.mkdir(parents=True, exist_ok=True)
    return directory
