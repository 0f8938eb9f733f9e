# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""May we do all of it? Every verb on every kind, asked before the first write.

Room: teardown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..objects import Resource
from .plan import Plan, Step
from .truce import pauses_of, require_pause_rights

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


def require_rights(
    plan: Plan, cluster: Cluster, *, patch_first: bool = False, finalize: bool = False, context: str | None = None
) -> None:
    """`patch_first`: objects are patched before they are deleted. A step with `force` patches those that stay.

    `finalize`: Namespaces that are empty and stay lose their last hold.
    """
    needed: dict[tuple[str, Resource], set[str]] = {}
    for step in (step for step in plan.steps if step.rule.context == context):
        for verb, resource, namespace in _of_step(step, patch_first or bool(step.rule.before_delete)):
            needed.setdefault((verb, resource), set()).add(namespace)
    if context is None:
        require_pause_rights(pauses_of(plan), cluster)
    namespaces = [resource for verb, resource in needed if verb == "delete" and resource.qualified == "namespaces"]
    for resource in namespaces if finalize else ():
        cluster.require("update", resource, subresource="finalize")
    cluster.for_each(needed.items(), lambda item: cluster.require(item[0][0], item[0][1], sorted(item[1])))


def _of_step(step: Step, patch_first: bool) -> Iterable[tuple[str, Resource, str]]:
    for entry in step.going:
        yield "delete", entry.member.resource, entry.member.record.namespace
        patches = patch_first or step.rule.force or bool(entry.member.before_delete)
        if patches and not entry.member.dependant:
            yield "patch", entry.member.resource, entry.member.record.namespace
    for release in step.releases:
        yield "patch", release.resource, release.record.namespace
    for one in step.detachments:
        yield "patch", one.resource, one.record.namespace
