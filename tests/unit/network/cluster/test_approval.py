# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody approves with the hash of a plan, and what is shown to somebody whose hash is of another plan."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Event, Planned
from ansible_collections.sunset.kube.plugins.module_utils.evidence.nncp_results import nncp_result
from ansible_collections.sunset.kube.plugins.module_utils.jobs.nncp_revert import JOB
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster import nncp_revert
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.options import NncpOptions
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.outcome import NncpOutcome, Phase, Run
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.plan import Plan, make_plan
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.scene import Policy
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.waves import Wave
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.terms import Terms
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock

POLICY = Policy({"metadata": {"name": "vlan", "uid": "p"}})


def hash_with(**options: Any) -> str:
    """Of a policy that no node has taken up: what is left of the plan are its terms."""
    scene: Any = SimpleNamespace(of_policy=lambda name: {}, nodes={}, states={})
    records: Any = SimpleNamespace(found={})
    terms = Terms({}, JOB.hashed(options))
    return make_plan(NncpOptions("vlan", **options), POLICY, scene, records, "", terms).hash


@pytest.mark.parametrize("changed", [{"force": True}, {"unreachable": "leave"}, {"on_failure": "undo"}])
def test_what_becomes_of_risky_silent_and_failed_nodes_is_approved_with_the_plan(changed: dict[str, Any]) -> None:
    assert hash_with() == hash_with(timeout=5.0)
    assert hash_with(**changed) != hash_with()


def test_who_is_refused_because_of_another_plan_sees_that_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    reversal = SimpleNamespace(state={}, reverted=["eth1.100"], kept=[], drifted=[])
    node: Any = SimpleNamespace(reversal=reversal, record=SimpleNamespace(made_up=False), risks=(), unreachable="")
    found = Plan(POLICY, {"a": node}, [Wave("workers", ("a",))], 1)
    monkeypatch.setattr(nncp_revert, "make_plan", lambda *_given: found)
    clock, told = FakeClock(), list[Event]()
    cluster: Any = SimpleNamespace(server_time=lambda: 0.0, identity=lambda: "kube-system 7c1f")
    nothing: Any = None
    outcome = NncpOutcome("vlan")
    options = NncpOptions("vlan", plan_hash="0123456789ab")
    run = Run(options, nothing, cluster, clock, StopSign(), told.append, Deadline(clock, 9), outcome)
    with pytest.raises(Refused, match="the plan has changed"):
        nncp_revert._planned(POLICY, nothing, nothing, run)
    result = nncp_result(outcome, {})
    assert (result["plan_hash"], result["table"]) == (found.hash, ["a: planned · eth1.100"])
    assert (outcome.nodes["a"].phase, result["survivors"]) == (Phase.PLANNED, []), "nobody waits for its turn"
    assert [event.plan_hash for event in told if isinstance(event, Planned)] == [found.hash]
