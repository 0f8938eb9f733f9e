# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Volume claims that pods still use, and volumes that claims are still bound to.

Room: teardown. A list of pods a namespace with claims that hang, and one of volumes where volumes hang.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...objects import Record, Resource
from ...paths import value_at
from ...well_known import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from .cause import CLAIM, MOST_NAMED, POD, Cause, some_of
from .census import FEW_NAMESPACES, Census, Seen

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_ENDED = ("Succeeded", "Failed")
_PROTECTION = {
    PERSISTENT_VOLUME_CLAIMS.qualified: "kubernetes.io/pvc-protection",
    PERSISTENT_VOLUMES.qualified: "kubernetes.io/pv-protection",
}


@dataclass(frozen=True)
class User:
    """A pod that uses a claim."""

    name: str
    ended: bool


@dataclass
class Volumes:
    pods: Mapping[tuple[str, str], Sequence[User]] = field(default_factory=dict)  # claim → who uses it
    volumes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name → whole


def fetch_volumes(found: Sequence[Seen], census: Census, cluster: Cluster) -> Volumes:
    held = [(kind, record) for kind, record in found if _is_held(kind, record)]
    places = sorted({record.namespace for _kind, record in held if record.namespace})
    names = {record.name for kind, record in held if not kind.namespaced}
    users: dict[tuple[str, str], list[User]] = defaultdict(list)
    volumes: dict[str, Mapping[str, Any]] = {}

    def read_pods() -> None:
        scopes: list[str | None] = [None] if len(places) > FEW_NAMESPACES else [*places]
        for pod in (pod for scope in scopes for pod in cluster.list_whole(PODS, scope)):
            user = User(pod["metadata"]["name"], value_at(pod, "status.phase") in _ENDED)
            for claim in _claims_of(pod):
                users[pod["metadata"]["namespace"], claim].append(user)

    def read_volumes() -> None:
        items = cluster.list_whole(PERSISTENT_VOLUMES)
        volumes.update((item["metadata"]["name"], item) for item in items if item["metadata"]["name"] in names)

    if places:
        census.attempt("which pods use volume claims", read_pods)
    if names:
        census.attempt("which claims volumes are bound to", read_volumes)
    return Volumes(users, volumes)


def _is_held(kind: Resource, record: Record) -> bool:
    return record.terminating and _PROTECTION.get(kind.qualified) in record.finalizers


def _claims_of(pod: Mapping[str, Any]) -> Iterable[str]:
    """As the server sees it: a pod holds its claims from when it has a node until it is deleted, ended or not."""
    if not value_at(pod, "spec.nodeName"):
        return
    for volume in value_at(pod, "spec.volumes") or ():
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        # A generic ephemeral volume has a claim of its own, named after pod and volume.
        if volume.get("ephemeral"):
            claim = f"{pod['metadata']['name']}-{volume.get('name')}"
        if claim:
            yield str(claim)


def used_by_a_pod(kind: Resource, record: Record, volumes: Volumes) -> Iterable[Cause]:
    if kind.qualified != PERSISTENT_VOLUME_CLAIMS.qualified or not _is_held(kind, record):
        return
    # Those that run first: who has ended needs nothing but to be deleted.
    users = sorted(volumes.pods.get((record.namespace, record.name)) or (), key=lambda user: user.ended)
    if users:
        named = {f"pod{number}": user.name for number, user in enumerate(users[:MOST_NAMED])}
        delete = kubectl(" ".join(["delete pod", *map("{{{}}}".format, named)]), namespace=record.namespace, **named)
        text = f"Pod {some_of([user.name for user in users])} still uses it"
        if any(user.ended for user in users):
            text += "; one that has ended does so until it is deleted"
        way = "delete what has ended" if users[0].ended else "stop what made the pod, then"
        yield Cause(POD, text, f"{way}: {delete}", on=f"Pod {record.namespace}/{users[0].name}")


def bound_to_a_claim(kind: Resource, record: Record, volumes: Volumes) -> Iterable[Cause]:
    if kind.qualified != PERSISTENT_VOLUMES.qualified or not _is_held(kind, record):
        return
    volume = volumes.volumes.get(record.name) or {}
    claim = value_at(volume, "spec.claimRef") or {}
    if value_at(volume, "status.phase") != "Bound" or not claim.get("name"):
        return
    namespace, name = claim.get("namespace") or "", claim["name"]
    policy = value_at(volume, "spec.persistentVolumeReclaimPolicy")
    loses = "its disk goes with it" if policy == "Delete" else "its disk stays"
    delete = kubectl("delete pvc {name}", namespace=namespace, name=name)
    yield Cause(
        CLAIM,
        f"PersistentVolumeClaim {namespace}/{name} is still bound to it",
        f"if the claim is not needed any more ({loses}): {delete}",
        on=f"PersistentVolumeClaim {namespace}/{name}",
        loss=loses,
    )
