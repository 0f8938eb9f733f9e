# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own HTTP reader against the standard library's, under the same engine."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import contenders
from benchmarks.contenders import DELETE, Job
from benchmarks.ground import Ground
from benchmarks.kinds import CONFIG_MAP
from benchmarks.measuring import Measurement
from benchmarks.races import side_by_side, warm_up

SIZE = 4000
ROUNDS = 5
PARALLEL = 16


@dataclass(frozen=True)
class Transports:
    job: Job
    ours: list[Measurement]
    library: list[Measurement]


def compare_transports(ground: Ground, rounds: int | None = None, size: int = SIZE) -> Transports:
    job = Job(CONFIG_MAP, DELETE, size)
    rivals = [contenders.ours(parallel=PARALLEL), contenders.ours("http.client", PARALLEL)]
    warm_up(ground, Job(CONFIG_MAP, DELETE, min(size, 250)), rivals)
    found = side_by_side(ground, job, rivals, rounds or ROUNDS)
    return Transports(job, found["ours"], found["http.client"])
