# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a ranked deletion as result, plan file and diff.

Room: evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..objects import ObjectRef
from ..teardown.detachments import Detachment
from ..teardown.keepsakes import Keepsakes
from ..teardown.members.claims import Claim
from ..teardown.members_info import ShownMembers
from ..teardown.plan import Entry, Plan, Step
from ..teardown.plan_reach import reach_of
from ..teardown.ranked_delete import RankedOutcome
from ..teardown.run_outcome import RunOutcome, StepOutcome
from ..teardown.verdicts import Fate
from .results import MOST, bounded, survivor_of


def ranked_result(outcome: RankedOutcome, requests: dict[str, Any]) -> dict[str, Any]:
    plan = outcome.plan
    would_change = any(entry.verdict.fate is Fate.DELETE for entry in plan.going)
    result: dict[str, Any] = {
        "changed": would_change if outcome.check_mode else outcome.run.changed,
        "plan_hash": plan.hash,
        "source": outcome.source,
        # A plan that was rehearsed or refused shows its steps all the same.
        "steps": [step_row(step) for step in outcome.run.steps] or _planned_steps(plan),
        "counts": _counts(outcome),
        "kept": kept_rows([*plan.kept, *_late(outcome)], [outcome.run]) + _replaced(outcome),
        "gone": [ref.as_dict() for ref in gone_in([outcome.run])],
        "lost": [ref.as_dict() for ref in outcome.run.kept.lost],
        "unmatched": [entry.member.ref.as_dict() for entry in plan.unmatched if entry.verdict.fate is Fate.UNMATCHED],
        "survivors": [survivor_of(one, outcome.server_time) for one in outcome.diagnosis.survivors],
        **reach_rows(plan),
        "requests": requests,
    }
    if outcome.check_mode:
        result["plan"] = plan_rows(plan, MOST)
    return bounded(result)


def reach_rows(plan: Plan) -> dict[str, Any]:
    """How far the plan reaches, and what nothing but the release metadata names."""
    reach = reach_of(plan)
    return {
        "outside_namespace": {"cluster_scoped": reach.cluster_scoped, "namespaces": dict(reach.namespaces)},
        "unconfirmed": [
            {"object": entry.member.ref.as_dict(), "reason": entry.verdict.unconfirmed} for entry in reach.unconfirmed
        ],
    }


def plan_rows(plan: Plan, most: int | None = None) -> list[dict[str, Any]]:
    """Steps with their objects; `most` cuts each step's list."""
    return [
        {
            "name": step.rule.name,
            "rank": step.rule.rank,
            "force": step.rule.force,
            "waves": len(step.waves),
            "total": len(step.going),
            "detach": [_detached(one) for one in step.detachments][:most],
            "objects": [_planned(entry, wave) for wave, entry in _in_order(step)][:most],
        }
        for step in plan.steps
    ]


def ranked_plan(outcome: RankedOutcome) -> dict[str, Any]:
    """The whole plan, for `plan.json`."""
    return {
        "plan_hash": outcome.plan.hash,
        "source": outcome.source,
        "terms": outcome.plan.terms.as_dict(),
        "steps": plan_rows(outcome.plan),
        "kept": kept_rows(outcome.plan.kept),
        **reach_rows(outcome.plan),
    }


def undo_bundle(outcome: RankedOutcome) -> dict[str, Any] | None:
    return undo_of(outcome.keepsakes)


def undo_of(keepsakes: Keepsakes | None) -> dict[str, Any] | None:
    """What a run kept of the objects it deleted, for the folder `undo`."""
    if keepsakes is None:
        return None
    return {
        "steps": [{"step": keepsake.step, "objects": keepsake.objects} for keepsake in keepsakes.steps],
        "secrets": keepsakes.secrets,
        "left_out": [*_gone_before(keepsakes), *(f"{ref}: {why}" for ref, why in keepsakes.left_out)],
    }


def _gone_before(keepsakes: Keepsakes) -> list[str]:
    if not keepsakes.gone_before:
        return []
    count = keepsakes.gone_before
    return [f"{count} objects were gone before this run; if an earlier one deleted them, its folder has them"]


