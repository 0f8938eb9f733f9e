# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the kernel and the resolver's file tell, in nmstate's words."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.backends.kernel_entries import (
    counts,
    is_configured,
    routes_of,
    rule_of,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.kernel_view import interfaces_from
from ansible_collections.sunset.kube.plugins.module_utils.network.backends.resolver_file import parsed, written
from ansible_collections.sunset.kube.tests.unit.fakes import named

Entry = dict[str, Any]


def link(name: str, kind: str = "", data: Entry | None = None, **more: Any) -> Entry:
    info = {"linkinfo": {"info_kind": kind, "info_data": data or {}}} if kind else {}
    return {"ifname": name, "link_type": "ether", "flags": ["UP"], "mtu": 1500, "addr_info": [], **info, **more}


def told(*links: Entry, ipv6: bool = True) -> dict[str, Entry]:
    return {one["name"]: one for one in interfaces_from(list(links), lambda name: ipv6)}


def test_leases_are_flags_and_link_local_addresses_are_nothing() -> None:
    addresses = [
        {"family": "inet", "local": "192.0.2.5", "prefixlen": 24, "scope": "global"},
        {"family": "inet", "local": "192.0.2.77", "prefixlen": 24, "scope": "global", "dynamic": True},
        {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"},
        {"family": "inet6", "local": "2001:db8::9", "prefixlen": 64, "scope": "global", "dynamic": True},
        {"family": "inet6", "local": "2001:db8::77", "prefixlen": 128, "scope": "global", "dynamic": True},
    ]
    found = told(link("eth1", addr_info=addresses))["eth1"]
    assert found["ipv4"] == {"enabled": True, "dhcp": True, "address": [{"ip": "192.0.2.5", "prefix-length": 24}]}
    assert found["ipv6"] == {"enabled": True, "dhcp": True, "autoconf": True, "address": []}
    assert told(link("eth1", addr_info=addresses), ipv6=False)["eth1"]["ipv6"] == {"enabled": False}


def test_links_tell_what_they_stand_on_unless_that_is_elsewhere() -> None:
    vxlan = {"id": 7, "link": "eth1", "port": 4789, "learning": True, "remote": "192.0.2.9"}
    found = told(
        link("eth1", "veth", link_netnsid=0, link_index=7),
        link("ve0", "veth", link="ve1"),
        link("ve1", "veth", link="ve0"),
        link("eth1.5", "vlan", {"id": 5, "protocol": "802.1Q"}, link="eth1"),
        link("vx1", "vxlan", vxlan),
        link("tun0", "tun"),
        link("eno1"),
        link("lo", link_type="loopback"),
        link("ppp0", link_type="ppp"),
    )
    assert "veth" not in found["eth1"]
    assert found["ve0"]["veth"] == {"peer": "ve1"}
    assert found["eth1.5"]["vlan"] == {"id": 5, "protocol": "802.1q", "base-iface": "eth1"}
    assert found["vx1"]["vxlan"] == {
        "id": 7, "base-iface": "eth1", "destination-port": 4789, "learning": True, "remote": "192.0.2.9",
    }  # fmt: skip
    kinds = {name: (found[name]["type"], found[name]["state"]) for name in ("tun0", "eno1", "lo", "ppp0")}
    assert kinds == {
        "tun0": ("tun", "ignore"), "eno1": ("ethernet", "up"), "lo": ("loopback", "up"), "ppp0": ("unknown", "ignore"),
    }  # fmt: skip


def test_ports_stand_in_their_controllers_list_and_hold_no_address_by_themselves() -> None:
    slave = {"info_kind": "veth", "info_slave_data": {"priority": 32, "cost": 2, "hairpin": False}}
    local = [{"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}]
    found = told(
        link("br0", "bridge", {"stp_state": 1, "forward_delay": 1500, "group_fwd_mask": "0x8", "ageing_time": 30000}),
        link("p1", link_netnsid=0, master="br0", linkinfo=slave, addr_info=local),
        link("bond0", "bond", {"mode": "active-backup", "miimon": 100}),
        link("p2", master="bond0"),
    )
    assert found["br0"]["bridge"] == {
        "options": {"stp": {"enabled": True, "forward-delay": 15}, "mac-ageing-time": 300, "group-forward-mask": 8},
        "port": [{"name": "p1", "stp-priority": 32, "stp-path-cost": 2, "stp-hairpin-mode": False}],
    }
    assert found["p1"]["controller"] == "br0"
    assert found["p1"]["ipv6"] == {"enabled": False}
    assert found["bond0"]["link-aggregation"] == {
        "mode": "active-backup", "options": {"miimon": 100}, "port": ["p2"],
    }  # fmt: skip


ROUTES: dict[str, tuple[Entry, bool, bool]] = {
    "somebody's": ({"type": "1", "dst": "default", "dev": "eth1", "table": "254", "protocol": "4"}, True, True),
    "a lease's": ({"type": "1", "dst": "default", "dev": "eth1", "table": "254", "protocol": "16"}, True, False),
    "a routing daemon's": (
        {"type": "1", "dst": "192.0.2.9", "dev": "eth1", "table": "7", "protocol": "99"},
        True,
        False,
    ),
    "the kernel's": (
        {"type": "1", "dst": "192.0.2.0/24", "dev": "eth1", "table": "254", "protocol": "2"},
        False,
        False,
    ),
    "a local one": ({"type": "2", "dst": "192.0.2.5", "dev": "eth1", "table": "255", "protocol": "2"}, False, False),
    "a blackhole": ({"type": "6", "dst": "192.0.2.0/24", "dev": "lo", "table": "254", "protocol": "3"}, True, True),
    "over two ways": ({"dst": "192.0.2.0/24", "table": "254", "protocol": "3", "nexthops": [{}, {}]}, True, False),
}


@pytest.mark.parametrize(("route", "shown", "configured"), named(ROUTES))
def test_whose_route_it_is(route: Entry, shown: bool, configured: bool) -> None:
    assert (counts(route), counts(route) and is_configured(route)) == (shown, configured)


def test_routes_in_words() -> None:
    one = {
        "type": "1",
        "dst": "default",
        "gateway": "fe80::1",
        "dev": "eth1",
        "table": "254",
        "protocol": "4",
        "metric": 9,
    }
    assert routes_of(6, one) == [
        {
            "destination": "::/0",
            "next-hop-address": "fe80::1",
            "next-hop-interface": "eth1",
            "metric": 9,
            "table-id": 254,
        }
    ]
    black = {"type": "6", "dst": "192.0.2.7", "dev": "lo", "table": "300", "protocol": "3"}
    assert routes_of(4, black) == [{"destination": "192.0.2.7/32", "table-id": 300, "route-type": "blackhole"}]


RULES: dict[str, tuple[Entry, Entry | None]] = {
    "the kernel's own": ({"priority": 32766, "src": "all", "table": "254"}, None),
    "without words for it": ({"priority": 9, "src": "all", "table": "77", "tos": "0x10"}, None),
    "by source": (
        {"priority": 9, "src": "192.0.2.0", "srclen": 24, "table": "77", "protocol": "0"},
        {"family": "ipv4", "ip-from": "192.0.2.0/24", "priority": 9, "route-table": 77},
    ),
    "an action": (
        {"priority": 9, "src": "all", "dst": "192.0.2.1", "action": "6", "protocol": "4"},
        {"family": "ipv4", "ip-to": "192.0.2.1/32", "priority": 9, "action": "blackhole"},
    ),
}


@pytest.mark.parametrize(("rule", "words"), named(RULES))
def test_rules_in_words(rule: Entry, words: Entry | None) -> None:
    assert rule_of(4, rule) == words


def test_the_resolvers_file_is_read_and_written_without_losing_what_else_is_in_it() -> None:
    lines = ("# mine", "nameserver 192.0.2.1", "nameserver 192.0.2.2 # old", "search a.example b.example")
    text = "".join(f"{line}\n" for line in (*lines, "options edns0", "sortlist x"))
    found = parsed(text)
    assert found == {"server": ["192.0.2.1", "192.0.2.2"], "search": ["a.example", "b.example"], "options": ["edns0"]}
    assert written(text, {"server": ["192.0.2.3"]}) == "# mine\nsortlist x\nnameserver 192.0.2.3\n"
    assert parsed(written(text, found)) == found
