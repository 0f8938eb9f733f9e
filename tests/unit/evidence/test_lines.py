# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lines for people at a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import (
    Did,
    Looked,
    Planned,
    Progress,
    StepBegan,
    StepEnded,
    Warned,
)
from ansible_collections.sunset.kube.plugins.module_utils.evidence.lines import LiveLines, line_for
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named

WEB = ObjectRef("v1", "Domain", "shop", "web", "u1")

LINES: dict[str, tuple[Any, str | None]] = {
    "a plan": (Planned("remove x from 3", "abc123"), "plan abc123: remove x from 3"),
    "progress": (Progress("domains", 14, 20, 70.4), "domains · 14/20 gone · 70 s left"),
    "progress in other words": (Progress("finalizers", 1, 2, 9.0, word="done"), "finalizers · 1/2 done · 9 s left"),
    "progress with what is waited for": (
        Progress("domains", 17, 20, 9.0, {"example.com/cleanup": 2, "no finalizer": 1}),
        "domains · 17/20 gone · 2 waiting on example.com/cleanup · 1 waiting on no finalizer · 9 s left",
    ),
    "progress that is complete": (Progress("domains", 20, 20, 9.0), "domains · 20/20 gone"),
    "a step that is over": (StepEnded("domains", 1, 20, 0, 4.26), "domains · 20 gone after 4.3 s"),
    "a step that is over with survivors": (
        StepEnded("domains", 1, 18, 2, 600.0),
        "domains · 18 gone, 2 still there after 600.0 s",
    ),
    "a step that released": (StepEnded("domains", 1, 0, 0, 4.26, 7), "domains · 7 released after 4.3 s"),
    "a step that did both": (
        StepEnded("domains", 1, 2, 1, 1.0, 7),
        "domains · 7 released, 2 gone, 1 still there after 1.0 s",
    ),
    "a step of an undo": (StepEnded("domains", 1, 0, 0, 1.0, back=7), "domains · 7 back after 1.0 s"),
    "a step of an undo that came half": (
        StepEnded("domains", 1, 0, 2, 1.0, back=5),
        "domains · 5 back, 2 not brought back after 1.0 s",
    ),
    "a step that did nothing": (StepEnded("domains", 1, 0, 0, 0.0), "domains · 0 gone after 0.0 s"),
    "a refused write": (Did("delete", WEB, "refused"), "Domain shop/web: delete was refused"),
    "a replaced object": (Did("delete", WEB, "replaced"), "Domain shop/web: delete was replaced"),
    "a write that worked is for the files": (Did("delete", WEB, "done"), None),
    "a write that ended it is for the files": (Did("delete", WEB, "gone"), None),
    "a look is for the files": (Looked("Domain", 12, "namespace shop"), None),
    "a step's beginning is for the files": (StepBegan("domains", 1, 20), None),
    "a warning is shown by the front": (Warned("careful"), None),
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


def step(done: int, total: int = 9, name: str = "step") -> Progress:
    return Progress(name, done, total, 60.0)


def test_progress_is_shown_once_a_second_at_most() -> None:
    assert shown((0.5, step(1)), (0.4, step(2)), (0.1, step(3)), (0.9, step(4)), (0.1, step(5))) == [
        "step · 3/9 gone · 60 s left",
        "step · 5/9 gone · 60 s left",
    ]


def test_progress_is_always_shown_when_it_is_complete_but_only_once() -> None:
    assert shown((0.1, step(1)), (0.1, step(9)), (30.0, step(9))) == ["step · 9/9 gone"]


def test_progress_that_does_not_move_is_shown_four_times_a_minute() -> None:
    assert shown(*[(1.0, step(1))] * 32) == ["step · 1/9 gone · 60 s left"] * 3


def test_progress_of_another_step_is_shown_although_the_number_is_the_same() -> None:
    assert shown((1.0, step(1)), (1.0, step(1, name="next"))) == [
        "step · 1/9 gone · 60 s left",
        "next · 1/9 gone · 60 s left",
    ]


def test_everything_else_is_shown_at_once() -> None:
    plan, end = Planned("nothing to remove", "abc"), StepEnded("step", 1, 9, 0, 0.1)
    assert shown((0.0, plan), (0.0, end)) == ["plan abc: nothing to remove", "step · 9 gone after 0.1 s"]


def test_warnings_are_left_to_the_front() -> None:
    assert shown((1.0, Warned("careful"))) == []
