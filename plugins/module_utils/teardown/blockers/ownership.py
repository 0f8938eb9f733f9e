# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything that tells who owns the finalizers of what is explained.

Room: teardown. Four lists of workloads and Leases, and where custom resources are held four of roles and bindings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...objects import Resource
from ...profiles.built_in_groups import BUILT_IN_GROUPS
from ..obstacles.finding import Ground
from ..owner_facts import Around, OwnerFacts, Release, fetch_owner_facts, release_of
from ..permits import fetch_permits
from .census import Census, Seen

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


def fetch_ownership(found: Sequence[Seen], ground: Ground, census: Census, cluster: Cluster) -> OwnerFacts:
    if not any(record.finalizers for _kind, record in found):
        return OwnerFacts()
    facts = fetch_owner_facts(cluster, {record.namespace for _kind, record in found if record.namespace})
    facts.around = look_around(custom_kinds(found), ground, cluster)
    for line in (*facts.unreadable, *facts.around.permits.unreadable):
        census.could_not(line)
    return facts


def custom_kinds(found: Iterable[Seen]) -> set[Resource]:
    """Kinds of which rights, releases and webhooks say who their controller is."""
    return {kind for kind, record in found if record.finalizers and kind.group not in BUILT_IN_GROUPS}


def look_around(custom: set[Resource], ground: Ground, cluster: Cluster) -> Around:
    return Around(fetch_permits(cluster), _releases(ground), _hooks(custom, ground)) if custom else Around()


def _releases(ground: Ground) -> Mapping[str, Release]:
    marked = ((item["metadata"]["name"], release_of(item)) for item in ground.definitions)
    return {name: release for name, release in marked if release}


def _hooks(kinds: set[Resource], ground: Ground) -> Mapping[str, str]:
    return {kind.qualified: words for kind in kinds if (words := ground.answering_for(kind))}
