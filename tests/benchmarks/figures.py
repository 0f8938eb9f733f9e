# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From measurements to figures. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.measuring import Measurement
from benchmarks.races import Race


@dataclass(frozen=True)
class Spread:
    """The median of some rounds, with the lowest and the highest."""

    median: float
    low: float
    high: float

    def show(self, form: str) -> str:
        return f"{self.median:{form}} ({self.low:{form}}-{self.high:{form}})"


def spread(values: Iterable[float]) -> Spread:
    found = sorted(values)
    return Spread(statistics.median(found), found[0], found[-1])


def rate(measurements: Sequence[Measurement]) -> Spread:
    return spread(m.rate for m in measurements)


def cpu_ms(measurements: Sequence[Measurement]) -> Spread:
    return spread(m.cpu_seconds / m.objects * 1000 for m in measurements)


def ratio(ones: Sequence[Measurement], others: Sequence[Measurement], of: Callable[[Measurement], float]) -> Spread:
    """Round by round, because a machine is seldom equally fast for minutes."""
    return spread(of(one) / of(other) for one, other in zip(ones, others, strict=True))


def of_limit(race: Race) -> Spread:
    return ratio(race.ours, race.limit, lambda m: m.rate)


def engine_of_limit(race: Race) -> Spread:
    return ratio(race.ours, race.limit, lambda m: m.engine_rate)


def requests_an_object(measurements: Sequence[Measurement]) -> float:
    """The worst round, as the server counted it."""
    return max(m.requests_seen / m.objects for m in measurements)


def growth(smaller: Sequence[Measurement], bigger: Sequence[Measurement]) -> float:
    """The exponent e in time ~ n^e. Of the engine alone: a fixed start would make it look better."""
    seconds = [statistics.median(m.engine_seconds for m in some) for some in (smaller, bigger)]
    return math.log(seconds[1] / seconds[0]) / math.log(bigger[0].objects / smaller[0].objects)
