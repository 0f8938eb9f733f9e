# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""States as nmstatectl prints them: more than a policy says, and not always the same words for the same network."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal
from ansible_collections.sunset.kube.tests.unit.fakes import named

State = dict[str, Any]
OFF: State = {"enabled": False}
STATIC: State = {
    "enabled": True, "dhcp": False, "address": [{"ip": "203.0.113.40", "prefix-length": 25}], "forwarding": False,
    "prefix-route-metric": -1,
}  # fmt: skip
LEASE: State = {
    "enabled": True, "dhcp": True, "dhcp-client-id": "ll", "address": [], "auto-dns": False, "auto-gateway": False,
    "auto-routes": False, "auto-route-table-id": 0, "auto-route-metric": -1, "dhcp-send-hostname": True,
    "forwarding": False, "prefix-route-metric": -1,
}  # fmt: skip
SHOWN_PORT = {"name": "eth2", "stp-hairpin-mode": False, "stp-path-cost": 2, "stp-priority": 32}


def eth2(**more: Any) -> State:
    shown = {"mac-address": "02:00:00:00:00:02", "mtu": 1500, "lldp": {"enabled": False}, "ipv4": OFF, "ipv6": OFF}
    return {"name": "eth2", "type": "ethernet", "state": "up", **shown, **more}


def br0(*ports: State, **more: Any) -> State:
    options = {"mac-ageing-time": 300, "hello-timer": 17, "stp": {"enabled": False, "forward-delay": 15}}
    shown = {"mac-address": "02:00:00:00:00:02", "mtu": 1500, "ipv4": OFF, "ipv6": OFF}
    bridge = {"options": options, "port": list(ports)}
    return {"name": "br0", "type": "linux-bridge", "state": "up", "bridge": bridge, **shown, **more}


def vx1(mac: str = "46:AB:44:10:8D:D5", **vxlan: Any) -> State:
    block = {"base-iface": "eth2", "id": 70, "remote": "203.0.113.9", "learning": True, "destination-port": 8472}
    shown = {"mac-address": mac, "mtu": 1450, "ipv4": OFF, "ipv6": OFF}
    return {"name": "vx1", "type": "vxlan", "state": "up", "vxlan": {**block, **vxlan}, **shown}


def state(*interfaces: State, **parts: Any) -> State:
    return {"interfaces": list(interfaces), **parts}


def wanted(name: str, kind: str, **more: Any) -> State:
    return state({"name": name, "type": kind, "state": "up", **more})


