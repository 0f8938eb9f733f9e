# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Guard a hub for good, or no longer: the use case behind the module `hub_guard`.

Room: teardown. Needs no webhook and no controller. Clusters that joined since are bound when it runs the next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...admission import (
    LOOK_AGAIN,
    Ours,
    is_same,
    nothing_can_be_created,
    policy_kinds,
    require_policies,
    try_probe,
    wait_until_lifted,
)
from ...clock import Clock, Deadline
from ...events import Tell
from ...objects import ObjectRef, Record, Resource, ref_to
from ...problems import CannotLook, Refused
from ...profiles import ocm
from ...well_known import NAMESPACES
from .guard_policies import (
    LABEL,
    LEAVING,
    WITHOUT,
    binding_name,
    bound_namespace,
    leaving_binding,
    leaving_policy,
    without_binding,
    without_policy,
)

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_GUARD = Ours(LABEL, "guard")
_EFFECTIVE_WITHIN = 15.0


@dataclass(frozen=True)
class GuardOptions:
    state: str = "present"
    timeout: float = 600.0
    check_mode: bool = False


@dataclass
class GuardOutcome:
    namespaces: list[str] = field(default_factory=list)  # that are guarded
    added: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    strays: list[ObjectRef] = field(default_factory=list)  # addons and works without their ManagedCluster
    changed: bool = False


@dataclass
class _Hub:
    """What the guard has to know of a hub."""

    clusters: set[str]
    namespaces: dict[str, Record]
    content: list[tuple[Resource, Record]]

    def to_guard(self, bound: Iterable[str]) -> list[str]:
        """Where a cluster is or was, or addons and works are. A namespace that is bound stays so while it exists."""
        labelled = {name for name, one in self.namespaces.items() if any(key in one.labels for key in _LABELS)}
        filled = {record.namespace for _resource, record in self.content}
        return sorted(self.clusters | labelled | filled | (set(bound) & self.namespaces.keys()))

    def strays(self) -> list[ObjectRef]:
        return [ref_to(resource, one) for resource, one in self.content if one.namespace not in self.clusters]


_LABELS = ocm.NAMESPACE_LABELS


def set_guard(options: GuardOptions, cluster: Cluster, clock: Clock, tell: Tell) -> GuardOutcome:
    cluster.limit_to(Deadline(clock, options.timeout))
    policies, bindings = (
        {item["metadata"]["name"]: item for item in cluster.list_whole(resource, None, f"{LABEL}=true")}
        for resource in policy_kinds(cluster)
    )
    guard = _Guard(policies, bindings, options, cluster, clock, tell)
    return guard.take_away() if options.state == "absent" else guard.put_up(_look(cluster))


def _look(cluster: Cluster) -> _Hub:
    finding = cluster.find_kind(*ocm.CLUSTERS)
    if finding.resource is None and finding.availability.value == "not installed":
        raise Refused(
            "this is no hub",
            why="ManagedClusters are not installed here",
            next_step="check the context; nothing was changed",
        )
    if finding.resource is None:
        raise CannotLook("cannot look for ManagedClusters", why=finding.why, next_step="bring that API back")
    content = []
    for kind in (ocm.ADDONS, ocm.WORKS):
        found = cluster.find_kind(*kind)
        if found.resource is None and found.availability.value != "not installed":
            raise CannotLook(f"cannot look for {kind[1]}s", why=found.why, next_step="bring that API back")
        content += [(found.resource, one) for one in cluster.list(found.resource).records] if found.resource else []
    clusters = {record.name for record in cluster.list(finding.resource).records}
    return _Hub(clusters, {record.name: record for record in cluster.list(NAMESPACES).records}, content)


