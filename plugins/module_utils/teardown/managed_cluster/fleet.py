# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take clusters off their hub, one or fifty: the use case behind `managed_cluster`.

Room: teardown. look → plan → limits and rights → a lane for each cluster, some at a time → evidence. One cluster that
cannot go does not hold up the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline, StopSign
from ...events import Planned, Tell, Warned
from ...limits import check_limits
from ...problems import Problem, Refused
from ...profiles import ocm
from ...terms import Terms
from ...well_known import NAMESPACES
from ..controllers import labelled
from ..freeze import require_freeze
from ..guards import Facts, judge
from ..keepsakes import Keepsakes, keep
from ..members.looking import Member
from ..plan import GOING, Entry, Plan, Step
from ..rehearsal import rehearse, why_refused
from ..rights import require_rights
from ..steps import StepRule
from .bindings import CLUSTER_RBAC, ROLE_BINDINGS, bindings_of
from .freezes import Freezes
from .hub import ClusterView, HubKinds, Reach, find_clusters, find_kinds
from .lane import Lane, LaneOutcome
from .namespace_gate import why_kept
from .options import ClusterOptions
from .places import Place, Places
from .spoke import klusterlets_on
from .works import hosted_suffix, is_a_hook, next_wave, replica_set_of, strange_priority

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_MOST_LANES = 200  # each keeps a thread, and while it waits a watch


@dataclass
class FleetOutcome:
    lanes: list[LaneOutcome] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    kinds: list[str] = field(default_factory=list)  # those that are cleaned up, by name
    hub_cleans_up: set[str] = field(default_factory=set)  # clusters whose content the hub removes by itself
    check_mode: bool = False
    keepsakes: Keepsakes | None = None
    changed: bool = False
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0
    server_time: float = 0.0


def remove_clusters(
    options: ClusterOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell, spoke: Cluster | None = None
) -> FleetOutcome:
    began = clock.now()
    deadline = Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = FleetOutcome(check_mode=options.check_mode)
    if spoke is not None:
        klusterlets_on(spoke, options.names[0])  # one that does not answer must be known before the hub is empty
    kinds = find_kinds(options, cluster)
    views = find_clusters(options, kinds, cluster)
    outcome.kinds = [one.plural if one else text for one, text in zip(kinds.cleanup, options.cleanup, strict=True)]
    outcome.lanes = [LaneOutcome(view, phase="pending" if view.is_there else "gone") for view in views]
    outcome.plan = _plan(views, kinds, options)
    named = {"": cluster, **({"spoke": spoke} if spoke is not None else {})}
    outcome.plan.terms = Terms({name: one.identity() for name, one in named.items()}, options.hashed)
    outcome.hub_cleans_up = {view.name for view in views if view.hub_cleans_up}
    _warn_beforehand(outcome, views, kinds, options, tell)
    tell(Planned(_summary(views, outcome.plan), outcome.plan.hash))
    try:
        rest = outcome.plan.is_rest_of(options.shown)
        check_limits(len(outcome.plan.going), outcome.plan.hash, options.max_objects, options.plan_hash, rest=rest)
        _check_rights(options, outcome, views, cluster)
        _act(options, outcome, kinds, cluster, spoke, clock, stop, tell, deadline)
    except Problem as problem:
        outcome.failure = problem
    outcome.changed = outcome.changed or any(lane.changed for lane in outcome.lanes)
    outcome.seconds = clock.now() - began
    outcome.server_time = cluster.server_time()
    return outcome


