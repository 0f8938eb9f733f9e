# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is measured: our engine, and the compiled client that marks the limit. One command line each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.sunset.kube.plugins.module_utils.front import RUN
from benchmarks.ground import NAMESPACE, Ground
from benchmarks.kinds import Kind
from benchmarks.seeding import FINALIZER
from lab import tools

DELETE, FINALIZE = "delete", "finalizer"
PARALLEL: int = RUN["parallel"]["default"]  # what a task does that says nothing
SWEEP = (16, 32, 64, 128)


@dataclass(frozen=True)
class Job:
    """One thing to be done by everybody."""

    kind: Kind
    action: str
    size: int

    @property
    def title(self) -> str:
        what = {DELETE: "delete and wait", FINALIZE: "remove a finalizer"}[self.action]
        return f"{what}, {self.size} {self.kind.title}"


@dataclass(frozen=True)
class Contender:
    name: str
    command: Callable[[Ground, Job], list[str]]


def ours(wire: str = "ours", parallel: int = PARALLEL) -> Contender:
    def command(ground: Ground, job: Job) -> list[str]:
        return [
            *(sys.executable, "-m", "benchmarks.ours"),
            *("--kubeconfig", str(ground.user.kubeconfig)),
            *("--kind", job.kind.kind, "--api-version", job.kind.api_version, "--namespace", NAMESPACE),
            *("--action", job.action, "--finalizer", FINALIZER),
            *("--parallel", str(parallel), "--wire", wire),
        ]

    return Contender("ours" if wire == "ours" else wire, command)


def limit(workers: int) -> Contender:
    program = tools.ensure(["limit"])["limit"]

    def command(ground: Ground, job: Job) -> list[str]:
        return [
            str(program),
            *("-kubeconfig", str(ground.user.kubeconfig)),
            *("-resource", job.kind.resource, "-namespace", NAMESPACE),
            *("-action", job.action, "-finalizer", FINALIZER),
            *("-workers", str(workers)),
        ]

    return Contender(f"limit with {workers} workers", command)
