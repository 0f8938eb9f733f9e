# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An undo as result, plan file, diff, and as a tree for people.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..objects import ObjectRef
from ..teardown.undo import UndoOutcome
from ..teardown.undo_plan import UndoPlan
from .results import MOST, bounded
from .tree import Branch, drawn

_NAMED = 10  # objects a step


def undo_result(
    plan: UndoPlan, outcome: UndoOutcome, requests: dict[str, Any], bundle: str, *, check_mode: bool
) -> dict[str, Any]:
    left_out = list(plan.bundle.left_out)
    result: dict[str, Any] = {
        "changed": bool(outcome.back),
        "plan_hash": plan.hash,
        "restored": [{"object": back.ref.as_dict(), "old_uid": back.old_uid} for back in outcome.back],
        "existing": [ref.as_dict() for ref in outcome.there],
        "lost": [{"object": ref.as_dict(), "reason": why} for ref, why in outcome.lost],
        "left_out": left_out,
        "counts": {
            "restored": len(outcome.back),
            "existing": len(outcome.there),
            "lost": len(outcome.lost),
            "left_out": len(left_out),
        },
        "requests": requests,
    }
    if check_mode:
        result["plan"] = _rows(plan, MOST)
        result["text"] = _text(plan, outcome, bundle)
    return bounded(result)


def undo_plan(plan: UndoPlan) -> dict[str, Any]:
    """The whole plan, for `plan.json`."""
    return {"plan_hash": plan.hash, "terms": plan.terms.as_dict(), "steps": _rows(plan)}


def undo_diff(outcome: UndoOutcome) -> dict[str, str]:
    lines = sorted(f"{back.ref}\n" for back in outcome.back)
    return {"before_header": "objects", "after_header": "objects", "before": "", "after": "".join(lines)}


def _rows(plan: UndoPlan, most: int | None = None) -> list[dict[str, Any]]:
    return [
        {"name": name, "rank": rank, "objects": [{"object": one.ref.as_dict()} for one in found[:most]]}
        for rank, (name, found) in enumerate(plan.steps, 1)
    ]


def _text(plan: UndoPlan, outcome: UndoOutcome, bundle: str) -> list[str]:
    root = Branch(f"undo {bundle}")
    for rank, (name, found) in enumerate(plan.steps, 1):
        _named(root.add(f"{rank}. {name}: {len(found)}"), [one.ref for one in found])
    if outcome.there:
        _named(root.add(f"exists already, not touched: {len(outcome.there)}"), outcome.there)
    if outcome.lost:
        branch = root.add(f"does not come back: {len(outcome.lost)}")
        for ref, why in outcome.lost[:_NAMED]:
            branch.add(f"{ref} - {why}")
    if plan.bundle.left_out:
        root.add(f"not in the bundle: {len(plan.bundle.left_out)}")
    count = len(plan.back)
    return [*drawn(root), f"{count} {'object' if count == 1 else 'objects'} to create; plan {plan.hash}"]


def _named(branch: Branch, refs: Sequence[ObjectRef]) -> None:
    for ref in refs[:_NAMED]:
        branch.add(str(ref))
    if len(refs) > _NAMED:
        branch.add(f"and {len(refs) - _NAMED} more")
