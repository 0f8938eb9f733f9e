# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members that other deployers keep lists of: cli-utils (kpt) and ApplySets.

Room: teardown. Each function reads one record and returns what it names.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...problems import BadOption, Problem, Refused
from ...well_known import CONFIG_MAPS, SECRETS
from .claims import Claim, Membership, Search
from .flux import read_entry

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_INVENTORY_LABEL = "cli-utils.sigs.k8s.io/inventory-id"
_OWNING_INVENTORY = "config.k8s.io/owning-inventory"
_APPLYSET_ID = "applyset.kubernetes.io/id"
_APPLYSET_PART_OF = "applyset.kubernetes.io/part-of"
_APPLYSET_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_KPT = "kpt.dev"


def inventory_membership(name: str, namespace: str, cluster: Cluster) -> Membership:
    """A cli-utils inventory: a ConfigMap whose data keys are `ns_name_group_kind`."""
    source = f"inventory {namespace}/{name}"
    found = [
        item
        for item in cluster.list_whole(CONFIG_MAPS, namespace, _INVENTORY_LABEL)
        if name in (item["metadata"]["name"], item["metadata"]["labels"][_INVENTORY_LABEL])
    ]
    if not found:
        return Membership(source, missing=f"there is no {source} (a ConfigMap with label {_INVENTORY_LABEL})")
    if len(found) > 1:
        raise BadOption("bad options", why=f"{source} is ambiguous, {len(found)} ConfigMaps carry that id")
    item = found[0]
    identity = item["metadata"]["labels"][_INVENTORY_LABEL]
    blind = _refuse_a_second_one(item, identity, source, cluster)
    membership = Membership(source, home=namespace, not_ours=_owned_by_inventory(identity, namespace, blind))
    membership.claims = [read_entry(str(key), "", source) for key in item.get("data") or ()]
    membership.records = [Claim("", "ConfigMap", item["metadata"]["name"], namespace, "v1", f"record of {source}")]
    return membership


def _refuse_a_second_one(item: Mapping[str, Any], identity: str, source: str, cluster: Cluster) -> str:
    """An id that two inventories carry says of no object whose it is. Why others could not be seen, if so."""
    kinds = [CONFIG_MAPS]
    group, _warning = cluster.resolve("ResourceGroup", f"{_KPT}/", by_hand=False)
    kinds += [group] if group else []
    place = ("ConfigMap", item["metadata"]["namespace"], item["metadata"]["name"])
    for kind in kinds:
        try:
            records = cluster.list(kind, None, f"{_INVENTORY_LABEL}={identity}").records
        except Problem as problem:
            if not problem.is_forbidden:
                raise
            return problem.why
        for record in records:
            if (kind.kind, record.namespace, record.name) != place:
                raise Refused(
                    "delete",
                    which=source,
                    why=f"{kind.kind} {record.place} carries its id {identity}, too, so no object tells whose it is",
                    next_step="look which of the two was copied, and take the label "
                    f"{_INVENTORY_LABEL} off it; nothing was changed",
                )
    return ""


def _owned_by_inventory(identity: str, namespace: str, blind: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        owner = record.annotations.get(_OWNING_INVENTORY)
        if owner is None:
            return f"it carries no annotation {_OWNING_INVENTORY}" if marked else ""
        if owner != identity:
            return f"it belongs to inventory {owner}"
        if blind and record.namespace != namespace:
            return f"whether another inventory has the same id cannot be seen ({blind})"
        return ""

    return not_ours


def applyset_membership(name: str, namespace: str, cluster: Cluster) -> Membership:
    """A kubectl ApplySet: its parent (Secret or ConfigMap) names the kinds, its members carry the label."""
    source = f"ApplySet {namespace}/{name}"
    for parent in (SECRETS, CONFIG_MAPS):
        for record in cluster.list(parent, namespace, _APPLYSET_ID).records:
            if record.name != name:
                continue
            _require_own_id(record, parent.kind, source)
            label = f"{_APPLYSET_PART_OF}={record.labels[_APPLYSET_ID]}"
            kinds = [text for text in record.annotations.get(_APPLYSET_KINDS, "").split(",") if text]
            searches = [_group_kind_search(text, label, source) for text in kinds]
            return Membership(
                source,
                searches=searches,
                records=[Claim("", parent.kind, name, namespace, "v1", f"record of {source}")],
                default_namespace=namespace,
                home=namespace,
                not_ours=_part_of(record.labels[_APPLYSET_ID]),
            )
    return Membership(source, missing=f"there is no {source} (a Secret or ConfigMap with label {_APPLYSET_ID})")


def _require_own_id(record: Record, kind: str, source: str) -> None:
    """As kubectl does: the id is made of what the parent is called, so no parent can claim another one's objects."""
    own = applyset_id(record.name, record.namespace, kind)
    if record.labels[_APPLYSET_ID] != own:
        raise Refused(
            "delete",
            which=f"{source} ({kind})",
            why=f"its label {_APPLYSET_ID} is {record.labels[_APPLYSET_ID]}, and the id of this object is {own}",
            next_step="look who wrote that label; kubectl refuses such a parent as well; nothing was changed",
        )


def applyset_id(name: str, namespace: str, kind: str, group: str = "") -> str:
    digest = hashlib.sha256(f"{name}.{namespace}.{kind}.{group}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


def _part_of(identity: str) -> Any:
    def not_ours(record: Record, marked: bool) -> str:
        found = record.labels.get(_APPLYSET_PART_OF)
        if found == identity or (found is None and not marked):
            return ""
        return f"it is part of ApplySet {found}" if found else f"it carries no label {_APPLYSET_PART_OF}"

    return not_ours


def _group_kind_search(text: str, label: str, source: str) -> Search:
    kind, _dot, group = text.partition(".")
    return Search(kind, f"{group}/", label_selector=label, source=source)
