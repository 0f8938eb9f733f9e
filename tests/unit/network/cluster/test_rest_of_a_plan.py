# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which plan is the rest of one that somebody approved: the same work on fewer nodes, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.plan import Plan
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.scene import Policy
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.waves import Wave
from ansible_collections.sunset.kube.plugins.module_utils.shown import NOTHING_SHOWN, Shown
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms

DOWN: dict[str, Any] = {"interfaces": [{"name": "eth1.100", "state": "absent"}]}
OTHER: dict[str, Any] = {"interfaces": [{"name": "eth1", "state": "down"}]}


def plan(uid: str = "p", waiting: tuple[str, ...] = (), **nodes: dict[str, Any]) -> Plan:
    """What is done to each node; those that wait are known, and their turn does not come."""
    policy = Policy({"metadata": {"name": "vlan", "uid": uid}})
    planned: Any = {name: SimpleNamespace(reversal=SimpleNamespace(state=state)) for name, state in nodes.items()}
    return Plan(policy, planned, [Wave("workers", tuple(name for name in nodes if name not in waiting))], 1)


WHOLE = Shown(work=plan(a=DOWN, b=DOWN).work, terms=Terms().digest)

RESTS: dict[str, tuple[Plan, bool]] = {
    "the whole": (plan(a=DOWN, b=DOWN), True),
    "one node is done": (plan(b=DOWN), True),
    "all are done, and it was cut off before it said so": (plan(), True),
    "one cannot be reached now": (plan(waiting=("a",), a=DOWN, b=DOWN), True),
    "something else is done there": (plan(b=OTHER), False),
    "a node more": (plan(b=DOWN, c=DOWN), False),
    "the same on another node": (plan(c=DOWN), False),
    "a policy of the same name": (plan("q", b=DOWN), False),
}


@pytest.mark.parametrize(("found", "rest"), RESTS.values(), ids=RESTS)
def test_the_rest_is_the_same_work_on_fewer_nodes(found: Plan, rest: bool) -> None:
    assert found.is_rest_of(WHOLE) is rest
    assert not found.is_rest_of(NOTHING_SHOWN)
    found.terms = Terms({"": "another cluster"})
    assert not found.is_rest_of(WHOLE)
