# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan: which step takes which member, what becomes of it, in which waves, under one hash.

Room: teardown. `make_plan` is pure; `gather_ground` before it is the only part that looks at the cluster.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..problems import Problem
from ..profiles.built_in_groups import BUILT_IN_GROUPS
from ..shown import Shown
from ..terms import Terms
from .detachments import Detachment
from .guards import Facts, judge
from .matching import Matcher
from .members.claims import Claim, Membership
from .members.looking import Looker, Member
from .obstacles.backends import service_of
from .releasing import Release
from .steps import Standard, StepRule
from .truce import finalizers_given_up
from .verdicts import Fate, Verdict
from .waves import EDGE_RULES, OLM, ORDER_ANNOTATIONS, WEBHOOKS, OrderFacts, is_healer, is_installer, waves_of

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

GOING = frozenset({Fate.DELETE, Fate.TERMINATING})
RECORDS = StepRule("records", 1_000_000, only_if_clean=True)
# A source's own records carry no marks of the source, and go when all else is gone.
RECORD_FACTS = Facts(keep_markers=False)


def facts_for(rule: StepRule, facts: Facts) -> Facts:
    return RECORD_FACTS if rule is RECORDS else facts


@dataclass(frozen=True)
class Entry:
    """One member and what the plan says of it."""

    member: Member
    verdict: Verdict


@dataclass
class Step:
    """Members that go together, in waves. `kept` are those that the step would take, but a guard objects.

    `releases` lose finalizers before the first wave begins; they stay, unless they are in a wave as well.
    `detachments` lose owner references before the wave that would take them along begins; they are kept.
    """

    rule: StepRule
    waves: list[list[Entry]] = field(default_factory=list)
    kept: list[Entry] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    detachments: list[Detachment] = field(default_factory=list)

    @property
    def going(self) -> list[Entry]:
        return [entry for wave in self.waves for entry in wave]

    @property
    def size(self) -> int:
        """Objects that something happens to."""
        return len({entry.member.record.uid for entry in self.going} | {one.record.uid for one in self.releases})

    def take_out(self, wanted: Callable[[Member], bool]) -> list[Entry]:
        """Remove the fitting ones from this step and hand them over."""
        taken = [entry for entry in self.going if wanted(entry.member)]
        uids = {entry.member.record.uid for entry in taken}
        left = [[entry for entry in wave if entry.member.record.uid not in uids] for wave in self.waves]
        self.waves = [wave for wave in left if wave]
        return taken


@dataclass
class Plan:
    steps: list[Step] = field(default_factory=list)
    unmatched: list[Entry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)  # approved with it
    home: str = ""  # the namespace of the release that is removed; see plan_reach.py

    @property
    def going(self) -> list[Entry]:
        return [entry for step in self.steps for entry in step.going]

    @property
    def kept(self) -> list[Entry]:
        return [*(entry for step in self.steps for entry in step.kept), *self.unmatched]

    @property
    def hash(self) -> str:
        """The same objects in the same order under the same terms give the same hash, however they were found."""
        return self.terms.hash_of(self.content)

    @property
    def content(self) -> list[Any]:
        """What the hash is made of besides the terms, as plain data.

        Without those that go with their owners anyway: Pods come and go while somebody thinks about a plan.
        """
        going = {entry.member.record.uid for entry in self.going}
        return [
            [
                *(step.rule.name, step.rule.force, step.rule.before_delete),
                [named for wave in step.waves if (named := _identities(wave, going))],
                sorted([*release.ref.as_dict().values(), *release.finalizers] for release in step.releases),
                *_without_owners(step.detachments),
            ]
            for step in self.steps
        ]

    @property
    def releases(self) -> list[Release]:
        return [release for step in self.steps for release in step.releases]

    @property
    def detachments(self) -> list[Detachment]:
        return [one for step in self.steps for one in step.detachments]

    def keep(self, member: Member, verdict: Verdict) -> None:
        """One more that is kept: found because of what the plan deletes, and in no step."""
        self.unmatched.append(Entry(member, verdict))

    def forget_kept(self, uids: Set[str]) -> None:
        """These are not kept after all."""
        for step in self.steps:
            step.kept = [entry for entry in step.kept if entry.member.record.uid not in uids]
        self.unmatched = [entry for entry in self.unmatched if entry.member.record.uid not in uids]

    def is_rest_of(self, shown: Shown) -> bool:
        """Whether nothing happens to anybody but what was shown; nobody was shown nothing."""
        going = {entry.member.record.uid for entry in self.going}
        released = {one.record.uid for one in self.releases}
        alike = shown.terms == self.terms.digest
        detached = {one.record.uid for one in self.detachments} <= shown.detached
        return bool(shown) and alike and detached and going <= shown.deleted and released <= shown.touched

    def counts(self) -> Counter[str]:
        counts = Counter(entry.verdict.fate.value for entry in (*self.going, *self.kept))
        if self.releases:
            counts[Fate.RELEASE.value] = len(self.releases)
        return counts


