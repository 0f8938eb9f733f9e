# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a drain: what is released, what is deleted, what stays and why, kind by kind, the anchor last.

Room: teardown (pure). The order of kinds is the profile's; inside a kind everything goes at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...objects import ObjectRef, Resource
from ...paths import value_at
from ...terms import Terms
from ..guards import Facts, judge
from ..members.looking import Member
from ..plan import GOING, Entry, Plan, Step
from ..releasing import Release
from ..steps import StepRule
from ..verdicts import Fate, Verdict
from .anchor import Anchor
from .instance import Yardstick
from .options import DELETE, DrainOptions
from .profile import ProfileKind, finalizers_of
from .scene import OPERATOR, UNKNOWN, KindView, Scene
from .uses import Needs


@dataclass(frozen=True)
class Retained:
    """An object that stays, or whose part outside the cluster stays: one line of the bill."""

    object: ObjectRef
    reason: str
    external: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class DrainPlan:
    steps: list[Step] = field(default_factory=list)
    anchor: Step | None = None
    retained: list[Retained] = field(default_factory=list)
    found: Counter[ProfileKind] = field(default_factory=Counter)  # objects with the finalizer, whosever they are
    unknown: Counter[str] = field(default_factory=Counter)  # objects to release of kinds that are not in the profile
    bare: Counter[ProfileKind] = field(default_factory=Counter)  # objects of the operator that carry no finalizer
    terms: Terms = field(default_factory=Terms)
    also_kept: list[Entry] = field(default_factory=list)  # owned by what goes, of whatever kind
    needs: Needs = field(default_factory=Needs)

    @property
    def whole(self) -> Plan:
        steps = [*self.steps, *([self.anchor] if self.anchor else [])]
        return Plan(steps, unmatched=self.also_kept, terms=self.terms)

    @property
    def kinds_only(self) -> Plan:
        return Plan(self.steps, unmatched=self.also_kept, terms=self.terms)

    @property
    def unknown_text(self) -> str:
        return "not in the profile: " + ", ".join(f"{kind} x{count}" for kind, count in self.unknown.items())

    @property
    def size(self) -> int:
        """Objects to be drained, the anchor not counted."""
        return sum(len(step.releases) + len(step.going) for step in self.steps)


def plan_drain(
    scene: Scene, yardstick: Yardstick, options: DrainOptions, policy: str, anchor: Anchor | None, *, alone: bool
) -> DrainPlan:
    """`alone`: no controller will take the anchor's finalizer off, so we do."""
    plan = DrainPlan()
    for rank, view in enumerate(scene.views, 1):
        if view.resource is not None:
            step = Step(StepRule(_name_of(view), rank, force=options.ladder.force))
            _plan_kind(plan, step, view, view.resource, yardstick, options, policy)
            plan.steps.append(step)
            if view.role == UNKNOWN and step.releases:
                plan.unknown[view.kind.kind] += len(step.releases)
    if anchor is not None and options.remove_anchor:
        plan.anchor = anchor_step(anchor, len(scene.views) + 1, options, alone=alone)
        external = external_of(anchor.rule.kind, anchor.item)
        if alone and external:
            why = "the operator does not run, so nobody deregisters it outside the cluster"
            plan.retained.append(Retained(anchor.ref, why, external))
    return plan


