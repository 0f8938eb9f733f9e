# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who waits for whom in a circle: found in the graph of all that wait, with the cheapest place to cut it.

Room: teardown (pure). A circle never ends by itself, however long anybody waits.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

NEVER = 99  # the cost of an edge that nobody can cut


@dataclass(frozen=True)
class Edge:
    """`waits` cannot go before `on` has changed. `cut` says how to end it by hand, at which cost, `loss` in words."""

    waits: str
    on: str
    text: str
    cut: str = ""
    cost: int = NEVER
    loss: str = ""


@dataclass(frozen=True)
class Deadlock:
    members: tuple[str, ...]
    steps: tuple[str, ...]  # a sentence an edge
    cut: str
    size: int  # how many wait in it or through it, the shortest circle is shown
    loss: str = ""  # what the cut costs


def find_deadlocks(edges: Iterable[Edge]) -> list[Deadlock]:
    out: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        out[edge.waits].append(edge)
    found = []
    for knot in knots(out):
        circle = _shortest_circle(knot, out)
        cheapest = min(circle, key=lambda edge: edge.cost)
        members = tuple(edge.waits for edge in circle)
        found.append(Deadlock(members, tuple(edge.text for edge in circle), cheapest.cut, len(knot), cheapest.loss))
    return found


def _shortest_circle(knot: set[str], out: Mapping[str, Sequence[Edge]]) -> list[Edge]:
    circles = (_way_back(start, knot, out) for start in sorted(knot)[:_MOST_STARTS])
    return min(circles, key=len)


_MOST_STARTS = 50


def _way_back(start: str, knot: set[str], out: Mapping[str, Sequence[Edge]]) -> list[Edge]:
    """The shortest way from a node to itself, inside its knot. There is one, or it would be no knot."""
    came: dict[str, Edge] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for edge in out.get(node, ()):
            if edge.on not in knot or edge.on in came:
                continue
            came[edge.on] = edge
            if edge.on == start:
                way = [edge]
                while way[0].waits != start:
                    way.insert(0, came[way[0].waits])
                return way
            queue.append(edge.on)
    raise AssertionError("a knot without a way back")


def knots(out: Mapping[str, Sequence[Edge]]) -> Iterator[set[str]]:
    """Strongly connected parts with a circle in them (Tarjan, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in list(out):
        if root in order:
            continue
        work = [(root, iter(out.get(root, ())))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            edge = next(rest, None)
            if edge is not None:
                if edge.on not in order:
                    order[edge.on] = low[edge.on] = len(order)
                    stack.append(edge.on)
                    on_stack.add(edge.on)
                    work.append((edge.on, iter(out.get(edge.on, ()))))
                elif edge.on in on_stack:
                    low[node] = min(low[node], order[edge.on])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == order[node]:
                knot = set()
                while node not in knot:
                    knot.add(stack.pop())
                on_stack -= knot
                if len(knot) > 1 or any(edge.on == node for edge in out.get(node, ())):
                    yield knot