def _identities(wave: Sequence[Entry], going: Set[str]) -> list[list[str]]:
    members = [entry.member for entry in wave if not _goes_with_its_owners(entry.member, going)]
    return sorted(list(member.ref.as_dict().values()) for member in members)


def _without_owners(detachments: Sequence[Detachment]) -> list[list[list[str]]]:
    return [sorted([one.record.uid, *sorted(one.owner_uids)] for one in detachments)] if detachments else []


def _goes_with_its_owners(member: Member, going: Set[str]) -> bool:
    owners = set(member.record.owner_uids)
    return bool(owners) and owners <= going


@dataclass
class Ground:
    """Everything a plan is made of."""

    members: list[Member]
    records: list[Member]
    facts: Facts
    order: OrderFacts
    matcher: Matcher
    default_order: bool = True
    order_annotations: tuple[str, ...] = ()
    absent: list[Claim] = field(default_factory=list)


def gather_ground(
    membership: Membership, rules: tuple[StepRule, ...], looker: Looker, cluster: Cluster, *, explicit_first: bool
) -> Ground:
    """Look at the cluster: members, the types the task names, whole types where it reaches beyond the members."""
    found = looker.find(membership)
    types = _resolve_types(rules, looker)
    matcher = Matcher(rules, types, explicit_first)
    members = {member.record.uid: member for member in found.members}
    for member in _beyond(rules, matcher, looker):
        members.setdefault(member.record.uid, member)
    everyone = list(members.values())
    return Ground(
        members=everyone,
        records=found.records,
        facts=Facts(not_ours=membership.not_ours, home=membership.home),
        order=order_facts(everyone, cluster, looker.warnings),
        matcher=matcher,
        absent=found.absent,
    )


def _resolve_types(rules: Iterable[StepRule], looker: Looker) -> dict[str, Resource | None]:
    resolved: dict[str, Resource | None] = {}
    for rule in (rule for rule in rules if not rule.context):
        for entry in (*rule.types, *rule.exclude):
            api_version = None if entry.group is None else f"{entry.group}/{entry.version or ''}"
            resolved[entry.path] = looker.resolve(entry.kind, api_version)
    return resolved


def _beyond(rules: Iterable[StepRule], matcher: Matcher, looker: Looker) -> Iterator[Member]:
    for rule in (rule for rule in rules if not rule.context):
        for entry in rule.types:
            resource = matcher.types[entry.path]
            if not entry.everything or resource is None:
                continue
            for record in looker.everything(resource):
                member = Member(resource, record, f"every {resource.kind} ({entry.path})", marked=False)
                if matcher.reaches(rule, entry, member):
                    yield member


def order_facts(members: Sequence[Member], cluster: Cluster, warnings: list[str]) -> OrderFacts:
    """Whole definitions and webhook configurations, only of those kinds and only when there are members to order."""
    maybe = [member for member in members if _may_be_custom(member)]
    backends = _webhook_backends(members, cluster)
    try:
        definitions = cluster.definitions() if maybe else []
    except Problem as problem:
        # A tenant may not see them. They only serve a better order, so group names have to do.
        warnings.append(f"the definitions of custom resources cannot be read, their order is guessed ({problem.why})")
        guessed = frozenset((member.resource.group, member.resource.plural) for member in maybe)
        return OrderFacts(custom_kinds=guessed, webhook_backends=backends)
    return OrderFacts(
        custom_kinds=frozenset(kind for kind in map(_defined, definitions) if kind[0] != OLM),
        webhook_backends=backends,
        conversion_backends={
            _defined(item): service for item in definitions if (service := _conversion_service(item)) is not None
        },
    )


def _may_be_custom(member: Member) -> bool:
    return member.resource.group not in BUILT_IN_GROUPS and member.resource.group != OLM


def _defined(item: dict[str, Any]) -> tuple[str, str]:
    spec = item.get("spec") or {}
    return spec.get("group") or "", (spec.get("names") or {}).get("plural") or ""


def _conversion_service(item: dict[str, Any]) -> tuple[str, str] | None:
    conversion = (item.get("spec") or {}).get("conversion") or {}
    return service_of((conversion.get("webhook") or {}).get("clientConfig") or {})


def _webhook_backends(members: Sequence[Member], cluster: Cluster) -> dict[str, frozenset[tuple[str, str]]]:
    uids = {member.record.uid for member in members if member.resource.group == WEBHOOKS}
    kinds = {member.resource for member in members if member.record.uid in uids}
    backends: dict[str, frozenset[tuple[str, str]]] = {}
    for resource in sorted(kinds, key=lambda kind: kind.plural):
        for item in cluster.list_whole(resource):
            uid = item["metadata"]["uid"]
            services = (service_of(hook.get("clientConfig") or {}) for hook in item.get("webhooks") or ())
            if uid in uids:
                backends[uid] = frozenset(service for service in services if service)
    return backends


