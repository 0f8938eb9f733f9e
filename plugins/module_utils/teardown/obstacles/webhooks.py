# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission webhooks that would refuse everything because nobody answers behind them.

Room: teardown (pure). Which requests a configuration intercepts is decided as the API server does it: operations,
groups, versions, resources and scope of a rule, then the labels of the namespace. Labels of the single object and
conditions in CEL are not known here; a webhook that has them is an uncertain obstacle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...commands import kubectl
from ...labels import fits_selector
from ...objects import ObjectRef, Resource
from .backends import Backends, Beat, service_of
from .obstacle import WEBHOOK, Obstacle, Place

GROUP = "admissionregistration.k8s.io"
# A deletion is one; the removal of a finalizer is the other.
OPERATIONS = ("DELETE", "UPDATE")
_MOST_NAMED = 4


@dataclass(frozen=True)
class Scope:
    """What somebody wants to delete or patch."""

    kinds: Collection[Resource]
    namespaces: Mapping[str, Mapping[str, str]]  # name → labels
    # (group, plural) → every version that is served: by default a rule for one of them counts for all.
    versions: Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True)
class Interception:
    """One webhook that would be asked."""

    name: str
    client_config: Mapping[str, Any]
    operations: tuple[str, ...]
    kinds: tuple[str, ...]
    only_some: str  # what narrows it down to objects we cannot tell
    groups: frozenset[str] = frozenset()  # API groups that its rules name


def interceptions(item: Mapping[str, Any], scope: Scope) -> list[Interception]:
    """Webhooks of a configuration that fail closed and would be asked about something in the scope."""
    hooks = [hook for hook in item.get("webhooks") or () if (hook.get("failurePolicy") or "Fail") == "Fail"]
    return [found for hook in hooks if (found := _interception(hook, scope))]


def is_asked_about(item: Mapping[str, Any], scope: Scope) -> bool:
    """Whether any webhook of a configuration is asked about something in the scope, whatever happens if it fails."""
    return any(_interception(hook, scope) for hook in item.get("webhooks") or ())


def services_called(items: Iterable[Mapping[str, Any]], scope: Scope) -> set[Place]:
    """The Services whose state decides."""
    called = (service_of(hook.client_config) for item in items for hook in interceptions(item, scope))
    return {place for place in called if place}


def judge_configuration(
    resource: Resource, item: Mapping[str, Any], scope: Scope, backends: Backends
) -> Obstacle | None:
    """An obstacle for the whole configuration, as it is repaired or removed as a whole."""
    judged = [(hook, backends.pulse(hook.client_config)) for hook in interceptions(item, scope)]
    suspects = [(hook, pulse) for hook, pulse in judged if pulse.beat is not Beat.READY]
    if not suspects:
        return None
    # What is dead for sure says more than what nobody can tell.
    suspects.sort(key=lambda suspect: (suspect[1].beat is not Beat.DEAD, bool(suspect[0].only_some)))
    hook, pulse = suspects[0]
    certain = pulse.beat is Beat.DEAD and not hook.only_some
    metadata = item["metadata"]
    ref = ObjectRef(resource.api_version, resource.kind, "", metadata["name"], metadata.get("uid") or "")
    dead = (service_of(hook.client_config) for hook, pulse in suspects if pulse.beat is Beat.DEAD)
    services = frozenset(place for place in dead if place)
    return Obstacle(
        WEBHOOK,
        ref,
        _why(hook, pulse.why, certain, suspects),
        "if its application is gone: " + kubectl("delete {kind} {name}", kind=ref.kind.lower(), name=ref.name),
        services,
        certain,
        frozenset(hook.name for hook, _pulse in suspects),
    )


def _why(hook: Interception, reason: str, certain: bool, suspects: Sequence[Any]) -> str:
    kinds = ", ".join(hook.kinds[:_MOST_NAMED]) + (" …" if len(hook.kinds) > _MOST_NAMED else "")
    effect = "refuses" if certain else "may refuse"
    narrowed = f" with a fitting {hook.only_some}" if hook.only_some else ""
    more = f" (and {len(suspects) - 1} more like it)" if len(suspects) > 1 else ""
    words = " and ".join(operation.lower() for operation in hook.operations)
    return f"{effect} every {words} of {kinds}{narrowed}: {reason}; webhook {hook.name}{more}"


def _interception(hook: Mapping[str, Any], scope: Scope) -> Interception | None:
    exact = hook.get("matchPolicy") == "Exact"
    operations: dict[str, None] = {}
    kinds: dict[str, None] = {}
    for resource in scope.kinds:
        asked = [word for word in OPERATIONS if _is_asked(hook, word, resource, scope, exact=exact)]
        if asked and _reaches(hook, resource, scope):
            operations.update(dict.fromkeys(asked))
            kinds[resource.qualified] = None
    if not kinds:
        return None
    narrowing = [word for word in ("objectSelector", "matchConditions") if hook.get(word)]
    client_config = hook.get("clientConfig") or {}
    groups = frozenset(group for rule in hook.get("rules") or () for group in rule.get("apiGroups") or ())
    return Interception(
        hook.get("name") or "", client_config, tuple(operations), tuple(kinds), " and ".join(narrowing), groups
    )


def _is_asked(hook: Mapping[str, Any], operation: str, resource: Resource, scope: Scope, *, exact: bool) -> bool:
    if resource.group == GROUP:
        return False  # the server never asks about these, so that they can always be removed
    versions = {resource.version}
    if not exact:
        versions |= scope.versions.get((resource.group, resource.plural), frozenset())
    return any(_rule_fits(rule, operation, resource, versions) for rule in hook.get("rules") or ())


def _rule_fits(rule: Mapping[str, Any], operation: str, resource: Resource, versions: Collection[str]) -> bool:
    return (
        _any_of(rule.get("operations"), [operation])
        and _any_of(rule.get("apiGroups"), [resource.group])
        and _any_of(rule.get("apiVersions"), versions)
        # "*/*" takes subresources as well; "pods/*" and "pods/status" only those, and we do not write there.
        and bool({"*", "*/*", resource.plural} & set(rule.get("resources") or ()))
        and (rule.get("scope") or "*") in ("*", "Namespaced" if resource.namespaced else "Cluster")
    )


def _any_of(wanted: Sequence[str] | None, given: Iterable[str]) -> bool:
    return "*" in (wanted or ()) or bool(set(wanted or ()) & set(given))


def _reaches(hook: Mapping[str, Any], resource: Resource, scope: Scope) -> bool:
    """By the labels of the namespace. Objects outside of namespaces are always reached, but a Namespace by its own."""
    by_namespace = resource.namespaced or (resource.group, resource.plural) == ("", "namespaces")
    if not by_namespace:
        return True
    selector = hook.get("namespaceSelector") or {}
    return any(fits_selector(labels, selector) for labels in scope.namespaces.values())
