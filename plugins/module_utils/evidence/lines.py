# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events to lines for people at a terminal: few, short, and one a second at most.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Callable

from ..clock import Clock
from ..events import Did, Event, Noted, Planned, Progress, Reached, StepBegan, StepEnded
from ..visible import visible

_REMINDER = 15.0


def cluster_line(cluster: str) -> str:
    """The first line of every plan, outcome and progress."""
    return f"cluster {cluster}"


def under_its_cluster(lines: list[str], cluster: str) -> list[str]:
    head = cluster_line(cluster)
    return lines if not lines or lines[0] == head else [head, *lines]


def line_for(event: Event) -> str | None:
    """The line for an event, or None for what only belongs into the files."""
    if isinstance(event, Planned):
        return f"plan {event.plan_hash}: {event.summary}"
    if isinstance(event, Noted):
        return event.text
    if isinstance(event, Progress):
        return _progress(event)
    if isinstance(event, StepEnded):
        return f"{event.step} · {', '.join(_ending(event))} after {event.seconds:.1f} s"
    if isinstance(event, Did) and event.effect in ("refused", "replaced"):
        return f"{event.object}: {event.action} was {event.effect}"
    return None


def _ending(event: StepEnded) -> list[str]:
    if event.back is not None:
        return [f"{event.back} back", *([f"{event.survivors} not brought back"] if event.survivors else [])]
    done = [f"{event.released} released"] if event.released else []
    gone, others = event.deleted + event.gone, f" ({event.gone} by others)" if event.gone else ""
    done += [f"{gone} gone{others}"] if gone or not done else []
    return [*done, *([f"{event.survivors} still there"] if event.survivors else [])]


def _progress(event: Progress) -> str:
    waiting = "".join(f" · {count} waiting on {what}" for what, count in event.waiting.items())
    left = "" if event.done >= event.total else f" · {event.seconds_left:.0f} s left"
    return f"{event.step} · {event.done}/{event.total} {event.word}{waiting}{left}"


class LiveLines:
    """Shows events as they come. Progress at most once a second, and where nothing moves four times a minute."""

    def __init__(self, show: Callable[[str], None], clock: Clock) -> None:
        self._show = show
        self._clock = clock
        self._shown_at = clock.now()
        self._shown: dict[str, tuple[int, float]] = {}  # of each step: how far it was, and when that was shown
        self._steps: set[str] = set()  # under way: their end has a line of its own
        self._cluster = ""  # until it was shown

    def __call__(self, event: Event) -> bool:
        """Says whether there was a line for it. The first line is the cluster's."""
        if isinstance(event, Reached):
            self._cluster = event.cluster
        if isinstance(event, StepBegan):
            self._steps.add(event.step)
        if isinstance(event, StepEnded):
            self._steps.discard(event.step)
        if isinstance(event, Progress) and not self._is_time_for(event):
            return False
        line = line_for(event)
        if line:
            if self._cluster:
                self._show(visible(cluster_line(self._cluster)))
                self._cluster = ""
            self._show(visible(line))
        return bool(line)

    def _is_time_for(self, event: Progress) -> bool:
        now = self._clock.now()
        complete = event.done >= event.total
        if complete and event.step in self._steps:
            return False
        # Of each step by itself: several may be under way, and take turns.
        done, shown_at = self._shown.get(event.step, (-1, self._shown_at))
        if done == event.done and (complete or now - shown_at < _REMINDER):
            return False
        if not complete and now - self._shown_at < 1.0:
            return False
        self._shown_at = now
        self._shown[event.step] = (event.done, now)
        return True
