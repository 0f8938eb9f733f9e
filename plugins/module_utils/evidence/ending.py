# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a run ended, in one word that a pipeline can decide by: `result.json`.

Room: evidence. Its keys are a promise: new ones may come, none changes its meaning without a new `schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems import BadOption, Interrupted, NotLoggedIn, Problem, Refused, TimedOut, Unreachable

SCHEMA = 1
# The first that fits. Whatever else goes wrong is "failed".
_WORDS: tuple[tuple[type[Problem], str], ...] = (
    (Refused, "refused"),
    (BadOption, "refused"),
    (TimedOut, "blocked"),
    (Interrupted, "interrupted"),
    (Unreachable, "unreachable"),
    (NotLoggedIn, "unreachable"),
)


def word_for(failure: Problem | None) -> str:
    """Made where the engine runs: only there the failure is more than a text."""
    if failure is None:
        return ""
    return next((word for kind, word in _WORDS if isinstance(failure, kind)), "failed")


def ending_of(result: Mapping[str, Any], word: str, check_mode: bool) -> dict[str, Any]:
    """Made from the result, with no more in it than pipelines ask for; the reports have the rest."""
    survivors = (result.get("truncated") or {}).get("survivors") or len(result.get("survivors") or ())
    return {
        "schema": SCHEMA,
        "outcome": _outcome(result, word, check_mode, bool(survivors)),
        "failed": bool(result.get("failed")),
        "changed": bool(result.get("changed")),
        "check_mode": check_mode,
        "plan_hash": result.get("plan_hash") or "",
        "message": result.get("msg") or "",
        "counts": dict(result.get("counts") or {}),
        "survivors": survivors,
    }


def _outcome(result: Mapping[str, Any], word: str, check_mode: bool, survivors: bool) -> str:
    if result.get("failed"):
        if word == "refused" and result.get("changed") and not check_mode:
            word = "failed"  # whoever reads "refused" relies on it that nothing was written
        return "blocked" if survivors and word in ("", "failed") else word or "failed"
    if any(row["deleting_for"] is not None for row in result.get("blockers", ())):
        return "blocked"  # an explanation, and something hangs
    if check_mode:
        return "planned" if result.get("changed") else "nothing_to_do"
    if survivors:
        return "blocked"  # on_timeout: continue
    return "done" if result.get("changed") else "nothing_to_do"
