# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete what a source names, in ranked steps: the use case behind the module `ranked_delete`.

Room: teardown. parse → members → plan → limits and rights → run → outcome. Check mode ends with a rehearsal: the server
tries every delete without keeping it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..problems import BadFields, Problem, Refused
from .dependants import find_dependants
from .dialects import read_order
from .events import Did, Planned, Tell, Warned
from .explain import Blocked, explain
from .ladder import Ladder
from .members.claims import Claim, Membership
from .members.looking import Looker, Member
from .members.manifests import manifest_membership
from .members.sources import chosen_source, manifest_sources, read_members
from .plan import Entry, Ground, Plan, foreign_instances, gather_ground, make_plan, refuse_foreign_instances
from .run import RunOptions, RunOutcome, carry_out
from .steps import StepRule

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass(frozen=True)
class RankedOptions:
    members: Mapping[str, Any]
    rules: tuple[StepRule, ...]
    run: RunOptions
    explicit_first: bool = False
    default_order: bool = True
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


@dataclass
class RankedOutcome:
    plan: Plan = field(default_factory=Plan)
    run: RunOutcome = field(default_factory=RunOutcome)
    check_mode: bool = False
    source: str = ""
    absent: int = 0
    blocked: list[Blocked] = field(default_factory=list)
    refused_in_rehearsal: list[tuple[Entry, Problem]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0
    server_time: float = 0.0


def parse_ranked(params: Mapping[str, Any], *, check_mode: bool) -> RankedOptions:
    """Options of the task to values; every bad field is reported at once, before anything is sent."""
    chosen_source(params["members"])
    pruned = params["state"] == "pruned"
    groups = params["deletion_groups_during_update"] if pruned else params["deletion_groups"]
    option = "deletion_groups_during_update" if pruned else "deletion_groups"
    rules = read_order(groups, params["deletion_order_rules"], groups_option=option)
    bad = BadFields()
    if pruned and params["desired"] is None:
        bad.add("desired", "is needed with state: pruned")
    if pruned and any(entry.everything for rule in rules for entry in rule.types):
        bad.add(option, "selector.all and deleteAllResources are not allowed with state: pruned")
    for name, least in (("timeout", 1), ("parallel", 1), ("max_objects", 1), ("force_after", 0)):
        if params.get(name) is not None and params[name] < least:
            bad.add(name, f"must be {least} or more, not {params[name]}")
    if (params.get("parallel") or 1) > 64:
        bad.add("parallel", f"must be 64 or less, not {params['parallel']}")
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
            propagation=params["propagation_policy"],
            grace_seconds=params["grace_period_seconds"],
        ),
        explicit_first=bool(params["deletion_order_rules"]),
        default_order=not groups and not params["deletion_order_rules"],
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
    )


def delete_ranked(options: RankedOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell) -> RankedOutcome:
    began = clock.now()
    cluster.limit_to(Deadline(clock, options.run.timeout))
    outcome = RankedOutcome(check_mode=options.check_mode)
    membership = read_members(options.members, cluster)
    outcome.source = membership.source
    if membership.missing:
        return _nothing_to_do(options, membership, outcome, tell)
    _narrow_to_pruned(options, membership)
    _add_the_namespace(options, membership)
    looker = Looker(cluster, tell)
    ground = gather_ground(membership, options.rules, looker, cluster, explicit_first=options.explicit_first)
    ground.default_order = options.default_order
    ground.facts.keep_markers = options.keep_markers
    ground.facts.check_ownership = options.ownership == "check"
    ground.facts.foreign_policy = options.foreign
    ground.members += find_dependants(ground.members, looker)
    outcome.plan = _plan(ground, looker)
    for text in [*membership.warnings, *looker.warnings, *outcome.plan.warnings]:
        outcome.warnings.append(text)
        tell(Warned(text))
    tell(Planned(_summary(outcome.plan), outcome.plan.hash))
    _check_limits(options, outcome.plan)
    _check_rights(options, outcome.plan, cluster)
    if options.check_mode:
        _rehearse(options, outcome, cluster, tell)
    else:
        outcome.run = carry_out(outcome.plan, ground.facts, looker, options.run, cluster, clock, stop, tell)
        outcome.failure = outcome.run.failure
        outcome.blocked = explain(outcome.run, cluster)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def _nothing_to_do(options: RankedOptions, membership: Membership, outcome: RankedOutcome, tell: Tell) -> RankedOutcome:
    """No record: it was deleted before, or the name is wrong. Which of both cannot be told from here."""
    if options.missing == "fail":
        raise Refused("nothing to delete", why=membership.missing, next_step="check the name and the namespace")
    outcome.warnings.append(f"nothing to delete: {membership.missing}")
    tell(Warned(outcome.warnings[-1]))
    return outcome


