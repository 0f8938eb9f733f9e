# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole objects, kept before they go, so that they can be brought back.

Room: teardown. One list a kind and namespace. Fields the API server sets are dropped; what cannot be kept is named:
Secrets only on demand, apart from the rest, because whoever writes them to a file has to encrypt that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..events import SetAside, Tell
from ..objects import ObjectRef, Record, Resource
from ..well_known import NAMESPACES
from .plan import RECORDS, Entry, Plan, Step

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_SET_BY_THE_SERVER = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
SECRETS = ("", "secrets")


@dataclass
class Keepsake:
    """The objects of one step, in the order of their deletion."""

    step: str
    objects: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Keepsakes:
    steps: list[Keepsake] = field(default_factory=list)
    secrets: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[tuple[ObjectRef, str]] = field(default_factory=list)
    gone_before: int = 0  # objects that belong to it and were not there when the run began


def keep(
    plan: Plan,
    clusters: Mapping[str | None, Cluster],
    tell: Tell,
    *,
    secrets: bool = False,
    originals: Mapping[str, dict[str, Any]] | None = None,
    gone_before: int = 0,
) -> Keepsakes:
    """Read everything the plan deletes, and hand it over before the first delete; Secrets if that was asked for.

    `originals`, by uid, are taken instead of what is there: as it was before the run itself changed it.
    """
    kept = Keepsakes(gone_before=gone_before)
    everything = [entry for step in plan.steps for entry in step.going]
    for step in plan.steps:
        if step.going:
            cluster = clusters[step.rule.context]
            kept.steps.append(_keep_step(step, cluster, kept, everything, originals or {}, secrets=secrets))
    tell(SetAside(kept))
    return kept


def originals_of(members: Iterable[tuple[Resource, Record]], cluster: Cluster) -> dict[str, dict[str, Any]]:
    """As they are now, by uid; without those that are gone."""
    found = ((resource, cluster.read_whole(resource, record.namespace, record.name)) for resource, record in members)
    return {item["metadata"]["uid"]: sanitised(item, resource) for resource, item in found if item is not None}


def _controller_uid(item: Mapping[str, Any]) -> str:
    owners = (item.get("metadata") or {}).get("ownerReferences") or ()
    return next((str(owner.get("uid")) for owner in owners if owner.get("controller")), "")


def _keep_step(
    step: Step,
    cluster: Cluster,
    kept: Keepsakes,
    everything: Sequence[Entry],
    originals: Mapping[str, dict[str, Any]],
    *,
    secrets: bool,
) -> Keepsake:
    entries = [entry for entry in step.going if not _left_out(entry, step, kept, secrets=secrets)]
    places = dict.fromkeys((entry.member.resource, entry.member.record.namespace or None) for entry in entries)
    whole: dict[str, dict[str, Any]] = {}
    going = {entry.member.record.uid: entry.member.ref for entry in everything}
    makers: dict[str, ObjectRef] = {}
    for resource, namespace in places:
        for item in cluster.list_whole(resource, namespace):
            whole[item["metadata"]["uid"]] = originals.get(item["metadata"]["uid"]) or sanitised(item, resource)
            if maker := going.get(_controller_uid(item)):
                makers[item["metadata"]["uid"]] = maker
    keepsake = Keepsake(step.rule.name)
    for entry in entries:
        if entry.member.record.uid in makers:
            kept.left_out.append((entry.member.ref, f"{makers[entry.member.record.uid]} makes it again"))
        elif entry.member.record.uid in whole:
            pile = kept.secrets if _is_confidential(entry, step) else keepsake.objects
            pile.append(whole[entry.member.record.uid])
        else:
            kept.left_out.append((entry.member.ref, "it was gone before it could be read"))
    return keepsake


def _left_out(entry: Entry, step: Step, kept: Keepsakes, *, secrets: bool) -> bool:
    if secrets or not _is_confidential(entry, step):
        return False
    what = "Secrets are" if _is_secret(entry) else "records may hold Secrets, they are"
    why = f"{what} only kept encrypted, with undo_vault_password, when the task runs on the controller"
    kept.left_out.append((entry.member.ref, why))
    return True


def _is_confidential(entry: Entry, step: Step) -> bool:
    """Secrets, and the source's own records: they repeat the values that the application was given."""
    return _is_secret(entry) or (step.rule is RECORDS and entry.member.resource.plural != NAMESPACES.plural)


def _is_secret(entry: Entry) -> bool:
    return (entry.member.resource.group, entry.member.resource.plural) == SECRETS


def sanitised(item: Mapping[str, Any], resource: Resource) -> dict[str, Any]:
    """An object as it could be created again: without status and without what the server sets."""
    metadata = {key: value for key, value in (item.get("metadata") or {}).items() if key not in _SET_BY_THE_SERVER}
    # Owners will have other uids, and finalizers would hold what nobody has asked to be held.
    for key in ("ownerReferences", "finalizers"):
        metadata.pop(key, None)
    rest = {key: value for key, value in item.items() if key not in ("status", "metadata", "apiVersion", "kind")}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **rest}
