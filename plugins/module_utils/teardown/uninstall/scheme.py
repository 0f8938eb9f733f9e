# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an uninstall will do, as a value: the products it drains, then the deletion, under one hash.

Room: teardown. Looks at the cluster and writes nothing; may be made again when the drains are done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...events import Tell
from ...labels import parse_selector
from ...problems import BadFields
from ...profiles.known_products import PRODUCTS
from ...profiles.route_kinds import ROUTE_KINDS
from ...shown import Shown
from ...terms import Terms
from ...well_known import LEASES
from ..drain.drain import forecast
from ..drain.options import DrainOptions
from ..drain.profile import Profile, read_profile
from ..drain.survey import Survey, make_survey
from ..guards import CRD
from ..members.claims import Membership
from ..members.detection import Candidate
from ..members.helm_marks import marked_membership
from ..members.known_releases import known_releases
from ..members.sources import OtherCluster, read_members
from ..plan import Entry, Plan
from ..ranked_delete import Deletion, RankedOptions, plan_deletion
from ..steps import StepRule, TypeRule
from .options import UninstallOptions
from .wishes import adjusting

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_RATE = 150.0  # objects a second with their dependants, for the forecast: below what `make bench` finds
_STEP = 0.5  # seconds a step takes at least: one barrier


@dataclass
class Scheme:
    origin: Candidate | None  # None: nothing of the wanted name is there
    membership: Membership
    terms: Terms
    deletion: Deletion | None = None  # None: the source has no record
    surveys: list[Survey] = field(default_factory=list)
    there: list[str] = field(default_factory=list)  # releases that are there, where the wanted one is not

    @property
    def plan(self) -> Plan:
        return self.deletion.plan if self.deletion else Plan(terms=self.terms)

    @property
    def hash(self) -> str:
        return self.terms.hash_of(self.content)

    @property
    def content(self) -> list[Any]:
        """What the hash is made of besides the terms: the drains and their policies, then the deletion."""
        drains = [[one.profile.name, one.policy, one.plan.whole.hash] for one in self.surveys]
        return [*drains, self.plan.hash]

    @property
    def parts(self) -> list[Plan]:
        """The plans whose hashes are in the content, in that order."""
        return [*(survey.plan.whole for survey in self.surveys), self.plan]

    @property
    def size(self) -> int:
        return len(self.touched)

    @property
    def touched(self) -> set[str]:
        """uids of everything something happens to."""
        released = {release.record.uid for survey in self.surveys for release in survey.plan.whole.releases}
        return self.deleted | released

    @property
    def deleted(self) -> set[str]:
        """uids of everything that goes. What a drain only releases stays."""
        plans = [self.plan, *(survey.plan.whole for survey in self.surveys)]
        return {entry.member.record.uid for plan in plans for entry in plan.going}

    def forecast(self, drain: DrainOptions) -> float:
        """Seconds it should take if every controller is prompt."""
        busy = [step for step in self.plan.steps if step.going]
        drains = sum(forecast(survey, drain) for survey in self.surveys if survey.plan.size)
        return drains + len(self.plan.going) / _RATE + _STEP * len(busy) + 1.0


def make_scheme(
    options: UninstallOptions,
    origin: Candidate | None,
    cluster: Cluster,
    other_cluster: Callable[[str], Cluster],
    seconds: float,
    tell: Tell,
) -> Scheme:
    terms = Terms({"": cluster.identity()}, options.hashed)
    scheme = Scheme(origin, _members_of(origin, options, cluster, other_cluster), terms)
    if scheme.membership.missing:
        scheme.there = known_releases(options.namespace, cluster)
    else:
        scheme.deletion = plan_again(options, scheme, cluster, other_cluster, seconds, tell)
    if "drain" in options.stages:
        for profile in _profiles(options, scheme.plan):
            scheme.surveys.append(make_survey(options.drain, profile, cluster, tell))
    return scheme


