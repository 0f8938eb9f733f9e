# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why is it still there? What is known about each survivor of a run, from metadata and a few looks.

Room: teardown. Looks only when there are survivors, and then a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..objects import ObjectRef, Record
from ..problems import Problem, TimedOut
from .departure import Leaver
from .finalizer_rules import known
from .owners import Life, OwnerFacts, fetch_owner_facts, judge_owner
from .releasing import Release
from .run import RunOutcome, StepOutcome

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_MOST_LOOKS = 20
_MOST_NAMED = 3


@dataclass(frozen=True)
class Blocker:
    """One reason why an object stays."""

    what: str  # finalizer, refused, condition, grace, unknown
    text: str
    finalizer: str = ""
    owner: str = ""
    alive: str = ""
    suggestion: str = ""

    @property
    def short(self) -> str:
        return f"finalizer {self.finalizer}: {self.text}" if self.finalizer else self.text

    def as_dict(self) -> dict[str, str]:
        rows = {
            "what": self.what,
            "finalizer": self.finalizer,
            "owner": self.owner,
            "alive": self.alive,
            "text": self.text,
            "suggestion": self.suggestion,
        }
        return {key: value for key, value in rows.items() if value}


@dataclass
class Blocked:
    """A survivor with its reasons."""

    ref: ObjectRef
    record: Record
    blockers: list[Blocker] = field(default_factory=list)


def explain(run: RunOutcome, clusters: Mapping[str | None, Cluster]) -> list[Blocked]:
    """Everybody who should be gone and is not, each looked at in the cluster it lives in."""
    found: list[Blocked] = []
    for context, cluster in clusters.items():
        steps = [step for step in run.steps if step.step.rule.context == context]
        refused = [entry for step in steps for entry in step.refused]
        found += [Blocked(leaver.ref, leaver.record, [_refusal(problem)]) for leaver, problem in refused]
        held = [release for step in steps for release in step.step.releases]
        found += [Blocked(one.ref, one.record, [_refusal(one.problem)]) for one in held if one.problem]
        found += [Blocked(one.ref, one.record, _not_tried(one)) for one in held if one.untried]
        found += _explain_survivors(steps, run, cluster)
    return found


def _explain_survivors(steps: Sequence[StepOutcome], run: RunOutcome, cluster: Cluster) -> list[Blocked]:
    survivors = [leaver for step in steps for leaver in step.survivors]
    attempts = {uid: problem for step in steps for uid, problem in step.ladder_problems.items()}
    facts = fetch_owner_facts(cluster) if any(leaver.record.finalizers for leaver in survivors) else OwnerFacts()
    found = []
    for place, leaver in enumerate(survivors):
        blockers = [_holder(leaver.record, name, facts) for name in leaver.record.finalizers]
        if leaver.record.uid in attempts:
            blockers.append(_refusal(attempts[leaver.record.uid]))
        if place < _MOST_LOOKS:
            blockers += _conditions(leaver, cluster)
        blockers += [Blocker("blind", str(problem)) for problem in run.blind.values()]
        found.append(Blocked(leaver.ref, leaver.record, blockers or [_no_reason(leaver.record)]))
    return found


def name_the_first(failure: Problem | None, blocked: list[Blocked]) -> Problem | None:
    """A time-out that says who is still there, why, and what to do about the first of them."""
    if not isinstance(failure, TimedOut) or not blocked:
        return failure
    named = "; ".join(f"{entry.ref} ({entry.blockers[0].short})" for entry in blocked[:_MOST_NAMED])
    more = f" and {len(blocked) - _MOST_NAMED} more" if len(blocked) > _MOST_NAMED else ""
    next_step = blocked[0].blockers[0].suggestion or failure.next_step
    return TimedOut(
        failure.what, which=failure.which, why=f"{failure.why}: {named}{more}", next_step=f"{next_step}; see survivors"
    )


def _not_tried(release: Release) -> list[Blocker]:
    text = "there was no time to take it off"
    return [Blocker("finalizer", text, name, suggestion="run the task again") for name in release.finalizers]


def _refusal(problem: Problem) -> Blocker:
    if "admission webhook" in problem.why or "failed calling webhook" in problem.why:
        return Blocker("webhook", problem.why, suggestion="repair or remove the webhook, then run the task again")
    return Blocker("refused", problem.why, suggestion=problem.next_step)


def _holder(record: Record, name: str, facts: OwnerFacts) -> Blocker:
    managers = [manager for finalizer, manager in record.finalizer_managers if finalizer == name]
    owner = judge_owner(name, managers, facts)
    entry = known(name)
    if entry is not None:
        return Blocker("finalizer", f"it guards {entry.guards}", name, entry.owner, suggestion="let its owner finish")
    suggestion = {
        Life.ALIVE: "its controller is alive: look at its log, or give it more time",
        Life.GONE: "its controller is gone: bring it back, or remove the finalizer with sunset.kube.finalizer",
        Life.UNKNOWN: "find out who should remove it; sunset.kube.finalizer takes it off if nobody will",
    }[owner.life]
    return Blocker("finalizer", owner.why, name, owner.who, owner.life.value, suggestion)


def _conditions(leaver: Leaver, cluster: Cluster) -> list[Blocker]:
    """What a Namespace or a CustomResourceDefinition says about its own end."""
    kind = (leaver.resource.group, leaver.resource.plural)
    if kind not in (("", "namespaces"), ("apiextensions.k8s.io", "customresourcedefinitions")):
        return []
    try:
        item = cluster.read_whole(leaver.resource, "", leaver.record.name)
    except Problem as problem:
        return [Blocker("blind", str(problem))]
    conditions: list[dict[str, Any]] = ((item or {}).get("status") or {}).get("conditions") or []
    telling = [
        condition
        for condition in conditions
        if condition.get("status") == "True" and str(condition.get("type")).startswith(("Namespace", "Terminating"))
    ]
    return [
        Blocker("condition", f"{condition.get('type')}: {condition.get('message') or condition.get('reason')}")
        for condition in telling
    ]


def _no_reason(record: Record) -> Blocker:
    if record.grace_seconds:
        return Blocker("grace", f"it has a grace period of {record.grace_seconds} s", suggestion="give it more time")
    if not record.terminating:
        return Blocker("unknown", "it is not even being deleted", suggestion="run the task again")
    return Blocker(
        "unknown", "nothing holds it that metadata shows; the API server may be slow", suggestion="wait, and look again"
    )
