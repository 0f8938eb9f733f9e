# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's way back, without a kernel: what differs, and which commands mend it."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.network.guard.kernel import (
    Snapshot,
    differences,
    snapshot_from,
    way_back,
)


def link(kind: str = "", **other: Any) -> dict[str, Any]:
    found = {"kind": kind, "data": {}, "up": True, "mtu": 1500, "master": "", "base": "", "mac": "", "ipv6_off": False}
    return {**found, **other}


def address(text: str, dev: str = "eth1", *, dynamic: bool = False) -> dict[str, Any]:
    return {"dev": dev, "address": text, "dynamic": dynamic}


def route(to: str = "default", via: str = "192.0.2.1", metric: int = 100, **other: Any) -> dict[str, Any]:
    found = {"family": 4, "to": to, "via": via, "dev": "eth1", "table": 254, "metric": metric}
    return {**found, "type": "unicast", "protocol": "4", **other}


def rule(priority: int = 1000, table: int = 200) -> dict[str, Any]:
    return {"family": 4, "priority": priority, "table": table, "src": "198.51.100.0", "srclen": 24}


def node() -> Snapshot:
    return Snapshot({"eth1": link()}, [address("192.0.2.10/24")], [route()], [rule()])


def commands(wanted: Snapshot, now: Snapshot) -> list[str]:
    return [" ".join(words) for words in way_back(wanted, now)]


def test_equal_snapshots_differ_in_nothing_and_need_only_their_routes_said_again() -> None:
    assert differences(node(), node()) == []
    assert commands(node(), node()) == [
        "-4 route replace default via 192.0.2.1 dev eth1 table 254 metric 100 proto 4",
    ]


def test_a_snapshot_survives_its_file() -> None:
    assert snapshot_from(node().as_dict()) == node()


def test_an_address_that_moved_is_named_twice_and_brought_back() -> None:
    now = node()
    now.addresses = [address("192.0.2.99/24")]
    assert differences(node(), now) == [
        "address 192.0.2.10/24 on eth1 is missing",
        "address 192.0.2.99/24 on eth1 is new",
    ]
    done = commands(node(), now)
    assert done.index("address delete 192.0.2.99/24 dev eth1") < done.index("address replace 192.0.2.10/24 dev eth1")


def test_a_bridge_that_is_new_goes_before_its_port_gets_its_address_back() -> None:
    now = node()
    now.links["br0"] = link("bridge")
    now.links["eth1"] = link(master="br0")
    now.addresses = [address("192.0.2.10/24", "br0")]
    done = commands(node(), now)
    assert done[0] == "link delete dev br0"
    assert "link set dev eth1 nomaster" in done
    assert "address replace 192.0.2.10/24 dev eth1" in done
    assert not any(command.startswith("address delete") for command in done)


def test_a_vxlan_that_is_missing_is_made_again_with_its_details() -> None:
    wanted = node()
    wanted.links["vx0"] = link("vxlan", data={"id": 42, "remote": "192.0.2.20", "port": 4789, "link": "eth1"}, mtu=1450)
    done = commands(wanted, node())
    assert done[:3] == [
        "link add name vx0 type vxlan id 42 dstport 4789 remote 192.0.2.20 dev eth1",
        "link set dev vx0 mtu 1450",
        "link set dev vx0 up",
    ]


def test_hardware_that_is_gone_cannot_be_made_and_is_named() -> None:
    now = Snapshot()
    assert "eth1 is missing" in differences(node(), now)
    assert not any("link add" in command for command in commands(node(), now))


def test_rules_come_back_word_by_word() -> None:
    now = node()
    now.rules = [rule(2000, 201)]
    done = commands(node(), now)
    assert "-4 rule delete priority 2000 from 198.51.100.0/24 table 201" in done
    assert "-4 rule add priority 1000 from 198.51.100.0/24 table 200" in done


def test_a_lease_counts_by_its_interface_only() -> None:
    before, after = node(), node()
    before.addresses = [address("192.0.2.50/24", dynamic=True)]
    after.addresses = [address("192.0.2.51/24", dynamic=True)]
    assert differences(before, after) == []


def test_metrics_that_network_manager_gave_count_by_their_order() -> None:
    before = node()
    before.routes = [route(metric=100), route(via="192.0.2.2", metric=101)]
    after = copy.deepcopy(before)
    after.routes = [route(metric=103), route(via="192.0.2.2", metric=104)]
    assert differences(before, after, exact_metrics=False) == []
    assert differences(before, after) != []
    after.routes = [route(metric=104), route(via="192.0.2.2", metric=103)]
    assert differences(before, after, exact_metrics=False) != []
