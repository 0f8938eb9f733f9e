# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Our marks on a policy: finalizer, progress, and the selector that keeps it off every node while it is taken back.

Room: network. Private to the collection. Handlers apply a policy again whenever its generation changes, also while it
is being deleted. So before anything is taken back, the policy is neutralised: a selector that no node has, its own
one kept in an annotation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...events import Did, Noted
from ...objects import ref_to
from ...problems import Interrupted, Refused, TimedOut
from .kinds import FINALIZER, NEUTRAL, ORIGINAL_SELECTOR, POLICY, PROGRESS
from .outcome import CalledOff, Run
from .plan import original_selector
from .scene import Policy, read_policy

if TYPE_CHECKING:
    from ...kube.writes import Written

Operation = dict[str, Any]
LOOK_AGAIN = 0.5
_TRIES = 12


def neutralising(policy: Policy) -> list[Operation]:
    selector = policy.spec.get("nodeSelector")
    return [
        *_annotating(policy, {ORIGINAL_SELECTOR: json.dumps(selector, sort_keys=True)}),
        {"op": "add", "path": "/spec/nodeSelector", "value": NEUTRAL},
    ]


def putting_back(policy: Policy) -> list[Operation]:
    selector = original_selector(policy)
    path = "/spec/nodeSelector"
    spec: Operation = (
        {"op": "remove", "path": path} if selector is None else {"op": "add", "path": path, "value": selector}
    )
    return [*_annotating(policy, {ORIGINAL_SELECTOR: None, PROGRESS: None}), spec]


def marking(policy: Policy, progress: str) -> list[Operation]:
    """The progress, and the finalizer where one can still be added: not to an object that is being deleted."""
    found = _annotating(policy, {PROGRESS: progress})
    if not policy.has_finalizer and not policy.record.terminating:
        return [*found, *adding_finalizer(policy)]
    return found


def adding_finalizer(policy: Policy) -> list[Operation]:
    path = "/metadata/finalizers"
    if policy.record.finalizers:
        return [{"op": "add", "path": f"{path}/-", "value": FINALIZER}]
    return [{"op": "add", "path": path, "value": [FINALIZER]}]


def _annotating(policy: Policy, values: Mapping[str, str | None]) -> list[Operation]:
    """Set annotations, or drop those whose value is None."""
    base = "/metadata/annotations"
    found: list[Operation] = []
    if not policy.annotations and any(value is not None for value in values.values()):
        found.append({"op": "add", "path": base, "value": {}})
    for key, value in values.items():
        path = f"{base}/{key.replace('~', '~0').replace('/', '~1')}"
        if value is not None:
            found.append({"op": "add", "path": path, "value": value})
        elif key in policy.annotations:
            found.append({"op": "remove", "path": path})
    return found


# -- sending them ------------------------------------------------------------------------------------------------------


def send(policy: Policy, operations: list[Operation], word: str, run: Run, *, dry_run: bool = False) -> Written:
    """Only if nobody has written to the policy since it was read."""
    version = {"op": "test", "path": "/metadata/resourceVersion", "value": policy.record.resource_version}
    written = run.cluster.json_patch(run.kinds.policies, policy.record, [version, *operations], dry_run=dry_run)
    if not written.raced:
        ref = ref_to(run.kinds.policies, policy.record)
        run.tell(Did(word, ref, written.effect.value, dry_run=dry_run))
        run.outcome.changed |= written.changed and not dry_run
    return written


def mark(progress: str, run: Run) -> Policy | None:
    """Write how far we are. None: the policy is gone."""
    for _try in range(_TRIES):
        policy = read_policy(run.options.policy, run.kinds, run.cluster)
        if policy is None:
            return None
        written = send(policy, marking(policy, progress), "mark", run)
        if written.gone:
            return None
        if not written.raced:
            if written.problem:
                raise written.problem
            return policy
    return policy  # handlers write its status all the time; the next round writes the next progress


def neutralise(run: Run) -> None:
    """Until no handler applies it any more. Handlers at work on it are waited for: their admission policy says so."""
    told = False
    while True:
        run.stop.raise_if_set()
        policy = read_policy(run.options.policy, run.kinds, run.cluster)
        if policy is None or policy.neutral:
            return
        if not policy.opted_in:
            raise CalledOff
        if not policy.in_progress:
            written = send(policy, neutralising(policy), "neutralise", run)
            if written.changed or written.gone:
                return
            # The handlers may have begun between our look and our write; anything else is a real refusal.
            problem = written.problem
            if problem and not written.raced and "still in progress" not in problem.why:
                raise problem
        elif not told:
            run.tell(Noted("handlers are still at work on the policy; waiting for them to finish"))
            told = True
        if run.deadline.passed():
            look = kubectl("get nnce -l {label}", label=f"nmstate.io/policy={run.options.policy}")
            raise TimedOut(
                "the policy could not be taken off its nodes",
                which=f"{POLICY} {run.options.policy}",
                why="handlers are still at work on it, and until they finish its spec cannot be changed",
                next_step=f"see who is ({look}), then run this task again; no node was touched",
            )
        run.clock.sleep(LOOK_AGAIN)


def put_back(run: Run) -> Policy | None:
    """The policy is on its nodes again. None: it is gone."""
    while True:
        policy = read_policy(run.options.policy, run.kinds, run.cluster)
        if policy is None or ORIGINAL_SELECTOR not in policy.annotations:
            return policy
        written = send(policy, putting_back(policy), "put back", run)
        problem = written.problem
        if problem and not written.raced and "still in progress" not in problem.why:
            raise problem
        if run.stop.is_set():
            raise Interrupted("stopped", why=run.stop.reason, next_step="run the same task again")
        if run.deadline.passed():
            raise Refused(
                "the policy could not be put back",
                which=f"{POLICY} {run.options.policy}",
                why="the time of the task is over",
                next_step="run the same task again with a longer timeout",
            )
        run.clock.sleep(LOOK_AGAIN)
