# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why the survivors of a run are still there, told by the same engine as `blockers_info`.

Room: teardown. Looks only when something is left, by lists and never at an object by itself, so that ten thousand
survivors cost as much as one. What the run itself met, a refusal for example, comes first. Nothing here fails a run: if
nobody can look any more, that is said.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...events import Tell
from ...objects import ObjectRef, Record, ref_to
from ...problems import Problem, TimedOut
from ..releasing import Release
from ..run_outcome import RunOutcome, StepOutcome
from .blockers import Blocked, Explanation, explain_subjects
from .census import Census, Seen
from .commands import look_at
from .holders import Holder, instead_of
from .removals import first_thing, look_first, only_if, removal_of
from .subjects import survivors_as_subjects

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_MOST_NAMED = 3
# Nobody reads more; the others are counted, and memory stays small.
_MOST_EXPLAINED = 10_000


@dataclass(frozen=True)
class Blocker:
    """One reason why an object stays."""

    what: str  # finalizer, refused, webhook, blind, unknown, and what a cause is of (causes.py)
    text: str
    finalizer: str = ""
    owner: str = ""
    alive: str = ""
    suggestion: str = ""

    @property
    def short(self) -> str:
        return f"finalizer {self.finalizer}: {self.text}" if self.finalizer else self.text

    def as_dict(self) -> dict[str, str]:
        rows = {
            "what": self.what,
            "finalizer": self.finalizer,
            "owner": self.owner,
            "alive": self.alive,
            "text": self.text,
            "suggestion": self.suggestion,
        }
        return {key: value for key, value in rows.items() if value}


@dataclass
class Survivor:
    """What should be gone and is not, with its reasons."""

    ref: ObjectRef
    record: Record
    blockers: list[Blocker] = field(default_factory=list)


@dataclass
class Diagnosis:
    survivors: list[Survivor] = field(default_factory=list)
    explained: list[Explanation] = field(default_factory=list)  # one a cluster in which something is left

    @property
    def next_step(self) -> str:
        """What to do first: about what stops everybody, then about the first survivor, then about anything."""
        in_the_way = [one.suggestion for told in self.explained for one in told.obstacles if one.certain]
        own = [blocker.suggestion for one in self.survivors[:1] for blocker in one.blockers[:1]]
        steps = [step for told in self.explained for step in map(str, told.next_steps)]
        return next(filter(None, [*in_the_way, *own, *steps]), "")


_LIKE_THE_OTHERS = [Blocker("unknown", f"only the first {_MOST_EXPLAINED} are explained; free those first")]

# What a run met itself: an object, and why it stays as far as the run knows.
Met = tuple[Seen, list[Blocker]]


def diagnose(runs: Sequence[RunOutcome], clusters: Mapping[str | None, Cluster], tell: Tell) -> Diagnosis:
    """Everybody who should be gone and is not, each looked at in the cluster it lives in."""
    found = Diagnosis()
    for context, cluster in clusters.items():
        steps = [step for run in runs for step in run.steps if step.step.rule.context == context]
        blind = [Blocker("blind", str(problem)) for run in runs for problem in run.blind.values()]
        met: dict[str, Met] = {}
        for seen, reasons in (entry for step in steps for entry in _met_in(step)):
            met.setdefault(seen[1].uid, (seen, []))[1].extend(reasons)
        there = explain_met(list(met.values()), cluster, tell, blind)
        found.survivors += there.survivors
        found.explained += there.explained
    return found


def explain_met(met: Sequence[Met], cluster: Cluster, tell: Tell, blind: Sequence[Blocker] = ()) -> Diagnosis:
    found = Diagnosis()
    if not met:
        return found
    census = Census(cluster, tell)
    rows: Mapping[str, Blocked] = {}
    try:
        told = explain_subjects(
            survivors_as_subjects([seen for seen, _reasons in met[:_MOST_EXPLAINED]], census, cluster), census, cluster
        )
        found.explained.append(told)
        rows = {row.record.uid: row for row in told.blocked}
    except Problem as problem:  # nobody answers any more, or somebody wants us to stop
        census.could_not(str(problem))
    blind = [*blind, *_unseen(census)]
    for (kind, record), reasons in met[:_MOST_EXPLAINED]:
        row = rows.get(record.uid) or Blocked(kind, record)
        blockers = [*_joined(_with_the_way_out(reasons, row), _told(row)), *blind]
        found.survivors.append(Survivor(ref_to(kind, record), record, blockers or [_no_reason(record)]))
    for (kind, record), reasons in met[_MOST_EXPLAINED:]:
        found.survivors.append(Survivor(ref_to(kind, record), record, reasons or list(_LIKE_THE_OTHERS)))
    return found


