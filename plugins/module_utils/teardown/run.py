# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carrying out a plan: step by step, wave by wave, each begun only when every uid of the one before is gone.

Room: teardown. All watches are open before the first write. A verdict is asked for once more right before its delete,
with the newest metadata the watch has brought, so that a keep marker set meanwhile still counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..events import Did, Noted, Progress, StepBegan, StepEnded, Tell
from ..objects import ObjectRef, Record
from ..problems import Interrupted, Problem
from .arrivals import Arrivals
from .before_delete import patch_before_delete
from .departure import Departure, Leaver, what_holds
from .guards import Facts, judge
from .hopeless import Watchman, who_set
from .ladder import Ladder, Rung
from .matching import Matcher
from .members.looking import Looker
from .owners import Life, OwnerFacts, fetch_owner_facts, judge_owner
from .plan import GOING, Entry, Plan, facts_for
from .releasing import Release, set_free
from .run_outcome import RunOptions, RunOutcome, StepOutcome
from .run_stops import why_stop
from .steps import StepRule
from .truce import hold, pauses_of
from .verdicts import Fate, Verdict

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.lists import Listing
    from ..kube.writes import Written

_OWNERS_AFTER = 5.0  # seconds of waiting until it is worth asking whose finalizers these are
_SETTLE = 0.5  # seconds between the two lists that must show nothing new


@dataclass
class Site:
    """One cluster a plan is carried out in: this one, or another context that a step names."""

    cluster: Cluster
    looker: Looker
    matcher: Matcher
    facts: Facts


def carry_out(
    plan: Plan, sites: Mapping[str | None, Site], options: RunOptions, clock: Clock, stop: StopSign, tell: Tell
) -> RunOutcome:
    deadline = Deadline(clock, options.timeout)
    outcome = RunOutcome([StepOutcome(step, label=step.rule.name) for step in plan.steps])
    busy = [step for step in outcome.steps if step.step.size]
    for place, step in enumerate(busy, 1):
        step.label = f"step {place}/{len(busy)} {step.step.rule.name}"
    with contextlib.ExitStack() as watching:
        runners = {}
        for context, site in sites.items():
            leavers = {
                entry.member.record.uid: Leaver(entry.member.resource, entry.member.record)
                for step in plan.steps
                if step.rule.context == context
                for entry in step.going
            }
            runner = _Runner(site, options, clock, stop, tell, deadline, leavers, Departure(leavers.values(), clock))
            reach = _reach(site, [step.rule for step in plan.steps if step.rule.context == context])
            watching.enter_context(site.cluster.following(_concerned(site.looker, leavers, reach), runner.departure))
            runners[context] = runner
        try:
            outcome.paused = hold(pauses_of(plan), sites[None].cluster, clock, deadline, stop, tell)
        except Problem as problem:
            outcome.failure = problem
            return outcome
        for place, step in enumerate(outcome.steps):
            runner = runners[step.step.rule.context]
            left = RunOutcome(outcome.steps[:place]).unfinished
            if step.step.rule.only_if_clean and left:
                step.keep_all(f"{left} objects of the steps before it are still there")
                continue
            try:
                runner.do_step(step)
            except Problem as problem:
                outcome.failure = outcome.failure or problem
            outcome.blind.update(runner.blind)
            outcome.failure = outcome.failure or why_stop(step, options, stop)
            if outcome.failure and (not options.keep_going or stop.is_set() or deadline.passed()):
                break
    return outcome


def _reach(site: Site, rules: Iterable[StepRule]) -> set[tuple[str, str]]:
    """Types of which everything goes: something may arrive where nothing was."""
    entries = [entry for rule in rules for entry in rule.types if entry.everything]
    resources = [site.matcher.types.get(entry.path) for entry in entries]
    return {(resource.group, resource.plural) for resource in resources if resource}


def _concerned(looker: Looker, leavers: dict[str, Leaver], reach: set[tuple[str, str]]) -> list[Listing]:
    """The lists whose kinds and namespaces hold anything that goes, or may: only these are watched."""
    places = {(leaver.resource.group, leaver.resource.plural, leaver.record.namespace) for leaver in leavers.values()}
    kinds = {(group, plural) for group, plural, _namespace in places} | reach
    wanted = []
    for listing in looker.listings:
        group, plural = listing.scope.resource.group, listing.scope.resource.plural
        namespace = listing.scope.namespace
        if (group, plural, namespace) in places or (namespace is None and (group, plural) in kinds):
            wanted.append(listing)
    return wanted


