# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists of things that are not members: a hint is missed where one cannot be made, and that is said.

Room: teardown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..objects import Resource
from ..problems import Problem

if TYPE_CHECKING:
    from ..kube.cluster import Cluster


def listed_or_said(
    resource: Resource, cluster: Cluster, unreadable: list[str], namespace: str | None = None
) -> list[dict[str, Any]] | None:
    """Whole objects of a kind. None where they cannot be listed; `unreadable` has the reason then."""
    try:
        return cluster.list_whole(resource, namespace)
    except Problem as problem:
        place = f" in {namespace}" if namespace else ""
        unreadable.append(f"{resource.kind}s{place}: {problem.why}")
        return None
