# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which finalizers go and which stay, under one hash; and who is still there when it is done.

Room: teardown (pure).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..objects import ObjectRef, Record, Resource, ref_to
from ..terms import Terms
from .blockers.survivors import Blocker, Met, refusal
from .releasing import Release
from .verdicts import Fate, Verdict


@dataclass(frozen=True)
class Skip:
    """One finalizer that stays although the task names it."""

    resource: Resource
    record: Record
    finalizer: str
    verdict: Verdict

    @property
    def object(self) -> ObjectRef:
        return ref_to(self.resource, self.record)


@dataclass
class FinalizerPlan:
    releases: list[Release] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    # Being deleted, and held only by finalizers the task does not name: not our business, but worth telling.
    held: list[tuple[Resource, Record]] = field(default_factory=list)
    looked_at: int = 0
    terms: Terms = field(default_factory=Terms)  # approved with it

    @property
    def hash(self) -> str:
        """The same objects, finalizers and terms give the same hash, in whatever order they were found."""
        rows = sorted([*release.ref.as_dict().values(), *sorted(release.finalizers)] for release in self.releases)
        return self.terms.hash_of(rows)


def left_after(plan: FinalizerPlan) -> list[Met]:
    """Everything that was looked at, is being deleted and still there, once each, with what the run knows of it."""
    met: dict[str, Met] = {}
    for release in plan.releases:
        seen = (release.resource, release.record)
        if release.problem:
            met[release.record.uid] = (seen, [refusal(release.problem)])
        elif release.record.terminating and not release.gone and not release.replaced:
            left = release.left if release.done else release.record.finalizers
            if left:
                met[release.record.uid] = ((release.resource, release.record._replace(finalizers=left)), [])
    for skip in plan.skips:
        if skip.record.terminating and skip.verdict.fate is not Fate.REPLACED:
            reasons = met.setdefault(skip.record.uid, ((skip.resource, skip.record), []))[1]
            reasons.append(Blocker("finalizer", skip.verdict.why, skip.finalizer))
    for resource, record in plan.held:
        met.setdefault(record.uid, ((resource, record), []))
    return list(met.values())
