# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Number options and limits that jobs share."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.limits import check_limits, check_run_options
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption, Refused
from ansible_collections.sunset.kube.tests.unit.fakes import named

GOOD: dict[str, dict[str, Any]] = {
    "the least": {"timeout": 1, "parallel": 1, "max_objects": 1, "grace": 0, "force_after": 0},
    "the most": {"parallel": 64, "timeout": 86_400},
    "not given": {"max_objects": None},
    "not known to the job": {},
}


@pytest.mark.parametrize("params", named(GOOD))
def test_numbers_in_their_range_are_fine(params: dict[str, Any]) -> None:
    bad = BadFields()
    check_run_options(params, bad)
    bad.raise_if_any()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "timeout": ({"timeout": 0}, "timeout: must be 1 or more, not 0"),
    "parallel": ({"parallel": 0}, "parallel: must be 1 or more, not 0"),
    "more than a day": ({"timeout": 86_401}, "timeout: must be 86400 or less, not 86401"),
    "too much parallel": ({"parallel": 65}, "parallel: must be 64 or less, not 65"),
    "max_objects": ({"max_objects": 0}, "max_objects: must be 1 or more, not 0"),
    "grace": ({"grace": -1}, "grace: must be 0 or more, not -1"),
    "force_after": ({"force_after": -1}, "force_after: must be 0 or more, not -1"),
    # An empty hash would switch the comparison off.
    "an empty plan_hash": ({"plan_hash": " "}, "plan_hash: is empty; leave it out or give a value"),
}


@pytest.mark.parametrize(("params", "why"), named(BAD))
def test_numbers_out_of_their_range_are_named(params: dict[str, Any], why: str) -> None:
    bad = BadFields()
    check_run_options(params, bad)
    with pytest.raises(BadOption) as refused:
        bad.raise_if_any()
    assert refused.value.why == why


# name: (objects, hash, max_objects, plan_hash, refused as)
LIMITS: dict[str, tuple[int, str, int | None, str | None, str | None]] = {
    "no limits": (5000, "abc", None, None, None),
    "as many as allowed": (5, "abc", 5, None, None),
    "one too many": (6, "abc", 5, None, "too many objects"),
    "the same plan": (5, "abc", None, "abc", None),
    "another plan": (5, "abc", None, "feedface", "the plan has changed"),
    "a word": (5, "abc", None, "yes", "'yes' is not the hash of a plan"),
    "too many of another plan": (6, "abc", 5, "abd", "too many objects"),
}


@pytest.mark.parametrize(("objects", "found", "max_objects", "plan_hash", "refused"), named(LIMITS))
def test_a_plan_beyond_its_limits_is_refused(
    objects: int, found: str, max_objects: int | None, plan_hash: str | None, refused: str | None
) -> None:
    try:
        check_limits(objects, found, max_objects, plan_hash)
        outcome = None
    except Refused as problem:
        outcome = problem.what
    assert outcome == refused