def _narrow_to_pruned(options: RankedOptions, membership: Membership) -> None:
    """`state: pruned`: only what is recorded and not desired any more; the record itself stays."""
    if options.state != "pruned":
        return
    sources, namespace = manifest_sources(options.desired)
    namespace = membership.default_namespace or namespace
    desired = {_identity(claim, namespace) for claim in manifest_membership(sources, namespace).claims}
    membership.claims = [claim for claim in membership.claims if _identity(claim, namespace) not in desired]
    membership.records = []


def _identity(claim: Claim, namespace: str) -> tuple[str, str, str, str]:
    """Version aside. Where no namespace is named, both sides get the same one, whatever the kind's scope."""
    return claim.group or "", claim.kind, claim.namespace or namespace, claim.name


def _add_the_namespace(options: RankedOptions, membership: Membership) -> None:
    """A sweep takes the contents; the Namespace itself only when a step or an option names it."""
    name, value = chosen_source(options.members)
    named = any(
        entry.kind.lower() in ("namespace", "namespaces", "ns") for rule in options.rules for entry in rule.types
    )
    if name == "namespace" and (options.delete_namespace or named):
        membership.claims.append(Claim("", "Namespace", value, version="v1", source=membership.source, marked=False))


def _plan(ground: Ground, looker: Looker) -> Plan:
    plan = make_plan(ground)
    foreign = foreign_instances(ground, plan, looker)
    if not foreign or ground.facts.foreign_policy == "cascade":
        return plan
    if ground.facts.foreign_policy == "refuse":
        refuse_foreign_instances(foreign)
    ground.facts.foreign_instances = foreign
    return make_plan(ground)


def _summary(plan: Plan) -> str:
    steps = [step for step in plan.steps if step.going]
    parts = [f"{len(step.going)} {step.rule.name}" for step in steps]
    what = (
        f"delete {len(plan.going)} objects in {len(steps)} steps: {' → '.join(parts)}" if steps else "nothing to delete"
    )
    return f"{what}; {len(plan.kept)} stay" if plan.kept else what


def _check_limits(options: RankedOptions, plan: Plan) -> None:
    if options.max_objects is not None and len(plan.going) > options.max_objects:
        raise Refused(
            "too many objects",
            why=f"{len(plan.going)} would be deleted, and max_objects is {options.max_objects}",
            next_step="look at the plan with --check, then raise max_objects or select less; nothing was changed",
        )
    if options.plan_hash and options.plan_hash != plan.hash:
        raise Refused(
            "the plan has changed",
            why=f"it is now {plan.hash}, and plan_hash is {options.plan_hash}",
            next_step="look at the new plan with --check and give its plan_hash; nothing was changed",
        )


def _check_rights(options: RankedOptions, plan: Plan, cluster: Cluster) -> None:
    """Every verb on every kind, before the first write."""
    needed: dict[tuple[str, Any], set[str]] = {}
    for step in plan.steps:
        for entry in step.going:
            verbs = ["delete", "patch"] if step.rule.force else ["delete"]
            for verb in verbs:
                needed.setdefault((verb, entry.member.resource), set()).add(entry.member.record.namespace)
    cluster.for_each(needed.items(), lambda item: cluster.require(item[0][0], item[0][1], sorted(item[1])))


def _rehearse(options: RankedOptions, outcome: RankedOutcome, cluster: Cluster, tell: Tell) -> None:
    """Let the server try every delete. What it refuses now, it would refuse in the middle of the run."""

    def try_one(entry: Entry) -> None:
        member: Member = entry.member
        if member.record.terminating:
            return
        written = cluster.delete(member.resource, member.record, propagation=options.run.propagation, dry_run=True)
        tell(Did("delete", member.ref, written.effect.value, dry_run=True))
        if written.problem:
            outcome.refused_in_rehearsal.append((entry, written.problem))

    cluster.for_each(outcome.plan.going, try_one)
    if outcome.refused_in_rehearsal:
        entry, problem = outcome.refused_in_rehearsal[0]
        more = len(outcome.refused_in_rehearsal) - 1
        outcome.failure = Refused(
            "the API server would refuse to delete",
            which=f"{entry.member.ref}" + (f" (and {more} more)" if more else ""),
            why=problem.why,
            next_step=problem.next_step,
        )
