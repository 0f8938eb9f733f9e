# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove named finalizers from objects that hang: the use case behind the module `finalizer`.

Room: teardown. Order: parse → look → judge → check limits and rights → write → report. Check mode goes the same way and
lets the server try every patch without keeping it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..events import Looked, Planned, Progress, Tell, Warned
from ..limits import check_limits, check_run_options
from ..objects import Record, Resource
from ..problems import BadFields, BadOption, Interrupted, Problem, Refused, TimedOut
from ..terms import Terms
from .blockers.survivors import Diagnosis, explain_met
from .finalizer_plan import FinalizerPlan, Skip, left_after
from .finalizer_rules import Case, Wish, is_wanted, judge, passes_without_owner
from .owners import Around, Owner, OwnerFacts, fetch_owner_facts, is_of_the_kind, judge_owner
from .permits import fetch_permits
from .releasing import Release, first_refusal, set_free
from .verdicts import Fate, Verdict

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


@dataclass(frozen=True)
class FinalizerOptions:
    kind: str
    wish: Wish
    api_version: str | None = None
    name: str | None = None
    namespace: str | None = None
    label_selector: str | None = None
    timeout: float = 600.0
    max_objects: int | None = None
    plan_hash: str | None = None
    check_mode: bool = False
    hashed: Mapping[str, Any] = field(default_factory=dict)  # options that the plan's hash covers


@dataclass
class FinalizerOutcome:
    plan: FinalizerPlan
    check_mode: bool = False
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    seconds: float = 0.0
    server_time: float = 0.0


def parse_options(
    params: dict[str, Any], *, check_mode: bool, hashed: Mapping[str, Any] | None = None
) -> FinalizerOptions:
    """Options of the task to values; every bad field is reported at once."""
    bad = BadFields()
    finalizers = tuple(text.strip() for text in params["finalizers"])
    if not finalizers or not all(finalizers):
        bad.add("finalizers", "give at least one name or glob, and no empty ones")
    if any(not text.strip("*?/.") for text in finalizers if text):
        bad.add(
            "finalizers",
            "a lone * would take finalizers nobody thought of; name them, or use a glob like example.com/*",
        )
    _refuse_empty_texts(params, ("kind", "name", "namespace", "label_selector", "api_version"), bad)
    if params["name"] and params["label_selector"]:
        bad.add("name", "cannot stand together with label_selector")
    check_run_options(params, bad)
    bad.raise_if_any()
    return FinalizerOptions(
        kind=params["kind"],
        wish=Wish(
            finalizers=finalizers,
            terminating_only=params["terminating_only"],
            grace=float(params["grace"]),
            owner=params["owner"],
            allow_protected=params["allow_protected"],
        ),
        api_version=params["api_version"],
        name=params["name"],
        namespace=params["namespace"],
        label_selector=params["label_selector"],
        timeout=float(params["timeout"]),
        max_objects=params["max_objects"],
        plan_hash=params["plan_hash"],
        check_mode=check_mode,
        hashed=hashed or {},
    )


def _refuse_empty_texts(params: dict[str, Any], names: tuple[str, ...], bad: BadFields) -> None:
    """A variable that came out empty must not mean "all of them"."""
    for name in names:
        if params[name] is not None and not params[name].strip():
            bad.add(name, "is empty; leave it out or give a value")


def remove_named_finalizers(
    options: FinalizerOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell
) -> FinalizerOutcome:
    began = clock.now()
    deadline = Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = FinalizerOutcome(FinalizerPlan(), options.check_mode)
    resource, warning = cluster.resolve(options.kind, options.api_version)
    if warning:
        _warn(outcome, warning, tell)
    terms = Terms({"": cluster.identity()}, options.hashed)
    if resource is None:
        outcome.plan.terms = terms
        return outcome
    records = _look(options, resource, cluster, tell)
    outcome.plan = _plan(options, resource, records, cluster, outcome, tell)
    outcome.plan.terms = terms
    tell(Planned(_summary(outcome.plan), outcome.plan.hash))
    try:
        check_limits(len(outcome.plan.releases), outcome.plan.hash, options.max_objects, options.plan_hash)
        _check_rights(resource, outcome.plan, cluster)
    except Refused as refusal:
        outcome.failure = refusal  # with the plan, so that one can see what was refused
    else:
        _carry_out(options, outcome, cluster, stop, deadline, tell)
        _set_replaced_aside(outcome.plan)
        outcome.failure = _what_went_wrong(outcome, stop, deadline)
        outcome.diagnosis = explain_met(left_after(outcome.plan), cluster, tell)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def _look(options: FinalizerOptions, resource: Resource, cluster: Cluster, tell: Tell) -> list[Record]:
    if options.namespace and not resource.namespaced:
        raise BadOption(
            "bad options", why=f"namespace is given, but {resource.kind} is cluster-scoped", next_step="leave it out"
        )
    if options.name:
        if resource.namespaced and not options.namespace:
            raise BadOption(
                "bad options", why=f"{resource.kind} lives in a namespace, and none is given", next_step="set namespace"
            )
        one = cluster.read(resource, options.namespace or "", options.name)
        return [one] if one else []
    if options.namespace or not resource.namespaced:
        listings = [cluster.list(resource, options.namespace, options.label_selector)]
    else:
        listings = cluster.list_everywhere(resource, options.label_selector)
    records = [record for listing in listings for record in listing.records]
    scope = f"namespace {options.namespace}" if options.namespace else "the cluster"
    tell(Looked(resource.kind, len(records), scope))
    return records


