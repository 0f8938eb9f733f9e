# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The product's own controllers: are they running, and stopping them for the time of a drain.

Room: teardown. Stopped ones are started again when the drain does not come to its end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...clock import Clock, Deadline, StopSign
from ...events import Did, Tell
from ...paths import value_at
from ...problems import Problem
from ...well_known import PODS
from ..controllers import Controller, labelled
from ..owners import Lease, Life, Owner, fetch_owner_facts, is_a_controller, judge_owner
from .profile import Profile, ProfileKind

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_STOPPING = 60.0  # seconds to wait for the last pod of a stopped controller: the usual grace period, twice
_LOOK_AGAIN = 0.5


@dataclass
class Controllers:
    found: list[Controller] = field(default_factory=list)
    owner: Owner = field(default_factory=lambda: Owner(Life.UNKNOWN, "", "nobody looked"))
    owners: Mapping[tuple[str, ...], Owner] = field(default_factory=dict)  # of kinds with a controller of their own
    others: bool = False  # another installation runs in the same namespace
    names: Collection[str] = ()

    @property
    def running(self) -> list[Controller]:
        """Those that can be stopped. Beside another installation only those that are known by their names."""
        mine = [one for one in self.found if not self.others or one.record.name in self.names]
        return [one for one in mine if one.wanted and one.can_be_scaled]

    def owner_of(self, kind: ProfileKind) -> Owner:
        """Who takes the finalizers off objects of this kind."""
        return self.owners.get(kind.finalized_by, self.owner)


def find_controllers(
    profile: Profile,
    namespace: str,
    managers: Iterable[str],
    cluster: Cluster,
    foreign: Collection[str] = (),
    names: Collection[str] = (),
    others: bool = False,
) -> Controllers:
    """By the labels of the profile, in the installation's namespace; else by what fits the finalizers' names.

    `foreign` are namespaces of other installations: no controller there is ours, and none there is stopped. `others`
    says that one of them shares our namespace. `names` are what the task and the objects call the controller.
    """
    try:
        # A name alone is one of many in a whole cluster.
        workloads = labelled(_selectors(profile), namespace, cluster, names if namespace else ())
        found = [one for one in workloads if one.record.namespace not in foreign]
    except Problem as problem:
        return Controllers([], Owner(Life.UNKNOWN, "", f"could not look: {problem.why}"))
    lives = _Lives(profile, namespace, foreign, set(managers), names, cluster)
    owners = {some: _by_replicas([one for one in found if one.fits(some)]) for some in _of_kinds(profile)}
    known = {some: owner for some, owner in owners.items() if owner is not None}
    return Controllers(found, lives.owner(found), known, others, names)


def _of_kinds(profile: Profile) -> list[tuple[str, ...]]:
    kinds = (*profile.user_kinds, *profile.operator_kinds)
    return [kind.finalized_by for kind in kinds if kind.finalized_by]


def _selectors(profile: Profile) -> list[str]:
    return [*profile.workloads, *profile.finalized_by, *(one for some in _of_kinds(profile) for one in some)]


def _by_replicas(workloads: Sequence[Controller]) -> Owner | None:
    """None where there is no workload to tell by."""
    alive = next((one for one in workloads if one.available), None)
    if alive is not None:
        why = f"{alive.ref} has {alive.available} of {alive.wanted} replicas available"
        return Owner(Life.ALIVE, str(alive.ref), why)
    first = next((one.ref for one in workloads), None)
    return Owner(Life.GONE, str(first), f"{first} has no available replica") if first else None


