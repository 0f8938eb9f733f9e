# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contenders side by side: the same job for each, one after the other, in an order that rotates with every round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks import contenders
from benchmarks.contenders import Contender, Job
from benchmarks.ground import Ground
from benchmarks.kinds import Kind
from benchmarks.measuring import Measurement, measure, say

SWEEP_SIZE = 4000
SWEEP_ROUNDS = 2


@dataclass(frozen=True)
class Race:
    """All rounds of one job. The measurements of one round have the same place in both lists."""

    job: Job
    ours: list[Measurement]
    limit: list[Measurement]


@dataclass
class Scenario:
    """One action on one kind, over all sizes."""

    kind: Kind
    action: str
    sweep: dict[int, list[Measurement]] = field(default_factory=dict)  # by workers of the limit
    best: int = 0
    races: list[Race] = field(default_factory=list)


def run_scenario(ground: Ground, kind: Kind, action: str, sizes: Sequence[int], rounds: int | None) -> Scenario:
    scenario = Scenario(kind, action)
    warm_up(ground, Job(kind, action, min(sizes)), [contenders.ours(), contenders.limit(contenders.SWEEP[0])])
    _sweep(ground, scenario, max((size for size in sizes if size <= SWEEP_SIZE), default=min(sizes)))
    rivals = [contenders.ours(), contenders.limit(scenario.best)]
    for size in sizes:
        job = Job(kind, action, size)
        found = side_by_side(ground, job, rivals, rounds or usual_rounds(size))
        scenario.races.append(Race(job, found[rivals[0].name], found[rivals[1].name]))
    return scenario


def usual_rounds(size: int) -> int:
    return 5 if size < SWEEP_SIZE else 3


def warm_up(ground: Ground, job: Job, rivals: Sequence[Contender]) -> None:
    """Once, not counted: byte code is written, the server has seen the kind."""
    for contender in rivals:
        measure(ground, contender, job)


def side_by_side(ground: Ground, job: Job, rivals: Sequence[Contender], rounds: int) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {contender.name: [] for contender in rivals}
    for number in range(rounds):
        first = number % len(rivals)
        for contender in (*rivals[first:], *rivals[:first]):
            found[contender.name].append(measure(ground, contender, job))
    return found


def _sweep(ground: Ground, scenario: Scenario, size: int) -> None:
    """Which number of workers brings the limit closest to what the server can do?"""
    job = Job(scenario.kind, scenario.action, size)
    rivals = {workers: contenders.limit(workers) for workers in contenders.SWEEP}
    found = side_by_side(ground, job, list(rivals.values()), SWEEP_ROUNDS)
    scenario.sweep = {workers: found[contender.name] for workers, contender in rivals.items()}
    typical = {workers: statistics.median(m.seconds for m in some) for workers, some in scenario.sweep.items()}
    scenario.best = min(typical, key=lambda workers: typical[workers])
    say(f"{job.title}: the limit is fastest with {scenario.best} workers")
