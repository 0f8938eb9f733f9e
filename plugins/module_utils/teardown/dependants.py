# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that members own: deleted by ourselves, in parallel, because the garbage collector takes 20 a second.

Room: teardown. Found through owner references, in the kinds that built-in controllers make and in every kind that was
listed anyway. What is owned by something else as well is left to the garbage collector, which asks that owner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ..objects import Record, Resource, ref_to
from ..well_known import MADE_BY_US
from .guards import Facts, judge
from .members.looking import TRANSIENT, Looker, Member
from .plan import GOING

_PODS = ("", "pods")

# (group, plural) → kinds its controller makes.
CHILDREN: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("apps", "deployments"): (("apps/v1", "ReplicaSet"), ("v1", "Pod")),
    ("apps", "replicasets"): (("v1", "Pod"),),
    ("apps", "statefulsets"): (("apps/v1", "ControllerRevision"), ("v1", "Pod")),
    ("apps", "daemonsets"): (("apps/v1", "ControllerRevision"), ("v1", "Pod")),
    ("batch", "cronjobs"): (("batch/v1", "Job"), ("v1", "Pod")),
    ("batch", "jobs"): (("v1", "Pod"),),
}


def find_dependants(
    members: Sequence[Member], looker: Looker, facts: Facts | None = None, kept: Collection[str] = ()
) -> list[Member]:
    """Everything members own, directly or through each other, but for what is kept (uids) and what that owns."""
    facts = facts or Facts()
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
    spared = set(kept)
    queue = list(members)
    while queue:
        owner = queue.pop()
        for resource, record in children.get(owner.record.uid, ()):
            if record.uid in spared or record.uid in known or not all(uid in known for uid in record.owner_uids):
                continue
            if record.labels.get(MADE_BY_US[0]) == MADE_BY_US[1]:
                continue  # a maintenance page in front of a route: it may stand until the route itself is gone
            child = dependant_of(owner.resource, owner.record, resource, record, facts)
            found.append(child)
            if judge(child, facts).fate not in GOING:
                spared.add(record.uid)
            else:
                known[record.uid] = child
                queue.append(child)
    return found


def dependant_of(owner_kind: Resource, owner: Record, resource: Resource, record: Record, facts: Facts) -> Member:
    child = Member(resource, record, f"owned by {ref_to(owner_kind, owner)}", marked=False, dependant=True)
    if (owner_kind.group, owner_kind.plural) != _PODS:  # a claim that a Pod owns is an ephemeral volume
        child.keep = facts.keep_owned.get((resource.group, resource.plural), "")
    return child


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
