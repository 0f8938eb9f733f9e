# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.undo`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..events import Tell
from ..evidence.bundle import read_bundle, sealed_secrets
from ..evidence.earlier_bundles import earlier_bundles
from ..evidence.undo_results import undo_diff, undo_plan, undo_result
from ..front import CONNECTION, RUN, Context, Job
from ..limits import check_limits, check_run_options
from ..problems import BadFields, Problem, Refused
from ..reporting import Report
from ..teardown.undo import Bundle, Undo
from ..teardown.undo_plan import UndoPlan
from ..terms import Terms

ARGUMENTS = {
    **CONNECTION,
    "timeout": RUN["timeout"],
    "parallel": RUN["parallel"],
    "plan_hash": RUN["plan_hash"],
    "evidence_dir": RUN["evidence_dir"],
    "bundle": {"type": "path", "required": True},
    "undo_vault_password": {"type": "str", "no_log": True},
    "secrets": {"type": "list", "elements": "dict", "no_log": True},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    bad = BadFields()
    check_run_options(params, bad)
    if not params["bundle"].strip():
        bad.add("bundle", "is empty; give the folder a run left below its evidence_dir")
    bad.raise_if_any()


def work(context: Context) -> Report:
    params = context.params
    bundle = read_bundle(params["bundle"], params["secrets"])
    terms = Terms()
    undo = _undo(bundle, context, context.tell, dry_run=context.check_mode)
    failure: Problem | None = None
    try:
        _refuse_if_empty(bundle, params["bundle"])
        terms = Terms({"": context.cluster.identity()}, context.hashed)
        if params["plan_hash"] and not context.check_mode:
            _refuse_another_plan(bundle, context, terms)
        undo.run()
    except Problem as problem:
        failure = problem
    outcome = undo.outcome
    plan = UndoPlan(bundle, outcome.back, terms)
    if failure is None and context.check_mode:
        failure = _another_plan(plan, params["plan_hash"])
    if failure is None and outcome.lost:
        failure = Problem(
            f"{len(outcome.lost)} objects did not come back, the first is",
            which=str(outcome.lost[0][0]),
            why=outcome.lost[0][1],
            next_step="fix that and run the task again: what is back stays as it is",
        )
    warnings = list(outcome.remarks)
    if sealed_secrets(params["bundle"]) and not bundle.secrets:
        warnings.append("the bundle holds Secrets, which come back only with undo_vault_password on the controller")
    if not bundle.is_empty and (earlier := earlier_bundles(params["bundle"], empty=False)):
        warnings.append(
            f"this run went on with an earlier one, whose objects are not in it: see {' and '.join(earlier)}"
        )
    return Report(
        undo_result(plan, outcome, context.cluster.requests(), params["bundle"], check_mode=context.check_mode),
        failure=failure,
        warnings=warnings,
        diff=undo_diff(outcome),
        plan=undo_plan(plan),
    )


def _undo(bundle: Bundle, context: Context, tell: Tell, *, dry_run: bool) -> Undo:
    timeout = float(context.params["timeout"])
    return Undo(bundle, context.cluster, context.clock, context.stop, tell, timeout=timeout, dry_run=dry_run)


def _refuse_another_plan(bundle: Bundle, context: Context, terms: Terms) -> None:
    """What would come back now, before anything does."""
    outcome = _undo(bundle, context, lambda event: None, dry_run=True).run()
    if problem := _another_plan(UndoPlan(bundle, outcome.back, terms), context.params["plan_hash"]):
        raise problem


def _another_plan(plan: UndoPlan, plan_hash: str | None) -> Problem | None:
    try:
        check_limits(len(plan.back), plan.hash, None, plan_hash)
    except Problem as problem:
        return problem
    return None


def _refuse_if_empty(bundle: Bundle, path: str) -> None:
    if not bundle.is_empty or sealed_secrets(path):
        return
    earlier = earlier_bundles(path, empty=True)
    where = f"bring back what an earlier run deleted: bundle: {earlier[0]}" if earlier else "look at earlier folders"
    raise Refused("nothing to bring back", why="the run of this bundle deleted nothing that it kept", next_step=where)


UNHASHED = dict.fromkeys(("bundle", "secrets"), "what is in them is in the plan, each object with its content")

JOB = Job(name="undo", arguments=ARGUMENTS, check=check, work=work, unhashed=UNHASHED)
