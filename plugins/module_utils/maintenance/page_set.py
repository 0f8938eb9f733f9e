# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects that show a page: an immutable ConfigMap, what serves it, and how it is reached. Only manifests.

Room: maintenance (pure). The ConfigMap is the root: the routes that show the page own it, and it owns everything else,
so the garbage collector takes a page set that no route needs any more. The uid of the ConfigMap is in the selectors: a
new set of the same name must not count pods of the old one as its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .pages.bundle import Bundle
from .pages.source import H2C_PORT, HTTP_PORT
from .pod_template import PAGE_LABEL, UID_LABEL, pod_labels, pod_spec, pod_template, set_labels
from .workload import Autoscaling, Workload

__all__ = ["PAGE_LABEL", "UID_LABEL", "Autoscaling", "PageSet", "Workload", "config_map", "page_set", "pod_to_try"]

DIGEST_ANNOTATION = "sunset.dev/page-digest"
ROOT_LABEL = "sunset.dev/maintenance"
ROOT_VALUE = "page"

Manifest = dict[str, Any]


@dataclass(frozen=True)
class PageSet:
    """Everything below the ConfigMap, in the order it is created."""

    workload: Manifest  # a Deployment or a Pod
    service: Manifest
    budget: Manifest | None = None
    autoscaler: Manifest | None = None

    def __iter__(self) -> Iterator[Manifest]:
        return iter([one for one in (self.workload, self.service, self.budget, self.autoscaler) if one is not None])


def config_map(bundle: Bundle, namespace: str, owners: Sequence[Mapping[str, Any]] = ()) -> Manifest:
    """`owners`: the routes, each with apiVersion, kind, name and uid."""
    metadata = {
        **_metadata(bundle, namespace),
        "labels": {**set_labels(bundle), ROOT_LABEL: ROOT_VALUE},
        "annotations": {DIGEST_ANNOTATION: bundle.digest},
    }
    if owners:
        metadata["ownerReferences"] = [owner_reference(owner) for owner in owners]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "immutable": True,
        "data": dict(bundle.files),
    }


def owner_reference(owner: Mapping[str, Any]) -> Manifest:
    # Never in the way of the owner's deletion; to block it needs rights on the owner's finalizers, too.
    names = {name: owner[name] for name in ("apiVersion", "kind", "name", "uid")}
    return {**names, "controller": False, "blockOwnerDeletion": False}


def page_set(bundle: Bundle, namespace: str, workload: Workload, config_map_uid: str) -> PageSet:
    """Raises BadOption for a workload that cannot be."""
    workload.check()
    root = owner_reference({"apiVersion": "v1", "kind": "ConfigMap", "name": bundle.name, "uid": config_map_uid})
    metadata = {
        **_metadata(bundle, namespace),
        "labels": {**set_labels(bundle), UID_LABEL: config_map_uid},
        "ownerReferences": [root],
    }
    several = workload.least_replicas > 1
    return PageSet(
        workload=_WORKLOADS[workload.kind](bundle, metadata, workload, config_map_uid),
        service=_service(metadata, workload, pod_labels(bundle, config_map_uid)),
        budget=_budget(metadata, pod_labels(bundle, config_map_uid)) if several else None,
        autoscaler=_autoscaler(metadata, workload.autoscaling) if workload.autoscaling else None,
    )


def pod_to_try(bundle: Bundle, namespace: str, workload: Workload) -> Manifest:
    """For a dry run: admission looks at Pods, while a Deployment whose Pods are refused is accepted.

    Under a generated name, since the page set may be there already.
    """
    workload.check()
    template = pod_template(bundle, workload, "to-be-tried")
    metadata = {**template["metadata"], "generateName": f"{bundle.name}-", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _metadata(bundle: Bundle, namespace: str) -> Manifest:
    return {"name": bundle.name, "namespace": namespace}


def _deployment(bundle: Bundle, metadata: Manifest, workload: Workload, uid: str) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": workload.least_replicas,
            "revisionHistoryLimit": 1,
            "progressDeadlineSeconds": 120,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "selector": {"matchLabels": pod_labels(bundle, uid)},
            "template": pod_template(bundle, workload, uid),
        },
    }


def _pod(bundle: Bundle, metadata: Manifest, workload: Workload, uid: str) -> Manifest:
    template = pod_template(bundle, workload, uid)["metadata"]
    labels = {**template["labels"], **metadata["labels"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template, **metadata, "labels": labels},
        "spec": pod_spec(bundle, workload, uid),
    }


_WORKLOADS = {"deployment": _deployment, "pod": _pod}


def _service(metadata: Manifest, workload: Workload, selector: Mapping[str, str]) -> Manifest:
    grpc = {"name": "grpc", "port": H2C_PORT, "targetPort": H2C_PORT, "appProtocol": "kubernetes.io/h2c"}
    annotations = {"annotations": dict(workload.service_annotations)} if workload.service_annotations else {}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata, **annotations},
        "spec": {
            "type": workload.service_type,
            "selector": dict(selector),
            "ports": [{"name": "http", "port": 80, "targetPort": HTTP_PORT}, grpc],
        },
    }


def _budget(metadata: Manifest, selector: Mapping[str, str]) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"minAvailable": 1, "selector": {"matchLabels": dict(selector)}},
    }


def _autoscaler(metadata: Manifest, scaling: Autoscaling) -> Manifest:
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": scaling.cpu}}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"]},
            "minReplicas": scaling.least,
            "maxReplicas": scaling.most,
            "metrics": [{"type": "Resource", "resource": cpu}],
        },
    }
