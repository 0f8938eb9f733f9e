# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A CronJob that ends a window by itself, whoever is asleep by then. Only manifests.

Room: maintenance (pure). It belongs to the page and goes with it. It sweeps instead of disabling: only what is over is
taken away, so that one that comes too early or twice, after a window was extended, does no harm.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

from .options import EndJob, MaintenanceOptions
from .page_set import Manifest, owner_reference
from .pages.bundle import Bundle
from .pod_template import UID_LABEL, set_labels

_SCRATCH = "/tmp"  # noqa: S108  # in the container, where nothing else can be written to
_TRIES = 6


def end_jobs(options: MaintenanceOptions, bundle: Bundle, namespace: str, config_map_uid: str) -> list[Manifest]:
    """What ends the window in this namespace; nothing where nobody asked for it."""
    if options.job is None or options.ends_at is None:
        return []
    root = owner_reference({"apiVersion": "v1", "kind": "ConfigMap", "name": bundle.name, "uid": config_map_uid})
    metadata = {
        "name": bundle.name,
        "namespace": namespace,
        "labels": {**set_labels(bundle), UID_LABEL: config_map_uid},
        "ownerReferences": [root],
    }
    spec = {
        "schedule": schedule_at(options.ends_at),
        "timeZone": "Etc/UTC",
        "concurrencyPolicy": "Forbid",
        # Controllers that were away at that minute make up for it.
        "startingDeadlineSeconds": 86400,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "suspend": False,
        "jobTemplate": {
            "spec": {
                "backoffLimit": _TRIES,
                "ttlSecondsAfterFinished": 3600,
                "template": {
                    "metadata": {"labels": _pod_labels(bundle)},
                    "spec": _pod(options, options.job, namespace),
                },
            }
        },
    }
    return [{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}]


def end_pods_to_try(options: MaintenanceOptions, bundle: Bundle, namespace: str) -> list[Manifest]:
    """For a dry run: admission finds out about Pods and their ServiceAccount, not about a CronJob."""
    if options.job is None or options.ends_at is None:
        return []
    metadata = {"generateName": f"{bundle.name}-end-", "namespace": namespace, "labels": _pod_labels(bundle)}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod(options, options.job, namespace)}]


def schedule_at(end: float) -> str:
    """The first whole minute that is not before the end, in UTC."""
    minute = datetime.datetime.fromtimestamp(math.ceil(end / 60) * 60, tz=datetime.timezone.utc)
    return f"{minute.minute} {minute.hour} {minute.day} {minute.month} *"


def command_for(options: MaintenanceOptions, namespace: str) -> list[str]:
    wanted: dict[str, Any] = {"state": "swept", "namespace": namespace, "linger": int(options.linger)}
    if not options.reopen_endpoints:
        wanted["reopen_endpoints"] = False
    return ["ansible-playbook", "sunset.kube.maintenance", "--extra-vars", json.dumps(wanted, sort_keys=True)]


def _pod_labels(bundle: Bundle) -> dict[str, str]:
    # Not those of the page's own pods: its Service would take them for servers of the page.
    return {**set_labels(bundle), "app.kubernetes.io/component": "end-of-window"}


def _pod(options: MaintenanceOptions, job: EndJob, namespace: str) -> Manifest:
    places = {"HOME": _SCRATCH, "ANSIBLE_HOME": f"{_SCRATCH}/ansible", "ANSIBLE_REMOTE_TEMP": f"{_SCRATCH}/remote"}
    settings = {**places, "K8S_AUTH_IN_CLUSTER": "true", "ANSIBLE_NOCOLOR": "1"}
    container: Manifest = {
        "name": "end",
        "image": job.image,
        "imagePullPolicy": "IfNotPresent",
        "command": command_for(options, namespace),
        "env": [{"name": name, "value": value} for name, value in settings.items()],
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "scratch", "mountPath": _SCRATCH}],
    }
    spec: Manifest = {
        "restartPolicy": "Never",
        "serviceAccountName": job.service_account,
        "enableServiceLinks": False,
        "nodeSelector": {"kubernetes.io/os": "linux", **options.workload.node_selector},
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}}],
    }
    if options.workload.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in options.workload.pull_secrets]
    if options.workload.tolerations:
        spec["tolerations"] = [dict(one) for one in options.workload.tolerations]
    return spec
