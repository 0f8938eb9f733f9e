# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Owners of routes that are asked to wait, and may go on afterwards: an annotation on the owner's own object.

Room: maintenance. The backup of a route says whom it made wait before he is asked, so that nobody is forgotten whenever
a task is killed. A mark on the owner tells our pauses from those of people, and names one route of each namespace it
waits for. One owner may wait for many routes: it goes on when the last of their backups is gone. Every new claim writes
to the owner, so that a task that is about to let it go on notices it.

Backups can be forged by everybody who writes ConfigMaps in a namespace, owners can not. So what a backup says of an
owner counts only where the owner's own mark names the namespace of the backup.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ..events import Did, Noted, Warned
from ..gitops.healers import PAUSED_FOR, annotations_of
from ..objects import ObjectRef, Resource, record_of
from ..pointers import ABSENT
from ..problems import Interrupted, Problem, Refused
from ..profiles.gitops_owners import GITOPS_OWNERS
from ..well_known import CONFIG_MAPS
from .backups import Backup, Paused, read_backup
from .changes import Operation, annotate
from .markers import BACKUP, ROLE
from .outcome import MaintenanceOutcome, Run
from .scene import Route

_RACES = 10


def ref_of(paused: Paused) -> ObjectRef:
    return ObjectRef(paused.api_version, paused.kind, paused.namespace, paused.name)


