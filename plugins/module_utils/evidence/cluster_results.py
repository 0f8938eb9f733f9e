# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a fleet's removal as result, plan file and diff.

Room: evidence.
"""

from __future__ import annotations

from typing import Any

from ..teardown.managed_cluster.fleet import FleetOutcome
from ..teardown.managed_cluster.lane import LaneOutcome
from ..teardown.run_outcome import StepOutcome
from .cluster_table import fleet_table
from .ranked_results import gone_in, kept_rows, plan_rows, step_row, undo_of
from .results import MOST, bounded, survivor_of


def fleet_result(outcome: FleetOutcome, requests: dict[str, Any]) -> dict[str, Any]:
    steps = [step for lane in outcome.lanes for run in lane.runs for step in run.steps]
    plan = outcome.plan
    gone = gone_in(run for lane in outcome.lanes for run in lane.runs)
    result: dict[str, Any] = {
        "changed": outcome.changed or (outcome.check_mode and bool(plan.going)),
        "clusters": [_cluster(lane, outcome) for lane in outcome.lanes],
        "table": fleet_table(outcome),
        "plan_hash": plan.hash,
        "steps": [step_row(step) for step in steps or [StepOutcome(step) for step in plan.steps]],
        "counts": {
            **plan.counts(),
            "deleted": sum(step.deleted for step in steps),
            "gone": len(gone),
            "released": sum(step.released for step in steps),
            "clusters": len(outcome.lanes),
            "clusters_gone": sum(lane.phase == "gone" for lane in outcome.lanes),
        },
        "kept": kept_rows(plan.kept),
        "gone": [ref.as_dict() for ref in gone],
        "unmatched": [],
        "survivors": [
            survivor_of(one, outcome.server_time) for lane in outcome.lanes for one in lane.diagnosis.survivors
        ],
        "requests": requests,
    }
    if outcome.check_mode:
        result["plan"] = plan_rows(plan, MOST)
    return bounded(result)


def fleet_plan(outcome: FleetOutcome) -> dict[str, Any]:
    return {
        "plan_hash": outcome.plan.hash,
        "terms": outcome.plan.terms.as_dict(),
        "steps": plan_rows(outcome.plan),
    }


def fleet_diff(outcome: FleetOutcome) -> dict[str, str]:
    lines = [f"{step.rule.name}: {entry.member.ref}\n" for step in outcome.plan.steps for entry in step.going]
    cut = [*lines[:MOST], f"… and {len(lines) - MOST} more\n"] if len(lines) > MOST else lines
    return {"before_header": "objects", "after_header": "objects", "before": "".join(cut), "after": ""}


def fleet_undo(outcome: FleetOutcome) -> dict[str, Any] | None:
    return undo_of(outcome.keepsakes)


def _cluster(lane: LaneOutcome, outcome: FleetOutcome) -> dict[str, Any]:
    view = lane.view
    counted = list(zip(outcome.kinds, view.kinds, strict=False)) if lane.phase != "gone" else []
    remaining = {name: len(records) for name, records in counted if records}
    held = {name: sum(bool(record.finalizers) for record in records) for name, records in counted}
    return {
        "name": view.name,
        "phase": lane.phase,
        "reachable": view.reach.value,
        "condition": _condition(lane, remaining, held),
        "hub_cleans_up": view.name in outcome.hub_cleans_up,
        "hub_condition": dict(view.hub_condition) if view.hub_condition else None,
        "remaining": remaining,
        "hooks": [hook.as_dict() for hook in list(lane.hooks.values())[:MOST]],
        "waits_for": [str(ref) for ref in view.gate[:MOST]],
        "namespace": {"kept": bool(lane.namespace_kept), "reason": lane.namespace_kept, "gone": lane.namespace_gone},
        "may_remain_on_spoke": lane.may_remain[:MOST],
        "spoke": {"klusterlets": lane.spoke.klusterlets, "leftovers": lane.spoke.leftovers} if lane.spoke else None,
        "problem": str(lane.failure) if lane.failure else "",
    }


def _condition(lane: LaneOutcome, remaining: dict[str, int], held: dict[str, int]) -> dict[str, str]:
    """The condition as it was proposed, computed from what is there; the hub's own stands beside it."""
    if lane.phase == "gone":
        status, reason, message = "True", "NoResource", "nothing of the cluster is left on the hub"
    elif lane.failure and not remaining:
        status, reason, message = "False", "DeletingError", str(lane.failure)
    else:
        waiting = {kind: f" ({count} with finalizers)" if count else "" for kind, count in held.items()}
        texts = [f"{count} {kind}{waiting[kind]}" for kind, count in remaining.items()]
        counted = ", ".join(texts) or "the ManagedCluster"
        status, reason, message = "False", "ResourceRemaining", f"still there: {counted}"
    return {"type": "ContentDeleteSuccess", "status": status, "reason": reason, "message": message}
