# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Repair what was left: by tasks that were killed, by routes that were deleted, by windows that are over.

Room: maintenance. Only what belongs to nobody goes, and only when it is old enough: a page or a backup that is not in
use may be that of a task which is about to use it. A route in maintenance whose window has not ended is not touched.
"""

from __future__ import annotations

import dataclasses

from ..objects import ObjectRef
from ..pointers import ABSENT
from ..problems import Interrupted, Problem
from .backups import made_at
from .changes import annotate
from .disable import bring_back
from .hosting import release
from .markers import MARKER, SEED_SERVICE
from .options import MaintenanceOptions
from .outcome import MaintenanceOutcome, PageSetOutcome, Run
from .overlaying import remove
from .patching import Vanished, patch_route
from .pausing import sweep_pauses
from .recording import forget
from .scene import Route, Scene, look
from .seed import (
    adopt_seed_backups,
    is_seeds,
    name_operator,
    seed_backup_of,
    seed_backups,
    sweep_seed_backups,
    sweep_seed_pages,
)
from .selection import choose, kinds_of, namespaces_of


def sweep(options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    meant = kinds_of(options.targets, options.kinds, run.cluster)
    namespaces = namespaces_of(options.targets)
    scene = look(options.kinds, namespaces, run.cluster, widely=False, key=run.key)
    its_backups = seed_backups(namespaces, run)
    name_operator(scene, options.operator, outcome, run, its_backups)
    adopt_seed_backups(scene, run)
    chosen = choose(options.targets, meant, scene, before=True)
    now = run.cluster.server_time()
    old = now - options.sweep_after
    ended = [one for one in chosen if _is_over(one.route, now) or _is_left_over(one.route, old)]
    failure: Problem | None = None
    try:
        bring_back(ended, scene, dataclasses.replace(options, plan_hash=None), outcome, run)
    except Interrupted:
        raise
    except Problem as problem:  # one route that cannot go back does not hold up the rest
        failure = problem
    for one in chosen:
        if one not in ended:
            _sweep_route(one.route, scene, options, outcome, run)
    _sweep_orphans(scene, options, outcome, run)
    _sweep_strays(scene, old, options, outcome, run)
    sweep_pauses(outcome, run, namespaces, dry_run=options.check_mode)
    _sweep_pages(scene, old, options, outcome, run)
    outcome.swept += sweep_seed_pages(scene, namespaces, run, dry_run=options.check_mode)
    outcome.swept += sweep_seed_backups(its_backups, scene, run, old=old, dry_run=options.check_mode)
    outcome.changed = outcome.changed or bool(outcome.swept)
    if failure is not None:
        raise failure


def _is_over(route: Route, now: float) -> bool:
    """Its window has ended, or the maintenance-operator was told to stop and did not put everything back."""
    if route.backup is not None and route.backup.until is not None and route.backup.until <= now:
        return True
    seeds = seed_backup_of(route) or (is_seeds(route) and bool(route.pages))
    return seeds and not route.is_flagged


def _is_left_over(route: Route, old: float) -> bool:
    """Somebody put the backends back, or a task was killed before it came to them. What else was changed goes back."""
    return route.backup is not None and not route.pages and route.backup.made_at <= old


def _sweep_route(
    route: Route, scene: Scene, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run
) -> None:
    if route.pages:
        gone = [page for page in sorted(route.pages) if (route.namespace, page) not in scene.pages]
        if gone and route.operator.marker not in route.annotations:
            advice = "run state: enabled or state: disabled" if route.backup else "no backup; give it a backend by hand"
            outcome.warn(f"{route.ref} shows {gone[0]}, which does not exist: {advice}", run.tell)
        return
    if route.is_flagged:
        return  # the operator is about to show its page
    # With its backup it is put back whole, later: the marker says that there is something to put back.
    kept = MARKER if route.backup is not None else ""
    marks = (MARKER, route.operator.marker, SEED_SERVICE)
    stale = {key: ABSENT for key in marks if key in route.annotations and key != kept}
    if stale:
        outcome.swept.append(f"marks on {route.ref}")
        if not options.check_mode:
            try:
                patch_route(route, lambda now: annotate(now.item, stale), run, "take marks from")
            except Vanished:
                return


def _sweep_orphans(scene: Scene, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    """Backups of routes that are gone, where the collector has not come by yet. One made anew is another route."""
    for backup in scene.orphans:
        if not backup.record.terminating and _is_gone(backup.target, scene, run):
            outcome.swept.append(f"backup of {backup.target}, which is gone")
            if not options.check_mode:
                forget(backup, run)


def _sweep_strays(scene: Scene, old: float, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    """Overlays of routes that are gone. Young ones may belong to a route that is younger than our list."""
    for overlay in scene.strays:
        if made_at(overlay.item) <= old and not overlay.record.terminating:
            outcome.swept.append(f"overlay {overlay.ref}")
            if not options.check_mode:
                remove(overlay, run)


def _is_gone(target: ObjectRef, scene: Scene, run: Run) -> bool:
    """Asked by name: the route may be younger than our list of routes. A kind we cannot see may still have it."""
    kinds = [resource for _kind, resource in scene.resources.values()]
    group = target.api_version.rpartition("/")[0]
    resource = next((one for one in kinds if (one.group, one.kind) == (group, target.kind)), None)
    if resource is None or not target.uid:
        return False
    now = run.cluster.read(resource, target.namespace, target.name)
    return now is None or now.uid != target.uid


def _sweep_pages(scene: Scene, old: float, options: MaintenanceOptions, outcome: MaintenanceOutcome, run: Run) -> None:
    for place, page in scene.pages.items():
        shown_by = {
            route.uid for route in scene.routes.values() if route.namespace == place[0] and place[1] in route.pages
        }
        if page.made_at > old:
            continue
        idle = [uid for uid in page.owners if uid not in shown_by]
        if shown_by - set(page.owners):
            continue  # shown, though not claimed: claiming is what state: enabled does
        if not idle and page.owners:
            continue
        outcome.swept.append(f"page {'/'.join(place)}" + ("" if len(idle) == len(page.owners) else " for some routes"))
        if not options.check_mode:
            state = release(place, idle, run)
            outcome.page_sets.append(PageSetOutcome(*place, page.digest, state))
