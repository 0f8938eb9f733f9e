# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors as sentences."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption, Problem, Refused
from ansible_collections.sunset.kube.tests.unit.fakes import named

SENTENCES = {
    "what alone": (Problem("it failed"), "it failed."),
    "which": (Problem("cannot delete", which="Domain shop/web"), "cannot delete Domain shop/web."),
    "why": (Problem("cannot delete", why="it is guarded"), "cannot delete: it is guarded."),
    "next step": (Problem("cannot delete", next_step="ask"), "cannot delete. Next: ask."),
    "everything": (
        Refused("cannot delete", which="Domain shop/web", why="it is guarded", next_step="ask"),
        "cannot delete Domain shop/web: it is guarded. Next: ask.",
    ),
}


@pytest.mark.parametrize(("problem", "sentence"), named(SENTENCES))
def test_a_problem_reads_as_what_which_why_and_next_step(problem: Problem, sentence: str) -> None:
    assert str(problem) == sentence


def test_every_bad_field_is_named_in_one_complaint() -> None:
    bad = BadFields()
    bad.add("rules[0].rank", "must be a number")
    bad.add("grace", "must be 0 or more")
    bad.complain("members[1]: has no kind")
    with pytest.raises(BadOption) as complaint:
        bad.raise_if_any()
    assert (
        str(complaint.value)
        == "bad options: rules[0].rank: must be a number; grace: must be 0 or more; members[1]: has no kind."
    )


def test_good_fields_raise_nothing() -> None:
    BadFields().raise_if_any()
