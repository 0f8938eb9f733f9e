# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Three states and the other policies: what is reverted, what is kept for whom, what somebody changed since."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal, plan_way_back
from ansible_collections.sunset.kube.tests.unit.fakes import named

State = dict[str, Any]
OFF = {"enabled": False}


def static(*texts: str) -> State:
    found = [{"ip": text, "prefix-length": 64 if ":" in text else 24} for text in texts]
    return {"enabled": True, "dhcp": False, "address": found}


def eth(name: str = "eth1", **more: Any) -> State:
    return {"name": name, "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": OFF, "ipv6": OFF, **more}


def wanted(name: str = "eth1", **more: Any) -> State:
    return {"interfaces": [{"name": name, "type": "ethernet", "state": "up", **more}]}


def bridge(*ports: str, **more: Any) -> State:
    block = {"port": [{"name": port} for port in ports]}
    return {"name": "br0", "type": "linux-bridge", "state": "up", "bridge": block, "ipv4": OFF, "ipv6": OFF, **more}


def route(gateway: str = "192.0.2.1", destination: str = "0.0.0.0/0", **more: Any) -> State:
    return {"destination": destination, "next-hop-address": gateway, "next-hop-interface": "eth1", **more}


def routes(*entries: State) -> State:
    return {"routes": {"config": list(entries)}}


LEASED: State = {
    "enabled": True, "dhcp": True, "autoconf": True, "auto-dns": True, "auto-gateway": True, "address": [],
}  # fmt: skip
PLAIN: State = {"interfaces": [eth(), eth("eth2")]}
ADDRESSED: State = {"interfaces": [eth(ipv4=static("192.0.2.5")), eth("eth2")]}
BR0_ABSENT = {"name": "br0", "type": "linux-bridge", "state": "absent"}
VX_ON_BR0 = {"name": "vx1", "type": "vxlan", "state": "up", "vxlan": {"id": 7, "base-iface": "br0"}}


def change(state: State, **by_name: State) -> State:
    """The same network with some settings of some interfaces otherwise."""
    return {**state, "interfaces": [{**one, **by_name.get(one["name"], {})} for one in state["interfaces"]]}


