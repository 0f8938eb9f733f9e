# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the nodes of a small directed graph stand: in layers, so that nearly all arcs lead the same way.

Room: evidence (pure geometry). The steps are Sugiyama's: turn arcs that close a circle, put every node one layer behind
those that lead to it, order the layers so that few arcs cross, then find heights.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Arc = tuple[int, int]
_SWEEPS = 8
_GAP = 18.0  # between nodes of a layer
_BEND = 10.0  # the height that an arc takes where it passes a layer


@dataclass
class Spot:
    """A node, or the place where an arc passes a layer."""

    layer: int
    height: float
    y: float = 0.0  # of its middle
    before: list[int] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)


@dataclass
class Layout:
    spots: list[Spot]  # nodes first, in their own order, then bends
    layers: list[list[int]]
    ways: dict[Arc, list[int]]  # arc → spots it goes through, both ends included, in the arc's own direction
    turned: set[Arc]  # arcs that lead back
    height: float = 0.0


def lay_out(heights: Sequence[float], arcs: Sequence[Arc]) -> Layout:
    turned = _arcs_that_lead_back(len(heights), arcs)
    forward = [(on, waits) if (waits, on) in turned else (waits, on) for waits, on in arcs]
    layer_of = _layers(len(heights), forward)
    spots = [Spot(layer_of[place], height) for place, height in enumerate(heights)]
    ways: dict[Arc, list[int]] = {}
    for arc, (start, end) in zip(arcs, forward, strict=True):
        way = [start]
        for layer in range(layer_of[start] + 1, layer_of[end]):
            spots.append(Spot(layer, _BEND))
            way.append(len(spots) - 1)
        way.append(end)
        for left, right in itertools.pairwise(way):
            spots[left].behind.append(right)
            spots[right].before.append(left)
        ways[arc] = way[::-1] if arc in turned else way
    layers = _ordered(spots)
    layout = Layout(spots, layers, ways, turned)
    _find_heights(layout)
    return layout


def _arcs_that_lead_back(size: int, arcs: Sequence[Arc]) -> set[Arc]:
    """By a walk into the depth: an arc to a node whose walk is still open closes a circle."""
    out = _neighbours(arcs)
    awaited = {on for _waits, on in arcs}
    begun: set[int] = set()
    open_: set[int] = set()
    back: set[Arc] = set()
    for root in sorted(range(size), key=lambda node: node in awaited):
        if root in begun:
            continue
        begun.add(root)
        open_.add(root)
        walk = [(root, iter(out.get(root, ())))]
        while walk:
            node, rest = walk[-1]
            following = next(rest, None)
            if following is None:
                open_.discard(node)
                walk.pop()
            elif following in open_:
                back.add((node, following))
            elif following not in begun:
                begun.add(following)
                open_.add(following)
                walk.append((following, iter(out.get(following, ()))))
    return back


def _neighbours(arcs: Sequence[Arc]) -> Mapping[int, list[int]]:
    out: dict[int, list[int]] = defaultdict(list)
    for start, end in arcs:
        out[start].append(end)
    return out


def _layers(size: int, forward: Sequence[Arc]) -> list[int]:
    """The longest way that leads to each node."""
    out = _neighbours([arc for arc in forward if arc[0] != arc[1]])
    waiting = [0] * size
    for ends in out.values():
        for end in ends:
            waiting[end] += 1
    layer = [0] * size
    free = [node for node in range(size) if not waiting[node]]
    while free:
        node = free.pop()
        for end in out.get(node, ()):
            layer[end] = max(layer[end], layer[node] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                free.append(end)
    return layer


def _ordered(spots: Sequence[Spot]) -> list[list[int]]:
    """Each layer in the order of the middle of its neighbours, there and back again."""
    layers: list[list[int]] = [[] for _layer in range(1 + max((spot.layer for spot in spots), default=0))]
    for place, spot in enumerate(spots):
        layers[spot.layer].append(place)
    rank = {place: number for layer in layers for number, place in enumerate(layer)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            middle = {}
            for place in layer:
                near = spots[place].before if down else spots[place].behind
                middle[place] = sum(rank[one] for one in near) / len(near) if near else float(rank[place])
            layer.sort(key=lambda place: middle[place])
            rank.update((place, number) for number, place in enumerate(layer))
    return layers


def _find_heights(layout: Layout) -> None:
    for layer in layout.layers:
        _spread(layer, layout.spots, [0.0] * len(layer))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layout.layers if down else layout.layers[::-1]:
            wishes = []
            for place in layer:
                spot = layout.spots[place]
                near = spot.before if down else spot.behind
                wishes.append(sum(layout.spots[one].y for one in near) / len(near) if near else spot.y)
            _spread(layer, layout.spots, wishes)
    top = min((spot.y - spot.height / 2 for spot in layout.spots), default=0.0)
    for spot in layout.spots:
        spot.y -= top
    layout.height = max((spot.y + spot.height / 2 for spot in layout.spots), default=0.0)


def _spread(layer: Sequence[int], spots: Sequence[Spot], wishes: Sequence[float]) -> None:
    """As near to the wishes as the order and the gaps allow; what had to move down moves the whole layer up again."""
    edge = float("-inf")
    moved = 0.0
    for place, wish in zip(layer, wishes, strict=True):
        half = spots[place].height / 2
        spots[place].y = max(wish, edge + half)
        moved += spots[place].y - wish
        edge = spots[place].y + half + _GAP
    for place in layer:
        spots[place].y -= moved / len(layer)
