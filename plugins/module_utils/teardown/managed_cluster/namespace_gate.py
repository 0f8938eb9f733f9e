# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May a cluster's namespace go? What keeps it is data; whoever keeps it is named.

Room: teardown. Asked right before the delete, because labels may have changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...objects import Record
from ...paths import value_at
from ...problems import Problem
from ...profiles import ocm
from ...well_known import NAMESPACES
from ..guards import keep_marker_of
from ..members.looking import Member

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


def why_kept(wish: str, record: Record, cluster: Cluster, *, later: bool = False) -> str:
    """The reason to keep the namespace; empty when it may go. `later`: when addons and works will be gone."""
    if wish == "keep":
        return "the task says so"
    marks = [label for label in ocm.KEEP_LABELS if label in record.labels]
    marks += [annotation for annotation in ocm.KEEP_ANNOTATIONS if annotation in record.annotations]
    if marks:
        return f"it carries {marks[0]}"
    marker = keep_marker_of(Member(NAMESPACES, record, ""))
    if marker:
        return marker
    if wish == "auto" and not any(label in record.labels for label in ocm.NAMESPACE_LABELS):
        return f"no label says that it is a cluster's namespace ({ocm.NAMESPACE_LABELS[0]}); namespace: delete takes it"
    return _whom_it_holds(record.name, cluster, later=later)


def _whom_it_holds(namespace: str, cluster: Cluster, *, later: bool) -> str:
    for keeper in ocm.KEEPERS:
        if later and (keeper.group, keeper.kind) in (ocm.ADDONS, ocm.WORKS):
            continue
        finding = cluster.find_kind(keeper.group, keeper.kind)
        resource = finding.resource
        if resource is None and finding.availability.value == "not installed":
            continue
        if resource is None:
            return f"{keeper.kind} objects in it could not be looked for: {finding.why}"
        try:
            items = cluster.list_whole(resource, namespace)
        except Problem as problem:
            return f"{keeper.kind} objects in it could not be looked for: {problem.why}"
        holding = [item for item in items if keeper.kind != "Pod" or _is_at_work(item)]
        if holding:
            return f"{keeper.why}: {keeper.kind} {value_at(holding[0], 'metadata.name')}"
    return ""


def _is_at_work(pod: Mapping[str, Any]) -> bool:
    """A pod that has ended, or that belongs to an addon's last job, keeps nothing."""
    labels = value_at(pod, "metadata.labels") or {}
    hook = any(label in labels for label in ocm.HOOK_LABELS)
    return not hook and value_at(pod, "status.phase") not in ("Succeeded", "Failed")
