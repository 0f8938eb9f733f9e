# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An explanation as a tree of one screen: what hangs, on what, who should let it go, and what to type next.

Room: evidence. Objects that hang for the same reasons share a branch; commands stand on lines of their own, unbroken.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..teardown.blockers.blockers import Blocked, Explanation
from ..teardown.blockers.cause import GITOPS, NOT_DELETED, Cause
from ..teardown.blockers.holders import Holder
from ..teardown.blockers.subjects import is_namespace
from ..visible import visible
from .lines import cluster_line

_WIDTH = 110
_SCREEN = 40
_MOST_NAMES, _MOST_BRANCHES, _FEWEST_BRANCHES, _MOST_STEPS, _MOST_UNREAD = 4, 6, 3, 5, 3


@dataclass
class Branch:
    text: str
    branches: list[Branch] = field(default_factory=list)


@dataclass(frozen=True)
class Where:
    """The cluster that was asked. `chosen`: by options or variables of the task, of which kubectl knows nothing."""

    cluster: str
    chosen: bool


def tree_of(told: Explanation, where: Where | None = None) -> list[str]:
    """Lines for people."""
    head = [cluster_line(where.cluster)] if where else []
    if told.missing:
        return [*head, told.missing, *_unread(told)]
    groups = _grouped(told.blocked)
    lines = [*head, *_lines(told, groups, _MOST_BRANCHES, where)]
    for most in range(_MOST_BRANCHES - 1, _FEWEST_BRANCHES - 1, -1):
        if len(lines) > _SCREEN:
            lines = [*head, *_lines(told, groups, most, where)]
    return lines


def _lines(told: Explanation, groups: Sequence[Sequence[Blocked]], most: int, where: Where | None) -> list[str]:
    root = Branch(_headline(told))
    root.branches += [_branch(group, told) for group in groups[:most]]
    if groups[most:]:
        hidden = [row for group in groups[most:] for row in group]
        why = "that only wait for the others" if all(map(_only_waits, hidden)) else "for other reasons"
        root.branches.append(Branch(f"and {len(hidden)} more objects {why}; see blockers in the result"))
    shown = {cause.text for row in told.blocked for cause in row.causes}
    others = [one.sentence for one in told.obstacles]
    root.branches += [Branch(text) for text in others if text not in shown]
    root.branches += [Branch(one.text) for one in told.returns if one.certain]
    root.branches += [Branch(_circle(one.size), [Branch(step) for step in one.steps]) for one in told.deadlocks]
    return [*_drawn(root), *_steps(told, where), *_unread(told)]


def _headline(told: Explanation) -> str:
    hanging = sum(row.record.terminating for row in told.blocked)
    if hanging:
        return f"{told.title}: {_counted(hanging)} {'hang' if hanging > 1 else 'hangs'} in deletion"
    if told.obstacles or any(row.may_stay for row in told.blocked):
        return f"{told.title}: nothing is being deleted now; this would be in the way"
    looked_at = f"({_counted(told.looked_at)} looked at)"
    if told.unreadable:
        return f"{told.title}: nothing was seen that hangs, but not everything could be looked at {looked_at}"
    return f"{told.title}: nothing hangs, and nothing is in the way {looked_at}"


def _counted(number: int) -> str:
    return "1 object" if number == 1 else f"{number} objects"


def _grouped(rows: Iterable[Blocked]) -> list[list[Blocked]]:
    """Rows that differ in name only, together; namespaces first, then the largest groups, and who only waits last."""
    groups: dict[object, list[Blocked]] = {}
    for row in rows:
        reasons = (tuple(row.holders), tuple((cause.what, cause.text) for cause in row.causes))
        kind = "" if _only_waits(row) else row.kind.qualified
        groups.setdefault((kind, row.record.namespace, row.record.terminating, reasons), []).append(row)
    return sorted(
        groups.values(), key=lambda group: (not is_namespace(group[0].kind), _only_waits(group[0]), -len(group))
    )


def _only_waits(row: Blocked) -> bool:
    """Nothing holds it but that others go first."""
    return not row.holders and {cause.what for cause in row.causes} == {NOT_DELETED}


def _branch(group: Sequence[Blocked], told: Explanation) -> Branch:
    first = group[0]
    alike = len({row.kind for row in group}) == 1
    names = ", ".join(row.record.name if alike else f"{row.kind.kind} {row.record.name}" for row in group[:_MOST_NAMES])
    more = f" and {len(group) - _MOST_NAMES} more" if group[_MOST_NAMES:] else ""
    kind = first.kind.kind if alike else "objects:"
    number = f"{len(group)} {kind}" if len(group) > 1 else kind
    elsewhere = first.record.namespace and told.title != f"namespace {first.record.namespace}"
    place = f" in namespace {first.record.namespace}" if elsewhere else ""
    branch = Branch(f"{number} {names}{more}{place} {_state(first, told.now)}")
    branch.branches += [Branch(_holder_text(holder)) for holder in first.holders]
    # Who brings it back is told once for all, below.
    branch.branches += [Branch(_cause_text(cause)) for cause in first.causes if cause.what != GITOPS]
    if not branch.branches:
        held = "nothing holds it that can be seen; the API server may be about to remove it"
        branch.branches.append(Branch(held if first.record.terminating else "nothing holds it"))
    return branch


