# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claims hold data: which of them belong to the application, and which stay unless the task says otherwise.

Room: teardown. `volumes: keep` is about claims that nobody has named: those a StatefulSet made, and those that were
found by looking around, as in a whole namespace. What a record or a manifest names goes as that says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...paths import value_at
from ...problems import Problem
from ...well_known import NAMESPACES, PERSISTENT_VOLUME_CLAIMS
from ..members.looking import Looker, Member
from ..plan import Ground

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_STATEFUL_SETS = ("apps", "statefulsets")
_PODS = ("", "pods")
_KEPT = "it holds data (volumes: keep)"
CLAIMS = (PERSISTENT_VOLUME_CLAIMS.group, PERSISTENT_VOLUME_CLAIMS.plural)


def add_volumes(ground: Ground, looker: Looker, cluster: Cluster, *, keep: bool) -> None:
    known = {member.record.uid: member for member in ground.members}
    made = {claim.record.uid: claim for claim in volumes_of(ground.members, looker, cluster)}
    ground.members += [claim for uid, claim in made.items() if uid not in known]
    if keep:
        unnamed = [member for member in ground.members if _is_claim(member)]
        pods = {uid for uid, member in known.items() if (member.resource.group, member.resource.plural) == _PODS}
        unnamed = [
            member
            for member in unnamed
            if member.record.uid in made or (member.searched and not pods & set(member.record.owner_uids))
        ]
        if not _keep_what_can_be_kept(unnamed, cluster):
            ground.facts.keep_owned[CLAIMS] = _KEPT


def volumes_of(members: list[Member], looker: Looker, cluster: Cluster) -> Iterator[Member]:
    """Claims that StatefulSets made: nobody's record names them, and no controller deletes them by default."""
    sets = [member for member in members if (member.resource.group, member.resource.plural) == _STATEFUL_SETS]
    for namespace in sorted({member.record.namespace for member in sets}):
        patterns = []
        uids = {member.record.uid for member in sets if member.record.namespace == namespace}
        for item in cluster.list_whole(sets[0].resource, namespace):
            templates = value_at(item, "spec.volumeClaimTemplates") or ()
            if item["metadata"]["uid"] in uids:
                patterns += [f"{one['metadata']['name']}-{item['metadata']['name']}-[0-9]+" for one in templates]
        for record in looker.everything(PERSISTENT_VOLUME_CLAIMS, namespace) if patterns else ():
            if any(re.fullmatch(pattern, record.name) for pattern in patterns):
                yield Member(PERSISTENT_VOLUME_CLAIMS, record, "claim of a StatefulSet (volumes: delete)", marked=False)


def _is_claim(member: Member) -> bool:
    return (member.resource.group, member.resource.plural) == CLAIMS


def _keep_what_can_be_kept(claims: list[Member], cluster: Cluster) -> set[str]:
    """What an owner would take along is detached from it first; what a namespace being deleted takes, is not kept.

    These namespaces are returned. Claims that a Pod owns are ephemeral volumes and not among them.
    """
    leaving = {name for name in {claim.record.namespace for claim in claims} if _is_leaving(name, cluster)}
    for claim in claims:
        if claim.record.terminating or claim.record.namespace in leaving:
            continue
        claim.keep = claim.keep or _KEPT
    return leaving


def _is_leaving(namespace: str, cluster: Cluster) -> bool:
    try:
        record = cluster.read(NAMESPACES, "", namespace)
    except Problem:
        return False  # a tenant may not look; to keep is the careful side
    return record is not None and record.terminating
