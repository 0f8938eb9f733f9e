# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a drain as result, plan file and diff.

Room: evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..objects import ObjectRef
from ..teardown.drain.draft import Drafts
from ..teardown.drain.drain import DrainOutcome, forecast
from ..teardown.drain.options import DrainOptions
from ..teardown.drain.planning import Retained, external_of
from ..teardown.drain.scene import KindView
from ..teardown.drain.survey import Survey
from ..teardown.plan import Entry, Step
from ..teardown.run_outcome import StepOutcome
from .drain_table import drain_table
from .ranked_results import gone_in, kept_rows, owners_diff, plan_rows, step_row, undo_of
from .results import MOST, bounded, survivor_of

_Steps = dict[tuple[int, str], StepOutcome]  # by rank and name
_ERRORS = 20
_ERROR_LENGTH = 1024


def drain_result(outcome: DrainOutcome, options: DrainOptions, requests: dict[str, Any]) -> dict[str, Any]:
    survey = outcome.survey
    if survey is None:
        return {"changed": False, "drain_status": outcome.status, "requests": requests}
    plan = survey.plan
    steps = _steps(outcome, survey)
    work = bool(plan.size or (plan.anchor and plan.anchor.going))
    result: dict[str, Any] = {
        "changed": work and not outcome.failure if outcome.check_mode else outcome.changed,
        "drain_status": outcome.status,
        "progress": f"{_done(outcome)}/{plan.size}",
        "policy": survey.policy,
        "anchor": _anchor(survey),
        "controller": {
            "who": survey.controllers.owner.who,
            "alive": survey.controllers.owner.life.value,
            "reason": survey.controllers.owner.why,
        },
        "errors": _errors(outcome),
        "kinds": [_kind(view, survey, steps) for view in survey.scene.views],
        "not_looked_at": outcome.not_looked_at,
        "table": drain_table(survey),
        "retained": [_retained(one) for one in (*_there(plan.retained, outcome), *_stripped(outcome))],
        "stopped": [{"object": one.ref.as_dict(), "replicas": one.wanted} for one in outcome.stopped],
        "came_back": outcome.came_back,
        "forecast_seconds": round(forecast(survey, options)),
        "plan_hash": plan.whole.hash,
        "steps": [step_row(step) for step in steps.values()],
        "counts": _counts(outcome, survey, steps),
        "kept": kept_rows([*plan.whole.kept, *_late(steps)], outcome.runs),
        "gone": [ref.as_dict() for ref in gone_in(outcome.runs)],
        "lost": [ref.as_dict() for ref in _lost(outcome)],
        "unmatched": [
            entry.member.ref.as_dict() for entry in plan.whole.kept if entry.verdict.fate.value == "unmatched"
        ],
        "survivors": [survivor_of(one, outcome.server_time) for one in outcome.diagnosis.survivors],
        "requests": requests,
    }
    if outcome.check_mode:
        result["plan"] = _plan_rows(survey, MOST)
    return bounded(result)


def drain_plan(outcome: DrainOutcome) -> dict[str, Any]:
    """The whole plan, for `plan.json`, with the bill of what stays outside the cluster."""
    survey = outcome.survey
    if survey is None:
        return {}
    return {
        "plan_hash": survey.plan.whole.hash,
        "profile": survey.profile.name,
        "policy": survey.policy,
        "terms": survey.plan.terms.as_dict(),
        "steps": _plan_rows(survey, None),
        "kept": kept_rows(survey.plan.whole.kept),
        "not_looked_at": survey.scene.not_looked_at,
        "ledger": [_retained(one) for one in (*survey.plan.retained, *_stripped(outcome)) if one.external],
    }


def drain_diff(outcome: DrainOutcome) -> dict[str, str]:
    """Every object the drain touches, before and after, for `--diff`."""
    before, after = owners_diff(outcome.survey.plan.whole) if outcome.survey else ([], [])
    for step in outcome.survey.plan.whole.steps if outcome.survey else ():
        for release in step.releases:
            left = [name for name in release.record.finalizers if name not in release.finalizers]
            before.append(f"{release.ref}: {', '.join(release.record.finalizers)}\n")
            after.append(f"{release.ref}: {', '.join(left) or 'none'}\n")
        freed = {release.record.uid for release in step.releases}
        before += [
            f"{entry.member.ref}: {', '.join(entry.member.record.finalizers) or 'none'}\n"
            for entry in step.going
            if entry.member.record.uid not in freed
        ]
    return {
        "before_header": "objects and their finalizers",
        "after_header": "objects and their finalizers",
        "before": "".join(_cut(before)),
        "after": "".join(_cut(after)),
    }


def _cut(lines: list[str]) -> list[str]:
    return [*lines[:MOST], f"… and {len(lines) - MOST} more\n"] if len(lines) > MOST else lines


def drain_undo(outcome: DrainOutcome) -> dict[str, Any] | None:
    return undo_of(outcome.keepsakes)


def drafts_result(drafts: Drafts, requests: dict[str, Any]) -> dict[str, Any]:
    return bounded(
        {
            "changed": False,
            "drain_status": "pending",
            "draft_profiles": drafts.profiles,
            "unreadable": drafts.unreadable,
            "requests": requests,
        }
    )