@dataclass
class _Lives:
    """Whether the controller lives that takes the product's finalizers off."""

    profile: Profile
    namespace: str
    foreign: Collection[str]
    managers: set[str]
    names: Collection[str]
    cluster: Cluster

    def owner(self, found: Sequence[Controller]) -> Owner:
        wanted = self.profile.finalized_by
        cleaners = [one for one in found if not wanted or one.record.name in self.names or one.fits(wanted)]
        told = _by_replicas(cleaners)
        if told is not None and told.life is Life.ALIVE:
            return told
        guessed = self._guess(found, cleaners)
        if told is not None and guessed.life is not Life.ALIVE:
            return told
        if told is None and guessed.life is Life.UNKNOWN and self.profile.workloads:
            labels = " or ".join(wanted or self.profile.workloads)
            place = f" in {self.namespace}" if self.namespace else ""
            return Owner(Life.GONE, "", f"no workload is labelled {labels}{place}")
        return guessed

    def _guess(self, found: Sequence[Controller], cleaners: Sequence[Controller]) -> Owner:
        facts = fetch_owner_facts(self.cluster)
        homes = {self.namespace} if self.namespace else {one.record.namespace for one in found}
        names, managers = _all_names(self.names), self.managers
        # Its other workloads go by the same name, and take nothing off.
        helpers = {(one.record.namespace, one.record.name) for one in found if one not in cleaners}
        down = [one for one in cleaners if not one.wanted]

        def may_be_ours(place: str) -> bool:
            return place in homes if homes else place not in self.foreign

        workloads = [one for one in facts.workloads if (one.namespace, one.name) not in helpers]
        facts.workloads = [one for one in workloads if may_be_ours(one.namespace)]
        # A controller that was scaled to 0 renews nothing, though the term of its Lease has not ended.
        leases = [lease for lease in facts.leases if not any(_is_pod_of(lease, one) for one in down)]
        facts.leases = [lease for lease in leases if may_be_ours(lease.namespace)]
        held = next((lease for lease in facts.leases if lease.fresh and _is_held_by(lease, managers, names)), None)
        if held is not None:
            why = f"{held} was renewed {max(0.0, held.age):.0f} s ago by {held.holder}"
            return Owner(Life.ALIVE, str(held), why, held.namespace)
        owners = [judge_owner(name, sorted(managers | names), facts) for name in self.profile.finalizers]
        for life in (Life.ALIVE, Life.GONE):
            fitting = [owner for owner in owners if owner.life is life]
            if fitting:
                return fitting[0]
        return owners[0]


def _all_names(names: Iterable[str]) -> set[str]:
    """`edge-manager` is a part of what is called edge, and its leader Lease `edge-leader`."""
    return {name for one in names if one for name in (one, one.removesuffix("-manager"))}


def _is_pod_of(lease: Lease, controller: Controller) -> bool:
    record = controller.record
    return lease.namespace == record.namespace and lease.holder.startswith(f"{record.name}-")


def _is_held_by(lease: Lease, managers: set[str], names: set[str]) -> bool:
    """By a pod of the controller that is named, or by the program that has set the finalizers."""
    programs = {manager.lower() for manager in managers if is_a_controller(manager)}
    return bool(lease.writers & programs) or any(lease.holder.startswith(f"{name}-") for name in names)


def stop(
    controllers: Sequence[Controller], cluster: Cluster, clock: Clock, wish: StopSign, until: Deadline, tell: Tell
) -> None:
    """Scale to 0, and wait a while for the last pod: as long as it ends, it may write."""
    for controller in controllers:
        _scale(controller, 0, cluster, tell)
    deadline = Deadline(clock, min(_STOPPING, until.left()))
    while not deadline.passed() and any(_pods(one, cluster) for one in controllers):
        wish.raise_if_set()
        clock.sleep(_LOOK_AGAIN)


def start_again(controllers: Iterable[Controller], cluster: Cluster, tell: Tell) -> list[tuple[Controller, Problem]]:
    """Back to the replicas they had. Those that cannot be started again, and why."""
    failed = []
    for controller in controllers:
        try:
            _scale(controller, controller.wanted, cluster, tell)
        except Problem as problem:
            failed.append((controller, problem))
    return failed


def try_stop(controllers: Iterable[Controller], cluster: Cluster) -> None:
    """Check mode: would the server let us?"""
    for controller in controllers:
        written = cluster.merge_patch(controller.resource, controller.record, {"spec": {"replicas": 0}}, dry_run=True)
        if written.problem:
            raise written.problem


def _scale(controller: Controller, replicas: int, cluster: Cluster, tell: Tell) -> None:
    written = cluster.merge_patch(controller.resource, controller.record, {"spec": {"replicas": replicas}})
    tell(Did(f"scale to {replicas}", controller.ref, written.effect.value))
    if written.problem:
        raise written.problem


def _pods(controller: Controller, cluster: Cluster) -> int:
    """Its replicas, and pods that are ending: these are no replicas any more."""
    record = controller.record
    item: dict[str, Any] = cluster.read_whole(controller.resource, record.namespace, record.name) or {}
    replicas = int(value_at(item, "status.replicas") or 0)
    labels = value_at(item, "spec.selector.matchLabels")
    if replicas or not labels:
        return replicas
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        pods = cluster.list_whole(PODS, record.namespace, selector)
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        return 0  # no right to look: the watch that follows shows who still writes
    return sum(value_at(pod, "status.phase") not in _ENDED for pod in pods)


_ENDED = ("Succeeded", "Failed")
