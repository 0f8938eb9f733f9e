# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why an object is still there, besides its finalizers: one pure function for each kind of reason.

Room: teardown (pure). Everything a reason needs is in the scene; nothing is fetched here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...commands import kubectl
from ...objects import Record, Resource
from ...paths import condition_of
from ...well_known import PODS
from ..obstacles.obstacle import API_SERVICE, Obstacle
from .budgets import held_by_a_budget
from .cause import CONDITION, CONTENT, DEPENDANT, GRACE, INSTANCES, NODE, NOT_DELETED, Cause, some_of
from .census import Seen
from .commands import explain
from .namespace_ends import held_by_its_spec
from .scene import Scene
from .subjects import FOREGROUND, is_definition, is_namespace
from .usages import in_use
from .volumes import bound_to_a_claim, used_by_a_pod

__all__ = ["REASONS", "Cause", "cause_of_obstacle", "causes_of"]

# What the namespace controller says → what it means, before its own words.
NAMESPACE_CONDITIONS = {
    "NamespaceDeletionDiscoveryFailure": "an API group does not answer, so nobody knows what else is in it",
    "NamespaceDeletionGroupVersionParsingFailure": "an API group has a version that cannot be read",
    "NamespaceDeletionContentFailure": "some of it could not be deleted",
    "NamespaceContentRemaining": "something is left in it",
    "NamespaceFinalizersRemaining": "finalizers hold what is left in it",
}
_PREAMBLES = (
    "Some resources are remaining: ",
    "Some content in the namespace has finalizers remaining: ",
    "Discovery failed for some groups, ",
    "Failed to delete all resource types, ",
)


def causes_of(subject: Seen, scene: Scene) -> list[Cause]:
    kind, record = subject
    return [cause for reason in REASONS for cause in reason(kind, record, scene)]


def says_the_namespace(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    if not is_namespace(kind):
        return
    left = scene.left_in.get(record.name) or {}
    for type_, meaning in NAMESPACE_CONDITIONS.items():
        message = _true_message(scene.namespaces.get(record.name) or {}, type_)
        counted_anyway = type_ == "NamespaceContentRemaining" and left
        if message is not None and not counted_anyway:
            yield Cause(CONDITION, f"{meaning}: {message}" if message else meaning)
    if record.terminating and left:
        counted = ", ".join(f"{number} {name}" for name, number in sorted(left.items(), key=lambda entry: -entry[1]))
        yield Cause(CONTENT, f"still in it: {counted}")


def says_the_definition(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    if not is_definition(kind):
        return
    message = _true_message(scene.definitions.get(record.name) or {}, "Terminating")
    if message:
        yield Cause(CONDITION, f"the API server says: {message}")
    instances = scene.instances.get(record.name)
    if instances and instances.total and record.terminating:
        held = f", held by {', '.join(instances.finalizers)}" if instances.finalizers else ""
        left = "1 object of this kind is" if instances.total == 1 else f"{instances.total} objects of this kind are"
        text = f"{left} left, {instances.terminating} being deleted{held}"
        yield Cause(INSTANCES, text, explain(kind=record.name))


def _true_message(item: Mapping[str, Any], type_: str) -> str | None:
    condition = condition_of(item, type_)
    if condition is None or condition.get("status") != "True":
        return None
    message = str(condition.get("message") or condition.get("reason") or "")
    for preamble in _PREAMBLES:
        message = message.removeprefix(preamble)
    return message.rstrip(".")


def waits_for_dependants(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    if FOREGROUND not in record.finalizers:
        return
    held = list(scene.dependants.get(record.uid) or ())
    if not held:
        return
    named = some_of([f"{ref}{_held_by(scene.held_by.get(ref.uid) or ())}" for ref in held])
    # What is explained by itself needs no question.
    first = next((ref for ref in held if ref.uid not in scene.explained), None)
    ask = (
        explain(api_version=first.api_version, kind=first.kind, name=first.name, namespace=first.namespace)
        if first
        else ""
    )
    text = f"it is deleted in the foreground, and its dependants are still there: {named}"
    yield Cause(DEPENDANT, text, ask and f"see what holds its dependant: {ask}", on=str(held[0]))


def _held_by(finalizers: Sequence[str]) -> str:
    return f" (held by {', '.join(finalizers)})" if finalizers else ""


def met_by_obstacles(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    for obstacle in scene.judge_obstacles(kind, record.name if is_namespace(kind) else record.namespace):
        if obstacle.kind != API_SERVICE or is_namespace(kind):
            yield cause_of_obstacle(obstacle)


def cause_of_obstacle(obstacle: Obstacle) -> Cause:
    return Cause(obstacle.kind, obstacle.sentence, obstacle.suggestion, obstacle.certain, hooks=obstacle.hooks)


def is_in_grace_or_lost(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    if kind.qualified != PODS.qualified or not record.terminating or record.finalizers:
        return
    since, grace = record.deleting_for(scene.now) or 0.0, record.grace_seconds or 0
    if since <= grace:
        yield Cause(GRACE, f"it may take {grace - since:.0f} s more to stop", "wait")
        return
    force = kubectl("delete pod {name} --grace-period=0 --force", namespace=record.namespace, name=record.name)
    yield Cause(
        NODE,
        f"its node has not said that it stopped, {since - grace:.0f} s after its time",
        f"look whether its node is up; if that is gone for good: {force}",
    )


def not_even_deleted(kind: Resource, record: Record, scene: Scene) -> Iterable[Cause]:
    if record.terminating or record.namespace not in scene.going_namespaces:
        return
    pods = (scene.left_in.get(record.namespace) or {}).get(PODS.kind, 0)
    if pods and kind.qualified != PODS.qualified:  # since Kubernetes 1.33
        left = "1 of them is" if pods == 1 else f"{pods} of them are"
        yield Cause(NOT_DELETED, f"its turn may not have come: a namespace takes its pods first, and {left} left")
    else:
        yield Cause(NOT_DELETED, "its namespace is going, and nobody could delete it yet")


Reason = Callable[[Resource, Record, Scene], Iterable[Cause]]
REASONS: tuple[Reason, ...] = (
    says_the_namespace,
    lambda kind, record, scene: held_by_its_spec(kind, record, scene.ends),
    says_the_definition,
    lambda kind, record, scene: used_by_a_pod(kind, record, scene.volumes),
    lambda kind, record, scene: bound_to_a_claim(kind, record, scene.volumes),
    lambda kind, record, scene: held_by_a_budget(kind, record, scene.budgets),
    lambda kind, record, scene: in_use(kind, record, scene.usages),
    waits_for_dependants,
    met_by_obstacles,
    is_in_grace_or_lost,
    not_even_deleted,
)
