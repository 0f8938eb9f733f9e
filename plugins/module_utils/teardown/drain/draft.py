# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`profile: auto`: drafts of profiles, made from the finalizers found in the cluster. Read only; a person decides.

Room: teardown. One list for each kind that matters; whose a finalizer is, is guessed from its domain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...events import Tell
from ...objects import Record, Resource
from ...problems import Problem
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ..catalogue import known
from ..members.looking import Looker

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# Kinds of the user's that products put finalizers on.
_USER_KINDS = frozenset(
    {("", "services"), ("", "namespaces"), ("", "secrets"), ("", "configmaps"), ("", "persistentvolumeclaims")}
    | {("networking.k8s.io", "ingresses"), ("apps", "deployments"), ("apps", "statefulsets")}
)
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
    looker = Looker(cluster, tell)
    drafts = Drafts(unreadable=[f"{version.name}: {version.blind}" for version in cluster.catalogue.blind_spots()])
    domains: dict[str, _Domain] = defaultdict(_Domain)
    for resource in _kinds(cluster):
        try:
            records = looker.everything(resource)
        except Problem as problem:
            drafts.unreadable.append(f"{resource.qualified}: {problem.why}")
            continue
        for record in records:
            _note(domains, resource, record)
    drafts.profiles = [_draft(name, domain) for name, domain in sorted(domains.items())]
    return drafts


def _kinds(cluster: Cluster) -> Iterable[Resource]:
    for resource in cluster.catalogue.resources():
        custom = resource.group not in BUILT_IN_GROUPS
        if "list" in resource.verbs and (custom or (resource.group, resource.plural) in _USER_KINDS):
            yield resource


def _note(domains: dict[str, _Domain], resource: Resource, record: Record) -> None:
    for name in record.finalizers:
        entry = known(name)
        if entry is not None and entry.shared:
            continue  # the cluster's own
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
