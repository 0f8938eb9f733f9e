# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carrying out a plan: step by step, wave by wave, each begun only when every uid of the one before is gone.

Room: teardown. All watches are open before the first write. A verdict is asked for once more right before its delete,
with the newest metadata the watch has brought, so that a keep marker set meanwhile still counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..problems import Interrupted, Problem, Refused, TimedOut
from .departure import Departed, Departure, Leaver
from .events import Did, StepBegan, StepEnded, Tell
from .guards import Facts, judge
from .ladder import Ladder, Rung
from .members.looking import Looker, Member
from .plan import GOING, Entry, Plan, Step

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass(frozen=True)
class RunOptions:
    timeout: float = 600.0
    ladder: Ladder = field(default_factory=Ladder)
    on_timeout: str = "fail"
    propagation: str = "Background"
    grace_seconds: int | None = None
    finalize_namespaces: bool = False


@dataclass
class StepOutcome:
    """What became of a step."""

    step: Step
    deleted: int = 0
    released: int = 0
    seconds: float = 0.0
    begun: bool = False
    late_kept: list[Entry] = field(default_factory=list)
    replaced: list[Leaver] = field(default_factory=list)
    refused: list[tuple[Leaver, Problem]] = field(default_factory=list)
    survivors: list[Leaver] = field(default_factory=list)
    recreated: dict[str, int] = field(default_factory=dict)


@dataclass
class RunOutcome:
    steps: list[StepOutcome] = field(default_factory=list)
    failure: Problem | None = None
    blind: dict[str, Problem] = field(default_factory=dict)

    @property
    def survivors(self) -> list[Leaver]:
        return [leaver for step in self.steps for leaver in step.survivors]

    @property
    def changed(self) -> bool:
        return any(step.deleted or step.released or step.survivors for step in self.steps)


def carry_out(
    plan: Plan,
    facts: Facts,
    looker: Looker,
    options: RunOptions,
    cluster: Cluster,
    clock: Clock,
    stop: StopSign,
    tell: Tell,
) -> RunOutcome:
    deadline = Deadline(clock, options.timeout)
    leavers = {entry.member.record.uid: Leaver(entry.member.resource, entry.member.record) for entry in plan.going}
    runner = _Runner(facts, looker, options, cluster, clock, stop, tell, deadline, Departure(leavers.values(), clock))
    outcome = RunOutcome([StepOutcome(step) for step in plan.steps])
    with cluster.following(_concerned(looker, leavers), runner.departure):
        for step in outcome.steps:
            try:
                runner.do_step(step, leavers)
            except Problem as problem:
                outcome.failure = problem
            outcome.blind.update(runner.blind)
            outcome.failure = outcome.failure or runner.why_stop(step)
            if outcome.failure:
                break
    return outcome


def _concerned(looker: Looker, leavers: dict[str, Leaver]) -> list[Any]:
    """The lists whose kinds and namespaces hold anything that goes: only these are watched."""
    places = {(leaver.resource.group, leaver.resource.plural, leaver.record.namespace) for leaver in leavers.values()}
    kinds = {(group, plural) for group, plural, _namespace in places}
    wanted = []
    for listing in looker.listings:
        group, plural = listing.scope.resource.group, listing.scope.resource.plural
        namespace = listing.scope.namespace
        if (group, plural, namespace) in places or (namespace is None and (group, plural) in kinds):
            wanted.append(listing)
    return wanted


