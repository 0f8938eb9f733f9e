# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wait-for graph in one column, for phones: boxes below each other, arrows down on the right, back up on the left.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .graph_layout import Layout
from .graph_shapes import WIDTH, Box, arrow, badge, head, svg

_GAP, _LANE, _ROOM = 26.0, 6.0, 12.0
_MOST_LANES = 5
_STUB = 8.0
# Parts of a box: arrows leave below its middle and arrive above it, so that both can be told apart.
_LEAVES, _ARRIVES = 0.7, 0.3


def column(boxes: Sequence[Box], links: Sequence[Any], layout: Layout, told: str) -> Iterator[str]:
    order = [place for layer in layout.layers for place in layer if place < len(boxes)]
    rows = {place: row for row, place in enumerate(order)}
    tops: dict[int, float] = {}
    y = _GAP / 2
    for place in order:
        tops[place] = y
        y += boxes[place].height + _GAP
    left = _ROOM + _MOST_LANES * _LANE
    lanes: dict[int, list[tuple[int, int, int]]] = {-1: [], 1: []}
    drawn: list[str] = []
    badges: list[str] = []
    for link in sorted(links, key=lambda one: (one.in_circle, abs(rows[one.on] - rows[one.waits]))):
        start, end = rows[link.waits], rows[link.on]
        if end == start + 1:
            x, bottom = left + WIDTH / 2, tops[link.waits] + boxes[link.waits].height
            drawn.append(arrow([(x, bottom), (x, tops[link.on])], link.look, upright=True))
            at = (x + 18, (bottom + tops[link.on]) / 2)
        else:
            side = 1 if end > start else -1
            lane = _free_lane(lanes[side], min(start, end), max(start, end))
            at = (left + WIDTH if side == 1 else left, tops[link.waits] + boxes[link.waits].height * _LEAVES)
            drawn += _around(link, boxes, tops, at, side, lane)
        badges += [badge(*at, link.number)] if link.number else []
    drawn += [boxes[place].at(left, tops[place]) for place in order]
    drawn += badges
    yield svg(WIDTH + 2 * left, y, drawn, told)


def _free_lane(taken: list[tuple[int, int, int]], start: int, end: int) -> int:
    """Arrows beside each other do not share a lane, as long as there are some."""
    used = {lane for low, high, lane in taken if low < end and start < high}
    lane = next((one for one in range(_MOST_LANES) if one not in used), _MOST_LANES - 1)
    taken.append((start, end, lane))
    return lane


def _around(
    link: Any, boxes: Sequence[Box], tops: dict[int, float], start: tuple[float, float], side: int, lane: int
) -> list[str]:
    edge, y1 = start
    x = edge + side * (_ROOM + lane * _LANE)
    y2 = tops[link.on] + boxes[link.on].height * _ARRIVES
    turn = _STUB if y2 > y1 else -_STUB
    path = f"M{edge:.1f} {y1:.1f}Q{x:.1f} {y1:.1f} {x:.1f} {y1 + turn:.1f}V{y2 - turn:.1f}"
    path += f"Q{x:.1f} {y2:.1f} {edge + side * 7:.1f} {y2:.1f}"
    tip = [(edge, y2), (edge + side * 7, y2 - 4), (edge + side * 7, y2 + 4)]
    return [f'<path class="arc {link.look}" d="{path}"/>', head(tip, link.look)]