def _act(
    options: ClusterOptions,
    outcome: FleetOutcome,
    kinds: HubKinds,
    cluster: Cluster,
    spoke: Cluster | None,
    clock: Clock,
    stop: StopSign,
    tell: Tell,
    deadline: Deadline,
) -> None:
    freezes = Freezes(kinds, cluster, clock, tell, deadline, on=options.freeze)
    views = [lane.view for lane in outcome.lanes]
    if options.check_mode:
        freezes.try_out(views)
        outcome.changed = any(_leaves_something(lane.view, options, cluster) for lane in outcome.lanes)
        cluster.for_each(outcome.lanes, lambda lane: _foresee(lane, options, cluster))
        refused = rehearse(outcome.plan, {None: cluster}, "Background", tell)
        unreachable = next((lane.failure for lane in outcome.lanes if lane.failure), None)
        outcome.failure = why_refused(refused, "delete") or unreachable or _first_kept(outcome.plan)
        return
    if options.keepsakes:
        outcome.keepsakes = keep(outcome.plan, {None: cluster}, tell)
    alive = _hub_is_alive(cluster)
    places = Places(options.concurrency)

    def run(lane: LaneOutcome) -> None:
        at, own = lane.view, Place(places)
        Lane(at, kinds, options, cluster, clock, stop, tell, deadline, alive, lane, own, freezes, spoke).run()

    # Also clusters that are gone: bindings and namespaces may be left.
    at_once = [view for view in views if not view.gate and not _is_refused(view, options)]
    with freezes.covering(at_once), ThreadPoolExecutor(min(_MOST_LANES, len(views) or 1)) as lanes:
        list(lanes.map(run, outcome.lanes))
    failed = [lane for lane in outcome.lanes if lane.failure]
    if failed:
        outcome.failure = _as_one(failed, len(outcome.lanes))


def _check_rights(
    options: ClusterOptions, outcome: FleetOutcome, views: Sequence[ClusterView], cluster: Cluster
) -> None:
    """All of it, before the first write: half a cluster is worse than a whole one."""
    patches = options.spoke_content == "orphan" or options.on_unreachable == "force"
    require_rights(outcome.plan, cluster, patch_first=patches)
    there = [view.name for view in views if view.is_there]
    if not there:
        return
    if options.freeze:
        require_freeze(cluster)
    cluster.require("delete", ROLE_BINDINGS, there)
    for resource in CLUSTER_RBAC:
        cluster.require("delete", resource)
    if options.namespace != "keep":
        cluster.require("delete", NAMESPACES)


def _as_one(failed: Sequence[LaneOutcome], total: int) -> Problem:
    first = failed[0].failure
    if total == 1 and first is not None:
        return first
    names = ", ".join(lane.view.name for lane in failed[:5]) + (" …" if len(failed) > 5 else "")
    return Refused(
        f"{len(failed)} of {total} clusters are not gone",
        which=f"({names})",
        why=str(first).partition(" Next: ")[0].rstrip("."),
        next_step="see clusters for each; run the task again when the reasons are gone, it goes on from here",
    )


def _leaves_something(view: ClusterView, options: ClusterOptions, cluster: Cluster) -> bool:
    """A cluster that is gone but for its namespace or bindings is not in the plan, and still something to do."""
    if view.is_there:
        return False
    if bindings_of(view.name, cluster):
        return True
    record = cluster.read(NAMESPACES, "", view.name)
    return record is not None and not why_kept(options.namespace, record, cluster)


def _is_refused(view: ClusterView, options: ClusterOptions) -> bool:
    return view.reach is not Reach.REACHABLE and bool(view.held) and options.on_unreachable == "fail"


def _foresee(lane: LaneOutcome, options: ClusterOptions, cluster: Cluster) -> None:
    """What a run would refuse, and what would become of the namespace, said in check mode already."""
    view = lane.view
    if _is_refused(view, options):
        lane.failure = Refused(
            f"cluster {view.name} cannot clean up",
            why=f"{view.why_unreachable}, and {len(view.held)} addons and works wait for its agent",
            next_step="bring it back, or say what to do with on_unreachable",
        )
    record = cluster.read(NAMESPACES, "", view.name)
    lane.namespace_gone = record is None
    if record is not None:
        lane.namespace_kept = why_kept(options.namespace, record, cluster, later=True)


