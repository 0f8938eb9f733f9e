# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Forbid, for a while, creating some kinds or adding some finalizers, by a ValidatingAdmissionPolicy.

Room: teardown. The API server evaluates it by itself; there is no webhook that could be down. It ends by itself too:
its rule compares its end with the times the server writes into every object it is asked about.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..admission import (
    LOOK_AGAIN,
    PROBED,
    Ours,
    is_probe,
    nothing_can_be_created,
    only_in,
    policy_kinds,
    probe_rule,
    require_policies,
    try_probe,
    wait_until_lifted,
)
from ..clock import Clock, Deadline
from ..events import Tell
from ..objects import ObjectRef, Resource
from ..problems import Refused

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

LABEL = "sunset.dev/freeze"
ENDS = "sunset.dev/freeze-ends"
_EFFECTIVE_WITHIN = 15.0
_MARK = "frozen by sunset.kube"
_GLOB = frozenset("*?")
_FREEZE = Ours(LABEL, "freeze")


@dataclass(frozen=True)
class Freeze:
    """What is forbidden, where, until when, and for whom it is not."""

    name: str
    no_creation_of: tuple[Resource, ...] = ()
    no_finalizers: tuple[str, ...] = ()  # names; a glob may end with *
    finalizers_on: tuple[Resource, ...] = ()
    namespaces: tuple[str, ...] = ()
    allow_users: tuple[str, ...] = ()
    expires_at: float = 0.0  # the server's time

    @property
    def end(self) -> str:
        moment = datetime.datetime.fromtimestamp(self.expires_at, tz=datetime.timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def policy_of(freeze: Freeze) -> dict[str, Any]:
    return {
        "metadata": _metadata(freeze),
        "spec": {
            "failurePolicy": "Ignore",  # a rule the server cannot evaluate must not hold up anybody
            "matchConstraints": {"resourceRules": [*_rules(freeze), probe_rule(freeze.name)]},
            "matchConditions": _conditions(freeze),
            "validations": [{"expression": _expression(freeze), "message": _message(freeze), "reason": "Forbidden"}],
        },
    }


def binding_of(freeze: Freeze) -> dict[str, Any]:
    # Written even when there is no limit: a freeze that is widened must lose the old one.
    limit = only_in(freeze.namespaces) if freeze.namespaces else None
    spec = {"policyName": freeze.name, "validationActions": ["Deny"], "matchResources": limit}
    return {"metadata": _metadata(freeze), "spec": spec}


def _metadata(freeze: Freeze) -> dict[str, Any]:
    return {"name": freeze.name, "labels": {LABEL: "true"}, "annotations": {ENDS: freeze.end}}


def _rules(freeze: Freeze) -> list[dict[str, Any]]:
    wanted = [(resource, "CREATE") for resource in freeze.no_creation_of]
    if freeze.no_finalizers:
        wanted += [(resource, verb) for resource in freeze.finalizers_on for verb in ("CREATE", "UPDATE")]
    operations: dict[tuple[str, str], set[str]] = {}
    for resource, verb in wanted:
        operations.setdefault((resource.group, resource.plural), set()).add(verb)
    return [
        {"apiGroups": [group], "apiVersions": ["*"], "resources": [plural], "operations": sorted(verbs)}
        for (group, plural), verbs in sorted(operations.items())
    ]


def _expression(freeze: Freeze) -> str:
    """CEL: true lets pass. Three ways to pass: it is over, it is not about this, or it is no probe of ours."""
    forbidden = [f"({is_probe(freeze.name)})"]
    if freeze.no_creation_of:
        kinds = json.dumps(sorted({f"{resource.group}/{resource.kind}" for resource in freeze.no_creation_of}))
        forbidden.append(
            f"(request.operation == 'CREATE' && (request.kind.group + '/' + request.kind.kind) in {kinds})"
        )
    if freeze.no_finalizers:
        forbidden.append(f"({_adds_a_finalizer(freeze.no_finalizers)})")
    return f"({_is_over(freeze.end)}) || !({' || '.join(forbidden)})"


def _is_over(end: str) -> str:
    """No clock in CEL, but the server has just written the time: of creation, or into the newest managed fields."""
    end_time = f"timestamp('{end}')"
    created = f"request.operation == 'CREATE' && timestamp(object.metadata.creationTimestamp) > {end_time}"
    entry_time = f"has(entry.time) && timestamp(entry.time) > {end_time}"
    touched = f"has(object.metadata.managedFields) && object.metadata.managedFields.exists(entry, {entry_time})"
    # Where nothing tells the time, it is not stopped: a freeze must never last for ever.
    timeless = "request.operation == 'UPDATE' && !has(object.metadata.managedFields)"
    return f"({created}) || ({touched}) || ({timeless})"


def _adds_a_finalizer(names: tuple[str, ...]) -> str:
    exact = json.dumps([name for name in names if not _GLOB & set(name)])
    globs = [f"f.matches({json.dumps(_pattern(name))})" for name in names if _GLOB & set(name)]
    fits = " || ".join([f"f in {exact}", *globs])
    before = "oldObject != null && has(oldObject.metadata.finalizers) && f in oldObject.metadata.finalizers"
    added = f"object.metadata.finalizers.exists(f, ({fits}) && !({before}))"
    return f"has(object.metadata.finalizers) && {added}"


def _pattern(glob: str) -> str:
    """A shell glob as a regular expression that CEL understands."""
    signs = {"*": ".*", "?": "."}
    return "^" + "".join(signs.get(sign) or re.escape(sign) for sign in glob) + "$"


def _conditions(freeze: Freeze) -> list[dict[str, str]]:
    """For whom and where. A namespace selector alone would let objects of the whole cluster be frozen, too."""
    allowed = json.dumps(list(freeze.allow_users))
    found = [
        {"name": "for-whom", "expression": f"({is_probe(freeze.name)}) || !(request.userInfo.username in {allowed})"}
    ]
    if freeze.namespaces:
        where = json.dumps(sorted(freeze.namespaces))
        found.append({"name": "where", "expression": f"request.namespace in {where}"})
    return found


def _message(freeze: Freeze) -> str:
    """Says which freeze it is: one that replaces another of the same name is told from it."""
    content = repr((freeze.no_creation_of, freeze.no_finalizers, freeze.finalizers_on, freeze.namespaces))
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    return f"{_MARK} ({freeze.name}, {digest}) until {freeze.end}"


def require_freeze(cluster: Cluster) -> None:
    """Refuse now, before the first write, if a freeze could not be put in place, moved or lifted."""
    require_policies(cluster)


def freeze(wanted: Freeze, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    """Put it in place and wait until it works. Whether anything had to be written. What does not work is not left."""
    was_there = would_lift(wanted.name, cluster)
    try:
        return _put_in_force(wanted, cluster, clock, tell)
    except BaseException:
        if not was_there:
            with cluster.cleaning_up():
                lift(wanted.name, cluster, clock, tell)
        raise


def _put_in_force(wanted: Freeze, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    changed = False
    for resource, item in _parts(wanted, cluster):
        changed = _FREEZE.put(resource, item, cluster, tell) or changed
    deadline = Deadline(clock, _EFFECTIVE_WITHIN)
    while not _is_effective(wanted, cluster):
        if deadline.passed():
            raise Refused(
                "the freeze does not work",
                which=wanted.name,
                why=f"the API server still allows what it forbids after {_EFFECTIVE_WITHIN:.0f} s",
                next_step="look at the ValidatingAdmissionPolicy with kubectl describe; or go without freeze",
            )
        clock.sleep(LOOK_AGAIN)
    return changed


def lift(name: str, cluster: Cluster, clock: Clock, tell: Tell) -> bool:
    """Take it away, and wait until the API server has noticed. Whether there was anything."""
    changed = False
    places = _frozen_namespaces(name, cluster)
    for resource in reversed(policy_kinds(cluster)):
        changed = _FREEZE.take_away(resource, name, cluster, tell) or changed
    if changed:
        wait_until_lifted(name, _MARK, places, cluster, clock)
    return changed


def _frozen_namespaces(name: str, cluster: Cluster) -> list[str]:
    binding = cluster.read_whole(policy_kinds(cluster)[1], "", name) or {}
    limit = ((binding.get("spec") or {}).get("matchResources") or {}).get("namespaceSelector") or {}
    among = [value for one in limit.get("matchExpressions") or () for value in one.get("values") or ()]
    return among[:PROBED] or ["default"]


def would_lift(name: str, cluster: Cluster) -> bool:
    """Check mode: is there anything of ours to lift?"""
    return any(_FREEZE.is_there(resource, name, cluster) for resource in policy_kinds(cluster))


def expired(cluster: Cluster) -> list[str]:
    """Names of freezes whose time is over: without effect, but still there."""
    now = datetime.datetime.fromtimestamp(cluster.server_time(), tz=datetime.timezone.utc)
    today = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    policies = cluster.list(policy_kinds(cluster)[0], None, f"{LABEL}=true").records
    return [record.name for record in policies if "" < record.annotations.get(ENDS, "") < today]


def try_freeze(wanted: Freeze, cluster: Cluster) -> list[ObjectRef]:
    """Check mode: let the server try both parts. Those that would be new or different."""
    return [
        ObjectRef(resource.api_version, resource.kind, "", wanted.name)
        for resource, item in _parts(wanted, cluster)
        if _FREEZE.try_out(resource, item, cluster)
    ]


def _parts(wanted: Freeze, cluster: Cluster) -> list[tuple[Resource, dict[str, Any]]]:
    policies, bindings = policy_kinds(cluster)
    return [(policies, policy_of(wanted)), (bindings, binding_of(wanted))]


def _is_effective(wanted: Freeze, cluster: Cluster) -> bool:
    return all(_probe(wanted, namespace, cluster) for namespace in wanted.namespaces[:PROBED] or ("default",))


def _probe(wanted: Freeze, namespace: str, cluster: Cluster) -> bool:
    """Is it in force there?"""
    problem = try_probe(wanted.name, namespace, cluster)
    if problem is None:
        return False
    if _message(wanted) in problem.why or nothing_can_be_created(problem):
        return True
    if problem.is_forbidden and _MARK not in problem.why:
        raise problem  # no right to try it: not knowing is no yes
    return False
