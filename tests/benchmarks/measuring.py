# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One measurement: seed, run a contender, ask the server what it was asked, look whether everything is gone."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from benchmarks import children, seeding
from benchmarks.bystanders import Bystanders
from benchmarks.contenders import FINALIZE, Contender, Job
from benchmarks.ground import NAMESPACE, Ground

CROWDED = 0.10  # more of the machine than this used by others: measure again
_AGAIN = 2


@dataclass(frozen=True)
class Measurement:
    objects: int
    seconds: float  # the whole process
    engine_seconds: float  # without interpreter, imports and configuration
    cpu_seconds: float  # of the client, the whole process
    requests_counted: int  # by the client itself
    requests_seen: int  # by the server, in its audit log
    refused: int  # 429 answers among them
    peak_mib: float
    others: float  # the part of the machine somebody else used meanwhile

    @property
    def rate(self) -> float:
        return self.objects / self.seconds

    @property
    def engine_rate(self) -> float:
        return self.objects / self.engine_seconds


def measure(ground: Ground, contender: Contender, job: Job) -> Measurement:
    """Measure; once or twice more when the machine was busy with something else. The calmest one counts."""
    found = [_once(ground, contender, job)]
    while found[-1].others > CROWDED and len(found) <= _AGAIN:
        ground.patience.wait_for_calm(CROWDED)
        found.append(_once(ground, contender, job))
    return min(found, key=lambda measurement: measurement.others)


def _once(ground: Ground, contender: Contender, job: Job) -> Measurement:
    plane = ground.plane
    seeding.sow(plane, seeding.Seed(job.kind, NAMESPACE, job.size, held=job.action == FINALIZE))
    mark = plane.audit.mark()
    bystanders = Bystanders(plane.pids.values())
    child = children.run(contender.command(ground, job))
    others = bystanders.share(child.cpu_seconds)
    seen = plane.audit.since(mark, ground.user.name)
    left = seeding.count(plane, job.kind, NAMESPACE)
    said = child.said
    if said["objects"] != job.size or left:
        raise RuntimeError(f"{contender.name}: {said['objects']} of {job.size} done, and {left} are still there")
    measurement = Measurement(
        objects=job.size,
        seconds=child.seconds,
        engine_seconds=said.get("engine_seconds") or said["seconds"],
        cpu_seconds=child.cpu_seconds,
        requests_counted=said["requests"],
        requests_seen=len(seen),
        refused=sum(event.code == 429 for event in seen),
        peak_mib=said.get("peak_mib", 0.0),
        others=others,
    )
    say(f"{job.title}: {contender.name} {measurement.rate:.0f}/s" + (f", {others:.0%} others" if others > 0.03 else ""))
    return measurement


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)
