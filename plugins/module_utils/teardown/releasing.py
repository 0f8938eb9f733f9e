# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking named finalizers off one object, which stays otherwise as it is, and what came of it.

Room: teardown. Used wherever finalizers go by plan: `finalizer`, `drain`. The ladder of a deletion is another matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..events import Did, Tell
from ..objects import ObjectRef, Record, Resource, ref_to
from ..problems import Problem, Refused

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.writes import Written


@dataclass
class Release:
    """One object with the finalizers that go, and how it ended."""

    resource: Resource
    record: Record
    finalizers: tuple[str, ...]
    done: bool = False
    changed: bool = False
    gone: bool = False
    replaced: bool = False
    left: tuple[str, ...] = ()
    problem: Problem | None = None

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def untried(self) -> bool:
        return not self.done and self.problem is None


def set_free(release: Release, cluster: Cluster, tell: Tell, *, dry_run: bool = False) -> Written:
    """One guarded patch; whatever it comes to is noted in the release."""
    written = cluster.remove_finalizers(release.resource, release.record, release.finalizers, dry_run=dry_run)
    release.gone = written.gone
    release.problem = written.problem
    release.replaced = written.replaced
    release.changed = written.changed
    release.done = not release.problem
    stays = written.record is not None and not written.gone and not written.replaced
    release.left = written.record.finalizers if stays and written.record else ()
    version = written.record.resource_version if written.record else ""
    names = ", ".join(release.finalizers)
    tell(Did("remove finalizer", release.ref, written.effect.value, names, version, dry_run))
    return written


def first_refusal(releases: Sequence[Release]) -> Refused | None:
    """The first object that would not let go, in words; the others are among the survivors."""
    refused = [release for release in releases if release.problem]
    if not refused:
        return None
    more = f" (and {len(refused) - 1} more, see survivors)" if len(refused) > 1 else ""
    problem = refused[0].problem
    return Refused(
        "could not remove finalizers from",
        which=f"{refused[0].ref}{more}",
        why=problem.why if problem else "",
        next_step=(problem.next_step if problem else "") or "see survivors in the result",
    )