def _first_kept(plan: Plan) -> Problem | None:
    for entry in plan.kept:
        return Refused(
            "a cluster cannot go",
            why=f"{entry.member.ref} is kept: {entry.verdict.why}",
            next_step="take the marker off, or delete it by hand",
        )
    return None


def _hub_is_alive(cluster: Cluster) -> bool:
    try:
        return any(one.available for one in labelled(ocm.CONTROLLERS, "", cluster))
    except Problem:
        return False  # nobody knows; its finalizers are only touched when all else is gone


def _plan(views: Sequence[ClusterView], kinds: HubKinds, options: ClusterOptions) -> Plan:
    """Everything that is there now, in the order it would go. What others delete is not in it."""
    plan = Plan()
    for rank, view in enumerate(views, 1):
        left = [list(records) for records in view.kinds]
        while (wave := next_wave(left, kinds.works, view.agents, options.manifestworks)) is not None:
            resource = kinds.cleanup[wave.kind]
            gone = {record.uid for record in wave.records}
            left[wave.kind] = [record for record in left[wave.kind] if record.uid not in gone]
            if resource is not None and wave.deletes:
                members = [Member(resource, record, view.name, named=True) for record in wave.records]
                plan.steps.append(_step(f"{view.name} · {resource.kind} · {wave.name}", rank, members))
        plan.steps += _hosted_steps(view, rank, kinds, options)
        if view.record is not None and view.resource is not None:
            member = Member(view.resource, view.record, view.name, named=True)
            plan.steps.append(_step(f"{view.name} · ManagedCluster", rank, [member]))
    return plan


def _hosted_steps(view: ClusterView, rank: int, kinds: HubKinds, options: ClusterOptions) -> Iterator[Step]:
    resource = kinds.cleanup[kinds.works] if kinds.works is not None else None
    if resource is None or options.manifestworks != "all":
        return
    for suffix in ("", *ocm.HOSTED_ORDER):
        wave = [record for record in view.hosted if hosted_suffix(record.name) == suffix]
        if wave:
            members = [Member(resource, record, view.name, named=True) for record in wave]
            yield _step(f"{view.name} · {resource.kind} · hosted{suffix}", rank, members)


def _step(name: str, rank: int, members: Sequence[Member]) -> Step:
    entries = [Entry(member, judge(member, Facts())) for member in members]
    going = [entry for entry in entries if entry.verdict.fate in GOING]
    return Step(StepRule(name, rank), [going] if going else [], [entry for entry in entries if entry not in going])


def _summary(views: Sequence[ClusterView], plan: Plan) -> str:
    there = [view for view in views if view.is_there]
    objects = len(plan.going) - sum(view.record is not None for view in there)
    what = f"remove {len(there)} cluster{'s' * (len(there) != 1)} with {objects} objects"
    gone = len(views) - len(there)
    return what + (f"; {gone} are gone already" if gone else "")


def _warn_beforehand(
    outcome: FleetOutcome, views: Sequence[ClusterView], kinds: HubKinds, options: ClusterOptions, tell: Tell
) -> None:
    texts = list(kinds.warnings)
    if outcome.hub_cleans_up and options.manifestworks != "all":
        texts.append(f"manifestworks: {options.manifestworks} is our part only; this hub deletes every work by itself")
    for view in views:
        records = [record for some in view.kinds for record in some]
        texts += [f"{view.name}: {text}" for record in records if (text := strange_priority(record))]
        made = sorted({owner for record in records if (owner := replica_set_of(record))})
        texts += [
            f"{view.name}: ManifestWorkReplicaSet {owner} makes works here, and may make them again" for owner in made
        ]
        hooks = [record.name for record in records if is_a_hook(record)]
        texts += [f"{view.name}: addon hook {name} runs before its addon goes" for name in hooks[:5]]
        if view.reach is not Reach.REACHABLE and view.held and options.on_unreachable == "force":
            texts.append(f"{view.name}: {view.why_unreachable}; {ocm.EVICTION}")
    for text in texts:
        outcome.warnings.append(text)
        tell(Warned(text))