def joined(bundles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What several parts of a run set aside, in their order."""
    return {name: [row for bundle in bundles for row in bundle[name]] for name in ("steps", "secrets", "left_out")}


def ranked_diff(outcome: RankedOutcome) -> dict[str, str]:
    """Every object the plan deletes, step by step, for `--diff`."""
    lines = [
        f"{place}. {step.rule.name}: {entry.member.ref}\n"
        for place, step in enumerate(outcome.plan.steps, 1)
        for entry in step.going
    ]
    cut = [*lines[:MOST], f"… and {len(lines) - MOST} more\n"] if len(lines) > MOST else lines
    before, after = owners_diff(outcome.plan)
    return {
        "before_header": "objects",
        "after_header": "objects",
        "before": "".join(before + cut),
        "after": "".join(after),
    }


def owners_diff(plan: Plan) -> tuple[list[str], list[str]]:
    """Kept objects with their owners, before and after."""
    touched = plan.detachments[:MOST]
    before = [f"{one.ref}: owned by {', '.join(map(str, one.owners))}\n" for one in touched]
    return before, [f"{one.ref}: owned by none of these\n" for one in touched]


def _in_order(step: Step) -> list[tuple[int, Entry]]:
    return [(place, entry) for place, wave in enumerate(step.waves, 1) for entry in wave]


def _planned(entry: Entry, wave: int) -> dict[str, Any]:
    return {
        "object": entry.member.ref.as_dict(),
        "wave": wave,
        "verdict": entry.verdict.fate.value,
        "reason": entry.verdict.why,
        "finalizers": list(entry.member.record.finalizers),
    }


def _detached(one: Detachment) -> dict[str, Any]:
    return {"object": one.ref.as_dict(), "owners": [owner.as_dict() for owner in one.owners]}


def _planned_steps(plan: Plan) -> list[dict[str, Any]]:
    return [step_row(StepOutcome(step)) for step in plan.steps]


def step_row(step: StepOutcome) -> dict[str, Any]:
    return {
        "name": step.step.rule.name,
        "rank": step.step.rule.rank,
        "total": step.step.size,
        "deleted": step.deleted,
        "gone": len(step.gone),
        "released": step.released,
        "kept": len(step.step.kept) + len(step.late_kept),
        "seconds": round(step.seconds, 3),
    }


def _counts(outcome: RankedOutcome) -> dict[str, int]:
    counts: Counter[str] = outcome.plan.counts()
    counts["deleted"] = sum(step.deleted for step in outcome.run.steps)
    counts["released"] = sum(step.released for step in outcome.run.steps)
    counts["survivors"] = len(outcome.run.survivors)
    counts["refused"] = sum(len(step.refused) for step in outcome.run.steps) + len(outcome.refused_in_rehearsal)
    counts["detached"] = sum(step.detached for step in outcome.run.steps)
    counts["gone"] = outcome.absent + len(gone_in([outcome.run]))
    counts["lost"] = len(outcome.run.kept.lost)
    return dict(counts)


def _late(outcome: RankedOutcome) -> Sequence[Entry]:
    return [entry for step in outcome.run.steps for entry in step.late_kept]


def gone_in(runs: Iterable[RunOutcome]) -> list[ObjectRef]:
    """What other clients deleted while the run was under way, whether the plan deletes it or leaves it."""
    found = [ref for run in runs for ref in (*(ref for step in run.steps for ref in step.gone), *run.kept.gone)]
    return list(dict.fromkeys(found))


def kept_rows(entries: Iterable[Entry], runs: Sequence[RunOutcome] = ()) -> list[dict[str, Any]]:
    """Each object once, and none that a run has found missing at its end."""
    missing = {uid for run in runs for uid in run.kept.missing}
    once = {entry.member.record.uid: entry for entry in entries if entry.member.record.uid not in missing}
    return [kept_row(entry) for entry in once.values()]


def kept_row(entry: Entry) -> dict[str, Any]:
    return {"object": entry.member.ref.as_dict(), "verdict": entry.verdict.fate.value, "reason": entry.verdict.why}


def _replaced(outcome: RankedOutcome) -> list[dict[str, Any]]:
    reason = "deleted and created anew meanwhile; the new one is not touched"
    return [
        {"object": leaver.ref.as_dict(), "verdict": Fate.REPLACED.value, "reason": reason}
        for step in outcome.run.steps
        for leaver in step.replaced
    ]


def members_result(shown: ShownMembers, requests: dict[str, Any]) -> dict[str, Any]:
    """What `members_info` returns."""
    return bounded(
        {
            "changed": False,
            "source": shown.source,
            "missing": shown.missing,
            "members": [
                {
                    "object": entry.member.ref.as_dict(),
                    "source": entry.member.source,
                    "owned": entry.owned,
                    "confirmed": entry.confirmed,
                    "keep_marker": entry.keep_marker,
                    "finalizers": list(entry.member.record.finalizers),
                }
                for entry in shown.members
            ],
            "absent": [_absent(claim) for claim in shown.absent],
            "plan": plan_rows(shown.plan, MOST),
            "plan_hash": shown.plan.hash,
            "requests": requests,
        }
    )


def _absent(claim: Claim) -> dict[str, str]:
    api_version = (claim.api_version or "").lstrip("/")
    return {"api_version": api_version, "kind": claim.kind, "namespace": claim.namespace, "name": claim.name}
