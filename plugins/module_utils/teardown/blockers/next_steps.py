# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do next: the first thing for each object, and for all of them the commands in the order that helps.

Room: teardown (pure).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...objects import Resource
from ..obstacles.obstacle import WEBHOOK
from .cause import CONDITION, CONTENT, GITOPS, NOT_DELETED, POLICY, REFUSED, RIGHTS, SCHEMA, USAGE
from .commands import bring_back, look_at
from .holders import Holder, instead_of
from .removals import first_thing, look_first, only_if, price_of, removal_of
from .scene import Scene

if TYPE_CHECKING:
    from .blockers import Blocked, Explanation

# Reasons behind which others stand: what they name is a row of its own.
_SUMMARIES = frozenset({CONDITION, CONTENT, NOT_DELETED, GITOPS})
# What must be out of the way before a finalizer can go by the usual command.
_CLOSED = frozenset({RIGHTS, SCHEMA})
# Somebody who says no: until he is out of the way, the removal of the finalizer is refused as its dry run was.
_SAY_NO = frozenset({POLICY, REFUSED, USAGE, WEBHOOK})


@dataclass(frozen=True)
class NextStep:
    """`otherwise` is to be done in its place, never after it. `command` is what stands in `do` to be copied."""

    do: str
    otherwise: str = ""
    command: str = ""

    def __str__(self) -> str:
        return f"{self.do}; or, {self.otherwise}" if self.otherwise else self.do

    def says(self, command: str) -> bool:
        return any(text == command or text.endswith(f": {command}") for text in (self.do, self.otherwise))


def suggestion_for(row: Blocked, scene: Scene) -> str:
    """The first thing to do about it, or nothing where the way leads through others."""
    for cause in row.causes:
        if cause.certain and cause.suggestion and cause.what not in _SUMMARIES:
            return cause.suggestion
    if not row.record.terminating:
        return _before_it_goes(row, scene)
    for holder in row.holders:
        if holder.alive == "alive":
            command = look_at(holder.owner, alive=True)
            return f"give {holder.owner} time, or see why it does not act" + (f": {command}" if command else "")
    for holder in row.holders:
        if not holder.protected:
            return _by_hand(row, holder, scene)
    guarded = next((holder for holder in row.holders if not _cannot_come(holder, scene)), None)
    if guarded:
        return instead_of(guarded, row.record) or f"let {guarded.owner} finish"
    return _any_suggestion(row)


def _before_it_goes(row: Blocked, scene: Scene) -> str:
    """Only who is gone is missed: the others have nothing to do yet, and nothing is taken off what is not going."""
    for holder in row.holders:
        if holder.is_hopeless and not _cannot_come(holder, scene):
            back = _way_back(holder, scene) or instead_of(holder, row.record)
            return back or f"bring {holder.owner} back before you delete it"
    return _any_suggestion(row)


def _any_suggestion(row: Blocked) -> str:
    return next((cause.suggestion for cause in row.causes if cause.suggestion), "")


def _by_hand(row: Blocked, holder: Holder, scene: Scene) -> str:
    removal = removal_of(holder, row.kind, row.record.namespace, row.record.name)
    instead = instead_of(holder, row.record)
    if not removal:
        return instead or look_first(holder)
    if _cannot_come(holder, scene):
        return only_if(holder, holder.owner, removal)
    return f"{instead or first_thing(holder)}; or, {only_if(holder, 'that', removal)}"


def _cannot_come(holder: Holder, scene: Scene) -> bool:
    """Nothing starts in a namespace that is being deleted."""
    return holder.home in scene.going_namespaces


def next_steps(told: Explanation, scene: Scene) -> list[NextStep]:
    """Commands in the order that helps: what stops everybody first, then what holds most."""
    steps = [NextStep(one.suggestion) for one in told.obstacles if one.certain]
    steps += [NextStep(f"so that it stays away: {one.way_out}") for one in told.returns if one.certain and one.way_out]
    steps += map(NextStep, _what_says_no(told))
    steps += [
        NextStep(f"cut the circle{f' ({one.loss})' if one.loss else ''}: {one.cut}", command=one.cut)
        for one in told.deadlocks
        if one.cut
    ]
    held = _held_alike(told)
    steps += [_letting_go(*key, rows, scene) for key, rows in held.items()]
    freed = {row.record.uid for rows in held.values() for row in rows}
    rest = [row.suggestion for row in told.blocked if row.suggestion and row.record.uid not in freed]
    return _without_repeats([*steps, *map(NextStep, rest)])


def _what_says_no(told: Explanation) -> Iterator[str]:
    """To what is being deleted; policies to everything, as nothing goes before they are lifted."""
    for row in told.blocked:
        for cause in row.causes:
            concerns = cause.what == POLICY or (row.record.terminating and cause.what in _SAY_NO)
            if concerns and cause.certain and cause.suggestion:
                yield cause.suggestion


def _letting_go(kind: Resource, namespace: str, finalizer: str, rows: Sequence[Blocked], scene: Scene) -> NextStep:
    """The way that its owner finishes, and the one without him."""
    name = rows[0].record.name if len(rows) == 1 else ""
    holder = next(holder for holder in rows[0].holders if holder.name == finalizer)
    removal = removal_of(holder, kind, namespace, name)
    instead = instead_of(holder, rows[0].record) if name else holder.instead
    back = _way_back(holder, scene) or ("" if _cannot_come(holder, scene) else instead)
    if not removal:
        return NextStep(back or look_first(holder))
    if back:
        return NextStep(back, only_if(holder, "that", removal))
    proven = holder.is_hopeless and not price_of(holder)
    return NextStep(removal if proven else only_if(holder, holder.owner, removal), command=removal)


def _held_alike(told: Explanation) -> dict[tuple[Resource, str, str], list[Blocked]]:
    """Objects that one command sets free, the most first."""
    held: dict[tuple[Resource, str, str], list[Blocked]] = defaultdict(list)
    for row in told.blocked:
        if not row.record.terminating or any(cause.what in _CLOSED for cause in row.causes):
            continue
        for holder in row.holders:
            if holder.alive != "alive" and holder.may_go_by_hand:
                held[row.kind, row.record.namespace, holder.name].append(row)
    return dict(sorted(held.items(), key=lambda entry: -len(entry[1])))


def _way_back(holder: Holder, scene: Scene) -> str:
    """How its owner could finish the work himself; empty where nobody can bring him back."""
    if not holder.is_hopeless or _cannot_come(holder, scene):
        return ""
    workload = next((one for one in scene.owners.workloads if str(one) == holder.owner), None)
    return bring_back(workload) if workload else ""


def _without_repeats(steps: Sequence[NextStep]) -> list[NextStep]:
    """A circle that is cut by a command which stands there anyway needs no second line."""
    kept: list[NextStep] = []
    for step in steps:
        if not any(other.says(step.command or step.do) for other in kept):
            kept.append(step)
    return kept