SAME: dict[str, tuple[State, State]] = {
    "managed since": (
        state(eth2()),
        state(eth2(mptcp={"address-flags": []}, description="", **{"accept-all-mac-addresses": False})),
    ),
    "the loopback, once somebody has set a rule": (
        state({"name": "lo", "type": "loopback", "state": "up", "ipv6": STATIC}),
        state({"name": "lo", "type": "loopback", "state": "up", "ipv6": {**STATIC, "addr-gen-mode": "stable-privacy"}}),
    ),
    "static, DHCP before": (
        state(eth2(ipv6={**STATIC, "address": []})),
        state(eth2(ipv6={**STATIC, "address": [], "dhcp-duid": "ll", "addr-gen-mode": "eui64"})),
    ),
    "defaults of a lease": (
        state(eth2(ipv4=LEASE)),
        state(eth2(ipv4={key: LEASE[key] for key in LEASE if "metric" not in key and "table" not in key})),
    ),
    "a leased address": (
        state(eth2(ipv4=LEASE)),
        state(
            eth2(ipv4={**LEASE, "address": [{"ip": "203.0.113.50", "prefix-length": 25, "valid-life-time": "300sec"}]})
        ),
    ),
    "timers and counters": (
        state(br0(SHOWN_PORT)),
        state({**br0(SHOWN_PORT), "bridge": {**br0(SHOWN_PORT)["bridge"], "options": {
            "mac-ageing-time": 300, "hello-timer": 99, "stp": {"enabled": False, "forward-delay": 15},
        }}}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other"), named(SAME))
def test_the_same_network_in_other_words(one: State, other: State) -> None:
    assert differences(one, other) == []


NOT_SAME: dict[str, tuple[State, State, str]] = {
    "a metric": (
        state(eth2(ipv4=STATIC)), state(eth2(ipv4={**STATIC, "prefix-route-metric": 50})),
        "eth2 ipv4 prefix-route-metric: before nothing, now 50",
    ),
    "LLDP": (state(eth2()), state(eth2(lldp={"enabled": True})), "eth2 lldp: before nothing, now enabled on"),
    "the way addresses are made": (
        state(eth2(ipv6=STATIC)), state(eth2(ipv6={**STATIC, "addr-gen-mode": "stable-privacy"})),
        "eth2 ipv6 addr-gen-mode: before nothing, now stable-privacy",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "said"), named(NOT_SAME))
def test_another_network_is_another_one(one: State, other: State, said: str) -> None:
    assert differences(one, other) == [said]


RESTATED: dict[str, tuple[State, State]] = {
    "ports by name only": (
        state(br0(SHOWN_PORT), eth2(controller="br0")),
        wanted("br0", "linux-bridge", bridge={"options": {"stp": {"enabled": False}}, "port": [{"name": "eth2"}]}),
    ),
    "the host name beside the running one": (
        state(hostname={"running": "node0", "config": "other"}), {"hostname": {"config": "other"}},
    ),
    "an address of hardware in small letters": (
        state(eth2(**{"mac-address": "02:00:00:AA:BB:CC"})),
        wanted("eth2", "ethernet", **{"mac-address": "02:00:00:aa:bb:cc"}),
    ),
    "half a lease": (
        state(eth2(ipv4={**LEASE, "auto-dns": True, "auto-gateway": True, "auto-routes": True})),
        wanted("eth2", "ethernet", ipv4={"enabled": True, "dhcp": True}),
    ),
    "an absent NIC that is down": (
        state(eth2(state="down")), state({"name": "eth2", "type": "ethernet", "state": "absent"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "policy"), named(RESTATED))
def test_a_policy_that_restates_a_part_of_what_is_shown_changes_nothing(now: State, policy: State) -> None:
    assert differences(now, state_after(now, policy)) == []
    assert generate_revert(policy, now) == {}


def test_an_interface_of_a_kind_comes_back_whole_and_with_its_address() -> None:
    """nmstate makes it anew when its block changes, and forgets whatever the block leaves out."""
    pre = state(eth2(), vx1())
    policy = wanted("vx1", "vxlan", vxlan={"id": 71, "base-iface": "eth2"}, mtu=1400)
    now = state(eth2(), {**vx1("C6:2B:E6:21:DD:CC", id=71), "mtu": 1400})
    [back] = plan_reversal(pre, policy, now, {}).state["interfaces"]
    assert (back["vxlan"], back["mac-address"], back["mtu"]) == (vx1()["vxlan"], "46:AB:44:10:8D:D5", 1450)
    [stored] = generate_revert(policy, pre)["interfaces"]
    assert (stored["vxlan"], stored["mac-address"]) == (vx1()["vxlan"], "46:AB:44:10:8D:D5")


def test_an_interface_of_a_kind_whose_block_stays_is_not_made_anew() -> None:
    pre, policy = state(eth2(), vx1()), wanted("vx1", "vxlan", vxlan=vx1()["vxlan"], mtu=1400)
    reversal = plan_reversal(pre, policy, state_after(pre, policy), {})
    assert reversal.state == wanted("vx1", "vxlan", mtu=1450)


def test_a_nic_that_a_policy_calls_absent_is_down_and_comes_back() -> None:
    pre = state(eth2(ipv4=STATIC))
    policy = state({"name": "eth2", "type": "ethernet", "state": "absent"})
    now = state(eth2(state="down"))
    assert differences(now, state_after(pre, policy)) == []
    reversal = plan_reversal(pre, policy, now, {})
    assert reversal.drifted == ()
    assert differences(pre, state_after(now, reversal.state)) == []


def _priority(value: int) -> State:
    return wanted("br0", "linux-bridge", bridge={"port": [{"name": "eth2", "stp-priority": value}]})


def test_settings_of_a_port_come_back_unless_somebody_else_wants_or_changed_them() -> None:
    pre = state(br0(SHOWN_PORT), eth2(controller="br0"))
    now = state_after(pre, _priority(10))
    assert now["interfaces"][0]["bridge"]["port"] == [{**SHOWN_PORT, "stp-priority": 10}]
    assert differences(pre, state_after(now, plan_reversal(pre, _priority(10), now, {}).state)) == []
    kept = plan_reversal(pre, _priority(10), now, {"other": _priority(10)})
    assert (kept.state, [one.what for one in kept.kept]) == ({}, ["br0 port eth2 stp-priority 10"])
    drifted = plan_reversal(pre, _priority(10), state_after(pre, _priority(20)), {})
    assert drifted.state == {}
    assert drifted.drifted == ("br0 port eth2 stp-priority: the policy set 10, now 20",)


def test_back_at_a_lease_a_second_reversal_finds_no_drift() -> None:
    pre, policy = state(eth2(ipv4=LEASE)), wanted("eth2", "ethernet", ipv4=STATIC)
    again = plan_reversal(pre, policy, pre, {})
    assert (again.state, again.drifted) == ({}, ())


def test_a_rule_that_nmstate_numbered_is_numbered_so_again() -> None:
    shown = {"family": "ipv4", "ip-from": "203.0.113.41/32", "route-table": 200, "priority": 30000}
    sweep = {"state": "absent", "route-table": 200}
    policy = {"route-rules": {"config": [sweep, {"ip-from": "203.0.113.41", "route-table": 200}]}}
    now = {"route-rules": {"config": [shown]}}
    assert differences(now, state_after(now, policy)) == []


def test_flags_of_a_lease_that_a_policy_leaves_out_are_on_afterwards_and_come_back() -> None:
    pre, policy = state(eth2(ipv4=LEASE)), wanted("eth2", "ethernet", ipv4={"enabled": True})
    now = state(eth2(ipv4={**LEASE, "auto-dns": True, "auto-gateway": True, "auto-routes": True}))
    assert differences(now, state_after(pre, policy)) == []
    assert differences(pre, state_after(now, plan_reversal(pre, policy, now, {}).state)) == []


def _via(gateway: str = "203.0.113.1") -> State:
    return {"destination": "0.0.0.0/0", "next-hop-address": gateway, "next-hop-interface": "eth2", "table-id": 254}


def test_static_routes_that_nmstate_forgets_with_a_lease_come_back() -> None:
    pre = state(eth2(ipv4=STATIC), routes={"config": [_via()]})
    policy = wanted("eth2", "ethernet", ipv4={"enabled": True, "dhcp": True})
    now = state(eth2(ipv4={"enabled": True, "dhcp": True, "address": []}))
    assert differences(now, state_after(pre, policy)) == []
    assert generate_revert(policy, pre)["routes"] == {"config": [_via()]}
    reversal = plan_reversal(pre, policy, now, {})
    assert reversal.state["routes"] == {"config": [_via()]}
    assert differences(pre, state_after(now, reversal.state)) == []


def test_static_routes_beside_a_lease_are_named_so_that_a_reversal_does_not_lose_them() -> None:
    pre = state(eth2(ipv4=LEASE), routes={"config": [_via()]})
    policy = {**wanted("eth2", "ethernet", ipv4={**LEASE, "auto-dns": True}), "routes": {"config": [_via()]}}
    now = state_after(pre, policy)
    assert now["routes"] == {"config": [_via()]}
    assert plan_reversal(pre, policy, now, {}).state["routes"] == {"config": [_via()]}
    assert generate_revert(policy, pre)["routes"] == {"config": [_via()]}
