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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..events import Did, Noted, Progress, StepBegan, StepEnded, Tell, Warned
from ..objects import ObjectRef, Record
from ..problems import Interrupted, Problem
from .arrivals import Arrivals
from .before_delete import patch_before_delete
from .departure import Departure, Leaver
from .forcing import Forcing
from .foreign import is_namespace, look_again
from .guards import Facts, judge
from .keeping import Keeping, check_kept, present
from .matching import Matcher, is_definition
from .members.looking import Looker
from .plan import GOING, Entry, Plan, facts_for
from .releasing import Release, set_free
from .run_outcome import RunOptions, RunOutcome, StepOutcome
from .run_stops import why_stop
from .shares import share_of, wave_share
from .steps import StepRule
from .truce import hold, pauses_of
from .verdicts import Fate, Verdict

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.lists import Listing
    from ..kube.writes import Written

_RACES = 12  # how often an object may change between the look and its delete
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
            steps = [step for step in plan.steps if step.rule.context == context]
            keeping = Keeping(site.cluster, tell, [one for step in steps for one in step.detachments])
            departure = Departure(leavers.values(), clock, options.ours)
            forcing = Forcing(site.cluster, options, clock, stop, tell, departure)
            runner = _Runner(site, options, clock, stop, tell, deadline, leavers, departure, keeping, forcing)
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
                runner.do_step(step, share_of(step, outcome.steps[place:], deadline.left(), options))
            except Problem as problem:
                outcome.failure = outcome.failure or problem
            outcome.blind.update(runner.blind)
            outcome.failure = outcome.failure or why_stop(step, options, stop)
            if outcome.failure and (not options.keep_going or stop.is_set() or deadline.passed()):
                break
        for context, runner in runners.items():
            outcome.by_us |= runner.departure.by_us
            _look_at_what_is_kept(plan, outcome, context, runner)
    return outcome


