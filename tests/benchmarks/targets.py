# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What we promise ourselves, and whether the figures keep it. Pure; nobody fails over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figures import cpu_ms, growth, of_limit, requests_an_object
from benchmarks.memory import Memory
from benchmarks.races import Race, Scenario

REQUESTS = 1.05  # an object
OF_LIMIT_BIG, OF_LIMIT_SMALL = 0.9, 0.7  # from 4000 objects on, and at 1000
GROWTH = 1.05  # exponent between 1000 and 16000
CPU_MS = 0.5  # an object, from 4000 on: below, the start of Python is most of it
MEMORY_MIB = 250.0  # at 100 000 objects
BIG, SMALL, HUGE = 4000, 1000, 16000


@dataclass(frozen=True)
class Target:
    """One promise: the worst figure we found for it, and where."""

    promise: str
    found: float
    where: str
    met: bool


@dataclass(frozen=True)
class _Found:
    figure: float
    where: str


def judge(scenarios: Sequence[Scenario], memory: Sequence[Memory]) -> list[Target]:
    """Every promise that this run can say something about."""
    races = [race for scenario in scenarios for race in scenario.races]
    big = [race for race in races if race.job.size >= BIG]
    small = [race for race in races if race.job.size == SMALL]
    targets = [
        _at_most(f"at most {REQUESTS} requests an object", REQUESTS, _requests(races)),
        _at_least(f"at least {OF_LIMIT_BIG} of the limit from {BIG} objects on", OF_LIMIT_BIG, _efficiency(big)),
        _at_least(f"at least {OF_LIMIT_SMALL} of the limit at {SMALL} objects", OF_LIMIT_SMALL, _efficiency(small)),
        _at_most(f"time grows with n to the power of at most {GROWTH}", GROWTH, _growths(scenarios)),
        _at_most(f"at most {CPU_MS} ms of client CPU an object from {BIG} objects on", CPU_MS, _cpu(big)),
        _at_most(f"at most {MEMORY_MIB:.0f} MiB for 100 000 objects", MEMORY_MIB, _memory(memory)),
    ]
    return [target for target in targets if target is not None]


def _requests(races: Iterable[Race]) -> Iterator[_Found]:
    return (_Found(requests_an_object(race.ours), race.job.title) for race in races)


def _efficiency(races: Iterable[Race]) -> Iterator[_Found]:
    return (_Found(of_limit(race).median, race.job.title) for race in races)


def _growths(scenarios: Iterable[Scenario]) -> Iterator[_Found]:
    for scenario in scenarios:
        by_size = {race.job.size: race for race in scenario.races}
        if SMALL in by_size and HUGE in by_size:
            yield _Found(growth(by_size[SMALL].ours, by_size[HUGE].ours), by_size[HUGE].job.title)


def _cpu(races: Iterable[Race]) -> Iterator[_Found]:
    return (_Found(cpu_ms(race.ours).median, race.job.title) for race in races)


def _memory(memory: Iterable[Memory]) -> Iterator[_Found]:
    return (_Found(one.peak_mib, one.action) for one in memory)


def _at_most(promise: str, most: float, found: Iterable[_Found]) -> Target | None:
    worst = max(found, key=lambda one: one.figure, default=None)
    return Target(promise, worst.figure, worst.where, worst.figure <= most) if worst else None


def _at_least(promise: str, least: float, found: Iterable[_Found]) -> Target | None:
    worst = min(found, key=lambda one: one.figure, default=None)
    return Target(promise, worst.figure, worst.where, worst.figure >= least) if worst else None
