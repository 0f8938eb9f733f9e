# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outcomes of taking a policy back on a cluster, as results, previews and plans.

Room: evidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..network.after import state_after
from ..network.cluster.outcome import WELL, NncpOutcome, NodeOutcome, Phase
from ..network.hidden import masked
from ..network.normal import normalised
from .results import bounded

_FINE = WELL | {Phase.PLANNED, Phase.RECORDED}


def nncp_result(outcome: NncpOutcome, requests: Mapping[str, Any]) -> dict[str, Any]:
    rows = [_row(one) for _name, one in sorted(outcome.nodes.items())]
    result = {
        "changed": outcome.changed,
        "policy": outcome.policy,
        "outcome": outcome.outcome,
        "plan_hash": outcome.plan.hash if outcome.plan else "",
        "nodes": rows,
        "table": [_line(row) for row in rows],
        "counts": dict(outcome.counts()),
        "max_unavailable": outcome.most,
        "steps": _steps(outcome),
        "survivors": [_survivor(one) for one in outcome.nodes.values() if one.phase not in _FINE],
        "seconds": round(outcome.seconds, 3),
        "requests": dict(requests),
    }
    return bounded(result)


def _line(row: Mapping[str, Any]) -> str:
    """A node for people: what became of it and why, or what is taken back."""
    told = row["reason"] or "; ".join(row.get("reverted") or ())
    return f"{row['node']}: {row['phase']}" + (f" · {told}" if told else "")


def nncp_plan(outcome: NncpOutcome) -> dict[str, Any]:
    """The whole plan, for `plan.json`."""
    return {
        "plan_hash": outcome.plan.hash if outcome.plan else "",
        "terms": outcome.plan.terms.as_dict() if outcome.plan else None,
        "policy": outcome.policy,
        "max_unavailable": outcome.most,
        "waves": [{"name": wave.name, "nodes": list(wave.nodes)} for wave in outcome.plan.waves]
        if outcome.plan
        else [],
        "nodes": [_row(one) for _name, one in sorted(outcome.nodes.items())],
        "work": sorted(outcome.plan.work) if outcome.plan else [],
    }


def nncp_diff(outcome: NncpOutcome) -> dict[str, str]:
    """Each node's network before and after, as far as it differs, with what could be cut off."""
    touched = [one for _name, one in sorted(outcome.nodes.items()) if one.plan and one.plan.reversal.state]
    parts = [_before_and_after(one) for one in touched]
    return {
        "before_header": f"{outcome.policy} in force",
        "after_header": f"{outcome.policy} taken back",
        "before": "".join(before for before, _after in parts),
        "after": "".join(after for _before, after in parts),
    }


def _before_and_after(one: NodeOutcome) -> tuple[str, str]:
    if one.plan is None:
        return "", ""
    now = normalised(one.plan.now)
    then = normalised(state_after(one.plan.now, one.plan.reversal.state))
    before, after = (dict(_different(a, b)) for a, b in ((now, then), (then, now)))
    risks = "".join(f"  risk: {risk}\n" for risk in one.plan.risks)
    return _text(one.node, before), _text(one.node, after) + risks


def _different(this: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Parts of one state that the other has not: whole parts, and single interfaces, routes and rules."""
    found: list[tuple[str, Any]] = []
    for part in sorted({*this, *other}):
        mine, yours = this.get(part), other.get(part)
        if isinstance(mine, list):
            mine = [entry for entry in mine if entry not in (yours or [])]
        elif mine == yours:
            mine = None
        if mine:
            found.append((part, mine))
    return found


def _text(node: str, state: Mapping[str, Any]) -> str:
    return f"node {node}\n{json.dumps(masked(state), indent=2, sort_keys=True)}\n"


def _row(one: NodeOutcome) -> dict[str, Any]:
    row: dict[str, Any] = {"node": one.node, "phase": one.phase.value, "reason": one.reason, "wave": one.wave}
    if one.plan is None:
        return row
    reversal = one.plan.reversal
    return {
        **row,
        "source": "made_up" if one.plan.record.made_up else "recorded",
        "reverted": list(reversal.reverted),
        "kept": [kept.as_dict() for kept in reversal.kept],
        "drifted": list(reversal.drifted),
        "risks": list(one.plan.risks),
        "revert_state": masked(reversal.state),
    }


def _survivor(one: NodeOutcome) -> dict[str, Any]:
    return {
        "api_version": "v1",
        "kind": "Node",
        "namespace": "",
        "name": one.node,
        "uid": "",
        "finalizers": [],
        "deleting_for": None,
        "blocked_by": [{"reason": f"{one.phase.value}: {one.reason}" if one.reason else one.phase.value}],
    }


def _steps(outcome: NncpOutcome) -> list[dict[str, Any]]:
    waves = outcome.plan.waves if outcome.plan else []
    return [
        {
            "name": wave.name,
            "rank": rank,
            "total": len(wave.nodes),
            "deleted": 0,
            "released": sum(outcome.nodes[name].phase is Phase.REVERTED for name in wave.nodes),
            "kept": 0,
            "seconds": round(outcome.wave_seconds.get(wave.name, 0.0), 3),
        }
        for rank, wave in enumerate(waves, start=1)
    ]
