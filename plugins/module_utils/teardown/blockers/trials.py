# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Would the API server let it go? Asked, not guessed: may we, and would it take the change?

Room: teardown. Access reviews first, then a dry run of the very patch or delete that comes next: the server goes
through admission and validation with it, and keeps nothing. Both are bounded: however many objects hang, a few are
tried, one of each sort first.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...commands import kubectl
from ...objects import Resource
from ...paths import value_at
from ...problems import ENDS_THE_TASK, Problem
from ...well_known import POLICIES, POLICY_BINDINGS
from .cause import RIGHTS, Cause
from .census import Census
from .refusals import cause_of_refusal
from .subjects import is_namespace

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.writes import Written
    from .blockers import Blocked

MOST_ASKED = 20  # questions about rights
MOST_TRIED = 20  # dry runs
PATCH, DELETE = "patch", "delete"
Right = tuple[str, Resource, str]  # verb, kind, namespace
_FOR = {PATCH: "to remove its finalizer", DELETE: "to delete it"}


@dataclass(frozen=True)
class Trial:
    """What somebody would do next to one object."""

    verb: str
    row: Blocked
    finalizers: tuple[str, ...] = ()

    @property
    def right(self) -> Right:
        return self.verb, self.row.kind, self.row.record.namespace


def try_out(
    rows: Iterable[Blocked], named: Collection[str], cluster: Cluster, census: Census, *, dry_run: bool
) -> None:
    """Adds to rows what the server has against their end."""
    trials = [trial for row in rows if (trial := trial_of(row, named))]
    allowed = _with_rights(trials, cluster, census)
    chosen = choose(allowed) if dry_run else []
    cluster.for_each(
        chosen, lambda trial: census.attempt(f"whether {trial.row.ref} would go", lambda: _send(trial, cluster, census))
    )


def trial_of(row: Blocked, named: Collection[str]) -> Trial | None:
    """What is protected is nothing to be tried, and the end of a namespace lies in the hands of its content."""
    if row.record.terminating:
        names = tuple(holder.name for holder in row.holders if not holder.protected)
        return Trial(PATCH, row, names) if names else None
    wanted = row.record.uid in named or any(cause.what == "not deleted" for cause in row.causes)
    return Trial(DELETE, row) if wanted and not is_namespace(row.kind) else None


def choose(trials: Sequence[Trial]) -> list[Trial]:
    """The first of each sort, then the second of each …, as many as may be tried."""
    sorts: dict[object, list[Trial]] = defaultdict(list)
    for trial in trials:
        sorts[trial.right, trial.finalizers].append(trial)
    rounds = itertools.zip_longest(*sorts.values())
    return [trial for one_each in rounds for trial in one_each if trial][:MOST_TRIED]


# -- rights ------------------------------------------------------------------------------------------------------------


def _with_rights(trials: Sequence[Trial], cluster: Cluster, census: Census) -> list[Trial]:
    by_right: dict[Right, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_right[trial.right].append(trial)
    most = sorted(by_right, key=lambda right: -len(by_right[right]))[:MOST_ASKED]
    answers: dict[Right, bool] = {}

    def ask(right: Right) -> None:
        verb, kind, namespace = right

        def look() -> None:
            answers[right] = cluster.may(verb, kind, namespace)

        census.attempt(f"whether you may {verb} {kind.qualified}", look)

    cluster.for_each(most, ask)
    for right in (right for right in most if answers.get(right) is False):
        for trial in by_right[right]:
            trial.row.causes.append(_missing(*right))
    return [trial for right in most if answers.get(right) for trial in by_right[right]]


def _missing(verb: str, kind: Resource, namespace: str) -> Cause:
    place = f" in namespace {namespace}" if namespace else ""
    return Cause(
        RIGHTS,
        f"you may not {verb} {kind.qualified}{place}, which it takes {_FOR[verb]}",
        "ask for the permission, or a user who has it; to see what you have: "
        + (kubectl("auth can-i --list -n {place}", place=namespace) if namespace else "kubectl auth can-i --list"),
    )


# -- dry runs ----------------------------------------------------------------------------------------------------------


def _send(trial: Trial, cluster: Cluster, census: Census) -> None:
    row = trial.row
    written = _dry_run(trial, cluster)
    if written.problem is not None:
        cause, blind = cause_of_refusal(
            written.problem, trial.verb, row.ref, row.kind, lambda policy, binding: _is_bound(policy, binding, cluster)
        )
        if cause and not _is_told(cause, row.causes):
            row.causes[:] = _with_proof(cause, row.causes)
        if blind:
            census.could_not(f"whether {row.ref} could be changed: {blind}")


def _is_bound(policy: str, binding: str, cluster: Cluster) -> bool:
    """Seen live, both of them. Who may not look has not seen them."""
    try:
        tied = cluster.read_whole(POLICY_BINDINGS, "", binding)
        return value_at(tied or {}, "spec.policyName") == policy and cluster.read(POLICIES, "", policy) is not None
    except ENDS_THE_TASK:
        raise
    except Problem:
        return False


def _dry_run(trial: Trial, cluster: Cluster) -> Written:
    if trial.verb == DELETE:
        return cluster.delete(trial.row.kind, trial.row.record, dry_run=True)
    return cluster.remove_finalizers(trial.row.kind, trial.row.record, trial.finalizers, dry_run=True)


def _with_proof(cause: Cause, others: Sequence[Cause]) -> list[Cause]:
    """A webhook that might have been asked about this object was: no guess any more, and its own way out is known."""
    guessed = [other for other in others if cause.hooks & other.hooks]
    proven = replace(cause, suggestion=guessed[0].suggestion) if guessed else cause
    return [*(other for other in others if other not in guessed), proven]


def _is_told(cause: Cause, others: Iterable[Cause]) -> bool:
    """A webhook that does not answer was found by its Service already, a Usage by its own kind."""
    return any(other.what == cause.what and other.certain for other in others)
