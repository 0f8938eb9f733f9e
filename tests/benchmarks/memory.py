# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory a big plan takes: list everything, judge everything, write nothing."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import children, contenders, seeding
from benchmarks.contenders import Job
from benchmarks.ground import NAMESPACE, Ground
from benchmarks.kinds import CONFIG_MAP
from benchmarks.measuring import say

SIZE = 100_000


@dataclass(frozen=True)
class Memory:
    action: str
    objects: int
    peak_mib: float
    seconds: float


def plan_memory(ground: Ground, size: int = SIZE) -> list[Memory]:
    """Both plans over the same objects: they hang on a finalizer, and are thus as big as these objects get."""
    say(f"memory: seeding {size} {CONFIG_MAP.title}")
    seeding.sow(ground.plane, seeding.Seed(CONFIG_MAP, NAMESPACE, size, held=True))
    found = []
    for action in ("plan-delete", "plan-finalizer"):
        child = children.run(contenders.ours().command(ground, Job(CONFIG_MAP, action, size)))
        if child.said["objects"] != size:
            raise RuntimeError(f"{action} saw {child.said['objects']} of {size} objects")
        found.append(Memory(action, size, child.said["peak_mib"], child.seconds))
        say(f"memory: {action} of {size} took {found[-1].peak_mib:.0f} MiB and {found[-1].seconds:.1f} s")
    return found
