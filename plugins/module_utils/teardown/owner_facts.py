# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is needed to tell who stands behind a finalizer: workloads, Leases, rights, releases and webhooks of kinds.

Room: teardown. `fetch_owner_facts` looks, once for a run, with four lists; `Around` has what only an explanation asks
for. owners.py decides.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import Resource, parse_time
from ..paths import condition_of
from ..well_known import LEASES, WORKLOADS
from .looking_around import listed_or_said
from .permits import Account, Permits

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Release = tuple[str, str]  # namespace and name of a Helm release
_RELEASE = ("meta.helm.sh/release-namespace", "meta.helm.sh/release-name")


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
    namespace: str = field(default="", compare=False)  # where he lives or lived, if that is known
    starting: bool = field(default=False, compare=False)  # he wants to run, and may do so in a moment
    unseen: bool = field(default=False, compare=False)  # nobody fits, but not everybody could be looked at


@dataclass(frozen=True)
class Workload:
    """A Deployment, StatefulSet or DaemonSet that may be a controller."""

    kind: str
    namespace: str
    name: str
    wanted: int
    available: int
    names: frozenset[str]  # its own, its containers', its images' and its app labels'
    app: str = ""  # what it says to be: app.kubernetes.io/name
    images: frozenset[str] = frozenset()
    account: Account = field(default=("", ""), compare=False)
    release: Release | None = field(default=None, compare=False)
    # Seconds for which it has been as it is, at least; None where nothing tells.
    down_for: float | None = field(default=None, compare=False)

    @property
    def may_be_starting(self) -> bool:
        return not self.available and self.wanted > 0 and (self.down_for is None or self.down_for < STARTING)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


# Seconds in which a controller that wants to run should have come up.
STARTING = 60.0


@dataclass(frozen=True)
class Lease:
    namespace: str
    name: str
    holder: str
    age: float
    lasts: float
    writers: frozenset[str] = field(default=frozenset(), compare=False)  # field managers, lower case

    @property
    def fresh(self) -> bool:
        """Its holder runs: the term of the Lease has not ended."""
        return bool(self.holder) and self.age <= self.lasts

    @property
    def expired(self) -> bool:
        """Its holder is gone. In between nothing can be told: a slow round, or clocks that differ."""
        return not self.holder or self.age > 2 * self.lasts

    @property
    def ago(self) -> str:
        return "long" if self.age == float("inf") else f"{self.age:.0f} s"

    def __str__(self) -> str:
        return f"Lease {self.namespace}/{self.name}"


@dataclass
class Around:
    """What is known of kinds, by their qualified names."""

    permits: Permits = field(default_factory=Permits)
    releases: Mapping[str, Release] = field(default_factory=dict)  # whose Helm release the definition is from
    hooks: Mapping[str, str] = field(default_factory=dict)  # a webhook of that kind which answers, in words


@dataclass
class OwnerFacts:
    workloads: list[Workload] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    around: Around | None = None


def fetch_owner_facts(cluster: Cluster, places: Collection[str] = ()) -> OwnerFacts:
    """Four lists for the whole run. What may not be listed is remembered as unreadable.

    Then it is listed in these namespaces, if they are few: somebody who runs there is alive, but nobody is gone.
    """
    facts = OwnerFacts()
    few = sorted(places) if len(places) <= _FEW_PLACES else []

    def listed(resource: Resource) -> list[dict[str, Any]]:
        everywhere = listed_or_said(resource, cluster, facts.unreadable)
        if everywhere is not None:
            return everywhere
        return [item for place in few for item in listed_or_said(resource, cluster, [], place) or ()]

    for resource in WORKLOADS:
        items = listed(resource)
        now = cluster.server_time()  # after the answer, which has it
        facts.workloads.extend(_workload(resource.kind, item, now) for item in items)
    leases = listed(LEASES)
    now = cluster.server_time()
    facts.leases.extend(lease_of(item, now) for item in leases)
    return facts


_FEW_PLACES = 10


def release_of(item: Mapping[str, Any]) -> Release | None:
    """The Helm release an object says to be from."""
    annotations = (item.get("metadata") or {}).get("annotations") or {}
    namespace, name = (str(annotations.get(key) or "") for key in _RELEASE)
    return (namespace, name) if name else None


def _workload(kind: str, item: dict[str, Any], now: float) -> Workload:
    meta, spec, status = item.get("metadata") or {}, item.get("spec") or {}, item.get("status") or {}
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    containers = pod.get("containers") or ()
    labels = {**(meta.get("labels") or {}), **((template.get("metadata") or {}).get("labels") or {})}
    names = {meta.get("name") or ""}
    names.update(container.get("name") or "" for container in containers)
    images = {_image_name(container.get("image") or "") for container in containers} - {""}
    names.update(images)
    # Not app.kubernetes.io/instance: siblings of one release share it, and a webhook is not the controller.
    names.update(labels.get(key) or "" for key in ("app", "app.kubernetes.io/name"))
    wanted = status.get("desiredNumberScheduled") if kind == "DaemonSet" else spec.get("replicas", 1)
    available = status.get("numberAvailable") if kind == "DaemonSet" else status.get("availableReplicas")
    return Workload(
        kind,
        meta.get("namespace") or "",
        meta.get("name") or "",
        int(wanted or 0),
        int(available or 0),
        frozenset(name.lower() for name in names if name),
        labels.get("app.kubernetes.io/name") or "",
        frozenset(images),
        (meta.get("namespace") or "", pod.get("serviceAccountName") or "default"),
        release_of(item),
        _down_for(item, now),
    )


def _down_for(item: Mapping[str, Any], now: float) -> float | None:
    """By its own word; StatefulSets and DaemonSets say nothing, but whoever wrote to them last left the time."""
    condition = condition_of(item, "Available") or {}
    since = condition.get("lastTransitionTime") if condition.get("status") == "False" else None
    written = [one["time"] for one in (item.get("metadata") or {}).get("managedFields") or () if one.get("time")]
    times = [since] if since else written
    return now - max(map(parse_time, times)) if times else None


def _image_name(image: str) -> str:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0]


def lease_of(item: Mapping[str, Any], now: float) -> Lease:
    meta, spec = item.get("metadata") or {}, item.get("spec") or {}
    renewed = spec.get("renewTime")
    return Lease(
        meta.get("namespace") or "",
        meta.get("name") or "",
        spec.get("holderIdentity") or "",
        now - parse_time(renewed) if renewed else float("inf"),
        float(spec.get("leaseDurationSeconds") or 15),
        frozenset(str(one.get("manager") or "").lower() for one in meta.get("managedFields") or ()),
    )
