# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has which address in the lab's network. Documentation addresses only; nothing of it leaves the namespaces.

    controller ── lan0 ──┐
                         ├─ gateway (router, two resolvers, DHCP, the "API server")
    node N: eth1 ─ lan1 ─┤
            eth2 ─ lan2 ─┤   DHCP and router advertisements
            eth3 ─ lan3 ─┘

The controller reaches a node through the gateway, so a node that loses its default route loses its SSH connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface

Interface = IPv4Interface | IPv6Interface


@dataclass(frozen=True)
class Lan:
    """A network behind the gateway: its bridge there, and the gateway's addresses in it."""

    bridge: str
    v4: IPv4Interface
    v6: IPv6Interface

    def host(self, number: int) -> tuple[IPv4Interface, IPv6Interface]:
        """The addresses of one host, counted from the start of the network."""
        return (
            IPv4Interface((self.v4.network.network_address + number, self.v4.network.prefixlen)),
            IPv6Interface((self.v6.network.network_address + int(str(number), 16), self.v6.network.prefixlen)),
        )


def _lan(number: int, v4: str) -> Lan:
    return Lan(f"lan{number}", IPv4Interface(v4), IPv6Interface(f"2001:db8:{number}::1/64"))


CONTROLLER_LAN = _lan(0, "203.0.113.129/25")
LANS = {  # by the interface of a node that is plugged into it
    "eth1": _lan(1, "198.51.100.1/25"),
    "eth2": _lan(2, "203.0.113.1/25"),
    "eth3": _lan(3, "198.51.100.129/25"),
}
MANAGEMENT = LANS["eth1"]
DHCP = LANS["eth2"]

CONTROLLER = CONTROLLER_LAN.host(2)
API_SERVER = CONTROLLER_LAN.host(3)[0]  # behind the default route, as seen from a node
API_PORT = 6443
RESOLVERS = (MANAGEMENT.host(2), MANAGEMENT.host(3))
FIRST_NODE, MOST_NODES = 10, 20
DHCP_RANGE = (DHCP.host(50), DHCP.host(99))
DOMAIN = "example.com"


def node(number: int) -> tuple[IPv4Interface, IPv6Interface]:
    """The management addresses of a node."""
    return MANAGEMENT.host(FIRST_NODE + number)


def mac(number: int, interface: str) -> str:
    """Always the same, so that a node gets its lease again after a reboot."""
    return f"02:00:00:00:{number:02x}:{int(interface[-1]):02x}"


def names(nodes: int) -> dict[str, Sequence[Interface]]:
    """What both resolvers know."""
    hosts = {f"node{number}": node(number) for number in range(nodes)}
    known: dict[str, Sequence[Interface]] = {"controller": CONTROLLER, "api": (API_SERVER,), **hosts}
    return {f"{name}.{DOMAIN}": addresses for name, addresses in known.items()}
