# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The short-lived policies that take a policy back: one a node, since each node goes back to a state of its own.

Room: network. Private to the collection. A policy's selector is a set of labels, and only the host name is a node's
own. Labelling nodes together would make their handlers apply every policy again.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ...events import Did
from ...objects import ref_to
from ...problems import Refused
from .kinds import FOR_POLICY, HELPER, HOST_NAME, LONGEST_NAME, POLICY
from .marks import LOOK_AGAIN
from .outcome import Run
from .plan import NodePlan
from .scene import Enacted, Policy, read_enactments, read_helpers, read_policy

if TYPE_CHECKING:
    from ...kube.writes import Written

_BUSY = frozenset({Enacted.RUNNING, Enacted.RETRYING})


def helper_name(policy: str, uid: str, one: NodePlan) -> str:
    """Readable as far as it fits, and its own for this policy, node and state."""
    told = json.dumps([uid, one.name, one.reversal.state], sort_keys=True)
    digest = hashlib.sha256(told.encode()).hexdigest()[:10]
    room = LONGEST_NAME - len(f"revert--{digest}")
    return f"revert-{policy[:room].rstrip('-.')}-{digest}"


def helper_body(policy: str, uid: str, one: NodePlan) -> dict[str, Any]:
    return {
        "metadata": {
            "name": helper_name(policy, uid, one),
            "labels": {HELPER: "true", FOR_POLICY: policy},
            "annotations": {"sunset.dev/node": one.name},
        },
        "spec": {
            "nodeSelector": {HOST_NAME: one.view.host_name},
            "desiredState": one.reversal.state,
            "maxUnavailable": 1,
        },
    }


def create_helper(one: NodePlan, run: Run, uid: str, *, dry_run: bool = False) -> Written:
    body = helper_body(run.options.policy, uid, one)
    written = run.cluster.create(run.kinds.policies, "", body, dry_run=dry_run)
    if written.record:
        ref = ref_to(run.kinds.policies, written.record)
        run.tell(Did("revert", ref, written.effect.value, detail=one.name, dry_run=dry_run))
    if written.problem:
        raise written.problem
    if written.record is not None and HELPER not in written.record.labels and not dry_run:
        raise Refused(
            "cannot revert",
            which=f"node {one.name}",
            why=f"there is a {POLICY} {written.record.name} that is not ours",
            next_step="remove or rename it, and run this task again",
        )
    run.outcome.changed |= written.changed and not dry_run
    return written


def remove_helper(name: str, run: Run) -> None:
    helper = read_policy(name, run.kinds, run.cluster)
    if helper is None or HELPER not in helper.record.labels:
        return
    written = run.cluster.delete(run.kinds.policies, helper.record)
    run.tell(Did("remove", ref_to(run.kinds.policies, helper.record), written.effect.value))
    if written.problem:
        raise written.problem


def remove_all_helpers(run: Run) -> None:
    for helper in read_helpers(run.options.policy, run.kinds, run.cluster):
        remove_helper(helper.name, run)
        run.outcome.changed = True


def settle_leftovers(run: Run) -> None:
    """What an earlier run left behind goes, each when its handler is not in the middle of it."""
    helpers = read_helpers(run.options.policy, run.kinds, run.cluster)
    while helpers and not run.deadline.passed():
        run.stop.raise_if_set()
        enactments = read_enactments([one.name for one in helpers], run.kinds, run.cluster)
        busy = [one for one in helpers if _is_busy(one, run, enactments[one.name])]
        for helper in helpers:
            if helper not in busy:
                remove_helper(helper.name, run)
                run.outcome.changed = True
        helpers = busy
        if helpers:
            run.clock.sleep(LOOK_AGAIN)


def _is_busy(helper: Policy, run: Run, enactments: list[Any]) -> bool:
    return any(one.progress(helper.generation) in _BUSY for one in enactments)
