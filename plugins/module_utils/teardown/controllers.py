# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Workloads that are controllers, found by their labels: how many replicas they want, and how many are available.

Room: teardown. Who stands behind a finalizer without a label to go by is guessed in owners.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..labels import parse_selector
from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..paths import value_at
from ..well_known import WORKLOADS

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass
class Controller:
    """A Deployment, StatefulSet or DaemonSet of the product."""

    resource: Resource
    record: Record
    wanted: int
    available: int
    labels: tuple[Mapping[str, str], ...] = ()  # its own, and those of its pods

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def can_be_scaled(self) -> bool:
        return self.resource.plural != "daemonsets"

    def fits(self, selectors: Sequence[str]) -> bool:
        """By its labels or those of its pods: some products label only these."""
        return any(test(some) for test in map(parse_selector, selectors) for some in self.labels)


def labelled(
    selectors: Sequence[str], namespace: str, cluster: Cluster, names: Collection[str] = ()
) -> list[Controller]:
    """By labels, or by its own name, if known."""
    if not selectors:
        return []
    items = [(resource, item) for resource in WORKLOADS for item in cluster.list_whole(resource, namespace or None)]
    workloads = [_controller(resource, item) for resource, item in items]
    return [one for one in workloads if one.record.name in names or one.fits(selectors)]


def _controller(resource: Resource, item: Mapping[str, Any]) -> Controller:
    replicas = value_at(item, "spec.replicas")
    scheduled, ready = (int(value_at(item, f"status.{key}") or 0) for key in ("desiredNumberScheduled", "numberReady"))
    wanted = scheduled if resource.plural == "daemonsets" else 1 if replicas is None else int(replicas)
    available = int(value_at(item, "status.availableReplicas") or 0) or ready
    labels = tuple(value_at(item, path) or {} for path in ("metadata.labels", "spec.template.metadata.labels"))
    return Controller(resource, record_of(item["metadata"]), wanted, available, labels)
