# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and turns: how many nodes at once, in which order, and when to stop."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.max_unavailable import most_unavailable
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.scene import NodeView
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.waves import (
    Wave,
    may_start,
    must_stop,
    waves_of,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

# nodes, what the policy says, how many
UPSTREAM = {
    "half of five is rounded up": (5, "50%", 3),
    "half of six": (6, "50%", 3),
    "a number": (5, 3, 3),
    "none at all means one": (5, 0, 1),
    "no percent means one": (5, "0%", 1),
    "nothing said means half": (5, None, 3),
    "a word means half": (5, "asdf", 3),
    "a number as text means half": (5, "42", 3),
    "more than there are": (2, "150%", 3),
    "no node": (0, "50%", 1),
}


@pytest.mark.parametrize(("nodes", "given", "most"), named(UPSTREAM))
def test_as_many_as_the_handlers_would_count(nodes: int, given: Any, most: int) -> None:
    assert most_unavailable(nodes, given)[0] == most


def test_a_value_that_means_nothing_is_warned_of() -> None:
    assert "'42'" in most_unavailable(5, "42")[1]
    assert most_unavailable(5, "40%")[1] == ""


def node(name: str, *, control_plane: bool = False) -> NodeView:
    labels = {"node-role.kubernetes.io/control-plane": ""} if control_plane else {}
    return NodeView(name, labels, ready=True, handled=True)


def show(waves: list[Wave]) -> str:
    return "; ".join(f"{wave.name}: {' '.join(wave.nodes)}" for wave in waves)


FLEET = [node("c"), node("a"), node("z", control_plane=True), node("b"), node("y", control_plane=True)]
WAVES = {
    "one first": (FLEET, 1, "canary: a; workers: b c; control plane: y z"),
    "two first": (FLEET, 2, "canary: a b; workers: c; control plane: y z"),
    "nobody first": (FLEET, 0, "workers: a b c; control plane: y z"),
    "more canaries than nodes are one": ([node("a"), node("b")], 5, "canary: a; workers: b"),
    "only a control plane": ([node("y", control_plane=True), node("z", control_plane=True)], 1,
                             "canary: y; control plane: z"),
    "nothing to do": ([], 1, ""),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "canary", "expected"), named(WAVES))
def test_waves(nodes: list[NodeView], canary: int, expected: str) -> None:
    assert show(waves_of(nodes, canary)) == expected


STARTS = {
    "as many as may be": (0, 0, 2, ["a", "b"]),
    "those that run count": (1, 0, 2, ["a"]),
    "those that failed count": (0, 1, 2, ["a"]),
    "no place": (1, 1, 2, []),
    "less than no place": (2, 1, 2, []),
}


@pytest.mark.parametrize(("running", "failed", "most", "expected"), named(STARTS))
def test_who_may_start(running: int, failed: int, most: int, expected: list[str]) -> None:
    assert may_start(["a", "b", "c"], running, failed, most) == expected


STOPS = {
    "a canary": (True, 1, 1, 3, True),
    "no canary": (True, 0, 0, 3, False),
    "one of many": (False, 1, 1, 3, False),
    "as many as may be unavailable": (False, 3, 3, 3, True),
    "those of other waves count": (False, 0, 3, 3, True),
}


@pytest.mark.parametrize(("gentle", "here", "failed", "most", "stops"), named(STOPS))
def test_when_it_stops(gentle: bool, here: int, failed: int, most: int, stops: bool) -> None:
    assert must_stop(Wave("w", ("a",), gentle), here, failed, most) is stops
