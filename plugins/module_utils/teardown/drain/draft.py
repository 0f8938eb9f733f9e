# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`profile: auto`: drafts of profiles, made from the finalizers found in the cluster. Read only; a person decides.

Room: teardown. One list for each kind that can carry finalizers; whose one is, is guessed from its domain.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...events import Tell
from ...objects import Record, Resource
from ..catalogue import known
from ..members.looking import Looker
from .scene import may_carry_finalizers

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_MARKS = ("controller-name", "controller-namespace")


@dataclass
class _Domain:
    """Everything found of one finalizer domain."""

    finalizers: set[str] = field(default_factory=set)
    kinds: dict[tuple[str, str], int] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)


@dataclass
class Drafts:
    profiles: list[dict[str, Any]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def draft_profiles(cluster: Cluster, tell: Tell) -> Drafts:
    drafts = Drafts(unreadable=[f"{version.name}: {version.blind}" for version in cluster.catalogue.blind_spots()])
    kinds = [resource for resource in cluster.catalogue.resources() if may_carry_finalizers(resource)]
    found, unseen = Looker(cluster, tell).search(kinds, (), lambda record: bool(_of_products(record)))
    drafts.unreadable += sorted(f"{resource.qualified}: {problem.why}" for resource, problem in unseen.items())
    domains: dict[str, _Domain] = defaultdict(_Domain)
    for resource, records in found.items():
        for record in records:
            _note(domains, resource, record)
    drafts.profiles = [_draft(name, domain) for name, domain in sorted(domains.items())]
    return drafts


def _of_products(record: Record) -> list[str]:
    """Without those of the cluster itself."""
    entries = {name: known(name) for name in record.finalizers}
    return [name for name, entry in entries.items() if not (entry and entry.shared)]


def _note(domains: dict[str, _Domain], resource: Resource, record: Record) -> None:
    for name in _of_products(record):
        domain = domains[registered_domain(name)]
        domain.finalizers.add(name)
        key = (resource.group, resource.kind)
        domain.kinds[key] = domain.kinds.get(key, 0) + 1
        domain.labels.update(label for label in record.labels if label.rpartition("/")[2] in _MARKS)


def registered_domain(finalizer: str) -> str:
    """`k8s.ngrok.com/finalizer` → `ngrok.com`: the last two parts, as products share them between their groups."""
    domain = finalizer.partition("/")[0]
    return ".".join(domain.split(".")[-2:])


def _draft(domain: str, found: _Domain) -> dict[str, Any]:
    kinds = sorted(found.kinds)
    own = [(group, kind) for group, kind in kinds if registered_domain(group) == domain]
    labels = {
        mark.replace("-", "_"): sorted(label for label in found.labels if label.endswith(mark)) for mark in _MARKS
    }
    return {
        "name": domain.partition(".")[0],
        "finalizers": sorted(found.finalizers),
        "user_kinds": [{"group": group, "kind": kind} for group, kind in kinds if (group, kind) not in own],
        "operator_kinds": [{"group": group, "kind": kind} for group, kind in own],
        "labels": {mark: names for mark, names in labels.items() if names},
    }
