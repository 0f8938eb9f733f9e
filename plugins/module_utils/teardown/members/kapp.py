# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a kapp application, from its record: the ConfigMap that names its label and the kinds it used.

Room: teardown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...problems import CannotLook
from ...well_known import CONFIG_MAPS
from .claims import Claim, Membership, Search

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_SUFFIX = ".apps.k14s.io"
_CHANGE_OF = "kapp.k14s.io/app-change-app"


def kapp_membership(app: str, namespace: str, cluster: Cluster) -> Membership:
    source = f"kapp application {namespace}/{app}"
    membership = Membership(source, default_namespace=namespace)
    names = (f"{app}{_SUFFIX}", app)
    records = {
        item["metadata"]["name"]: item for item in cluster.list_whole(CONFIG_MAPS, namespace, "kapp.k14s.io/is-app")
    }
    record = next((records[name] for name in names if name in records), None)
    if record is None:
        membership.missing = f"there is no record of {source} (ConfigMap {names[0]} or {names[1]})"
        return membership
    spec = _spec(record, source)
    label = f"{spec['labelKey']}={spec['labelValue']}"
    membership.searches = [
        Search(kind["Kind"], f"{kind['Group']}/", label_selector=label, source=source)
        for kind in spec.get("usedGKs") or ()
    ]
    if not membership.searches:
        membership.warnings.append(
            f"{source} is an old record that does not say which kinds it used; all kinds are searched"
        )
        membership.searches = [Search("*", label_selector=label, source=source)]
    membership.records = _records(names, record, namespace, source, cluster)
    membership.not_ours = _labelled(spec["labelKey"], spec["labelValue"])
    return membership


def _spec(record: dict[str, Any], source: str) -> dict[str, Any]:
    try:
        spec: dict[str, Any] = json.loads((record.get("data") or {}).get("spec") or "")
        if not spec["labelKey"] or not spec["labelValue"]:
            raise ValueError("labelKey or labelValue is empty")
        for kind in spec.get("usedGKs") or ():
            if not kind["Kind"] or kind.get("Group") is None:
                raise ValueError("usedGKs has a kind without a name or group")
    except (ValueError, KeyError, TypeError) as problem:
        raise CannotLook(
            f"cannot read the record of {source}",
            why=f"its ConfigMap holds no valid spec: {problem}",
            next_step="give the members by selector instead",
        ) from problem
    return spec


def _records(
    names: tuple[str, str], record: dict[str, Any], namespace: str, source: str, cluster: Cluster
) -> list[Claim]:
    changes: set[str] = set()
    for name in names:
        changes |= {change.name for change in cluster.list(CONFIG_MAPS, namespace, f"{_CHANGE_OF}={name}").records}
    found = [record["metadata"]["name"], *sorted(changes)]
    return [Claim("", "ConfigMap", name, namespace, "v1", f"record of {source}") for name in found]


def _labelled(key: str, value: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        found = record.labels.get(key)
        if found == value or (found is None and not marked):
            return ""
        return (
            f"it belongs to another kapp application ({key}={found})" if found else f"it carries no label {key}={value}"
        )

    return not_ours
