# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway of the lab's network: a router with two resolvers, DHCP and a small "API server", each with a switch."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.net import addresses, server
from lab.net.addresses import (
    API_PORT,
    API_SERVER,
    CONTROLLER_LAN,
    DHCP,
    DHCP_RANGE,
    DOMAIN,
    LANS,
    MANAGEMENT,
    RESOLVERS,
    Interface,
    Lan,
)
from lab.net.machine import Machine, run_out_here
from lab.sandbox import Sandbox, SandboxSpec

SANDBOX = SandboxSpec(
    network=True,
    hostname="gateway",
    settings={"net/ipv4/ip_forward": 1, "net/ipv6/conf/all/forwarding": 1, "net/ipv6/conf/default/accept_dad": 0},
)
EVERY_LAN = (CONTROLLER_LAN, *LANS.values())
NO_ECHO = """\
add table inet lab_echo
add chain inet lab_echo {hook} {{ type filter hook {hook} priority 0; }}
add rule inet lab_echo {hook} icmp type echo-request drop
add rule inet lab_echo {hook} icmpv6 type echo-request drop
"""
# Adding first makes it no error when there is nothing to delete.
ECHO_AGAIN = "add table inet lab_echo\ndelete table inet lab_echo\n"
QUIET_DNSMASQ = ["--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--user=root", "--pid-file"]


class Gateway(Machine):
    """Made by `Net`. `restore` switches everything on, at first and again."""

    def __init__(self, directory: Path, nodes: int) -> None:
        super().__init__("gateway", directory, SANDBOX)
        self._names = addresses.names(nodes)
        self._batch(
            line
            for lan in EVERY_LAN
            for line in (
                f"link add {lan.bridge} type bridge forward_delay 0 mcast_snooping 0",
                f"link set {lan.bridge} up",
            )
        )

    def restore(self) -> None:
        """Everything as at the start: addresses, links, services."""
        self._batch(f"address replace {address} dev {lan.bridge} nodad" for lan, address in _addresses())
        self._batch(f"link set {port['ifname']} up" for port in self.ports())
        self.drop_icmp(False)
        self.start_dns()
        self.start_dhcp()
        self.start_http()

    # -- switches ----------------------------------------------------------------------------------------------------

    def drop_icmp(self, drop: bool) -> None:
        """Swallow echo requests, to the gateway and through it. Neighbour discovery goes on, as with a firewall."""
        rules = "".join(NO_ECHO.format(hook=hook) for hook in ("input", "forward")) if drop else ""
        self.run(["nft", "-f", "-"], stdin=ECHO_AGAIN + rules, check=True)

    def stop_dns(self, *resolvers: int) -> None:
        """Stop resolver 0, 1 or, when none is named, both."""
        for number in resolvers or range(len(RESOLVERS)):
            self.kill(f"dns{number}")

    def start_dns(self, *resolvers: int) -> None:
        for number in resolvers or range(len(RESOLVERS)):
            own = RESOLVERS[number]
            command = [
                "dnsmasq",
                *QUIET_DNSMASQ,
                "--no-resolv",
                "--no-hosts",
                "--bind-interfaces",
                f"--local=/{DOMAIN}/",
            ]
            command += [f"--listen-address={address.ip}" for address in own]
            # Says who answered, so that a test can tell the two apart.
            command += [_record(f"resolver.{DOMAIN}", own)]
            command += [_record(name, addresses) for name, addresses in self._names.items()]
            listens = functools.partial(self.listens, "udp", 53, str(own[0].ip))
            self.start(f"dns{number}", command, listens)

    def stop_dhcp(self) -> None:
        self.kill("dhcp")

    def start_dhcp(self) -> None:
        """Hand out addresses on lan2, of both families, and advertise the gateway as its router."""
        (first4, first6), (last4, last6) = DHCP_RANGE
        command = ["dnsmasq", *QUIET_DNSMASQ, "--port=0", f"--interface={DHCP.bridge}", "--bind-interfaces"]
        command += [f"--dhcp-range={first4.ip},{last4.ip},5m", f"--dhcp-range={first6.ip},{last6.ip},slaac,64,5m"]
        command += ["--enable-ra", "--no-ping", f"--dhcp-leasefile={self._leases}", f"--domain={DOMAIN}"]
        command += [f"--dhcp-option=option:dns-server,{RESOLVERS[0][0].ip}"]
        command += [f"--dhcp-option=option6:dns-server,[{RESOLVERS[0][1].ip}]"]
        self.start("dhcp", command, lambda: self.listens("udp", 67))

    def leases(self) -> dict[str, str]:
        """Which hardware address was given which IPv4 address."""
        lines = self._leases.read_text().splitlines() if self._leases.exists() else []
        return {words[1]: words[2] for words in map(str.split, lines) if len(words) > 2 and ":" in words[1]}

    def forget_leases(self) -> None:
        self.stop_dhcp()
        self._leases.unlink(missing_ok=True)
        self.start_dhcp()

    def stop_http(self) -> None:
        """Stop the "API server"."""
        self.kill("http")

    def start_http(self) -> None:
        script = Path(server.__file__).resolve()
        command = [sys.executable, "-I", "-S", str(script), str(API_SERVER.ip), str(API_PORT)]
        self.start("http", command, lambda: self.listens("tcp", API_PORT, str(API_SERVER.ip)))

    def link_down(self, node: int, interface: str = "eth1") -> None:
        """Pull the cable of a node: it sees the carrier go."""
        self._batch([f"link set {_port(node, interface)} down"])

    def link_up(self, node: int, interface: str = "eth1") -> None:
        self._batch([f"link set {_port(node, interface)} up"])

    # -- cables ------------------------------------------------------------------------------------------------------

    def ports(self) -> list[dict[str, Any]]:
        return [link for link in self.ip("link", "show") if link.get("linkinfo", {}).get("info_slave_kind") == "bridge"]

    def plug_in_node(self, number: int, sandbox: Sandbox) -> None:
        for interface, lan in LANS.items():
            mac = addresses.mac(number, interface)
            self._plug_in(_port(number, interface), lan, f"{interface} address {mac} netns {sandbox.first}")

    def plug_in_controller(self, sandbox: Sandbox, interface: str) -> None:
        self._plug_in("controller", CONTROLLER_LAN, f"{interface} netns {sandbox.first}")

    def _plug_in(self, port: str, lan: Lan, peer: str) -> None:
        # The kernel takes a network away some time after its last process: the old cable may still be there.
        if any(link["ifname"] == port for link in self.ports()):
            self._batch([f"link delete {port}"])
        self._batch([f"link add {port} type veth peer name {peer}", f"link set {port} master {lan.bridge} up"])

    def _batch(self, lines: Iterable[str]) -> None:
        """Run `ip` commands in our network. They name processes as they are called out here."""
        text = "".join(f"{line}\n" for line in lines)
        run_out_here(self.sandbox.in_network(["ip", "-batch", "-"]), text)

    @property
    def _leases(self) -> Path:
        return self.directory / "leases"


def _addresses() -> list[tuple[Lan, Interface]]:
    routers = [(lan, address) for lan in EVERY_LAN for address in (lan.v4, lan.v6)]
    resolvers = [(MANAGEMENT, address) for own in RESOLVERS for address in own]
    return [*routers, *resolvers, (CONTROLLER_LAN, API_SERVER)]


def _record(name: str, addresses: Iterable[Interface]) -> str:
    return f"--host-record={name},{','.join(str(address.ip) for address in addresses)}"


def _port(node: int, interface: str) -> str:
    return f"node{node}-{interface}"
