# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do next: the first thing for each object, and for all of them the commands in the order that helps.

Room: teardown (pure).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...objects import Resource
from .cause import CONDITION, CONTENT, GITOPS, NOT_DELETED, POLICY, RIGHTS, SCHEMA
from .commands import bring_back, look_at, remove_finalizer
from .holders import Holder
from .scene import Scene

if TYPE_CHECKING:
    from .blockers import Blocked, Explanation

# Reasons behind which others stand: what they name is a row of its own.
_SUMMARIES = frozenset({CONDITION, CONTENT, NOT_DELETED, GITOPS})
# What must be out of the way before a finalizer can go by the usual command.
_CLOSED = frozenset({RIGHTS, SCHEMA})


def suggestion_for(row: Blocked) -> str:
    """The first thing to do about it, or nothing where the way leads through others."""
    for cause in row.causes:
        if cause.certain and cause.suggestion and cause.what not in _SUMMARIES:
            return cause.suggestion
    for holder in row.holders:
        if holder.alive == "alive":
            command = look_at(holder.owner, alive=True)
            return f"give {holder.owner} time, or see why it does not act" + (f": {command}" if command else "")
    for holder in row.holders:
        if not holder.protected:
            return f"{_instead(row, holder) or 'bring its controller back'}, or: {_removal(row, holder)}"
    guarded = next((holder for holder in row.holders), None)
    if guarded and row.record.terminating:
        return _instead(row, guarded) or f"let {guarded.owner} finish"
    return next((cause.suggestion for cause in row.causes if cause.suggestion), "")


def _instead(row: Blocked, holder: Holder) -> str:
    return holder.instead.replace("NAME", row.record.name)


def _removal(row: Blocked, holder: Holder) -> str:
    return remove_finalizer(row.kind, row.record.namespace, row.record.name, holder.name)


def next_steps(told: Explanation, scene: Scene) -> list[str]:
    """Commands in the order that helps: what stops everybody first, then what holds most."""
    steps = [one.suggestion for one in told.obstacles if one.certain]
    steps += [f"so that it stays away: {one.way_out}" for one in told.returns if one.certain and one.way_out]
    steps += [cause.suggestion for row in told.blocked for cause in row.causes if cause.what == POLICY]
    steps += [f"cut the circle: {one.cut}" for one in told.deadlocks if one.cut]
    held = _held_alike(told)
    for (kind, namespace, finalizer), rows in held.items():
        name = rows[0].record.name if len(rows) == 1 else ""
        removal = remove_finalizer(kind, namespace, name, finalizer)
        holder = next(holder for holder in rows[0].holders if holder.name == finalizer)
        back = _way_back(holder, scene) or (_instead(rows[0], holder) if name else holder.instead)
        steps += [back, f"or, if that is gone for good: {removal}"] if back else [removal]
    grouped = {(row.kind, finalizer) for (_k, _n, finalizer), rows in held.items() for row in rows}
    rest = [row.suggestion for row in told.blocked if row.suggestion and not _is_in(row, grouped)]
    known = {step.removeprefix("cut the circle: ") for step in steps}
    return list(dict.fromkeys([*_without_repeats(steps), *(step for step in rest if step not in known)]))


def _held_alike(told: Explanation) -> dict[tuple[Resource, str, str], list[Blocked]]:
    """Objects that one command sets free, the most first."""
    held: dict[tuple[Resource, str, str], list[Blocked]] = defaultdict(list)
    for row in told.blocked:
        if not row.record.terminating or any(cause.what in _CLOSED for cause in row.causes):
            continue
        for holder in row.holders:
            if holder.alive != "alive" and not holder.protected:
                held[row.kind, row.record.namespace, holder.name].append(row)
    return dict(sorted(held.items(), key=lambda entry: -len(entry[1])))


def _way_back(holder: Holder, scene: Scene) -> str:
    """How its owner could finish the work himself; empty where nobody can bring him back."""
    if not holder.is_hopeless or holder.home in scene.going_namespaces:
        return ""
    workload = next((one for one in scene.owners.workloads if str(one) == holder.owner), None)
    return bring_back(workload) if workload else ""


def _is_in(row: Blocked, grouped: set[tuple[Resource, str]]) -> bool:
    return any((row.kind, holder.name) in grouped for holder in row.holders)


def _without_repeats(steps: Sequence[str]) -> list[str]:
    """A circle that is cut by a command which stands there anyway needs no second line."""
    kept: list[str] = []
    for step in steps:
        command = step.removeprefix("cut the circle: ")
        if not any(command == other or other.endswith(f": {command}") for other in kept):
            kept.append(step)
    return kept