def _look_at_what_is_kept(plan: Plan, outcome: RunOutcome, context: str | None, runner: _Runner) -> None:
    """Nothing is called kept that is not there at the end. A run that wrote nothing has lost nothing."""
    steps = [step for step in outcome.steps if step.step.rule.context == context]
    if runner.stop.is_set() or not any(step.changes or step.released for step in steps):
        return
    late = [entry for step in steps for entry in step.late_kept]
    check = check_kept(plan, late, runner.cluster, context)
    outcome.kept.add(check)
    if check.unseen:
        runner.tell(Warned(f"could not look whether everything kept is still there: {check.unseen}"))
    outcome.failure = outcome.failure or check.failure


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
    keeping: Keeping
    forcing: Forcing
    blind: dict[str, Problem] = field(default_factory=dict)
    _spared: dict[tuple[str, str], ObjectRef] = field(default_factory=dict)
    _late: set[str] = field(default_factory=set)  # kept since the plan was made

    @property
    def cluster(self) -> Cluster:
        return self.site.cluster

    def do_step(self, outcome: StepOutcome, seconds: float) -> None:
        began = self.clock.now()
        rule = outcome.step.rule
        outcome.begun = True
        total = outcome.step.size
        if total:
            self.tell(StepBegan(outcome.label, rule.rank, total))
        deadline = Deadline(self.clock, min(seconds, self.deadline.left()))
        try:
            self._prepare(outcome)
            self._release(outcome, deadline)
            waves = outcome.step.waves
            for place, wave in enumerate(waves):
                share = wave_share(deadline.left(), len(waves) - place, self.options)
                if not self._remove(outcome, wave, Deadline(self.clock, share)):
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
        self.keeping.before({release.record.uid for release in releases})  # what is free may be gone at once

        def take_off(release: Release) -> None:
            if deadline.passed() or self.stop.is_set() or release.done:
                return
            if held := self.keeping.held.get(release.record.uid):
                release.problem = held
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
            if not (deadline.passed() or self.stop.is_set()) and self._may_be_deleted(leaver, entries, outcome):
                self._delete(leaver, entries[leaver.record.uid], outcome)

        with contextlib.suppress(Interrupted):  # what was done until then is reported
            self._keep_what_is_kept(outcome, entries)
            for round_of in _owners_first(going):
                self.cluster.for_each(round_of, send)
            self.keeping.before(set(entries))  # what was found to be kept by its own delete
            self.keeping.after(set(entries))
        ended = self.departure.wait(deadline, self.stop, self.forcing.ticker(outcome, deadline))
        outcome.deleted += ended.gone - len(ended.by_others)
        outcome.gone.extend(leaver.ref for leaver in ended.by_others)
        outcome.detached = sum(one.changed for one in outcome.step.detachments)
        outcome.replaced.extend(ended.replaced)
        for leaver in ended.replaced:
            self._spare(leaver)
        outcome.refused.extend(ended.refused)
        outcome.survivors.extend(ended.survivors)
        self.blind = ended.blind
        failed = outcome.refused or outcome.held_back
        goes_on = not outcome.survivors or self.options.on_timeout == "continue"
        return goes_on and not failed and not self.stop.is_set()

    def _keep_what_is_kept(self, outcome: StepOutcome, entries: Mapping[str, Entry]) -> None:
        """Before the first delete of a wave: it may be an owner of what is kept since, or hold it."""
        for uid, entry in entries.items():
            leaver = self.leavers[uid]
            if self.departure.is_here(leaver):
                self._is_kept_now(leaver, entry, outcome)
                if is_namespace(entry.member) and not leaver.record.terminating and not self.stop.is_set():
                    self._is_held_back(leaver, entry, outcome)
        self.keeping.before(set(entries))

    def _may_be_deleted(self, leaver: Leaver, entries: Mapping[str, Entry], outcome: StepOutcome) -> bool:
        if not self.departure.is_here(leaver) or leaver.record.uid in self._late:
            return False
        held = self.keeping.held.get(leaver.record.uid)
        if held is not None:
            self.departure.refuse(leaver, held)
            return False
        entry = entries[leaver.record.uid]
        look = is_definition(entry.member) and not leaver.record.terminating
        return not (look and self._is_held_back(leaver, entry, outcome))

    def _is_kept_now(self, leaver: Leaver, entry: Entry, outcome: StepOutcome) -> bool:
        verdict = self._verdict_now(outcome, entry, leaver)
        if verdict.fate not in GOING and leaver.record.uid not in self._late:
            self._keep_late(leaver, Entry(entry.member, verdict), outcome)
        return verdict.fate not in GOING

    def _keep_late(self, leaver: Leaver, entry: Entry, outcome: StepOutcome) -> None:
        self._late.add(leaver.record.uid)
        outcome.late_kept.append(entry)
        self._spare(leaver)
        self.departure.forget(leaver)
        planned = {uid: self.leavers[uid].ref for uid in leaver.record.owner_uids if uid in self.leavers}
        self.keeping.keep_late(leaver.resource, leaver.record, planned)

    def _is_held_back(self, leaver: Leaver, entry: Entry, outcome: StepOutcome) -> bool:
        """The second look into a definition or a namespace, right before it is deleted."""
        if self.options.foreign == "looked":
            return False
        in_plan = self.leavers.keys() - self._late
        try:
            found = look_again(entry.member, self.cluster, in_plan, self.site.facts)
        except Problem as problem:
            self.departure.refuse(leaver, problem)
            return True
        if found is None or (self.options.foreign == "cascade" and not found.kept):
            return False
        held = Entry(entry.member, Verdict(Fate.KEEP, f"{found.why}; it came after the plan was made"))
        self.tell(Noted(f"{leaver.ref} is kept: {held.verdict.why}"))
        self._keep_late(leaver, held, outcome)
        outcome.held_back.extend([held] if self.options.foreign == "refuse" else [])
        return True

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

    def _delete(self, leaver: Leaver, entry: Entry, outcome: StepOutcome) -> None:
        """With the version that was judged: what changed since is read and judged again.

        What an owner that was deleted takes along anyway goes by its uid alone; Pods change all the time.
        """
        policy = "Orphan" if leaver.record.uid in self.keeping.orphaning else self.options.propagation
        follows = not self.departure.by_us.isdisjoint(leaver.record.owner_uids)
        for _race in range(_RACES):
            if self._is_kept_now(leaver, entry, outcome):
                return
            if leaver.record.terminating:
                # A second DELETE on a terminating object can put foregroundDeletion back and block it for good.
                return
            judged = leaver.record
            written = self.cluster.delete(
                leaver.resource,
                judged,
                propagation=policy,
                grace_seconds=self.options.grace_seconds,
                unchanged=not follows,
            )
            if not written.raced or follows:
                break
            newest = self._newest(leaver, written)
            if newest is None:
                break
            leaver.record = newest
        outcome.changes += written.changed
        self.departure.deleted(leaver, written)
        version = written.record.resource_version if written.record else ""
        self.tell(Did("delete", leaver.ref, written.effect.value, outcome.step.rule.name, version))

    def _newest(self, leaver: Leaver, written: Written) -> Record | None:
        """As it is after a conflict. Without the permission to read one object, its kind can still be listed."""
        now = written.record
        if now is not None and now.resource_version != leaver.record.resource_version:
            return now
        return present(self.cluster, [(leaver.resource, leaver.record)]).get(leaver.record.uid)


def _ended(outcome: StepOutcome) -> StepEnded:
    rule, freed = outcome.step.rule, sum(release.done for release in outcome.step.releases)
    left, gone = len(outcome.survivors), len(outcome.gone)
    return StepEnded(outcome.label, rule.rank, outcome.deleted, left, outcome.seconds, freed, gone)


def _owners_first(going: Sequence[Leaver]) -> list[list[Leaver]]:
    """Owners, then what they own: a controller that is told last would replace what it loses."""
    uids = {leaver.record.uid for leaver in going}
    owned = {leaver.record.uid for leaver in going if any(uid in uids for uid in leaver.record.owner_uids)}
    return [
        [leaver for leaver in going if leaver.record.uid not in owned],
        [leaver for leaver in going if leaver.record.uid in owned],
    ]
