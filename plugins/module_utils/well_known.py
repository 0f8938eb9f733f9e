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
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases", namespaced=True)
WORKLOADS = tuple(
    Resource("apps", "v1", kind, plural, namespaced=True)
    for kind, plural in (("Deployment", "deployments"), ("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets"))
)
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
