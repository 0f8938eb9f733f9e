# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Before a policy is applied: record what each of its nodes is, so that it can be taken back.

Room: network. Private to the collection. As long as the policy is not on a node its record follows the node; from
then on it stays.
"""

from __future__ import annotations

from ...objects import moment
from ...problems import Refused
from ...well_known import CONFIG_MAPS
from .kinds import FOR_POLICY, HELPER, POLICY
from .marks import adding_finalizer, send
from .outcome import NodeOutcome, Phase, Run
from .records import NodeRecord, Records
from .scene import NodeView, Policy, Scene, read_policy, selects

_TRIES = 12


def prepare(scene: Scene, records: Records, run: Run) -> None:
    run.outcome.outcome = "prepared"
    chosen = _chosen(scene, run)
    applied = scene.of_policy(run.options.policy)
    _refuse_what_is_too_late([node for node in chosen if node.name in applied and records.of(node.name) is None])
    if not run.options.check_mode:
        for verb in ("create", "patch"):
            run.cluster.require(verb, CONFIG_MAPS, [records.namespace])
    at = moment(run.cluster.server_time())
    for node in chosen:
        known, state = records.of(node.name), scene.states.get(node.name)
        if state is None:
            run.outcome.nodes[node.name] = NodeOutcome(node.name, Phase.UNREACHABLE, "it reports no NodeNetworkState")
            run.outcome.warn(f"{node.name} is not recorded: it reports no NodeNetworkState", run.tell)
            continue
        if node.name not in applied and (known is None or known.pre != state):
            one = NodeRecord(node.name, state, at)
            records.write(one, run.cluster, run.tell, dry_run=run.options.check_mode)
            run.outcome.changed = True
        run.outcome.nodes[node.name] = NodeOutcome(node.name, Phase.RECORDED)
    if scene.policy is not None:
        _hold(scene.policy, run)


def _chosen(scene: Scene, run: Run) -> list[NodeView]:
    """Where the policy is or will be: by the task's selector, by the policy's own, or everywhere."""
    policy, given = scene.policy, run.options.node_selector
    if policy is not None and (HELPER in policy.record.labels or FOR_POLICY in policy.record.labels):
        raise Refused("will not prepare", which=f"{POLICY} {policy.name}", why="it is one of our own short-lived ones")
    if policy is not None and policy.begun:
        raise Refused(
            "will not prepare",
            which=f"{POLICY} {policy.name}",
            why="it is being taken back",
            next_step="finish that first, with state: absent",
        )
    own = policy.spec.get("nodeSelector") if policy is not None else None
    selector = own if given is None else given
    chosen = [node for _name, node in sorted(scene.nodes.items()) if selects(selector, node)]
    if not chosen:
        raise Refused("no node to record", why=f"no node has the labels {dict(selector or {})}")
    return chosen


def _refuse_what_is_too_late(nodes: list[NodeView]) -> None:
    if nodes:
        names = ", ".join(node.name for node in nodes[:5]) + (" …" if len(nodes) > 5 else "")
        raise Refused(
            "too late to record",
            which=names,
            why="the policy is on these nodes already, so what they were before cannot be seen",
            next_step="state: absent with mode: delete can still remove what it names; nothing was changed",
        )


def _hold(policy: Policy, run: Run) -> None:
    """From now on it does not go without us; whoever deletes it runs this module to let it go."""
    for _try in range(_TRIES):
        if not policy.opted_in:
            run.outcome.warn(
                f"{POLICY} {policy.name} has not opted in: add the annotation sunset.dev/delete-on-removal=true, or "
                "deleting it leaves the nodes as they are",
                run.tell,
            )
            return
        if policy.has_finalizer or policy.record.terminating:
            return
        written = send(policy, adding_finalizer(policy), "hold", run, dry_run=run.options.check_mode)
        if not written.raced:
            if written.problem:
                raise written.problem
            run.outcome.changed = True
            return
        fresh = read_policy(policy.name, run.kinds, run.cluster)
        if fresh is None:
            return
        policy = fresh
