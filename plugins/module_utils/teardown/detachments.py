# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removing the owner references of one kept object, so that it is not deleted with its owners, and what came of it.

Room: teardown. Which objects that concerns is decided in `owned_and_kept`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..events import Did, Tell
from ..objects import ObjectRef, Record, Resource, ref_to
from ..problems import Problem

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.writes import Written


@dataclass
class Detachment:
    """One kept object, and the owners whose references it loses."""

    resource: Resource
    record: Record
    owners: tuple[ObjectRef, ...]
    roots: frozenset[str]  # uids of the plan that lead the garbage collector to it, its owners among them
    adopted: bool = False  # a controller would put the reference back: see `Keeping`
    done: bool = False
    changed: bool = False
    problem: Problem | None = None

    @property
    def ref(self) -> ObjectRef:
        return ref_to(self.resource, self.record)

    @property
    def owner_uids(self) -> frozenset[str]:
        return frozenset(owner.uid for owner in self.owners)

    @property
    def text(self) -> str:
        return f"{self.ref} loses its owner {', '.join(map(str, self.owners))}"


def detach(one: Detachment, cluster: Cluster, tell: Tell, *, dry_run: bool = False) -> Written:
    """One guarded patch; whatever it comes to is noted."""
    written = cluster.remove_owner_references(one.resource, one.record, one.owner_uids, dry_run=dry_run)
    one.problem, one.done = written.problem, written.problem is None
    if written.record is not None and not written.replaced and not dry_run:
        one.record = written.record
    one.changed = one.changed or (written.changed and not dry_run)
    version = written.record.resource_version if written.record else ""
    owners = ", ".join(map(str, one.owners))
    tell(Did("remove owner reference", one.ref, written.effect.value, owners, version, dry_run))
    return written