class Pauses:
    """All pauses of one task: each owner is asked once, whichever of his routes comes first."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._held: set[Paused] = set()

    def hold(self, route: Route, paused: Sequence[Paused], known: Sequence[Paused]) -> bool:
        """After the backup was written, before the route is. `known`: what it said before. Whether one was written."""
        written = False
        with self._lock:
            for one in paused:
                if one not in self._held:
                    written = _write_pause(one, str(route.ref), self._run, claimed=one in known) or written
                    self._held.add(one)
        return written


def require_rights(paused: Iterable[Paused], run: Run) -> None:
    for one in dict.fromkeys(paused):
        resource = _resource(one, run)
        if resource is not None:
            run.cluster.require("patch", resource, [one.namespace])


def try_pauses(paused: Iterable[Paused], run: Run) -> list[str]:
    """Let the server try it. What it says no to."""
    refused = []
    for one in dict.fromkeys(paused):
        try:
            _write_pause(one, "a route", run, claimed=False, dry_run=True)
        except Problem as problem:
            refused.append(str(problem))
    return refused


def _write_pause(paused: Paused, route: str, run: Run, *, claimed: bool, dry_run: bool = False) -> bool:
    resource = _resource(paused, run)
    for _race in range(_RACES):
        item = _read(paused, resource, run)
        if resource is None or item is None:
            return False  # nobody is there who could put anything back
        known = annotations_of(item)
        stands = known.get(paused.annotation) == paused.value
        named = routes_named(known.get(PAUSED_FOR, ""))
        if stands and (PAUSED_FOR not in known or (claimed and named.keys() >= routes_named(route).keys())):
            return False  # by another client, so it stays paused, or for this very route
        wanted = {paused.annotation: paused.value, PAUSED_FOR: ", ".join({**named, **routes_named(route)}.values())}
        if _patch(paused, resource, item, wanted, "pause", run, dry_run=dry_run):
            return True
    raise _too_busy(paused)


def routes_named(mark: str) -> dict[str, str]:
    """What PAUSED_FOR says, as in `Ingress shop/web, HTTPRoute pay/api`: by namespace, the route it was claimed for."""
    texts = [text for text in mark.split(", ") if text]
    return {text.rpartition(" ")[2].rpartition("/")[0]: text for text in texts}


def resume(backups: Sequence[Backup], run: Run, *, dry_run: bool = False) -> dict[str, Problem]:
    """These routes are back: whoever waited for them goes on, unless he waits for others, too.

    The backups are still there, so that a task that is killed here can be run again. Those whose owner could not be
    let go on must stay: their uids, and why.
    """
    failed: dict[str, Problem] = {}
    done = frozenset(backup.record.uid for backup in backups)
    for paused in dict.fromkeys(one for backup in backups for one in backup.paused):
        try:
            leaving = {backup.record.namespace for backup in backups if paused in backup.paused}
            _end_pause(paused, done, leaving, run, dry_run=dry_run)
        except Interrupted:
            raise
        except Problem as problem:
            failed.update({backup.record.uid: problem for backup in backups if paused in backup.paused})
    return failed


def sweep_pauses(
    outcome: MaintenanceOutcome, run: Run, namespaces: frozenset[str] | None = None, *, dry_run: bool
) -> None:
    """Owners that wait for routes which are gone, with their backups. `namespaces`: only for routes of these."""
    for owner in GITOPS_OWNERS:
        resource = run.cluster.find_kind(owner.group, owner.kind).resource if owner.pause_owner else None
        if resource is None or owner.pause_owner is None:
            continue
        try:
            records = run.cluster.list(resource).records
        except Problem as problem:
            outcome.unseen.append(f"{resource.qualified} that wait for routes: {problem.why}")
            continue
        for record in [one for one in records if PAUSED_FOR in one.annotations]:
            named = routes_named(record.annotations[PAUSED_FOR]).keys()
            leaving = set(named) if namespaces is None else named & namespaces
            key, value = owner.pause_owner
            paused = Paused(resource.api_version, resource.kind, record.namespace, record.name, key, value)
            try:
                if _end_pause(paused, frozenset(), leaving, run, dry_run=dry_run):
                    outcome.swept.append(f"pause of {ref_of(paused)}")
            except Interrupted:
                raise
            except Problem as problem:
                outcome.warn(str(problem), run.tell)


def _end_pause(paused: Paused, done: frozenset[str], leaving: Set[str], run: Run, *, dry_run: bool) -> bool:
    """`leaving`: namespaces whose routes need it no longer, as far as the caller knows. Whether it goes on."""
    resource = _resource(paused, run)
    for _race in range(_RACES):
        item = _read(paused, resource, run)
        if resource is None or item is None or PAUSED_FOR not in annotations_of(item):
            return False  # gone, never asked, or paused by somebody else
        named = routes_named(annotations_of(item)[PAUSED_FOR])
        if not named.keys() & leaving:
            return False  # it waits for routes of other namespaces
        others = _others(paused, done, run)
        left = {namespace: text for namespace, text in named.items() if namespace in others}
        if left:
            run.tell(Noted(f"{ref_of(paused)} goes on waiting for {others[min(left)]}"))
        if left == named:
            return False
        ours = annotations_of(item).get(paused.annotation) == paused.value and not left
        wanted = {PAUSED_FOR: ", ".join(left.values()) or ABSENT, **({paused.annotation: ABSENT} if ours else {})}
        if _patch(paused, resource, item, wanted, "let go on" if ours else "change pause of", run, dry_run=dry_run):
            return not left
    raise _too_busy(paused)


def _others(paused: Paused, done: frozenset[str], run: Run) -> dict[str, str]:
    """Routes for which it is still needed, besides those whose backups are about to go: one of each namespace."""
    try:
        items = run.cluster.list_whole(CONFIG_MAPS, None, f"{ROLE}={BACKUP}")
    except Problem as problem:
        raise Refused(
            f"{ref_of(paused)} stays paused",
            why=f"whether other routes still need it cannot be seen: {problem.why}",
            next_step=f"let state: disabled run as a user who may list configmaps everywhere, or take "
            f"{paused.annotation} and {PAUSED_FOR} off it by hand",
        ) from problem
    others = [item for item in items if item["metadata"].get("uid") not in done]
    backups = [backup for item in others if (backup := _readable(item, run)) is not None]
    needing = [backup for backup in backups if paused.who in {one.who for one in backup.paused}]
    return {backup.record.namespace: str(backup.target) for backup in needing}


def _readable(item: Mapping[str, Any], run: Run) -> Backup | None:
    """One that nobody can read keeps nobody waiting: else whoever writes in one namespace could stop all the others."""
    try:
        return read_backup(item, run.key)
    except Refused as problem:
        run.tell(Warned(str(problem)))
        return None


def _patch(
    paused: Paused,
    resource: Resource,
    item: Mapping[str, Any],
    wanted: Mapping[str, Any],
    action: str,
    run: Run,
    *,
    dry_run: bool,
) -> bool:
    """False when somebody else was faster. Nobody's write in between goes unnoticed: claims are such writes."""
    version = item["metadata"].get("resourceVersion")
    operations: list[Operation] = [{"op": "test", "path": "/metadata/resourceVersion", "value": version}]
    operations += annotate(item, wanted)
    written = run.cluster.json_patch(resource, record_of(item["metadata"]), operations, dry_run=dry_run)
    if written.raced or written.gone:
        return False
    run.tell(Did(action, ref_of(paused), written.effect.value, dry_run=dry_run))
    if written.problem:
        raise written.problem
    return True


def _resource(paused: Paused, run: Run) -> Resource | None:
    return run.cluster.find_kind(paused.group, paused.kind).resource


def _read(paused: Paused, resource: Resource | None, run: Run) -> dict[str, Any] | None:
    return run.cluster.read_whole(resource, paused.namespace, paused.name) if resource else None


def _too_busy(paused: Paused) -> Refused:
    return Refused(
        "cannot pause or resume",
        which=str(ref_of(paused)),
        why=f"others changed it faster than we could, {_RACES} times",
        next_step="run the task again",
    )
