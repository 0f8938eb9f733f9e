# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The finalizer with which our own operator holds a cluster that opted in: it goes when everything else is gone.

Room: teardown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...events import Did, Tell
from ...objects import Record, Resource, ref_to
from ...profiles import ocm

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


def let_go(resource: Resource, record: Record, cluster: Cluster, tell: Tell) -> Record | None:
    """The cluster as it is without our hold; None where that was the last one."""
    if ocm.OPERATOR_FINALIZER not in record.finalizers:
        return record
    written = cluster.remove_finalizers(resource, record, [ocm.OPERATOR_FINALIZER])
    tell(Did("release", ref_to(resource, record), written.effect.value))
    if written.problem:
        raise written.problem
    return None if written.gone else written.record
