# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `sunset.kube.undo`: its options, and the way from them to a result.

Room: jobs, one file a module; wires, decides nothing. Private to the collection.
"""

from __future__ import annotations

from typing import Any

from ..evidence.bundle import read_bundle, sealed_secrets
from ..evidence.earlier_bundles import earlier_bundles
from ..evidence.results import bounded
from ..front import CONNECTION, RUN, Context, Job
from ..problems import BadFields, Problem, Refused
from ..reporting import Report
from ..teardown.undo import Bundle, Undo, UndoOutcome

ARGUMENTS = {
    **CONNECTION,
    "timeout": RUN["timeout"],
    "parallel": RUN["parallel"],
    "evidence_dir": RUN["evidence_dir"],
    "bundle": {"type": "path", "required": True},
    "undo_vault_password": {"type": "str", "no_log": True},
    "secrets": {"type": "list", "elements": "dict", "no_log": True},
}


def check(params: dict[str, Any]) -> None:
    """Complain about bad options before anything is sent."""
    bad = BadFields()
    if not params["bundle"].strip():
        bad.add("bundle", "is empty; give the folder a run left below its evidence_dir")
    bad.raise_if_any()


def work(context: Context) -> Report:
    params = context.params
    bundle = read_bundle(params["bundle"], params["secrets"])
    undo = Undo(
        bundle,
        context.cluster,
        context.clock,
        context.stop,
        context.tell,
        timeout=float(params["timeout"]),
        dry_run=context.check_mode,
    )
    failure: Problem | None = None
    try:
        _refuse_if_empty(bundle, params["bundle"])
        undo.run()
    except Problem as problem:
        failure = problem
    outcome = undo.outcome
    if failure is None and outcome.lost:
        failure = Problem(
            f"{len(outcome.lost)} objects did not come back, the first is",
            which=str(outcome.lost[0][0]),
            why=outcome.lost[0][1],
            next_step="mend that and run the task again: what is back stays as it is",
        )
    warnings = list(outcome.remarks)
    if sealed_secrets(params["bundle"]) and not bundle.secrets:
        warnings.append("the bundle holds Secrets, which come back only with undo_vault_password on the controller")
    if not bundle.is_empty and (earlier := earlier_bundles(params["bundle"], empty=False)):
        warnings.append(
            f"this run went on with an earlier one, whose objects are not in it: see {' and '.join(earlier)}"
        )
    return Report(_result(bundle, outcome, context), failure=failure, warnings=warnings, diff=_diff(outcome), plan={})


def _refuse_if_empty(bundle: Bundle, path: str) -> None:
    if not bundle.is_empty or sealed_secrets(path):
        return
    earlier = earlier_bundles(path, empty=True)
    where = f"bring back what an earlier run deleted: bundle: {earlier[0]}" if earlier else "look at earlier folders"
    raise Refused("nothing to bring back", why="the run of this bundle deleted nothing that it kept", next_step=where)


def _result(bundle: Bundle, outcome: UndoOutcome, context: Context) -> dict[str, Any]:
    return bounded(
        {
            "changed": bool(outcome.back),
            "restored": [{"object": back.ref.as_dict(), "old_uid": back.old_uid} for back in outcome.back],
            "existing": [ref.as_dict() for ref in outcome.there],
            "lost": [{"object": ref.as_dict(), "reason": why} for ref, why in outcome.lost],
            "left_out": list(bundle.left_out),
            "counts": {
                "restored": len(outcome.back),
                "existing": len(outcome.there),
                "lost": len(outcome.lost),
                "left_out": len(bundle.left_out),
            },
            "requests": context.cluster.requests(),
        }
    )


def _diff(outcome: UndoOutcome) -> dict[str, str]:
    lines = sorted(f"{back.ref}\n" for back in outcome.back)
    return {"before_header": "objects", "after_header": "objects", "before": "", "after": "".join(lines)}


JOB = Job(name="undo", arguments=ARGUMENTS, check=check, work=work)
