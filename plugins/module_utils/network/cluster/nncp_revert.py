# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Take a policy back on every node of a cluster, then delete it: the use case behind the module `nncp_revert`.

Room: network. Private to the collection. Only policies that have opted in; everything is refused before the first
write or not at all. A run that was cut off is taken up by the next one: what has to be undone is in the records, how
far it came is shown by the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline, StopSign
from ...commands import kubectl
from ...events import Planned, Tell
from ...limits import check_limits
from ...objects import moment
from ...problems import Interrupted, Problem, Refused, TimedOut
from ...terms import Terms
from ...well_known import CONFIG_MAPS
from .ending import PROVEN, finish, release, undo
from .helper_policies import create_helper, remove_all_helpers, settle_leftovers
from .kinds import POLICY, find_kinds
from .marks import mark, marking, neutralise, neutralising, send
from .options import NncpOptions
from .outcome import WELL, CalledOff, NncpOutcome, NodeOutcome, Phase, Run
from .plan import Plan, make_plan, refuse_unless_opted_in
from .prepare import prepare
from .progress import progress_text, send_event
from .records import Records, read_records
from .reports import wait_for_reports
from .reverting import Reverting
from .scene import Policy, Scene, look

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


def revert_policy(options: NncpOptions, cluster: Cluster, clock: Clock, stop: StopSign, tell: Tell) -> NncpOutcome:
    began, deadline = clock.now(), Deadline(clock, options.timeout)
    cluster.limit_to(deadline)
    outcome = NncpOutcome(options.policy, check_mode=options.check_mode)
    run = Run(options, find_kinds(cluster), cluster, clock, stop, tell, deadline, outcome)
    try:
        scene = look(options.policy, run.kinds, cluster)
        records = read_records(options.policy, _namespace(options, scene), cluster)
        if options.state == "prepared":
            prepare(scene, records, run)
        else:
            _remove(scene, records, run)
    except Problem as problem:
        if not outcome.changed and not outcome.nodes:
            raise
        outcome.failure = problem
    outcome.seconds = clock.now() - began
    return outcome


def _namespace(options: NncpOptions, scene: Scene) -> str:
    found = options.namespace or scene.handler_namespace
    if not found:
        raise Refused(
            "no place for the records",
            why="no nmstate handler runs in this cluster, so there is no namespace of theirs",
            next_step="give a namespace; nothing was changed",
        )
    return found


def _remove(scene: Scene, records: Records, run: Run) -> None:
    policy = scene.policy
    if policy is None:
        _tidy_up(scene, records, run)
    elif policy.opted_in:
        _take_back(policy, scene, records, run)
    elif policy.begun or (policy.record.terminating and policy.has_finalizer):
        _let_go(policy, records, run)
    else:
        refuse_unless_opted_in(policy)


def _tidy_up(scene: Scene, records: Records, run: Run) -> None:
    """There is no such policy. Records of one that somebody else deleted stay: they may be all that is known."""
    left = [*scene.helpers, *(records.found if run.options.force else ())]
    run.outcome.changed = bool(left)
    if left and not run.options.check_mode:
        remove_all_helpers(run)
        if run.options.force:
            records.drop(list(records.found), run.cluster, run.tell)
    if records.found and not run.options.force:
        run.outcome.warn(
            f"there is no {POLICY} {run.options.policy}, but records of {len(records.found)} nodes in "
            f"{records.namespace}: force: true forgets them",
            run.tell,
        )


def _let_go(policy: Policy, records: Records, run: Run) -> None:
    run.outcome.outcome = "released"
    if run.options.check_mode:
        run.outcome.changed = True
        run.cluster.delete(run.kinds.policies, policy.record, dry_run=True)
        return
    _require_rights(records.namespace, run)
    release(policy, records, run)


def _take_back(policy: Policy, scene: Scene, records: Records, run: Run) -> None:
    if policy.phase == PROVEN:  # an earlier run was cut off while it tidied up
        run.outcome.changed = True
        if not run.options.check_mode:
            _require_rights(records.namespace, run)
            finish(policy, records, run)
        return
    plan = _planned(policy, wait_for_reports(policy, scene, run), records, run)
    if run.options.check_mode:
        _rehearse(plan, records, run)
        return
    _require_rights(records.namespace, run)
    if scene.helpers:
        settle_leftovers(run)
        plan = _planned(policy, look(policy.name, run.kinds, run.cluster), records, run)
    _begin(plan, records, run)
    try:
        neutralise(run)
        Reverting(run, plan).work_through()
    except CalledOff:
        release(policy, records, run)
        return
    except Interrupted:
        _leave_off(run)
        raise
    _conclude(policy, records, run)


def _planned(policy: Policy, scene: Scene, records: Records, run: Run) -> Plan:
    terms = Terms({"": run.cluster.identity()}, run.options.hashed)
    plan = make_plan(run.options, policy, scene, records, moment(run.cluster.server_time()), terms)
    outcome = run.outcome
    outcome.plan, outcome.most, outcome.nodes = plan, plan.most, _first_outcomes(plan)
    for warning in plan.warnings:
        outcome.warn(warning, run.tell)
    to_do = sum(len(wave.nodes) for wave in plan.waves)
    summary = f"{to_do} of {len(plan.nodes)} nodes to take back, {plan.most} at once, in {len(plan.waves)} waves"
    run.tell(Planned(summary, plan.hash))
    _check_limits(plan, run)
    return plan


