# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the maintenance-operator calls its annotations and backups here: by default, by an option, by its Deployment.

Room: maintenance. Every user who may make Deployments can make one that looks like the operator's. So
names that were read from one count only on routes that carry `service-name`, which the operator always writes and
is no chart value, and never are annotations of Kubernetes or ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..problems import BadFields, Interrupted, Problem
from ..profiles.maintenance_operator import DEFAULT_NAMES, DEPLOYMENT_LABEL, PAGE, SERVICE, VARIABLES, Names
from ..well_known import WORKLOADS

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from .scene import Route, Scene

# option → field of Names
OPTIONS = {
    "maintenance_annotation": "enabled",
    "maintenance_annotation_value": "value",
    "backup_annotation": "marker",
    "backup_config_map_prefix": "backups",
}
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_ANNOTATION = re.compile(rf"({_LABEL}(\.{_LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-.a-z0-9]{0,60}[a-z0-9])?")
_NOT_ITS = ("kubernetes.io", "k8s.io", "sunset.dev")


def names_given(given: Mapping[str, Any] | None, bad: BadFields) -> Names | None:
    if not given:
        return None
    values = {field: str(given[option]) for option, field in OPTIONS.items() if given.get(option) is not None}
    names = Names(**values, source="option")
    for field, why in _wrong(names):
        option = next(key for key, one in OPTIONS.items() if one == field)
        bad.add(f"maintenance_operator.{option}", why)
    return names


def _wrong(names: Names) -> Iterator[tuple[str, str]]:
    """Fields that cannot be what the operator uses, and why."""
    for field, key in (("enabled", names.enabled), ("marker", names.marker)):
        domain = key.rpartition("/")[0]
        if not _ANNOTATION.fullmatch(key) or len(domain) > 253:
            yield field, f"{key!r} is no name of an annotation"
        elif key == PAGE:
            yield field, f"{key!r} is where users choose a page"
        elif any(domain == one or domain.endswith(f".{one}") for one in _NOT_ITS):
            yield field, f"{key!r} belongs to {domain}, not to the maintenance-operator"
    if names.enabled == names.marker:
        yield "marker", "is the annotation that asks for a page; the operator has another one for its backup"
    if not names.value:
        yield "value", "is empty"
    if not _PREFIX.fullmatch(names.backups):
        yield "backups", f"{names.backups!r} cannot begin the name of a ConfigMap"


def recognise(
    scene: Scene, given: Names | None, cluster: Cluster, backups: Iterable[Mapping[str, Any]] = ()
) -> tuple[Names, str]:
    """Tell every route its operator's names. Those that were looked for first, and a warning, if there is one.

    `backups`: ConfigMaps of the operator, whose names may show another prefix.
    """
    found, warning = given, ""
    if found is None and (any(_hints(route) for route in scene.routes.values()) or any(map(_is_strange, backups))):
        found, warning = _of_deployment(cluster)
    scene.operators = [*([found] if found else ()), DEFAULT_NAMES]
    for route in scene.routes.values():
        fitting = (names for names in scene.operators if _carries(route, names))
        route.operator = next(fitting, given or DEFAULT_NAMES)
    return scene.operators[0], warning


def _hints(route: Route) -> bool:
    return SERVICE in route.annotations and DEFAULT_NAMES.marker not in route.annotations


def _is_strange(backup: Mapping[str, Any]) -> bool:
    return not str(backup["metadata"].get("name")).startswith(f"{DEFAULT_NAMES.backups}-")


def _carries(route: Route, names: Names) -> bool:
    trusted = names.source in ("default", "option") or SERVICE in route.annotations
    return trusted and (names.marker in route.annotations or names.enabled in route.annotations)


def _of_deployment(cluster: Cluster) -> tuple[Names | None, str]:
    try:
        items = cluster.list_whole(WORKLOADS[0], None, "=".join(DEPLOYMENT_LABEL))
    except Interrupted:
        raise
    except Problem as problem:
        return None, f"cannot look for the maintenance-operator's Deployment, its usual names are taken: {problem.why}"
    found = {(names.enabled, names.value, names.marker, names.backups): names for names in map(_names_in, items)}
    usable = [names for names in found.values() if not list(_wrong(names))]
    if len(found) > 1 or len(usable) != len(found):
        places = ", ".join(sorted(names.source for names in found.values())[:5])
        why = "different names" if len(found) > 1 else "a name that cannot be its own"
        return None, f"{places}: {why}; the usual names are taken. Give them with maintenance_operator"
    return (usable[0] if usable else None), ""


def _names_in(item: Mapping[str, Any]) -> Names:
    metadata = item["metadata"]
    values = {}
    for container in (((item.get("spec") or {}).get("template") or {}).get("spec") or {}).get("containers") or ():
        for one in container.get("env") or ():
            if one.get("name") in VARIABLES and one.get("value"):
                values[VARIABLES[one["name"]]] = str(one["value"])
    return Names(**values, source=f"Deployment {metadata.get('namespace')}/{metadata.get('name')}")