@dataclass
class _Runner:
    facts: Facts
    looker: Looker
    options: RunOptions
    cluster: Cluster
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    departure: Departure
    blind: dict[str, Problem] = field(default_factory=dict)
    _graceless: set[str] = field(default_factory=set)
    _stripped: set[str] = field(default_factory=set)

    def do_step(self, outcome: StepOutcome, leavers: dict[str, Leaver]) -> None:
        began = self.clock.now()
        rule = outcome.step.rule
        outcome.begun = True
        total = len(outcome.step.going)
        if total:
            self.tell(StepBegan(rule.name, rule.rank, total))
        own_deadline = Deadline(self.clock, min(rule.timeout or self.deadline.left(), self.deadline.left()))
        for wave in outcome.step.waves:
            going = [leavers[entry.member.record.uid] for entry in wave]
            self._remove(outcome, wave, going, own_deadline)
            if outcome.survivors or outcome.refused or self.stop.is_set():
                break
        outcome.seconds = self.clock.now() - began
        if total:
            self.tell(StepEnded(rule.name, rule.rank, outcome.deleted, len(outcome.survivors), outcome.seconds))

    def _remove(self, outcome: StepOutcome, wave: Sequence[Entry], going: list[Leaver], deadline: Deadline) -> None:
        entries = {entry.member.record.uid: entry for entry in wave}
        self.departure.expect(going)

        def send(leaver: Leaver) -> None:
            if deadline.passed() or not self.departure.is_here(leaver):
                return
            entry = entries[leaver.record.uid]
            verdict = judge(_as_of_now(entry.member, leaver), self.facts)
            if verdict.fate not in GOING:
                outcome.late_kept.append(Entry(entry.member, verdict))
                self.departure.forget(leaver)
            elif not leaver.record.terminating:
                self._delete(leaver, outcome)

        self.cluster.for_each(going, send)
        ended = self.departure.wait(deadline, self.stop, self._climber(outcome, deadline))
        self._note(outcome, ended)

    def _delete(self, leaver: Leaver, outcome: StepOutcome) -> None:
        written = self.cluster.delete(
            leaver.resource,
            leaver.record,
            propagation=self.options.propagation,
            grace_seconds=self.options.grace_seconds,
        )
        self.departure.wrote(leaver, written)
        version = written.record.resource_version if written.record else ""
        self.tell(Did("delete", leaver.ref, written.effect.value, outcome.step.rule.name, version))

    def _climber(self, outcome: StepOutcome, deadline: Deadline) -> Callable[[Departure], None]:
        """Called about once a second while waiting: tells the progress and climbs the ladder."""
        rule = outcome.step.rule
        ladder = Ladder(rule.force, self.options.ladder.after, self.options.ladder.deny, self.options.ladder.allow)

        def tick(departure: Departure) -> None:
            self.tell(departure.progress(rule.name, deadline))
            if rule.force and not self.stop.is_set():
                now = self.cluster.server_time()
                self.cluster.for_each(departure.pending(), lambda leaver: self._climb(leaver, ladder, now, outcome))

        return tick

    def _climb(self, leaver: Leaver, ladder: Ladder, now: float, outcome: StepOutcome) -> None:
        uid = leaver.record.uid
        rung, finalizers = ladder.next_rung(leaver.record, now, graceless=uid in self._graceless)
        if rung is Rung.NO_GRACE:
            self._graceless.add(uid)
            written = self.cluster.delete(leaver.resource, leaver.record, grace_seconds=0)
            action, detail = "delete without grace", ""
        elif rung is Rung.STRIP and uid not in self._stripped:
            written = self.cluster.remove_finalizers(leaver.resource, leaver.record, finalizers)
            action, detail = "strip finalizers", ", ".join(finalizers)
            if written.problem is None:
                outcome.released += 1
            self._stripped.add(uid)
        else:
            return
        if written.problem is None:
            self.departure.wrote(leaver, written)
        version = written.record.resource_version if written.record else ""
        self.tell(Did(action, leaver.ref, written.effect.value, detail, version))

    def _note(self, outcome: StepOutcome, ended: Departed) -> None:
        outcome.deleted += ended.gone
        outcome.replaced.extend(ended.replaced)
        outcome.refused.extend(ended.refused)
        outcome.survivors.extend(ended.survivors)
        self.blind = ended.blind

    def why_stop(self, outcome: StepOutcome) -> Problem | None:
        """The reason not to go on to the next step, if there is one."""
        if self.stop.is_set():
            return Interrupted(
                "stopped", why=self.stop.reason, next_step="run the task again: it goes on where this one stopped"
            )
        if outcome.refused:
            leaver, problem = outcome.refused[0]
            more = f" (and {len(outcome.refused) - 1} more, see survivors)" if len(outcome.refused) > 1 else ""
            return Refused(
                "could not delete", which=f"{leaver.ref}{more}", why=problem.why, next_step=problem.next_step
            )
        if outcome.survivors and self.options.on_timeout == "fail":
            return TimedOut(
                "out of time",
                which=f"in step {outcome.step.rule.name}",
                why=f"{len(outcome.survivors)} of {len(outcome.step.going)} objects are still there",
                next_step="see survivors for what holds them; later steps were not begun",
            )
        return None


def _as_of_now(member: Member, leaver: Leaver) -> Member:
    return dataclasses.replace(member, record=leaver.record)
