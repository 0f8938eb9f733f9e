# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Open Cluster Management: names of its kinds, finalizers, labels and bindings on a hub, and what keeps a namespace.

Room: profiles (data).
"""

from __future__ import annotations

from dataclasses import dataclass

CLUSTERS = ("cluster.open-cluster-management.io", "ManagedCluster")
ADDONS = ("addon.open-cluster-management.io", "ManagedClusterAddOn")
WORKS = ("work.open-cluster-management.io", "ManifestWork")
ADDON_PLURAL, WORK_PLURAL = "managedclusteraddons", "manifestworks"
DEFAULT_CLEANUP = (f"{ADDONS[0]}/v1beta1/{ADDON_PLURAL}", f"{WORKS[0]}/v1/{WORK_PLURAL}")

# On a ManagedCluster: the two of the hub, and the two of the import controller that some distributions add.
CLUSTER_FINALIZERS = (
    "cluster.open-cluster-management.io/api-resource-cleanup",
    "cluster.open-cluster-management.io/resource-cleanup",
    "managedcluster-import-controller.open-cluster-management.io/cleanup",
    "managedcluster-import-controller.open-cluster-management.io/manifestwork-cleanup",
)
HUB_CLEANS_UP = "cluster.open-cluster-management.io/resource-cleanup"  # set by a hub that removes content by itself
# Of our own operator, on clusters that opted in: it holds them until we are done, and goes right before the end.
OPERATOR_FINALIZER = "sunset.dev/managed-cluster"
WORK_FINALIZER = "cluster.open-cluster-management.io/manifest-work-cleanup"  # on works and on the work binding
OWN_FINALIZERS = ("open-cluster-management.io/*", "*.open-cluster-management.io/*")

PRIORITY = "open-cluster-management.io/cleanup-priority"
LEAST, MOST = 0, 100

# A work that carries the agent itself, and the one with the agent's definitions: last, in this order.
KLUSTERLET_SUFFIXES = ("-klusterlet",)
DEFINITIONS_SUFFIXES = ("-klusterlet-crds",)
IMPORT_LABELS = ("import.open-cluster-management.io/klusterlet-works",)
# A cluster in hosted mode: its agent runs elsewhere, brought there by works in the hosting cluster's namespace.
HOSTED_LABEL = "import.open-cluster-management.io/hosted-cluster"
HOSTED_ORDER = ("-hosted-klusterlet", "-hosted-kubeconfig")  # after all others, in this order
ADDON_LABEL = "open-cluster-management.io/addon-name"
REPLICA_SET_LABEL = "work.open-cluster-management.io/manifestworkreplicaset"
HOOK_LABELS = ("addon.open-cluster-management.io/addon-pre-delete", "open-cluster-management.io/addon-pre-delete")
# An addon's last job: a work of this name that its controller makes, a finalizer until it is finished, a condition.
HOOK_WORK = "addon-{addon}-pre-delete"
HOOK_CONDITION = "HookManifestCompleted"
HOOK_FINALIZERS = tuple(
    f"{group}.open-cluster-management.io/{name}"
    for group in ("addon", "cluster")
    for name in ("addon-pre-delete", "hosting-addon-pre-delete")
)
ORPHAN_ADDON = "addon.open-cluster-management.io/deletion-orphan"
ORPHAN_WORK = {"spec": {"deleteOption": {"propagationPolicy": "Orphan"}}}

# On the cluster itself.
KLUSTERLETS = ("operator.open-cluster-management.io", "Klusterlet")
APPLIED_WORKS = ("work.open-cluster-management.io", "AppliedManifestWork")
AGENT_NAMESPACES = ("open-cluster-management-agent", "open-cluster-management-agent-addon")

CONTROLLERS = ("app=clustermanager-registration-controller", "app=cluster-manager-registration-controller")
EVICTION = "an agent that comes back removes what its works had brought, 60 minutes after they vanished"

_RBAC = "open-cluster-management:managedcluster:{name}"
ROLE_BINDINGS = (f"{_RBAC}:registration", f"{_RBAC}:work")
CLUSTER_RBAC = _RBAC  # a ClusterRole and a ClusterRoleBinding


@dataclass(frozen=True)
class Keeper:
    """A kind that keeps the cluster's namespace while one of it is there."""

    group: str
    kind: str
    why: str


NAMESPACE_LABELS = ("open-cluster-management.io/cluster-name", "cluster.open-cluster-management.io/managedCluster")
KEEP_LABELS = ("cluster.open-cluster-management.io/keep-upon-cluster-deletion",)
KEEP_ANNOTATIONS = ("open-cluster-management.io/retain-namespace",)
KEEPERS = (
    Keeper(*ADDONS, "an addon is still there"),
    Keeper(*WORKS, "a work is still there"),
    Keeper("hypershift.openshift.io", "HostedCluster", "it holds a hosted cluster"),
    Keeper("hive.openshift.io", "ClusterDeployment", "it holds a provisioned cluster"),
    Keeper("agent-install.openshift.io", "InfraEnv", "it holds an infrastructure environment"),
    Keeper("cluster.x-k8s.io", "Cluster", "it holds a Cluster API cluster"),
    Keeper("", "Pod", "pods run in it"),
)
