# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an explanation is made of, fetched once: owners, namespaces, definitions, pods, webhooks.

Room: teardown. A handful of lists, however many objects there are to explain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import ObjectRef, Resource, ref_to
from ...well_known import DEFINITIONS, NAMESPACES
from ..obstacles.finding import Ground, look_for_obstacles
from ..obstacles.obstacle import Obstacle
from ..owners import OwnerFacts
from .budgets import Budgets, fetch_budgets
from .census import Census, Seen
from .namespace_ends import NamespaceEnds, fetch_namespace_ends
from .ownership import fetch_ownership
from .subjects import Subjects, is_definition, is_namespace, terminating_namespaces
from .usages import Usages, fetch_usages
from .volumes import Volumes, fetch_volumes

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass(frozen=True)
class Instances:
    """Objects of a definition."""

    total: int
    terminating: int
    finalizers: tuple[str, ...]


@dataclass
class Scene:
    now: float
    owners: OwnerFacts = field(default_factory=OwnerFacts)
    going_namespaces: Collection[str] = ()
    namespaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name → whole
    definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name → whole
    instances: Mapping[str, Instances] = field(default_factory=dict)  # name of the definition →
    left_in: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # namespace → kind → objects
    ends: NamespaceEnds = field(default_factory=NamespaceEnds)
    volumes: Volumes = field(default_factory=Volumes)
    budgets: Budgets = field(default_factory=Budgets)
    usages: Usages = field(default_factory=Usages)
    dependants: Mapping[str, Sequence[ObjectRef]] = field(default_factory=dict)  # uid → who holds it
    held_by: Mapping[str, Sequence[str]] = field(default_factory=dict)  # uid of a dependant → its finalizers
    explained: Collection[str] = ()  # uids of all that is explained anyway
    judge_obstacles: Callable[[Resource, str], list[Obstacle]] = lambda resource, namespace: []
    obstacles: list[Obstacle] = field(default_factory=list)


def fetch_scene(subjects: Subjects, census: Census, cluster: Cluster) -> Scene:
    scene = Scene(cluster.server_time())
    found = subjects.found
    scene.going_namespaces = terminating_namespaces(census, cluster)
    scene.namespaces = _namespaces(found, census, cluster)
    scene.definitions = _definitions(found, census, cluster)
    scene.instances = _instances(found, census)
    scene.left_in = _left_in(found, census)
    scene.ends = fetch_namespace_ends(scene.namespaces, scene.left_in, census, cluster)
    scene.volumes = fetch_volumes(found, census, cluster)
    scene.budgets = fetch_budgets(found, subjects.named, census, cluster)
    scene.usages = fetch_usages(found, census, cluster)
    scene.dependants, scene.held_by = _dependants(census)
    scene.explained = {record.uid for _kind, record in found}
    ground = _look_for_obstacles(scene, found, census, cluster)
    scene.owners = fetch_ownership(found, ground, census, cluster)
    return scene


def _namespaces(found: Sequence[Seen], census: Census, cluster: Cluster) -> dict[str, Mapping[str, Any]]:
    names = {record.name for kind, record in found if is_namespace(kind)}
    whole: dict[str, Mapping[str, Any]] = {}

    def read() -> None:
        if len(names) == 1:
            [name] = names
            whole[name] = cluster.read_whole(NAMESPACES, "", name) or {}
        elif names:
            items = cluster.list_whole(NAMESPACES)
            whole.update((item["metadata"]["name"], item) for item in items if item["metadata"]["name"] in names)

    census.attempt("what namespaces say of themselves", read)
    return whole


def _definitions(found: Sequence[Seen], census: Census, cluster: Cluster) -> dict[str, Mapping[str, Any]]:
    names = {record.name for kind, record in found if is_definition(kind)}
    whole: dict[str, Mapping[str, Any]] = {}

    def read() -> None:
        items = cluster.list_whole(DEFINITIONS) if names else []
        whole.update((item["metadata"]["name"], item) for item in items if item["metadata"]["name"] in names)

    census.attempt("what definitions say of themselves", read)
    return whole


def _instances(found: Sequence[Seen], census: Census) -> dict[str, Instances]:
    names = {record.name for kind, record in found if is_definition(kind)}
    totals: dict[str, int] = defaultdict(int)
    for (kind, _namespace), number in census.counts.items():
        totals[kind.qualified] += number
    ending: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for kind, record in census.everything():
        if kind.qualified in names and record.terminating:
            ending[kind.qualified].append(record.finalizers)
    return {
        name: Instances(totals[name], len(ending[name]), tuple(sorted({one for many in ending[name] for one in many})))
        for name in names
    }


def _left_in(found: Sequence[Seen], census: Census) -> dict[str, dict[str, int]]:
    names = {record.name for kind, record in found if is_namespace(kind)}
    left: dict[str, dict[str, int]] = {name: {} for name in names}
    for (kind, namespace), number in census.counts.items():
        if namespace in names:
            left[namespace][kind.kind] = left[namespace].get(kind.kind, 0) + number
    return left


def _dependants(census: Census) -> tuple[dict[str, list[ObjectRef]], dict[str, tuple[str, ...]]]:
    held: dict[str, list[ObjectRef]] = defaultdict(list)
    by: dict[str, tuple[str, ...]] = {}
    for kind, record in census.everything():
        for uid in record.held_owner_uids:
            held[uid].append(ref_to(kind, record))
            by[record.uid] = record.finalizers
    return held, by


def _look_for_obstacles(scene: Scene, found: Sequence[Seen], census: Census, cluster: Cluster) -> Ground:
    # What cannot be listed may be closed by the very obstacle we look for.
    kinds = {kind for kind, _record in found} | {kind for kind, _place in census.closed}
    places = {record.namespace for _kind, record in found if record.namespace}
    places |= {place for _kind, place in census.closed if place}
    places |= {record.name for kind, record in found if is_namespace(kind)}
    ground = look_for_obstacles(sorted(kinds, key=lambda kind: kind.qualified), places, cluster)
    for line in ground.unreadable:
        census.could_not(line)
    scene.obstacles = [one.while_these_go(scene.going_namespaces) for one in ground.judge(ground.scope.kinds, places)]
    scene.judge_obstacles = _remembering(ground, scene.going_namespaces)
    return ground


def _remembering(ground: Ground, going: Collection[str]) -> Callable[[Resource, str], list[Obstacle]]:
    known: dict[tuple[Resource, str], list[Obstacle]] = {}

    def judge(resource: Resource, namespace: str) -> list[Obstacle]:
        if (resource, namespace) not in known:
            found = ground.judge([resource], [namespace])
            known[resource, namespace] = [one.while_these_go(going) for one in found]
        return known[resource, namespace]

    return judge
