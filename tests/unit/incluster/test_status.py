# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions by phase, times of transition, tries, and what a result puts into a status."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.incluster import status

EARLY, LATE = "2026-11-16T20:00:00Z", "2026-11-16T21:00:00Z"


def item(generation: int = 1, **given: Any) -> dict[str, Any]:
    return {"metadata": {"generation": generation}, "status": given}


def times(found: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["lastTransitionTime"] for one in found["conditions"]}


def test_a_condition_keeps_its_time_as_long_as_it_stays_what_it_was() -> None:
    first = status.in_phase(item(), "running", EARLY)
    second = status.in_phase(item(**first), "blocked", LATE, message="held", reason="Refused")
    assert times(second) == {"Progressing": LATE, "Blocked": LATE, "Completed": EARLY}
    blocked = next(one for one in second["conditions"] if one["type"] == "Blocked")
    assert (blocked["status"], blocked["reason"], blocked["message"]) == ("True", "Refused", "held")


def test_tries_are_counted_for_one_spec_and_forgotten_with_the_next() -> None:
    found: dict[str, Any] = {}
    for tries in (1, 2, 3):
        found = status.in_phase(item(**found), "blocked", EARLY)
        assert found["attempts"] == tries
    assert status.in_phase(item(2, **found), "blocked", EARLY)["attempts"] == 1
    assert status.in_phase(item(**found), "completed", EARLY)["attempts"] == 0


def test_waits_grow_and_have_an_end() -> None:
    waits = [status.wait_before_next_try({"attempts": tries}) for tries in range(1, 9)]
    assert waits == [15.0, 30.0, 60.0, 120.0, 240.0, 300.0, 300.0, 300.0]
    assert status.wait_before_next_try({"attempts": 10_000}) == 300.0


def test_what_holds_for_an_older_spec_does_not_hold() -> None:
    done = status.in_phase(item(), "completed", EARLY)
    assert status.holds(item(**done), "Completed")
    assert not status.holds(item(2, **done), "Completed")
    assert not status.holds(item(), "Completed")


@pytest.mark.parametrize("phase", ["suspended", "scheduled"])
def test_what_waits_is_not_blocked_any_more(phase: str) -> None:
    blocked = status.in_phase(item(), "blocked", EARLY, message="no such time")
    after = status.in_phase(item(2, **blocked), phase, LATE)
    assert [one["status"] for one in after["conditions"] if one["type"] == "Blocked"] == ["False"]


def test_a_result_is_shown_with_bounds() -> None:
    row = {
        "api_version": "v1",
        "kind": "ConfigMap",
        "namespace": "shop",
        "name": "a",
        "finalizers": ["x/y"],
        "blocked_by": [{"finalizer": "x/y", "text": "nobody is there", "suggestion": "bring it back"}],
    }
    facts = status.facts_in({"plan_hash": "abc", "text": ["line"] * 500, "survivors": [row] * 300, "changed": True})
    assert (facts["planHash"], len(facts["text"]), len(facts["survivors"])) == ("abc", 200, 50)
    assert facts["survivors"][0] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "namespace": "shop",
        "name": "a",
        "finalizers": ["x/y"],
        "blockedBy": ["x/y: nobody is there: bring it back"],
    }


def test_a_drain_is_shown_by_the_names_people_know() -> None:
    facts = status.facts_in({"drain_status": "failed", "progress": "1/2", "errors": ["a"] * 40, "survivors": []})
    assert facts == {
        "drainStatus": "failed",
        "drainProgress": "1/2",
        "progress": "1/2",
        "drainErrors": ["a"] * 20,
        "survivors": [],
    }


@pytest.mark.parametrize("phase", status.PHASES)
def test_every_phase_says_whether_something_is_going_on(phase: str) -> None:
    assert "Progressing" in status.PHASES[phase]
