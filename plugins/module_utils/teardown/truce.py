# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A truce with the owner that goes last: it must wait before the first of its objects goes, or it puts them back.

Room: teardown. Only for owners that are records of the plan itself. A Flux object is suspended, an Argo CD Application
is told to skip. Whoever waits does not clean up after itself either: the finalizers by which it would are taken off in
the step in which it goes. Others who would bring something back are found by healers.py, and are not ours to stop.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..clock import Clock, Deadline, StopSign
from ..commands import command
from ..events import Did, Noted, Tell
from ..objects import ObjectRef, Record, Resource, record_of, ref_to
from ..pointers import value_of
from ..problems import Problem, Refused
from ..profiles.gitops_owners import GITOPS_OWNERS, Retirement
from .members.looking import Member

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from .plan import Plan

_RETIREMENTS = {(owner.group, owner.kind): owner.retirement for owner in GITOPS_OWNERS if owner.retirement}
_RACES = 10
_LONGEST = 20.0  # seconds to wait for what an owner began before it was stopped; one that is dead never ends it
_TURN = 0.5


@dataclass(frozen=True)
class Pause:
    """One owner of the plan that has to wait."""

    resource: Resource
    record: Record
    how: Retirement

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def way_back(self) -> str:
        return command(self.how.way_back, name=self.record.name, namespace=self.record.namespace)


def retirement_of(member: Member) -> Retirement | None:
    return _RETIREMENTS.get((member.resource.group, member.resource.kind))


def finalizers_given_up(member: Member) -> tuple[str, ...]:
    """By which it would clean up what is gone by then, or what was meant to stay."""
    how = retirement_of(member)
    patterns = how.gives_up if how else ()
    return tuple(name for name in member.record.finalizers if any(fnmatch.fnmatchcase(name, one) for one in patterns))


def pauses_of(plan: Plan) -> list[Pause]:
    """Owners among the records that go. Also when nothing else does: one that does not wait would take what is kept."""
    records = [entry.member for step in plan.steps if step.rule.only_if_clean for entry in step.going]
    found = ((member, retirement_of(member)) for member in records)
    return [Pause(member.resource, member.record, how) for member, how in found if how is not None]


def require_pause_rights(pauses: Iterable[Pause], cluster: Cluster) -> None:
    for pause in pauses:
        cluster.require("patch", pause.resource, [pause.record.namespace])


def rehearse_pauses(pauses: Iterable[Pause], cluster: Cluster, tell: Tell) -> list[tuple[ObjectRef, Problem]]:
    """Let the server try it. What it says no to."""
    refused = []
    for pause in pauses:
        try:
            _make_wait(pause, cluster, tell, dry_run=True)
        except Problem as problem:
            refused.append((pause.ref, problem))
    return refused


def hold(
    pauses: Sequence[Pause], cluster: Cluster, clock: Clock, deadline: Deadline, stop: StopSign, tell: Tell
) -> int:
    """Before the first delete. How many were made to wait; those that wait already are left as they are."""
    written = 0
    for pause in pauses:
        patience = Deadline(clock, min(_LONGEST, deadline.left()))
        if pause.how.ends_first and not _waits(_read(pause, cluster), pause):
            _until_idle(pause, cluster, patience, clock, stop, tell)
        written += _make_wait(pause, cluster, tell)
        if pause.how.busy:
            _until_idle(pause, cluster, patience, clock, stop, tell)
    return written


def left_waiting(pauses: Iterable[Pause], cluster: Cluster) -> list[str]:
    """After a failure: who waits, since this run or an earlier one, with the way back. Not sure is told as well."""
    return [
        f"{pause.ref} still waits; run the task again, or let it go on: {pause.way_back}"
        for pause in pauses
        if _may_wait(pause, cluster)
    ]


def _may_wait(pause: Pause, cluster: Cluster) -> bool:
    try:
        return _waits(_read(pause, cluster), pause)
    except Problem:  # nobody answers any more, or somebody wants us to stop
        return True


def _make_wait(pause: Pause, cluster: Cluster, tell: Tell, *, dry_run: bool = False) -> bool:
    problem: Problem | None = None
    for _race in range(_RACES):
        item = _read(pause, cluster)
        if item is None:
            return False  # nobody is there who could put anything back
        if _waits(item, pause):
            return False
        record = record_of(item["metadata"])
        metadata = {**(pause.how.patch.get("metadata") or {}), "resourceVersion": record.resource_version}
        patch = {**pause.how.patch, "metadata": metadata}
        written = cluster.merge_patch(pause.resource, record, patch, dry_run=dry_run)
        version = written.record.resource_version if written.record else ""
        tell(Did("pause", pause.ref, written.effect.value, resource_version=version, dry_run=dry_run))
        if written.problem is None:
            if not dry_run and written.changed:
                tell(Noted(f"{pause.ref} waits from now on (way back: {pause.way_back})"))
            return written.changed
        problem = written.problem
        if getattr(problem, "status", 0) != 409:
            break
    raise Refused(
        "cannot make it wait",
        which=str(pause.ref),
        why=f"it would put back what is deleted, and {problem.why if problem else 'it changes all the time'}",
        next_step="pause it by hand and run the task again; nothing was deleted",
    )


def _waits(item: dict[str, Any] | None, pause: Pause) -> bool:
    pointer, value = pause.how.waits_when
    return item is not None and value_of(item, pointer) == value


def _read(pause: Pause, cluster: Cluster) -> dict[str, Any] | None:
    """As it is now; None when it is gone, or another one by now."""
    item = cluster.read_whole(pause.resource, pause.record.namespace, pause.record.name)
    return item if item is not None and item["metadata"].get("uid") == pause.record.uid else None


def _until_idle(pause: Pause, cluster: Cluster, deadline: Deadline, clock: Clock, stop: StopSign, tell: Tell) -> None:
    """It may be in the middle of something, and would put back what goes meanwhile."""
    while not stop.is_set():
        item = _read(pause, cluster)
        if item is None or not _is_busy(item, pause.how):
            return
        if deadline.passed():
            tell(Noted(f"{pause.ref} still works on something; going on without waiting for it"))
            return
        clock.sleep(_TURN)


def _is_busy(item: dict[str, Any], how: Retirement) -> bool:
    if how.ends_first:
        pointer, value = how.ends_first
        return bool(value_of(item, pointer) == value)
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == how.busy and one.get("status") == "True" for one in conditions)
