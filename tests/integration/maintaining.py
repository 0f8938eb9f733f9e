# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of maintenance share: routes of every kind, and a way to run the module in one namespace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import maintenance, maintenance_info
from integration.ranked import OnEvent
from integration.running import Result, run_job
from lab.node.images import NGINX_IMAGE
from lab.plane.api import Api
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

Body = dict[str, Any]
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/{}/ingresses"
# One Pod of the lab's own image is enough, and nobody waits for controllers that are not there.
QUICKLY: Mapping[str, Any] = {
    "workload": {"image": NGINX_IMAGE, "replicas": 1},
    "timeout": 90,
    "linger": 0,
    "reopen": {"endpoints": False},
}


class Maintenance:
    """Runs `maintenance` for the routes of one namespace."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.api: Api = plane.api
        self.namespace = namespace
        self.user = plane.user("maintainer", (MASTERS,))

    def __call__(
        self,
        state: str,
        *,
        check_mode: bool = False,
        user: User | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        params = {"targets": [{"namespace": self.namespace}], **QUICKLY, **options, "state": state}
        kubeconfig = (user or self.user).kubeconfig
        return run_job(maintenance.JOB, params, kubeconfig, check_mode=check_mode, on_event=on_event)

    def info(self, **options: Any) -> Result:
        params = {"targets": [{"namespace": self.namespace}], **options}
        return run_job(maintenance_info.JOB, params, self.user.kubeconfig)

    def run(self, kubeconfig: Path | None = None, **options: Any) -> Result:
        """The same with everything said: by another way to the server, with a stop sign, with ears."""
        how = {key: options.pop(key) for key in ("check_mode", "stop", "on_event") if key in options}
        params = {"targets": [{"namespace": self.namespace}], **QUICKLY, **options}
        return run_job(maintenance.JOB, params, kubeconfig or self.user.kubeconfig, **how)

    def live(self, thing: Mapping[str, Any]) -> Body:
        """An object as it is now."""
        return self.route(self.api.path_of(thing))

    def edit(self, thing: Mapping[str, Any], *operations: Mapping[str, Any]) -> Body:
        """Somebody else's JSON patch."""
        status, item = self.api.patch(self.api.path_of(thing), list(operations))
        assert status == 200, item
        found: Body = item
        return found

    def backups(self) -> dict[str, Body]:
        """Our backups, by the uid of their route."""
        path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        _status, listed = self.api.get(path, labelSelector="sunset.dev/maintenance=backup")
        return {item["metadata"]["name"].removeprefix("maintenance-backup-"): item for item in listed["items"]}

    def route(self, path: str) -> Body:
        status, item = self.api.get(path)
        assert status == 200, item
        found: Body = item
        return found

    def pages(self) -> list[Body]:
        """The ConfigMaps of all pages in the namespace."""
        path = f"/api/v1/namespaces/{self.namespace}/configmaps"
        return list(self.api.get(path, labelSelector="sunset.dev/maintenance=page")[1]["items"])

    def ours(self) -> list[str]:
        """Everything of ours in the namespace, as kind/name."""
        found = []
        for root, plural in (
            ("/api/v1", "configmaps"),
            ("/api/v1", "services"),
            ("/apis/apps/v1", "deployments"),
            ("/apis/policy/v1", "poddisruptionbudgets"),
            ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
            ("/apis/batch/v1", "cronjobs"),
        ):
            path = f"{root}/namespaces/{self.namespace}/{plural}"
            _status, listed = self.api.get(path, labelSelector="app.kubernetes.io/managed-by=sunset.kube")
            found += [f"{plural}/{item['metadata']['name']}" for item in listed["items"]]
        return sorted(found)


@pytest.fixture
def maintenance_here(plane: ControlPlane, namespace: str, route_kinds: None) -> Maintenance:
    """Where no page ever gets ready: for what is refused, and for what others have left."""
    return Maintenance(plane, namespace)


@pytest.fixture
def maintenance_on_node(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    """Where pages run."""
    return Maintenance(plane, node_namespace)


@contextlib.contextmanager
def admission(maintenance: Maintenance, expression: str, probe: Mapping[str, Any]) -> Iterator[None]:
    """A policy of this namespace: Ingresses that make the expression false cannot be changed. `probe` is one."""
    name, version = f"refuses-{maintenance.namespace}", "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["networking.k8s.io"],
        "apiVersions": ["*"],
        "resources": ["ingresses"],
        "operations": ["UPDATE"],
    }
    here = {"matchLabels": {"kubernetes.io/metadata.name": maintenance.namespace}}
    policy = {
        "apiVersion": version,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
            "validations": [{"expression": expression, "message": "this one stays as it is"}],
        },
    }
    binding = {
        "apiVersion": version,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    api = maintenance.api
    api.create(policy, binding)
    touched = {"metadata": {"annotations": {"probe": "1"}}}
    try:
        until(lambda: api.patch(api.path_of(probe), touched)[0] == 422, "the policy to be in force")
        yield
    finally:
        for part in (binding, policy):
            api.delete(api.path_of(part))
        # The server notices a moment later; a patch that changes nothing is asked about, too.
        until(lambda: api.patch(api.path_of(probe), {})[0] != 422, "the policy to be out of force")


def services_in(route: Mapping[str, Any]) -> set[str]:
    """Names of all Services that an Ingress, an IngressRoute or an HTTPRoute leads to."""
    spec = route["spec"]
    backends = [spec["defaultBackend"]] if spec.get("defaultBackend") else []
    for rule in spec.get("rules", ()):
        backends += [path["backend"] for path in (rule.get("http") or {}).get("paths", ())]
    named = [backend["service"] for backend in backends if "service" in backend]
    named += [one for rule in spec.get("rules", ()) for one in rule.get("backendRefs", ())]
    named += [one for entry in spec.get("routes", ()) for one in entry.get("services", ())]
    return {one["name"] for one in named}


def ingress(namespace: str, name: str = "web", host: str = "shop.example.com", service: str = "shop") -> Body:
    backend = {"service": {"name": service, "port": {"name": "http"}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"ingressClassName": "traefik", "rules": [{"host": host, "http": {"paths": paths}}]},
    }


def ingress_route(namespace: str, name: str = "web", host: str = "shop.example.com", service: str = "shop") -> Body:
    services = [{"name": service, "port": 80}]
    route = {"kind": "Rule", "match": f"Host(`{host}`)", "services": services}
    return {
        "apiVersion": "traefik.io/v1alpha1",
        "kind": "IngressRoute",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"entryPoints": ["web"], "routes": [route]},
    }


def http_route(namespace: str, name: str = "web", host: str = "shop.example.com", service: str = "shop") -> Body:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "parentRefs": [{"name": "gateway"}],
            "hostnames": [host],
            "rules": [{"backendRefs": [{"name": service, "port": 80}]}],
        },
    }


def owners(page: Mapping[str, Any]) -> list[str]:
    """Uids of the routes a page is kept for."""
    return sorted(owner["uid"] for owner in page["metadata"].get("ownerReferences") or ())


def shape(item: Mapping[str, Any]) -> Body:
    """What a route is to its users: everything but what the server counts."""
    metadata = item["metadata"]
    return {
        "spec": item["spec"],
        "annotations": metadata.get("annotations") or {},
        "labels": metadata.get("labels") or {},
    }
