# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a plan is to be carried out, and what came of it: the values around a run, without the run.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..objects import ObjectRef
from ..problems import Problem
from .departure import Leaver
from .keeping import KeptCheck
from .ladder import Ladder
from .plan import Entry, Step
from .verdicts import Fate, Verdict


@dataclass(frozen=True)
class RunOptions:
    timeout: float = 600.0
    ladder: Ladder = field(default_factory=Ladder)
    on_timeout: str = "fail"
    propagation: str = "Background"
    grace_seconds: int | None = None
    finalize_namespaces: bool = False
    before_delete: Mapping[str, Any] = field(default_factory=dict)
    fail_fast: bool = False  # do not wait for what nobody is left to let go
    # What holds a definition or a namespace back: anything new (refuse, keep), or what carries a keep marker (cascade).
    # `looked`: the caller has looked itself.
    foreign: str = "refuse"
    ours: frozenset[str] = frozenset()  # uids that an earlier run of the same task has deleted
    keep_going: bool = False  # begin later steps although an earlier one failed, as long as there is time


@dataclass
class StepOutcome:
    """What became of a step."""

    step: Step
    deleted: int = 0  # by this run, with what the garbage collector took along
    gone: list[ObjectRef] = field(default_factory=list)  # deleted by other clients
    released: int = 0
    detached: int = 0  # lost owner references
    seconds: float = 0.0
    label: str = ""
    begun: bool = False
    changes: int = 0  # writes that changed something, preparations included
    prepared: int = 0
    newcomers: int = 0
    hopeless: bool = False  # those that are left were given up before the time was over
    late_kept: list[Entry] = field(default_factory=list)
    held_back: list[Entry] = field(default_factory=list)  # of these: definitions and namespaces that fail the run
    replaced: list[Leaver] = field(default_factory=list)
    refused: list[tuple[Leaver, Problem]] = field(default_factory=list)
    survivors: list[Leaver] = field(default_factory=list)
    stripped: list[ObjectRef] = field(default_factory=list)  # lost finalizers by force
    # uid → why our own attempt to free it was refused.
    ladder_problems: dict[str, Problem] = field(default_factory=dict)

    def keep_all(self, why: str) -> None:
        self.late_kept.extend(Entry(entry.member, Verdict(Fate.KEEP, why)) for entry in self.step.going)


@dataclass
class RunOutcome:
    steps: list[StepOutcome] = field(default_factory=list)
    failure: Problem | None = None
    blind: dict[str, Problem] = field(default_factory=dict)
    paused: int = 0  # owners that were made to wait
    kept: KeptCheck = field(default_factory=KeptCheck)
    by_us: set[str] = field(default_factory=set)  # uids that this task has deleted

    @property
    def survivors(self) -> list[Leaver]:
        return [leaver for step in self.steps for leaver in step.survivors]

    @property
    def unfinished(self) -> int:
        """Objects that should be gone or free, and are not."""
        refused = sum(len(step.refused) for step in self.steps)
        return len(self.survivors) + refused + sum(not r.done for step in self.steps for r in step.step.releases)

    @property
    def changed(self) -> bool:
        return bool(self.paused) or any(step.changes or step.released or step.detached for step in self.steps)
