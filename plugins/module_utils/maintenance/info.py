# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who is in maintenance, since when, until when, by whom: the use case behind `maintenance_info`.

Room: maintenance. Read only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..clock import Clock, Deadline
from .coverage import closed_places, stays_open
from .drift import drift_of, put_back
from .locations import Location
from .options import MaintenanceOptions
from .outcome import MaintenanceOutcome, PageSetOutcome, Run, TargetOutcome
from .pausing import ref_of
from .scene import Route, Scene, look
from .seed import adopt_seed_backups, name_operator
from .selection import choose, kinds_of, namespaces_of, needed_kinds

if TYPE_CHECKING:
    from ..clock import StopSign
    from ..events import Tell
    from ..kube.cluster import Cluster


def tell_maintenance(
    options: MaintenanceOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell
) -> MaintenanceOutcome:
    run = Run(cluster, clock, stop, tell, Deadline(clock, options.timeout))
    cluster.limit_to(run.deadline)
    outcome = MaintenanceOutcome("info")
    meant = kinds_of(options.targets, options.kinds, cluster)
    scene = look(
        options.kinds,
        namespaces_of(options.targets),
        cluster,
        widely=options.coverage,
        needed=needed_kinds(options.targets, meant),
    )
    name_operator(scene, options.operator, outcome, run)
    adopt_seed_backups(scene, run)
    now = cluster.server_time()
    shown = []
    for one in choose(options.targets, meant, scene, before=True):
        if one.route.is_in_maintenance or one.route.operators_marks:
            shown.append(one.route)
            outcome.targets.append(_told(one.route, scene, now))
    outcome.page_sets = [
        PageSetOutcome(*place, page.digest, f"kept for {len(page.owners)} routes")
        for place, page in sorted(scene.pages.items())
    ]
    outcome.unseen = [*scene.unseen, *(one.why for one in scene.unreadable)]
    if options.coverage:
        _cover(shown, scene, outcome, cluster)
    return outcome


def _cover(routes: Sequence[Route], scene: Scene, outcome: MaintenanceOutcome, cluster: Cluster) -> None:
    closed = [
        closed_places(route, [place.identity for place in route.locations if route.is_closed(place)], (), ())
        for route in routes
        if route.pages
    ]
    outcome.coverage, unseen = stays_open(closed, scene, cluster)
    outcome.unseen += unseen


def _told(route: Route, scene: Scene, now: float) -> TargetOutcome:
    backup = route.backup
    return TargetOutcome(
        route.ref,
        _state(route, now),
        page=", ".join(sorted(route.pages)),
        strategy="overlay" if route.overlay else "swap" if route.pages else "",
        locations=[{**location.as_dict(), "page": _page_at(location, route)} for location in route.locations],
        conflicts=_drift(route, scene),
        since=backup.began.at if backup else "",
        by=backup.began.by if backup else "",
        until=backup.until if backup else None,
        reason=backup.reason if backup else "",
        paused=[str(ref_of(one)) for one in backup.paused] if backup else [],
        holders=sorted(backup.holders) if backup else [],
    )


def _page_at(location: Location, route: Route) -> str:
    in_front = min(route.overlay.pages, default="") if route.overlay and route.is_closed(location) else ""
    return location.page or in_front


def _state(route: Route, now: float) -> str:
    if not route.pages:
        return "partial" if put_back(route) else "leftover"  # marks or a backup, and no page
    if route.backup is not None and route.backup.until is not None and route.backup.until <= now:
        return "overdue"
    return "partial" if put_back(route) else "enabled"


def _drift(route: Route, scene: Scene) -> list[str]:
    """What is not as it should be."""
    told = []
    if route.pages and route.backup is None:
        told.append("it shows a page, and there is no backup")
    told += drift_of(route)
    told += [f"the page {page} does not exist" for page in sorted(route.pages) if not _exists(route, page, scene)]
    return told


def _exists(route: Route, page: str, scene: Scene) -> bool:
    return (route.namespace, page) in scene.pages or bool(route.operators_marks)
