# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Circles among those who wait."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.deadlocks import Edge, find_deadlocks
from ansible_collections.sunset.kube.tests.unit.fakes import named


def edges(text: str) -> list[Edge]:
    """`a>b` waits, `a>b=3` can be cut at that cost."""
    made = []
    for part in text.split():
        pair, sign, cost = part.partition("=")
        waits, _arrow, on = pair.partition(">")
        made.append(Edge(waits, on, pair, f"cut {pair}" if sign else "", int(cost) if sign else 99))
    return made


# name: (edges, members of each circle, the cheapest cut of the first)
CIRCLES: dict[str, tuple[str, list[str], str]] = {
    "none": ("a>b b>c a>c", [], ""),
    "two wait for each other": ("a>b=2 b>a=1", ["ab"], "cut b>a"),
    "one waits for itself": ("a>a=1", ["a"], "cut a>a"),
    "three in a row": ("a>b b>c=5 c>a", ["abc"], "cut b>c"),
    "the shortest of a knot": ("a>b b>c c>d d>a c>b=1", ["bc"], "cut c>b"),
    "one that leads into a circle is not in it": ("x>a a>b=1 b>a", ["ab"], "cut a>b"),
    "two circles": ("a>b b>a c>d d>c", ["ab", "cd"], ""),
}


@pytest.mark.parametrize(("text", "circles", "cut"), named(CIRCLES))
def test_each_circle_is_found_once_with_the_cheapest_cut(text: str, circles: list[str], cut: str) -> None:
    found = find_deadlocks(edges(text))
    assert sorted("".join(sorted(one.members)) for one in found) == circles
    assert (found[0].cut if found else "") == cut


def test_the_steps_of_a_circle_follow_each_other() -> None:
    [found] = find_deadlocks(edges("b>c c>a a>b"))
    assert found.steps == ("a>b", "b>c", "c>a")


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_a_circle_is_found_exactly_when_somebody_can_come_back_to_himself(pairs: set[tuple[int, int]]) -> None:
    reach = set(pairs)
    for middle, start, end in itertools.product(range(8), repeat=3):
        if (start, middle) in reach and (middle, end) in reach:
            reach.add((start, end))
    in_circles = {node for node in range(8) if (node, node) in reach}
    found = find_deadlocks([Edge(str(a), str(b), f"{a}>{b}") for a, b in sorted(pairs)])
    assert bool(found) is bool(in_circles)
    for one in found:
        assert {int(member) for member in one.members} <= in_circles
        assert len(one.steps) == len(one.members) <= one.size
