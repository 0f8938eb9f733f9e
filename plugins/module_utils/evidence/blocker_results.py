# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An explanation as a result.

Room: evidence.
"""

from __future__ import annotations

from typing import Any

from ..teardown.blockers.blockers import Blocked, Explanation
from ..teardown.blockers.causes import Cause
from ..teardown.blockers.holders import Holder, instead_of
from ..teardown.healers import BringsBack
from .blocker_tree import Where, tree_of
from .results import bounded


def blockers_result(told: Explanation, requests: dict[str, Any], where: Where) -> dict[str, Any]:
    return bounded(
        {
            "changed": False,
            "title": told.title,
            "missing": told.missing,
            "looked_at": told.looked_at,
            "blockers": [_row(row, told.now) for row in told.blocked],
            "obstacles": [one.as_dict() for one in told.obstacles],
            "deadlocks": [
                {
                    "objects": list(one.members),
                    "steps": list(one.steps),
                    "cut": one.cut,
                    "loss": one.loss,
                    "size": one.size,
                }
                for one in told.deadlocks
            ],
            "brought_back_by": [_returning(one) for one in told.returns],
            "next_steps": [str(step) for step in told.next_steps],
            "unreadable": told.unreadable,
            "text": tree_of(told, where),
            "requests": requests,
        }
    )


def _row(row: Blocked, now: float) -> dict[str, Any]:
    age = row.record.deleting_for(now)
    return {
        "object": row.ref.as_dict(),
        "deleting_for": None if age is None else round(age),
        "finalizers": [_holder(holder, row) for holder in row.holders],
        "causes": [_cause(cause) for cause in row.causes],
        "may_stay": row.may_stay,
        "suggestion": row.suggestion,
    }


def _holder(holder: Holder, row: Blocked) -> dict[str, Any]:
    return {
        "name": holder.name,
        "owner": holder.owner,
        "alive": holder.alive,
        "why": holder.why,
        "meaning": holder.meaning,
        "danger": holder.danger,
        "protected": holder.protected,
        "instead": instead_of(holder, row.record),
    }


def _returning(one: BringsBack) -> dict[str, Any]:
    return {
        "owner": one.owner,
        "example": one.example.as_dict(),
        "count": one.count,
        "text": one.text,
        "certain": one.certain,
        "suggestion": one.way_out,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {"what": cause.what, "text": cause.text, "suggestion": cause.suggestion, "certain": cause.certain}
