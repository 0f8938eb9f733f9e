# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a Maintenance begins and ends, as points in time that stay the same however often somebody looks.

Room: incluster (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..durations import seconds_in
from ..objects import moment, parse_time
from ..problems import BadOption


@dataclass(frozen=True)
class Window:
    """Seconds since the epoch; None where nobody said so."""

    start: float | None = None
    end: float | None = None

    @property
    def start_text(self) -> str:
        return moment(self.start or 0.0)

    @property
    def end_text(self) -> str:
        return moment(self.end or 0.0)


def window_of(item: Mapping[str, Any]) -> Window:
    """A duration counts from the start, or from when the resource was created."""
    spec = item.get("spec") or {}
    given = spec.get("window") or {}
    start = _time("start", spec["start"]) if spec.get("start") else None
    said = spec.get("end") or given.get("end") or given.get("for")
    if not said:
        return Window(start)
    lasts = seconds_in(str(said))
    if lasts is None:
        return Window(start, _time("end", said))
    since = start if start is not None else parse_time(item["metadata"]["creationTimestamp"])
    return Window(start, since + lasts)


def _time(field: str, text: Any) -> float:
    try:
        return parse_time(str(text))
    except ValueError as problem:
        raise BadOption(
            f"spec.{field}", why=f"{text!r} is no time", next_step="write it like 2026-11-16T23:30:00Z"
        ) from problem
