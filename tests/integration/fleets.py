# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters on a hub: their objects, their agents, and the module that takes them off."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs import managed_cluster
from integration.products import FakeController
from integration.ranked import OnEvent
from integration.running import Result, run_job
from integration.stage import Body, Stage, body
from lab.controllers import hub
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until

CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
WORK_FINALIZER = "cluster.open-cluster-management.io/manifest-work-cleanup"
API_CLEANUP = "cluster.open-cluster-management.io/api-resource-cleanup"
HUB_CLEANUP = "cluster.open-cluster-management.io/resource-cleanup"
PRIORITY = "open-cluster-management.io/cleanup-priority"
CLUSTER_NAME = "open-cluster-management.io/cluster-name"


@pytest.fixture(scope="session")
def hub_kinds(plane: ControlPlane) -> None:
    hub.install(plane)


@pytest.fixture
def living_hub(plane: ControlPlane, hub_kinds: None) -> Iterator[None]:
    with hub.controllers(plane):
        yield


class Detacher:
    """Runs `managed_cluster`, by default as somebody who may do everything."""

    def __init__(self, plane: ControlPlane) -> None:
        self.user = plane.user("detacher", (MASTERS,))

    def __call__(
        self,
        *names: str,
        check_mode: bool = False,
        user: User | None = None,
        kubeconfig: Any = None,
        stop: StopSign | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        which: dict[str, Any] = {"name": names[0]} if len(names) == 1 else {"names": list(names)} if names else {}
        params = {**which, "timeout": 60, "force_after": 3, **options}
        where = kubeconfig or (user or self.user).kubeconfig
        return run_job(managed_cluster.JOB, params, where, check_mode=check_mode, stop=stop, on_event=on_event)


@pytest.fixture
def detach(plane: ControlPlane, hub_kinds: None) -> Detacher:
    return Detacher(plane)


# -- objects -----------------------------------------------------------------------------------------------------------


def managed_cluster_body(name: str, *finalizers: str, accepted: bool = True) -> Body:
    spec = {"hubAcceptsClient": accepted}
    return body("cluster.open-cluster-management.io/v1", "ManagedCluster", name, "", *finalizers, spec=spec)


def addon(name: str, cluster: str, *finalizers: str) -> Body:
    return body("addon.open-cluster-management.io/v1alpha1", "ManagedClusterAddOn", name, cluster, *finalizers, spec={})


def work(
    name: str, cluster: str, *finalizers: str, priority: str | None = None, labels: Mapping[str, str] | None = None
) -> Body:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
    spec = {"workload": {"manifests": [manifest]}}
    made = body(
        "work.open-cluster-management.io/v1", "ManifestWork", name, cluster, *finalizers, labels=labels, spec=spec
    )
    if priority is not None:
        made["metadata"]["annotations"] = {PRIORITY: priority}
    return made


def report(stage: Stage, name: str, status: str = "True") -> None:
    """What the agent says about its cluster."""
    moment = "2026-01-01T00:00:00Z"
    condition = {"type": "ManagedClusterConditionAvailable", "status": status, "reason": "Lab", "message": "lab"}
    accepted = {"type": "HubAcceptedManagedCluster", "status": "True", "reason": "Lab", "message": "lab"}
    conditions = [{**one, "lastTransitionTime": moment} for one in (condition, accepted)]
    answer = stage.api.patch(f"{CLUSTERS}/{name}/status", {"status": {"conditions": conditions}})
    assert answer[0] == 200, answer


def joined(stage: Stage, name: str) -> None:
    """A namespace, as a hub makes one when it accepts a cluster."""
    labels = {CLUSTER_NAME: name}
    stage.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})


def member(
    stage: Stage,
    *finalizers: str,
    available: str = "True",
    accepted: bool = True,
    labels: Mapping[str, str] | None = None,
) -> str:
    """A cluster that has joined, under a name of its own."""
    name = f"spoke-{secrets.token_hex(4)}"
    joined(stage, name)
    stage.afterwards(lambda: stage.api.delete(f"/api/v1/namespaces/{name}"))
    one = managed_cluster_body(name, *finalizers, accepted=accepted)
    one["metadata"]["labels"] = dict(labels or {})
    stage.put(one)
    report(stage, name, available)
    return name


def is_gone(stage: Stage, name: str) -> bool:
    return stage.api.get(f"{CLUSTERS}/{name}")[0] == 404


def is_untouched(stage: Stage, name: str) -> bool:
    """It is there, and nobody has asked to delete it."""
    status, item = stage.api.get(f"{CLUSTERS}/{name}")
    return status == 200 and "deletionTimestamp" not in item["metadata"]


def has_namespace(stage: Stage, name: str) -> bool:
    status, item = stage.api.get(f"/api/v1/namespaces/{name}")
    return status == 200 and "deletionTimestamp" not in item["metadata"]


def freezes(stage: Stage) -> list[str]:
    """Policies and bindings of ours that are still there."""
    group = "/apis/admissionregistration.k8s.io/v1"
    lists = [f"{group}/validatingadmissionpolicies", f"{group}/validatingadmissionpolicybindings"]
    items = [item for path in lists for item in stage.api.get(path)[1]["items"]]
    return [item["metadata"]["name"] for item in items if "sunset.dev/freeze" in item["metadata"].get("labels", {})]


def unguard(stage: Stage) -> None:
    """Whatever guards the hub goes, bindings first."""
    for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
        path = f"/apis/admissionregistration.k8s.io/v1/{plural}"
        for item in stage.api.get(path)[1]["items"]:
            if "sunset.dev/guard" in item["metadata"].get("labels", {}):
                stage.api.delete(f"{path}/{item['metadata']['name']}")


def work_binding(cluster: str, *finalizers: str) -> Body:
    to = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    name = f"open-cluster-management:managedcluster:{cluster}:work"
    return body("rbac.authorization.k8s.io/v1", "RoleBinding", name, cluster, *finalizers, roleRef=to, subjects=[])


def row_of(result: Result, name: str) -> dict[str, Any]:
    (row,) = [row for row in result["clusters"] if row["name"] == name]
    found: dict[str, Any] = row
    return found


def until_accepted(stage: Stage, name: str) -> None:
    def done() -> bool:
        there = stage.api.get(f"/api/v1/namespaces/{name}")[0] == 200
        return there and len(stage.api.get(f"{CLUSTERS}/{name}")[1]["metadata"].get("finalizers") or ()) == 2

    until(done, f"the hub to accept {name}")


@contextlib.contextmanager
def agent(stage: Stage, *clusters: str, **modes: Any) -> Iterator[FakeController]:
    """The agents of these clusters: they let a deleted work go when they have removed its content."""
    paths = [f"/apis/work.open-cluster-management.io/v1/namespaces/{name}/manifestworks" for name in clusters]
    with FakeController(stage.api, paths, WORK_FINALIZER, **modes) as running:
        yield running
