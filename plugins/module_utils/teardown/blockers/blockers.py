# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What blocks, who owns it, is the owner alive, what happens if it is forced: the use case behind `blockers_info`.

Room: teardown. Reads only, with a bounded number of requests; what could not be seen is part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...events import Tell
from ...objects import ObjectRef, Record, Resource, ref_to
from ..healers import BringsBack
from ..members.sources import OtherCluster
from ..obstacles.obstacle import API_SERVICE, Obstacle
from .cause import GITOPS
from .causes import Cause, causes_of
from .census import Census, Seen
from .deadlocks import Deadlock, Edge, find_deadlocks
from .holders import Holder, Holders
from .next_steps import NextStep, next_steps, suggestion_for
from .returns import find_returns
from .scene import Scene, fetch_scene
from .subjects import Subjects, find_subjects, is_namespace
from .target import Target
from .trials import try_out
from .waiting import waiting_edges

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


@dataclass
class Blocked:
    """One object that is still there, or would stay."""

    kind: Resource
    record: Record
    holders: list[Holder] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    suggestion: str = ""

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.kind, self.record)

    @property
    def may_stay(self) -> bool:
        """A finalizer whose owner is alive is no reason, nor is somebody who owns it and leaves it alone."""
        reasons = [cause for cause in self.causes if cause.what != GITOPS or cause.certain]
        return bool(reasons) or any(holder.alive != "alive" for holder in self.holders)


@dataclass
class Explanation:
    title: str
    missing: str = ""
    looked_at: int = 0
    now: float = 0.0
    blocked: list[Blocked] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    deadlocks: list[Deadlock] = field(default_factory=list)
    returns: list[BringsBack] = field(default_factory=list)  # who brings back what goes
    next_steps: list[NextStep] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def explain_blockers(target: Target, cluster: Cluster, other_cluster: OtherCluster, tell: Tell) -> Explanation:
    census = Census(cluster, tell)
    subjects = find_subjects(target, census, cluster, other_cluster, tell)
    return explain_subjects(subjects, census, cluster, dry_run=target.dry_run)


def explain_subjects(subjects: Subjects, census: Census, cluster: Cluster, *, dry_run: bool = False) -> Explanation:
    told = Explanation(subjects.title, subjects.missing)
    if not subjects.missing:
        scene = fetch_scene(subjects, census, cluster)
        _judge(subjects, scene, told)
        told.returns = find_returns(subjects.found, told.blocked, cluster)
        try_out(told.blocked, subjects.named, cluster, census, dry_run=dry_run)
        _conclude(scene, told)
    told.unreadable = census.unreadable
    return told


def _judge(subjects: Subjects, scene: Scene, told: Explanation) -> None:
    told.now = scene.now
    told.looked_at = len(subjects.found)
    holders = Holders(scene.owners)
    rows = [_blocked(subject, scene, holders) for subject in subjects.found]
    told.blocked = [row for row in rows if _is_of_interest(row, subjects, scene)]
    told.blocked.sort(key=lambda row: (not is_namespace(row.kind), not row.record.terminating))


def _conclude(scene: Scene, told: Explanation) -> None:
    for row in told.blocked:
        row.suggestion = suggestion_for(row, scene)
    told.obstacles = [
        one for one in scene.obstacles if one.kind != API_SERVICE or _ends_a_namespace(told.blocked, scene)
    ]
    told.edges = list(waiting_edges(told.blocked, scene))
    told.deadlocks = find_deadlocks(told.edges)
    told.next_steps = next_steps(told, scene)


def _ends_a_namespace(blocked: Sequence[Blocked], scene: Scene) -> bool:
    return any(is_namespace(row.kind) or row.record.namespace in scene.going_namespaces for row in blocked)


def _blocked(subject: Seen, scene: Scene, holders: Holders) -> Blocked:
    kind, record = subject
    return Blocked(kind, record, holders.of(record, kind), causes_of(subject, scene))


def _is_of_interest(row: Blocked, subjects: Subjects, scene: Scene) -> bool:
    """What hangs, what was asked for by name, and what would hang because nobody is left to let it go."""
    if row.record.terminating or row.record.uid in subjects.named:
        return True
    if row.record.namespace in scene.going_namespaces:
        return True
    return any(holder.is_hopeless for holder in row.holders)
