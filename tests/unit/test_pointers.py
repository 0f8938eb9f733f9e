# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.pointers import (
    ABSENT,
    bound,
    escaped,
    matches,
    place_order,
    value_of,
    values,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

ITEM: dict[str, Any] = {
    "spec": {
        "rules": [{"host": "a", "paths": [{"x": 1}, {"x": 2}]}, {"host": "b"}, {"paths": [{"x": 3}, {}]}],
        "tcp": [{"match": []}],
        "nothing": None,
        "a/b": {"c~d": "odd"},
        "empty": [],
    }
}


@pytest.mark.parametrize(
    ("pointer", "found"),
    named(
        {
            "a value in a list": ("/spec/rules/0/host", "a"),
            "an entry itself": ("/spec/tcp/0", {"match": []}),
            "null is not absent": ("/spec/nothing", None),
            "below null there is nothing": ("/spec/nothing/deeper", ABSENT),
            "behind the end of a list": ("/spec/rules/3", ABSENT),
            "a name where a number must be": ("/spec/rules/first", ABSENT),
            "escaped keys": ("/spec/a~1b/c~0d", "odd"),
            "the whole": ("", ITEM),
        }
    ),
)
def test_what_stands_at_a_pointer(pointer: str, found: Any) -> None:
    value = value_of(ITEM, pointer)
    assert value is found if found is ABSENT or found is None else value == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    named(
        {
            "every entry": ("/spec/rules/*", ["/spec/rules/0", "/spec/rules/1", "/spec/rules/2"]),
            "lists in lists, and absent ends count": (
                "/spec/rules/*/paths/*/x",
                [
                    "/spec/rules/0/paths/0/x",
                    "/spec/rules/0/paths/1/x",
                    "/spec/rules/2/paths/0/x",
                    "/spec/rules/2/paths/1/x",
                ],
            ),
            "one entry that is there": ("/spec/tcp/0", ["/spec/tcp/0"]),
            "one entry that is not there": ("/spec/empty/0", []),
            "stars over something that is no list": ("/spec/*/x", []),
            "a way that ends early": ("/spec/nowhere/*/x", []),
            "a key that could be there": ("/spec/new", ["/spec/new"]),
        }
    ),
)
def test_a_pattern_stands_for_these_pointers(pattern: str, found: list[str]) -> None:
    assert [pointer for pointer, _chosen in matches(ITEM, pattern)] == found


def test_stars_tell_which_entries_they_have_chosen_and_bound_puts_them_in() -> None:
    chosen = [numbers for _pointer, numbers in matches(ITEM, "/spec/rules/*/paths/*/x")]
    assert chosen == [(0, 0), (0, 1), (2, 0), (2, 1)]
    assert bound("/spec/rules/{0}/paths/{1}/x", (2, 0)) == "/spec/rules/2/paths/0/x"
    assert values(ITEM, "/spec/rules/{0}/host", (1,)) == ["b"]
    assert values(ITEM, "/spec/rules/{0}/paths/*/x", (2,)) == [3]


def test_pointers_sort_as_their_entries_stand_in_lists() -> None:
    pointers = ["/spec/rules/10/x", "/spec/rules/9/x", "/spec/defaultBackend"]
    assert sorted(pointers, key=place_order) == ["/spec/defaultBackend", "/spec/rules/9/x", "/spec/rules/10/x"]


@given(st.text(min_size=1), st.integers())
def test_any_key_can_be_written_as_a_pointer(key: str, value: int) -> None:
    assert value_of({key: value}, f"/{escaped(key)}") == value
