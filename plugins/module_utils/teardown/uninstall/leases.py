# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Leader Leases: nobody's record names them, only their holder tells whose they are.

Room: teardown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...paths import value_at
from ...problems import Problem
from ...well_known import LEASES
from ..members.looking import Looker, Member
from ..plan import Ground

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# Letters that Kubernetes makes names of: without vowels, so that hardly any word of a person's is taken for one.
_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"
_ONE_WORD = rf"-{_RANDOM}{{5}}(?![a-z0-9-])"
# What a pod's name has behind that of its workload. Some programs put more behind the pod's name, after "_" or "-".
_BEHIND = {
    "Deployment": rf"-{_RANDOM}{{6,10}}-?{_RANDOM}{{5}}(?![a-z0-9])",  # a long name leaves no room for the second "-"
    "ReplicaSet": _ONE_WORD,
    "DaemonSet": _ONE_WORD,
    "StatefulSet": r"-[0-9]+(?![a-z0-9-])",
}


class Workload(NamedTuple):
    kind: str
    namespace: str
    name: str

    def has_pod(self, holder: str) -> bool:
        """Whether a holder is called after a pod of it. One of shop-billing is none of shop."""
        behind = holder.removeprefix(self.name)
        return behind != holder and re.match(_BEHIND[self.kind], behind) is not None


def leases_of(ground: Ground, looker: Looker, cluster: Cluster) -> Iterator[Member]:
    """Leader Leases that the application's own workloads hold or held, also those that are gone already."""
    workloads = set(_workloads_of(ground))
    for namespace in sorted({one.namespace for one in workloads}):
        here = [one for one in workloads if one.namespace == namespace]
        held = _held_by(here, namespace, looker, cluster)
        for record in looker.everything(LEASES, namespace) if held else ():
            if record.uid in held:
                yield Member(LEASES, record, "held by a workload of it", marked=False)


def _workloads_of(ground: Ground) -> Iterator[Workload]:
    for one in ground.members:
        if one.resource.group == "apps" and one.resource.kind in _BEHIND:
            yield Workload(one.resource.kind, one.record.namespace, one.record.name)
    for claim in ground.absent:
        if claim.group == "apps" and claim.kind in _BEHIND:
            yield Workload(claim.kind, claim.namespace, claim.name)


def _held_by(workloads: list[Workload], namespace: str, looker: Looker, cluster: Cluster) -> set[str]:
    """uids of Leases. Whoever may not list them has none in his plan, and is told so."""
    try:
        leases = cluster.list_whole(LEASES, namespace)
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        looker.warnings.append(f"leader Leases in {namespace} stay: they cannot be looked at ({problem.why})")
        return set()
    holders = {item["metadata"]["uid"]: str(value_at(item, "spec.holderIdentity") or "") for item in leases}
    return {uid for uid, holder in holders.items() if any(one.has_pod(holder) for one in workloads)}
