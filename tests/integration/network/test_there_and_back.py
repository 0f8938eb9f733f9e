# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""There and back on a real node: a policy is applied, taken back, and the node is as it was.

By nmstatectl alone, without transactions: what is proven here is the plan of a reversal, on states as they are shown.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal
from ansible_collections.sunset.kube.tests.unit.fakes import named
from lab.net.network import Net
from lab.net.node import NetNode
from lab.waiting import until

State = dict[str, Any]
LEASED4: State = {"enabled": True, "dhcp": True, "auto-dns": False}
LEASED6: State = {**LEASED4, "autoconf": True, "auto-routes": False}


def static(*addresses: str) -> State:
    found = [{"ip": ip, "prefix-length": int(length)} for ip, length in (one.split("/") for one in addresses)]
    return {"enabled": True, "dhcp": False, **({"autoconf": False} if ":" in addresses[0] else {}), "address": found}


def eth(name: str = "eth2", **more: Any) -> State:
    return {"name": name, "type": "ethernet", "state": "up", **more}


def bridge(name: str, *ports: str, **more: Any) -> State:
    block = {"options": {"stp": {"enabled": False}}, "port": [{"name": port} for port in ports]}
    return {"name": name, "type": "linux-bridge", "state": "up", "bridge": block, **more}


def on(base: str, kind: str, name: str, **block: Any) -> State:
    return {"name": name, "type": kind, "state": "up", kind: {"base-iface": base, **block}}


def absent(name: str, kind: str) -> State:
    return {"name": name, "type": kind, "state": "absent"}


def interfaces(*found: State, **parts: Any) -> State:
    return {"interfaces": list(found), **parts}


def routes(*found: State) -> State:
    return {"routes": {"config": list(found)}}


def rules(*found: State) -> State:
    return {"route-rules": {"config": list(found)}}


def via(gateway: str, destination: str, interface: str = "eth2", **more: Any) -> State:
    return {"destination": destination, "next-hop-address": gateway, "next-hop-interface": interface, **more}


V4, V6 = static("203.0.113.40/25"), static("2001:db8:2::40/64")
MANAGEMENT4, MANAGEMENT6 = static("198.51.100.10/25"), static("2001:db8:1::10/64")
STATIC = interfaces(eth(ipv4=V4, ipv6=V6))
LEASED = interfaces(eth(ipv4=LEASED4, ipv6=LEASED6))
ROUTES = routes(via("203.0.113.1", "192.0.2.0/24"), via("2001:db8:2::1", "2001:db8:e::/64", metric=200))
TUNNEL = on("eth2", "vxlan", "vx1", id=70, remote="203.0.113.9")

