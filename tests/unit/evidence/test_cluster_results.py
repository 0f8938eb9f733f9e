# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a fleet's removal as result, plan, diff and undo bundle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.cluster_results import (
    fleet_diff,
    fleet_plan,
    fleet_result,
    fleet_undo,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.results import MOST
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.fleet import FleetOutcome
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.hub import ClusterView
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.lane import LaneOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import named, record
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTERS,
    WORKS,
    Hub,
    removed,
)

REQUESTS = {"list": 3}
FAILURE = Refused("it cannot go", why="so")


def hub() -> Hub:
    made = Hub()
    made.join("edge", ocm.CLUSTER_FINALIZERS[0])
    made.add(ADDONS, "a", "edge")
    made.add(WORKS, "w", "edge", spec={"workload": {"manifests": [{"kind": "Secret", "data": {"k": "hush"}}]}})
    return made


def lane(phase: str, addons: int = 0, works: int = 0, failure: Refused | None = None, **more: Any) -> dict[str, Any]:
    kinds = [[record(f"{name}{n}") for n in range(count)] for name, count in (("a", addons), ("w", works))]
    view = ClusterView("edge", CLUSTERS, record("edge", ""), {}, kinds)
    outcome = FleetOutcome([LaneOutcome(view, phase, failure=failure, **more)], kinds=["addons", "works"])
    row: dict[str, Any] = fleet_result(outcome, REQUESTS)["clusters"][0]
    return row


def test_a_result() -> None:
    result = fleet_result(removed(hub(), "edge", force_after=1), REQUESTS)
    assert (result["changed"], result["requests"], result["survivors"], result["unmatched"]) == (True, REQUESTS, [], [])
    assert "plan" not in result
    (row,) = result["clusters"]
    assert (row["name"], row["phase"], row["remaining"], row["problem"]) == ("edge", "gone", {}, "")
    assert row["namespace"] == {"kept": False, "reason": "", "gone": True}
    assert (result["counts"]["clusters"], result["counts"]["clusters_gone"]) == (1, 1)
    assert "hush" not in json.dumps(result)


def test_a_result_of_check_mode_has_the_plan() -> None:
    made = hub()
    outcome = removed(made, "edge", check_mode=True)
    result = fleet_result(outcome, REQUESTS)
    assert (result["changed"], result["clusters"][0]["phase"]) == (True, "pending")
    assert result["clusters"][0]["remaining"] == {"managedclusteraddons": 1, "manifestworks": 1}
    assert [step["objects"][0]["object"]["name"] for step in result["plan"]] == ["a", "w", "edge"]
    assert fleet_plan(outcome)["plan_hash"] == result["plan_hash"]
    assert len(made.left()) == 4


def test_nothing_to_do_is_no_change() -> None:
    for check_mode in (False, True):
        result = fleet_result(removed(Hub(), "edge", check_mode=check_mode), REQUESTS)
        assert (result["changed"], result["clusters"][0]["phase"]) == (False, "gone")


def test_the_diff_names_what_goes() -> None:
    lines = fleet_diff(removed(hub(), "edge", check_mode=True))["before"].splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "ManagedClusterAddOn edge/a",
        "ManifestWork edge/w",
        "ManagedCluster edge",
    ]


def test_a_long_diff_is_cut() -> None:
    made = hub()
    for number in range(MOST):
        made.add(WORKS, f"w{number}", "edge")
    lines = fleet_diff(removed(made, "edge", check_mode=True))["before"].splitlines()
    assert (len(lines), lines[-1]) == (MOST + 1, "… and 3 more")


def test_an_undo_bundle_only_with_evidence() -> None:
    assert fleet_undo(removed(hub(), "edge", check_mode=True)) is None
    undo = fleet_undo(removed(hub(), "edge", force_after=1, evidence_dir="x"))
    assert undo is not None
    assert "ManagedCluster" in json.dumps(undo)


CONDITIONS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "gone": ({"phase": "gone"}, "True", "NoResource", "nothing of the cluster is left on the hub"),
    "content left": ({"phase": "x", "addons": 1, "works": 2}, "False", "ResourceRemaining", "1 addons, 2 works"),
    "only itself left": ({"phase": "finishing"}, "False", "ResourceRemaining", "still there: the ManagedCluster"),
    "failed and empty": ({"phase": "x", "failure": FAILURE}, "False", "DeletingError", str(FAILURE)),
    "failed with content": ({"phase": "x", "works": 3, "failure": FAILURE}, "False", "ResourceRemaining", "3 works"),
}


@pytest.mark.parametrize(("made", "status", "reason", "message"), named(CONDITIONS))
def test_the_condition_as_it_was_proposed(made: dict[str, Any], status: str, reason: str, message: str) -> None:
    condition = lane(**made)["condition"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ContentDeleteSuccess", status, reason)
    assert message in condition["message"]


def test_a_kept_namespace_and_what_may_remain_are_told_and_cut() -> None:
    row = lane("gone", namespace_kept="so", may_remain=[f"Secret s{n}" for n in range(MOST + 5)])
    assert row["namespace"] == {"kept": True, "reason": "so", "gone": False}
    assert len(row["may_remain_on_spoke"]) == MOST


def test_remaining_is_counted_under_the_right_name() -> None:
    made = hub()
    order = ["ManifestWork", "ManagedClusterAddOn"]
    made.add(WORKS, "w2", "edge")
    outcome = removed(made, "edge", check_mode=True, cleanup=order)
    assert fleet_result(outcome, REQUESTS)["clusters"][0]["remaining"] == {
        "manifestworks": 2,
        "managedclusteraddons": 1,
    }