def plan_elsewhere(rules: Sequence[StepRule], looker: Looker, facts: Facts) -> tuple[list[Step], Matcher]:
    """Steps that another context's cluster is about: every object of their types there."""
    here = tuple(dataclasses.replace(rule, context=None) for rule in rules)
    matcher = Matcher(here, _resolve_types(here, looker))
    members = {member.record.uid: member for member in _beyond(here, matcher, looker)}
    taken: list[list[Entry]] = [[] for _rule in rules]
    for member in members.values():
        place = matcher.step_of(member)
        if place is not None:
            taken[place].append(Entry(member, judge(member, facts)))
    warnings: list[str] = []
    steps = [_step(rule, entries, OrderFacts(), warnings) for rule, entries in zip(rules, taken, strict=True)]
    return steps, matcher


def make_plan(ground: Ground) -> Plan:
    """Pure: every member gets its step and its verdict; the records of the source go last."""
    plan = Plan(home=ground.facts.home)
    taken: list[list[Entry]] = [[] for _rule in ground.matcher.rules]
    for member in ground.members:
        verdict = judge(member, ground.facts)
        place = ground.matcher.step_of(member)
        if place is None and member.dependant and verdict.fate in GOING and not ground.matcher.excludes(member):
            continue  # the garbage collector deletes it with its owner
        if place is None:
            why = verdict if verdict.fate not in GOING else Verdict(Fate.UNMATCHED, "no step takes it")
            plan.unmatched.append(Entry(member, why))
        else:
            taken[place].append(Entry(member, verdict))
    for rule, entries in zip(ground.matcher.rules, taken, strict=True):
        plan.steps.append(_step(rule, entries, ground.order, plan.warnings, ground.order_annotations))
    if ground.default_order:
        _hoist(plan, ground.order)
    if ground.records:
        entries = [Entry(member, judge(member, RECORD_FACTS)) for member in ground.records]
        step = _step(RECORDS, entries, OrderFacts(), plan.warnings)
        step.releases = list(_given_up(step.going))
        plan.steps.append(step)
    return plan


def _given_up(entries: Iterable[Entry]) -> Iterator[Release]:
    """An owner that waits would not let go of itself, and one that does not would take along what is kept."""
    for entry in entries:
        names = finalizers_given_up(entry.member)
        if names:
            yield Release(entry.member.resource, entry.member.record, names)


def _step(
    rule: StepRule, entries: list[Entry], order: OrderFacts, warnings: list[str], annotations: Sequence[str] = ()
) -> Step:
    going = {entry.member.record.uid: entry for entry in entries if entry.verdict.fate in GOING}
    rules = (*EDGE_RULES, *(ORDER_ANNOTATIONS[name] for name in annotations))
    waves, dropped = waves_of([entry.member for entry in going.values()], order, rules)
    warnings.extend(f"{rule.name}: {text}" for text in dropped)
    return Step(
        rule,
        [[going[member.record.uid] for member in wave] for wave in waves],
        [entry for entry in entries if entry.verdict.fate not in GOING],
    )


def _hoist(plan: Plan, order: OrderFacts) -> None:
    """Without an order of the task's own, what must go before the workloads of step 1 is taken out of later steps.

    Admission webhooks go before their backends, and custom resources without a namespace before the operator that
    finalizes them and the webhook that converts them; those with a namespace go before these, as they may lean on them.
    What OLM installs comes back as long as its Subscription or its ClusterServiceVersion is there.
    """
    by_standard = {step.rule.standard: step for step in plan.steps}
    namespaced, cluster_scoped = by_standard.get(Standard.NAMESPACED), by_standard.get(Standard.CLUSTER_SCOPED)
    if namespaced is None or cluster_scoped is None:
        return
    force = namespaced.rule.force  # all steps of the default order agree on it
    installers = Step(StepRule("subscriptions", -100, force=force), [namespaced.take_out(is_installer)])
    healers = Step(StepRule("installed versions", 60, force=force), [namespaced.take_out(is_healer)])
    webhooks = Step(
        StepRule("webhook configurations", 0 if not healers.going else 70, force=force),
        [cluster_scoped.take_out(lambda member: member.resource.group == WEBHOOKS)],
    )
    wide = cluster_scoped.take_out(order.is_custom)
    narrow = namespaced.take_out(order.is_custom) if wide or healers.going else []
    custom = Step(StepRule("custom resources", 50, force=force), [wave for wave in (narrow, wide) if wave])
    # Whoever repairs webhook configurations goes before them; while he is there, so is what they call.
    early = [installers, custom, healers, webhooks] if healers.going else [installers, webhooks, custom]
    plan.steps[:0] = [step for step in early if step.going]
