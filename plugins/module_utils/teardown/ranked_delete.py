# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete what a source names, in ranked steps: the use case behind the module `ranked_delete`.

Room: teardown. parse → members → plan → limits and rights → run → outcome. Check mode ends with a rehearsal: the server
tries every delete without keeping it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..events import Planned, Tell, Warned
from ..limits import check_limits, check_run_options
from ..problems import BadFields, Problem, Refused
from ..terms import Terms
from .before_delete import check_before_delete
from .blockers.survivors import Diagnosis, diagnose, name_the_first
from .dependants import find_dependants
from .dialects import read_order
from .foreign import Foreign, find_foreign, going_along, kept_among, look_into_namespaces, refuse
from .guards import Facts, judge
from .healers import find_healers
from .keepsakes import Keepsakes, keep
from .ladder import Ladder
from .members.claims import Claim, Membership
from .members.looking import Looker, Member
from .members.manifests import manifest_membership
from .members.sources import check_members, chosen_source, manifest_sources, read_members
from .owned_and_kept import look_for_what_they_own, plan_detachments
from .plan import GOING, Ground, Plan, gather_ground, make_plan, order_facts, plan_elsewhere
from .plan_reach import reach_of, warnings_of
from .rehearsal import Refusal, rehearse, why_refused
from .rights import require_rights
from .run import Site, carry_out
from .run_outcome import RunOptions, RunOutcome
from .steps import DEFAULT_STEPS, StepRule
from .truce import left_waiting, pauses_of
from .verdicts import Fate

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass(frozen=True)
class RankedOptions:
    members: Mapping[str, Any]
    rules: tuple[StepRule, ...] = DEFAULT_STEPS
    run: RunOptions = field(default_factory=RunOptions)
    explicit_first: bool = False
    default_order: bool = True
    order_annotations: tuple[str, ...] = ()
    state: str = "absent"
    desired: Any = None
    missing: str = "warn"
    foreign: str = "refuse"
    keep_markers: bool = True
    ownership: str = "check"
    delete_namespace: bool = False
    max_objects: int | None = None
    plan_hash: str | None = None
    check_mode: bool = False
    keepsakes: bool = False
    keep_secrets: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers


@dataclass
class RankedOutcome:
    plan: Plan = field(default_factory=Plan)
    run: RunOutcome = field(default_factory=RunOutcome)
    check_mode: bool = False
    source: str = ""
    absent: int = 0
    keepsakes: Keepsakes | None = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    refused_in_rehearsal: list[Refusal] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0
    server_time: float = 0.0


def parse_ranked(
    params: Mapping[str, Any], *, check_mode: bool, here: bool = False, hashed: Mapping[str, Any] | None = None
) -> RankedOptions:
    """Options of the task to values; every bad field is reported at once, before anything is sent."""
    bad = BadFields()
    check_members(params["members"], bad)
    pruned = params["state"] == "pruned"
    groups = params["deletion_groups_during_update"] if pruned else params["deletion_groups"]
    option = "deletion_groups_during_update" if pruned else "deletion_groups"
    rules = read_order(groups, params["deletion_order_rules"], groups_option=option, bad=bad)
    if not pruned and params["desired"] is not None:
        bad.add("desired", "is only allowed with state: pruned")
    if pruned and params["desired"] is None:
        bad.add("desired", "is needed with state: pruned")
    if pruned and any(entry.everything for rule in rules for entry in rule.types):
        bad.add(option, "selector.all and deleteAllResources are not allowed with state: pruned")
    check_run_options(params, bad)
    before_delete = {key: value for key, value in (params["before_delete"] or {}).items() if value is not None}
    check_before_delete(before_delete, "before_delete", bad)
    for rule in rules:
        check_before_delete(rule.before_delete, f"{rule.path}.beforeDelete", bad)
    bad.raise_if_any()
    return RankedOptions(
        members=params["members"],
        rules=rules,
        run=RunOptions(
            timeout=float(params["timeout"]),
            ladder=Ladder(
                after=float(params["force_after"]),
                deny=tuple(params["force_deny"] or ()),
                allow=tuple(params["force_allow"] or ()),
            ),
            on_timeout=params["on_timeout"],
            fail_fast=params["fail_fast"],
            propagation=params["propagation_policy"],
            grace_seconds=params["grace_period_seconds"],
            finalize_namespaces=params["finalize_namespaces"],
            before_delete=before_delete,
            foreign=params["foreign_instances"],
        ),
        explicit_first=bool(params["deletion_order_rules"]),
        default_order=not groups and not params["deletion_order_rules"],
        order_annotations=tuple(params["order_annotations"] or ()),
        state=params["state"],
        desired=params["desired"],
        missing=params["missing"],
        foreign=params["foreign_instances"],
        keep_markers=params["keep_markers"],
        ownership=params["ownership"],
        delete_namespace=params["delete_namespace"],
        max_objects=params["max_objects"],
        plan_hash=params["plan_hash"],
        check_mode=check_mode,
        keepsakes=bool(params["evidence_dir"]),
        # Only where they do not have to travel: they are encrypted on the controller.
        keep_secrets=here and bool(params["undo_vault_password"]),
        hashed=hashed or {},
    )