@dataclass
class _Guard:
    policies: Mapping[str, Mapping[str, Any]]  # of ours that are there, whole, by name
    bindings: Mapping[str, Mapping[str, Any]]
    options: GuardOptions
    cluster: Cluster
    clock: Clock
    tell: Tell

    @property
    def bound(self) -> set[str]:
        return {namespace for name in self.bindings if (namespace := bound_namespace(name))}

    def put_up(self, hub: _Hub) -> GuardOutcome:
        # Living namespaces come last: the last one that was bound shows when all of it has taken effect.
        living = _living(hub.namespaces.values())
        wanted = sorted(hub.to_guard(self.bound), key=lambda name: name in living)
        rules = self._missing(self.policies, [leaving_policy(), without_policy()])
        bonds = self._missing(self.bindings, [leaving_binding(), *map(without_binding, wanted)])
        added = [name for item in bonds if (name := bound_namespace(item["metadata"]["name"]))]
        outcome = GuardOutcome(sorted(wanted), sorted(added), sorted(self.bound - set(wanted)), hub.strays())
        outcome.changed = bool(rules or bonds or outcome.dropped)
        if self.options.check_mode or not outcome.changed:
            self._try_out(rules, bonds)
            return outcome
        require_policies(self.cluster)
        for resource, items in zip(policy_kinds(self.cluster), (rules, bonds), strict=True):
            self._put(resource, items)
        self._drop([binding_name(name) for name in outcome.dropped])
        self._wait_until_it_works(hub, (added or wanted)[-1:])
        return outcome

    @staticmethod
    def _missing(known: Mapping[str, Mapping[str, Any]], wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item for item in wanted if not is_same(known.get(item["metadata"]["name"], {}), item)]

    def _try_out(self, rules: list[dict[str, Any]], bonds: list[dict[str, Any]]) -> None:
        for resource, items in zip(policy_kinds(self.cluster), (rules, bonds), strict=True):
            for item in items:
                _GUARD.try_out(resource, item, self.cluster)

    def _put(self, resource: Resource, items: list[dict[str, Any]]) -> None:
        """All at once but for the last one: the API server notices them in the order they were written."""

        def put(item: dict[str, Any]) -> None:
            _GUARD.put(resource, item, self.cluster, self.tell)

        self.cluster.for_each(items[:-1], put)
        self.cluster.for_each(items[-1:], put)

    def take_away(self) -> GuardOutcome:
        outcome = GuardOutcome(dropped=sorted(self.bound), changed=bool(self.policies or self.bindings))
        if self.options.check_mode or not outcome.changed:
            return outcome
        require_policies(self.cluster)
        living = _living(self.cluster.list(NAMESPACES).records)
        # As above: the last one shows when all of it is over.
        names = sorted(self.bindings, key=lambda name: bound_namespace(name) in living)
        self._drop(names[:-1])
        self._drop(names[-1:])
        for name in self.policies:
            _GUARD.take_away(policy_kinds(self.cluster)[0], name, self.cluster, self.tell)
        places = {LEAVING: ["default"], WITHOUT: list(filter(None, map(bound_namespace, names[-1:])))}
        for name in self.policies:
            wait_until_lifted(name, _denied_by(name), places.get(name, []), self.cluster, self.clock)
        return outcome

    def _drop(self, names: list[str]) -> None:
        bindings = policy_kinds(self.cluster)[1]

        def drop(name: str) -> None:
            _GUARD.take_away(bindings, name, self.cluster, self.tell)

        self.cluster.for_each(names, drop)

    def _wait_until_it_works(self, hub: _Hub, namespaces: list[str]) -> None:
        """Where it can be seen: without any ManagedCluster the first rule has nothing to look at."""
        asked = [(WITHOUT, name) for name in namespaces if name in hub.namespaces]
        asked += [(LEAVING, "default")] if hub.clusters else []
        deadline = Deadline(self.clock, _EFFECTIVE_WITHIN)
        while waiting := [one for one in asked if not self._denies(*one)]:
            if deadline.passed():
                policy, namespace = waiting[0]
                raise Refused(
                    "the guard does not work",
                    which=policy,
                    why=f"the API server still allows in {namespace} what it forbids, {_EFFECTIVE_WITHIN:.0f} s later",
                    next_step="look at the ValidatingAdmissionPolicy with kubectl describe",
                )
            self.clock.sleep(LOOK_AGAIN)

    def _denies(self, policy: str, namespace: str) -> bool:
        problem = try_probe(policy, namespace, self.cluster)
        if problem is None:
            return False
        if _denied_by(policy) in problem.why or nothing_can_be_created(problem):
            return True
        raise problem  # no right to try it, or somebody else's refusal: not knowing is no yes


def _living(namespaces: Iterable[Record]) -> set[str]:
    """Those in which something can be created, so that a probe tells anything."""
    return {record.name for record in namespaces if not record.terminating}


def _denied_by(policy: str) -> str:
    """What the API server says when a policy denies, whatever the reason."""
    return f"ValidatingAdmissionPolicy '{policy}'"