@dataclass
class _Runner:
    site: Site
    options: RunOptions
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    leavers: dict[str, Leaver]
    departure: Departure
    blind: dict[str, Problem] = field(default_factory=dict)
    _graceless: set[str] = field(default_factory=set)
    _stripped: set[str] = field(default_factory=set)
    _owners: OwnerFacts | None = None
    _spared: dict[tuple[str, str], ObjectRef] = field(default_factory=dict)

    @property
    def cluster(self) -> Cluster:
        return self.site.cluster

    def do_step(self, outcome: StepOutcome) -> None:
        began = self.clock.now()
        rule = outcome.step.rule
        outcome.begun = True
        total = outcome.step.size
        if total:
            self.tell(StepBegan(outcome.label, rule.rank, total))
        deadline = Deadline(self.clock, min(rule.timeout or self.deadline.left(), self.deadline.left()))
        try:
            self._prepare(outcome)
            self._release(outcome, deadline)
            for wave in outcome.step.waves:
                if not self._remove(outcome, wave, deadline):
                    break
            else:
                self._until_nothing_new_comes(outcome, deadline)
        finally:
            outcome.seconds = self.clock.now() - began
            if total:
                self.tell(_ended(outcome))

    def _release(self, outcome: StepOutcome, deadline: Deadline) -> None:
        """Take finalizers off, all at once. One that refuses does not keep the others."""
        releases = outcome.step.releases
        done = itertools.count(1)

        def take_off(release: Release) -> None:
            if deadline.passed() or self.stop.is_set() or release.done:
                return
            written = set_free(release, self.cluster, self.tell)
            outcome.released += written.changed
            outcome.changes += written.changed
            leaver = self.leavers.get(release.record.uid)
            if leaver is not None and written.problem is None:
                self.departure.wrote(leaver, written)
            self.tell(Progress(outcome.label, next(done), len(releases), deadline.left(), word="released"))

        with contextlib.suppress(Interrupted):  # what was done until then is reported
            self.cluster.for_each(releases, take_off)

    def _prepare(self, outcome: StepOutcome) -> None:
        """`before_delete`, for the whole step before its first delete."""
        wish = {**self.options.before_delete, **outcome.step.rule.before_delete}

        def patch_one(entry: Entry) -> None:
            patch = patch_before_delete(entry.member, {**entry.member.before_delete, **wish})
            leaver = self.leavers[entry.member.record.uid]
            if self._verdict_now(outcome, entry, leaver).fate not in GOING:
                return
            if not patch or leaver.record.terminating or entry.member.dependant:
                return  # a dependant's controller would undo it at once
            written = self.cluster.merge_patch(leaver.resource, leaver.record, patch)
            self.tell(Did("patch before delete", leaver.ref, written.effect.value))
            if written.problem:
                raise written.problem
            if written.changed and written.record:
                leaver.record = written.record
                outcome.prepared += 1
                outcome.changes += 1

        wanted = [entry for entry in outcome.step.going if wish or entry.member.before_delete]
        self.cluster.for_each(wanted, patch_one)

    def _remove(self, outcome: StepOutcome, wave: Sequence[Entry], deadline: Deadline) -> bool:
        """Delete a wave and wait. Whether the next one may begin."""
        entries = {entry.member.record.uid: entry for entry in wave}
        going = [self.leavers[uid] for uid in entries]
        self.departure.expect(going)

        def send(leaver: Leaver) -> None:
            if deadline.passed() or self.stop.is_set() or not self.departure.is_here(leaver):
                return
            entry = entries[leaver.record.uid]
            verdict = self._verdict_now(outcome, entry, leaver)
            if verdict.fate not in GOING:
                outcome.late_kept.append(Entry(entry.member, verdict))
                self._spare(leaver)
                self.departure.forget(leaver)
            elif not leaver.record.terminating:
                # A second DELETE on a terminating object can put foregroundDeletion back and block it for good.
                self._delete(leaver, outcome)

        with contextlib.suppress(Interrupted):  # what was done until then is reported
            for round_of in _owners_first(going):
                self.cluster.for_each(round_of, send)
        ended = self.departure.wait(deadline, self.stop, self._climber(outcome, deadline))
        outcome.deleted += ended.gone
        outcome.replaced.extend(ended.replaced)
        for leaver in ended.replaced:
            self._spare(leaver)
        outcome.refused.extend(ended.refused)
        outcome.survivors.extend(ended.survivors)
        self.blind = ended.blind
        clean = not outcome.survivors and not outcome.refused
        return (clean or (self.options.on_timeout == "continue" and not outcome.refused)) and not self.stop.is_set()

    def _verdict_now(self, outcome: StepOutcome, entry: Entry, leaver: Leaver) -> Verdict:
        """The verdict once more, with the newest metadata and with what was spared since the plan was made."""
        member = dataclasses.replace(entry.member, record=leaver.record)
        spared = self._spared.get((member.resource.plural, member.record.name))
        if spared:
            return Verdict(Fate.KEEP, f"it would take {spared} with it, which stays")
        return judge(member, facts_for(outcome.step.rule, self.site.facts))

    def _spare(self, leaver: Leaver) -> None:
        """What is kept late must not be lost with its definition or its namespace."""
        self._spared["customresourcedefinitions", leaver.resource.qualified] = leaver.ref
        self._spared["namespaces", leaver.record.namespace] = leaver.ref

    def _until_nothing_new_comes(self, outcome: StepOutcome, deadline: Deadline) -> None:
        rule = outcome.step.rule
        if not any(entry.everything for entry in rule.types):
            return
        arrivals = Arrivals(self.site.matcher, self.site.facts, self.site.looker, self.cluster)
        quiet = 0
        while quiet < 2 and not deadline.passed() and not self.stop.is_set():
            fresh = arrivals.since(rule, set(self.leavers))
            if not fresh:
                quiet += 1
                self.clock.sleep(_SETTLE if quiet < 2 else 0)
                continue
            quiet = 0
            newcomers = {entry.member.record.uid: Leaver(entry.member.resource, entry.member.record) for entry in fresh}
            self.leavers.update(newcomers)
            self.departure.enter(newcomers.values())
            outcome.newcomers += len(fresh)
            if not self._remove(outcome, fresh, deadline):
                return

    def _delete(self, leaver: Leaver, outcome: StepOutcome) -> None:
        written = self.cluster.delete(
            leaver.resource,
            leaver.record,
            propagation=self.options.propagation,
            grace_seconds=self.options.grace_seconds,
        )
        outcome.changes += written.changed
        self.departure.wrote(leaver, written)
        version = written.record.resource_version if written.record else ""
        self.tell(Did("delete", leaver.ref, written.effect.value, outcome.step.rule.name, version))

    def _climber(self, outcome: StepOutcome, deadline: Deadline) -> Callable[[Departure], None]:
        """Called about once a second while waiting: tells the progress and climbs the ladder."""
        rule = outcome.step.rule
        ladder = dataclasses.replace(self.options.ladder, force=rule.force)
        began = self.clock.now()
        watchman = Watchman(self.cluster, self.clock)

        def tick(departure: Departure) -> None:
            patient = self.clock.now() - began < _OWNERS_AFTER
            self.tell(departure.progress(outcome.label, deadline, None if patient else self._what_holds))
            if (rule.force or self.options.finalize_namespaces) and not self.stop.is_set():
                now = self.cluster.server_time()
                self.cluster.for_each(departure.pending(), lambda leaver: self._climb(leaver, ladder, now, outcome))
            if self.options.fail_fast and not self.stop.is_set():
                self._give_up_what_is_hopeless(departure, watchman, ladder, outcome)

        return tick

    def _give_up_what_is_hopeless(
        self, departure: Departure, watchman: Watchman, ladder: Ladder, outcome: StepOutcome
    ) -> None:
        """Only when nothing else is waited for: the others may still go."""
        pending = departure.pending()
        lost = watchman.hopeless(pending, lambda leaver: self._has_a_rung(leaver, ladder))
        self._owners = watchman.facts or self._owners
        if not lost:
            return
        who = f"{lost[0].ref}" + (f" and {len(lost) - 1} more" if len(lost) > 1 else "")
        if len(lost) == len(pending):
            self.tell(Noted(f"{outcome.label}: nobody is left who would let {who} go; not waiting any longer"))
            outcome.hopeless = True
            departure.give_up()
        else:
            rest = len(pending) - len(lost)
            self.tell(Noted(f"{outcome.label}: nobody is left who would let {who} go; waiting for {rest} others"))

    def _has_a_rung(self, leaver: Leaver, ladder: Ladder) -> bool:
        """Whether we ourselves may free it yet."""
        if not ladder.force:
            return False
        waits_for_grace = bool(leaver.record.grace_seconds) and leaver.record.uid not in self._graceless
        may_strip = any(map(ladder.may_strip, leaver.record.finalizers))
        return waits_for_grace or (may_strip and leaver.record.uid not in self._stripped)

    def _what_holds(self, record: Record) -> str:
        """The finalizers, and whether anybody is there to remove them. Looked up once, when the wait gets long."""
        if not record.finalizers:
            return what_holds(record)
        if self._owners is None:
            self._owners = fetch_owner_facts(self.cluster)
        lives = {judge_owner(name, who_set(record, name), self._owners).life for name in record.finalizers}
        if Life.GONE in lives:
            return f"{what_holds(record)} (controller not running)"
        return what_holds(record)

    def _climb(self, leaver: Leaver, ladder: Ladder, now: float, outcome: StepOutcome) -> None:
        uid = leaver.record.uid
        rung, finalizers = ladder.next_rung(leaver.record, now, graceless=uid in self._graceless)
        if rung is Rung.NO_GRACE:
            self._graceless.add(uid)
            written = self.cluster.delete(
                leaver.resource, leaver.record, propagation=self.options.propagation, grace_seconds=0
            )
            self._climbed(leaver, written, "delete without grace", "")
        elif rung is Rung.STRIP and uid not in self._stripped:
            self._stripped.add(uid)
            written = self.cluster.remove_finalizers(leaver.resource, leaver.record, finalizers)
            outcome.released += written.problem is None
            self._climbed(leaver, written, "strip finalizers", ", ".join(finalizers))
            if written.problem is not None:
                outcome.ladder_problems[uid] = written.problem
                if written.problem.status >= 500:
                    self._stripped.discard(uid)  # a dead webhook may come back before the time is over
            else:
                outcome.stripped.append(leaver.ref)
                outcome.ladder_problems.pop(uid, None)
        elif self.options.finalize_namespaces and self._is_empty_namespace(leaver, ladder, now):
            written = self.cluster.finalize_namespace(leaver.record)
            outcome.released += written.problem is None
            self._climbed(leaver, written, "finalize namespace", "nothing is left in it")

    def _climbed(self, leaver: Leaver, written: Written, action: str, detail: str) -> None:
        if written.problem is None:
            self.departure.wrote(leaver, written)
        version = written.record.resource_version if written.record else ""
        self.tell(Did(action, leaver.ref, written.effect.value, detail or str(written.problem or ""), version))

    def _is_empty_namespace(self, leaver: Leaver, ladder: Ladder, now: float) -> bool:
        """Proof, not hope: every kind was listed, and nothing at all is left. What cannot be seen may be there."""
        since = leaver.record.deleting_for(now)
        if (leaver.resource.group, leaver.resource.plural) != ("", "namespaces") or leaver.record.finalizers:
            return False
        if since is None or since < ladder.after:
            return False
        kinds = [resource for resource in self.cluster.deletable_kinds() if resource.namespaced]
        return not any(self.cluster.list(resource, leaver.record.name).records for resource in kinds)


def _ended(outcome: StepOutcome) -> StepEnded:
    rule, freed = outcome.step.rule, sum(release.done for release in outcome.step.releases)
    return StepEnded(outcome.label, rule.rank, outcome.deleted, len(outcome.survivors), outcome.seconds, freed)


def _owners_first(going: Sequence[Leaver]) -> list[list[Leaver]]:
    """Owners, then what they own: a controller that is told last would replace what it loses."""
    uids = {leaver.record.uid for leaver in going}
    owned = {leaver.record.uid for leaver in going if any(uid in uids for uid in leaver.record.owner_uids)}
    return [
        [leaver for leaver in going if leaver.record.uid not in owned],
        [leaver for leaver in going if leaver.record.uid in owned],
    ]