# Changes what a plan is made of, after everything was found and before the plan is made.
Adjust = Callable[[Ground, Looker], None]


@dataclass
class Deletion:
    """A deletion that is planned, and not begun."""

    options: RankedOptions
    membership: Membership
    ground: Ground
    plan: Plan
    foreign: list[Foreign]
    sites: dict[str | None, Site]
    warnings: list[str]

    @property
    def clusters(self) -> dict[str | None, Cluster]:
        return {context: site.cluster for context, site in self.sites.items()}


def delete_ranked(
    options: RankedOptions,
    cluster: Cluster,
    other_cluster: Callable[[str], Cluster],
    clock: Clock,
    stop: StopSign,
    tell: Tell,
) -> RankedOutcome:
    began = clock.now()
    cluster.limit_to(Deadline(clock, options.run.timeout))
    outcome = RankedOutcome(check_mode=options.check_mode)
    membership = read_members(options.members, cluster, other_cluster)
    outcome.source = membership.source
    if membership.missing:
        outcome.plan.terms = Terms({"": cluster.identity()}, options.hashed)
        return _nothing_to_do(options, membership, outcome, tell)
    deletion = plan_deletion(options, membership, cluster, other_cluster, tell)
    outcome.absent = len(deletion.ground.absent)
    outcome.plan = deletion.plan
    _warn(outcome, [*deletion.warnings, *_who_brings_back(deletion, cluster)], tell)
    tell(Planned(summary_of(outcome.plan), outcome.plan.hash))
    try:
        refuse(deletion.foreign)
        check_limits(len(outcome.plan.going), outcome.plan.hash, options.max_objects, options.plan_hash)
        require_rights_for(deletion)
    except Refused as refusal:
        outcome.failure = refusal  # with the plan, so that one can see what was refused
    else:
        act(deletion, outcome, clock, stop, tell)
        if outcome.failure and not options.check_mode:
            _warn(outcome, left_waiting(pauses_of(deletion.plan), cluster), tell)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def plan_deletion(
    options: RankedOptions,
    membership: Membership,
    cluster: Cluster,
    other_cluster: Callable[[str], Cluster],
    tell: Tell,
    adjust: Adjust | None = None,
) -> Deletion:
    looker = Looker(cluster, tell)
    ground = ground_of(options, membership, looker, cluster, adjust)
    plan, foreign = plan_of(ground, looker, options.foreign, orphan=options.run.propagation == "Orphan")
    sites: dict[str | None, Site] = {None: Site(cluster, looker, ground.matcher, ground.facts)}
    sites.update(_sites_elsewhere(plan, other_cluster, tell))
    plan.terms = Terms({context or "": site.cluster.identity() for context, site in sites.items()}, options.hashed)
    warnings = [*membership.warnings, *looker.warnings, *plan.warnings, *warnings_of(plan)]
    return Deletion(options, membership, ground, plan, foreign, sites, warnings)


