# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of an uninstall as result, plan file, diff and undo bundle: those of its drains and of its deletion.

Room: evidence.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..objects import ObjectRef
from ..teardown.uninstall.leftovers import Leftover
from ..teardown.uninstall.options import UninstallOptions
from ..teardown.uninstall.preflight import Finding
from ..teardown.uninstall.uninstall import UninstallOutcome
from ..teardown.uninstall.wishes import routes_in
from .drain_results import drain_diff, drain_plan, drain_result, drain_undo
from .ranked_results import joined, plan_rows, ranked_diff, ranked_plan, ranked_result, reach_rows, undo_bundle
from .results import MOST, bounded
from .uninstall_tree import uninstall_text, verified_text

# Lists that drains and the deletion both have, one after the other.
_JOINED = ("steps", "survivors", "unmatched", "gone", "lost")


def uninstall_result(outcome: UninstallOutcome, options: UninstallOptions, requests: dict[str, Any]) -> dict[str, Any]:
    scheme = outcome.scheme
    if scheme is None:
        return {"changed": False, "requests": requests}
    parts = [drain_result(one, options.drain, {}) for one in outcome.drains] + [ranked_result(outcome.deletion, {})]
    for part, profile in zip(parts, [one.survey.profile.name for one in outcome.drains if one.survey], strict=False):
        part["steps"] = [{**row, "name": f"drain {profile}: {row['name']}"} for row in part["steps"]]
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part["counts"])
    would_change = bool(scheme.size) and not outcome.failure
    result: dict[str, Any] = {
        "changed": would_change if outcome.check_mode else outcome.changed,
        "plan_hash": scheme.hash,
        "source": scheme.membership.source,
        "profiles": [survey.profile.name for survey in scheme.surveys],
        "missing": scheme.membership.missing,
        "releases": list(scheme.there),
        "preflight": [_finding(one) for one in outcome.findings],
        "total": scheme.size,
        "forecast": round(outcome.forecast),
        **{name: [row for part in parts for row in part[name]] for name in _JOINED},
        "kept": _once([row for part in parts for row in part["kept"]]),
        "retained": [row for part in parts for row in part.get("retained", ())],
        "stopped": [row for part in parts for row in part.get("stopped", ())],
        "counts": dict(counts),
        **reach_rows(scheme.plan),
        "leftovers": [_leftover(one) for one in outcome.leftovers.found] if outcome.leftovers else [],
        "possible_leftovers": [_leftover(one) for one in outcome.leftovers.possible] if outcome.leftovers else [],
        "unseen": list(outcome.leftovers.unseen) if outcome.leftovers else [],
        "routes": [_route(member.ref) for member in routes_in(scheme.plan)],
        "verified": verified_text(outcome),
        "requests": requests,
        "text": uninstall_text(outcome),
    }
    if outcome.check_mode:
        drained = [row for survey in scheme.surveys for row in plan_rows(survey.plan.whole, MOST)]
        result["plan"] = [*drained, *plan_rows(scheme.plan, MOST)]
    return bounded(result)


def uninstall_plan(outcome: UninstallOutcome) -> dict[str, Any]:
    """The whole plan, for `plan.json`, with what the preflight said."""
    if outcome.scheme is None:
        return {}
    drains = [drain_plan(one) for one in outcome.drains]
    deletion = ranked_plan(outcome.deletion)
    return {
        **deletion,
        "plan_hash": outcome.scheme.hash,
        "source": outcome.scheme.membership.source,
        "terms": outcome.scheme.terms.as_dict(),
        # What the hash is made of: a later run that is given the hash goes by this, and by nothing else in the file.
        "hashed": outcome.scheme.content,
        "parts": [{"terms": one.terms.as_dict(), "hashed": one.content} for one in outcome.scheme.parts],
        "preflight": [_finding(one) for one in outcome.findings],
        "drains": drains,
        "steps": [row for drain in drains for row in drain.get("steps", ())] + deletion["steps"],
    }


def uninstall_diff(outcome: UninstallOutcome) -> dict[str, str]:
    parts = [*(drain_diff(one) for one in outcome.drains), ranked_diff(outcome.deletion)]
    return {
        "before_header": "objects",
        "after_header": "objects",
        "before": "".join(part["before"] for part in parts),
        "after": "".join(part["after"] for part in parts),
    }


def uninstall_undo(outcome: UninstallOutcome) -> dict[str, Any] | None:
    bundles = [*(drain_undo(one) for one in outcome.drains), undo_bundle(outcome.deletion)]
    kept = [bundle for bundle in bundles if bundle]
    return joined(kept) if kept else None


def _once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({row["object"]["uid"]: row for row in rows}.values())


def _finding(one: Finding) -> dict[str, str]:
    return {"check": one.check, "level": one.level, "text": one.text, "next_step": one.next_step}


def _route(ref: ObjectRef) -> dict[str, str]:
    """As a target of `maintenance`."""
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _leftover(one: Leftover) -> dict[str, Any]:
    return {"object": one.ref.as_dict(), "trace": one.trace, "why": one.why, "command": one.command}