def _check_limits(plan: Plan, run: Run) -> None:
    """After the plan was told: who is refused because it is another one has to see it."""
    options, rest = run.options, plan.is_rest_of(run.options.shown)
    try:
        check_limits(len(plan.nodes), plan.hash, options.max_objects, options.plan_hash, rest=rest)
    except Refused:
        _nobody_waits(run.outcome)
        raise


def _nobody_waits(outcome: NncpOutcome) -> None:
    """It stays a plan: no node's turn comes."""
    for one in outcome.nodes.values():
        one.phase = Phase.PLANNED if one.phase is Phase.WAITING else one.phase


def _first_outcomes(plan: Plan) -> dict[str, NodeOutcome]:
    waves = {name: wave.name for wave in plan.waves for name in wave.nodes}
    found: dict[str, NodeOutcome] = {}
    for name, one in plan.nodes.items():
        phase = Phase.WAITING if name in waves else Phase.UNREACHABLE if one.unreachable else Phase.UNCHANGED
        found[name] = NodeOutcome(name, phase, one.unreachable, waves.get(name, ""), one)
    found |= {name: NodeOutcome(name, Phase.UNREACHABLE, why) for name, why in plan.unseen.items()}
    found |= {name: NodeOutcome(name, Phase.GONE, "there is no such node any more") for name in plan.gone}
    return found


def _rehearse(plan: Plan, records: Records, run: Run) -> None:
    """Check mode: the server tries every write."""
    run.outcome.changed, run.outcome.outcome = True, "planned"
    _nobody_waits(run.outcome)
    text = progress_text("planned", run.outcome, run.cluster.server_time())
    tried = [send(plan.policy, marking(plan.policy, text), "mark", run, dry_run=True)]
    if plan.policy.in_progress:
        run.outcome.warn("handlers are still at work on the policy: a real run waits for them first", run.tell)
    elif not plan.policy.neutral:
        tried.append(send(plan.policy, neutralising(plan.policy), "neutralise", run, dry_run=True))
    for node in plan.nodes.values():
        records.write(node.record, run.cluster, run.tell, dry_run=True)
        if not node.reversal.unchanged:
            create_helper(node, run, plan.policy.record.uid, dry_run=True)
    if not plan.policy.record.terminating:
        tried.append(run.cluster.delete(run.kinds.policies, plan.policy.record, dry_run=True))
    for written in tried:
        if written.problem and not written.raced:
            raise written.problem


def _require_rights(namespace: str, run: Run) -> None:
    for verb in ("create", "patch", "delete"):
        run.cluster.require(verb, run.kinds.policies)
        run.cluster.require(verb, CONFIG_MAPS, [namespace])


def _begin(plan: Plan, records: Records, run: Run) -> None:
    """The record first, then the marks: whoever finds the marks finds out what is to be undone."""
    for one in plan.nodes.values():
        run.outcome.changed |= records.write(one.record, run.cluster, run.tell)
    deadline = run.cluster.server_time() + run.deadline.left()
    mark(progress_text("neutralising", run.outcome, deadline), run)
    waiting = run.outcome.in_phase(Phase.WAITING)
    send_event(plan.policy, "RevertStarted", f"{len(waiting)} nodes, {plan.most} at once", run)


def _conclude(policy: Policy, records: Records, run: Run) -> None:
    outcome = run.outcome
    left = [one for one in outcome.nodes.values() if one.phase not in WELL]
    away = [one for one in left if one.phase is Phase.UNREACHABLE]
    if run.options.unreachable == "leave" and len(away) == len(left):
        for one in away:
            outcome.warn(f"{one.node} keeps what the policy did: {one.reason}", run.tell)
        finish(policy, records, run)
        return
    if not left:
        finish(policy, records, run)
        return
    outcome.outcome = "stopped"
    if run.options.on_failure == "undo" and len(away) < len(left):
        undo(records, run)
    else:
        _leave_off(run)
        send_event(policy, "RevertStopped", _told(left), run, warning=True)
    outcome.failure = _not_done(left, run)


def _leave_off(run: Run) -> None:
    """What is left behind says so; our helpers do not stay."""
    with run.cluster.cleaning_up():
        remove_all_helpers(run)
        mark(progress_text("stopped", run.outcome, run.cluster.server_time() + run.deadline.left()), run)


def _not_done(left: Iterable[NodeOutcome], run: Run) -> Problem:
    name = run.options.policy
    undone = run.outcome.outcome == "undone"
    kind = TimedOut if run.deadline.passed() and not undone else Problem
    give_up = kubectl("annotate nncp {name} sunset.dev/delete-on-removal-", name=name)
    next_step = (
        "fix these nodes and run this task again; it goes on where it stopped. To give up: "
        f"{give_up}, run it again, and the policy goes with the nodes left as they are"
    )
    return kind(
        "the policy is back on its nodes" if undone else "not taken back everywhere",
        which=f"{POLICY} {name}",
        why=_told(left),
        next_step="fix these nodes and run this task again" if undone else next_step,
    )


def _told(left: Iterable[NodeOutcome]) -> str:
    rows = sorted(left, key=lambda one: (one.phase is Phase.ABORTED, one.node))
    text = "; ".join(f"{one.node} {one.phase.value}" + (f" ({one.reason})" if one.reason else "") for one in rows[:5])
    return text + (f"; and {len(rows) - 5} more" if len(rows) > 5 else "")
