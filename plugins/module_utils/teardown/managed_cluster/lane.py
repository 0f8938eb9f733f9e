# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster on its way out of the hub: gate, addons, works, bindings, namespace, finalizers.

Room: teardown. Every wave is a step of the engine: deleted by uid, waited for, and only then the next. What the hub
does by itself at the same time is welcome; we only do what is left.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...clock import Clock, Deadline, StopSign
from ...events import Did, Event, Progress, Tell
from ...objects import Record, Resource, ref_to
from ...paths import condition_of
from ...problems import Problem, Refused, TimedOut
from ...profiles import ocm
from ...well_known import NAMESPACES
from ..blockers.survivors import Diagnosis, diagnose, name_the_first
from ..guards import Facts, judge
from ..ladder import Ladder
from ..matching import Matcher
from ..members.looking import Looker, Member
from ..plan import GOING, Entry, Plan, Step
from ..run import Site, carry_out
from ..run_outcome import RunOptions, RunOutcome
from ..steps import StepRule
from .bindings import bindings_of
from .freezes import Freezes
from .hooks import Hook, HookWatch, name_hooks
from .hub import ClusterView, HubKinds, Reach, look_again, look_at_the_gate
from .latecomers import latecomers
from .namespace_gate import why_kept
from .options import ClusterOptions
from .own_hold import let_go
from .places import Place
from .spoke import Spoke, klusterlets_on, leftovers_on
from .works import Wave, hosted_suffix, manifests_of, named_in, next_wave

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_LOOK_AGAIN = 1.0
_GATE_AGAIN = 2.0
_ROUNDS = 5  # how often the same wave may come back


@dataclass
class LaneOutcome:
    """How far one cluster came."""

    view: ClusterView
    phase: str = "pending"
    namespace_kept: str = ""
    namespace_gone: bool = False
    may_remain: list[str] = field(default_factory=list)
    spoke: Spoke | None = None
    hooks: dict[str, Hook] = field(default_factory=dict)  # by their addons' names
    runs: list[RunOutcome] = field(default_factory=list)
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    changed: bool = False
    failure: Problem | None = None


