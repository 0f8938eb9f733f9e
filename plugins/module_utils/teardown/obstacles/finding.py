# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What in the cluster would stop deletes and patches of these kinds in these namespaces?

Room: teardown. Looks with a list a kind, whatever there is in the cluster, and leaves judging to its neighbours. What
may not be looked at is said: nothing found there means nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import Resource
from ...problems import Problem
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ...well_known import API_SERVICES, DEFINITIONS, NAMESPACES, WEBHOOK_CONFIGURATIONS
from ..looking_around import listed_or_said
from .api_services import judge_api_service
from .backends import Backends, Beat, fetch_backends, service_of
from .conversions import converter_of, defines, judge_conversion
from .obstacle import Obstacle, Obstacles
from .webhooks import Scope, interceptions, judge_configuration, services_called

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass
class Ground:
    """What was looked at, once; from it obstacles are judged for any part of the kinds and namespaces asked about."""

    scope: Scope
    configurations: list[tuple[Resource, dict[str, Any]]]
    converted: list[tuple[dict[str, Any], Resource]]
    api_services: list[dict[str, Any]]
    backends: Backends
    unreadable: list[str]
    definitions: list[dict[str, Any]] = field(default_factory=list)  # of the custom kinds

    def judge(self, kinds: Collection[Resource], namespaces: Collection[str]) -> list[Obstacle]:
        """Those in the way of these kinds; certain ones first."""
        labels = {name: labels for name, labels in self.scope.namespaces.items() if name in namespaces}
        scope = Scope(kinds, labels, self.scope.versions)
        judged = [judge_configuration(kind, item, scope, self.backends) for kind, item in self.configurations]
        judged += [judge_conversion(item, kind, self.backends) for item, kind in self.converted if kind in kinds]
        judged += [judge_api_service(item) for item in self.api_services]
        return sorted((one for one in judged if one), key=lambda one: not one.certain)

    def answering_for(self, kind: Resource) -> str:
        """A webhook of this very kind, or its converter, that has somebody behind it; empty if there is none."""
        scope = Scope([kind], self.scope.namespaces, self.scope.versions)
        asked = [
            (hook.client_config, f"which is asked about {kind.qualified}")
            for _resource, item in self.configurations
            for hook in interceptions(item, scope)
            if kind.group in hook.groups
        ]
        asked += [
            (converter_of(item) or {}, f"which converts {kind.qualified}")
            for item, converted in self.converted
            if converted == kind
        ]
        for client_config, words in asked:
            place = service_of(client_config)
            if place and self.backends.pulse(client_config).beat is Beat.READY:
                return f"Service {place[0]}/{place[1]}, {words}, has ready endpoints"
        return ""


def find_obstacles(kinds: Collection[Resource], namespaces: Collection[str], cluster: Cluster) -> Obstacles:
    """Obstacles on the way of these kinds; those that live in namespaces only in the given ones."""
    ground = look_for_obstacles(kinds, namespaces, cluster)
    return Obstacles(ground.judge(kinds, namespaces), ground.unreadable)


def look_for_obstacles(kinds: Collection[Resource], namespaces: Collection[str], cluster: Cluster) -> Ground:
    unreadable: list[str] = []
    scope = scope_of(kinds, namespaces, cluster, unreadable)
    configurations = [
        (kind, item) for kind in WEBHOOK_CONFIGURATIONS for item in (listed_or_said(kind, cluster, unreadable) or [])
    ]
    definitions = _definitions_of(kinds, cluster, unreadable)
    converted = _converted(kinds, definitions)
    places = services_called([item for _kind, item in configurations], scope)
    places |= {place for item, _kind in converted if (place := service_of(converter_of(item) or {}))}
    backends = fetch_backends(places, cluster, unreadable)
    api_services = listed_or_said(API_SERVICES, cluster, unreadable) or []
    return Ground(scope, configurations, converted, api_services, backends, unreadable, definitions)


def scope_of(
    kinds: Collection[Resource], namespaces: Collection[str], cluster: Cluster, unreadable: list[str]
) -> Scope:
    """These kinds in these namespaces, with all that decides who is asked about them."""
    return Scope(kinds, _labels_of(namespaces, cluster, unreadable), _versions_of(kinds, cluster))


def _labels_of(namespaces: Collection[str], cluster: Cluster, unreadable: list[str]) -> dict[str, Mapping[str, str]]:
    """Labels of the namespaces that are there."""
    wanted = {name for name in namespaces if name}
    if not wanted:
        return {}
    try:
        records = cluster.list(NAMESPACES).records
    except Problem as problem:
        unreadable.append(f"Namespaces: {problem.why}")
        # Every namespace carries its own name as a label, and most selectors go by that.
        return {name: {_NAME: name} for name in wanted}
    return {record.name: record.labels for record in records if record.name in wanted}


_NAME = "kubernetes.io/metadata.name"


def _versions_of(kinds: Collection[Resource], cluster: Cluster) -> dict[tuple[str, str], frozenset[str]]:
    wanted = {(resource.group, resource.plural) for resource in kinds}
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for version in cluster.catalogue.versions:
        for resource in version.resources:
            if (resource.group, resource.plural) in wanted:
                found[resource.group, resource.plural].add(version.version)
    return {kind: frozenset(versions) for kind, versions in found.items()}


def _definitions_of(kinds: Collection[Resource], cluster: Cluster, unreadable: list[str]) -> list[dict[str, Any]]:
    custom = {(kind.group, kind.plural) for kind in kinds if kind.group not in BUILT_IN_GROUPS}
    items = (listed_or_said(DEFINITIONS, cluster, unreadable) or []) if custom else []
    return [item for item in items if defines(item) in custom]


def _converted(
    kinds: Collection[Resource], definitions: Sequence[dict[str, Any]]
) -> list[tuple[dict[str, Any], Resource]]:
    """Definitions that have a converter, with their kinds."""
    by_name = {(kind.group, kind.plural): kind for kind in kinds}
    return [(item, by_name[defines(item)]) for item in definitions if converter_of(item) is not None]
