# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hub in memory: its kinds, and clusters that answer or do not."""

from __future__ import annotations

from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs.managed_cluster import ARGUMENTS, JOB
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.fleet import (
    FleetOutcome,
    remove_clusters,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.options import (
    ClusterOptions,
    parse_clusters,
)
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, VERBS, FakeClock
from ansible_collections.sunset.kube.tests.unit.teardown.policy_fakes import BINDINGS, POLICIES
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SERVED, InMemoryCluster

RBAC = "rbac.authorization.k8s.io"


def _kind(group: str, version: str, kind: str, namespaced: bool = True) -> Resource:
    return Resource(group, version, kind, f"{kind.lower()}s", namespaced, kind.lower(), (), VERBS)


CLUSTERS = _kind(ocm.CLUSTERS[0], "v1", ocm.CLUSTERS[1], namespaced=False)
ADDONS = _kind(ocm.ADDONS[0], "v1beta1", ocm.ADDONS[1])
WORKS = _kind(ocm.WORKS[0], "v1", ocm.WORKS[1])
ROLE_BINDINGS = _kind(RBAC, "v1", "RoleBinding")
CLUSTER_ROLE_BINDINGS = _kind(RBAC, "v1", "ClusterRoleBinding", namespaced=False)
KLUSTERLETS = _kind(ocm.KLUSTERLETS[0], "v1", ocm.KLUSTERLETS[1], namespaced=False)
HOSTED = _kind("hypershift.openshift.io", "v1beta1", "HostedCluster")
DEFAULTS: dict[str, Any] = {name: entry.get("default") for name, entry in ARGUMENTS.items()}


def conditions(available: str | None = "True", accepted: str | None = "True") -> dict[str, Any]:
    said = {"ManagedClusterConditionAvailable": available, "HubAcceptedManagedCluster": accepted}
    return {"conditions": [{"type": kind, "status": status} for kind, status in said.items() if status]}


class Hub(InMemoryCluster):
    """Without controllers: nothing happens by itself."""

    def __init__(self, *more: Resource, clock: FakeClock | None = None) -> None:
        own = (CLUSTERS, ADDONS, WORKS, ROLE_BINDINGS)
        super().__init__(*SERVED, *own, POLICIES, BINDINGS, *more, clock=clock)

    def join(self, name: str, *finalizers: str, **status: str | None) -> None:
        said = conditions(**status)
        self.add(CLUSTERS, name, "", finalizers=list(finalizers), spec={"hubAcceptsClient": True}, status=said)
        self.add(NAMESPACES, name, "", labels={ocm.NAMESPACE_LABELS[0]: name})


def options_of(check_mode: bool = False, **params: Any) -> ClusterOptions:
    given = {**DEFAULTS, "freeze": False, **params}
    return parse_clusters(given, check_mode=check_mode, hashed=JOB.hashed(given))


class SpokeCluster(InMemoryCluster):
    """The cluster itself."""

    def __init__(self) -> None:
        super().__init__(*SERVED, KLUSTERLETS)


def removed(
    hub: Hub, *names: str, check_mode: bool = False, on: SpokeCluster | None = None, **params: Any
) -> FleetOutcome:
    """The whole use case, from a task's options to the outcome."""
    which: dict[str, Any] = {"names": list(names)} if names else {}
    options = options_of(check_mode, **{**which, **params})
    return remove_clusters(options, hub, hub.clock, StopSign(), lambda event: None, on)