def _steps(outcome: DrainOutcome, survey: Survey) -> _Steps:
    """One row a step, all rounds added up. By the name too: a kind found later may have the rank of the anchor."""
    total = {(step.rule.rank, step.rule.name): StepOutcome(step) for step in survey.plan.whole.steps}
    for run in outcome.runs:
        for step in run.steps:
            rule = step.step.rule
            row = total.setdefault((rule.rank, rule.name), StepOutcome(step.step))
            row.deleted += step.deleted
            row.gone += step.gone
            row.detached += step.detached
            row.released += step.released
            row.seconds += step.seconds
            row.survivors.extend(step.survivors)
            row.refused.extend(step.refused)
            row.late_kept.extend(step.late_kept)
    return total


def _done(outcome: DrainOutcome) -> int:
    """Objects of the plan that are free or gone, whoever did it; the anchor is not counted."""
    if outcome.survey is None or outcome.check_mode:
        return 0
    planned = {id(step) for step in outcome.survey.plan.steps}
    steps = [step for run in outcome.runs for step in run.steps if id(step.step) in planned]
    freed = sum(release.done for step in outcome.survey.plan.steps for release in step.releases)
    return freed + sum(step.deleted + len(step.gone) for step in steps)


def _anchor(survey: Survey) -> dict[str, Any] | None:
    anchor = survey.anchor
    if anchor is None:
        return None
    return {"object": anchor.ref.as_dict(), "policy": anchor.policy, "drain_status": anchor.status}


def _errors(outcome: DrainOutcome) -> list[str]:
    """The newest, each cut, as the product's own status does it; survivors have them all."""
    texts = [f"{entry.ref}: {entry.blockers[0].short}" for entry in outcome.diagnosis.survivors]
    if outcome.failure and not texts:
        texts = [str(outcome.failure)]
    return [text[:_ERROR_LENGTH] for text in texts[-_ERRORS:]]


def _kind(view: KindView, survey: Survey, steps: _Steps) -> dict[str, Any]:
    step = next((one for (rank, _name), one in steps.items() if rank == _rank(view, survey)), None)
    planned: Step | None = step.step if step and view.resource else None
    return {
        "kind": view.kind.kind,
        "group": view.kind.group,
        "api_version": view.resource.api_version if view.resource else "",
        "role": view.role,
        "state": view.state,
        "reason": view.why,
        "found": survey.plan.found[view.kind],
        "without_finalizer": survey.plan.bare[view.kind],
        "total": len(planned.releases) + len(planned.going) if planned else 0,
        "released": step.released if step and planned else 0,
        "deleted": step.deleted if step and planned else 0,
        "gone": len(step.gone) if step and planned else 0,
        "not_ours": len(planned.kept) if planned else 0,
    }


def _rank(view: KindView, survey: Survey) -> int:
    return survey.scene.views.index(view) + 1


def _retained(one: Retained) -> dict[str, Any]:
    return {"object": one.object.as_dict(), "reason": one.reason, "external": dict(one.external)}


def _stripped(outcome: DrainOutcome) -> list[Retained]:
    """Deleted by force: whether anybody cleaned up outside, nobody knows."""
    if outcome.survey is None:
        return []
    names = {ref for run in outcome.runs for step in run.steps for ref in step.stripped}
    reason = "its finalizer was stripped by force: its controller may not have cleaned up outside the cluster"
    known = {
        uid: external_of(view.kind, item) for view in outcome.survey.scene.views for uid, item in view.items.items()
    }
    return [Retained(ref, reason, known.get(ref.uid, {})) for ref in sorted(names, key=str)]


def _late(steps: _Steps) -> list[Entry]:
    return [entry for step in steps.values() for entry in step.late_kept]


def _lost(outcome: DrainOutcome) -> list[ObjectRef]:
    return list(dict.fromkeys(ref for run in outcome.runs for ref in run.kept.lost))


def _there(retained: Sequence[Retained], outcome: DrainOutcome) -> list[Retained]:
    """Without what was deleted in the cluster all the same; what it stands for elsewhere is not known then."""
    missing = {uid for run in outcome.runs for uid in run.kept.missing}
    return [one for one in retained if one.object.uid not in missing]


def _counts(outcome: DrainOutcome, survey: Survey, steps: _Steps) -> dict[str, int]:
    counts: Counter[str] = survey.plan.whole.counts()
    counts["released"] = sum(step.released for step in steps.values())
    counts["deleted"] = sum(step.deleted for step in steps.values())
    counts["gone"] = len(gone_in(outcome.runs))
    counts["detached"] = sum(step.detached for step in steps.values())
    counts["lost"] = len(_lost(outcome))
    counts["survivors"] = len(outcome.diagnosis.survivors)
    return dict(counts)


def _plan_rows(survey: Survey, most: int | None) -> list[dict[str, Any]]:
    rows = plan_rows(survey.plan.whole, most)
    for row, step in zip(rows, survey.plan.whole.steps, strict=True):
        row["release"] = [
            {"object": release.ref.as_dict(), "finalizers": list(release.finalizers)} for release in step.releases
        ][:most]
    return rows
