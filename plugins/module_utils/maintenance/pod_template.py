# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pods that serve a page: as little as possible is allowed to them, and none is stopped while it is still asked.

Room: maintenance (pure). Fits the PodSecurity level "restricted" and OpenShift's restricted-v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .pages.bundle import Bundle
from .pages.source import FOLDER, H2C_PORT, HEALTH_PATH, HTTP_PORT, SCRATCH, STOPPING_PATH, STOPPING_PORT
from .workload import Workload

PAGE_LABEL = "sunset.dev/page-set"
UID_LABEL = "sunset.dev/page-set-uid"
# Not app.kubernetes.io/instance: GitOps tools take what carries their mark for their own, and prune it.
_OUR_LABELS = {"app.kubernetes.io/name": "maintenance-page", "app.kubernetes.io/managed-by": "sunset.kube"}
_SPREAD_OVER = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
_PAGE_VOLUME, _SCRATCH_VOLUME = "page", "scratch"
_GRACE = 30  # seconds: the slow answer, then ten for what is still under way


def set_labels(bundle: Bundle) -> dict[str, str]:
    """On every object of the set."""
    return {**_OUR_LABELS, PAGE_LABEL: bundle.id}


def pod_labels(bundle: Bundle, config_map_uid: str) -> dict[str, str]:
    """On the pods, and in every selector."""
    return {**set_labels(bundle), UID_LABEL: config_map_uid}


def pod_template(bundle: Bundle, workload: Workload, config_map_uid: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"labels": {**workload.labels, **pod_labels(bundle, config_map_uid)}}
    if workload.annotations:
        metadata["annotations"] = dict(workload.annotations)
    return {"metadata": metadata, "spec": pod_spec(bundle, workload, config_map_uid)}


def pod_spec(bundle: Bundle, workload: Workload, config_map_uid: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE,
        "nodeSelector": {"kubernetes.io/os": "linux", **workload.node_selector},
        "securityContext": _pod_security(workload),
        "topologySpreadConstraints": [_spread(topology, bundle, config_map_uid) for topology in _SPREAD_OVER],
        "containers": [_container(bundle, workload)],
        "volumes": [
            {"name": _PAGE_VOLUME, "configMap": {"name": bundle.name}},
            {"name": _SCRATCH_VOLUME, "emptyDir": {"sizeLimit": "16Mi"}},
        ],
    }
    if workload.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in workload.pull_secrets]
    if workload.tolerations:
        spec["tolerations"] = [dict(one) for one in workload.tolerations]
    return spec


def _pod_security(workload: Workload) -> Mapping[str, Any]:
    # No user of our own by default: OpenShift gives each namespace a range and refuses others.
    user = {} if workload.run_as_user is None else {"runAsUser": workload.run_as_user}
    return {"runAsNonRoot": True, **user, "seccompProfile": {"type": "RuntimeDefault"}}


def _spread(topology: str, bundle: Bundle, config_map_uid: str) -> Mapping[str, Any]:
    return {
        "topologyKey": topology,
        "maxSkew": 1,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": pod_labels(bundle, config_map_uid)},
    }


def _container(bundle: Bundle, workload: Workload) -> Mapping[str, Any]:
    health = {"httpGet": {"path": HEALTH_PATH, "port": HTTP_PORT}}
    # A slow answer of nginx itself: works with every image and every version, where "sleep" needs a new kubelet or a
    # program in the image. When it ends, no proxy sends anything here any more.
    stopping = {"httpGet": {"path": STOPPING_PATH, "port": STOPPING_PORT}}
    return {
        "name": "page",
        "image": bundle.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["nginx"],  # the image's own entry point would want to write to its root
        "args": ["-c", f"{FOLDER}/nginx.conf"],
        "ports": [{"name": "http", "containerPort": HTTP_PORT}, {"name": "grpc", "containerPort": H2C_PORT}],
        "readinessProbe": {**health, "periodSeconds": 2, "timeoutSeconds": 2, "failureThreshold": 2},
        "livenessProbe": {**health, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3},
        "lifecycle": {"preStop": stopping},
        "resources": workload.chosen_resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": _PAGE_VOLUME, "mountPath": FOLDER, "readOnly": True},
            {"name": _SCRATCH_VOLUME, "mountPath": SCRATCH},
        ],
    }
