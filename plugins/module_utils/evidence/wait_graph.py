# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who waits for whom, as a graph of few nodes: objects that are alike are one, and what is too much is counted.

Room: evidence. Plain data, so that it can travel from the host where the engine ran; drawn in `graph_svg.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..teardown.blockers.blockers import Blocked, Explanation
from ..teardown.blockers.causes import Cause
from ..teardown.blockers.commands import remove_finalizer
from ..teardown.blockers.deadlocks import Edge, knots
from ..teardown.blockers.holders import Holder
from ..teardown.blockers.subjects import is_definition, is_namespace

MOST_NODES, _FEW = 40, 5
_MOST_NAMES, _MOST_FINALIZERS = 3, 2
# Reasons that only sum up what other arcs show.
_SUMMARIES = frozenset({"condition", "content", "dependant", "instances", "not deleted"})
_SHORT = {"webhook": "Webhook", "conversion": "Converter of", "api service": "APIService"}
OBJECT, NAMESPACE, DEFINITION, CONTROLLER, OBSTACLE, REASON = (
    "object",
    "namespace",
    "definition",
    "controller",
    "obstacle",
    "reason",
)


@dataclass
class Node:
    sort: str
    title: str
    notes: list[str] = field(default_factory=list)
    state: str = ""  # alive, gone or unknown; of controllers and obstacles
    names: list[str] = field(default_factory=list)  # of the objects it stands for
    alike: tuple[str, str] = ("", "")  # kind and namespace: only such nodes may become one


@dataclass
class Arc:
    in_circle: bool = False
    cut: str = ""  # how to end it by hand, where that is proposed
    cut_all: str = ""  # the same for all objects that are alike
    cost: str = ""


Key = tuple[str, str]


class _Drawing:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.arcs: dict[Key, Arc] = {}

    def arc(self, waits: str, on: str) -> Arc:
        return self.arcs.setdefault((waits, on), Arc())


def wait_graph(explained: Sequence[Explanation]) -> dict[str, Any] | None:
    """The graph as plain data; None where nothing waits for anything."""
    drawing = _Drawing()
    for told in explained:
        for row in told.blocked:
            _add_object(row, told, drawing)
        for row in told.blocked:
            _add_reasons(row, told, drawing)
        _add_edges(told, drawing)
    if not drawing.arcs:
        return None
    return _as_data(*_bounded(_merged(drawing)))


def _add_object(row: Blocked, told: Explanation, drawing: _Drawing) -> None:
    name = str(row.ref)
    sort = NAMESPACE if is_namespace(row.kind) else DEFINITION if is_definition(row.kind) else OBJECT
    age = row.record.deleting_for(told.now)
    notes = [f"in {row.record.namespace}"] if row.record.namespace else []
    notes += [] if age is not None else ["not being deleted"]
    drawing.nodes[name] = Node(
        sort, f"{row.kind.kind} {row.record.name}", notes, "", [row.record.name], (row.kind.kind, row.record.namespace)
    )


def _add_reasons(row: Blocked, told: Explanation, drawing: _Drawing) -> None:
    name = str(row.ref)
    for holder in row.holders:
        _add_holder(name, row, holder, drawing)
    obstacles = {one.sentence: one for one in told.obstacles}
    for cause in row.causes:
        obstacle = obstacles.get(cause.text)
        if obstacle is not None:
            state = "gone" if obstacle.certain else "unknown"
            services = [f"Service {place}/{service}" for place, service in sorted(obstacle.services)]
            title = f"{_SHORT.get(obstacle.kind, obstacle.kind)} {obstacle.ref.name}"
            drawing.nodes.setdefault(str(obstacle.ref), Node(OBSTACLE, title, services, state))
            drawing.arc(name, str(obstacle.ref))
        elif cause.what not in _SUMMARIES:
            _add_cause(name, cause, drawing)


def _add_holder(name: str, row: Blocked, holder: Holder, drawing: _Drawing) -> None:
    # As the engine names it in its own edges.
    controller = f"a running {holder.owner}" if holder.owner else f"finalizer {holder.name}"
    node = drawing.nodes.setdefault(controller, Node(CONTROLLER, holder.owner or "nobody knows who", [], holder.alive))
    if holder.name not in node.notes:
        node.notes.append(holder.name)
    arc = drawing.arc(name, controller)
    if holder.is_hopeless and holder.may_go_by_hand:
        place, consent = row.record.namespace, holder.protected
        arc.cut = remove_finalizer(row.kind, place, row.record.name, holder.name, consent=consent)
        arc.cut_all = remove_finalizer(row.kind, place, "", holder.name, consent=consent)
    arc.cost = holder.loss


def _add_cause(name: str, cause: Cause, drawing: _Drawing) -> None:
    reason = f"{cause.what}: {cause.text}"
    drawing.nodes.setdefault(reason, Node(REASON, cause.what, [cause.text], "" if cause.certain else "unknown"))
    drawing.arc(name, reason)


def _add_edges(told: Explanation, drawing: _Drawing) -> None:
    for edge in told.edges:
        for name in (edge.waits, edge.on):
            if name not in drawing.nodes:
                drawing.nodes[name] = Node(_sort_of(name), name)
        drawing.arc(edge.waits, edge.on)
    for circle in told.deadlocks:
        ring = set(zip(circle.members, [*circle.members[1:], circle.members[0]], strict=True))
        cuts = [edge for edge in told.edges if (edge.waits, edge.on) in ring and edge.cut == circle.cut and edge.cut]
        for edge in cuts[:1]:
            arc = drawing.arc(edge.waits, edge.on)
            arc.cut, arc.cost = edge.cut, arc.cost or edge.loss


def _sort_of(name: str) -> str:
    if name.startswith("a running "):
        return CONTROLLER
    return NAMESPACE if name.startswith("Namespace ") else OBJECT


def _merged(drawing: _Drawing) -> _Drawing:
    """Objects of a kind and namespace that wait for the same, and for which the same waits, become one node."""
    out: dict[str, set[str]] = defaultdict(set)
    into: dict[str, set[str]] = defaultdict(set)
    for waits, on in drawing.arcs:
        out[waits].add(on)
        into[on].add(waits)
    first: dict[object, str] = {}
    stands_in: dict[str, str] = {}
    for name, node in drawing.nodes.items():
        alone = node.sort != OBJECT or node.alike == ("", "")
        look = name if alone else (node.alike, tuple(node.notes), frozenset(out[name]), frozenset(into[name]))
        stands_in[name] = first.setdefault(look, name)
        if stands_in[name] != name:
            drawing.nodes[stands_in[name]].names += node.names
    merged = _Drawing()
    merged.nodes = {name: node for name, node in drawing.nodes.items() if stands_in[name] == name}
    for (waits, on), arc in drawing.arcs.items():
        kept = merged.arc(stands_in[waits], stands_in[on])
        kept.cut, kept.cost = kept.cut or arc.cut, kept.cost or arc.cost
        if len(merged.nodes[stands_in[waits]].names) > 1:
            kept.cut = arc.cut_all or kept.cut
    _mark_circles(merged)
    return merged


def _mark_circles(drawing: _Drawing) -> None:
    """An arc is in a circle when both its ends are in the same knot."""
    out: dict[str, list[Edge]] = defaultdict(list)
    for waits, on in drawing.arcs:
        out[waits].append(Edge(waits, on, ""))
    knot_of = {name: number for number, knot in enumerate(knots(out)) for name in knot}
    for (waits, on), arc in drawing.arcs.items():
        arc.in_circle = knot_of.get(waits, -1) == knot_of.get(on, -2)


def _bounded(drawing: _Drawing) -> tuple[_Drawing, int]:
    """Circles first, then those that most depends on; the rest is counted."""
    weight: dict[str, int] = defaultdict(int)
    out: dict[str, list[str]] = defaultdict(list)
    for (waits, on), arc in drawing.arcs.items():
        out[waits].append(on)
        weight[waits] += 1000 * arc.in_circle + 1
        weight[on] += 1000 * arc.in_circle + 1
    chosen: set[str] = set()
    for name in sorted(weight, key=lambda name: -weight[name]):
        # What is shown is shown with what it waits for, if that is not half of the picture by itself.
        fresh = {name, *(out[name] if len(out[name]) <= _FEW else ())} - chosen
        if len(chosen) + len(fresh) <= MOST_NODES:
            chosen |= fresh
    kept = _Drawing()
    kept.arcs = {key: arc for key, arc in drawing.arcs.items() if set(key) <= chosen}
    linked = {name for key in kept.arcs for name in key}
    kept.nodes = {name: node for name, node in drawing.nodes.items() if name in linked}
    return kept, sum(max(1, len(drawing.nodes[name].names)) for name in weight if name not in linked)


def _as_data(drawing: _Drawing, left_out: int) -> dict[str, Any]:
    places = {name: place for place, name in enumerate(drawing.nodes)}
    return {
        "nodes": [
            {"sort": node.sort, "title": _title(node), "notes": _notes(node), "state": node.state}
            for node in drawing.nodes.values()
        ],
        "arcs": [
            {
                "waits": places[waits],
                "on": places[on],
                "in_circle": arc.in_circle,
                "cut": arc.cut,
                "cost": arc.cost if arc.cut else "",
            }
            for (waits, on), arc in drawing.arcs.items()
        ],
        "left_out": left_out,
    }


def _title(node: Node) -> str:
    return node.title if len(node.names) < 2 else f"{len(node.names)} {node.alike[0]}"


def _notes(node: Node) -> list[str]:
    words = {"alive": "alive", "gone": "gone", "unknown": "not found"} if node.sort == CONTROLLER else {}
    words = words or {"gone": "nobody answers", "unknown": "may be in the way"}
    state = [words[node.state]] if node.state in words else []
    names = [_some(node.names)] if len(node.names) > 1 else []
    notes = node.notes[:_MOST_FINALIZERS]
    more = [f"and {len(node.notes) - len(notes)} more"] if len(node.notes) > len(notes) else []
    return [*state, *names, *notes, *more]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
