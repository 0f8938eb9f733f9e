# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine Ansible runs on, as far as the lab's network is concerned: this machine's files, another network."""

from __future__ import annotations

from pathlib import Path

from lab.net.addresses import CONTROLLER, CONTROLLER_LAN, RESOLVERS
from lab.net.gateway import Gateway
from lab.net.machine import Machine, run_out_here
from lab.sandbox import SandboxSpec

# Everything is seen as it is; what SSH leaves in /run and what is set in /etc goes with the sandbox.
SANDBOX = SandboxSpec(
    overlays=("/etc", "/run"),
    hidden=("/etc/resolv.conf",),
    network=True,
    hostname="controller",
    settings={"net/ipv6/conf/default/accept_dad": 0},
)
INTERFACE = "eth0"


class Controller(Machine):
    """Made by `Net`. Commands find the environment of whoever runs them."""

    def __init__(self, directory: Path, gateway: Gateway) -> None:
        self.address, self.address6 = (str(interface.ip) for interface in CONTROLLER)
        self.gateway = gateway
        super().__init__("controller", directory, SANDBOX)
        self._connect()

    def restart(self) -> None:
        """End everything that runs here, such as SSH connections kept for later, and connect again."""
        self.switch_off()
        self.switch_on()
        self._connect()

    def _connect(self) -> None:
        self.gateway.plug_in_controller(self.sandbox, INTERFACE)
        routers = (CONTROLLER_LAN.v4, CONTROLLER_LAN.v6)
        lines = [
            f"link set {INTERFACE} up",
            *(f"address add {address} dev {INTERFACE}" for address in CONTROLLER),
            *(f"route add default via {router.ip}" for router in routers),
        ]
        run_out_here(self.sandbox.in_network(["ip", "-batch", "-"]), "".join(f"{line}\n" for line in lines))
        self.path("/etc/resolv.conf").write_text("".join(f"nameserver {own[0].ip}\n" for own in RESOLVERS))
