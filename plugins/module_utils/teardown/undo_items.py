# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects as they can come back: without what belonged to their former life.

Room: teardown.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..commands import kubectl
from ..objects import ObjectRef, Resource
from ..problems import Problem

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Item = Mapping[str, Any]
VOLUMES = Resource("", "v1", "PersistentVolume", "persistentvolumes", False)
# Labels the Job controller gives its Pods; the new Job has a uid of its own.
_JOB_LABELS = frozenset(
    {"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}
)
_BINDING = frozenset({"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"})


def ref_of(item: Item, uid: str = "") -> ObjectRef:
    metadata = item.get("metadata") or {}
    return ObjectRef(
        str(item["apiVersion"]), str(item["kind"]), metadata.get("namespace") or "", metadata.get("name") or "", uid
    )


def as_it_can_come_back(item: Item, cluster: Cluster) -> tuple[dict[str, Any], str]:
    """A copy to create, and what is to be said about it."""
    found = copy.deepcopy(dict(item))
    change = _CHANGES.get(str(item["kind"]))
    return (found, change(found, cluster)) if change is not None else (found, "")


def _job(item: dict[str, Any], cluster: Cluster) -> str:
    spec = item.get("spec") or {}
    if spec.get("manualSelector"):
        return ""
    spec.pop("selector", None)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    for name in _JOB_LABELS & labels.keys():
        del labels[name]
    return f"{ref_of(item)}: it runs once more"


def _pod(item: dict[str, Any], cluster: Cluster) -> str:
    (item.get("spec") or {}).pop("nodeName", None)
    return ""


def _claim(item: dict[str, Any], cluster: Cluster) -> str:
    """A volume that is still there keeps its data, and waits for a claim with the old uid."""
    spec = item.get("spec") or {}
    name = spec.get("volumeName")
    if not name:
        return ""
    # With these the claim would be lost for good: its volume is bound to another uid.
    annotations = item["metadata"].get("annotations") or {}
    for mark in _BINDING & annotations.keys():
        del annotations[mark]
    try:
        volume = cluster.read(VOLUMES, "", name)
    except Problem as problem:
        return f"{ref_of(item)}: cannot see whether its volume {name} is still there ({problem})"
    if volume is not None:
        return f"{ref_of(item)}: its volume {name} is still there. To bind it again: " + kubectl(
            """patch pv {name} --type json -p '[{"op":"remove","path":"/spec/claimRef/uid"}]'""", name=name
        )
    del spec["volumeName"]
    return f"{ref_of(item)}: its volume {name} is gone with all data; it gets a new, empty one"


_CHANGES: dict[str, Callable[[dict[str, Any], Cluster], str]] = {
    "Job": _job,
    "Pod": _pod,
    "PersistentVolumeClaim": _claim,
}


def without_cluster_address(item: Item) -> dict[str, Any] | None:
    """A Service that takes whatever address is free; None if it had none."""
    spec = item.get("spec") or {}
    if spec.get("clusterIP") in (None, "", "None"):
        return None
    bare = {key: value for key, value in spec.items() if key not in ("clusterIP", "clusterIPs")}
    return {**item, "spec": bare}
