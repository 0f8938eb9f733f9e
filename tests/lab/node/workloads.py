# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications for the lab's node: the objects of one, and what a test wants to know of it."""

from __future__ import annotations

from typing import Any

from lab.node.images import APP_IMAGE
from lab.plane.api import Api
from lab.waiting import until

PORT = 8080


def app(namespace: str, name: str, *, image: str = APP_IMAGE, replicas: int = 1) -> list[dict[str, Any]]:
    """A Deployment and its Service, port 80. The app image answers `app NAME`; `?wait=300ms` makes it wait first."""
    metadata, labels = {"name": name, "namespace": namespace}, {"app": name}
    container = {
        "name": "app",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "NAME", "value": name}],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/", "port": PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    pod = {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 5,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 101,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    ports = [{"name": "http", "port": 80, "targetPort": PORT}]
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels, "ports": ports}},
    ]


def start_app(api: Api, namespace: str, name: str, *, image: str = APP_IMAGE, replicas: int = 1) -> None:
    """Create an application and wait until it is available and its Service has an address for each pod."""
    api.create(*app(namespace, name, image=image, replicas=replicas))

    def up() -> bool:
        _status, deployment = api.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
        available = deployment["status"].get("availableReplicas") == replicas
        return available and len(ready_addresses(api, namespace, name)) == replicas

    until(up, f"{replicas} available pods of {namespace}/{name}")


def ready_addresses(api: Api, namespace: str, service: str) -> list[str]:
    """The addresses of a Service's ready pods."""
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    _status, slices = api.get(path, labelSelector=f"kubernetes.io/service-name={service}")
    return [
        address
        for one in slices.get("items", ())
        for endpoint in one.get("endpoints") or ()
        if endpoint.get("conditions", {}).get("ready")
        for address in endpoint["addresses"]
    ]
