# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Helm release whose record is gone, by the marks that Helm left on the objects themselves.

Room: teardown. One metadata list a kind. Objects of hooks and definitions of `crds/` carry no marks and are not found.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ...objects import Resource
from ...problems import Problem
from .claims import Claim, Membership
from .helm import owned_by

if TYPE_CHECKING:
    from ...kube.cluster import Cluster
    from ...kube.lists import Listing

_BY_HELM = "app.kubernetes.io/managed-by=Helm"


def marked_membership(release: str, namespace: str, cluster: Cluster) -> Membership:
    """Everything that says it belongs to this release. `missing` if nothing does."""
    source = f"Helm release {namespace}/{release}"
    not_ours = owned_by(release, namespace)
    membership = Membership(source, default_namespace=namespace, not_ours=not_ours)
    lock = threading.Lock()
    blind: list[str] = []

    def look_at(resource: Resource) -> None:
        try:
            listings = _as_far_as_we_may(resource, namespace, cluster)
        except Problem as problem:
            blind.append(f"{resource.qualified}: {problem.why}")
            return
        for listing in listings:
            found = [record for record in listing.records if not not_ours(record, True)]
            with lock:
                membership.claims.extend(
                    Claim(
                        resource.group,
                        resource.kind,
                        record.name,
                        record.namespace,
                        resource.version,
                        f"marked as part of {source}",
                    )
                    for record in found
                )

    cluster.for_each(cluster.deletable_kinds(), look_at)
    unseen = f" (but not every kind could be looked at, {blind[0]})" if blind else ""
    if not membership.claims:
        membership.missing = f"there is no record of {source}, and nothing carries its marks{unseen}"
    else:
        membership.by_marks = True
        membership.warnings.append(
            f"the record of {source} is gone; the plan is made of what carries its marks, so definitions and objects "
            f"of hooks are not in it{unseen}"
        )
    return membership


def _as_far_as_we_may(resource: Resource, namespace: str, cluster: Cluster) -> list[Listing]:
    """A tenant sees his own namespace only, and most of a release is there."""
    try:
        return cluster.list_everywhere(resource, _BY_HELM)
    except Problem:
        if not resource.namespaced:
            raise
        return [cluster.list(resource, namespace, _BY_HELM)]
