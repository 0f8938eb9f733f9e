# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drain a product: free what it holds, so that nothing gets stuck when it goes. The use case behind `drain`.

Room: teardown. survey → refuse what is unsafe → (stop controllers, freeze) → tell the operator → release and delete,
kind by kind → (let the operator finish, stop its controllers, lift the freeze) → until nothing comes back → the anchor
→ evidence. Whatever was switched off is switched on again when it does not end well; a freeze is lifted in any case.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline, StopSign
from ...events import Did, Noted, Planned, Tell, Warned
from ...limits import check_limits
from ...paths import patch_at
from ...problems import Problem, Refused
from ..blockers.survivors import Diagnosis, diagnose, name_the_first
from ..controllers import Controller
from ..freeze import Freeze, freeze, lift, require_freeze, try_freeze
from ..guards import Facts
from ..keeping import Keeping
from ..keepsakes import Keepsakes, keep
from ..matching import Matcher
from ..members.looking import Looker
from ..owners import Life
from ..plan import Plan, Step
from ..rehearsal import rehearse, why_refused
from ..rights import require_rights
from ..run import Site, carry_out
from ..run_outcome import RunOptions, RunOutcome
from .anchor import find_anchor
from .controllers import start_again, try_stop
from .controllers import stop as stop_controllers
from .options import NONE, RETAIN, DrainOptions
from .planning import anchor_step
from .profile import Profile, ProfileKind, finalizers_of
from .scene import OPERATOR
from .settling import stays_quiet
from .survey import Survey, look_again, make_survey, refuse_what_is_unsafe

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_ROUNDS = 5  # how often finalizers may come back before somebody has to look
_BROUGHT_BACK = 2  # so often it is somebody's work, and no straggler
_PAUSE = 0.5
_WINDOWS = 4  # times of quiet that others' objects may disturb
_NAMED = 3  # kinds in a warning
_FREEZE_EXTRA = 60.0  # seconds a freeze outlasts the task, if nobody lifts it
_RATE = 300.0  # objects a second, for the forecast: below what `make bench` finds


@dataclass
class DrainOutcome:
    survey: Survey | None = None
    runs: list[RunOutcome] = field(default_factory=list)
    changed: bool = False
    check_mode: bool = False
    stopped: list[Controller] = field(default_factory=list)
    frozen: str = ""
    keepsakes: Keepsakes | None = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    came_back: int = 0
    not_looked_at: list[str] = field(default_factory=list)  # kinds outside the product's groups, and why
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0
    server_time: float = 0.0

    def note_unseen(self, survey: Survey) -> None:
        self.not_looked_at = list(dict.fromkeys((*self.not_looked_at, *survey.scene.not_looked_at)))

    @property
    def status(self) -> str:
        """In the words of the product's own drain."""
        if self.failure:
            return "failed"
        return "pending" if self.check_mode else "completed"


def forecast(survey: Survey, options: DrainOptions) -> float:
    """Seconds it should take if every controller is prompt."""
    return 1.0 + survey.plan.size / _RATE + (options.settle if survey.plan.size else 0.0)


def drain(
    options: DrainOptions, profile: Profile, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell
) -> DrainOutcome:
    began = clock.now()
    deadline = Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = DrainOutcome(check_mode=options.check_mode)
    survey = outcome.survey = make_survey(options, profile, cluster, tell)
    outcome.note_unseen(survey)
    _warn_beforehand(outcome, survey, options, tell)
    tell(Planned(_summary(survey, options), survey.plan.whole.hash))
    try:
        refuse_what_is_unsafe(survey, options)
        whole = survey.plan.whole
        rest = whole.is_rest_of(options.shown)
        check_limits(survey.plan.size, whole.hash, options.max_objects, options.plan_hash, rest=rest)
        require_rights_to_drain(survey, options, cluster)
    except Problem as refusal:
        outcome.failure = refusal  # with the plan, so that one can see what was refused
    else:
        _Drain(options, profile, cluster, clock, stop, tell, deadline, outcome).go(survey)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def require_rights_to_drain(survey: Survey, options: DrainOptions, cluster: Cluster) -> None:
    require_rights(survey.plan.whole, cluster)
    if options.freeze:
        require_freeze(cluster)
    for one in survey.stops:
        try:
            cluster.require("patch", one.resource, [one.record.namespace])
        except Refused as refusal:
            way_out = "ask for these rights, or set quiesce: none to let the operator run on; nothing was changed"
            raise Refused(refusal.what, which=refusal.which, why=refusal.why, next_step=way_out) from refusal
    if survey.changes_policy and survey.anchor:
        cluster.require("patch", survey.anchor.resource, [survey.anchor.record.namespace])


