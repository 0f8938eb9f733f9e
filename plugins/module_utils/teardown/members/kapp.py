# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a kapp application, from its release metadata: the ConfigMap with its label and the kinds it used.

Room: teardown. Anybody who may write ConfigMaps in one namespace may write such a one. So it counts only with kapp's
own label key, and with a value that is no other application's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...problems import CannotLook, Problem, Refused
from ...well_known import CONFIG_MAPS
from .claims import Claim, Membership, Search

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_SUFFIX = ".apps.k14s.io"
_IS_APP, _LABEL = "kapp.k14s.io/is-app", "kapp.k14s.io/app"
_CHANGE_OF = "kapp.k14s.io/app-change-app"


def kapp_membership(app: str, namespace: str, cluster: Cluster) -> Membership:
    source = f"kapp application {namespace}/{app}"
    membership = Membership(source, default_namespace=namespace, home=namespace)
    names = (f"{app}{_SUFFIX}", app)
    records = {item["metadata"]["name"]: item for item in cluster.list_whole(CONFIG_MAPS, namespace, _IS_APP)}
    record = next((records[name] for name in names if name in records), None)
    if record is None:
        membership.missing = f"there is no record of {source} (ConfigMap {names[0]} or {names[1]})"
        return membership
    spec = _spec(record, source)
    _refuse_another_key(spec["labelKey"], source)
    blind = _refuse_a_second_one(record, spec["labelValue"], source, cluster)
    label = f"{_LABEL}={spec['labelValue']}"
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
    membership.not_ours = _labelled(spec["labelValue"], namespace, blind)
    return membership


def _refuse_another_key(key: str, source: str) -> None:
    if key != _LABEL:
        raise Refused(
            "delete",
            which=source,
            why=f"its ConfigMap says that its objects are those with the label {key}, and kapp labels its objects "
            f"with {_LABEL} only",
            next_step="look who wrote that ConfigMap; give the members by selector if you mean that label; nothing "
            "was changed",
        )


def _refuse_a_second_one(record: dict[str, Any], value: str, source: str, cluster: Cluster) -> str:
    """Each application has a value of its own. Why others could not be seen, if so."""
    try:
        others = cluster.list_whole(CONFIG_MAPS, None, _IS_APP)
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        return problem.why
    place = (record["metadata"]["namespace"], record["metadata"]["name"])
    for other in others:
        there = (other["metadata"]["namespace"], other["metadata"]["name"])
        if there != place and _value(other) == value:
            raise Refused(
                "delete",
                which=source,
                why=f"ConfigMap {'/'.join(there)} says that the objects labelled {_LABEL}: {value} are of its "
                "application, and they cannot be of both",
                next_step="look which of the two kapp made (kapp inspect), and delete the other one; nothing was "
                "changed",
            )
    return ""


def _value(record: dict[str, Any]) -> Any:
    try:
        return json.loads((record.get("data") or {}).get("spec") or "")["labelValue"]
    except (ValueError, KeyError, TypeError):
        return None


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


def _labelled(value: str, namespace: str, blind: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        found = record.labels.get(_LABEL)
        if found is None:
            return f"it carries no label {_LABEL}={value}" if marked else ""
        if found != value:
            return f"it belongs to another kapp application ({_LABEL}={found})"
        if blind and record.namespace != namespace:
            return f"whether another kapp application has the same label value cannot be seen ({blind})"
        return ""

    return not_ours
