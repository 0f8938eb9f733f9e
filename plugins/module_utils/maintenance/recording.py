# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep the backup of a route on the cluster: made once, added to, deleted when it is no longer needed.

Room: maintenance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..events import Did
from ..objects import ObjectRef
from ..problems import Refused
from ..well_known import CONFIG_MAPS
from .backups import Backup, Began, Paused, Remarks, backup_name, grown, new_backup, read_backup
from .changes import Change
from .outcome import Run
from .scene import Route

_RACES = 10


def record(
    route: Route,
    changes: Sequence[Change],
    paused: Sequence[Paused],
    began: Began,
    remarks: Remarks,
    run: Run,
) -> None:
    """After this the backup holds these changes; `route.backup` is as it is on the cluster.

    Who held it before holds it still: a page is there until the last of them lets go.
    """
    for _race in range(_RACES):
        if route.backup is None:
            item = new_backup(route.ref, changes, paused, began, remarks, run.key)
            written = run.cluster.create(CONFIG_MAPS, route.namespace, item)
            if written.problem:
                raise written.problem
            if written.record is not None and written.changed:
                run.tell(Did("back up", route.ref, written.effect.value))
                route.backup = dataclasses.replace(read_backup(item), record=written.record)
                return
            route.backup = _read(route, run)
            continue  # somebody else made one at the same moment: add to it
        known = {change.key: change.before for change in route.backup.changes}
        news = [change for change in changes if change.key not in known or known[change.key] != change.before]
        fresh = [one for one in paused if one not in route.backup.paused]
        operations = grown(route.backup, news, fresh, remarks.joined_by(route.backup.holders), run.key)
        if not operations:
            return
        written = run.cluster.json_patch(CONFIG_MAPS, route.backup.record, operations)
        if not written.raced and not written.gone:
            run.tell(Did("add to the backup of", route.ref, written.effect.value))
            if written.problem:
                raise written.problem
            route.backup = _read(route, run)
            return
        route.backup = _read(route, run)
    raise _too_busy(route)


def let_go(route: Route, holder: str, run: Run) -> bool:
    """This holder needs the page no longer. Whether somebody else does: then only the name goes."""
    for _race in range(_RACES):
        others = route.backup.holders - {holder} if route.backup else frozenset()
        if route.backup is None or not others:
            return False
        # A time that has come was that of the holder who leaves.
        until = route.backup.until if (route.backup.until or 0.0) > run.cluster.server_time() else None
        operations = grown(route.backup, [], [], Remarks(until, route.backup.reason, others))
        written = run.cluster.json_patch(CONFIG_MAPS, route.backup.record, operations)
        if not written.raced and not written.gone:
            run.tell(Did("let go of", route.ref, written.effect.value))
            if written.problem:
                raise written.problem
            return True
        route.backup = _read(route, run)
    raise _too_busy(route)


def _too_busy(route: Route) -> Refused:
    return Refused(
        "cannot keep the backup",
        which=f"of {route.ref}",
        why="somebody else writes to it again and again",
        next_step="run the task again when the other one is done",
    )


def _read(route: Route, run: Run) -> Backup | None:
    item = run.cluster.read_whole(CONFIG_MAPS, route.namespace, backup_name(route.uid))
    return read_backup(item, run.key) if item is not None else None


def forget(backup: Backup, run: Run) -> None:
    """Only after the route was seen to be as it should be."""
    written = run.cluster.delete(CONFIG_MAPS, backup.record)
    where = backup.record
    run.tell(Did("delete", ObjectRef("v1", "ConfigMap", where.namespace, where.name, where.uid), written.effect.value))
    if written.problem:
        raise written.problem