@dataclass
class Lane:
    view: ClusterView
    kinds: HubKinds
    options: ClusterOptions
    cluster: Cluster
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    hub_is_alive: bool
    outcome: LaneOutcome
    place: Place
    freezes: Freezes
    spoke: Cluster | None = None
    _rounds: Counter[tuple[int, str]] = field(default_factory=Counter)
    _uid: str = ""  # of the ManagedCluster that is meant; empty: there was none
    _reach: Reach = Reach.REACHABLE

    def __post_init__(self) -> None:
        self.hooks = HookWatch(self.view.name, self.cluster, self.clock, self.tell, self.outcome.hooks)

    def run(self) -> LaneOutcome:
        self._uid = self.view.record.uid if self.view.record else ""
        try:
            self._do(self._before_anything())
            self.outcome.phase = "freezing"
            with self.freezes.covering([self.view]):
                self._do(self._removal())
            self.outcome.phase = "gone"
        except Problem as problem:
            self.outcome.failure = name_the_first(problem, self.outcome.diagnosis)
            with contextlib.suppress(Problem):  # what is left is counted, if that can be seen
                self.outcome.view = look_again(self.view, self.kinds, self.cluster)
        finally:
            self.place.give_up()
        self.outcome.changed = self.outcome.changed or any(run.changed for run in self.outcome.runs)
        return self.outcome

    def _do(self, phases: Any) -> None:
        for phase, work in phases:
            self.outcome.phase = phase
            self._take_a_place()
            work()
            self.stop.raise_if_set()

    def _take_a_place(self) -> None:
        if not self.place.take(self.deadline, self.stop):
            self.stop.raise_if_set()
            raise self._out_of_time("other clusters took all of it")

    def _out_of_time(self, why: str) -> TimedOut:
        return TimedOut(
            "out of time",
            which=f"for cluster {self.view.name}",
            why=why,
            next_step="run the task again, it goes on from here; or raise timeout or concurrency",
        )

    def _wait_a_moment(self, seconds: float = _LOOK_AGAIN) -> None:
        """For somebody else to do something. Meanwhile another cluster may have the place."""
        self.place.give_up()
        self.stop.raise_if_set()
        self.clock.sleep(seconds)

    def _before_anything(self) -> Any:
        return (
            ("waiting", self._wait_at_the_gate),
            ("reachable?", self._refuse_unreachable),
            ("kept?", self._refuse_kept),
        )

    def _removal(self) -> Any:
        return (
            ("orphaning", self._orphan),
            ("deleting", self._begin),
            ("cleaning up", self._clean_up),
            ("hosted works", self._remove_hosted),
            ("bindings", self._remove_bindings),
            ("namespace", self._remove_namespace),
            ("finishing", self._finish),
            ("spoke", self._visit_the_spoke),
        )

    @property
    def forces(self) -> bool:
        return self._reach is not Reach.REACHABLE and self.options.on_unreachable == "force"

    def _wait_at_the_gate(self) -> None:
        """`wait_for`: nothing at all happens, as long as one of these is there."""
        waited = bool(self.view.gate)
        while self.view.gate:
            if self.deadline.passed():
                raise TimedOut(
                    "out of time",
                    which=f"for cluster {self.view.name}",
                    why=f"{len(self.view.gate)} objects of wait_for are still there, {self.view.gate[0]} among them",
                    next_step="have them removed, then run the task again; nothing was changed",
                )
            self._wait_a_moment(_GATE_AGAIN)
            self.view.gate = look_at_the_gate(self.view, self.kinds, self.cluster)
        if waited:
            self._look()  # all else may have changed meanwhile

    def _look(self) -> None:
        self.view = self.outcome.view = look_again(self.view, self.kinds, self.cluster)
        if self.view.record is not None and self.view.record.uid != self._uid:
            raise Refused(
                f"cluster {self.view.name} was created anew meanwhile",
                why="the new one and what belongs to it are not touched",
                next_step="run the task again if it shall go, too",
            )

    def _refuse_kept(self) -> None:
        """Before anything is deleted: a marker found in the middle would leave half a cluster."""
        things = [
            Member(resource, record, self.view.name, named=True)
            for resource, records in zip(self.kinds.cleanup, self.view.kinds, strict=True)
            for record in (records if resource else ())
            if resource is not None
        ]
        works = self.cluster.find_kind(*ocm.WORKS).resource
        if works is not None:
            things += [Member(works, record, self.view.name, named=True) for record in self.view.hosted]
        if self.view.record is not None and self.view.resource is not None:
            things.append(Member(self.view.resource, self.view.record, self.view.name, named=True))
        for member in things:
            self._refuse_if_kept(Entry(member, judge(member, Facts())))

    def _refuse_if_kept(self, entry: Entry) -> None:
        if entry.verdict.fate not in GOING:
            raise Refused(
                f"cluster {self.view.name} cannot go",
                why=f"{entry.member.ref} is kept: {entry.verdict.why}",
                next_step="take the marker off, or delete it by hand, and run the task again",
            )

    def _orphan(self) -> None:
        """`spoke_content: orphan`: told to every work and addon before anybody, the hub included, deletes one."""
        if self.options.spoke_content != "orphan":
            return
        wishes = {ocm.WORKS: ocm.ORPHAN_WORK, ocm.ADDONS: {"metadata": {"annotations": {ocm.ORPHAN_ADDON: ""}}}}
        for resource, records in zip(self.kinds.cleanup, self.view.kinds, strict=True):
            patch = wishes.get((resource.group, resource.kind)) if resource else None
            if resource is None or patch is None:
                continue
            for record in records:
                written = self.cluster.merge_patch(resource, record, patch)
                self.tell(Did("patch before delete", ref_to(resource, record), written.effect.value))
                if written.problem:
                    raise written.problem
                self.outcome.changed = self.outcome.changed or written.changed

    def _refuse_unreachable(self) -> None:
        self._reach = self.view.reach  # once: when the ManagedCluster is gone, nobody can tell any more
        if self.view.reach is Reach.REACHABLE or not self.view.held or self.options.on_unreachable != "fail":
            return
        raise Refused(
            f"cluster {self.view.name} cannot clean up",
            why=f"{self.view.why_unreachable}, and {len(self.view.held)} addons and works wait for its agent",
            next_step="bring it back; or on_unreachable: wait; or force, which may leave its workloads running there",
        )

    def _begin(self) -> None:
        """The ManagedCluster's own deletion: a hub that cleans up by itself begins now, too."""
        view = self.view
        if view.record is None or view.resource is None or view.record.terminating:
            return
        if self.deadline.passed():
            raise self._out_of_time("there was none left to begin with it")
        written = self.cluster.delete(view.resource, view.record)
        self.tell(Did("delete", ref_to(view.resource, view.record), written.effect.value, "begins the cluster's end"))
        if written.problem:
            raise written.problem
        self.outcome.changed = self.outcome.changed or written.changed

    def _clean_up(self) -> None:
        while True:
            self._look()
            wave = next_wave(self.view.kinds, self.kinds.works, self.view.agents, self.options.manifestworks)
            if wave is None:
                return
            self._count_round(wave)
            resource = self.kinds.cleanup[wave.kind]
            if resource is None:
                return
            if not wave.deletes:
                self._wait_for_others(resource, wave)
            elif wave.definitions and not self.forces:
                self._finish_definitions(resource, wave)
            else:
                self._note_what_may_remain(resource, wave)
                self._remove(f"{resource.kind} · {wave.name}", [(resource, one) for one in wave.records], self._how())

    def _count_round(self, wave: Wave) -> None:
        self._rounds[wave.kind, wave.name] += 1
        if self._rounds[wave.kind, wave.name] > _ROUNDS:
            raise self._made_again(wave)

    def _how(self) -> RunOptions:
        ladder = Ladder(force=self.forces, after=self.options.force_after, only=ocm.OWN_FINALIZERS)
        return RunOptions(timeout=self.deadline.left(), ladder=ladder)

    def _remove_hosted(self) -> None:
        """In hosted mode the agent runs on another cluster: works in that one's namespace bring it, and go last."""
        resource = self.cluster.find_kind(*ocm.WORKS).resource
        if resource is None:
            return
        for suffix in ("", *ocm.HOSTED_ORDER):
            self._look()
            wave = [one for one in self.view.hosted if hosted_suffix(one.name) == suffix]
            while wave and self.options.manifestworks != "all":
                self._wait_for_others(resource, Wave("hosted works", -1, tuple(wave), deletes=False))
                self._look()
                wave = [one for one in self.view.hosted if hosted_suffix(one.name) == suffix]
            if wave:
                self._note_what_may_remain(resource, Wave("hosted works", -1, tuple(wave)))
                self._remove(f"{resource.kind} · hosted{suffix}", [(resource, one) for one in wave], self._how())

    def _visit_the_spoke(self) -> None:
        if self.spoke is None:
            return
        found = klusterlets_on(self.spoke, self.view.name)
        if found:
            self._remove("klusterlet on the cluster", found, RunOptions(timeout=self.deadline.left()), self.spoke)
        self.outcome.spoke = Spoke(len(found), leftovers_on(self.spoke))

    def _remove(
        self,
        name: str,
        things: Sequence[tuple[Resource, Record]],
        how: RunOptions,
        where: Cluster | None = None,
        *,
        keep_markers: bool = True,
    ) -> None:
        """One wave, by the engine."""
        self._take_a_place()
        cluster = where or self.cluster
        looker = Looker(cluster, self.tell)
        for resource, namespace in dict.fromkeys((one, record.namespace or None) for one, record in things):
            looker.everything(resource, namespace)
        members = [Member(resource, record, self.view.name, named=True) for resource, record in things]
        facts = Facts(keep_markers=keep_markers)
        entries = [Entry(member, judge(member, facts)) for member in members]
        for entry in entries:
            self._refuse_if_kept(entry)
        step = Step(StepRule(f"{self.view.name} · {name}", 1, force=how.ladder.force), [entries])
        site = Site(cluster, looker, Matcher((), {}), facts)
        self.hooks.begin(things)
        how = dataclasses.replace(how, ours=frozenset(uid for run in self.outcome.runs for uid in run.by_us))
        run = carry_out(Plan([step]), {None: site}, how, self.clock, self.stop, self._hear_the_engine)
        self.outcome.runs.append(run)
        self.hooks.end(run)
        if run.failure:
            self.outcome.diagnosis = diagnose([run], {None: cluster}, self.tell)
            name_hooks(self.outcome.diagnosis.survivors, self.outcome.hooks)
            raise run.failure

    def _hear_the_engine(self, event: Event) -> None:
        """Its events, passed on. Once a second it says what is still there: then it waits for somebody."""
        self.tell(event)
        if isinstance(event, Progress) and event.done < event.total:
            self.place.give_up()
            self.hooks.look()

    def _wait_for_others(self, resource: Resource, wave: Wave) -> None:
        """Works that the task leaves to others: the rest waits for them."""
        if self.deadline.passed():
            raise TimedOut(
                "out of time",
                which=f"for cluster {self.view.name}",
                why=f"{len(wave.records)} {resource.plural} are left to others (manifestworks: "
                f"{self.options.manifestworks}), {wave.records[0].place} among them",
                next_step="have them deleted, or set manifestworks: all",
            )
        self._rounds[wave.kind, wave.name] = 0
        self._wait_a_moment()

    def _finish_definitions(self, resource: Resource, wave: Wave) -> None:
        """The work with the agent's definitions: nobody is left to let it go, once it says that it is being deleted."""
        for record in wave.records:
            if not record.terminating:
                written = self.cluster.delete(resource, record)
                self.tell(Did("delete", ref_to(resource, record), written.effect.value))
                self.outcome.changed = True
                if written.problem:
                    raise written.problem
            while (item := self.cluster.read_whole(resource, record.namespace, record.name)) is not None:
                said = condition_of(item, "Deleting") or {}
                if said.get("status") == "True":
                    own = [name for name in record.finalizers if _is_own(name)]
                    written = self.cluster.remove_finalizers(resource, record, own)
                    self.tell(Did("strip finalizers", ref_to(resource, record), written.effect.value))
                    if written.problem:
                        raise written.problem
                    break
                if self.deadline.passed():
                    raise TimedOut(
                        "out of time",
                        which=f"for {ref_to(resource, record)}",
                        why="its condition Deleting is not True yet, so the agent may still need it",
                        next_step="give it more time, or look at the agent on the cluster",
                    )
                self._wait_a_moment()

    def _note_what_may_remain(self, resource: Resource, wave: Wave) -> None:
        if not self.forces or (resource.group, resource.kind) != ocm.WORKS:
            return
        uids = {record.uid for record in wave.records}
        for place in sorted({record.namespace for record in wave.records}):
            for item in self.cluster.list_whole(resource, place):
                if item["metadata"]["uid"] in uids:
                    self.outcome.may_remain += [named_in(manifest) for manifest in manifests_of(item)]

    def _made_again(self, wave: Wave) -> Refused:
        managers = sorted({name for record in wave.records for _finalizer, name in record.finalizer_managers})
        return Refused(
            f"cluster {self.view.name} does not become empty",
            why=f"{wave.records[0].place} and others are made again and again"
            + (f" (by {', '.join(managers)})" if managers else ""),
            next_step="find out who makes them; a ManifestWorkReplicaSet or a placement may still name this cluster",
        )

    def _remove_bindings(self) -> None:
        """Only now: while works are there, their agent needs its rights to let them go."""
        while self._more_has_come():
            self._clean_up()
        found = bindings_of(self.view.name, self.cluster)
        if found:
            self._remove("role bindings", found, self._patiently((ocm.WORK_FINALIZER,)), keep_markers=False)

    def _more_has_come(self) -> bool:
        late = latecomers(self.view.name, self.kinds.cleanup, self.cluster)
        if late is not None:
            self._count_round(late)
        return late is not None

    def _patiently(self, only: tuple[str, ...]) -> RunOptions:
        """Everything of the cluster is gone, so these finalizers hold nothing; a living hub takes them off itself."""
        ladder = Ladder(force=not self.hub_is_alive, after=self.options.force_after, only=only)
        return RunOptions(timeout=self.deadline.left(), ladder=ladder)

    def _remove_namespace(self) -> None:
        record = self.cluster.read(NAMESPACES, "", self.view.name)
        if record is None:
            self.outcome.namespace_gone = True
            return
        reason = why_kept(self.options.namespace, record, self.cluster)
        if reason:
            self.outcome.namespace_kept = reason
            return
        # What else is in it goes with it; whether that may be was looked at right now.
        self._remove("namespace", [(NAMESPACES, record)], RunOptions(timeout=self.deadline.left(), foreign="looked"))
        self.outcome.namespace_gone = True

    def _finish(self) -> None:
        resource = self.kinds.clusters
        record = self.cluster.read(resource, "", self.view.name) if resource else None
        if record is None or resource is None:
            return
        if record.uid != self._uid:
            raise Refused(
                f"cluster {self.view.name} was created anew meanwhile",
                why="the new one is not touched",
                next_step="run the task again if it shall go, too",
            )
        left = let_go(resource, record, self.cluster, self.tell)
        if left is not None:
            self._remove("ManagedCluster", [(resource, left)], self._patiently(ocm.CLUSTER_FINALIZERS))


def _is_own(finalizer: str) -> bool:
    return any(fnmatch.fnmatchcase(finalizer, pattern) for pattern in ocm.OWN_FINALIZERS)
