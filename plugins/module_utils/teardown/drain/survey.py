# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Everything a drain has to know before it writes: anchor, policy, controllers, objects, and the plan made of them.

Room: teardown. May be made again at any time; the second one tells whether the first plan is done.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...objects import Record
from ...problems import Refused
from ..events import Tell
from ..members.looking import Looker
from ..owners import Life
from .anchor import Anchor, find_anchor
from .controllers import Controllers, find_controllers
from .instance import Yardstick
from .options import AUTO, DELETE, RETAIN, DrainOptions, Instance
from .planning import DrainPlan, managers_of, plan_drain
from .profile import Profile
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
    quiesces: bool

    def not_ours(self, record: Record, marked: bool) -> str:
        """Asked once more right before a delete, with the newest labels."""
        objection = Yardstick(self.profile, self.instance).by_labels(record)
        return objection.why if objection else ""

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
    policy = options.policy or (anchor.policy if anchor else "") or RETAIN
    instance = _completed(options.instance, anchor)
    looker = Looker(cluster, tell)
    yardstick = Yardstick(profile, instance)
    scene = Look(profile, yardstick, policy, cluster, looker).scene()
    yardstick = dataclasses.replace(yardstick, classes=scene.classes)
    controllers = find_controllers(profile, instance.controller_namespace, managers_of(scene), cluster)
    alive = controllers.owner.life is Life.ALIVE
    tells = anchor is not None and options.remove_anchor
    quiesces = options.quiesce == "scale" or (options.quiesce == AUTO and policy == RETAIN and alive and not tells)
    plan = plan_drain(scene, yardstick, options, policy, anchor, alone=quiesces or not alive)
    return Survey(profile, anchor, policy, instance, controllers, scene, plan, looker, quiesces)


def _completed(instance: Instance, anchor: Anchor | None) -> Instance:
    """An installation's controllers live beside its anchor."""
    if anchor is None or instance.controller_namespace:
        return instance
    return dataclasses.replace(instance, controller_namespace=anchor.record.namespace)


def refuse_what_is_unsafe(survey: Survey, options: DrainOptions) -> None:
    """Reasons not to begin, each with its way out."""
    survey.scene.refuse_if_unreadable()
    anchor = survey.anchor
    if anchor and anchor.others and not options.instance.is_given:
        raise Refused(
            "another installation may own some of these objects",
            why=f"{anchor.others[0]} is alive too"
            + (f", and {len(anchor.others) - 1} more" * (len(anchor.others) > 1)),
            next_step="say in instance what belongs to the one you drain; nothing was changed",
        )
    deleting = any(step.going for step in survey.plan.steps)
    owner = survey.controllers.owner
    if survey.policy == DELETE and deleting and owner.life is Life.GONE and not options.ladder.force:
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
    if options.quiesce == "scale" and not survey.controllers.found:
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
