# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a custom resource: conditions by phase, and facts from results. Says only what was seen.

Room: incluster (pure). Times of transition are kept as long as a condition stays what it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..objects import parse_time
from ..visible import visible

SUSPENDED, SCHEDULED, PLANNING, PLANNED = "suspended", "scheduled", "planning", "planned"
RUNNING, STANDING, COMPLETED, BLOCKED = "running", "standing", "completed", "blocked"
RETURNED = "returned"  # what a Maintenance held is back, and what it says by now is still to be done

# phase → condition → (status, reason). What is not named stays as it was.
PHASES: dict[str, dict[str, tuple[str, str]]] = {
    SUSPENDED: {"Progressing": ("False", "Suspended"), "Blocked": ("False", "Suspended")},
    SCHEDULED: {
        "Progressing": ("False", "Scheduled"),
        "Blocked": ("False", "Scheduled"),
        "Completed": ("False", "Scheduled"),
    },
    PLANNING: {"Progressing": ("True", "Planning"), "Completed": ("False", "Planning")},
    PLANNED: {
        "Planned": ("True", "PlanMade"),
        "Progressing": ("False", "AwaitingApproval"),
        "Blocked": ("False", "PlanMade"),
        "Completed": ("False", "AwaitingApproval"),
    },
    RUNNING: {"Progressing": ("True", "Running"), "Completed": ("False", "Running")},
    STANDING: {
        "Planned": ("True", "CarriedOut"),
        "Progressing": ("True", "InMaintenance"),
        "Blocked": ("False", "InMaintenance"),
        "Completed": ("False", "InMaintenance"),
    },
    RETURNED: {"Progressing": ("True", "RoutesBack"), "Completed": ("False", "RoutesBack")},
    COMPLETED: {
        "Planned": ("True", "CarriedOut"),
        "Progressing": ("False", "Completed"),
        "Blocked": ("False", "Completed"),
        "Completed": ("True", "Completed"),
    },
    BLOCKED: {
        "Progressing": ("False", "Blocked"),
        "Blocked": ("True", "Failed"),
        "Completed": ("False", "Blocked"),
    },
}
# Where a run is at its end for this generation of the spec.
_FINAL = (PLANNED, STANDING, COMPLETED, BLOCKED)
MOST_SURVIVORS, MOST_LINES, MOST_ERRORS, MOST_TEXT = 50, 200, 20, 2000
FIRST_WAIT, LONGEST_WAIT = 15.0, 300.0


def reason_of(phase: str) -> str:
    return PHASES[phase]["Progressing"][1]


def holds(item: Mapping[str, Any], type_: str, *, reason: str = "") -> bool:
    """Whether a condition is true for the spec as it is now."""
    metadata, status = item.get("metadata") or {}, item.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") == type_ and condition.get("status") == "True":
            fresh = condition.get("observedGeneration") == metadata.get("generation")
            return fresh and reason in ("", condition.get("reason"))
    return False


def has_begun(item: Mapping[str, Any]) -> bool:
    """Whether something of it may be in force, whatever its spec says now."""
    return _was_last(item, RUNNING, STANDING, BLOCKED)


def may_have_left_something(item: Mapping[str, Any]) -> bool:
    """The same for the last look of all: also one that calls itself done has done something."""
    return has_begun(item) or _was_last(item, COMPLETED)


def _was_last(item: Mapping[str, Any], *phases: str) -> bool:
    conditions = (item.get("status") or {}).get("conditions") or ()
    reason = next((one.get("reason") for one in conditions if one.get("type") == "Progressing"), "")
    return reason in {reason_of(phase) for phase in phases}


def in_phase(item: Mapping[str, Any], phase: str, now: str, *, message: str = "", reason: str = "") -> dict[str, Any]:
    """The status with the conditions of a phase. `reason` is for what blocks."""
    status = dict(item.get("status") or {})
    generation = (item.get("metadata") or {}).get("generation")
    before = {one.get("type"): one for one in status.get("conditions") or ()}
    after = dict(before)
    for type_, (value, usual) in PHASES[phase].items():
        fresh = {
            "type": type_,
            "status": value,
            "reason": reason if reason and type_ == "Blocked" and value == "True" else usual,
            # Where it belongs: in what is going on, and in what is the case.
            "message": visible(message)[:MOST_TEXT] if value == "True" or type_ == "Progressing" else "",
            "observedGeneration": generation,
        }
        old = before.get(type_) or {}
        kept = old.get("lastTransitionTime") if old.get("status") == value else None
        after[type_] = {**fresh, "lastTransitionTime": kept or now}
    status["conditions"] = [
        after[type_] for type_ in ("Planned", "Progressing", "Blocked", "Completed") if type_ in after
    ]
    if phase in _FINAL:
        tries = status.get("attempts", 0) if status.get("observedGeneration") == generation else 0
        status["attempts"] = tries + 1 if phase == BLOCKED else 0
        status["observedGeneration"] = generation
    if phase == COMPLETED:
        status["survivors"] = []
    return status


def wait_before_next_try(status: Mapping[str, Any]) -> float:
    """In seconds. Longer each time, and never so long that an obstacle that went is noticed much later."""
    tries = max(1, int(status.get("attempts") or 1))
    wait: float = FIRST_WAIT * 2 ** min(tries - 1, 10)
    return min(wait, LONGEST_WAIT)


def wait_without_status(item: Mapping[str, Any], now: float, told_for: float) -> float:
    """The same for kinds of others, which keep no tries of ours: by how long it hangs already."""
    deleted = (item.get("metadata") or {}).get("deletionTimestamp")
    hangs = max(told_for, now - parse_time(deleted) if deleted else 0.0)
    return min(max(hangs / 4, FIRST_WAIT), LONGEST_WAIT)


def facts_in(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says that the status shows, under the names people see there."""
    facts: dict[str, Any] = {}
    if "plan_hash" in result:  # an empty one, too: that of the plan before is none to approve any more
        facts["planHash"] = result["plan_hash"]
    lines = result.get("text") or result.get("table")
    if lines:
        facts["text"] = [visible(str(line))[:MOST_TEXT] for line in lines[:MOST_LINES]]
    if "survivors" in result:
        facts["survivors"] = [_survivor(row) for row in result["survivors"][:MOST_SURVIVORS]]
    if "drain_status" in result:
        facts["drainStatus"] = result["drain_status"]
        facts["drainErrors"] = [visible(str(error))[:MOST_TEXT] for error in (result.get("errors") or ())[:MOST_ERRORS]]
    if isinstance(result.get("progress"), str):
        facts["progress"] = result["progress"]
        facts.update({"drainProgress": result["progress"]} if "drain_status" in result else {})
    return facts


def _survivor(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {
        "apiVersion": row.get("api_version"),
        **{key: row.get(key) for key in ("kind", "namespace", "name", "uid")},
    }
    why = [_reason(one) for one in row.get("blocked_by") or ()]
    shown = {**named, "finalizers": list(row.get("finalizers") or ()), "blockedBy": [text for text in why if text]}
    return {key: value for key, value in shown.items() if value}


def _reason(blocker: Any) -> str:
    if not isinstance(blocker, Mapping):
        return visible(str(blocker))
    parts: Sequence[Any] = (blocker.get("finalizer"), blocker.get("text"), blocker.get("suggestion"))
    return visible(": ".join(str(part) for part in parts if part))[:MOST_TEXT]
