# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check mode: let the server try every write of a plan without keeping it.

Room: teardown. What it refuses now, it would refuse in the middle of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..events import Did, Tell
from ..objects import ObjectRef
from ..problems import Problem, Refused
from .detachments import Detachment, detach
from .obstacles.leaving import LeavingWebhooks
from .plan import Entry, Plan
from .releasing import Release, set_free
from .truce import pauses_of, rehearse_pauses

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

Refusal = tuple[ObjectRef, Problem]


def rehearse(plan: Plan, clusters: Mapping[str | None, Cluster], propagation: str, tell: Tell) -> list[Refusal]:
    """Every object the server would not let go."""
    refused: list[Refusal] = []
    if None in clusters:
        refused += rehearse_pauses(pauses_of(plan), clusters[None], tell)
    for context, cluster in clusters.items():
        steps = [step for step in plan.steps if step.rule.context == context]
        leaving = LeavingWebhooks(Plan(steps), cluster)

        def try_release(release: Release, cluster: Cluster = cluster) -> None:
            set_free(release, cluster, tell, dry_run=True)
            if release.problem:
                refused.append((release.ref, release.problem))

        def try_detach(one: Detachment, cluster: Cluster = cluster) -> None:
            detach(one, cluster, tell, dry_run=True)
            if one.problem:
                refused.append((one.ref, one.problem))

        def try_delete(entry: Entry, cluster: Cluster = cluster, leaving: LeavingWebhooks = leaving) -> None:
            member = entry.member
            if member.record.terminating:
                return
            written = cluster.delete(member.resource, member.record, propagation=propagation, dry_run=True)
            if written.problem and leaving.answer_for(entry):
                return  # whoever refused may be gone by then: it cannot be tried before
            tell(Did("delete", member.ref, written.effect.value, dry_run=True))
            if written.problem:
                refused.append((member.ref, written.problem))

        cluster.for_each([release for step in steps for release in step.releases], try_release)
        cluster.for_each([one for step in steps for one in step.detachments if not one.adopted], try_detach)
        cluster.for_each([entry for step in steps for entry in step.going], try_delete)
    return refused


def why_refused(refused: list[Refusal], what: str) -> Refused | None:
    """The first refusal in words."""
    if not refused:
        return None
    ref, problem = refused[0]
    more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    return Refused(
        f"the API server would refuse to {what}", which=f"{ref}{more}", why=problem.why, next_step=problem.next_step
    )