# The state before, the policy, what somebody did since, and what is said about it.
DRIFT: dict[str, tuple[State, State, State, State, list[str]]] = {
    "another value": (
        PLAIN, wanted(mtu=1400), change(PLAIN, eth1={"mtu": 9000}), {},
        ["eth1 mtu: the policy set 1400, now 9000"],
    ),
    "one of two keys": (
        PLAIN,
        wanted(mtu=1400, ipv4=static("192.0.2.5")),
        change(PLAIN, eth1={"mtu": 9000, "ipv4": static("192.0.2.5")}),
        {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "ipv4": OFF}]},
        ["eth1 mtu: the policy set 1400, now 9000"],
    ),
    "an address beside the policy's": (
        ADDRESSED,
        wanted(ipv4=static("192.0.2.6")),
        change(PLAIN, eth1={"ipv4": static("192.0.2.6", "192.0.2.7")}),
        wanted(ipv4=static("192.0.2.5", "192.0.2.7")),
        [],
    ),
    "another address instead of the policy's": (
        ADDRESSED, wanted(ipv4=static("192.0.2.6")), change(PLAIN, eth1={"ipv4": static("192.0.2.7")}), {},
        ["eth1 ipv4 address: the policy set 192.0.2.6/24, now 192.0.2.7/24"],
    ),
    "static made automatic": (
        PLAIN,
        wanted(ipv4=static("192.0.2.6")),
        change(PLAIN, eth1={"ipv4": {"enabled": True, "dhcp": True}}),
        {},
        ["eth1 ipv4: the policy set static 192.0.2.6/24, now automatic"],
    ),
    "an address beside, where there was none before": (
        PLAIN,
        wanted(ipv4=static("192.0.2.6")),
        change(PLAIN, eth1={"ipv4": static("192.0.2.6", "192.0.2.7")}),
        wanted(ipv4=static("192.0.2.7")),
        ["eth1 ipv4: stays on for 192.0.2.7/24"],
    ),
    "a removed bridge": (PLAIN, {"interfaces": [bridge()]}, PLAIN, {}, []),
    "another kind under the same name": (
        PLAIN,
        {"interfaces": [bridge()]},
        {"interfaces": [*PLAIN["interfaces"], {"name": "br0", "type": "dummy", "state": "up"}]},
        {},
        ["br0: the policy made a linux-bridge, now it is a dummy"],
    ),
    "hardware that is gone": (
        PLAIN, wanted(mtu=1400), {"interfaces": [eth("eth2")]}, {}, ["eth1: is gone"],
    ),
    "a removed interface somebody made again": (
        {"interfaces": [eth(), bridge()]},
        {"interfaces": [BR0_ABSENT]},
        {"interfaces": [eth(), bridge("eth1")]},
        {},
        ["br0: the policy removed it, but somebody made it again"],
    ),
    "a port put into another bridge": (
        ADDRESSED,
        {"interfaces": [bridge("eth1")]},
        {"interfaces": [eth(controller="br9"), eth("eth2"), bridge(), {**bridge("eth1"), "name": "br9"}]},
        {"interfaces": [BR0_ABSENT]},
        ["eth1 is a port of br9 now"],
    ),
    "name servers": (
        {**PLAIN, "dns-resolver": {"config": {"server": ["192.0.2.53"]}}},
        {"dns-resolver": {"config": {"server": ["192.0.2.54"]}}},
        {**PLAIN, "dns-resolver": {"config": {"server": ["192.0.2.55"]}}},
        {},
        ["dns: the policy set server 192.0.2.54, now server 192.0.2.55"],
    ),
    "the host name": (
        {**PLAIN, "hostname": {"config": "one"}},
        {"hostname": {"config": "two"}},
        {**PLAIN, "hostname": {"config": "three"}},
        {},
        ["hostname config: the policy set two, now three"],
    ),
    "a route replaced by hand": (
        {**ADDRESSED, **routes(route(metric=100))},
        routes({**route(), "state": "absent"}, route("192.0.2.2", metric=100)),
        {**ADDRESSED, **routes(route("192.0.2.3", metric=100))},
        {},
        ["route default via 192.0.2.1 dev eth1 metric 100: now there is default via 192.0.2.3 dev eth1 metric 100"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pre", "policy", "now", "state", "drifted"), named(DRIFT))
def test_what_somebody_changed_since_stays(
    pre: State, policy: State, now: State, state: State, drifted: list[str]
) -> None:
    reversal = plan_reversal(pre, policy, now, {})
    assert reversal.state == state
    assert sorted(reversal.drifted) == sorted(drifted)
    assert reversal.unchanged == (not state)


# The state before, the policy, the other policy that lies on the node too, and what is kept for it.
KEPT: dict[str, tuple[State, State, State, list[str]]] = {
    "a flag of a lease that it leaves out": (
        {"interfaces": [eth(ipv6={**LEASED, "auto-routes": False})]},
        wanted(ipv6={**LEASED, "auto-routes": True}),
        wanted(ipv6={"enabled": True, "autoconf": False}),
        ["eth1 ipv6 auto-routes on"],
    ),
    "the same MTU": (PLAIN, wanted(mtu=1400), wanted(mtu=1400), ["eth1 mtu 1400"]),
    "an MTU on top": (PLAIN, wanted(mtu=1400), wanted(mtu=9000), ["eth1 mtu 9000"]),
    "the same addresses": (
        PLAIN, wanted(ipv4=static("192.0.2.5")), wanted(ipv4=static("192.0.2.5")), ["eth1 ipv4"],
    ),
    "a bridge with something on it": (PLAIN, {"interfaces": [bridge()]}, {"interfaces": [VX_ON_BR0]}, ["br0"]),
    "a bridge as the way of a route": (
        PLAIN,
        {"interfaces": [bridge(ipv4=static("192.0.2.5"))]},
        routes({**route("192.0.2.1"), "next-hop-interface": "br0"}),
        ["br0"],
    ),
    "a port": (
        {"interfaces": [eth(), eth("eth2"), bridge()]},
        {"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": bridge("eth1")["bridge"]}]},
        {"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "controller": "br0"}]},
        ["br0 port eth1"],
    ),
    "a removed interface": (
        {"interfaces": [eth(), bridge()]},
        {"interfaces": [BR0_ABSENT]},
        {"interfaces": [BR0_ABSENT]},
        ["br0 absent"],
    ),
    "the same route": (ADDRESSED, routes(route()), routes(route()), ["route default via 192.0.2.1 dev eth1"]),
    "a removed route": (
        {**ADDRESSED, **routes(route(metric=100))},
        routes({**route(), "state": "absent"}),
        routes({"state": "absent", "next-hop-interface": "eth1"}),
        ["no route default via 192.0.2.1 dev eth1 metric 100"],
    ),
    "the same rule": (
        PLAIN,
        {"route-rules": {"config": [{"ip-from": "198.51.100.0/24", "route-table": 200, "priority": 1000}]}},
        {"route-rules": {"config": [{"ip-from": "198.51.100.0/24", "route-table": 200}]}},
        ["rule priority 1000 from 198.51.100.0/24 table 200"],
    ),
    "name servers": (
        PLAIN,
        {"dns-resolver": {"config": {"server": ["192.0.2.53"]}}},
        {"dns-resolver": {"config": {"server": ["192.0.2.53"]}}},
        ["dns"],
    ),
    "the host name": (
        {**PLAIN, "hostname": {"config": "one"}},
        {"hostname": {"config": "two"}},
        {"hostname": {"config": "two"}},
        ["hostname config"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pre", "policy", "other", "kept"), named(KEPT))
def test_what_another_policy_wants_is_kept_and_goes_after_it(
    pre: State, policy: State, other: State, kept: list[str]
) -> None:
    now = state_after(state_after(pre, policy), other)
    reversal = plan_reversal(pre, policy, now, {"other": other})
    assert [one.as_dict() for one in reversal.kept] == [{"what": what, "owner": "other"} for what in kept]
    assert differences(now, state_after(now, reversal.state)) == []
    between = state_after(pre, policy)
    off = state_after(now, plan_reversal(between, other, now, {"ours": policy}).state)
    assert differences(pre, state_after(off, plan_reversal(pre, policy, off, {}).state)) == []


def test_a_claim_that_somebody_has_overwritten_holds_back_nobody() -> None:
    now = change(PLAIN, eth1={"mtu": 1400})
    assert plan_reversal(PLAIN, wanted(mtu=1400), now, {"other": wanted(mtu=9000)}).state == wanted(mtu=1500)


def test_what_was_there_before_is_never_removed() -> None:
    pre = {**ADDRESSED, **routes(route(metric=100))}
    policy = routes(route(metric=100), route("192.0.2.9", "203.0.113.0/24"))
    now = state_after(pre, policy)
    reversal = plan_reversal(pre, policy, now, {})
    assert [entry["destination"] for entry in reversal.state["routes"]["config"]] == ["203.0.113.0/24"]
    assert differences(pre, state_after(now, reversal.state)) == []


def test_a_route_of_the_policy_that_is_gone_already_is_not_removed_again() -> None:
    assert plan_reversal(ADDRESSED, routes(route()), ADDRESSED, {}).unchanged


def test_a_route_by_hand_that_looks_like_ours_survives() -> None:
    pre = {**ADDRESSED, **routes(route(metric=100))}
    policy = routes(route(metric=200))
    now = {**ADDRESSED, **routes(route(metric=100), route(metric=200), route(metric=300))}
    left = state_after(now, plan_reversal(pre, policy, now, {}).state)
    assert [entry["metric"] for entry in left["routes"]["config"]] == [100, 300]


def test_the_way_back_of_the_day_is_as_good_as_one_made_now() -> None:
    policy = {"interfaces": [bridge("eth1", ipv4=static("192.0.2.5"))]}
    now = state_after(ADDRESSED, policy)
    stored = generate_revert(policy, ADDRESSED)
    assert plan_way_back(stored, ADDRESSED, policy, now, {}) == plan_reversal(ADDRESSED, policy, now, {})


def test_documents_given_are_not_changed() -> None:
    policy = {"interfaces": [bridge("eth1", ipv4=static("192.0.2.5"))]}
    now = state_after(ADDRESSED, policy)
    claims = {"other": {"interfaces": [VX_ON_BR0]}}
    before = repr((ADDRESSED, policy, now, claims))
    plan_reversal(ADDRESSED, policy, now, claims)
    assert repr((ADDRESSED, policy, now, claims)) == before


def test_a_policy_below_is_as_content_with_the_route_that_comes_back() -> None:
    below = routes(route("192.0.2.1", "198.51.100.0/24"))
    above = routes({"state": "absent", "next-hop-interface": "eth1"}, route("192.0.2.1", "198.51.100.0/24", metric=150))
    middle = state_after(ADDRESSED, below)
    top = state_after(middle, above)
    found = plan_reversal(middle, above, top, {"below": below})
    assert found.kept == ()
    assert differences(middle, state_after(top, found.state)) == []


def test_the_address_a_claimed_route_stands_on_stays_with_it() -> None:
    way = route("192.0.2.1", "198.51.100.0/24")
    wide = {**wanted(ipv4=static("192.0.2.5")), **routes(way)}
    now = state_after(PLAIN, wide)
    found = plan_reversal(PLAIN, wide, now, {"narrow": routes(way)})
    assert {kept.owner for kept in found.kept} == {"narrow"}
    after = state_after(now, found.state)
    assert [entry["destination"] for entry in after["routes"]["config"]] == ["198.51.100.0/24"]
    (eth1,) = (one for one in after["interfaces"] if one["name"] == "eth1")
    assert [entry["ip"] for entry in eth1["ipv4"]["address"]] == ["192.0.2.5"]


HELPER = {"destination": "198.51.100.9/32", "next-hop-interface": "eth1", "next-hop-address": "0.0.0.0"}


def test_the_way_to_a_gateway_that_network_manager_added_goes_with_the_route() -> None:
    policy = routes(route("198.51.100.9", "203.0.113.0/24"))
    now = {**ADDRESSED, **routes(route("198.51.100.9", "203.0.113.0/24"), HELPER)}
    left = state_after(now, plan_reversal(ADDRESSED, policy, now, {}).state)
    assert differences(ADDRESSED, left) == []


def test_the_way_to_a_gateway_stays_while_somebody_needs_it_or_if_it_was_there() -> None:
    policy, other = routes(route("198.51.100.9", "203.0.113.0/24")), route("198.51.100.9", "192.0.2.128/25")
    now = {**ADDRESSED, **routes(route("198.51.100.9", "203.0.113.0/24"), other, HELPER)}
    left = state_after(now, plan_reversal(ADDRESSED, policy, now, {}).state)
    assert differences({**ADDRESSED, **routes(other, HELPER)}, left) == []
    before = {**ADDRESSED, **routes(HELPER)}
    now = {**ADDRESSED, **routes(route("198.51.100.9", "203.0.113.0/24"), HELPER)}
    assert differences(before, state_after(now, plan_reversal(before, policy, now, {}).state)) == []
