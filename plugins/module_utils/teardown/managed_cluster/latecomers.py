# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Addons and works that are in a cluster's namespace although everything was cleaned up.

Room: teardown. Somebody has made them since, or the task does not name their kind in `cleanup`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...objects import Resource
from ...problems import Refused
from ...profiles import ocm
from .works import Wave

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_NO_PLACE = -1  # instead of the place of their kind in `cleanup`


def latecomers(name: str, cleanup: Iterable[Resource | None], cluster: Cluster) -> Wave | None:
    """Those made since we looked. Those that `cleanup` does not name hold the cluster for good."""
    ours = {(one.group, one.kind) for one in cleanup if one}
    for kind in (ocm.ADDONS, ocm.WORKS):
        resource = cluster.find_kind(*kind).resource
        left = cluster.list(resource, name).records if resource else []
        if left and kind not in ours:
            raise Refused(
                f"cluster {name} cannot go",
                why=f"{kind[1]} {left[0].place} and maybe others are left, and cleanup does not name them",
                next_step="name them in cleanup, or delete them first, and run the task again",
            )
        if left:
            return Wave(kind[1], _NO_PLACE, tuple(left))
    return None
