# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes in layers: whatever the graph, arcs lead forward, and nothing stands on anything else."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.sunset.kube.plugins.module_utils.evidence.graph_layout import Layout, lay_out

HEIGHTS = some.lists(some.floats(30, 200), min_size=1, max_size=12)


@some.composite
def graphs(draw: some.DrawFn) -> tuple[list[float], list[tuple[int, int]]]:
    heights = draw(HEIGHTS)
    ends = some.integers(0, len(heights) - 1)
    arcs = draw(some.lists(some.tuples(ends, ends).filter(lambda arc: arc[0] != arc[1]), unique=True, max_size=30))
    return heights, arcs


def layer_of(layout: Layout, node: int) -> int:
    return layout.spots[node].layer


def test_a_chain_is_a_layer_each() -> None:
    layout = lay_out([40.0] * 3, [(0, 1), (1, 2)])
    assert ([layer_of(layout, node) for node in range(3)], layout.turned) == ([0, 1, 2], set())
    assert len({layout.spots[node].y for node in range(3)}) == 1, "and straight"


def test_the_arc_that_closes_a_circle_leads_back_and_passes_the_layers_between() -> None:
    layout = lay_out([40.0] * 3, [(0, 1), (1, 2), (2, 0)])
    assert layout.turned == {(2, 0)}
    first, bend, last = layout.ways[2, 0]
    assert (first, last, layout.spots[bend].layer) == (2, 0, 1)


@given(graphs())
def test_nothing_overlaps_and_every_arc_leads_to_another_layer(
    graph: tuple[list[float], list[tuple[int, int]]],
) -> None:
    heights, arcs = graph
    layout = lay_out(heights, arcs)
    for waits, on in arcs:
        back = (waits, on) in layout.turned
        assert (layer_of(layout, on) > layer_of(layout, waits)) is not back
        assert (layout.ways[waits, on][0], layout.ways[waits, on][-1]) == (waits, on)
    for layer in layout.layers:
        spots = [layout.spots[place] for place in layer]
        for upper, lower in itertools.pairwise(spots):
            assert upper.y + upper.height / 2 <= lower.y - lower.height / 2 + 1e-6
    tops = [spot.y - spot.height / 2 for spot in layout.spots]
    assert min(tops) >= -1e-6
    assert all(spot.y + spot.height / 2 <= layout.height + 1e-6 for spot in layout.spots)
