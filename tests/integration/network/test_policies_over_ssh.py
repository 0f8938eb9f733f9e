# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies on a real node, there and back: what they make is on the wire, and what was there before comes back."""

from __future__ import annotations

from typing import Any

from integration.network.changes import (
    INFO,
    ON_ETH2,
    SPARE,
    State,
    apply,
    everything,
    interface,
    revert,
    route,
    static,
    static6,
    visible,
)
from integration.network.plays import play
from lab.net.addresses import DHCP, RESOLVERS
from lab.net.network import Net
from lab.net.node import NetNode
from lab.waiting import until

OFF: State = {"enabled": False}
NO_STP = {"options": {"stp": {"enabled": False}}}
VIRTUAL: dict[str, State] = {
    "bridge": interface(
        "br1", "linux-bridge", ipv4=static("203.0.113.41/25"), bridge={**NO_STP, "port": [{"name": "eth2"}]}
    ),
    "vxlan": interface(
        "vx1",
        "vxlan",
        ipv4=static("198.51.100.200/32"),
        vxlan={"base-iface": "eth1", "id": 7, "remote": "198.51.100.1"},
    ),
    "macvlan": interface(
        "mv1", "mac-vlan", **{"mac-vlan": {"base-iface": "eth3", "mode": "bridge", "promiscuous": True}}
    ),
}


def outcomes(results: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    return [(one.get("outcome", one.get("msg", "")), one["changed"]) for one in results]


def test_virtual_interfaces_come_and_go(net: Net) -> None:
    node = net.node(0)
    before = visible(node)
    made = play(net, *(apply(name, state) for name, state in VIRTUAL.items()), INFO)
    assert outcomes(made.results[:-1]) == [("committed", True)] * 3, made.stdout
    kinds = {name: link.get("linkinfo", {}).get("info_kind") for name, link in node.links().items()}
    assert (kinds["br1"], kinds["vx1"], kinds["mv1"]) == ("bridge", "vxlan", "macvlan")
    assert node.links()["eth2"]["master"] == "br1"
    assert node.addresses("br1") == ["203.0.113.41/25"]
    assert node.pings(str(DHCP.v4.ip))
    listed = {one["policy"]: one for one in made.results[-1]["policies"]}
    known = {name: (one["state"], one["revertible"]) for name, one in listed.items()}
    assert known == dict.fromkeys(VIRTUAL, ("committed", True))
    gone = play(net, *(revert(name) for name in VIRTUAL), revert("bridge"), INFO)
    assert outcomes(gone.results[:-1]) == [("committed", True)] * 3 + [("unchanged", False)], gone.stdout
    assert visible(node) == before
    assert {one["state"] for one in gone.results[-1]["policies"]} == {"reverted"}


def test_addresses_names_routes_and_rules_come_and_go(net: Net) -> None:
    node = net.node(0)
    resolver = str(RESOLVERS[1][0].ip)
    policies: dict[str, State] = {
        "address": interface("eth2", ipv4=static(SPARE), ipv6=static6("2001:db8:2::40/64")),
        "names": {"dns-resolver": {"config": {"server": [resolver], "search": ["shop.example.com"]}}},
        "routes": {
            "routes": {
                "config": [
                    route("192.0.2.0/24", "203.0.113.1", "eth2", metric=150),
                    route("2001:db8:77::/48", "2001:db8:2::1", "eth2", **{"table-id": 200}),
                ]
            },
            "route-rules": {"config": [{"ip-from": "203.0.113.40/32", "route-table": 200, "priority": 1000}]},
        },
    }
    before = visible(node)
    tasks = [apply(name, state) for name, state in policies.items()]
    made = play(net, *tasks, *tasks)
    assert outcomes(made.results) == [("committed", True)] * 3 + [("unchanged", False)] * 3, made.stdout
    assert node.addresses("eth2") == [SPARE, "2001:db8:2::40/64"]
    assert node.path("/etc/resolv.conf").read_text().splitlines()[1:] == [
        "search shop.example.com",
        f"nameserver {resolver}",
    ]
    assert "192.0.2.0/24" in [one["dst"] for one in node.routes()]
    assert [one["dst"] for one in node.ip("-6", "route", "show", "table", "200")] == ["2001:db8:77::/48"]
    assert 1000 in [one["priority"] for one in node.rules()]
    gone = play(net, *(revert(name) for name in reversed(policies)))
    assert outcomes(gone.results) == [("committed", True)] * 3, gone.stdout
    assert visible(node) == before
    assert "table 200" not in node.run(["ip", "-6", "route", "show", "table", "all"], check=True).stdout


def has_lease(node: NetNode) -> bool:
    return any(one.startswith("203.0.113.") and one != SPARE for one in node.addresses("eth2"))


def test_a_lease_comes_back_after_a_static_address(net: Net) -> None:
    node = net.node(0)
    lease = interface(
        "eth2", ipv4={"enabled": True, "dhcp": True}, ipv6={"enabled": True, "dhcp": True, "autoconf": True}
    )
    run = play(net, apply("lease", lease))
    assert outcomes(run.results) == [("committed", True)], run.stdout
    until(lambda: has_lease(node), "a lease")
    run = play(net, apply("fixed", interface("eth2", ipv4=static(SPARE), ipv6=OFF)))
    assert outcomes(run.results) == [("committed", True)], run.stdout
    assert node.addresses("eth2") == [SPARE]
    run = play(net, revert("fixed"))
    assert outcomes(run.results) == [("committed", True)], run.stdout
    until(lambda: has_lease(node), "the lease, again")
    until(lambda: any(one.startswith("2001:db8:2:") for one in node.addresses("eth2")), "the IPv6 address, again")


def test_check_mode_shows_the_difference_and_touches_nothing(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    checked = play(net, apply("address", ON_ETH2), check=True, diff=True).result
    assert checked["changed"]
    assert "203.0.113.40" in str(checked["diff"])
    assert everything(node) == before
    assert not node.path("/var/lib/sunset-kube").exists()
    assert play(net, apply("address", ON_ETH2)).result["outcome"] == "committed"
    made = everything(node)
    checked = play(net, revert("address"), check=True, diff=True).result
    assert checked["changed"]
    assert "203.0.113.40" in str(checked["diff"])
    assert everything(node) == made