def _state(row: Blocked, now: float) -> str:
    age = row.record.deleting_for(now)
    return "(not being deleted)" if age is None else f"(being deleted for {_duration(age)})"


def _duration(seconds: float) -> str:
    for size, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {word}"
    return f"{seconds:.0f} s"


def _holder_text(holder: Holder) -> str:
    guards = f"it guards {holder.meaning}; " if holder.meaning else ""
    why = _FORBIDDEN.sub("not allowed", holder.why)
    life = {
        "alive": f"its owner is alive: {why}",
        "gone": f"its owner is gone: {why}",
        "unknown": f"its owner{f', {holder.owner},' if holder.owner else ''} was not found: {why}"
        if "/" not in holder.owner
        else f"it is not sure whether its owner lives: {why}",
    }[holder.alive]
    return f"finalizer {holder.name}: {guards}{life}; {holder.loss}"


def _cause_text(cause: Cause) -> str:
    return cause.text if cause.certain else f"perhaps: {cause.text}"


def _circle(size: int) -> str:
    return "these wait for each other in a circle, and it never ends by itself" + (
        f" ({size} objects in it)" if size > _MOST_NAMES else ""
    )


def _drawn(root: Branch) -> Iterator[str]:
    yield root.text
    yield from _below(root, "")


def _below(branch: Branch, indent: str) -> Iterator[str]:
    for place, child in enumerate(branch.branches):
        last = place == len(branch.branches) - 1
        rest = indent + ("   " if last else "│  ")
        own = rest + ("│  " if child.branches else "")
        width = max(40, _WIDTH - len(rest))
        # Long names are commands' and people's business: they are copied, so they stay whole.
        lines = textwrap.wrap(visible(child.text), width, break_long_words=False, break_on_hyphens=False) or [""]
        yield f"{indent}{'└─ ' if last else '├─ '}{lines[0]}"
        yield from (f"{own}{line}" for line in lines[1:])
        yield from _below(child, rest)


def _steps(told: Explanation, where: Where | None) -> Iterator[str]:
    if told.next_steps:
        yield "next:"
        if where and where.chosen:  # a command that is pasted must not meet the cluster of another context
            yield f"  (for {where.cluster}: point kubectl and ansible there first)"
        for number, step in enumerate(told.next_steps[:_MOST_STEPS], 1):
            yield from _step(f"  {number}. {step.do}")
            if step.otherwise:  # without a number: it is not to be done after the step, but in its place
                yield from _step(f"     or, {step.otherwise}")
    if told.next_steps[_MOST_STEPS:]:
        yield f"  and {len(told.next_steps) - _MOST_STEPS} more; see next_steps in the result"
    if any("ansible localhost" in str(step) for step in told.next_steps):
        yield "  (with --check, an ansible command shows what it would do)"


def _step(line: str) -> Iterator[str]:
    """A command behind many words begins a line: it is copied, and what stands before it must be read."""
    words, colon, command = line.rpartition(": ansible localhost ")
    if colon and len(line) > _WIDTH:
        yield f"{words}:"
        yield f"     ansible localhost {command}"
    else:
        yield line


def _unread(told: Explanation) -> Iterator[str]:
    """What is forbidden shares a line: whoever may see little may not see forty kinds."""
    if not told.unreadable:
        return
    yield "could not look, so there may be more behind it:"
    others = [line for line in told.unreadable if not _FORBIDDEN.search(line)]
    yield from (f"  {line}" for line in others[:_MOST_UNREAD])
    if others[_MOST_UNREAD:]:
        yield f"  and {len(others) - _MOST_UNREAD} more; see unreadable in the result"
    forbidden = [line.partition(": ")[0] for line in told.unreadable if _FORBIDDEN.search(line)]
    if forbidden:
        more = f" and {len(forbidden) - _MOST_FORBIDDEN} more" if forbidden[_MOST_FORBIDDEN:] else ""
        yield f"  you may not list {', '.join(forbidden[:_MOST_FORBIDDEN])}{more}; see unreadable in the result"


_FORBIDDEN = re.compile(r"HTTP 403[^;]*")
_MOST_FORBIDDEN = 5
