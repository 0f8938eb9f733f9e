# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking clusters off a hub: order, gates, namespaces, unreachable ones; with and without the hub's own controllers."""

from __future__ import annotations

from integration.fleets import (
    WORK_FINALIZER,
    Detacher,
    addon,
    agent,
    is_gone,
    joined,
    managed_cluster_body,
    report,
    until_accepted,
    work,
)
from integration.ranked import deletions, failed, succeeded
from integration.stage import Stage
from lab.plane.audit import AuditTrail


def test_a_cluster_leaves_a_hub_whose_controllers_help(stage: Stage, detach: Detacher, living_hub: None) -> None:
    stage.put(managed_cluster_body("edge"))
    until_accepted(stage, "edge")
    report(stage, "edge")
    stage.put(addon("metrics", "edge"), *(work(f"w{i}", "edge", WORK_FINALIZER) for i in range(5)))
    with agent(stage, "edge") as running:
        result = succeeded(detach("edge"))
        assert running.ledger == set()
    assert is_gone(stage, "edge")
    assert stage.api.get("/api/v1/namespaces/edge")[0] == 404
    assert result["clusters"][0]["phase"] == "gone"
    again = succeeded(detach("edge"))
    assert (again["changed"], again["clusters"][0]["phase"]) == (False, "gone")


def test_waves_go_in_order_without_any_hub(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    joined(stage, "lone")
    stage.put(managed_cluster_body("lone", "cluster.open-cluster-management.io/api-resource-cleanup"))
    report(stage, "lone")
    stage.put(
        addon("addon", "lone"),
        work("late", "lone", WORK_FINALIZER, priority="100"),
        work("lone-klusterlet", "lone", WORK_FINALIZER),
        work("early", "lone", WORK_FINALIZER, priority="+5"),
        work("first", "lone", WORK_FINALIZER, priority="nonsense"),
    )
    with agent(stage, "lone"):
        succeeded(detach("lone"))
    order = [name for name in deletions(audit, detach.user) if not name.startswith("sunset-")]
    assert order == ["lone", "addon", "first", "early", "late", "lone-klusterlet", "lone"]
    assert is_gone(stage, "lone")


def test_an_unreachable_cluster_is_refused_and_can_be_forced(stage: Stage, detach: Detacher) -> None:
    joined(stage, "dark")
    stage.put(managed_cluster_body("dark"))
    report(stage, "dark", "Unknown")
    (held,) = stage.put(work("w", "dark", WORK_FINALIZER))
    assert "cannot clean up" in failed(detach("dark"))
    assert not stage.look(held)["metadata"].get("deletionTimestamp")
    result = succeeded(detach("dark", on_unreachable="force"))
    assert result["clusters"][0]["may_remain_on_spoke"] == ["ConfigMap default/w"]
    assert is_gone(stage, "dark")
