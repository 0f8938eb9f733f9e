# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outcomes to results: the keys every module returns, lists cut to a bearable length and saying so.

Room: evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..teardown.blockers.survivors import Survivor
from ..teardown.finalizer import FinalizerOutcome
from ..teardown.finalizer_plan import Skip
from ..teardown.releasing import Release

MOST = 200


def bounded(result: dict[str, Any]) -> dict[str, Any]:
    """Cut every list to `MOST` entries; `truncated` names the lists that were cut, with their full length."""
    cut = {key: len(value) for key, value in result.items() if isinstance(value, list) and len(value) > MOST}
    for key in cut:
        result[key] = result[key][:MOST]
    result["truncated"] = cut
    return result


def finalizer_result(outcome: FinalizerOutcome, requests: dict[str, Any]) -> dict[str, Any]:
    releases, skips = outcome.plan.releases, outcome.plan.skips
    shown = [release for release in releases if release.done and not release.replaced]
    result: dict[str, Any] = {
        "changed": any(release.changed for release in releases),
        "plan_hash": outcome.plan.hash,
        "steps": _steps(outcome),
        "counts": _counts(outcome),
        "removed": [_removed(release) for release in shown],
        # Not "skipped": Ansible takes any result with that key for a skipped task.
        "kept": [_kept(skip) for skip in skips],
        "survivors": [survivor_of(one, outcome.server_time) for one in outcome.diagnosis.survivors],
        "unmatched": [],
        "requests": requests,
    }
    if outcome.check_mode:
        result["plan"] = [
            {"name": "finalizers", "rank": 1, "objects": [_planned(release) for release in releases[:MOST]]}
        ]
    return bounded(result)


def finalizer_plan(outcome: FinalizerOutcome) -> dict[str, Any]:
    """The whole plan, for `plan.json`."""
    return {
        "plan_hash": outcome.plan.hash,
        "steps": [
            {"name": "finalizers", "rank": 1, "objects": [_planned(release) for release in outcome.plan.releases]}
        ],
        "kept": [_kept(skip) for skip in outcome.plan.skips],
    }


def finalizer_diff(outcome: FinalizerOutcome) -> dict[str, str]:
    """Finalizers of each touched object before and after, for `--diff`."""
    touched = outcome.plan.releases[:MOST]
    return {
        "before_header": "finalizers",
        "after_header": "finalizers",
        "before": "".join(_finalizer_line(release, release.record.finalizers) for release in touched),
        "after": "".join(_finalizer_line(release, _after(release, outcome.check_mode)) for release in touched),
    }


def _finalizer_line(release: Release, finalizers: Sequence[str]) -> str:
    return f"{release.ref}: {', '.join(finalizers) or 'none'}\n"


def _after(release: Release, check_mode: bool) -> Sequence[str]:
    if release.problem or release.replaced or not (release.done or check_mode):
        return release.record.finalizers  # nothing happened to it
    return [name for name in release.record.finalizers if name not in release.finalizers]


def _steps(outcome: FinalizerOutcome) -> list[dict[str, Any]]:
    releases = outcome.plan.releases
    happened = [] if outcome.check_mode else releases
    return [
        {
            "name": "finalizers",
            "rank": 1,
            "total": len(releases),
            "deleted": sum(release.gone for release in happened),
            "released": sum(release.changed for release in happened),
            "kept": len(outcome.plan.skips),
            "seconds": round(outcome.seconds, 3),
        }
    ]


def _counts(outcome: FinalizerOutcome) -> dict[str, int]:
    releases = outcome.plan.releases
    counts = Counter({"looked_at": outcome.plan.looked_at, "release": len(releases)})
    counts.update(skip.verdict.fate.value for skip in outcome.plan.skips)
    happened = [] if outcome.check_mode else releases
    counts["removed"] = sum(len(release.finalizers) for release in happened if release.changed)
    counts["gone"] = sum(release.gone for release in happened)
    counts["failed"] = sum(release.problem is not None for release in releases)
    return dict(counts)


def _planned(release: Release) -> dict[str, Any]:
    return {"object": release.ref.as_dict(), "finalizers": list(release.finalizers)}


def _removed(release: Release) -> dict[str, Any]:
    return {**_planned(release), "gone": release.gone}


def _kept(skip: Skip) -> dict[str, Any]:
    return {
        "object": skip.object.as_dict(),
        "finalizer": skip.finalizer,
        "verdict": skip.verdict.fate.value,
        "reason": skip.verdict.why,
    }


def survivor_of(one: Survivor, now: float) -> dict[str, Any]:
    """A survivor as every module returns it."""
    blockers = [blocker.as_dict() for blocker in one.blockers]
    age = one.record.deleting_for(now)
    return {
        **one.ref.as_dict(),
        "finalizers": list(one.record.finalizers),
        "deleting_for": None if age is None else round(age),
        "blocked_by": blockers,
    }