def _plan_kind(
    plan: DrainPlan,
    step: Step,
    view: KindView,
    resource: Resource,
    yardstick: Yardstick,
    options: DrainOptions,
    policy: str,
) -> None:
    deletes = policy == DELETE and view.role == OPERATOR
    doomed: list[Entry] = []
    for record in view.records:
        names = finalizers_of(record, view.kind)
        if not names:
            plan.bare[view.kind] += view.role == OPERATOR
            if not deletes or options.only_with_finalizer:
                continue  # nothing holds it, so nothing will get stuck
        else:
            plan.found[view.kind] += 1
        item = view.items.get(record.uid) or {}
        member = Member(resource, record, yardstick.profile.title, before_delete=_preparation(view.kind))
        if yardstick.needs_whole(view.kind) and not item:
            objection: Verdict | None = Verdict(Fate.UNMATCHED, "it appeared while we looked; run the task again")
        else:
            objection = yardstick.objection(view.kind, record, item)
        if objection is not None:
            step.kept.append(Entry(member, objection))
            continue
        spared = _why_spared(plan, view.kind, member, item, yardstick, options) if deletes else None
        if deletes and spared is None:
            doomed.append(Entry(member, judge(member, Facts())))
            _note_own_policy(plan, view.kind, member, item)
        elif names:
            step.releases.append(Release(member.resource, record, names))
            reason = spared.why if spared else _why_retained(view)
            plan.retained.append(Retained(member.ref, reason, external_of(view.kind, item)))
        elif spared:
            step.kept.append(Entry(member, spared))
    step.waves = [doomed] if doomed else []
    plan.needs.note(view, {entry.member.record.uid for entry in doomed})


def _preparation(kind: ProfileKind) -> dict[str, Any]:
    return {"annotate": dict(kind.annotations)} if kind.annotations else {}


def _why_spared(
    plan: DrainPlan,
    kind: ProfileKind,
    member: Member,
    item: Mapping[str, Any],
    yardstick: Yardstick,
    options: DrainOptions,
) -> Verdict | None:
    """Why policy Delete does not delete this one. Released all the same: nobody would finalize it later."""
    verdict = judge(member, Facts())
    if verdict.fate not in GOING:
        return verdict
    if member.record.terminating:
        return None
    if yardstick.is_authored(kind, member.record) and options.user_authored == "report":
        return Verdict(
            Fate.KEEP, "written by a person, not by the operator: released, not deleted (user_authored: drain deletes)"
        )
    user = plan.needs.user_of(kind, member.record, item)
    return Verdict(Fate.KEEP, f"{user}, which stays, uses it: released, not deleted") if user else None


def _name_of(view: KindView) -> str:
    return f"{view.kind.kind} (not in the profile)" if view.role == UNKNOWN else view.kind.kind


def _why_retained(view: KindView) -> str:
    if view.role == UNKNOWN:
        return "not in the profile: released, never deleted"
    return "policy Retain" if view.role == OPERATOR else "it belongs to its user: released, never deleted"


def _note_own_policy(plan: DrainPlan, kind: ProfileKind, member: Member, item: Mapping[str, Any]) -> None:
    if kind.own_policy is None:
        return
    path, deletes = kind.own_policy
    found = value_at(item, path)
    if found is not None and found != deletes:
        why = f"retained by its own policy: {path} is {found}"
        plan.retained.append(Retained(member.ref, why, external_of(kind, item)))


def external_of(kind: ProfileKind, item: Mapping[str, Any]) -> dict[str, Any]:
    """What exists outside the cluster because of this object."""
    values = {path: value_at(item, path) for path in kind.external_ids}
    return {path: value for path, value in values.items() if value not in (None, "", [])}


def anchor_step(anchor: Anchor, rank: int, options: DrainOptions, *, alone: bool) -> Step:
    member = Member(anchor.resource, anchor.record, "anchor", named=True)
    step = Step(StepRule(f"{anchor.rule.kind.kind} (anchor)", rank, force=options.ladder.force))
    step.waves = [[Entry(member, judge(member, Facts(keep_markers=False)))]]
    names = finalizers_of(anchor.record, anchor.rule.kind)
    if alone and names:
        step.releases = [Release(anchor.resource, anchor.record, names)]
    return step


def managers_of(scene: Scene) -> Iterable[str]:
    """Field managers that set the product's finalizers: names of its controllers, likely."""
    for view in scene.views:
        for record in view.records:
            names = finalizers_of(record, view.kind)
            yield from (manager for name, manager in record.finalizer_managers if name in names)
