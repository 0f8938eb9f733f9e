# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every backend on a real node: a policy leads where it says, and its way back leads to where the node was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.backends.goal import goal_of, not_reached
from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from ansible_collections.sunset.kube.plugins.module_utils.network.revert import generate_revert
from integration.network.on_node import MANAGED, OnNode
from integration.network.policies import ONLY_BY, POLICIES, State
from lab.net.network import Net


@pytest.fixture(scope="module")
def stage(running_net: Net) -> Iterator[OnNode]:
    on = OnNode(running_net)
    yield on
    on.close()
    running_net.reset()


@pytest.fixture
def on(stage: OnNode, backend: str) -> OnNode:
    if not stage.clean or stage.backend != backend:
        stage.renew(backend, ask_neighbours=False)
    stage.clean = False
    return stage


def differ(before: State, now: State) -> list[str]:
    """nmstatectl shows some defaults only where there is a profile. Its profiles stay, and rules make one for lo."""
    told = [one for one in differences(before, now) if not one.startswith("lo ")]
    return [one for one in told if not one.endswith(("nothing, now -1", "nothing, now enabled off"))]


PAIRS = [(name, policy) for name in MANAGED for policy in POLICIES if name in ONLY_BY.get(policy, tuple(MANAGED))]


@pytest.mark.parametrize(("backend", "policy"), PAIRS)
def test_a_policy_leads_where_it_says_and_its_way_back_to_where_the_node_was(on: OnNode, policy: str) -> None:
    before, desired = POLICIES[policy]
    new = on.capture()
    if before:
        on.apply(before)
    pre = on.capture() if before else new
    goal = goal_of(desired, pre)
    on.apply(desired)
    assert not_reached(goal, on.capture()) == []
    on.apply(generate_revert(desired, pre))
    assert differ(pre, on.capture()) == []
    if before:
        on.apply(generate_revert(before, new))
        assert differ(new, on.capture()) == []
    on.clean = True
