# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of `ip` for a policy, also for links that not every kernel has; whole plans compared as text."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.backends.goal import goal_of, not_reached
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.ip_plan import (
    link_commands,
    route_commands,
    rule_commands,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

State = dict[str, Any]


def interface(name: str, kind: str = "ethernet", **more: Any) -> State:
    off = {"ipv4": {"enabled": False}, "ipv6": {"enabled": False}}
    return {"name": name, "type": kind, "state": "up", "mtu": 1500, **off, **more}


def static(*addresses: str) -> State:
    pairs = [address.split("/") for address in addresses]
    return {"enabled": True, "address": [{"ip": ip, "prefix-length": int(length)} for ip, length in pairs]}


PRE: State = {
    "interfaces": [
        interface("eth1", ipv4=static("192.0.2.5/24"), ipv6=static("2001:db8::5/64")),
        interface("eth2", state="down"),
        interface("eth3"),
    ],
    "routes": {
        "config": [
            {"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.1", "next-hop-interface": "eth1", "table-id": 254}
        ]
    },
    "route-rules": {"config": [{"family": "ipv4", "ip-from": "192.0.2.0/24", "priority": 100, "route-table": 50}]},
}
VLAN = {"id": 100, "base-iface": "eth1"}
LINKS: dict[str, tuple[State, str]] = {
    "a vlan": (
        {"name": "eth1.100", "type": "vlan", "state": "up", "vlan": {**VLAN, "protocol": "802.1ad"}, "mtu": 1400},
        "ip link add link eth1 name eth1.100 type vlan id 100 protocol 802.1ad\n"
        "ip link set dev eth1.100 mtu 1400\n"
        "ip link set dev eth1.100 up\n",
    ),
    "a bond over interfaces that are up and down": (
        {
            "name": "bond0",
            "type": "bond",
            "state": "up",
            "ipv4": static("192.0.2.5/24"),
            "link-aggregation": {"mode": "active-backup", "options": {"miimon": 140}, "port": ["eth1", "eth2"]},
        },
        "ip address delete 192.0.2.5/24 dev eth1\n"
        "ip address delete 2001:db8::5/64 dev eth1\n"
        "ip link add name bond0 type bond mode active-backup\n"
        "ip link set dev bond0 type bond miimon 140\n"
        "ip link set dev eth1 down\n"
        "ip link set dev eth1 master bond0\n"
        "ip link set dev eth2 down\n"
        "ip link set dev eth2 master bond0\n"
        "ip link set dev bond0 up\n"
        "ip link set dev eth1 up\n"
        "ip link set dev eth2 up\n"
        "ip address replace 192.0.2.5/24 dev bond0\n",
    ),
    "a dummy without IPv6": (
        {"name": "dummy0", "type": "dummy", "state": "up", "ipv6": {"enabled": False}},
        "ip link add name dummy0 type dummy\nipv6 dummy0 off\nip link set dev dummy0 up\n",
    ),
    "a vxlan on nothing": (
        {"name": "vx1", "type": "vxlan", "state": "up", "vxlan": {"id": 7, "remote": "192.0.2.9", "learning": False}},
        "ip link add name vx1 type vxlan id 7 remote 192.0.2.9 nolearning\nip link set dev vx1 up\n",
    ),
    "IPv6 addresses come in reverse, those we had without waiting": (
        {"name": "eth1", "type": "ethernet", "state": "up", "ipv6": static("2001:db8::6/64", "2001:db8::5/64")},
        "ip address replace 2001:db8::6/64 dev eth1\n",
    ),
    "a hardware interface cannot go": (
        {"name": "eth1", "type": "ethernet", "state": "absent"},
        "ip address delete 192.0.2.5/24 dev eth1\n"
        "ip address delete 2001:db8::5/64 dev eth1\n"
        "ipv6 eth1 keep\n"
        "ip link set dev eth1 down\n",
    ),
    "an address that moves to another interface": (
        {"name": "eth3", "type": "ethernet", "state": "up", "ipv6": static("2001:db8::5/64")},
        "ipv6 eth3 on\nip address replace 2001:db8::5/64 dev eth3 nodad\n",
    ),
    "what is there already": ({"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}, ""),
}


@pytest.mark.parametrize(("policy", "text"), named(LINKS))
def test_links_and_addresses(policy: State, text: str) -> None:
    commands = link_commands(goal_of({"interfaces": [policy]}, PRE))
    assert "".join(f"{' '.join(command)}\n" for command in commands) == text


def test_both_ends_of_a_veth_go_with_one_command_and_come_with_one() -> None:
    ends = [interface("ve0", "veth", veth={"peer": "ve1"}), interface("ve1", "veth", veth={"peer": "ve0"})]
    made = [command for command in link_commands(goal_of({"interfaces": ends}, PRE)) if "add" in command]
    assert made == [("ip", "link", "add", "name", "ve0", "type", "veth", "peer", "name", "ve1")]
    gone = [{"name": "ve0", "type": "veth", "state": "absent"}]
    commands = link_commands(goal_of({"interfaces": gone}, {"interfaces": ends}))
    assert commands == [("ip", "link", "delete", "dev", "ve0")]


def test_a_default_route_is_replaced_at_once_and_others_are_removed_after_their_successors() -> None:
    other = {"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.2", "next-hop-interface": "eth1"}
    goal = goal_of({"routes": {"config": [{**PRE["routes"]["config"][0], "state": "absent"}, other]}}, PRE)
    assert [" ".join(one) for one in route_commands(goal, PRE)] == [
        "ip -4 route replace 0.0.0.0/0 via 192.0.2.2 dev eth1 table 254 proto static"
    ]
    goal = goal_of(
        {"routes": {"config": [{**PRE["routes"]["config"][0], "state": "absent"}, {**other, "metric": 50}]}}, PRE
    )
    assert [" ".join(one) for one in route_commands(goal, PRE)] == [
        "ip -4 route replace 0.0.0.0/0 via 192.0.2.2 dev eth1 table 254 metric 50 proto static",
        "ip -4 route delete 0.0.0.0/0 via 192.0.2.1 dev eth1 table 254",
    ]


def test_a_route_that_went_with_its_address_is_said_again_and_one_that_is_gone_is_not_removed_twice() -> None:
    goal = goal_of({"interfaces": [{**PRE["interfaces"][0], "ipv4": static("192.0.2.6/24")}]}, PRE)
    assert len(route_commands(goal, {})) == 1
    goal = goal_of({"routes": {"config": [{"destination": "0.0.0.0/0", "state": "absent"}]}}, PRE)
    assert route_commands(goal, {}) == []


def test_a_rule_comes_before_the_one_it_replaces_goes() -> None:
    new = {"ip-from": "192.0.2.0/24", "route-table": 51, "fwmark": "0x1", "fwmask": "0xff", "iif": "eth1"}
    goal = goal_of({"route-rules": {"config": [{"state": "absent", "route-table": 50}, new]}}, PRE)
    assert [" ".join(one) for one in rule_commands(goal, PRE)] == [
        "ip -4 rule add from 192.0.2.0/24 iif eth1 fwmark 1/255 table 51",
        "ip -4 rule delete priority 100 from 192.0.2.0/24 table 50",
    ]


def test_a_rule_that_is_there_in_another_spelling_is_there() -> None:
    there = {"family": "ipv4", "ip-from": "192.0.2.0/24", "priority": 7, "route-table": 51, "fwmark": "0x10"}
    goal = goal_of({"route-rules": {"config": [{**there, "fwmark": 16}]}}, {"route-rules": {"config": [there]}})
    assert rule_commands(goal, {"route-rules": {"config": [there]}}) == []


def test_what_is_not_reached_is_named() -> None:
    desired = {
        "interfaces": [
            {"name": "eth2", "type": "ethernet", "state": "up", "mtu": 9000, "ipv4": static("198.51.100.2/24")},
            {"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth3"}]}},
        ],
        "routes": {"config": [{"destination": "0.0.0.0/0", "state": "absent"}]},
        "dns-resolver": {"config": {"server": ["192.0.2.53"]}},
    }
    assert not_reached(goal_of(desired, PRE), PRE) == [
        "eth2 state is down instead of up",
        "eth2 mtu is 1500 instead of 9000",
        "eth2 ipv4 enabled is off instead of on",
        "eth2 ipv4 dhcp is nothing instead of off",
        "eth2 ipv4 address is nothing instead of 198.51.100.2/24",
        "br0 is not there",
        "eth3 controller is nothing instead of br0",
        "route default via 192.0.2.1 dev eth1 is still there",
        "dns is empty instead of server 192.0.2.53",
    ]
