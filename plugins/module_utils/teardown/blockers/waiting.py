# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who waits for whom, as edges: namespaces, their content, finalizers, controllers, webhooks, API groups, dependants.

Room: teardown (pure).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...objects import Resource, ref_to
from ..obstacles.obstacle import API_SERVICE, Obstacle
from .cause import DEPENDANT
from .commands import remove_finalizer
from .deadlocks import NEVER, Edge
from .scene import Scene
from .subjects import FOREGROUND, is_definition, is_namespace

if TYPE_CHECKING:
    from .blockers import Blocked

# What a finalizer costs that is taken off by hand, by its danger.
_COSTS = {"nothing": 1, "leftovers": 2, "unknown": 3, "data": 6, "money": 6, "bookkeeping": 9}


def waiting_edges(blocked: Iterable[Blocked], scene: Scene) -> Iterator[Edge]:
    rows = list(blocked)
    by_uid = {row.record.uid: _node(row) for row in rows}
    alike = Counter(key for row in rows for key in _held_as(row))
    for row in rows:
        yield from _of_place(row, scene)
        yield from _of_finalizers(row, scene, alike)
        yield from _of_obstacles(row, scene)
        yield from _of_causes(row)
        if FOREGROUND in row.record.finalizers:
            for ref in scene.dependants.get(row.record.uid) or ():
                if ref.uid in by_uid:
                    yield Edge(_node(row), by_uid[ref.uid], f"{_node(row)} waits for its dependant {by_uid[ref.uid]}")
    yield from _of_definitions(rows)


def _node(row: Blocked) -> str:
    return str(ref_to(row.kind, row.record))


def _namespace(name: str) -> str:
    return f"Namespace {name}"


def _of_place(row: Blocked, scene: Scene) -> Iterator[Edge]:
    place = row.record.namespace
    if place in scene.going_namespaces:
        yield Edge(_namespace(place), _node(row), f"{_namespace(place)} waits for {_node(row)}")


def _held_as(row: Blocked) -> list[tuple[Resource, str, str]]:
    """Objects that are freed by the same command."""
    return [(row.kind, row.record.namespace, holder.name) for holder in row.holders]


def _of_finalizers(row: Blocked, scene: Scene, alike: Mapping[tuple[Resource, str, str], int]) -> Iterator[Edge]:
    for holder, key in zip(row.holders, _held_as(row), strict=True):
        if holder.home not in scene.going_namespaces or holder.alive == "alive":
            continue
        cut, cost, name = "", NEVER, row.record.name if alike[key] == 1 else ""
        if holder.may_go_by_hand:
            cost = _COSTS[holder.danger]
            cut = remove_finalizer(row.kind, row.record.namespace, name, holder.name, consent=holder.protected)
        # Not the Deployment as an object: that may hang in the same circle for reasons of its own.
        runner = f"a running {holder.owner}"
        why = f"{_node(row)} waits for {runner}, which should remove {holder.name}"
        yield Edge(_node(row), runner, why, cut, cost, holder.loss)
        lost = f"{holder.owner} cannot start, as its {_namespace(holder.home)} is being deleted"
        yield Edge(runner, _namespace(holder.home), lost)


def _of_obstacles(row: Blocked, scene: Scene) -> Iterator[Edge]:
    place = row.record.name if is_namespace(row.kind) else row.record.namespace
    silent = {hook for cause in row.causes if cause.certain for hook in cause.hooks}
    for obstacle in scene.judge_obstacles(row.kind, place):
        homes = sorted({namespace for namespace, _name in obstacle.services} & set(scene.going_namespaces))
        certain = obstacle.certain or bool(silent & obstacle.hooks)
        if not certain or not homes or (obstacle.kind == API_SERVICE and not is_namespace(row.kind)):
            continue
        yield Edge(_node(row), str(obstacle.ref), f"{_node(row)} waits for {obstacle.ref}", _removal(obstacle), 1)
        for home in homes:
            yield Edge(str(obstacle.ref), _namespace(home), f"{obstacle.ref} is served from {_namespace(home)}")


def _of_causes(row: Blocked) -> Iterator[Edge]:
    """Who uses it must go first. Dependants are edges of their own."""
    for cause in row.causes:
        if cause.on and cause.certain and cause.what != DEPENDANT:
            cut = _command(cause.suggestion)
            yield Edge(_node(row), cause.on, f"{_node(row)}: {cause.text}", cut, _BY_HAND, cause.loss)


_BY_HAND = 4


def _command(suggestion: str) -> str:
    return suggestion.rpartition(": ")[2] if ": kubectl " in suggestion else suggestion


def _removal(obstacle: Obstacle) -> str:
    return _command(obstacle.suggestion)


def _of_definitions(rows: list[Blocked]) -> Iterator[Edge]:
    definitions = {row.record.name: _node(row) for row in rows if is_definition(row.kind)}
    for row in rows:
        definition = definitions.get(row.kind.qualified)
        if definition:
            yield Edge(definition, _node(row), f"{definition} waits for {_node(row)}")
