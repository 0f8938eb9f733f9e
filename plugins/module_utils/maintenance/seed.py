# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the maintenance-operator has left: read, so that its routes can be taken back and its remains removed.

Room: maintenance. It keeps a ConfigMap `maintenance-backup-<name of the route>` with the route's old rules, marks on
the route, and pages `maintenance-<8 digits>` that count their users in an annotation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..commands import playbook
from ..events import Did
from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..problems import Refused
from ..well_known import CONFIG_MAPS, SERVICES
from .backups import Backup, Began, Remarks
from .locations import locations_of
from .markers import (
    BACKUP_PREFIX,
    SEED_BACKUP_LABEL,
    SEED_ENABLED,
    SEED_HOLDER,
    SEED_LABELS,
    SEED_MARKER,
    SEED_PAGE,
    SEED_SERVICE,
)
from .outcome import Run
from .recalling import backends_in
from .scene import Route, Scene, Unreadable

# Its flag stays on the list: with it, a living operator would put the page back.
SEED_MARKS = (SEED_MARKER, SEED_SERVICE, SEED_ENABLED, SEED_PAGE)
SEED_PAGE_NAME = re.compile(r"maintenance-[0-9a-f]{8}")
_DATA = "backup"
_PARTS = (
    Resource("", "v1", "Pod", "pods", namespaced=True),
    SERVICES,
    CONFIG_MAPS,
)


def adopt_seed_backups(scene: Scene, run: Run) -> None:
    """Give routes that the maintenance-operator has changed a backup made from its own."""
    for route in scene.routes.values():
        if route.backup is None and is_seeds(route):
            name = f"{BACKUP_PREFIX}{route.ref.name}"
            item = run.cluster.read_whole(CONFIG_MAPS, route.namespace, name)
            if item is None or not _is_seeds(record_of(item["metadata"])):
                continue
            if run.key.secret:  # everybody who writes ConfigMaps there can make one
                route.unreadable = _not_signed(route.namespace, name)
                scene.unreadable.append(route.unreadable)
            else:
                route.backup = _read(item, route)


def _not_signed(namespace: str, name: str) -> Unreadable:
    why = Refused(
        "the backup is not trusted",
        which=f"ConfigMap {namespace}/{name}",
        why="it is the maintenance-operator's, which signs none",
        next_step="as a cluster administrator, restore the route with "
        + playbook("maintenance", {"state": "disabled", "namespace": namespace}),
    )
    return Unreadable(frozenset({SEED_HOLDER}), str(why))


def is_seeds(route: Route) -> bool:
    """Marked by the maintenance-operator, or shows a page of it: ours have more digits."""
    return SEED_MARKER in route.annotations or any(SEED_PAGE_NAME.fullmatch(page) for page in route.pages)


def _is_seeds(record: Record) -> bool:
    return record.labels.get(SEED_BACKUP_LABEL[0]) == SEED_BACKUP_LABEL[1]


def _read(item: Mapping[str, Any], route: Route) -> Backup | None:
    """An Ingress and an IngressRoute of one name share one backup there: what does not fit this kind is the other's."""
    try:
        spec = json.loads((item.get("data") or {}).get(_DATA) or "{}")
    except ValueError:
        return None
    spec = {key: value for key, value in spec.items() if value is not None} if isinstance(spec, dict) else {}
    if not locations_of({"metadata": {"namespace": route.namespace}, "spec": spec}, route.kind):
        return None
    changes = backends_in(spec, route.kind, route.namespace)
    remarks = Remarks(holders=frozenset({SEED_HOLDER}))
    return Backup(record_of(item["metadata"]), route.ref, changes, [], Began(by="maintenance-operator"), remarks)


def seed_backup_of(route: Route) -> bool:
    return route.backup is not None and _is_seeds(route.backup.record)


def forget_seed(route: Route, run: Run) -> None:
    if route.backup is not None:
        _delete(CONFIG_MAPS, route.backup.record, run)


def sweep_seed_pages(
    scene: Scene,
    namespaces: frozenset[str] | None,
    run: Run,
    *,
    only: frozenset[str] | None = None,
    dry_run: bool = False,
) -> list[str]:
    """Pages of the maintenance-operator that no route shows; its own count of them is not to be trusted.

    `only`: none but these. What was removed, for people.
    """
    selector = ",".join(f"{key}={value}" for key, value in SEED_LABELS.items())
    shown = {(route.namespace, page) for route in scene.routes.values() for page in route.pages}
    swept = []
    for namespace in sorted(namespaces) if namespaces is not None else [None]:
        for resource in _PARTS:
            for record in run.cluster.list(resource, namespace, selector).records:
                wanted = only is None or record.name in only
                if wanted and (record.namespace, record.name) not in shown and not record.terminating:
                    swept.append(str(ref_to(resource, record)))
                    if not dry_run:
                        _delete(resource, record, run)
    return swept


def _delete(resource: Resource, record: Record, run: Run) -> None:
    written = run.cluster.delete(resource, record)
    ref = ObjectRef(resource.api_version, resource.kind, record.namespace, record.name, record.uid)
    run.tell(Did("delete", ref, written.effect.value))
    if written.problem:
        raise written.problem
