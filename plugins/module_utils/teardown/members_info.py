# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What belongs to a thing, and the default plan to remove it: the use case behind `members_info`. Reads only.

Room: teardown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..events import Tell
from ..terms import Terms
from .guards import keep_marker_of, why_not_owned, why_unconfirmed
from .members.claims import Claim
from .members.looking import Looker, Member
from .members.sources import OtherCluster, read_members
from .plan import Plan
from .ranked_delete import RankedOptions, ground_of, plan_of

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass(frozen=True)
class Shown:
    member: Member
    owned: bool
    confirmed: bool
    keep_marker: str


@dataclass
class ShownMembers:
    source: str
    missing: str = ""
    members: list[Shown] = field(default_factory=list)
    absent: list[Claim] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    warnings: list[str] = field(default_factory=list)


def show_members(
    option: Mapping[str, Any],
    cluster: Cluster,
    other_cluster: OtherCluster,
    tell: Tell,
    hashed: Mapping[str, Any] | None = None,
) -> ShownMembers:
    """`hashed`: what `ranked_delete` has in its plan's hash by default, so that both give the same one."""
    membership = read_members(option, cluster, other_cluster)
    shown = ShownMembers(membership.source, membership.missing)
    terms = Terms({"": cluster.identity()}, hashed or {})
    shown.plan.terms = terms
    if membership.missing:
        return shown
    looker = Looker(cluster, tell)
    ground = ground_of(RankedOptions(option), membership, looker, cluster)
    records = {member.record.uid for member in ground.records}
    for member in (*ground.members, *ground.records):
        sure = member.record.uid in records
        owned = sure or not why_not_owned(member, ground.facts)
        confirmed = sure or (owned and not why_unconfirmed(member, ground.facts))
        shown.members.append(Shown(member, owned, confirmed, keep_marker_of(member)))
    shown.absent = ground.absent
    shown.plan, foreign = plan_of(ground, looker, "refuse")
    shown.plan.terms = terms
    shown.warnings = [
        *membership.warnings,
        *looker.warnings,
        *(f"{entry.member.ref}: {entry.why}" for entry in foreign),
    ]
    return shown
