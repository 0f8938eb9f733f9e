# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster itself, seen with a kubeconfig of its own: its agent goes, and what is left is named.

Room: teardown. Only after the hub is clean: until then the agent has work to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...objects import Record, Resource, record_of, ref_to
from ...paths import value_at
from ...problems import Problem
from ...profiles import ocm
from ...well_known import NAMESPACES

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass
class Spoke:
    """How a cluster looks after its agent was removed."""

    klusterlets: int = 0
    leftovers: list[str] = field(default_factory=list)


def klusterlets_on(cluster: Cluster, name: str) -> list[tuple[Resource, Record]]:
    """The agents of this cluster. A hosting cluster runs others' as well; one without a name counts if it is alone."""
    resource = cluster.find_kind(*ocm.KLUSTERLETS).resource
    if resource is None:
        return []
    items = cluster.list_whole(resource)
    ours = [item for item in items if value_at(item, "spec.clusterName") == name]
    if not ours and len(items) == 1 and not value_at(items[0], "spec.clusterName"):
        ours = items
    return [(resource, record_of(item["metadata"])) for item in ours]


def leftovers_on(cluster: Cluster) -> list[str]:
    """What the agent should have taken with it. What cannot be seen is said to be so."""
    found = []
    cluster.forget_catalogue()
    for kind in (ocm.KLUSTERLETS, ocm.APPLIED_WORKS):
        finding = cluster.find_kind(*kind)
        resource = finding.resource
        if resource is None and finding.availability.value != "not installed":
            found.append(f"{kind[1]} objects could not be looked for: {finding.why}")
        try:
            records = cluster.list(resource).records if resource else []
        except Problem as problem:
            found.append(f"{kind[1]} objects could not be looked for: {problem.why}")
            continue
        found += [str(ref_to(resource, record)) for record in records if resource]
    for name in ocm.AGENT_NAMESPACES:
        try:
            record = cluster.read(NAMESPACES, "", name)
        except Problem as problem:
            found.append(f"Namespace {name} could not be looked for: {problem.why}")
            continue
        if record is not None:
            found.append(str(ref_to(NAMESPACES, record)) + (" (on its way out)" if record.terminating else ""))
    return found
