# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What would go along unseen: instances of a definition, and content of a namespace, that the plan does not show.

Room: teardown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..objects import ObjectRef, Resource, ref_to
from ..problems import Refused
from ..well_known import MADE_BY_US
from .guards import CRD, Facts, part_of_the_cluster
from .members.looking import TRANSIENT, Looker, Member

if TYPE_CHECKING:
    from .plan import Plan

NAMESPACES = ("", "namespaces")


@dataclass(frozen=True)
class Foreign:
    """A member that others would go with, and who they are."""

    member: Member
    others: Sequence[ObjectRef]

    @property
    def why(self) -> str:
        if len(self.others) == 1:
            return f"{self.others[0]}, which is not in this plan, would go with it"
        return f"{len(self.others)} objects that are not in this plan would go with it, {self.others[0]} among them"


def look_into_namespaces(members: Iterable[Member], looker: Looker) -> None:
    for member in members:
        if (member.resource.group, member.resource.plural) == NAMESPACES:
            looker.look_into_namespace(member.record.name)


def find_foreign(plan: Plan, looker: Looker) -> list[Foreign]:
    """Definitions and namespaces of the plan that would take more with them than the plan shows."""
    going = {entry.member.record.uid for entry in plan.going}
    found = []
    for entry in plan.going:
        kind = (entry.member.resource.group, entry.member.resource.plural)
        if kind == CRD:
            strangers = _instances(entry.member, looker, going)
        elif kind == NAMESPACES:
            strangers = _content(entry.member.record.name, looker, going)
        else:
            continue
        if strangers:
            found.append(Foreign(entry.member, strangers))
    return found


def refuse(foreign: Sequence[Foreign]) -> None:
    if not foreign:
        return
    first = foreign[0]
    more = f" (and {len(foreign) - 1} more)" if len(foreign) > 1 else ""
    raise Refused(
        "delete",
        which=f"{first.member.ref}{more}",
        why=first.why,
        next_step="put them into an earlier step, or set foreign_instances to cascade or keep; nothing was changed",
    )


def _instances(definition: Member, looker: Looker, going: set[str]) -> list[ObjectRef]:
    plural, _dot, group = definition.record.name.partition(".")
    resource = looker.resolve(plural, f"{group}/", by_hand=False)
    if resource is None:
        return []  # not served any more: the API server is already taking it apart
    return [ref_to(resource, record) for record in looker.everything(resource) if record.uid not in going]


def _content(namespace: str, looker: Looker, going: set[str]) -> list[ObjectRef]:
    strangers = []
    for listing in looker.listings:
        resource: Resource = listing.scope.resource
        if not resource.namespaced or (resource.group, resource.plural) in TRANSIENT:
            continue
        for record in listing.records:
            if record.namespace != namespace or record.uid in going:
                continue
            if record.labels.get(MADE_BY_US[0]) == MADE_BY_US[1]:
                continue  # a maintenance page of ours, in front of what goes
            member = Member(resource, record, "")
            if not part_of_the_cluster(member, Facts()):
                strangers.append(ref_to(resource, record))
    return list(dict.fromkeys(strangers))
