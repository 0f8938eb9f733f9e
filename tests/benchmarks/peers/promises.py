# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What we promise ourselves against peers, and whether the figures keep it. Pure; nobody fails over it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figures import Spread, spread
from benchmarks.peers.controller import DELAY
from benchmarks.peers.measured import PeerResults, Runs
from benchmarks.peers.runs import Run

OURS = "sunset.kube"
WHOLE_SIZE, TASK_SIZE = 4000, 1000
WHOLE = {"kapp": 3.0, "helm": 6.0, "kubernetes.core": 8.0, "kubectl": 100.0}
TASK = {"kapp": 2.0, "helm": 4.0, "kubernetes.core": 5.0, "kubectl": 80.0}
ABOVE_FLOOR = 1.0  # seconds
FLAT = 1.5  # times what it takes without latency


@dataclass(frozen=True)
class Promise:
    text: str
    found: str
    met: bool


def judge(results: PeerResults) -> list[Promise]:
    return [*_races(results), *_held(results), *_flat(results)]


def _races(results: PeerResults) -> Iterator[Promise]:
    for size, goals, words, of in (
        (WHOLE_SIZE, WHOLE, "the whole command", whole),
        (TASK_SIZE, TASK, "around the task", task),
    ):
        if size in results.races:
            for name, goal in goals.items():
                times = faster(results.races[size], name, of)
                text = f"{size} objects, {words}: at least {goal:.0f} times as fast as {name}"
                yield Promise(text, f"{times.show('.1f')}", times.median >= goal)


def _held(results: PeerResults) -> Iterator[Promise]:
    if results.held:
        above = above_floor(results, OURS)
        text = f"objects held for {DELAY:.1f} s: within {ABOVE_FLOOR:.1f} s of the floor"
        yield Promise(text, f"{above:.2f} s above", above <= ABOVE_FLOOR)


def _flat(results: PeerResults) -> Iterator[Promise]:
    for name in results.far:
        times = typical(results.far[name], task) / typical(results.near[name], task)
        yield Promise(f"far away, {name}: at most {FLAT} times as long as near", f"{times:.2f}", times <= FLAT)


def whole(run: Run) -> float:
    return run.seconds


def task(run: Run) -> float:
    return run.task_seconds


def typical(runs: Sequence[Run], of: Callable[[Run], float]) -> float:
    return statistics.median(of(run) for run in runs)


def faster(runs: Runs, name: str, of: Callable[[Run], float]) -> Spread:
    """How many times as long the other takes, round by round; scaled, where it had fewer objects than we."""
    return spread(
        of(other) / other.objects / (of(ours) / ours.objects)
        for ours, other in zip(runs[OURS], runs[name], strict=False)
    )


def above_floor(results: PeerResults, name: str) -> float:
    """Seconds beyond the controller's delay and what the same tool takes when nothing is held."""
    return typical(results.held[name], task) - typical(results.free[name], task) - DELAY
