# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PodDisruptionBudgets that let no pod go: evictions are refused, and the drain of a node waits for ever.

Room: teardown. A plain deletion of the pod, or of its namespace, does not ask them: they are told where somebody asks
about a pod, a node or a namespace that is not being deleted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...labels import fits_selector
from ...objects import Record, Resource
from ...paths import condition_of, value_at
from ...well_known import BUDGETS, NAMESPACES, NODES, PODS
from .cause import BUDGET, Cause, some_of
from .census import FEW_NAMESPACES, Census, Seen

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

Item = Mapping[str, Any]
_ENDED = ("Succeeded", "Failed")
_OF_INTEREST = {kind.qualified for kind in (PODS, NODES, NAMESPACES)}


@dataclass
class Budgets:
    """Budgets that allow nothing now, and pods by the node they run on."""

    shut: Mapping[str, Sequence[Item]] = field(default_factory=dict)  # namespace → whole
    pods: Mapping[str, Sequence[Item]] = field(default_factory=dict)  # node → whole


def fetch_budgets(found: Sequence[Seen], named: set[str], census: Census, cluster: Cluster) -> Budgets:
    """Nothing is sent unless a pod, node or namespace was asked for by name, and is not being deleted."""
    asked = [(kind, record) for kind, record in found if record.uid in named and not record.terminating]
    asked = [(kind, record) for kind, record in asked if kind.qualified in _OF_INTEREST]
    nodes = {record.name for kind, record in asked if kind.qualified == NODES.qualified}
    places = sorted({record.namespace or record.name for kind, record in asked if kind.qualified != NODES.qualified})
    shut: dict[str, list[Item]] = defaultdict(list)
    pods: dict[str, list[Item]] = defaultdict(list)

    def read_budgets() -> None:
        everywhere = bool(nodes) or len(places) > FEW_NAMESPACES
        scopes: list[str | None] = [None] if everywhere else [*places]
        for item in (item for scope in scopes for item in cluster.list_whole(BUDGETS, scope)):
            if _is_shut(item):
                shut[item["metadata"]["namespace"]].append(item)

    def read_pods() -> None:
        for pod in cluster.list_whole(PODS):
            if value_at(pod, "spec.nodeName") in nodes:
                pods[value_at(pod, "spec.nodeName")].append(pod)

    if asked:
        census.attempt("what PodDisruptionBudgets allow", read_budgets)
    if nodes and shut:
        census.attempt("which pods run on a node", read_pods)
    return Budgets(shut, pods)


def _is_shut(item: Item) -> bool:
    status = item.get("status") or {}
    seen = status.get("observedGeneration") == item["metadata"].get("generation")
    # No pods at all: nothing to hold. Not counted yet: nothing is known.
    return seen and not status.get("disruptionsAllowed") and bool(status.get("expectedPods"))


def held_by_a_budget(kind: Resource, record: Record, budgets: Budgets) -> Iterable[Cause]:
    if record.terminating or kind.qualified not in _OF_INTEREST:
        return
    if kind.qualified == NAMESPACES.qualified:
        for item in budgets.shut.get(record.name) or ():
            yield _cause(item, "no pod behind it can be evicted (a drain waits, a deletion does not ask)")
    elif kind.qualified == PODS.qualified:
        for item in _over(record.labels, record.namespace, budgets):
            yield _cause(item, "it cannot be evicted (a drain waits, a deletion does not ask)")
    else:
        held: dict[str, tuple[Item, list[str]]] = {}
        for pod in budgets.pods.get(record.name) or ():
            metadata = pod["metadata"]
            for item in _over(metadata.get("labels") or {}, metadata["namespace"], budgets):
                if _asks_for(item, pod):
                    held.setdefault(item["metadata"]["uid"], (item, []))[1].append(metadata["name"])
        for item, pods in held.values():
            yield _cause(item, f"a drain of this node waits for Pod {some_of(pods)}")


def _over(labels: Mapping[str, str], namespace: str, budgets: Budgets) -> list[Item]:
    shut = budgets.shut.get(namespace) or ()
    # As the server reads it: a budget without a selector takes nothing, one with an empty selector everything.
    return [item for item in shut if value_at(item, "spec.selector") is not None and _selects(item, labels)]


def _selects(item: Item, labels: Mapping[str, str]) -> bool:
    return fits_selector(labels, value_at(item, "spec.selector") or {})


def _asks_for(item: Item, pod: Item) -> bool:
    """Pods that have ended, and with the right policy those that are not ready, go in any case."""
    if value_at(pod, "status.phase") in _ENDED or pod["metadata"].get("deletionTimestamp"):
        return False
    ready = (condition_of(pod, "Ready") or {}).get("status") == "True"
    return ready or value_at(item, "spec.unhealthyPodEvictionPolicy") != "AlwaysAllow"


def _cause(item: Item, effect: str) -> Cause:
    namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
    status = item.get("status") or {}
    healthy, needed, pods = (int(status.get(key) or 0) for key in ("currentHealthy", "desiredHealthy", "expectedPods"))
    if needed >= pods:
        why = f"it needs {needed} of {pods} pods at any time, so it never lets one go"
        patch = f"patch pdb {{name}} --type merge -p '{_loosened(item, pods)}'"
        then = kubectl(patch, namespace=namespace, name=name)
        way = f"run more pods, or let one go at a time: {then}"
    else:
        why = f"{healthy} of {pods} pods are healthy, and it needs {needed}"
        labels = (value_at(item, "spec.selector.matchLabels") or {}).items()
        selector = ",".join(f"{key}={value}" for key, value in labels)
        look = kubectl("get pods -l {selector}" if selector else "get pods", namespace=namespace, selector=selector)
        way = f"get its pods healthy first: {look}"
    return Cause(BUDGET, f"PodDisruptionBudget {namespace}/{name}: {effect}: {why}", way)


def _loosened(item: Item, pods: int) -> str:
    """A patch that lets one pod go. Pods without a controller can be counted by a plain number only."""
    plain = isinstance(value_at(item, "spec.minAvailable"), int)
    spec = {"minAvailable": max(0, pods - 1)} if plain else {"minAvailable": None, "maxUnavailable": 1}
    return json.dumps({"spec": spec}, separators=(",", ":"))
