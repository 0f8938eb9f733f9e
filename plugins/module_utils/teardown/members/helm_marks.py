# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Helm release whose record is gone, by the marks that Helm left on the objects themselves.

Room: teardown. One metadata list a kind. Objects of hooks and definitions of `crds/` carry no marks and are not found.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...objects import Record, Resource
from ...problems import ENDS_THE_TASK, CannotLook, Problem
from .claims import Claim, Membership
from .helm import owned_by

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.lists import Listing

_BY_HELM = "app.kubernetes.io/managed-by=Helm"


def marked_membership(release: str, namespace: str, cluster: Cluster) -> Membership:
    """Everything that says it belongs to this release. `missing` if nothing does, as far as one may look."""
    source = f"Helm release {namespace}/{release}"
    membership = Membership(source, default_namespace=namespace, not_ours=owned_by(release, namespace))
    looking = _Looking(membership, cluster)
    cluster.for_each(cluster.deletable_kinds(), looking.at)
    unseen = looking.unseen
    if membership.claims:
        membership.by_marks = True
        membership.warnings.append(
            f"the record of {source} is gone; the plan is made of what carries its marks, so definitions and objects "
            f"of hooks are not in it{unseen}"
        )
    elif looking.failed:
        raise CannotLook(
            f"cannot see whether anything is left of {source}",
            why=f"its record is gone, nothing that could be seen carries its marks, and {looking.failed[0]}",
            next_step="mend that and run it again, or name what belongs to it by manifests; nothing was changed",
        )
    else:
        membership.missing = f"there is no record of {source}, and nothing carries its marks{unseen}"
    return membership


@dataclass
class _Looking:
    """At one kind after the other, by several workers. What may not be seen and what cannot be seen are two things."""

    membership: Membership
    cluster: Cluster
    forbidden: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def unseen(self) -> str:
        blind = sorted([*self.failed, *self.forbidden])
        return f" (but not every kind could be looked at, {blind[0]})" if blind else ""

    def at(self, resource: Resource) -> None:
        try:
            listings = self._as_far_as_we_may(resource)
        except ENDS_THE_TASK:
            raise
        except Problem as problem:
            if getattr(problem, "status", 0) != 404:  # its definition went, and discovery is a moment late
                place = self.forbidden if problem.is_forbidden else self.failed
                self._note(place, f"{resource.qualified}: {problem.why}")
            return
        for listing in listings:
            found = [
                self._claim(resource, record) for record in listing.records if self.membership.bears_its_mark(record)
            ]
            with self._lock:
                self.membership.claims.extend(found)

    def _as_far_as_we_may(self, resource: Resource) -> list[Listing]:
        """A tenant sees his own namespace only, and most of a release is there."""
        namespace = self.membership.default_namespace
        try:
            return self.cluster.list_everywhere(resource, _BY_HELM)
        except Problem as problem:
            if not problem.is_forbidden or not resource.namespaced:
                raise
            listing = self.cluster.list(resource, namespace, _BY_HELM)
            self._note(self.forbidden, f"{resource.qualified}: seen in namespace {namespace} only")
            return [listing]

    def _note(self, pile: list[str], text: str) -> None:
        with self._lock:
            pile.append(text)

    def _claim(self, resource: Resource, record: Record) -> Claim:
        why = f"marked as part of {self.membership.source}"
        return Claim(resource.group, resource.kind, record.name, record.namespace, resource.version, why)
