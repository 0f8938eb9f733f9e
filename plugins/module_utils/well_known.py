# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds that every cluster serves, and that we know by heart.

Shared by every room and private to the collection.
"""

from __future__ import annotations

from .objects import Resource

CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps", namespaced=True)
SERVICES = Resource("", "v1", "Service", "services", namespaced=True)
SECRETS = Resource("", "v1", "Secret", "secrets", namespaced=True)
PERSISTENT_VOLUME_CLAIMS = Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced=True)
PERSISTENT_VOLUMES = Resource("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
BUDGETS = Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", namespaced=True)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
PODS = Resource("", "v1", "Pod", "pods", namespaced=True)
ENDPOINT_SLICES = Resource("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", namespaced=True)
SERVICE_NAME = "kubernetes.io/service-name"  # a label of EndpointSlices
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases", namespaced=True)
WORKLOADS = tuple(
    Resource("apps", "v1", kind, plural, namespaced=True)
    for kind, plural in (("Deployment", "deployments"), ("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets"))
)
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
API_SERVICES = Resource("apiregistration.k8s.io", "v1", "APIService", "apiservices", namespaced=False)
WEBHOOK_CONFIGURATIONS = tuple(
    Resource("admissionregistration.k8s.io", "v1", kind, plural, namespaced=False)
    for kind, plural in (
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    )
)
POLICIES, POLICY_BINDINGS = (
    Resource("admissionregistration.k8s.io", "v1", kind, plural, namespaced=False)
    for kind, plural in (
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    )
)
ROLES = (
    Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False),
    Resource("rbac.authorization.k8s.io", "v1", "Role", "roles", namespaced=True),
)
BINDINGS = (
    Resource("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Resource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", namespaced=True),
)
# On everything we make in a cluster ourselves, as a label.
MADE_BY_US = ("app.kubernetes.io/managed-by", "sunset.kube")
