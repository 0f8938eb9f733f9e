# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a whole application out: the use case behind `uninstall`.

Room: teardown. origin → scheme (drains and deletion, one hash) → preflight → drain → delete → verify. After a drain the
deletion is planned anew; whatever was not in the plan that was shown is refused. Each stage may be left out, and a
second run goes on where the first one stopped: what is gone is not in its plan any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...clock import Clock, Deadline, StopSign
from ...events import Noted, Planned, Tell, Warned
from ...limits import check_limits
from ...problems import Problem, Refused, TimedOut
from ..blockers.blockers import Explanation
from ..drain.drain import DrainOutcome, drain
from ..drain.survey import Survey
from ..keepsakes import originals_of
from ..ranked_delete import Deletion, RankedOutcome, act, summary_of
from ..truce import Pause, hold, left_waiting, pauses_of
from .leftovers import Leftovers, look_for_leftovers
from .options import UninstallOptions
from .origin import find_origin
from .preflight import Finding, preflight, refuse_if_stopped, refuse_what_would_go_along, require_all_rights
from .scheme import Scheme, make_scheme, newcomers, plan_again, unseen
from .traces import Traces, traces_of

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


_NAMED = 10  # releases in a sentence


@dataclass
class UninstallOutcome:
    check_mode: bool = False
    scheme: Scheme | None = None
    findings: list[Finding] = field(default_factory=list)
    drains: list[DrainOutcome] = field(default_factory=list)
    deletion: RankedOutcome = field(default_factory=RankedOutcome)
    leftovers: Leftovers | None = None  # None: nobody looked
    forecast: float = 0.0
    paused: int = 0  # owners that were made to wait before the drains
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0
    server_time: float = 0.0

    @property
    def changed(self) -> bool:
        return bool(self.paused) or any(one.changed for one in self.drains) or self.deletion.run.changed

    @property
    def explained(self) -> list[Explanation]:
        """Of everything that is still there, in whichever part."""
        parts = [*(one.diagnosis for one in self.drains), self.deletion.diagnosis]
        return [told for part in parts for told in part.explained]


def uninstall(
    options: UninstallOptions,
    cluster: Cluster,
    other_cluster: Callable[[str], Cluster],
    clock: Clock,
    stop: StopSign,
    tell: Tell,
) -> UninstallOutcome:
    began = clock.now()
    deadline = Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = UninstallOutcome(check_mode=options.check_mode)
    scheme = make_scheme(options, find_origin(options, cluster), cluster, other_cluster, deadline.left(), tell)
    outcome.scheme, outcome.forecast = scheme, scheme.forecast(options.drain)
    if scheme.deletion is None:
        _warn(outcome, f"nothing to delete: {scheme.membership.missing}", tell)
    else:
        outcome.deletion.plan, outcome.deletion.absent = scheme.plan, len(scheme.deletion.ground.absent)
        for text in scheme.deletion.warnings:
            _warn(outcome, text, tell)
    tell(Planned(summary_of(scheme.plan), scheme.hash))
    try:
        _refuse_what_is_not_there(options, scheme)
        if "preflight" in options.stages:
            outcome.findings = preflight(options, scheme, cluster)
            refuse_if_stopped(outcome.findings)
        _check_limits(options, scheme, tell)
        _Uninstall(options, cluster, other_cluster, clock, stop, tell, deadline, outcome).go(scheme)
    except Problem as problem:
        outcome.failure = outcome.failure or problem  # with the plan, so that one can see what was refused
        for text in left_waiting(pauses_of(scheme.plan), cluster) if not options.check_mode else ():
            _warn(outcome, text, tell)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def _refuse_what_is_not_there(options: UninstallOptions, scheme: Scheme) -> None:
    if not scheme.membership.missing or options.missing == "ok":
        return
    there = f"there is {named_shortly(scheme.there)}" if scheme.there else "no release at all was seen"
    raise Refused(
        "nothing to uninstall",
        why=f"{scheme.membership.missing}; {there}",
        next_step="check the name and the namespace, or set missing: ok; nothing was changed",
    )


