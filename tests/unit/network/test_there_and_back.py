# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""There and back: on random networks and policies, the way back gives the network from before."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given

from ansible_collections.sunset.kube.plugins.module_utils.network.after import state_after
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.entries import family_of_route
from ansible_collections.sunset.kube.plugins.module_utils.network.ip_blocks import leased_families
from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert
from ansible_collections.sunset.kube.plugins.module_utils.network.shapes import entries_of
from ansible_collections.sunset.kube.plugins.module_utils.network.three_way import plan_reversal
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption
from ansible_collections.sunset.kube.tests.unit.network.grammar import networks, policies

State = dict[str, Any]


def applied(pre: State, policy: State) -> State:
    """The node after the policy, as a query shows it; policies that can never be applied are no example."""
    try:
        after = state_after(pre, policy)
    except BadOption:
        assume(False)
        raise
    for interface in after["interfaces"]:
        interface.setdefault("mtu", 1500)
        for family in ("ipv4", "ipv6"):
            interface.setdefault(family, {"enabled": False})
    return after


@given(networks(), policies())
def test_a_policy_and_its_way_back_leave_the_network_as_it_was(pre: State, policy: State) -> None:
    after = applied(pre, policy)
    assert differences(pre, state_after(after, generate_revert(policy, pre))) == []


@given(networks(), policies())
def test_a_reversal_of_an_untouched_node_does_the_same_and_leaves_nothing(pre: State, policy: State) -> None:
    after = applied(pre, policy)
    reversal = plan_reversal(pre, policy, after, {})
    assert differences(pre, state_after(after, reversal.state)) == []
    assert (reversal.kept, reversal.drifted) == ((), ())


@given(networks(), policies())
def test_a_second_reversal_has_nothing_to_do(pre: State, policy: State) -> None:
    applied(pre, policy)
    assert plan_reversal(pre, policy, pre, {}).state == {}


@given(networks())
def test_a_policy_that_restates_the_network_has_no_way_back(pre: State) -> None:
    assert generate_revert(pre, pre) == {}


@given(networks(), policies(), policies())
def test_policies_on_top_of_each_other_come_off_from_above(pre: State, lower: State, upper: State) -> None:
    comes_off_from_above(pre, lower, upper)


def comes_off_from_above(pre: State, lower: State, upper: State) -> None:
    middle = applied(pre, lower)
    top = applied(middle, upper)
    off = state_after(top, plan_reversal(middle, upper, top, {"lower": lower}).state)
    assert differences(middle, off) == []
    assert differences(pre, state_after(off, plan_reversal(pre, lower, off, {}).state)) == []


@given(networks(), policies(), policies())
def test_a_policy_below_never_breaks_the_one_above(pre: State, lower: State, upper: State) -> None:
    below_does_not_break_above(pre, lower, upper)


def below_does_not_break_above(pre: State, lower: State, upper: State) -> None:
    middle = applied(pre, lower)
    top = applied(middle, upper)
    left = state_after(top, plan_reversal(pre, lower, top, {"upper": upper}).state)
    again = applied(left, upper)
    beside = leased_families(again["interfaces"])
    assert differences(without_routes(left, beside), without_routes(again, beside)) == []


def without_routes(state: State, beside: set[tuple[str, str]]) -> State:
    """Without routes beside a lease: no policy says that they must not be there, nmstate only forgets them."""
    stay = [
        route
        for route in entries_of(state, "routes")
        if (route["next-hop-interface"], family_of_route(route)) not in beside
    ]
    return {**state, "routes": {"config": stay}}
