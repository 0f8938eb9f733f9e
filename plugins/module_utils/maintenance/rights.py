# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May we do all of it? Asked before the first write, and answered with everything that is missing.

Room: maintenance.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from ..objects import Resource
from ..problems import Refused
from ..well_known import CONFIG_MAPS
from .outcome import Run
from .workload import Workload

Right = tuple[str, Resource]
_SERVICE, _BUDGET = ("", "Service"), ("policy", "PodDisruptionBudget")
_WORKLOADS = {"deployment": ("apps", "Deployment"), "pod": ("", "Pod")}


def rights_to_host(workload: Workload, run: Run, *, job: bool = False) -> list[Right]:
    """What a page set consists of can be made, changed and removed again."""
    kinds = [_WORKLOADS[workload.kind], _SERVICE]
    kinds += [_BUDGET] if workload.least_replicas > 1 else []
    kinds += [("autoscaling", "HorizontalPodAutoscaler")] if workload.autoscaling else []
    kinds += [("batch", "CronJob")] if job else []
    found = [CONFIG_MAPS, *(run.cluster.find_kind(*kind).resource for kind in kinds)]
    return [(verb, resource) for resource in found if resource for verb in ("create", "patch", "delete")]


def require_all(needed: Iterable[Right], namespaces: Iterable[str], run: Run) -> None:
    missing: list[str] = []
    reasons: list[Refused] = []
    lock = threading.Lock()

    def ask(right: Right) -> None:
        try:
            run.cluster.require(*right, namespaces)
        except Refused as problem:
            with lock:
                missing.append(problem.which.removeprefix("to "))
                reasons.append(problem)

    run.cluster.for_each(dict.fromkeys(needed), ask)
    if reasons:
        first = reasons[0]
        raise Refused(first.what, which=f"to {', '.join(sorted(missing))}", why=first.why, next_step=first.next_step)


def may_create_pods(namespace: str, run: Run) -> bool:
    """Only controllers may have to. Without this right nobody can try one out."""
    pods = run.cluster.find_kind("", "Pod").resource
    try:
        if pods is not None:
            run.cluster.require("create", pods, [namespace])
    except Refused:
        return False
    return pods is not None