def named_shortly(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _check_limits(options: UninstallOptions, scheme: Scheme, tell: Tell) -> None:
    """Nothing left to do passes, and so does the rest of a plan that was seen: what is gone is gone."""
    wanted = options.plan_hash
    if not scheme.size:
        return
    if wanted and wanted != scheme.hash and options.shown and not unseen(scheme, options.shown):
        tell(Noted(f"going on with plan {wanted}: {scheme.size} of {options.shown.size} objects are left"))
        wanted = None
    check_limits(scheme.size, scheme.hash, options.max_objects, wanted)


@dataclass
class _Uninstall:
    """One run, with what it needs at every turn."""

    options: UninstallOptions
    cluster: Cluster
    other_cluster: Callable[[str], Cluster]
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    outcome: UninstallOutcome
    originals: dict[str, dict[str, Any]] = field(default_factory=dict)

    def go(self, scheme: Scheme) -> None:
        traces = traces_of(scheme, self.options)
        if "delete" in self.options.stages and scheme.deletion is not None:
            refuse_what_would_go_along(scheme.deletion, self.options, "nothing was changed")
        if "preflight" not in self.options.stages:
            require_all_rights(self.options, scheme, self.cluster)
        if scheme.surveys and "delete" in self.options.stages and not self.options.check_mode:
            self._hold(pauses_of(scheme.plan))
        for survey in scheme.surveys:
            self._drain(survey)
        if "delete" in self.options.stages and scheme.deletion is not None:
            self._delete(scheme, scheme.deletion)
        if "verify" in self.options.stages and not self.options.check_mode:
            self._verify(traces)

    def _hold(self, pauses: list[Pause]) -> None:
        """Whoever owns what is drained would put it back at once. An undo brings him back as he was before."""
        if self.options.keepsakes:
            self.originals = originals_of([(pause.resource, pause.record) for pause in pauses], self.cluster)
        self.outcome.paused = hold(pauses, self.cluster, self.clock, self.deadline, self.stop, self.tell)

    def _drain(self, survey: Survey) -> None:
        if self.options.keepsakes:  # with the replicas they have now
            stopped = [(one.resource, one.record) for one in survey.stops]
            self.originals |= originals_of(stopped, self.cluster)
        plan_hash = survey.plan.whole.hash
        options = dataclasses.replace(self.options.drain, timeout=self.deadline.left(), plan_hash=plan_hash)
        done = drain(options, survey.profile, self.cluster, self.clock, self.stop, self.tell)
        self.outcome.drains.append(done)
        self.outcome.warnings += done.warnings
        self.cluster.limit_to(self.deadline)
        if done.failure:
            raise done.failure

    def _delete(self, shown: Scheme, deletion: Deletion) -> None:
        if any(one.changed for one in self.outcome.drains):
            self.tell(Noted("drained; looking again at what is left to delete"))
            deletion = plan_again(
                self.options, shown, self.cluster, self.other_cluster, self.deadline.left(), self.tell
            )
            self._refuse_newcomers(shown, deletion)
            refuse_what_would_go_along(deletion, self.options, "what was drained stays drained")
        done = self.outcome.deletion
        done.plan, done.check_mode, done.source = deletion.plan, self.options.check_mode, shown.membership.source
        act(deletion, done, self.clock, self.stop, self.tell, self.originals)
        done.server_time = self.cluster.server_time()
        if done.failure:
            raise _with_a_way_out(done, self.options)

    def _refuse_newcomers(self, shown: Scheme, deletion: Deletion) -> None:
        fresh = newcomers(deletion.plan, shown.touched)
        if fresh:
            more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
            raise Refused(
                "not deleted",
                why=f"{fresh[0].member.ref}{more} came after the plan was made",
                next_step="run it again and look at the new plan; what was drained stays drained",
            )

    def _verify(self, traces: Traces) -> None:
        self.tell(Noted("looking for what is left"))
        found = look_for_leftovers(traces, self.cluster, self.clock, self.deadline, self.tell)
        self.outcome.leftovers = found
        for text in found.unseen:
            _warn(self.outcome, f"could not look for leftovers: {text}", self.tell)
        if found.possible:
            first = found.possible[0]
            self.tell(Noted(f"may be left of it: {len(found.possible)}, the first is {first.ref} ({first.why})"))
        if not found.found:
            return
        first = found.found[0]
        more = f" and {len(found.found) - 1} more" if len(found.found) > 1 else ""
        text = f"{first.ref} ({first.why}){more}"
        if self.options.on_leftovers == "fail":
            raise Problem(
                "something is left", why=text, next_step="see leftovers; delete them by name if they are yours"
            )
        _warn(self.outcome, f"left: {text}; see leftovers", self.tell)


def _with_a_way_out(done: RankedOutcome, options: UninstallOptions) -> Problem:
    """In the words of an uninstall: finalizers that nobody takes off are stripped with `force`."""
    failure = done.failure or Problem("failed")
    held = any(blocker.finalizer for entry in done.diagnosis.survivors for blocker in entry.blockers)
    if not isinstance(failure, TimedOut) or not held or options.force:
        return failure
    way_out = "bring the controller back and run it again, or set force: true to strip these finalizers; see survivors"
    return type(failure)(failure.what, which=failure.which, why=failure.why, next_step=way_out)


def _warn(outcome: UninstallOutcome, text: str, tell: Tell) -> None:
    if text not in outcome.warnings:
        outcome.warnings.append(text)
        tell(Warned(text))
