# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything a drain has to know before it writes: anchor, policy, controllers, objects, and the plan made of them.

Room: teardown. May be made again at any time; the second one tells whether the first plan is done.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...events import Tell
from ...objects import ObjectRef, Record
from ...problems import Refused
from ...terms import Terms
from ..controllers import Controller
from ..guards import Facts
from ..members.looking import Looker
from ..owned_and_kept import look_for_what_they_own, plan_detachments
from ..owners import Life, Owner
from .anchor import Anchor, anchor_rule, find_anchor, live_anchors
from .controllers import Controllers, find_controllers
from .instance import Yardstick
from .options import AUTO, DELETE, RETAIN, SCALE, DrainOptions, Instance
from .planning import DrainPlan, managers_of, plan_drain
from .profile import Profile, ProfileKind
from .scene import Look, Scene

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass
class Survey:
    profile: Profile
    anchor: Anchor | None
    policy: str
    instance: Instance
    controllers: Controllers
    scene: Scene
    plan: DrainPlan
    looker: Looker
    quiesces: bool  # the operator is stopped before the first write
    stops_later: bool  # it is stopped when it has done what only it can do
    others: tuple[ObjectRef, ...] = ()  # live anchors of other installations
    # Kinds that are not in the profile, as they were found; the same list in all surveys of a task.
    unknown: list[ProfileKind] = field(default_factory=list)

    def not_ours(self, record: Record, marked: bool) -> str:
        """Asked once more right before a delete, with the newest labels."""
        objection = Yardstick(self.profile, self.instance).by_labels(record)
        return objection.why if objection else ""

    @property
    def stops(self) -> list[Controller]:
        """Controllers that are scaled to 0, sooner or later."""
        busy = self.plan.size or self.plan.anchor
        return self.controllers.running if busy and (self.quiesces or self.stops_later) else []

    @property
    def tells_operator(self) -> bool:
        """Deleting the anchor first makes a running operator drain as well, and stop adding finalizers."""
        return self.plan.anchor is not None and not self.quiesces and self.controllers.owner.life is Life.ALIVE

    @property
    def changes_policy(self) -> bool:
        """A running operator follows its anchor. It must not delete what this task retains, nor the other way."""
        anchor = self.anchor
        follows = anchor is not None and bool(anchor.rule.policy) and self.tells_operator
        return follows and anchor is not None and (anchor.policy or RETAIN) != self.policy


def make_survey(options: DrainOptions, profile: Profile, cluster: Cluster, tell: Tell) -> Survey:
    anchor = find_anchor(profile, options.anchor, cluster)
    others = anchor.others if anchor else live_anchors(profile, options.anchor, cluster)
    policy = options.policy or (anchor.policy if anchor else "") or RETAIN
    instance = _completed(options, anchor)
    looker = Looker(cluster, tell)
    yardstick = Yardstick(profile, instance)
    scene = Look(profile, yardstick, policy, cluster, looker).scene(anchor=_anchor_kind(profile, options))
    yardstick = dataclasses.replace(yardstick, classes=scene.classes)
    foreign = {ref.namespace for ref in others} - {instance.controller_namespace}
    names = {
        instance.controller_name,
        *yardstick.controllers_named_by(one for view in scene.views for one in view.records),
    }
    place = instance.controller_namespace
    beside = bool(place) and place in {ref.namespace for ref in others}
    controllers = find_controllers(profile, place, managers_of(scene), cluster, foreign, names, beside)
    alive = controllers.owner.life is Life.ALIVE
    tells = anchor is not None and options.remove_anchor and alive
    busy = alive or any(one.available for one in controllers.found)  # also one that only sets finalizers
    quiesces = options.quiesce == SCALE or (options.quiesce == AUTO and policy == RETAIN and busy and not tells)
    plan = plan_drain(scene, yardstick, options, policy, anchor, alone=quiesces or not alive)
    plan.terms = Terms({"": cluster.identity()}, options.hashed)
    _detach_what_is_kept(plan, looker)
    # What is released stays, and a running operator may put its finalizers back on it. What is deleted is gone.
    stops_later = options.quiesce == AUTO and alive and not quiesces and bool(plan.kinds_only.releases)
    unknown = [view.kind for view in scene.unknown]
    return Survey(
        *(profile, anchor, policy, instance, controllers, scene, plan, looker, quiesces, stops_later, others, unknown)
    )


