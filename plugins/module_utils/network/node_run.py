# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a task's options to an open transaction on its node: look, plan, refuse or begin.

Room: network. The task ends here with a change under way; whoever confirms it comes over a connection of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..clock import RealClock
from ..problems import Refused
from .backends.choosing import choose
from .diffs import diff_of
from .guard.deal import boot_id
from .hidden import masked
from .intents import Intent
from .journal import Contents, Journal
from .journal_entries import Action, Entry, Holder, Stage
from .journal_files import refuse_unsafe_place
from .node_look import handler_runs, lifelines, open_api, surroundings
from .node_settle import settle_journal
from .probes.probe import Finding, Probe, default_probes
from .probes.rounds import run_once
from .risk import risks_of
from .scope import scope_of
from .shapes import State
from .transaction import open_transaction, refuse_second


@dataclass(frozen=True)
class Wishes:
    """The options both modules share."""

    journal: Path
    transaction: str
    backend: str
    probes: tuple[Probe, ...] | None  # None: what the node is seen to depend on
    timeout: float
    settle: float
    lease: float
    force: bool
    rehearse: bool


@dataclass
class Begun:
    """What a task can tell so far. `outcome` is pending if there is something to confirm."""

    outcome: str
    changed: bool
    told: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    diff: dict[str, Any] | None = None


class NodeRun:
    def __init__(self, wishes: Wishes, environ: Mapping[str, str], clock: RealClock, check_mode: bool) -> None:
        self.wishes = wishes
        self.environ = environ
        self.clock = clock
        self.check_mode = check_mode
        refuse_unsafe_place(wishes.journal)
        self.journal = Journal(wishes.journal)
        self.backend = choose(wishes.backend)

    def look(self) -> tuple[State, Contents]:
        """The node's state, and what the journal knows. A transaction that ended meanwhile is put down first."""
        if not self.check_mode:
            settle_journal(self.journal, self.clock)
        refuse_second(self.wishes.journal)
        return dict(self.backend.capture()), self.journal.contents()

    def carry_out(self, intent: Intent) -> Begun:
        effects = intent.effects
        begun = Begun("unchanged", False, self._told(intent), list(intent.warnings))
        if not effects:
            if not self.check_mode and not self.wishes.rehearse:
                self._record(intent)
            return begun
        begun.diff = diff_of(intent)
        self._refuse_risks(intent, begun)
        if self.check_mode:
            begun.changed = not self.wishes.rehearse
            return begun
        self._begin(intent, begun)
        return begun

    def _told(self, intent: Intent) -> dict[str, Any]:
        told: dict[str, Any] = {
            "policy": intent.policy,
            "backend": self.backend.name,
            "transaction": self.wishes.transaction,
            "probes": [],
            "effects": intent.effects,
            "revert_state": masked(intent.revert if intent.action is Action.APPLY else intent.change),
        }
        if intent.action is Action.REVERT:
            told |= {
                "mode": intent.mode,
                "reverted": list(intent.reverted),
                "kept": [kept.as_dict() for kept in intent.kept],
                "drifted": list(intent.drifted),
            }
        return told

    def _refuse_risks(self, intent: Intent, begun: Begun) -> None:
        found = surroundings(self.environ)
        risks = [str(risk) for risk in risks_of(intent.now, intent.change, lifelines(self.environ, found))]
        if handler_runs():
            risks.append("kubernetes-nmstate's handler runs on this node and may apply its own policies over this")
        begun.told["risks"] = risks
        if not risks:
            return
        if self.wishes.force or self.check_mode:
            begun.warnings += risks
            return
        raise Refused(
            "this could cut the node off:",
            which="; ".join(risks),
            next_step="look at it with --check --diff, then set force: true. The node still comes back by itself "
            "if a probe that works now fails then",
        )

    def _begin(self, intent: Intent, begun: Begun) -> None:
        found = surroundings(self.environ)
        probes = default_probes(found) if self.wishes.probes is None else self.wishes.probes
        baseline = run_once(probes, found, self.clock, api=open_api(found.kubeconfig))
        begun.warnings += [
            f"{one.detail}: it does not work now, so it cannot tell anything afterwards"
            for one in baseline
            if not one.works and self.wishes.probes is not None
        ]
        order = self._order(intent, probes, baseline, found.as_data(), begun.told)
        holder = Holder(os.getpid(), boot_id())
        with self.journal.lock(holder, f"policy {intent.policy}"):
            refuse_second(self.wishes.journal)
            self.journal.begin(self._entry(intent, baseline, holder), lambda other: other.boot_id == holder.boot_id)
            open_transaction(
                self.wishes.journal,
                self.wishes.transaction,
                intent.policy,
                scope_of(intent.change, intent.now),
                order,
                self.clock,
                managed=self.backend.managed,
            )
        begun.outcome = "pending"
        begun.changed = True

    def _order(
        self,
        intent: Intent,
        probes: Sequence[Probe],
        baseline: Sequence[Finding],
        surroundings: Mapping[str, Any],
        told: Mapping[str, Any],
    ) -> dict[str, Any]:
        """All the worker needs; it outlives this process."""
        wishes = self.wishes
        return {
            "state": intent.change,
            "backend": self.backend.name,
            "timeout": wishes.timeout,
            "settle": wishes.settle,
            "lease": min(wishes.lease, wishes.timeout),
            "rehearse": wishes.rehearse,
            "probes": [asdict(probe) for probe in probes],
            "baseline": [finding.as_data() for finding in baseline],
            "surroundings": surroundings,
            "told": told,
        }

    def _entry(self, intent: Intent, baseline: Sequence[Finding] = (), holder: Holder | None = None) -> Entry:
        return Entry(
            id=self.wishes.transaction,
            policy=intent.policy,
            generation=0,
            stage=Stage.PENDING,
            action=intent.action,
            backend=self.backend.name,
            pre=intent.pre,
            desired=intent.desired,
            revert=intent.revert,
            transaction={"rehearse": self.wishes.rehearse},
            baseline=tuple(finding.as_data() for finding in baseline),
            holder=holder,
            kept=tuple(kept.as_dict() for kept in intent.kept),
            times={"created": self.clock.date()},
            of=intent.of,
        )

    def _record(self, intent: Intent) -> None:
        """Nothing to change, but something to know: that this policy wants what is there, or wants nothing any more."""
        holder = Holder(os.getpid(), boot_id())
        with self.journal.lock(holder, f"policy {intent.policy}"):
            if intent.action is Action.REVERT:
                if intent.of:
                    self.journal.record_reversal(
                        intent.of, self.clock.date(), tuple(kept.as_dict() for kept in intent.kept)
                    )
                return
            last = self.journal.contents().live().get(intent.policy)
            if last is not None and last.desired == intent.desired:
                return
            entry = self.journal.begin(self._entry(intent, holder=holder), lambda other: True)
            self.journal.move(entry.id, Stage.COMMITTED, self.clock.date())
