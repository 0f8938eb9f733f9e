# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies as people write them, for a node of the lab, with what each of them must lead to on the wire."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]


def ipv4(*addresses: str, **more: Any) -> State:
    return {"enabled": True, "dhcp": False, "address": [_entry(one) for one in addresses], **more}


def ipv6(*addresses: str, **more: Any) -> State:
    return {"enabled": True, "dhcp": False, "autoconf": False, "address": [_entry(one) for one in addresses], **more}


def _entry(address: str) -> State:
    ip, length = address.split("/")
    return {"ip": ip, "prefix-length": int(length)}


OFF = {"enabled": False}


def up(name: str, kind: str = "ethernet", **more: Any) -> State:
    return {"name": name, "type": kind, "state": "up", **more}


def route(destination: str, via: str, interface: str, **more: Any) -> State:
    return {"destination": destination, "next-hop-address": via, "next-hop-interface": interface, **more}


def absent(name: str, kind: str) -> State:
    return {"name": name, "type": kind, "state": "absent"}


def bridge(*ports: str | State, **options: Any) -> State:
    return {"options": options, "port": [{"name": port} if isinstance(port, str) else port for port in ports]}


SPARE, SPARE6 = "203.0.113.40/25", "2001:db8:2::40/64"
OWN, OWN6 = "198.51.100.10/25", "2001:db8:1::10/64"
GATEWAY, GATEWAY6 = "198.51.100.1", "2001:db8:1::1"
NO_STP = {"enabled": False}
ETH2 = [up("eth2", ipv4=ipv4(SPARE), ipv6=ipv6(SPARE6))]
STATIC: State = {"interfaces": ETH2}
BY_DHCP: State = {
    "interfaces": [
        up("eth2", ipv4={"enabled": True, "dhcp": True}, ipv6={"enabled": True, "dhcp": True, "autoconf": True})
    ]
}
BRIDGED: State = {"interfaces": [up("br0", "linux-bridge", bridge=bridge("eth2", stp=NO_STP), ipv4=ipv4(SPARE))]}
VXLAN: State = {"id": 42, "base-iface": "eth2", "remote": "203.0.113.1", "destination-port": 4789}
BY_TABLE: State = {
    "interfaces": ETH2,
    "routes": {
        "config": [
            route("192.0.2.128/25", "203.0.113.1", "eth2", metric=150, **{"table-id": 200}),
            route("192.0.2.0/25", "203.0.113.1", "eth2"),
        ]
    },
    "route-rules": {"config": [{"ip-from": "203.0.113.0/25", "route-table": 200, "priority": 1000}]},
}
# name → (what is there before besides the node's own network, the policy)
POLICIES: dict[str, tuple[State, State]] = {
    "addresses, an mtu and a MAC address": (
        {},
        {
            "interfaces": [
                up("eth2", mtu=1400, ipv4=ipv4(SPARE), ipv6=ipv6(SPARE6), **{"mac-address": "02:00:00:00:0A:0B"}),
                up("eth3", ipv4=ipv4("198.51.100.140/25")),  # nobody has configured it before
            ]
        },
    ),
    "other addresses, and more of them": (
        STATIC,
        {
            "interfaces": [
                up(
                    "eth2",
                    ipv4=ipv4(SPARE, "203.0.113.41/25"),
                    ipv6=ipv6("2001:db8:2::41/64", SPARE6, "2001:db8:2::42/64"),
                )
            ]
        },
    ),
    "a second address that becomes the first": (
        STATIC,
        {"interfaces": [up("eth2", ipv4=ipv4("203.0.113.41/25", SPARE))]},
    ),
    "no IPv6, and IPv6 of the link only": (
        STATIC,
        {"interfaces": [up("eth2", ipv6=OFF), up("eth3", ipv4=OFF, ipv6=ipv6())]},
    ),
    "an interface that goes down": (STATIC, {"interfaces": [{"name": "eth2", "type": "ethernet", "state": "down"}]}),
    "the management address on a bridge": (
        {},
        {
            "interfaces": [
                up("br0", "linux-bridge", ipv4=ipv4(OWN), ipv6=ipv6(OWN6), bridge=bridge("eth1", stp=NO_STP)),
            ],
            "routes": {"config": [route("0.0.0.0/0", GATEWAY, "br0"), route("::/0", GATEWAY6, "br0")]},
        },
    ),
    "a bridge with other options that loses its port": (
        BRIDGED,
        {
            "interfaces": [
                up("br0", "linux-bridge", bridge=bridge(stp={"enabled": False, "priority": 4096})),
                up("eth2", ipv4=ipv4("203.0.113.42/25")),
            ]
        },
    ),
    "a port with other settings": (
        BRIDGED,
        {
            "interfaces": [
                up(
                    "br0",
                    "linux-bridge",
                    bridge=bridge({"name": "eth2", "stp-path-cost": 17, "stp-hairpin-mode": True}),
                )
            ]
        },
    ),
    "a bridge that goes": (
        BRIDGED,
        {"interfaces": [absent("br0", "linux-bridge"), up("eth2", ipv4=ipv4("203.0.113.42/25"))]},
    ),
    "links that stand on others": (
        {},
        {
            "interfaces": [
                up("eth2", ipv4=ipv4(SPARE)),
                up("vx1", "vxlan", vxlan=VXLAN, ipv4=ipv4("192.0.2.1/26")),
                up(
                    "mv1",
                    "mac-vlan",
                    ipv4=ipv4("203.0.113.43/25"),
                    **{"mac-vlan": {"base-iface": "eth2", "mode": "bridge"}},
                ),
                up("ve0", "veth", veth={"peer": "ve1"}, ipv4=ipv4("192.0.2.65/26")),
                up("ve1", "veth", veth={"peer": "ve0"}),
                up("br1", "linux-bridge", bridge=bridge(), ipv4=ipv4("192.0.2.129/26")),
            ]
        },
    ),
    "a link that must be made anew": (
        {"interfaces": [up("vx1", "vxlan", vxlan=VXLAN, **{"mac-address": "02:00:00:00:0A:0C"})]},
        {"interfaces": [up("vx1", "vxlan", vxlan={**VXLAN, "id": 43})]},
    ),
    "routes and rules": (
        STATIC,
        {
            "routes": {
                "config": [
                    *BY_TABLE["routes"]["config"],
                    route("2001:db8:ffff::/48", "2001:db8:2::1", "eth2", metric=150),
                ]
            },
            "route-rules": {
                "config": [
                    *BY_TABLE["route-rules"]["config"],
                    {"ip-to": "2001:db8:ffff::/48", "route-table": 254, "priority": 1001},
                ]
            },
        },
    ),
    "routes and rules that go, and another gateway": (
        BY_TABLE,
        {
            "routes": {
                "config": [
                    {"state": "absent", "next-hop-interface": "eth2"},
                    {"state": "absent", "destination": "0.0.0.0/0", "next-hop-interface": "eth1"},
                    route("0.0.0.0/0", "198.51.100.2", "eth1", metric=100),
                ]
            },
            "route-rules": {"config": [{"state": "absent", "route-table": 200}]},
        },
    ),
    "other resolvers": (
        {"dns-resolver": {"config": {"server": ["198.51.100.3"], "search": ["example.com"]}}},
        {"dns-resolver": {"config": {"server": ["2001:db8:1::2", "198.51.100.3"]}}},
    ),
    "no resolver": ({}, {"dns-resolver": {"config": {}}}),
    "an address instead of a lease": (BY_DHCP, STATIC),
    "a lease instead of an address": (STATIC, BY_DHCP),
    "what is there already": (STATIC, STATIC),
}
BY_NETWORK_MANAGER = ("nmstatectl", "networkmanager")
# Not every backend can do everything, and not everything can be done in a namespace.
ONLY_BY: dict[str, tuple[str, ...]] = {
    # Without a client there is no lease.
    "an address instead of a lease": BY_NETWORK_MANAGER,
    "a lease instead of an address": BY_NETWORK_MANAGER,
    # NetworkManager writes these to /sys, which is read-only on a node of the lab.
    "a port with other settings": ("iproute2",),
    # nmstatectl 2.2 loses the second address with the first, sees it, and refuses.
    "a second address that becomes the first": ("networkmanager", "iproute2"),
}