def _members_of(
    origin: Candidate | None, options: UninstallOptions, cluster: Cluster, other_cluster: OtherCluster
) -> Membership:
    if origin is None:
        kinds = "no Helm release, kapp application, Flux, Argo CD or OLM object"
        return Membership(f"release {options.release}", missing=f"{kinds} is called {options.release}")
    membership = read_members(origin.option, cluster, other_cluster)
    if membership.missing and origin.source == "helm":
        return marked_membership(options.release, options.namespace, cluster)
    return membership


def plan_again(
    options: UninstallOptions,
    scheme: Scheme,
    cluster: Cluster,
    other_cluster: Callable[[str], Cluster],
    seconds: float,
    tell: Tell,
) -> Deletion:
    members = scheme.origin.option if scheme.origin else {}
    wanted = _with_late_steps(options.deletion(members, seconds), options, cluster)
    return plan_deletion(wanted, scheme.membership, cluster, other_cluster, tell, adjusting(options, cluster))


def newcomers(now: Plan, shown: Collection[str]) -> list[Entry]:
    """What the plan deletes and the one that was shown did not, unless something shown owns it, or its owner."""
    known = set(shown)
    fresh = [entry for entry in now.going if entry.member.record.uid not in known]
    while owned := {entry.member.record.uid for entry in fresh if known & set(entry.member.record.owner_uids)}:
        known |= owned
        fresh = [entry for entry in fresh if entry.member.record.uid not in owned]
    return fresh


def unseen(scheme: Scheme, shown: Shown) -> bool:
    """Whether anything would happen that the plan that was shown did not say."""
    plans = [scheme.plan, *(survey.plan.whole for survey in scheme.surveys)]
    freed = {release.record.uid for plan in plans for release in plan.releases}
    return (
        any(newcomers(plan, shown.deleted) for plan in plans)
        or not freed <= shown.touched
        or scheme.terms.digest != shown.terms
        or not {one.record.uid for plan in plans for one in plan.detachments} <= shown.detached
        or not all(shown.allows(one.policy, one.profile.name) for one in scheme.surveys if one.plan.size)
    )


def _with_late_steps(wanted: RankedOptions, options: UninstallOptions, cluster: Cluster) -> RankedOptions:
    """Leases go when their holders are gone, or these make them again. Routes last, if a page stands before them."""
    leases = TypeRule("leases", LEASES.kind, LEASES.group)
    routes = [
        TypeRule(f"routes: {kind}.{group}", kind, group)
        for group, kind in sorted(ROUTE_KINDS)
        if options.routes == "last" and cluster.find_kind(group, kind).resource
    ]
    late = [StepRule("leases", 240, types=(leases,), force=options.force)]
    late += [StepRule("routes", 250, types=tuple(routes), force=options.force)] if routes else []
    *before, definitions = wanted.rules
    return dataclasses.replace(wanted, rules=(*before, *late, definitions), explicit_first=True)


def _profiles(options: UninstallOptions, plan: Plan) -> list[Profile]:
    """The profile the task names, or those of products whose definitions or workloads are in the plan."""
    if options.drain.profile is not None:
        return [options.drain.profile]
    if not options.finds_profiles:
        return []
    found = [name for name, product in sorted(PRODUCTS.items()) if _is_in(product, plan)]
    return [read_profile(PRODUCTS[name], "profile", BadFields()) for name in found]


def _is_in(product: dict[str, Any], plan: Plan) -> bool:
    anchor = product.get("anchor") or {}
    groups = {kind["group"] for kind in product.get("operator_kinds") or ()} | {anchor.get("group")}
    tests = [parse_selector(selector) for selector in product.get("workloads") or ()]
    for entry in plan.going:
        resource, record = entry.member.resource, entry.member.record
        if (resource.group, resource.plural) == CRD and record.name.partition(".")[2] in groups:
            return True
        if resource.group == "apps" and any(test(record.labels) for test in tests):
            return True
    return False
