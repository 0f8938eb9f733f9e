# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The word a pipeline decides by."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.ending import ending_of
from ansible_collections.sunset.kube.tests.unit.fakes import named

LEFT = [{"kind": "Domain", "name": "web"}]

ENDINGS: dict[str, tuple[dict[str, Any], str, bool, str]] = {
    "changed": ({"changed": True}, "", False, "done"),
    "unchanged": ({"changed": False}, "", False, "nothing_to_do"),
    "a plan": ({"changed": True}, "", True, "planned"),
    "an empty plan": ({"changed": False}, "", True, "nothing_to_do"),
    "refused": ({"failed": True}, "refused", False, "refused"),
    "refused when something was written": ({"failed": True, "changed": True}, "refused", False, "failed"),
    "a plan that is refused, though it would change something": (
        {"failed": True, "changed": True},
        "refused",
        True,
        "refused",
    ),
    "a plan that is refused": ({"failed": True}, "refused", True, "refused"),
    "time is over": ({"failed": True, "changed": True, "survivors": LEFT}, "blocked", False, "blocked"),
    "something is left": ({"failed": True, "survivors": LEFT}, "failed", False, "blocked"),
    "something is left, and that is fine": ({"changed": True, "survivors": LEFT}, "", False, "blocked"),
    "told to stop": ({"failed": True, "survivors": LEFT}, "interrupted", False, "interrupted"),
    "no answer": ({"failed": True}, "unreachable", False, "unreachable"),
    "an explanation of what hangs": ({"changed": False, "blockers": [{"deleting_for": 9}]}, "", True, "blocked"),
    "an explanation of nothing": ({"changed": False, "blockers": [{"deleting_for": None}]}, "", False, "nothing_to_do"),
    "a module that died": ({"failed": True}, "", False, "failed"),
}


@pytest.mark.parametrize(("result", "word", "check_mode", "outcome"), named(ENDINGS))
def test_the_outcome_is_one_word(result: dict[str, Any], word: str, check_mode: bool, outcome: str) -> None:
    told = ending_of(result, word, check_mode)
    assert (told["outcome"], told["failed"], told["check_mode"]) == (outcome, bool(result.get("failed")), check_mode)


def test_the_ending_holds_what_pipelines_ask_for_and_nothing_else() -> None:
    result = {"failed": True, "changed": True, "plan_hash": "abc", "msg": "no", "counts": {"gone": 1}, "steps": [1]}
    assert ending_of({**result, "survivors": LEFT}, "blocked", False) == {
        "schema": 1,
        "outcome": "blocked",
        "failed": True,
        "changed": True,
        "check_mode": False,
        "plan_hash": "abc",
        "message": "no",
        "counts": {"gone": 1},
        "survivors": 1,
    }


def test_survivors_are_counted_where_the_result_was_cut() -> None:
    assert ending_of({"survivors": LEFT, "truncated": {"survivors": 4711}}, "", False)["survivors"] == 4711
