# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lines for people at a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.lines import LiveLines, line_for
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.plugins.module_utils.teardown.events import Did, Looked, Planned, Progress, Warned
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named

WEB = ObjectRef("v1", "Domain", "shop", "web", "u1")

LINES: dict[str, tuple[Any, str | None]] = {
    "a look": (Looked("Domain", 12, "namespace shop"), "12 Domain objects in namespace shop"),
    "a plan": (Planned("remove x from 3", "abc123"), "plan abc123: remove x from 3"),
    "progress": (Progress("domains", 14, 20, 70.4), "domains · 14/20 done · 70 s left"),
    "progress with what is waited for": (
        Progress("domains", 17, 20, 9.0, {"example.com/cleanup": 2, "no finalizer": 1}),
        "domains · 17/20 done · 2 waiting on example.com/cleanup · 1 waiting on no finalizer · 9 s left",
    ),
    "progress that is complete": (Progress("domains", 20, 20, 9.0), "domains · 20/20 done"),
    "a refused write": (Did("delete", WEB, "refused"), "Domain shop/web: delete was refused"),
    "a replaced object": (Did("delete", WEB, "replaced"), "Domain shop/web: delete was replaced"),
    "a write that worked is for the files": (Did("delete", WEB, "done"), None),
    "a write that ended it is for the files": (Did("delete", WEB, "gone"), None),
    "a warning has its own way": (Warned("careful"), None),
}


@pytest.mark.parametrize(("event", "line"), named(LINES))
def test_an_event_is_one_line_or_none(event: Any, line: str | None) -> None:
    assert line_for(event) == line


def shown(*steps: tuple[float, Any]) -> list[str]:
    """What is shown of events that come after so many seconds each."""
    lines: list[str] = []
    clock = FakeClock()
    live = LiveLines(lines.append, clock)
    for seconds, event in steps:
        clock.advance(seconds)
        live(event)
    return lines


def step(done: int, total: int = 9) -> Progress:
    return Progress("step", done, total, 60.0)


def test_progress_is_shown_once_a_second_at_most() -> None:
    assert shown((0.5, step(1)), (0.4, step(2)), (0.1, step(3)), (0.9, step(4)), (0.1, step(5))) == [
        "step · 3/9 done · 60 s left",
        "step · 5/9 done · 60 s left",
    ]


def test_progress_is_always_shown_when_it_is_complete() -> None:
    assert shown((0.1, step(1)), (0.1, step(9))) == ["step · 9/9 done"]


def test_everything_else_is_shown_at_once() -> None:
    look, plan = Looked("Domain", 1, "the cluster"), Planned("nothing to remove", "abc")
    assert shown((0.0, look), (0.0, plan)) == ["1 Domain objects in the cluster", "plan abc: nothing to remove"]


def test_the_same_line_is_not_shown_twice_in_a_row() -> None:
    assert shown((1.0, step(1)), (1.0, step(1)), (1.0, step(2)), (1.0, step(1))) == [
        "step · 1/9 done · 60 s left",
        "step · 2/9 done · 60 s left",
        "step · 1/9 done · 60 s left",
    ]


def test_warnings_are_left_to_the_front() -> None:
    assert shown((1.0, Warned("careful"))) == []
