# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removing a policy nobody recorded: its virtual interfaces go, hardware is set down, nothing else is touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.synthetic import (
    synthetic_pre_state,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal
from ansible_collections.sunset.kube.tests.unit.fakes import named

OFF = {"enabled": False}
STATIC = {"enabled": True, "dhcp": False, "address": [{"ip": "192.0.2.5", "prefix-length": 24}]}


def _eth(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": OFF, "ipv6": OFF, **more}


def _bridge(*ports: str, **more: Any) -> dict[str, Any]:
    bridge = {"port": [{"name": port} for port in ports]}
    return {"name": "br0", "type": "linux-bridge", "state": "up", "bridge": bridge, "ipv4": OFF, "ipv6": OFF, **more}


def _route(name: str, destination: str = "203.0.113.0/24") -> dict[str, Any]:
    return {"destination": destination, "next-hop-address": "192.0.2.1", "next-hop-interface": name, "table-id": 254}


VXLAN = {"name": "vx1", "type": "vxlan", "state": "up", "vxlan": {"id": 70, "base-iface": "eth1"}}
Case = tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]
CASES: dict[str, Case] = {
    "a virtual interface": (
        {"interfaces": [VXLAN]},
        {"interfaces": [_eth("eth1", ipv4=STATIC), {**VXLAN, "ipv4": OFF, "ipv6": OFF}]},
        {"interfaces": [{"name": "vx1", "type": "vxlan", "state": "absent"}]},
        ["vx1 removed"],
    ),
    "hardware": (
        {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "ipv4": STATIC}]},
        {"interfaces": [_eth("eth1", ipv4=STATIC), _eth("eth2", ipv4=STATIC)]},
        {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "down", "ipv4": OFF}]},
        ["eth1 state down", "eth1 ipv4 address 192.0.2.5/24 removed", "eth1 ipv4 off"],
    ),
    "a bridge and its port": (
        {"interfaces": [_bridge("eth1", ipv4=STATIC)]},
        {"interfaces": [_eth("eth1", controller="br0"), _bridge("eth1", ipv4=STATIC), _eth("eth2")]},
        {
            "interfaces": [
                {"name": "br0", "type": "linux-bridge", "state": "absent"},
                {"name": "eth1", "type": "ethernet", "state": "down", "controller": ""},
            ]
        },
        ["br0 removed", "eth1 controller none", "eth1 state down"],
    ),
    "static DNS": (
        {"dns-resolver": {"config": {"server": ["192.0.2.53"]}}},
        {"interfaces": [_eth("eth1")], "dns-resolver": {"config": {"server": ["192.0.2.53"], "search": []}}},
        {"dns-resolver": {"config": {}}},
        ["dns automatic"],
    ),
    "routes and rules": (
        {
            "routes": {"config": [_route("eth1")]},
            "route-rules": {"config": [{"ip-from": "198.51.100.0/24", "route-table": 200}]},
        },
        {
            "interfaces": [_eth("eth1", ipv4=STATIC)],
            "routes": {"config": [_route("eth1"), _route("eth1", "0.0.0.0/0")]},
            "route-rules": {
                "config": [
                    {"ip-from": "198.51.100.0/24", "route-table": 200, "priority": 30000, "family": "ipv4"},
                    {"ip-from": "198.51.101.0/24", "route-table": 200, "priority": 30001, "family": "ipv4"},
                ]
            },
        },
        {
            "routes": {"config": [{**_route("eth1"), "state": "absent"}]},
            "route-rules": {
                "config": [
                    {
                        "ip-from": "198.51.100.0/24",
                        "route-table": 200,
                        "priority": 30000,
                        "family": "ipv4",
                        "state": "absent",
                    }
                ]
            },
        },
        [
            "route 203.0.113.0/24 via 192.0.2.1 dev eth1 removed",
            "rule priority 30000 from 198.51.100.0/24 table 200 removed",
        ],
    ),
    "what the policy removed stays away": (
        {"interfaces": [{"name": "vx1", "type": "vxlan", "state": "absent"}]},
        {"interfaces": [_eth("eth1")]},
        {},
        [],
    ),
    "what is not there any more": ({"interfaces": [VXLAN]}, {"interfaces": [_eth("eth1")]}, {}, []),
}


@pytest.mark.parametrize(("policy", "now", "state", "reverted"), named(CASES))
def test_a_policy_is_deleted(
    policy: dict[str, Any], now: dict[str, Any], state: dict[str, Any], reverted: list[str]
) -> None:
    reversal = plan_reversal(synthetic_pre_state(policy, now), policy, now, {})
    assert reversal.state == state
    assert sorted(reversal.reverted) == sorted(reverted)
    assert (reversal.kept, reversal.drifted) == ((), ())


def test_what_stands_on_a_deleted_interface_goes_with_it() -> None:
    upper = {**VXLAN, "vxlan": {"id": 70, "base-iface": "br0"}, "ipv4": OFF, "ipv6": OFF}
    now = {"interfaces": [_eth("eth1", controller="br0"), _bridge("eth1", ipv4=STATIC), upper]}
    policy = {"interfaces": [_bridge("eth1")]}
    reversal = plan_reversal(synthetic_pre_state(policy, now), policy, now, {})
    left = state_after(now, reversal.state)
    assert [one["name"] for one in left["interfaces"]] == ["eth1"]


def test_deleting_a_second_time_changes_nothing() -> None:
    policy = {"interfaces": [_bridge("eth1", ipv4=STATIC)]}
    now = {"interfaces": [_eth("eth1", controller="br0"), _bridge("eth1", ipv4=STATIC)]}
    after = state_after(now, plan_reversal(synthetic_pre_state(policy, now), policy, now, {}).state)
    assert differences(after, synthetic_pre_state(policy, after)) == []