@dataclass
class _Drain:
    """One run, with what it needs at every turn."""

    options: DrainOptions
    profile: Profile
    cluster: Cluster
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    outcome: DrainOutcome
    _ours: set[str] = field(default_factory=set)  # uids that were deleted by our own requests
    _refused_for: float = 0.0  # seconds the freeze was in force

    def go(self, survey: Survey) -> None:
        if self.options.check_mode:
            try:
                self._rehearse(survey)
            except Problem as problem:
                self.outcome.failure = problem
            return
        if not survey.plan.size and survey.plan.anchor is None:
            return
        if self.options.keepsakes:
            self.outcome.keepsakes = keep(survey.plan.whole, {None: self.cluster}, self.tell)
        try:
            with self._starting_again_unless_it_ends_well():
                self._carry_out(survey)
        except Problem as problem:
            self.outcome.failure = self.outcome.failure or problem
        self.outcome.changed = self.outcome.changed or any(run.changed for run in self.outcome.runs)
        self.outcome.diagnosis = diagnose(self.outcome.runs, {None: self.cluster}, self.tell)
        self.outcome.failure = name_the_first(self.outcome.failure, self.outcome.diagnosis)

    def _carry_out(self, survey: Survey) -> None:
        if survey.quiesces:
            self._stop(survey)  # before the freeze: what that refuses, a controller would try again after it
        with self._frozen(survey):
            self._spare_what_the_operator_would_delete(survey)
            self._tell_the_operator(survey)
            self._free_everything(survey)
            if survey.stops_later and self.outcome.failure is None:
                self._let_the_operator_finish(survey)
        if self.outcome.failure is None:
            self._free_what_comes_back(survey)
        if self.outcome.failure is None:
            self._let_the_anchor_go(survey)

    def _rehearse(self, survey: Survey) -> None:
        anchor = survey.anchor
        if self.options.freeze:
            try_freeze(self._freeze(survey), self.cluster)
        try_stop(survey.stops, self.cluster)
        self.outcome.stopped = survey.stops
        if anchor and survey.changes_policy:
            patch = patch_at(anchor.rule.policy, survey.policy)
            written = self.cluster.merge_patch(anchor.resource, anchor.record, patch, dry_run=True)
            if written.problem:
                raise written.problem
        refused = rehearse(survey.plan.whole, {None: self.cluster}, "Background", self.tell)
        self.outcome.failure = why_refused(refused, "drain")

    @contextlib.contextmanager
    def _frozen(self, survey: Survey) -> Iterator[None]:
        if not self.options.freeze:
            yield
            return
        policy, began = self._freeze(survey), self.clock.now()
        try:
            self.outcome.frozen, self.outcome.changed = policy.name, True
            freeze(policy, self.cluster, self.clock, self.tell)
            yield
        finally:
            with self.cluster.cleaning_up():
                lift(policy.name, self.cluster, self.clock, self.tell)
            self._refused_for = self.clock.now() - began

    def _freeze(self, survey: Survey) -> Freeze:
        kinds = [view.resource for view in survey.scene.views if view.resource]
        made = [view.resource for view in survey.scene.views if view.resource and view.role == OPERATOR]
        return Freeze(
            name=_freeze_name(self.profile.name, survey.instance.namespaces),
            no_creation_of=tuple(made),
            no_finalizers=tuple(sorted({name for view in survey.scene.views for name in view.kind.finalizers})),
            finalizers_on=tuple(kinds),
            namespaces=survey.instance.namespaces,
            expires_at=self.cluster.server_time() + self.options.timeout + _FREEZE_EXTRA,
        )

    @contextlib.contextmanager
    def _starting_again_unless_it_ends_well(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._start_again()
            raise
        if self.outcome.failure is not None:
            self._start_again()

    def _stop(self, survey: Survey) -> None:
        self.outcome.stopped = survey.stops
        self.outcome.changed = self.outcome.changed or bool(self.outcome.stopped)
        stop_controllers(self.outcome.stopped, self.cluster, self.clock, self.stop, self.deadline, self.tell)

    def _start_again(self) -> None:
        with self.cluster.cleaning_up():
            failed = start_again(self.outcome.stopped, self.cluster, self.tell)
        for controller, problem in failed:
            text = f"{controller.ref} could not be scaled back to {controller.wanted}: {problem.why}"
            _warn(self.outcome, text, self.tell)
        self.outcome.stopped = [controller for controller, _problem in failed]

    def _spare_what_the_operator_would_delete(self, survey: Survey) -> None:
        """A running operator that is told to delete takes all that carries its finalizer: first off with it."""
        if survey.policy == RETAIN or not survey.tells_operator:
            return
        own = {rank for rank, view in enumerate(survey.scene.views, 1) if view.role == OPERATOR}
        steps = [step for step in survey.plan.steps if step.releases and step.rule.rank in own]
        spared = [Step(step.rule, releases=step.releases) for step in steps]
        if not spared:
            return
        self._run(Plan(spared), survey)
        if self.outcome.failure is not None:
            raise self.outcome.failure

    def _tell_the_operator(self, survey: Survey) -> None:
        """A running operator drains by itself once its anchor is being deleted, and stops adding finalizers."""
        anchor = survey.anchor
        if anchor is None or not survey.tells_operator:
            return
        if survey.changes_policy:
            patch = patch_at(anchor.rule.policy, survey.policy)
            written = self.cluster.merge_patch(anchor.resource, anchor.record, patch)
            self.tell(Did(f"set {anchor.rule.policy} to {survey.policy}", anchor.ref, written.effect.value))
            if written.problem:
                raise written.problem
            self.outcome.changed = True
        if not anchor.record.terminating:
            self._detach_from_the_anchor(survey, anchor.record.uid)
            written = self.cluster.delete(anchor.resource, anchor.record)
            self.tell(Did("delete", anchor.ref, written.effect.value, "tells the operator to drain"))
            if written.problem:
                raise written.problem
            self.outcome.changed = self.outcome.changed or written.changed
            self._ours |= {anchor.record.uid} if written.changed else set()

    def _detach_from_the_anchor(self, survey: Survey, uid: str) -> None:
        keeping = Keeping(self.cluster, self.tell, survey.plan.whole.detachments)
        keeping.before({uid})
        for problem in keeping.held.values():
            raise problem

    def _free_everything(self, first: Survey) -> None:
        """All that the plan has. Under a freeze nothing comes back: then a fresh look shows nothing to do either."""
        survey = first
        for _turn in range(_ROUNDS if self.options.freeze else 1):
            if survey.plan.size:
                self._run(survey.plan.kinds_only, survey)
            if self.outcome.failure is not None or not self.options.freeze:
                return
            survey = self._look_again(first)
            if not survey.plan.size:
                return
            self.outcome.came_back += survey.plan.size

    def _let_the_operator_finish(self, survey: Survey) -> None:
        """Only it can clean up behind what is deleted, and deregister itself. Then its controllers are stopped.

        Some of them may not know of the drain, and put their finalizers back: at once, when a retry is due, or when a
        new pod of it starts and finds no anchor any more that tells it to drain.
        """
        turn = 0
        while self.outcome.failure is None:
            self._let_the_anchor_go(survey)
            if self.outcome.failure is not None:
                return
            again = self._look_again(survey)
            if not again.plan.kinds_only.going:
                self._stop(survey)
                return
            turn += 1
            self._run_again(again, turn)  # they were created again

    def _free_what_comes_back(self, first: Survey) -> None:
        """Round after round, until a fresh look shows nothing to do and it stays quiet."""
        if not first.plan.size:
            return
        for turn in range(_ROUNDS):
            # What comes back at once gets more and more time to calm down.
            self.clock.sleep(min(_PAUSE * 2**turn if turn else 0.0, self.deadline.left()))
            survey = self._once_it_is_quiet(first)
            if not survey.plan.size:
                return
            self._run_again(survey, turn + 1)
            if self.outcome.failure is not None:
                return

    def _run_again(self, survey: Survey, turn: int) -> None:
        """What came back. The last time it is a failure, and so it is when that took all the time of the task."""
        self.outcome.came_back += survey.plan.size
        if turn < _ROUNDS and not self.deadline.passed():
            self._run(survey.plan.kinds_only, survey)
            if self.outcome.failure is None or turn < _BROUGHT_BACK or not self.deadline.passed():
                return  # a controller is slow; nothing was brought back
        self.outcome.failure = self._keeps_coming_back(survey)

    def _once_it_is_quiet(self, first: Survey) -> Survey:
        """What there is to do after some seconds of quiet, or as soon as something of ours came back.

        What comes that is not ours begins the quiet anew, but not for ever: another installation may work on.
        """
        for _window in range(_WINDOWS):
            self.stop.raise_if_set()
            survey = self._look_again(first)
            if survey.plan.size:
                return survey
            if self._is_quiet(survey):
                break
        self.stop.raise_if_set()
        return self._look_again(first, everywhere=True)

    def _look_again(self, first: Survey, *, everywhere: bool = False) -> Survey:
        survey = look_again(first, self.options, self.cluster, self.tell, everywhere=everywhere)
        self.outcome.note_unseen(survey)
        return survey

    def _is_quiet(self, survey: Survey) -> bool:
        kinds: dict[tuple[str, str], ProfileKind] = {}
        known: set[str] = set()  # not ours, and carrying the finalizer all the time
        for view in survey.scene.views:
            if view.resource is not None:
                kinds[view.resource.group, view.resource.plural] = view.kind
                known.update(record.uid for record in view.records if finalizers_of(record, view.kind))
        listings = [
            one for one in survey.looker.listings if (one.scope.resource.group, one.scope.resource.plural) in kinds
        ]
        wanted = self._quiet_time()
        seconds = min(wanted, self.deadline.left())
        if seconds:
            self.tell(Noted(f"watching for {seconds:.0f} s whether a finalizer comes back"))
        quiet = stays_quiet(listings, kinds, known, seconds, self.cluster, self.clock, self.stop)
        if quiet and seconds < wanted:
            why = "settle" if wanted == self.options.settle else "as long as the freeze was in force"
            text = (
                f"watched for {seconds:.0f} s, not for {wanted:.3g} s ({why}): the task's time is over. "
                "A finalizer may still come back; run the task again, with a longer timeout"
            )
            _warn(self.outcome, text, self.tell)
        return quiet

    def _quiet_time(self) -> float:
        """How long nothing may come back.

        A controller doubles the time it waits with every write that is refused, as all of them do that are built on
        client-go: 5 ms, 10 ms, 20 ms. So after a freeze its next try comes within as long as the freeze has refused
        it. One that was stopped has forgotten what it wanted to try again.
        """
        return self.options.settle if self.outcome.stopped else max(self.options.settle, self._refused_for)

    def _keeps_coming_back(self, survey: Survey) -> Refused:
        plan = survey.plan.kinds_only
        things = [(one.ref, one.record) for one in plan.releases]
        things += [(entry.member.ref, entry.member.record) for entry in plan.going]
        managers = sorted({name for _ref, record in things for _finalizer, name in record.finalizer_managers})
        who = f", set by {' and '.join(managers)}" if managers else ""
        return Refused(
            "the finalizers keep coming back",
            why=f"on {len(things)} objects, {things[0][0]} among them{who}",
            next_step=f"{self._way_out(survey)}, and run the task again",
        )

    def _way_out(self, survey: Survey) -> str:
        if self.outcome.stopped:
            return f"find and stop what else sets them: {self.outcome.stopped[0].ref} was stopped already"
        if survey.controllers.running and self.options.quiesce == NONE:
            return "leave quiesce out, so that the operator is stopped when it has done its part"
        if survey.controllers.running:  # it was still at work on what it deletes
            return "find out who makes them again, or use policy Retain"
        return "stop that controller yourself, or say with instance.controller_namespace where it runs"

    def _let_the_anchor_go(self, survey: Survey) -> None:
        if survey.plan.anchor is None:
            return
        newest = find_anchor(self.profile, self.options.anchor, self.cluster)
        if newest is None or survey.anchor is None:
            return  # its controller was faster
        if newest.record.uid != survey.anchor.record.uid:
            _warn(self.outcome, f"{newest.ref} was created anew meanwhile; it is not touched", self.tell)
            return
        looker = Looker(self.cluster, self.tell)
        looker.everything(newest.resource, newest.record.namespace or None)
        step = anchor_step(newest, survey.plan.anchor.rule.rank, self.options, alone=not survey.tells_operator)
        step.detachments = survey.plan.anchor.detachments
        self._run(Plan([step]), survey, looker, keep_markers=False)

    def _run(self, plan: Plan, survey: Survey, looker: Looker | None = None, *, keep_markers: bool = True) -> None:
        facts = Facts(not_ours=survey.not_ours, keep_markers=keep_markers)
        site = Site(self.cluster, looker or survey.looker, Matcher((), {}), facts)
        how = RunOptions(
            timeout=self.deadline.left(),
            ladder=self.options.ladder,
            fail_fast=self.options.fail_fast,
            keep_going=True,
            ours=frozenset(self._ours),
        )
        run = carry_out(plan, {None: site}, how, self.clock, self.stop, self.tell)
        self.outcome.runs.append(run)
        self._ours |= run.by_us
        self.outcome.failure = self.outcome.failure or run.failure


def _freeze_name(profile: str, namespaces: tuple[str, ...]) -> str:
    """A name the API server takes. Drains of two installations at the same time must not share one."""
    slug = re.sub("[^a-z0-9]+", "-", profile.lower()).strip("-")[:40] or "profile"
    place = hashlib.sha256(",".join(sorted(namespaces)).encode()).hexdigest()[:8]
    return f"sunset-drain-{slug}-{place}" if namespaces else f"sunset-drain-{slug}"


def _summary(survey: Survey, options: DrainOptions) -> str:
    plan = survey.plan
    released, deleted = len(plan.kinds_only.releases), len(plan.kinds_only.going)
    parts = [f"release {released}"] * bool(released) + [f"delete {deleted}"] * bool(deleted)
    what = " and ".join(parts) + " objects" if parts else "nothing to release"
    anchor = f", then {survey.anchor.ref}" if plan.anchor and survey.anchor else ""
    stay = len(plan.kinds_only.kept)
    kept = f"; {stay} not ours" if stay else ""
    seconds = f"; about {forecast(survey, options):.0f} s" if parts else ""
    unknown = f"; {plan.unknown_text}" if plan.unknown else ""
    return f"drain {survey.profile.title}, policy {survey.policy}: {what}{anchor}{unknown}{kept}{seconds}"


def _warn_beforehand(outcome: DrainOutcome, survey: Survey, options: DrainOptions, tell: Tell) -> None:
    plan = survey.plan
    for text in survey.profile.notes if plan.size else ():
        _warn(outcome, f"{survey.profile.title}: {text}", tell)
    if plan.unknown:
        _warn(outcome, f"{survey.profile.title}: {plan.unknown_text}. They are released as well, never deleted", tell)
    if unseen := survey.scene.not_looked_at:
        more = f"; and {len(unseen) - _NAMED} more, see not_looked_at" if len(unseen) > _NAMED else ""
        text = f"whether other objects carry a finalizer of {survey.profile.title} could not be seen everywhere"
        _warn(outcome, f"{text}: {'; '.join(unseen[:_NAMED])}{more}", tell)
    unclear = [entry for entry in plan.kinds_only.kept if entry.verdict.fate.value == "unmatched"]
    if unclear:
        first = unclear[0]
        _warn(
            outcome,
            f"{len(unclear)} objects carry the finalizer, and it is not clear whose they are; they are left alone: "
            f"{first.member.ref} ({first.verdict.why})",
            tell,
        )
    reached = [entry for entry in plan.kinds_only.kept if entry.member.record.finalizers]
    if reached and survey.policy != RETAIN and survey.tells_operator:
        text = f"the operator itself is told to delete, and may take {len(reached)} objects that this task leaves alone"
        _warn(outcome, f"{text}, {reached[0].member.ref} among them", tell)
    seconds = forecast(survey, options)
    if seconds > options.timeout:
        _warn(outcome, f"this will take about {seconds:.0f} s, and timeout is {options.timeout:.0f} s", tell)
    owner = survey.controllers.owner
    if owner.life is Life.ALIVE and plan.kinds_only.releases and not survey.stops:
        text = f"{owner.who} runs on, and may put its finalizers back later: {owner.why}"
        _warn(outcome, f"{text}; stop it or uninstall it next", tell)
    if survey.policy != RETAIN and plan.kinds_only.going and owner.life is Life.UNKNOWN:
        _warn(outcome, f"whether the operator runs could not be found out ({owner.why})", tell)


def _warn(outcome: DrainOutcome, text: str, tell: Tell) -> None:
    if text not in outcome.warnings:
        outcome.warnings.append(text)
        tell(Warned(text))
