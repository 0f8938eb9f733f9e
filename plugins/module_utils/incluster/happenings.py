# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes Events, for `kubectl describe` and `kubectl events`.

Room: incluster. One for each milestone, never one an object, and one for what is told again and again: it is counted.
Whoever may not write them works on without.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from ..objects import Record, Resource, moment, parse_time, record_of
from ..visible import visible

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

EVENTS = Resource("", "v1", "Event", "events", True)
COMPONENT = "sunset.kube"
# Events of what has no namespace live there.
HOME_OF_THE_HOMELESS = "default"


def tell_people(
    resource: Resource, record: Record, reason: str, text: str, cluster: Cluster, *, warning: bool = False
) -> float:
    """For how many seconds this is told already."""
    now = moment(cluster.server_time())
    namespace = record.namespace or HOME_OF_THE_HOMELESS
    event = {
        "metadata": {"name": _name(record, reason, text), "namespace": namespace},
        "involvedObject": {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "name": record.name,
            "namespace": record.namespace,
            "uid": record.uid,
        },
        "reason": reason,
        "message": visible(text)[:1000],
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
    known = None if written.changed else cluster.read_whole(EVENTS, namespace, _name(record, reason, text))
    if known is None:
        return 0.0
    again = {"count": (known.get("count") or 1) + 1, "lastTimestamp": now, "message": event["message"]}
    written = cluster.merge_patch(EVENTS, record_of(known["metadata"]), again)
    if written.problem is not None:
        raise written.problem
    return max(0.0, cluster.server_time() - parse_time(known["firstTimestamp"])) if known.get("firstTimestamp") else 0.0


def _name(record: Record, reason: str, text: str) -> str:
    """The same for the same news: numbers in it, such as seconds, make none."""
    news = hashlib.sha256(f"{record.uid} {reason} {re.sub('[0-9]+', '', text)}".encode()).hexdigest()[:16]
    return f"{record.name[:50].rstrip('-.')}.{news}"
