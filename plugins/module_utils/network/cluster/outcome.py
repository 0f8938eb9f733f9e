# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What came of a task about a policy on the cluster, and what all its parts share while it runs.

Room: network. Private to the collection.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline, StopSign
from ...events import Tell, Warned
from ...problems import Problem
from .kinds import NmstateKinds
from .options import NncpOptions
from .plan import NodePlan, Plan

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


class CalledOff(Exception):
    """Somebody has dropped the opt-in while we were at it."""


class Phase(str, enum.Enum):
    """Of a node."""

    PLANNED = "planned"
    WAITING = "waiting"  # its turn has not come
    RUNNING = "running"
    REVERTED = "reverted"
    UNCHANGED = "unchanged"  # there was nothing to take back
    FAILED = "failed"
    ABORTED = "aborted"  # never begun: others had failed
    UNREACHABLE = "unreachable"
    GONE = "gone"  # no such node any more
    RECORDED = "recorded"


WELL = frozenset({Phase.REVERTED, Phase.UNCHANGED, Phase.GONE})


@dataclass
class NodeOutcome:
    node: str
    phase: Phase
    reason: str = ""
    wave: str = ""
    plan: NodePlan | None = None


@dataclass
class NncpOutcome:
    policy: str
    outcome: str = "unchanged"  # reverted, released, undone, prepared, stopped, planned
    check_mode: bool = False
    changed: bool = False
    nodes: dict[str, NodeOutcome] = field(default_factory=dict)
    plan: Plan | None = None
    most: int = 0
    wave_seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0

    def warn(self, text: str, tell: Tell) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            tell(Warned(text))

    def in_phase(self, *phases: Phase) -> list[str]:
        return [one.node for one in self.nodes.values() if one.phase in phases]

    def counts(self) -> Mapping[str, int]:
        phases = [one.phase.value for one in self.nodes.values()]
        return {phase: phases.count(phase) for phase in sorted(set(phases))}


@dataclass
class Run:
    """Who is asked, what time it is, who is told."""

    options: NncpOptions
    kinds: NmstateKinds
    cluster: Cluster
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    outcome: NncpOutcome
