# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What gives a cluster's agent its rights on the hub.

Room: teardown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...objects import Record, Resource
from ...profiles import ocm

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_RBAC = "rbac.authorization.k8s.io"
ROLE_BINDINGS = Resource(_RBAC, "v1", "RoleBinding", "rolebindings", namespaced=True)
CLUSTER_RBAC = (
    Resource(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Resource(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
)


def bindings_of(name: str, cluster: Cluster) -> list[tuple[Resource, Record]]:
    """What gives a cluster's agent its rights on the hub, by the names the hub uses."""
    wanted = [(ROLE_BINDINGS, name, text.format(name=name)) for text in ocm.ROLE_BINDINGS]
    wanted += [(resource, "", ocm.CLUSTER_RBAC.format(name=name)) for resource in CLUSTER_RBAC]
    return [
        (resource, record)
        for resource, namespace, place in wanted
        if (record := cluster.read(resource, namespace, place)) is not None
    ]