def look_again(
    first: Survey, options: DrainOptions, cluster: Cluster, tell: Tell, *, everywhere: bool = False
) -> Survey:
    """What is left of the plan, and what came meanwhile. The anchor may be gone by now; what it said still holds.

    Kinds that are not in the profile are looked at where some were found before, or all of them (`everywhere`).
    """
    if everywhere:
        cluster.forget_catalogue()  # a kind may be new
    looker = Looker(cluster, tell)
    yardstick = Yardstick(first.profile, first.instance)
    look = Look(first.profile, yardstick, first.policy, cluster, looker)
    scene = look.scene(first.unknown, everywhere=everywhere, anchor=_anchor_kind(first.profile, options))
    scene.refuse_if_unreadable()
    scene.refuse_to_delete()
    first.unknown.extend(view.kind for view in scene.unknown if view.kind not in first.unknown)
    yardstick = dataclasses.replace(yardstick, classes=scene.classes)
    plan = plan_drain(scene, yardstick, options, first.policy, None, alone=False)
    _detach_what_is_kept(plan, looker)
    return dataclasses.replace(first, scene=scene, plan=plan, looker=looker)


def _anchor_kind(profile: Profile, options: DrainOptions) -> ProfileKind | None:
    rule = anchor_rule(profile, options.anchor)
    return rule.kind if rule else None


def _detach_what_is_kept(plan: DrainPlan, looker: Looker) -> None:
    """What is deleted must not take along what is released or kept."""
    whole = plan.whole
    if whole.going:
        look_for_what_they_own(whole, looker)
        plan_detachments(whole, looker, Facts())


def _completed(options: DrainOptions, anchor: Anchor | None) -> Instance:
    """An installation's controllers live beside its anchor, also where only the task still names that."""
    place = anchor.record.namespace if anchor else options.anchor.namespace
    if options.instance.controller_namespace or not place:
        return options.instance
    return dataclasses.replace(options.instance, controller_namespace=place)


def _absent_cleaner(survey: Survey) -> Owner | None:
    """Who would have to clean up behind something that is deleted, and does not run. The one for most kinds first."""
    kinds = {rank: view.kind for rank, view in enumerate(survey.scene.views, 1)}
    busy = [kinds[step.rule.rank] for step in survey.plan.steps if step.going]
    gone = [owner for owner in map(survey.controllers.owner_of, busy) if owner.life is Life.GONE]
    return survey.controllers.owner if survey.controllers.owner in gone else next(iter(gone), None)


def refuse_what_is_unsafe(survey: Survey, options: DrainOptions) -> None:
    """Reasons not to begin, each with its way out."""
    survey.scene.refuse_if_unreadable()
    others = survey.others
    if others and not options.instance.is_given:
        raise Refused(
            "another installation may own some of these objects",
            why=f"{others[0]} is alive too" + (f", and {len(others) - 1} more" if len(others) > 1 else ""),
            next_step="say in instance what belongs to the one you drain; nothing was changed",
        )
    deleting = any(step.going for step in survey.plan.steps)
    if deleting:
        survey.scene.refuse_to_delete()
    owner = _absent_cleaner(survey)
    if survey.policy == DELETE and owner and not options.ladder.force:
        raise Refused(
            "policy Delete needs the running operator",
            why=f"only it can clean up outside the cluster, and {owner.why}",
            next_step="bring it back, or use policy Retain, or set force: true; nothing was changed",
        )
    if survey.policy == DELETE and deleting and survey.quiesces and not options.ladder.force:
        raise Refused(
            "policy Delete needs the running operator",
            why="quiesce: scale would stop it before it can clean up",
            next_step="leave quiesce out, or use policy Retain; nothing was changed",
        )
    busy = survey.plan.size or survey.plan.anchor
    if options.quiesce == SCALE and not survey.controllers.found and busy:
        labels = " or ".join(survey.profile.workloads) or "(the profile knows no label)"
        place = survey.instance.controller_namespace
        raise Refused(
            "there is nothing to scale down",
            why=f"no Deployment or StatefulSet is labelled {labels}" + (f" in namespace {place}" if place else ""),
            next_step="set instance.controller_namespace to where the operator runs, or leave quiesce out",
        )
    if options.freeze and options.instance.is_given and not options.instance.namespaces:
        raise Refused(
            "freeze would hold up the other installations",
            why="it works by namespaces, and instance names none",
            next_step="set instance.namespaces, or leave freeze out; nothing was changed",
        )
