# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The other side of a transaction: watch it, confirm it, or take it back, over whatever connection there is by then.

Room: network. Private to the collection.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..clock import Deadline, RealClock
from ..problems import Problem
from .guard.deal import COMMITTED, Folder
from .guard.endings import roll_back
from .journal import Journal
from .node_settle import settle_journal
from .transaction import RolledBack, confirm, exists, find, folder_of, order_of, renew, take_back

UNKNOWN, OVER = "unknown", "over"
_NAP = 0.2
_NOBODY = 5.0


def watch(journal: Path, transaction: str, clock: RealClock, seconds: float) -> dict[str, Any]:
    """Renew its lease and tell how far it is; waits a little for news, so that nobody has to ask in a hurry."""
    folder = folder_of(journal, transaction)
    if not exists(folder):
        return {"transaction": transaction, "phase": UNKNOWN}
    if folder.left() < -_NOBODY and not folder.decided():
        roll_back(folder, "end of its lease")  # its watchdog is gone, too
    renew(folder)
    deadline = Deadline(clock, seconds)
    before = _phase(folder)
    while before not in ("ready", OVER) and _phase(folder) == before and not deadline.passed():
        clock.sleep(_NAP)
    if folder.outcome():
        settle_journal(Journal(journal), clock)
    return told(folder)


def accept(journal: Path, transaction: str, clock: RealClock) -> dict[str, Any]:
    folder = find(journal, transaction)
    try:
        confirm(folder)
    except RolledBack as problem:
        _wait_for_outcome(folder, clock)
        settle_journal(Journal(journal), clock)
        return {**told(folder), "problem": str(problem)}
    settle_journal(Journal(journal), clock)
    return told(folder)


def refuse(journal: Path, transaction: str, clock: RealClock) -> dict[str, Any]:
    folder = find(journal, transaction)
    take_back(folder, "task")
    _wait_for_outcome(folder, clock)
    settle_journal(Journal(journal), clock)
    return told(folder)


def _wait_for_outcome(folder: Folder, clock: RealClock) -> None:
    deadline = Deadline(clock, 60.0)
    while not folder.outcome() and not deadline.passed():
        clock.sleep(_NAP)


def _phase(folder: Folder) -> str:
    if folder.outcome():
        return OVER
    if folder.decided():
        return "ending"
    return str(folder.status().get("phase"))


def told(folder: Folder) -> dict[str, Any]:
    """All that is known of a transaction, in a result's keys."""
    order, status, outcome = order_of(folder), folder.status(), folder.outcome()
    rehearsed = bool(order["rehearse"])
    found: dict[str, Any] = {
        **order["told"],
        "phase": _phase(folder),
        "left": round(max(0.0, folder.left()), 1),
        "rehearsed": rehearsed,
        "boot_guard": status.get("boot_guard") or "none",
        "probes": status.get("probes") or [],
        "problem": status.get("problem") or "",
        "outcome": "pending",
        "changed": False,
    }
    if outcome:
        found["outcome"] = outcome["how"]
        found["changed"] = outcome["how"] == COMMITTED
        found["ended_by"] = outcome["by"]
        found["tried"] = outcome["tried"]
        found["differences"] = outcome["differences"]
    return found


def failure_of(found: dict[str, Any]) -> Problem | None:
    """A rollback nobody asked for is a failure; so is one that did not lead all the way."""
    if found["outcome"] != "rolled_back":
        return None
    left = found["differences"]
    if found["rehearsed"] and found["ended_by"] == "rehearsal" and not left:
        return None
    why = found["problem"] or f"nobody confirmed it in time (the {found['ended_by']} brought the node back)"
    if left:
        return Problem(
            "the change was rolled back, but the node is not as it was:",
            which="; ".join(left),
            why=why,
            next_step=f"look at the node; tried were {', '.join(found['tried']) or 'no ways'}",
        )
    return RolledBack(
        "the change was rolled back and the node is as it was before",
        why=why.rstrip("."),
        next_step="mend what failed, then run the task again",
    )
