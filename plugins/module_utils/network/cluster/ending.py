# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a run ends: the policy goes after the proof, is put back on its nodes, or goes with the nodes left as they are.

Room: network. Private to the collection.
"""

from __future__ import annotations

from ...commands import kubectl
from ...events import Did, Noted
from ...objects import ref_to
from ...problems import TimedOut
from .helper_policies import remove_all_helpers
from .kinds import FINALIZER, POLICY
from .marks import LOOK_AGAIN, mark, put_back
from .outcome import NodeOutcome, Phase, Run
from .progress import progress_text, send_event
from .records import Records
from .scene import Enacted, Policy, read_enactments, read_policy

PROVEN = "proven"


def finish(policy: Policy, records: Records, run: Run) -> None:
    """Every node has shown it. From here on only tidying up is left, also for a run that is started anew."""
    mark(progress_text(PROVEN, run.outcome, run.cluster.server_time() + run.deadline.left()), run)
    send_event(policy, "Reverted", "taken back on every node; the policy goes", run)
    remove_all_helpers(run)
    records.drop(list(records.found), run.cluster, run.tell)
    _delete(run)
    run.outcome.outcome = "reverted"


def release(policy: Policy, records: Records, run: Run) -> None:
    """Called off: the object goes, nodes stay as they are at this moment."""
    remove_all_helpers(run)
    send_event(policy, "RevertReleased", "not opted in any more: the policy goes, nodes stay as they are", run)
    records.drop(list(records.found), run.cluster, run.tell)
    _delete(run)
    run.outcome.outcome = "released"


def _delete(run: Run) -> None:
    """Our finalizer first: deleting what has one only marks it, and the handlers would apply it once more."""
    policy = read_policy(run.options.policy, run.kinds, run.cluster)
    if policy is None:
        return
    ref = ref_to(run.kinds.policies, policy.record)
    freed = run.cluster.remove_finalizers(run.kinds.policies, policy.record, [FINALIZER])
    run.tell(Did("release", ref, freed.effect.value))
    if freed.problem:
        raise freed.problem
    run.outcome.changed = True
    if freed.gone or freed.record is None:
        return
    if not freed.record.terminating:
        deleted = run.cluster.delete(run.kinds.policies, freed.record)
        run.tell(Did("delete", ref, deleted.effect.value))
        if deleted.problem:
            raise deleted.problem
    if freed.record.finalizers:
        others = ", ".join(freed.record.finalizers)
        run.outcome.warn(f"{POLICY} {policy.name} is still held by {others}, which is not ours", run.tell)


def undo(records: Records, run: Run) -> None:
    """Back on its nodes, all of them; waits until the handlers have applied it to those that were done."""
    remove_all_helpers(run)
    policy = put_back(run)
    if policy is None:
        return
    # Who consented to a state that nobody recorded did so for that run.
    records.drop([node for node, (_record, one) in records.found.items() if one.made_up], run.cluster, run.tell)
    run.tell(Noted("the policy is put back on its nodes; waiting for the handlers"))
    again = {one.node: one for one in run.outcome.nodes.values() if one.phase is Phase.REVERTED}
    _wait_until_applied(policy.name, again, run)
    send_event(policy, "RevertUndone", "some nodes failed; the policy is on its nodes again", run, warning=True)
    run.outcome.outcome = "undone"


def _wait_until_applied(name: str, nodes: dict[str, NodeOutcome], run: Run) -> None:
    left = set(nodes)
    while True:
        policy = read_policy(name, run.kinds, run.cluster)
        if policy is None:
            return
        for enactment in read_enactments([name], run.kinds, run.cluster)[name]:
            if enactment.node in left and enactment.progress(policy.generation) is Enacted.AVAILABLE:
                left.discard(enactment.node)
                nodes[enactment.node].phase = Phase.ABORTED
                nodes[enactment.node].reason = "taken back, then put back again"
        if not left:
            return
        if run.deadline.passed():
            raise TimedOut(
                "the policy is not on its nodes again",
                why=f"{', '.join(sorted(left))} did not report it in time",
                next_step=f"watch {kubectl('get nnce -l {label}', label=f'nmstate.io/policy={name}')}",
            )
        run.stop.raise_if_set()
        run.clock.sleep(LOOK_AGAIN)