def _met_in(step: StepOutcome) -> list[Met]:
    met: list[Met] = [((leaver.resource, leaver.record), [refusal(problem)]) for leaver, problem in step.refused]
    for release in step.step.releases:
        if release.problem:
            met.append(((release.resource, release.record), [refusal(release.problem)]))
        elif release.untried:
            met.append(((release.resource, release.record), _not_tried(release)))
    for leaver in step.survivors:
        problem = step.ladder_problems.get(leaver.record.uid)
        met.append(((leaver.resource, leaver.record), [refusal(problem)] if problem else []))
    return met


def refusal(problem: Problem) -> Blocker:
    if "admission webhook" in problem.why or "failed calling webhook" in problem.why:
        return Blocker("webhook", problem.why, suggestion="repair or remove the webhook, then run the task again")
    return Blocker("refused", problem.why, suggestion=problem.next_step)


def _not_tried(release: Release) -> list[Blocker]:
    text = "there was no time to take it off"
    return [Blocker("finalizer", text, name, suggestion="run the task again") for name in release.finalizers]


def _with_the_way_out(reasons: Sequence[Blocker], row: Blocked) -> list[Blocker]:
    """A webhook that refused us and was found dead: its own way out is better than ours."""
    ways = [cause.suggestion for cause in row.causes if cause.what == "webhook" and cause.certain]
    if not ways:
        return list(reasons)
    return [dataclasses.replace(one, suggestion=ways[0]) if one.what == "webhook" else one for one in reasons]


def _joined(reasons: Sequence[Blocker], told: Sequence[Blocker]) -> list[Blocker]:
    """What the run knows of a finalizer and what the engine tells of it is one reason."""
    of_engine = {one.finalizer: one for one in told if one.finalizer}
    own = [_completed(one, of_engine.get(one.finalizer)) for one in reasons]
    named = {one.finalizer for one in reasons if one.finalizer}
    return own + [one for one in told if one.finalizer not in named]


def _completed(own: Blocker, told: Blocker | None) -> Blocker:
    if told is None:
        return own
    suggestion = own.suggestion or told.suggestion
    return dataclasses.replace(own, owner=told.owner, alive=told.alive, suggestion=suggestion)


def _told(row: Blocked) -> list[Blocker]:
    holders = [_of_holder(holder, row) for holder in row.holders]
    return holders + [
        Blocker(cause.what, cause.text if cause.certain else f"perhaps: {cause.text}", suggestion=cause.suggestion)
        for cause in row.causes
    ]


def _of_holder(holder: Holder, row: Blocked) -> Blocker:
    guards = f"it guards {holder.meaning}; " if holder.meaning else ""
    text = f"{guards}{holder.why}"
    return Blocker("finalizer", text, holder.name, holder.owner, holder.alive, _advice(holder, row))


def _advice(holder: Holder, row: Blocked) -> str:
    if holder.alive == "alive":
        command = look_at(holder.owner, alive=True)
        return f"give {holder.owner} time, or see why it does not act" + (f": {command}" if command else "")
    if holder.protected:
        return instead_of(holder, row.record) or f"let {holder.owner} finish"
    removal = removal_of(holder, row.kind, row.record.namespace, row.record.name)
    return f"{first_thing(holder)}; or, {only_if(holder, 'that', removal)}" if removal else look_first(holder)


def _unseen(census: Census) -> list[Blocker]:
    if not census.unreadable:
        return []
    shown = "; ".join(census.unreadable[:_MOST_NAMED])
    more = f"; and {len(census.unreadable) - _MOST_NAMED} more" if census.unreadable[_MOST_NAMED:] else ""
    return [Blocker("blind", f"could not look, so there may be more behind it: {shown}{more}")]


def _no_reason(record: Record) -> Blocker:
    if record.grace_seconds:
        return Blocker("grace", f"it has a grace period of {record.grace_seconds} s", suggestion="give it more time")
    if not record.terminating:
        return Blocker("unknown", "it is not even being deleted", suggestion="run the task again")
    return Blocker(
        "unknown", "nothing holds it that can be seen; the API server may be slow", suggestion="wait, and look again"
    )


def name_the_first(failure: Problem | None, found: Diagnosis) -> Problem | None:
    """A time-out that says who is still there, why, and what to do first."""
    if not isinstance(failure, TimedOut) or not found.survivors:
        return failure
    first = found.survivors[:_MOST_NAMED]
    named = "; ".join(f"{one.ref} ({one.blockers[0].short})" for one in first)
    left = len(found.survivors) - len(first)
    more = f" and {left} more" if left else ""
    next_step = found.next_step or failure.next_step
    why = f"{failure.why}: {named}{more}"
    return type(failure)(failure.what, which=failure.which, why=why, next_step=f"{next_step}; see survivors")