# What is there before, and the policy.
CASES: dict[str, tuple[State, State]] = {
    "addresses": (
        STATIC,
        interfaces(
            eth(
                mtu=1400, ipv4=static("203.0.113.40/25", "203.0.113.41/25"), ipv6=static("2001:db8:2::41/64"),
                description="uplink", lldp={"enabled": True}, **{"mac-address": "02:00:00:aa:bb:cc"},
            ),
            eth("eth3", ipv4=static("198.51.100.140/25")),
        ),
    ),
    "static to DHCP": ({**STATIC, **ROUTES}, LEASED),
    "DHCP to static": ({**LEASED, **ROUTES}, STATIC),
    "a word about DHCP": ({**LEASED, **ROUTES}, interfaces(eth(ipv4={"enabled": True}, ipv6={"enabled": True}))),
    "bridge with the management address": (
        STATIC,
        interfaces(
            bridge("br0", "eth1", "eth3", ipv4=MANAGEMENT4, ipv6=MANAGEMENT6),
            **routes(via("198.51.100.1", "0.0.0.0/0", "br0"), via("2001:db8:1::1", "::/0", "br0")),
        ),
    ),
    "bridge over a lease": (LEASED, interfaces(bridge("br0", "eth2", ipv4=LEASED4))),
    "ports moved": (
        interfaces(bridge("br0", "eth2", "eth3", ipv4=V4)),
        interfaces(bridge("br0", "eth2"), bridge("br1", "eth3", ipv4=static("198.51.100.140/25"))),
    ),
    "bridge removed": (
        interfaces(bridge("br0", "eth2", ipv4=V4, ipv6=V6), **routes(via("203.0.113.1", "192.0.2.0/24", "br0"))),
        interfaces(absent("br0", "linux-bridge"), eth(ipv4=V4)),
    ),
    "vxlan and macvlan": (
        interfaces(*STATIC["interfaces"], TUNNEL),
        interfaces(
            absent("vx1", "vxlan"),
            {**on("eth2", "vxlan", "vx2", id=80, remote="203.0.113.8"), "ipv4": static("192.0.2.5/24")},
            {**on("eth2", "mac-vlan", "mv1", mode="bridge"), "ipv6": static("2001:db8:2::45/64")},
        ),
    ),
    "vxlan changed": (
        interfaces(*STATIC["interfaces"], TUNNEL),
        interfaces({**TUNNEL, "vxlan": {**TUNNEL["vxlan"], "id": 71}, "mtu": 1400}),
    ),
    "NIC removed": ({**STATIC, **routes(via("203.0.113.1", "192.0.2.0/24"))}, interfaces(absent("eth2", "ethernet"))),
    "routes and rules": (
        {
            **STATIC,
            **routes(via("203.0.113.1", "192.0.2.0/24", metric=100), via("2001:db8:2::1", "2001:db8:e::/64")),
            **rules({"ip-from": "203.0.113.40/32", "route-table": 200, "priority": 1000}),
        },
        {
            **routes(
                {"state": "absent", "next-hop-interface": "eth2"},
                via("203.0.113.2", "192.0.2.0/24", metric=100),
                via("203.0.113.1", "0.0.0.0/0", **{"table-id": 200}),
                via("2001:db8:2::1", "::/0", **{"table-id": 201}),
                via("198.51.100.1", "0.0.0.0/0", "eth1"),
            ),
            **rules(
                {"state": "absent", "route-table": 200},
                {"ip-from": "203.0.113.41", "route-table": 200},
                {"ip-to": "2001:db8:e::/64", "route-table": 201, "priority": 1001},
            ),
        },
    ),
    "names": (
        STATIC,
        {
            "dns-resolver": {"config": {"server": ["198.51.100.3"], "search": ["lab.example.com"]}},
            "hostname": {"config": "other.example.com"},
        },
    ),
}  # fmt: skip


@pytest.fixture
def node(net: Net) -> NetNode:
    return net.node(0)


def shown(node: NetNode) -> State:
    """As the backend reads it."""
    command = ["nmstatectl", "show", "--running-config", "--show-secrets", "--json"]
    found: State = json.loads(node.run(command, check=True).stdout)
    return found


def apply(node: NetNode, state: State) -> State:
    node.run(["nmstatectl", "apply", "-"], stdin=json.dumps(state), check=True)
    return shown(node)


@pytest.mark.parametrize(("before", "policy"), named(CASES))
def test_a_policy_is_applied_and_taken_back(node: NetNode, before: State, policy: State) -> None:
    pre, addresses = apply(node, before), static_addresses(node)
    now = apply(node, policy)
    assert differences(pre, now) != []
    assert differences(now, state_after(now, policy)) == []  # a second run would change nothing

    reversal = plan_reversal(pre, policy, now, {})
    assert (reversal.kept, reversal.drifted) == ((), ())
    apply(node, reversal.state)
    until(lambda: differences(pre, shown(node)) == [], f"what was before: {differences(pre, shown(node))}")
    assert static_addresses(node) == addresses
    again = plan_reversal(pre, policy, shown(node), {})
    assert (again.state, again.drifted) == ({}, ())


def static_addresses(node: NetNode) -> list[str]:
    """As the kernel has them; those of a lease come when they come."""
    found = [f"{link['ifname']} {one['local']}" for link in node.ip("address", "show") for one in _kept(link)]
    return sorted(found)


def _kept(link: State) -> list[State]:
    return [one for one in link.get("addr_info", ()) if one.get("scope") == "global" and not one.get("dynamic")]
