# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes Events, for `kubectl describe` and `kubectl events`.

Room: incluster. One for each milestone, never one an object. Whoever may not write them works on without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..objects import Record, Resource, moment

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

EVENTS = Resource("", "v1", "Event", "events", True)
COMPONENT = "sunset.kube"
# Events of what has no namespace live there.
HOME_OF_THE_HOMELESS = "default"


def tell_people(
    resource: Resource, record: Record, reason: str, text: str, cluster: Cluster, *, warning: bool = False
) -> None:
    now = moment(cluster.server_time())
    namespace = record.namespace or HOME_OF_THE_HOMELESS
    event = {
        "metadata": {"generateName": f"{record.name[:50]}.", "namespace": namespace},
        "involvedObject": {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "name": record.name,
            "namespace": record.namespace,
            "uid": record.uid,
        },
        "reason": reason,
        "message": text[:1000],
        "type": "Warning" if warning else "Normal",
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    written = cluster.create(EVENTS, namespace, event)
    if written.problem is not None:
        raise written.problem
