# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who stands behind a finalizer, and is he alive? From Leases, workloads and field managers.

Room: teardown. `fetch_owner_facts` looks, once for a run; `judge_owner` decides, and looks at nothing else. All of it
is a hint but one thing: a fresh Lease or a running workload that fits proves life. Not finding an owner proves nothing.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import Resource, parse_time
from ..problems import Problem
from ..well_known import LEASES, WORKLOADS

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


class Life(enum.Enum):
    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Owner:
    """The likely controller behind a finalizer. `who` is empty when nobody fits."""

    life: Life
    who: str
    why: str


@dataclass(frozen=True)
class Workload:
    """A Deployment, StatefulSet or DaemonSet that may be a controller."""

    kind: str
    namespace: str
    name: str
    wanted: int
    available: int
    names: frozenset[str]  # its own, its containers', its images' and its app labels'

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Lease:
    namespace: str
    name: str
    holder: str
    age: float
    lasts: float

    @property
    def fresh(self) -> bool:
        # Leaders renew well within the duration; twice of it allows for a slow round.
        return bool(self.holder) and self.age <= 2 * self.lasts

    def __str__(self) -> str:
        return f"Lease {self.namespace}/{self.name}"


@dataclass
class OwnerFacts:
    workloads: list[Workload] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


# Managers that people and generic tools use: they say nothing about a controller.
NOBODY = re.compile(
    r"^(kubectl.*|helm|kustomize.*|argocd.*|sunset\.kube|python.*|okhttp|unknown|curl|)$", re.IGNORECASE
)


def fetch_owner_facts(cluster: Cluster) -> OwnerFacts:
    """Four lists for the whole run. What may not be listed is remembered as unreadable."""
    facts = OwnerFacts()
    for resource in WORKLOADS:
        facts.workloads.extend(_workload(resource.kind, item) for item in _listed(cluster, resource, facts))
    now = cluster.server_time()
    facts.leases.extend(_lease(item, now) for item in _listed(cluster, LEASES, facts))
    return facts


def _listed(cluster: Cluster, resource: Resource, facts: OwnerFacts) -> Iterable[dict[str, Any]]:
    try:
        return cluster.list_whole(resource)
    except Problem as problem:
        facts.unreadable.append(f"{resource.kind}s: {problem.why}")
        return []


def _workload(kind: str, item: dict[str, Any]) -> Workload:
    meta, spec, status = item.get("metadata") or {}, item.get("spec") or {}, item.get("status") or {}
    template = spec.get("template") or {}
    containers = (template.get("spec") or {}).get("containers") or ()
    labels = {**(meta.get("labels") or {}), **((template.get("metadata") or {}).get("labels") or {})}
    names = {meta.get("name") or ""}
    names.update(container.get("name") or "" for container in containers)
    names.update(_image_name(container.get("image") or "") for container in containers)
    names.update(labels.get(key) or "" for key in ("app", "app.kubernetes.io/name", "app.kubernetes.io/instance"))
    wanted = status.get("desiredNumberScheduled") if kind == "DaemonSet" else spec.get("replicas", 1)
    available = status.get("numberAvailable") if kind == "DaemonSet" else status.get("availableReplicas")
    return Workload(
        kind,
        meta.get("namespace") or "",
        meta.get("name") or "",
        int(wanted or 0),
        int(available or 0),
        frozenset(name.lower() for name in names if name),
    )


def _image_name(image: str) -> str:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def _lease(item: dict[str, Any], now: float) -> Lease:
    meta, spec = item.get("metadata") or {}, item.get("spec") or {}
    renewed = spec.get("renewTime")
    return Lease(
        meta.get("namespace") or "",
        meta.get("name") or "",
        spec.get("holderIdentity") or "",
        now - parse_time(renewed) if renewed else float("inf"),
        float(spec.get("leaseDurationSeconds") or 15),
    )


def judge_owner(finalizer: str, managers: Sequence[str], facts: OwnerFacts) -> Owner:
    """The likely owner of a finalizer that these field managers set, and whether he lives."""
    known = {manager.lower() for manager in managers if not NOBODY.match(manager)} - _TOO_COMMON
    hints = known | _words(finalizer)
    workloads = [workload for workload in facts.workloads if hints & workload.names]
    leases = [lease for lease in facts.leases if _is_lease_of(lease, finalizer, hints, workloads)]
    for lease in leases:
        if lease.fresh:
            return Owner(Life.ALIVE, str(lease), f"{lease} was renewed {lease.age:.0f} s ago by {lease.holder}")
    for workload in workloads:
        if workload.available:
            return Owner(
                Life.ALIVE,
                str(workload),
                f"{workload} has {workload.available} of {workload.wanted} replicas available",
            )
    if workloads:
        return Owner(Life.GONE, str(workloads[0]), f"{workloads[0]} has no available replica")
    if leases and not facts.unreadable:
        return Owner(Life.GONE, str(leases[0]), f"{leases[0]} was last renewed {_ago(leases[0].age)} ago")
    if facts.unreadable:
        return Owner(Life.UNKNOWN, "", "could not look: " + "; ".join(facts.unreadable))
    who = " or ".join(sorted(known))
    return Owner(Life.UNKNOWN, who, f"no workload or Lease fits {who or finalizer}")


def _words(finalizer: str) -> set[str]:
    """Names a controller of this finalizer would likely have: `shop.example.com/cleanup` → shop-operator …

    Not plain `shop`: that is as likely the application itself.
    """
    domain = finalizer.partition("/")[0].lower()
    first = domain.partition(".")[0]
    if "." not in domain or first in _TOO_COMMON:
        return set()
    return {f"{first}{tail}" for tail in ("-operator", "-controller", "-controller-manager", "-manager")}


_TOO_COMMON = frozenset(
    {"finalizer", "finalizers", "k8s", "kubernetes", "apps", "app", "controller", "operator", "manager", "main", "www"}
)


def _is_lease_of(lease: Lease, finalizer: str, hints: set[str], workloads: Sequence[Workload]) -> bool:
    domain = finalizer.partition("/")[0].lower()
    name = lease.name.lower()
    # Frameworks name leader leases "<id>.<domain>"; holders begin with the pod's, and so with the workload's name.
    named_after_domain = "." in domain and (name == domain or name.endswith("." + domain))
    held_by = any(
        lease.namespace == workload.namespace and lease.holder.startswith(workload.name + "-") for workload in workloads
    )
    return name in hints or named_after_domain or held_by


def _ago(seconds: float) -> str:
    return "long" if seconds == float("inf") else f"{seconds:.0f} s"