def require_rights_for(deletion: Deletion) -> None:
    for context, site in deletion.sites.items():
        require_rights(
            deletion.plan,
            site.cluster,
            patch_first=bool(deletion.options.run.before_delete),
            finalize=deletion.options.run.finalize_namespaces,
            context=context,
        )


def ground_of(
    options: RankedOptions, membership: Membership, looker: Looker, cluster: Cluster, adjust: Adjust | None = None
) -> Ground:
    """Everything the plan is made of, with the task's own wishes."""
    _add_the_namespace(options, membership)
    ground = gather_ground(membership, options.rules, looker, cluster, explicit_first=options.explicit_first)
    ground.default_order = options.default_order
    ground.order_annotations = options.order_annotations
    ground.facts.keep_markers = options.keep_markers
    ground.facts.check_ownership = options.ownership == "check"
    if options.state == "pruned":
        sources, namespace = manifest_sources(options.desired)
        desired = manifest_membership(sources, membership.default_namespace or namespace)
        ground.members = _without_desired(ground.members, desired, looker)
        ground.records = []  # the release itself lives on
    if adjust is not None:
        known = len(ground.members)
        adjust(ground, looker)
        if len(ground.members) != known:  # custom resources may be among those that came
            ground.order = order_facts(ground.members, cluster, looker.warnings)
    look_into_namespaces(ground.members, looker)
    if options.run.propagation != "Orphan":
        # Of those that go: what a kept object owns stays with it.
        going = [member for member in ground.members if _goes(member, ground)]
        kept = {member.record.uid for member in ground.members if _is_kept(member, ground)}
        owned = find_dependants(going, looker, ground.facts, kept)
        # An owner in the plan confirms what the release metadata names.
        confirmed = {member.record.uid for member in owned if _goes(member, ground)}
        ground.members = [member for member in ground.members if member.record.uid not in confirmed]
        listed = {member.record.uid for member in ground.members}
        ground.members += [member for member in owned if member.record.uid not in listed]
    return ground


def _is_kept(member: Member, ground: Ground) -> bool:
    """Whatever owns it. Only what does not say whose it is may still be confirmed by its owner."""
    return not _goes(member, ground) and judge(member, ground.facts).fate is not Fate.NOT_OWNED


def _goes(member: Member, ground: Ground) -> bool:
    return judge(member, ground.facts).fate in GOING and ground.matcher.step_of(member) is not None


