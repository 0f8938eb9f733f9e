# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hub as we find it: its kinds, the clusters that are meant, and what each of them still holds.

Room: teardown.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import ObjectRef, Record, Resource, record_of, ref_to
from ...paths import condition_of, value_at
from ...problems import CannotLook, Refused
from ...profiles import ocm
from .options import ClusterOptions, spelled
from .works import carries_definitions, carries_the_agent

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_FEW = 10  # clusters; beyond, one list of the whole hub is cheaper


class Reach(enum.Enum):
    """Can the cluster's agent do its part?"""

    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"
    DENIED = "denied"
    GONE = "gone"  # there is no ManagedCluster any more


@dataclass(frozen=True)
class HubKinds:
    """What the task is about, as this hub serves it. None: not installed, so there is nothing of it."""

    clusters: Resource | None
    cleanup: tuple[Resource | None, ...]
    gate: tuple[Resource, ...]
    warnings: tuple[str, ...] = ()

    @property
    def works(self) -> int | None:
        """The place of the works among the kinds that are cleaned up."""
        for place, resource in enumerate(self.cleanup):
            if resource is not None and (resource.group, resource.kind) == ocm.WORKS:
                return place
        return None


@dataclass
class ClusterView:
    """One cluster at one moment."""

    name: str
    resource: Resource | None = None
    record: Record | None = None
    item: Mapping[str, Any] = field(default_factory=dict)
    kinds: list[list[Record]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    gate: list[ObjectRef] = field(default_factory=list)
    hosted: list[Record] = field(default_factory=list)  # works on another cluster that bring this one's agent

    @property
    def reach(self) -> Reach:
        if self.record is None:
            return Reach.GONE
        accepted = condition_of(self.item, "HubAcceptedManagedCluster")
        if value_at(self.item, "spec.hubAcceptsClient") is False or (accepted and accepted.get("status") == "False"):
            return Reach.DENIED
        available = condition_of(self.item, "ManagedClusterConditionAvailable")
        return Reach.REACHABLE if available and available.get("status") == "True" else Reach.UNREACHABLE

    @property
    def why_unreachable(self) -> str:
        texts = {
            Reach.REACHABLE: "",
            Reach.GONE: "there is no ManagedCluster any more",
            Reach.DENIED: "the hub does not accept it",
        }
        available = condition_of(self.item, "ManagedClusterConditionAvailable") or {}
        said = available.get("message") or available.get("reason") or "it never reported"
        return texts.get(self.reach, f"its agent does not report ({said})")

    @property
    def held(self) -> list[Record]:
        """What only the cluster's agent, or an addon's controller, lets go."""
        return [record for records in self.kinds for record in records if record.finalizers]

    @property
    def hub_condition(self) -> Mapping[str, Any] | None:
        return condition_of(self.item, "Deleting")

    @property
    def hub_cleans_up(self) -> bool:
        """Whether the hub removes addons and works by itself, as soon as the ManagedCluster is being deleted."""
        return self.record is not None and ocm.HUB_CLEANS_UP in self.record.finalizers

    @property
    def is_there(self) -> bool:
        return self.record is not None or any(self.kinds) or bool(self.hosted)


def find_kinds(options: ClusterOptions, cluster: Cluster) -> HubKinds:
    finding = cluster.find_kind(*ocm.CLUSTERS)
    if finding.resource is None and finding.availability.value != "not installed":
        raise CannotLook("cannot look for ManagedClusters", why=finding.why, next_step="bring that API back")
    cleanup, not_cleaned = _resolved(options.cleanup, "cleanup", cluster)
    gate, not_waited_for = _resolved(options.wait_for, "wait_for", cluster)
    if options.cleanup == ocm.DEFAULT_CLEANUP:
        not_cleaned = []  # nobody asked for these versions
    if finding.resource is None and not any(cleanup):
        raise Refused(
            "this is no hub",
            why="neither ManagedClusters nor addons nor works are installed here",
            next_step="check the context; nothing was changed",
        )
    _refuse_a_gate_of_nothing(options, gate)
    served = tuple(resource for resource in gate if resource is not None)
    return HubKinds(finding.resource, cleanup, served, (*not_cleaned, *not_waited_for))


def _refuse_a_gate_of_nothing(options: ClusterOptions, gate: Sequence[Resource | None]) -> None:
    """A kind that is not served, perhaps by a slip of the pen, holds nothing back."""
    missing = [text for text, resource in zip(options.wait_for, gate, strict=True) if resource is None]
    if missing and options.wait_for_missing == "fail":
        raise Refused(
            "cannot wait for",
            which=", ".join(missing),
            why="the server has no such kind, so nothing would be waited for",
            next_step="correct wait_for, or set wait_for_missing: ignore; nothing was changed",
        )


def _resolved(texts: Sequence[str], option: str, cluster: Cluster) -> tuple[tuple[Resource | None, ...], list[str]]:
    """The kinds as they are served, and what a person should know: a gate of a kind that is not there stands open."""
    found, warnings = [], []
    for text in texts:
        kind, api_version = spelled(text)
        resource, warning = cluster.resolve(kind, api_version, by_hand=api_version is None)
        found.append(resource)
        warnings += [f"{option}: {warning}"] if warning else []
    return tuple(found), warnings


def find_clusters(options: ClusterOptions, kinds: HubKinds, cluster: Cluster) -> list[ClusterView]:
    """Those the task names, or those its selector finds. A cluster without ManagedCluster still has its namespace."""
    items: dict[str, dict[str, Any]] = {}
    if kinds.clusters is not None and (options.label_selector or len(options.names) > _FEW):
        found = cluster.list_whole(kinds.clusters, None, options.label_selector or None)
        items = {item["metadata"]["name"]: item for item in found}
    elif kinds.clusters is not None:
        for name in options.names:
            item = cluster.read_whole(kinds.clusters, "", name)
            if item is not None:
                items[name] = item
    names = options.names or tuple(sorted(items))
    views = [_view(name, kinds.clusters, items.get(name)) for name in names]
    _fill(views, kinds, cluster)
    return views


def look_again(view: ClusterView, kinds: HubKinds, cluster: Cluster) -> ClusterView:
    """The same cluster, as it is now."""
    item = cluster.read_whole(kinds.clusters, "", view.name) if kinds.clusters else None
    fresh = _view(view.name, kinds.clusters, item)
    _fill([fresh], kinds, cluster)
    return fresh


def _view(name: str, resource: Resource | None, item: Mapping[str, Any] | None) -> ClusterView:
    record = record_of(item["metadata"]) if item else None
    return ClusterView(name, resource, record, item or {})


def _fill(views: Sequence[ClusterView], kinds: HubKinds, cluster: Cluster) -> None:
    by_name = {view.name: view for view in views}
    for view in views:
        view.kinds = [[] for _kind in kinds.cleanup]
    for place, resource in enumerate(kinds.cleanup):
        for record in _records(resource, list(by_name), cluster):
            home = by_name.get(record.namespace)
            if home is not None:
                home.kinds[place].append(record)
    if kinds.works is not None:
        for view in views:
            view.agents = _agents(view, kinds.cleanup[kinds.works], view.kinds[kinds.works], cluster)
    for record in _hosted_works(views, cluster):
        host = by_name.get(record.labels.get(ocm.HOSTED_LABEL, ""))
        if host is not None and record.namespace != host.name:
            host.hosted.append(record)
    for resource in kinds.gate:
        for record in _records(resource, list(by_name), cluster):
            home = by_name.get(_whose(resource, record))
            if home is not None:
                home.gate.append(ref_to(resource, record))


def look_at_the_gate(view: ClusterView, kinds: HubKinds, cluster: Cluster) -> list[ObjectRef]:
    """What of `wait_for` is there now. Only that: many clusters may look, for a long time."""
    return [
        ref_to(resource, record)
        for resource in kinds.gate
        for record in _records(resource, [view.name], cluster)
        if view.name == _whose(resource, record)
    ]


def _whose(resource: Resource, record: Record) -> str:
    return record.namespace if resource.namespaced else record.name


def _records(resource: Resource | None, names: Sequence[str], cluster: Cluster) -> list[Record]:
    if resource is None:
        return []
    if not resource.namespaced or len(names) > _FEW:
        return cluster.list(resource).records
    return [record for name in names for record in cluster.list(resource, name).records]


def _hosted_works(views: Sequence[ClusterView], cluster: Cluster) -> list[Record]:
    """In hosted mode the agent runs on another cluster, brought there by works in that one's namespace."""
    resource = cluster.find_kind(*ocm.WORKS).resource
    if resource is None or not views:
        return []
    label = f"{ocm.HOSTED_LABEL}={views[0].name}" if len(views) == 1 else ocm.HOSTED_LABEL
    return cluster.list(resource, None, label).records


def _agents(view: ClusterView, resource: Resource | None, works: Sequence[Record], cluster: Cluster) -> set[str]:
    """Works that carry the agent. Their content is only looked at when no name and no label tells."""
    known = {record.uid for record in works if carries_the_agent(record)}
    if known or not works or resource is None:
        return known
    items = {str(value_at(one, "metadata.uid")): one for one in cluster.list_whole(resource, view.name)}
    return {
        record.uid
        for record in works
        if not carries_definitions(record) and carries_the_agent(record, items.get(record.uid))
    }