def _plan(
    options: FinalizerOptions,
    resource: Resource,
    records: Iterable[Record],
    cluster: Cluster,
    outcome: FinalizerOutcome,
    tell: Tell,
) -> FinalizerPlan:
    now = cluster.server_time()
    plan = FinalizerPlan()
    cases: list[Case] = []
    for record in records:
        plan.looked_at += 1
        wanted = dict.fromkeys(name for name in record.finalizers if is_wanted(name, options.wish))
        cases.extend(Case(record, name, options.wish, now) for name in wanted)
        if record.terminating and record.finalizers and not wanted:
            plan.held.append((resource, record))
    facts = None
    in_question = [case for case in cases if passes_without_owner(case)] if options.wish.owner == "gone" else []
    if in_question:
        facts, unread = _owner_facts(resource, in_question, cluster)
        if unread:
            _warn(outcome, f"whether the controllers still run could not be checked ({'; '.join(unread)})", tell)
    owners: dict[tuple[str, ...], Owner] = {}
    going: dict[str, Release] = {}
    for case in cases:
        verdict = judge(_with_owner(case, resource, facts, owners))
        if verdict.fate is Fate.RELEASE:
            known = going.get(case.record.uid)
            names = (*known.finalizers, case.finalizer) if known else (case.finalizer,)
            going[case.record.uid] = Release(resource, case.record, names)
        else:
            plan.skips.append(Skip(resource, case.record, case.finalizer, verdict))
    plan.releases = list(going.values())
    return plan


def _owner_facts(resource: Resource, cases: Sequence[Case], cluster: Cluster) -> tuple[OwnerFacts, list[str]]:
    """Who may be behind these, and what could not be looked at. Roles count only for finalizers of the kind itself."""
    facts = fetch_owner_facts(cluster, {case.record.namespace for case in cases if case.record.namespace})
    facts.around = Around()
    if not any(is_of_the_kind(case.finalizer, resource) for case in cases):
        return facts, facts.unreadable
    permits = fetch_permits(cluster)
    facts.around = Around(permits)
    return facts, [*facts.unreadable, *permits.unreadable]


def _with_owner(case: Case, resource: Resource, facts: OwnerFacts | None, owners: dict[tuple[str, ...], Owner]) -> Case:
    if facts is None:
        return case
    managers = sorted({manager for name, manager in case.record.finalizer_managers if name == case.finalizer})
    key = (case.finalizer, case.record.namespace, *managers)
    if key not in owners:
        owners[key] = judge_owner(case.finalizer, managers, facts, resource, case.record.namespace)
    return Case(case.record, case.finalizer, case.wish, case.now, owners[key])


def _summary(plan: FinalizerPlan) -> str:
    by_name = Counter(name for release in plan.releases for name in release.finalizers)
    parts = [f"{name} from {count}" for name, count in by_name.most_common(5)]
    what = "remove " + ", ".join(parts) if parts else "nothing to remove"
    stay = f"; {len(plan.skips)} stay" if plan.skips else ""
    held = Counter(name for _resource, record in plan.held for name in record.finalizers)
    others = ", ".join(f"{name} ({count})" for name, count in held.most_common(3))
    what = f"{what} (of {plan.looked_at} looked at)"
    return what + stay + (f"; {len(plan.held)} more hang on {others}" if others else "")


def _check_rights(resource: Resource, plan: FinalizerPlan, cluster: Cluster) -> None:
    if plan.releases:
        cluster.require("patch", resource, sorted({release.record.namespace for release in plan.releases}))


def _carry_out(
    options: FinalizerOptions,
    outcome: FinalizerOutcome,
    cluster: Cluster,
    stop: StopSign,
    deadline: Deadline,
    tell: Tell,
) -> None:
    total = len(outcome.plan.releases)
    tried = itertools.count(1)
    step = "trying removals (check mode)" if options.check_mode else "removing finalizers"

    def release_one(release: Release) -> None:
        if stop.is_set() or deadline.passed():
            return
        set_free(release, cluster, tell, dry_run=options.check_mode)
        tell(Progress(step, next(tried), total, deadline.left(), word="done"))

    try:
        cluster.for_each(outcome.plan.releases, release_one)
    except Interrupted:
        pass  # reported below, with what was done until then
    except Problem as problem:
        outcome.failure = problem


def _set_replaced_aside(plan: FinalizerPlan) -> None:
    """The object we meant is gone; its namesake was never in the plan."""
    verdict = Verdict(Fate.REPLACED, "it was deleted and created anew meanwhile; the new one is not touched")
    for release in (release for release in plan.releases if release.replaced):
        plan.skips.extend(Skip(release.resource, release.record, name, verdict) for name in release.finalizers)


def _what_went_wrong(outcome: FinalizerOutcome, stop: StopSign, deadline: Deadline) -> Problem | None:
    releases = outcome.plan.releases
    untried = [release for release in releases if release.untried]
    if outcome.failure:
        return outcome.failure
    if untried and (stop.is_set() or deadline.passed()):
        counted = f"{len(releases) - len(untried)} of {len(releases)} objects were dealt with"
        if stop.is_set():
            return Interrupted(
                "stopped", why=f"{stop.reason}; {counted}", next_step="run the task again: it goes on from here"
            )
        return TimedOut(
            "out of time",
            why=f"{counted} within {deadline.seconds:.0f} s",
            next_step="run the task again, or raise timeout",
        )
    return first_refusal(releases)


def _warn(outcome: FinalizerOutcome, text: str, tell: Tell) -> None:
    outcome.warnings.append(text)
    tell(Warned(text))