def act(
    deletion: Deletion,
    outcome: RankedOutcome,
    clock: Clock,
    stop: StopSign,
    tell: Tell,
    originals: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    """Carry the plan out; in check mode let the server try it. `originals`: what was changed before, as it was."""
    options, clusters = deletion.options, deletion.clusters
    if options.check_mode:
        outcome.refused_in_rehearsal = rehearse(deletion.plan, clusters, options.run.propagation, tell)
        outcome.failure = why_refused(outcome.refused_in_rehearsal, "delete")
        return
    if options.keepsakes:
        outcome.keepsakes = keep(
            deletion.plan,
            clusters,
            tell,
            secrets=options.keep_secrets,
            originals=originals,
            gone_before=outcome.absent,
        )
    outcome.run = carry_out(deletion.plan, deletion.sites, options.run, clock, stop, tell)
    outcome.diagnosis = diagnose([outcome.run], clusters, tell)
    outcome.failure = name_the_first(outcome.run.failure, outcome.diagnosis)


def _who_brings_back(deletion: Deletion, cluster: Cluster) -> list[str]:
    """Owners that are not in the plan. What is only pruned, its owner has let go of himself."""
    if deletion.options.state == "pruned":
        return []
    found = find_healers([entry.member for entry in deletion.plan.going], cluster)
    return [f"{one.text} (way out: {one.way_out})" if one.way_out else one.text for one in found if one.certain]


def _warn(outcome: RankedOutcome, texts: Sequence[str], tell: Tell) -> None:
    for text in dict.fromkeys(texts):
        outcome.warnings.append(text)
        tell(Warned(text))


def _sites_elsewhere(plan: Plan, other_cluster: Callable[[str], Cluster], tell: Tell) -> dict[str | None, Site]:
    """Steps with `targetName` are planned and carried out in that context's cluster."""
    sites: dict[str | None, Site] = {}
    for context in dict.fromkeys(step.rule.context for step in plan.steps if step.rule.context):
        places = [place for place, step in enumerate(plan.steps) if step.rule.context == context]
        cluster = other_cluster(context)
        looker = Looker(cluster, tell)
        steps, matcher = plan_elsewhere([plan.steps[place].rule for place in places], looker, Facts())
        for place, step in zip(places, steps, strict=True):
            plan.steps[place] = step
        sites[context] = Site(cluster, looker, matcher, Facts())
    return sites


def _nothing_to_do(options: RankedOptions, membership: Membership, outcome: RankedOutcome, tell: Tell) -> RankedOutcome:
    """No record: it was deleted before, or the name is wrong. Which of both cannot be told from here."""
    if options.missing == "fail":
        raise Refused("nothing to delete", why=membership.missing, next_step="check the name and the namespace")
    _warn(outcome, [f"nothing to delete: {membership.missing}"], tell)
    return outcome


def _without_desired(members: list[Member], desired: Membership, looker: Looker) -> list[Member]:
    """`state: pruned`: without what is desired, and without what desired objects own. Live objects are compared."""
    stays = {member.record.uid for member in looker.find(desired).members}
    owned = stays
    while owned:
        owned = {member.record.uid for member in members if owned & set(member.record.owner_uids)} - stays
        stays = stays | owned
    return [member for member in members if member.record.uid not in stays]


def _add_the_namespace(options: RankedOptions, membership: Membership) -> None:
    """A sweep takes the contents; the Namespace itself only when a step or an option names it."""
    name, value = chosen_source(options.members)
    named = any(
        entry.kind.lower() in ("namespace", "namespaces", "ns") for rule in options.rules for entry in rule.types
    )
    if name == "namespace" and (options.delete_namespace or named):
        membership.claims.append(Claim("", "Namespace", value, version="v1", source=membership.source, marked=False))


def plan_of(ground: Ground, looker: Looker, policy: str, *, orphan: bool = False) -> tuple[Plan, list[Foreign]]:
    """The plan, and what would go along unseen, if that is a reason to refuse it."""
    plan = make_plan(ground)
    foreign = find_foreign(plan, looker)
    if policy == "cascade":
        foreign = kept_among(foreign)
    if policy != "refuse" and foreign:
        ground.facts.takes_others_along = {entry.member.record.uid: entry.why for entry in foreign}
        plan, foreign = make_plan(ground), []
    if not orphan and plan.going:
        look_for_what_they_own(plan, looker)
        plan_detachments(plan, looker, ground.facts)
    if not foreign:
        plan.forget_kept(going_along(plan))
    return plan, foreign


def summary_of(plan: Plan) -> str:
    steps = [step for step in plan.steps if step.going]
    parts = [f"{len(step.going)} {step.rule.name}" for step in steps]
    what = (
        f"delete {len(plan.going)} objects in {len(steps)} steps: {' → '.join(parts)}" if steps else "nothing to delete"
    )
    outside = reach_of(plan).outside
    what += f", outside namespace {plan.home}: {outside}" if outside else ""
    return f"{what}; {len(plan.kept)} stay" if plan.kept else what
