# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a policy is in NetworkManager's profiles: properties, places of routes, rules and resolvers, order of work."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.backends.goal import goal_of
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.nm_command import Device, Manager, Profile
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.nm_plan import Plan, plan
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.nm_view import as_configured
from ansible_collections.sunset.kube.tests.unit.fakes import named

State = dict[str, Any]


def static(*addresses: str) -> State:
    pairs = [address.split("/") for address in addresses]
    return {
        "enabled": True,
        "dhcp": False,
        "address": [{"ip": ip, "prefix-length": int(length)} for ip, length in pairs],
    }


ETH1 = Profile(
    "e1",
    {
        "connection.interface-name": "eth1",
        "connection.autoconnect": "yes",
        "ipv4.method": "manual",
        "ipv4.addresses": "192.0.2.5/24",
        "ipv4.gateway": "192.0.2.1",
        "ipv4.routes": "198.51.100.0/24 192.0.2.9 150 onlink=true table=200",
        "ipv4.routing-rules": "priority 100 from 192.0.2.0/24 table 200",
        "ipv4.dns": "192.0.2.53",
        "ipv6.method": "disabled",
    },
)
MANAGER = Manager(
    {
        "eth1": Device("eth1", "connected", "e1"),
        "eth2": Device("eth2", "disconnected", ""),
        "lo": Device("lo", "unmanaged", ""),
    },
    {"e1": ETH1},
)
OFF = {"enabled": False}
DEFAULT = {"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.1", "next-hop-interface": "eth1", "metric": 100}
IN_TABLE = {
    "destination": "198.51.100.0/24", "next-hop-address": "192.0.2.9", "next-hop-interface": "eth1", "metric": 150,
    "table-id": 200,
}  # fmt: skip
PRE: State = {
    "interfaces": [
        {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": static("192.0.2.5/24"), "ipv6": OFF},
        {"name": "eth2", "type": "ethernet", "state": "down", "mtu": 1500, "ipv4": OFF, "ipv6": OFF},
    ],
    "routes": {"config": [{**DEFAULT, "table-id": 254}, IN_TABLE]},
    "route-rules": {"config": [{"family": "ipv4", "ip-from": "192.0.2.0/24", "priority": 100, "route-table": 200}]},
    "dns-resolver": {"config": {"server": ["192.0.2.53"]}},
}


def up(name: str, kind: str = "ethernet", **more: Any) -> State:
    return {"name": name, "type": kind, "state": "up", **more}


def planned(**desired: Any) -> Plan:
    return plan(goal_of({key.replace("_", "-"): value for key, value in desired.items()}, PRE), MANAGER)


def written(found: Plan) -> dict[str, dict[str, str]]:
    return {work.name: {key: value for key, value in work.properties.items() if value} for work in found.work}


NEW = {"connection.id": "x0", "connection.interface-name": "x0"}
DISABLED = {"ipv4.method": "disabled", "ipv6.method": "disabled"}
KINDS: dict[str, tuple[State, dict[str, str]]] = {
    "a vlan": (
        up("x0", "vlan", vlan={"id": 100, "base-iface": "eth1", "protocol": "802.1q"}, mtu=1400),
        {
            "connection.type": "vlan", "vlan.id": "100", "vlan.parent": "eth1", "vlan.protocol": "802.1Q",
            "802-3-ethernet.mtu": "1400",
        },
    ),
    "a bond": (
        up("x0", "bond", **{"link-aggregation": {"mode": "802.3ad", "options": {"miimon": 140, "lacp_rate": "fast"}}}),
        {"connection.type": "bond", "bond.options": "mode=802.3ad,miimon=140,lacp_rate=fast"},
    ),
    "a vxlan": (
        up("x0", "vxlan", vxlan={"id": 7, "base-iface": "eth1", "remote": "192.0.2.9", "learning": False}),
        {
            "connection.type": "vxlan", "vxlan.id": "7", "vxlan.parent": "eth1", "vxlan.remote": "192.0.2.9",
            "vxlan.learning": "no",
        },
    ),
    "a macvlan": (
        up("x0", "mac-vlan", **{"mac-vlan": {"base-iface": "eth1", "mode": "bridge", "promiscuous": True}}),
        {
            "connection.type": "macvlan", "macvlan.parent": "eth1", "macvlan.mode": "bridge",
            "macvlan.promiscuous": "yes",
        },
    ),
    "a bridge": (
        up("x0", "linux-bridge", bridge={"options": {"stp": {"enabled": False}, "mac-ageing-time": 60}, "port": []}),
        {"connection.type": "bridge", "bridge.stp": "no", "bridge.ageing-time": "60"},
    ),
    "a dummy": (up("x0", "dummy"), {"connection.type": "dummy"}),
}  # fmt: skip


@pytest.mark.parametrize(("interface", "properties"), named(KINDS))
def test_a_new_link_is_a_whole_profile(interface: State, properties: dict[str, str]) -> None:
    found = planned(interfaces=[interface])
    assert written(found) == {"x0": {**NEW, **DISABLED, **properties}}
    assert [(work.profile, work.again) for work in found.work] == [(None, True)]


FAMILIES: dict[str, tuple[State, dict[str, str]]] = {
    "both by lease": (
        {"ipv4": {"enabled": True, "dhcp": True}, "ipv6": {"enabled": True, "dhcp": True, "autoconf": True}},
        {"ipv4.method": "auto", "ipv6.method": "auto"},
    ),
    "a lease, but not its gateway, routes and resolvers": (
        {"ipv4": {"enabled": True, "dhcp": True, "auto-gateway": False, "auto-routes": False, "auto-dns": False}},
        {"ipv4.method": "auto", "ipv4.never-default": "yes", "ipv4.ignore-auto-routes": "yes",
         "ipv4.ignore-auto-dns": "yes", "ipv6.method": "disabled"},
    ),
    "DHCPv6 alone": (
        {"ipv6": {"enabled": True, "dhcp": True, "autoconf": False}},
        {"ipv4.method": "disabled", "ipv6.method": "dhcp"},
    ),
    "static": (
        {"ipv4": static("192.0.2.7/24", "192.0.2.8/24"), "ipv6": {"enabled": True, "dhcp": False, "autoconf": False}},
        {"ipv4.method": "manual", "ipv4.addresses": "192.0.2.7/24,192.0.2.8/24", "ipv6.method": "link-local"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("families", "properties"), named(FAMILIES))
def test_the_methods_of_families(families: State, properties: dict[str, str]) -> None:
    found = written(planned(interfaces=[up("eth2", **families)]))["eth2"]
    flags = {key: value for key, value in found.items() if key.startswith("ipv") and value != "no"}
    assert flags == properties


def test_a_change_of_the_mtu_writes_nothing_else_and_interrupts_nothing() -> None:
    found = planned(interfaces=[up("eth1", mtu=1400)])
    assert [(work.name, work.properties, work.again) for work in found.work] == [
        ("eth1", {"802-3-ethernet.mtu": "1400"}, False)
    ]


def test_a_bridge_takes_over_routes_rules_and_resolvers_and_comes_up_before_its_port() -> None:
    bridge = up("br0", "linux-bridge", bridge={"port": [{"name": "eth1"}]}, ipv4=static("192.0.2.5/24"))
    found = planned(interfaces=[bridge], routes={"config": [{**DEFAULT, "next-hop-interface": "br0"}]})
    assert [work.name for work in found.work] == ["br0", "eth1"]
    properties = written(found)
    assert properties["eth1"] == {"connection.master": "br0", "connection.slave-type": "bridge"}
    taken = {key: properties["br0"][key] for key in ("ipv4.routes", "ipv4.routing-rules", "ipv4.dns")}
    assert taken == {
        "ipv4.routes": "0.0.0.0/0 192.0.2.1 100",
        "ipv4.routing-rules": "priority 100 from 192.0.2.0/24 table 200",
        "ipv4.dns": "192.0.2.53",
    }
    assert found.complaints == []


def test_another_route_keeps_those_that_are_there_word_for_word() -> None:
    new = {"destination": "203.0.113.0/24", "next-hop-address": "192.0.2.8", "next-hop-interface": "eth1"}
    assert written(planned(routes={"config": [new]})) == {
        "eth1": {
            "ipv4.routes": "198.51.100.0/24 192.0.2.9 150 onlink=true table=200, 0.0.0.0/0 192.0.2.1, "
            "203.0.113.0/24 192.0.2.8"
        }
    }


def test_a_route_of_another_table_goes_only_when_its_interface_comes_up_again() -> None:
    found = planned(routes={"config": [{**IN_TABLE, "state": "absent"}]})
    assert [(work.properties["ipv4.routes"], work.again) for work in found.work] == [("0.0.0.0/0 192.0.2.1", True)]


def test_what_no_profile_holds_is_not_ours_to_remove() -> None:
    route = {"destination": "203.0.113.0/24", "next-hop-address": "192.0.2.7", "next-hop-interface": "eth1"}
    rule = {"family": "ipv4", "ip-from": "203.0.113.0/24", "priority": 7, "route-table": 7}
    pre = {**PRE, "routes": {"config": [*PRE["routes"]["config"], route]}, "route-rules": {"config": [rule]}}
    desired = {
        "routes": {"config": [{**route, "state": "absent"}]},
        "route-rules": {"config": [{**rule, "state": "absent"}]},
    }
    assert plan(goal_of(desired, pre), MANAGER).complaints == [
        "route 203.0.113.0/24 via 192.0.2.7 dev eth1: in no profile of NetworkManager, remove it with ip",
        "rule priority 7 from 203.0.113.0/24 table 7: in no profile of NetworkManager, remove it with ip",
    ]


def test_a_rule_without_priority_gets_one_and_lives_where_its_routes_are() -> None:
    found = written(planned(route_rules={"config": [{"ip-to": "198.51.100.0/24", "route-table": 200, "iif": "eth1"}]}))
    assert found == {
        "eth1": {
            "ipv4.routing-rules": "priority 100 from 192.0.2.0/24 table 200, "
            "priority 30001 to 198.51.100.0/24 iif eth1 table 200"
        }
    }


RESOLVERS: dict[str, tuple[list[str], dict[str, str], list[str]]] = {
    "another one": (["192.0.2.54"], {"ipv4.dns": "192.0.2.54"}, []),
    "IPv6 without IPv6": (["2001:db8::53"], {}, ["dns-resolver: no interface with ipv6 can hold a resolver"]),
    "none": ([], {}, []),
}


@pytest.mark.parametrize(("servers", "properties", "complaints"), named(RESOLVERS))
def test_resolvers_live_in_the_profile_that_leads_out(
    servers: list[str], properties: dict[str, str], complaints: list[str]
) -> None:
    found = planned(dns_resolver={"config": {"server": servers}})
    assert {key: value for key, value in written(found)["eth1"].items() if value} == properties
    assert found.complaints == complaints


def test_an_interface_that_goes_down_keeps_its_profile_and_one_that_is_absent_loses_it() -> None:
    assert planned(interfaces=[{"name": "eth1", "type": "ethernet", "state": "down"}]).down == ["eth1"]
    assert planned(interfaces=[{"name": "eth1", "type": "ethernet", "state": "absent"}]).deleted == ["e1"]


def test_profiles_say_what_was_configured_and_the_kernel_the_rest() -> None:
    lease = {**ETH1.settings, "ipv4.method": "auto", "ipv4.addresses": "", "ipv4.ignore-auto-dns": "yes"}
    manager = Manager(MANAGER.devices, {"e1": Profile("e1", lease)})
    kernel: State = {
        "interfaces": [
            {"name": name, "type": "ethernet", "state": "up", "ipv4": static("192.0.2.77/24"), "ipv6": OFF}
            for name in ("eth1", "eth2", "lo", "unknown")
        ],
        "dns-resolver": {"running": {"server": ["192.0.2.1"]}, "config": {}},
    }
    found = as_configured(kernel, manager, {})
    eth1, eth2, lo, unknown = found["interfaces"]
    assert eth1["ipv4"] == {
        "enabled": True, "dhcp": True, "address": [], "auto-dns": False, "auto-gateway": True, "auto-routes": True,
    }  # fmt: skip
    assert (eth2["state"], eth2["ipv4"]) == ("down", OFF)
    assert (lo["state"], unknown["state"]) == ("ignore", "ignore")
    assert found["dns-resolver"]["config"] == {"server": ["192.0.2.53"]}
    assert as_configured(found, manager, {"server": ["192.0.2.99"]})["dns-resolver"]["config"] == {
        "server": ["192.0.2.99"]
    }
