# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The anchor: the object that stands for one installation of a product, and what it says about itself.

Room: teardown. Deleting it tells a living operator to drain; what its status says is read, never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...objects import ObjectRef, Record, Resource, record_of, ref_to
from ...paths import condition_of, value_at
from ...problems import BadOption, CannotLook, Problem, Refused
from .options import DELETE, RETAIN, AnchorWish
from .profile import AnchorRule, Profile, ProfileKind

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass(frozen=True)
class Anchor:
    rule: AnchorRule
    resource: Resource
    record: Record
    item: Mapping[str, Any]
    others: tuple[ObjectRef, ...] = ()  # further live anchors of the same kind

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def policy(self) -> str:
        """The policy the operator itself would follow; empty when the anchor does not say."""
        found = value_at(self.item, self.rule.policy) if self.rule.policy else None
        return found if found in (RETAIN, DELETE) else ""

    @property
    def status(self) -> str:
        """How far the operator's own drain is, in one word, whichever generation of status it writes."""
        word = value_at(self.item, self.rule.status) if self.rule.status else None
        if word in ("pending", "draining", "completed", "failed"):
            return str(word)
        condition = condition_of(self.item, self.rule.condition) if self.rule.condition else None
        if condition and condition.get("status") == "True":
            return "failed" if condition.get("reason") == "DrainFailed" else "draining"
        if condition and condition.get("reason") == "DrainCompleted":
            return "completed"
        return "draining" if self.record.terminating else "pending"


def find_anchor(profile: Profile, wish: AnchorWish, cluster: Cluster) -> Anchor | None:
    """The installation's anchor. None: there is none, which is no reason not to drain."""
    rule = anchor_rule(profile, wish)
    if rule is None:
        return None
    finding = cluster.find_kind(rule.kind.group, rule.kind.kind)
    if finding.resource is None:
        if finding.availability.value == "not installed" and rule is profile.anchor:
            return None
        raise CannotLook(f"cannot look for {rule.kind.title}", why=finding.why, next_step="bring that API back")
    found = _all_of(finding.resource, wish, cluster)
    fitting = [item for item in found if _fits(item, wish)]
    if len(fitting) > 1:
        names = ", ".join(sorted(_place(item) for item in fitting))
        raise Refused(
            "which installation is meant?",
            why=f"there are {len(fitting)} of {rule.kind.kind}: {names}",
            next_step="name one in anchor, and say in instance what belongs to it; nothing was changed",
        )
    if not fitting:
        return None
    uid = value_at(fitting[0], "metadata.uid")
    others = [record_of(item["metadata"]) for item in found if value_at(item, "metadata.uid") != uid]
    return Anchor(
        rule,
        finding.resource,
        record_of(fitting[0]["metadata"]),
        fitting[0],
        tuple(ref_to(finding.resource, record) for record in others if not record.terminating),
    )


def live_anchors(profile: Profile, wish: AnchorWish, cluster: Cluster) -> tuple[ObjectRef, ...]:
    """Those of other installations, asked for when ours is not there (any more)."""
    rule = anchor_rule(profile, wish)
    resource = cluster.find_kind(rule.kind.group, rule.kind.kind).resource if rule else None
    if resource is None:
        return ()
    records = [record_of(item["metadata"]) for item in _all_of(resource, wish, cluster)]
    return tuple(ref_to(resource, record) for record in records if not record.terminating)


def anchor_rule(profile: Profile, wish: AnchorWish) -> AnchorRule | None:
    """What an anchor is: as the task says, or as the profile does."""
    if not wish.kind:
        if wish.name and profile.anchor is None:
            raise BadOption(
                "bad options",
                why=f"anchor.name is given, but the profile {profile.name} has no anchor",
                next_step="give anchor.kind and anchor.api_version as well, or leave anchor out",
            )
        return profile.anchor
    group = wish.api_version.rpartition("/")[0]
    known = profile.anchor
    if known and known.kind.kind == wish.kind and (not wish.api_version or known.kind.group == group):
        return known
    return AnchorRule(ProfileKind(group, wish.kind, profile.finalizers))


def _all_of(resource: Resource, wish: AnchorWish, cluster: Cluster) -> list[dict[str, Any]]:
    """All of the cluster, because a second installation matters; only the named one where no more may be seen."""
    try:
        return cluster.list_whole(resource)
    except Problem as problem:
        if not problem.is_forbidden or not wish.name:
            raise
        item = cluster.read_whole(resource, wish.namespace, wish.name)
        return [item] if item else []


def _fits(item: Mapping[str, Any], wish: AnchorWish) -> bool:
    name, namespace = value_at(item, "metadata.name"), value_at(item, "metadata.namespace") or ""
    return (not wish.name or name == wish.name) and (not wish.namespace or namespace == wish.namespace)


def _place(item: Mapping[str, Any]) -> str:
    return "/".join(filter(None, (value_at(item, "metadata.namespace"), value_at(item, "metadata.name"))))
