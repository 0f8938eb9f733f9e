# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The timeline of a run, step by step: when each began and ended, and every write in it.

Room: evidence. Made from the rows of `timeline.jsonl`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .report_page import name_of

_BEFORE = "preparation"


@dataclass
class Stretch:
    """A step, or what was done before the first one began."""

    name: str
    begin: float  # seconds since the run's first event
    end: float
    writes: list[list[str]] = field(default_factory=list)
    survivors: int = 0
    deleted: int = 0
    gone: int = 0  # deleted by other clients
    released: int = 0
    ended: bool = False


def stretches_of(rows: Iterable[Mapping[str, Any]]) -> list[Stretch]:
    found: list[Stretch] = []
    start = seconds = 0.0
    for number, row in enumerate(rows):
        at = datetime.datetime.fromisoformat(row["time"]).timestamp()
        start = start or at
        seconds = max(seconds, at - start)  # estimates of the server's time may step back a little
        if row["event"] == "stepbegan":
            found.append(Stretch(row["step"], seconds, seconds))
        elif number == 0:
            found.append(Stretch(_BEFORE, 0.0, 0.0))
        if row["event"] == "did":
            found[-1].writes.append(_write(row, seconds))
        if row["event"] == "stepended" and (step := _open_step(found, row["step"])):
            step.end, step.ended = seconds, True
            step.survivors, step.deleted, step.released = row["survivors"], row["deleted"], row["released"]
            step.gone = row.get("gone") or 0
        elif not found[-1].ended:
            found[-1].end = max(found[-1].end, seconds)
    return [one for one in found if one.writes or one.name != _BEFORE]


def _open_step(found: list[Stretch], name: str) -> Stretch | None:
    return next((one for one in reversed(found) if one.name == name and not one.ended), None)


def _write(row: Mapping[str, Any], seconds: float) -> list[str]:
    effect = f"{row['effect']} (tried only)" if row.get("dry_run") else str(row["effect"])
    detail = " ".join(str(row.get("detail") or "").split())
    return [f"{seconds:.1f} s", str(row["action"]), name_of(row["object"]), f"{effect}: {detail}" if detail else effect]
