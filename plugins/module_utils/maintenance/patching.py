# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write to one route, computed anew as long as somebody else is faster.

Room: maintenance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from ..events import Did
from ..problems import Problem, Refused
from .changes import Operation
from .outcome import Run
from .scene import Route

_RACES = 10


class Vanished(Problem):
    """The route is gone, or another one has its name: not ours to touch."""


def patch_route(
    route: Route,
    compute: Callable[[Route], Sequence[Operation]],
    run: Run,
    action: str,
    *,
    dry_run: bool = False,
) -> tuple[Route, bool]:
    """The route as it was when the patch fitted, and whether anything was written by us."""
    unheard = False
    for _race in range(_RACES):
        operations = compute(route)
        if not operations:
            return route, unheard
        written = run.cluster.json_patch(route.resource, route.record, operations, dry_run=dry_run)
        if not written.raced:
            if written.gone:
                raise Vanished("gone", which=str(route.ref), why="it was deleted meanwhile")
            run.tell(Did(action, route.ref, written.effect.value, dry_run=dry_run))
            if written.problem:
                raise written.problem
            return route, True
        unheard = unheard or written.unheard  # if nothing is left to do now, it was we who did it
        route = _now(route, run)
    raise Refused(
        f"cannot {action}",
        which=str(route.ref),
        why=f"somebody else writes to it again and again; {_RACES} tries were too late",
        next_step="find out who (managedFields tell), and run the task again",
    )


def _now(route: Route, run: Run) -> Route:
    record = route.record
    item = run.cluster.read_whole(route.resource, record.namespace, record.name)
    if item is None or item["metadata"].get("uid") != route.uid:
        raise Vanished("gone", which=str(route.ref), why="it was deleted or made anew meanwhile")
    return dataclasses.replace(route, item=item)
