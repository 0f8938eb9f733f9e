# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outcomes of maintenance to results, previews and plans.

Room: evidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..maintenance.outcome import MaintenanceOutcome, TargetOutcome
from ..objects import moment
from ..paths import covers
from ..problems import MissingPackage

_MOST = 200
_HIDDEN = "(for the bypass; not shown)"


def maintenance_result(outcome: MaintenanceOutcome, requests: Mapping[str, Any]) -> dict[str, Any]:
    targets = [_target(one) for one in outcome.targets]
    plan = {"plan": maintenance_plan(outcome)["targets"][:_MOST]} if outcome.check_mode else {}
    return {
        **plan,
        "changed": outcome.changed,
        "targets": targets[:_MOST],
        "page_sets": [
            {"namespace": one.namespace, "name": one.name, "hash": one.digest, "state": one.state}
            for one in sorted(outcome.page_sets, key=lambda one: (one.namespace, one.name))
        ],
        "coverage": outcome.coverage[:_MOST],
        "swept": outcome.swept[:_MOST],
        "verified": outcome.verified[:_MOST],
        "unseen": outcome.unseen,
        "maintenance_operator": _operator(outcome),
        "counts": _counts(outcome.targets),
        "plan_hash": outcome.plan_hash,
        "truncated": {
            name: len(full)
            for name, full in (
                ("targets", targets),
                ("coverage", outcome.coverage),
                ("swept", outcome.swept),
                ("verified", outcome.verified),
            )
            if len(full) > _MOST
        },
        "seconds": round(outcome.seconds, 3),
        "requests": dict(requests),
    }


def _operator(outcome: MaintenanceOutcome) -> dict[str, str]:
    names = outcome.operator
    return {
        "maintenance_annotation": names.enabled,
        "maintenance_annotation_value": names.value,
        "backup_annotation": names.marker,
        "backup_config_map_prefix": names.backups,
        "source": names.source,
    }


def _target(one: TargetOutcome) -> dict[str, Any]:
    return {
        "api_version": one.ref.api_version,
        "kind": one.ref.kind,
        "namespace": one.ref.namespace,
        "name": one.ref.name,
        "uid": one.ref.uid,
        "state": one.state,
        "page": one.page,
        "strategy": one.strategy,
        "locations": one.locations,
        "conflicts": one.conflicts,
        "changed": one.changed,
        "since": one.since,
        "until": moment(one.until) if one.until is not None else "",
        "by": one.by,
        "reason": one.reason,
        "paused": one.paused,
        "holders": one.holders,
        "why": one.why,
    }


def _counts(targets: Sequence[TargetOutcome]) -> dict[str, int]:
    states = [one.state for one in targets]
    return {"targets": len(states), **{state: states.count(state) for state in sorted(set(states))}}


def maintenance_plan(outcome: MaintenanceOutcome) -> dict[str, Any]:
    return {
        "plan_hash": outcome.plan_hash,
        "state": outcome.state,
        "targets": [
            {**_target(one), "operations": _masked(list(one.operations), one.hidden)} for one in outcome.targets
        ],
    }


def maintenance_diff(outcome: MaintenanceOutcome) -> dict[str, str]:
    """Every route before and after, as it would be written."""
    touched = [one for one in outcome.targets if one.operations and one.item is not None]
    overlays = [one for one in outcome.targets if one.in_front and (one.state == "pending" or one.changed)]
    in_front = "".join(f"{one.ref}\n{json.dumps(one.in_front, indent=2, sort_keys=True)}\n" for one in overlays)
    return {
        "before": "".join(_shown(one, one.item or {}) for one in touched),
        "after": "".join(_shown(one, _applied(one)) for one in touched) + in_front,
    }


def _applied(one: TargetOutcome) -> Mapping[str, Any]:
    try:
        import jsonpatch
    except ImportError as problem:
        raise MissingPackage.named("jsonpatch", problem) from problem
    steps = [step for step in one.operations if step["op"] != "test"]
    applied: Mapping[str, Any] = jsonpatch.apply_patch(one.item, steps)
    return applied


def _shown(one: TargetOutcome, item: Mapping[str, Any]) -> str:
    kept = {"annotations": _without_last_applied(item["metadata"].get("annotations")), "spec": item.get("spec")}
    return f"{one.ref}\n{json.dumps(_masked(kept, one.hidden), indent=2, sort_keys=True)}\n"


def _masked(value: Any, hidden: Sequence[Any]) -> Any:
    """The same without entries that must not be shown, whatever defaults the server has put into them."""
    if not hidden:
        return value
    if isinstance(value, Mapping):
        if any(covers(value, entry) for entry in hidden):
            return _HIDDEN
        return {key: _masked(inner, hidden) for key, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, hidden) for inner in value]
    return value


def _without_last_applied(annotations: Mapping[str, str] | None) -> dict[str, str]:
    hidden = "kubectl.kubernetes.io/last-applied-configuration"
    return {key: value for key, value in (annotations or {}).items() if key != hidden}
