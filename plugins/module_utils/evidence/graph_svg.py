# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wait-for graph as a part of `report.html`: from left to right for wide screens, in one column for phones.

Room: evidence. Which of both is seen is the style sheet's choice (report_look.py). Colours are classes, so that they
follow the reader's day or night; everything that comes from a cluster is escaped.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .escaping import in_html
from .graph_column import column
from .graph_layout import Layout, lay_out
from .graph_shapes import WIDTH, Box, arrow, badge, box, svg

_BETWEEN = 84.0  # columns
_MARGIN = 8.0


@dataclass(frozen=True)
class Link:
    """An arc of the graph; `number` is that of its cut in the list below, 0 for none."""

    waits: int
    on: int
    in_circle: bool
    number: int

    @property
    def key(self) -> tuple[int, int]:
        return self.waits, self.on

    @property
    def look(self) -> str:
        return "circle" if self.in_circle else ""


def figure(graph: Mapping[str, Any]) -> Iterator[str]:
    """A section of the page."""
    ends = Counter(arc["waits"] for arc in graph["arcs"])
    ends |= Counter(arc["on"] for arc in graph["arcs"])
    boxes = [box(node, ends[place]) for place, node in enumerate(graph["nodes"])]
    cuts = list(dict.fromkeys((arc["cut"], arc["cost"]) for arc in graph["arcs"] if arc["cut"]))
    numbers = {cut: number for number, (cut, _cost) in enumerate(cuts, 1)}
    links = [
        Link(arc["waits"], arc["on"], arc["in_circle"], numbers.get(arc["cut"], 0))
        for arc in graph["arcs"]
        if arc["waits"] != arc["on"]
    ]
    layout = lay_out([one.height for one in boxes], [link.key for link in links])
    told = f"{len(boxes)} things that wait for each other"
    yield f"<section><h2>What waits for what <small>{len(boxes)}</small></h2>"
    yield '<figure class="waits">'
    yield f'<div class="wide">{"".join(_wide(boxes, links, layout, told))}</div>'
    yield f'<div class="narrow">{"".join(column(boxes, links, layout, told))}</div>'
    yield from _caption(links, cuts, graph["left_out"])
    yield "</figure></section>"


def _caption(links: Sequence[Link], cuts: Sequence[tuple[str, str]], left_out: int) -> Iterator[str]:
    words = ["An arrow leads from what waits to what it waits for."]
    if any(link.in_circle for link in links):
        words.append('<span class="bad">Red arrows close a circle, which never ends by itself.</span>')
    if left_out:
        words.append(f"{left_out} more are not drawn; the tables and the result have them.")
    yield f"<figcaption><p>{' '.join(words)}</p>"
    if cuts:
        yield "<p>Where it can be cut by hand, at the smallest cost:</p><ol>"
        for cut, cost in cuts:
            yield f"<li><code>{in_html(cut)}</code>{f' ({in_html(cost)})' if cost else ''}</li>"
        yield "</ol>"
    yield "</figcaption>"


def _wide(boxes: Sequence[Box], links: Sequence[Link], layout: Layout, told: str) -> Iterator[str]:
    width = len(layout.layers) * WIDTH + (len(layout.layers) - 1) * _BETWEEN + 2 * _MARGIN
    drawn: list[str] = []
    ports = _ports(boxes, links, layout)
    for link in sorted(links, key=lambda one: one.in_circle):  # circles on top
        points = _points(link, layout, ports)
        drawn.append(arrow(points, link.look))
        if link.number:
            drawn.append(badge(*_near_its_start(points), link.number))
    for place, one in enumerate(boxes):
        spot = layout.spots[place]
        drawn.append(one.at(_left(spot.layer), _MARGIN + spot.y - one.height / 2))
    yield svg(width, layout.height + 2 * _MARGIN, drawn, told, least=0.8 * width)


def _left(layer: int) -> float:
    return _MARGIN + layer * (WIDTH + _BETWEEN)


# (node, side: left -1 or right 1) → link → height of its end
Ports = dict[tuple[int, int], dict[tuple[int, int], float]]


def _ports(boxes: Sequence[Box], links: Sequence[Link], layout: Layout) -> Ports:
    """Ends of arrows, spread over the side of a box in the order of what they lead to."""
    ends: dict[tuple[int, int], list[tuple[float, tuple[int, int]]]] = defaultdict(list)
    for link in links:
        way = layout.ways[link.key]
        side = -1 if link.key in layout.turned else 1
        ends[link.waits, side].append((layout.spots[way[1]].y, link.key))
        ends[link.on, -side].append((layout.spots[way[-2]].y, link.key))
    ports: Ports = {}
    for (node, side), found in ends.items():
        step = boxes[node].height / (len(found) + 1)
        top = layout.spots[node].y - boxes[node].height / 2
        ports[node, side] = {key: top + step * place for place, (_y, key) in enumerate(sorted(found), 1)}
    return ports


def _points(link: Link, layout: Layout, ports: Ports) -> list[tuple[float, float]]:
    """From the edge of one box through the layers between to the edge of the other."""
    way = layout.ways[link.key]
    side = -1 if link.key in layout.turned else 1
    start, end = layout.spots[way[0]], layout.spots[way[-1]]
    near, far = (WIDTH, 0.0) if side == 1 else (0.0, WIDTH)
    points = [(_left(start.layer) + near, ports[link.waits, side][link.key])]
    for place in way[1:-1]:
        spot = layout.spots[place]
        edges = (_left(spot.layer), _left(spot.layer) + WIDTH)
        points += [(x, spot.y) for x in (edges if side == 1 else edges[::-1])]
    points.append((_left(end.layer) + far, ports[link.on, -side][link.key]))
    return [(x, y + _MARGIN) for x, y in points]


def _near_its_start(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A third of the way along the curve: there it has not met others yet."""
    (x1, y1), (x2, y2) = points[0], points[1]
    return x1 + 0.342 * (x2 - x1), y1 + 0.216 * (y2 - y1)
