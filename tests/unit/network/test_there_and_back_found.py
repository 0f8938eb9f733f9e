# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""There and back, as random networks once failed: each is kept here, by name."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert
from ansible_collections.sunset.kube.plugins.module_utils.network.shapes import by_key, ports_of
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.network.test_there_and_back import (
    applied,
    below_does_not_break_above,
    comes_off_from_above,
)

State = dict[str, Any]
OFF = {"enabled": False}
ON = {"enabled": True, "dhcp": False, "address": []}


def static(*texts: str, **more: Any) -> State:
    found = [{"ip": text, "prefix-length": 64 if ":" in text else 24} for text in texts]
    return {"enabled": True, "dhcp": False, "address": found, **more}


def leased(**flags: bool) -> State:
    return {"enabled": True, "dhcp": True, "auto-dns": True, "auto-gateway": True, "auto-routes": True, "address": [],
            **{flag.replace("_", "-"): value for flag, value in flags.items()}}  # fmt: skip


def eth(**more: Any) -> State:
    return {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": OFF, "ipv6": OFF, **more}


def bridge(name: str, *ports: str, **settings: Any) -> State:
    block = {"port": [{"name": port, **settings} for port in ports]}
    return {"name": name, "type": "linux-bridge", "state": "up", "bridge": block}


def in_br0(**settings: Any) -> State:
    """eth1 is a port of br0."""
    br0 = {**bridge("br0", "eth1", **settings), "mtu": 1500, "ipv4": ON, "ipv6": OFF}
    return {"interfaces": [eth(controller="br0"), br0]}


def network(**more: Any) -> State:
    return {"interfaces": [eth(**more)]}


def policy(*interfaces: State, **settings: Any) -> State:
    named = [{"name": "eth1", "type": "ethernet", "state": "up", **settings}] if settings else []
    return {"interfaces": [*interfaces, *named]}


BR0_ABSENT = {"name": "br0", "type": "linux-bridge", "state": "absent"}
IN_BR1 = policy(bridge("br1", "eth1"))
SLAAC = {"enabled": True, "autoconf": True}

FROM_ABOVE: dict[str, tuple[State, State, State]] = {
    "a port moved to another bridge, and the bridge it left is emptied": (in_br0(), IN_BR1, policy(bridge("br0"))),
    "a static address beside a lease that showed no addresses": (
        network(),
        policy(ipv4={"enabled": True, "dhcp": True}),
        policy(ipv4={"enabled": True, "address": static("192.0.2.5")["address"]}),
    ),
    "a static address beside a lease that a policy does not name": (
        network(ipv4=leased()),
        policy(ipv4={"enabled": True, "address": static("192.0.2.6")["address"]}),
        policy(ipv4={"enabled": True}),
    ),
}  # fmt: skip

FROM_BELOW: dict[str, tuple[State, State, State]] = {
    "the order of the addresses is that of the policy above": (
        network(ipv4=static("192.0.2.5")),
        policy(bridge("br0", "eth1")),
        policy(BR0_ABSENT, ipv4={"enabled": True, "address": static("192.0.2.6", "192.0.2.5")["address"]}),
    ),
    "the policy above has the port in the same bridge": (in_br0(), IN_BR1, IN_BR1),
    "the policy above wants the bridge from before without ports": (in_br0(), IN_BR1, policy(bridge("br0"))),
    "the policy above took the port that the one below let go": (in_br0(), policy(bridge("br0")), IN_BR1),
    "the policy above took the port of a bridge that the one below removed": (in_br0(), policy(BR0_ABSENT), IN_BR1),
    "the policy above has a lease and no address beside it, the family was off": (
        network(ipv6=static("2001:db8::5", autoconf=False)), policy(ipv6=OFF), policy(ipv6=SLAAC),
    ),
    "the policy above has a lease and no address beside it, the family was empty": (
        network(ipv4=static("192.0.2.5")), policy(ipv4=ON), policy(ipv4={"enabled": True, "dhcp": True}),
    ),
    "the policy above turns on what it does not say of a lease": (
        network(ipv4=leased(auto_gateway=False)), policy(ipv4={"enabled": True, "dhcp": False}),
        policy(ipv4={"enabled": True}),
    ),
    "the policy above wants routes of a lease": (
        network(ipv6={**leased(auto_routes=False), "autoconf": True}),
        policy(ipv6={"enabled": True, "autoconf": False}),
        policy(ipv6={"enabled": True, "auto-routes": True}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pre", "lower", "upper"), named(FROM_ABOVE))
def test_policies_come_off_from_above(pre: State, lower: State, upper: State) -> None:
    comes_off_from_above(pre, lower, upper)


@pytest.mark.parametrize(("pre", "lower", "upper"), named(FROM_BELOW))
def test_the_policy_above_stays_whole(pre: State, lower: State, upper: State) -> None:
    below_does_not_break_above(pre, lower, upper)


def test_a_port_is_in_one_bridge_whoever_names_it() -> None:
    lists = {name: ports_of(one) for (name, _user), one in by_key(state_after(in_br0(), IN_BR1)).items()}
    assert (lists["br0"], lists["br1"]) == ([], ["eth1"])
    back = by_key(state_after(state_after(in_br0(), IN_BR1), policy(controller="br0")))
    assert (ports_of(back["br0", False]), ports_of(back["br1", False])) == (["eth1"], [])


def test_a_port_that_was_taken_away_comes_back_with_its_settings() -> None:
    pre = in_br0(**{"stp-path-cost": 7})
    back = generate_revert(IN_BR1, pre)
    assert differences(pre, state_after(applied(pre, IN_BR1), back)) == []
    assert bridge("br0", "eth1", **{"stp-path-cost": 7}) in back["interfaces"]


def test_what_is_not_taken_back_is_told() -> None:
    pre, lower = in_br0(), policy(bridge("br0"))
    now = applied(applied(pre, lower), IN_BR1)
    claimed = plan_reversal(pre, lower, now, {"upper": IN_BR1})
    assert (claimed.state, [(one.what, one.owner) for one in claimed.kept]) == ({}, [("eth1 controller br1", "upper")])
    by_hand = plan_reversal(pre, lower, now, {})
    assert (by_hand.state, by_hand.kept) == ({}, ())
    assert by_hand.drifted[0] == "eth1: is in br1 now"
