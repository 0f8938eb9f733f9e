# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that members own: deleted by ourselves, in parallel, because the garbage collector takes 20 a second.

Room: teardown. Found through owner references, in the kinds that built-in controllers make and in every kind that was
listed anyway. What is owned by something else as well is left to the garbage collector, which asks that owner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..objects import Record, Resource
from ..well_known import MADE_BY_US
from .members.looking import TRANSIENT, Looker, Member

# (group, plural) → kinds its controller makes.
CHILDREN: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("apps", "deployments"): (("apps/v1", "ReplicaSet"), ("v1", "Pod")),
    ("apps", "replicasets"): (("v1", "Pod"),),
    ("apps", "statefulsets"): (("apps/v1", "ControllerRevision"), ("v1", "Pod")),
    ("apps", "daemonsets"): (("apps/v1", "ControllerRevision"), ("v1", "Pod")),
    ("batch", "cronjobs"): (("batch/v1", "Job"), ("v1", "Pod")),
    ("batch", "jobs"): (("v1", "Pod"),),
}


def find_dependants(members: Sequence[Member], looker: Looker) -> list[Member]:
    """Everything members own, directly or through each other."""
    for resource, namespace in _worth_a_look(members, looker):
        looker.everything(resource, namespace)
    children: dict[str, list[tuple[Resource, Record]]] = defaultdict(list)
    for listing in looker.listings:
        resource = listing.scope.resource
        if (resource.group, resource.plural) in TRANSIENT:
            continue
        for record in listing.records:
            for uid in record.owner_uids:
                children[uid].append((resource, record))
    known = {member.record.uid: member for member in members}
    found: list[Member] = []
    queue = list(members)
    while queue:
        owner = queue.pop()
        for resource, record in children.get(owner.record.uid, ()):
            if record.uid in known or not all(uid in known for uid in record.owner_uids):
                continue
            if record.labels.get(MADE_BY_US[0]) == MADE_BY_US[1]:
                continue  # a maintenance page in front of a route: it may stand until the route itself is gone
            child = Member(resource, record, f"owned by {owner.ref}", marked=False, dependant=True)
            known[record.uid] = child
            found.append(child)
            queue.append(child)
    return found


def _worth_a_look(members: Sequence[Member], looker: Looker) -> Iterator[tuple[Resource, str]]:
    wanted = dict.fromkeys(
        (api_version, kind, member.record.namespace)
        for member in members
        for api_version, kind in CHILDREN.get((member.resource.group, member.resource.plural), ())
    )
    for api_version, kind, namespace in wanted:
        resource = looker.resolve(kind, api_version)
        if resource is not None:
            yield resource, namespace
