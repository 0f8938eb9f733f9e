# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While a run waits: tell how far it is, force what stays where the task consents, give up what is hopeless.

Room: teardown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline, StopSign
from ..events import Did, Noted, Tell
from ..objects import Record
from .departure import Departure, Leaver, what_holds
from .hopeless import Watchman, who_set
from .ladder import Ladder, Rung
from .owners import Life, OwnerFacts, fetch_owner_facts, judge_owner
from .run_outcome import RunOptions, StepOutcome

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.writes import Written

_OWNERS_AFTER = 5.0  # seconds of waiting until it is worth asking whose finalizers these are


@dataclass
class Forcing:
    cluster: Cluster
    options: RunOptions
    clock: Clock
    stop: StopSign
    tell: Tell
    departure: Departure
    _graceless: set[str] = field(default_factory=set)
    _stripped: set[str] = field(default_factory=set)
    _owners: OwnerFacts | None = None

    def ticker(self, outcome: StepOutcome, deadline: Deadline) -> Callable[[Departure], None]:
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
