# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The product's own controllers: are they running, and stopping them for the time of a drain.

Room: teardown. Stopped ones are started again when the drain does not come to its end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...clock import Clock, Deadline, StopSign
from ...events import Did, Tell
from ...paths import value_at
from ...problems import Problem
from ..controllers import Controller, labelled
from ..owners import Lease, Life, Owner, fetch_owner_facts, is_a_controller, judge_owner
from .profile import Profile

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_STOPPING = 30.0  # seconds to wait for the last pod of a stopped controller
_LOOK_AGAIN = 0.5


@dataclass
class Controllers:
    found: list[Controller] = field(default_factory=list)
    owner: Owner = field(default_factory=lambda: Owner(Life.UNKNOWN, "", "nobody looked"))

    @property
    def running(self) -> list[Controller]:
        """Those that can be stopped."""
        return [one for one in self.found if one.wanted and one.can_be_scaled]


def find_controllers(
    profile: Profile,
    namespace: str,
    managers: Iterable[str],
    cluster: Cluster,
    foreign: Collection[str] = (),
    names: Collection[str] = (),
) -> Controllers:
    """By the labels of the profile, in the installation's namespace; else by what fits the finalizers' names.

    `foreign` are namespaces of other installations: nobody there works for us, and nobody there is stopped.
    `names` are what the task and the objects themselves call the controller.
    """
    try:
        # A name alone is one of many in a whole cluster.
        everybody = labelled(profile.workloads, namespace, cluster, names if namespace else ())
        found = [one for one in everybody if one.record.namespace not in foreign]
    except Problem as problem:
        return Controllers([], Owner(Life.UNKNOWN, "", f"could not look: {problem.why}"))
    alive = [one for one in found if one.available]
    if alive:
        why = f"{alive[0].ref} has {alive[0].available} of {alive[0].wanted} replicas available"
        return Controllers(found, Owner(Life.ALIVE, str(alive[0].ref), why))
    homes = {namespace} if namespace else {one.record.namespace for one in found}
    guessed = _guess(profile, homes, foreign, set(managers), _all_names(names), cluster)
    if found and guessed.life is not Life.ALIVE:
        return Controllers(found, Owner(Life.GONE, str(found[0].ref), f"{found[0].ref} has no available replica"))
    if not found and guessed.life is Life.UNKNOWN and profile.workloads:
        why = f"no workload is labelled {' or '.join(profile.workloads)}" + (f" in {namespace}" if namespace else "")
        return Controllers([], Owner(Life.GONE, "", why))
    return Controllers(found, guessed)


def _all_names(names: Iterable[str]) -> set[str]:
    """`edge-manager` is a part of what is called edge, and its leader Lease `edge-leader`."""
    return {name for one in names if one for name in (one, one.removesuffix("-manager"))}


def _guess(
    profile: Profile,
    homes: set[str],
    foreign: Collection[str],
    managers: set[str],
    names: set[str],
    cluster: Cluster,
) -> Owner:
    facts = fetch_owner_facts(cluster)

    def may_be_ours(place: str) -> bool:
        return place in homes if homes else place not in foreign

    facts.workloads = [one for one in facts.workloads if may_be_ours(one.namespace)]
    facts.leases = [one for one in facts.leases if may_be_ours(one.namespace)]
    held = next((lease for lease in facts.leases if lease.fresh and _is_held_by(lease, managers, names)), None)
    if held is not None:
        why = f"{held} was renewed {max(0.0, held.age):.0f} s ago by {held.holder}"
        return Owner(Life.ALIVE, str(held), why, held.namespace)
    owners = [judge_owner(name, sorted(managers | names), facts) for name in profile.finalizers]
    for life in (Life.ALIVE, Life.GONE):
        fitting = [owner for owner in owners if owner.life is life]
        if fitting:
            return fitting[0]
    return owners[0]


def _is_held_by(lease: Lease, managers: set[str], names: set[str]) -> bool:
    """By a pod of the controller that is named, or by the program that has set the finalizers."""
    programs = {manager.lower() for manager in managers if is_a_controller(manager)}
    return bool(lease.writers & programs) or any(lease.holder.startswith(f"{name}-") for name in names)


def stop(controllers: Sequence[Controller], cluster: Cluster, clock: Clock, wish: StopSign, tell: Tell) -> None:
    """Scale to 0, and wait a while for the last pod."""
    for controller in controllers:
        _scale(controller, 0, cluster, tell)
    deadline = Deadline(clock, _STOPPING)
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
    item: dict[str, Any] | None = cluster.read_whole(
        controller.resource, controller.record.namespace, controller.record.name
    )
    return int(value_at(item or {}, "status.replicas") or 0)
