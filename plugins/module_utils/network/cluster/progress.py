# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Told in the cluster itself: the annotation that says how far a run is, and Events for what happened to nodes.

Room: network. Private to the collection.
"""

from __future__ import annotations

import json
from typing import Any

from ...objects import moment
from .kinds import EVENTS, POLICY
from .outcome import WELL, NncpOutcome, Run
from .scene import Policy

MOST = 100  # nodes that are named; annotations of an object share 256 KiB
_LONGEST = 160


def progress_text(phase: str, outcome: NncpOutcome, deadline: float) -> str:
    """What somebody sees who looks at a policy that does not go away: nodes that are not done come first."""
    nodes = sorted(outcome.nodes.values(), key=lambda one: (one.phase in WELL, one.node))
    found: dict[str, Any] = {
        "phase": phase,
        "deadline": moment(deadline),
        "counts": outcome.counts(),
        "nodes": {one.node: _told(one.phase.value, one.reason) for one in nodes[:MOST]},
    }
    return json.dumps(found)


def _told(phase: str, reason: str) -> dict[str, str]:
    return {"phase": phase, "reason": reason[:_LONGEST]} if reason else {"phase": phase}


def send_event(policy: Policy, reason: str, message: str, run: Run, *, warning: bool = False) -> None:
    """Events are for people who watch. Whoever may not write them can still take a policy back."""
    now = moment(run.cluster.server_time())
    item = {
        # Events about objects of the whole cluster live there.
        "metadata": {"generateName": f"{policy.name}.", "namespace": "default"},
        "involvedObject": {
            "apiVersion": run.kinds.policies.api_version,
            "kind": POLICY,
            "name": policy.name,
            "uid": policy.record.uid,
        },
        "reason": reason,
        "message": message[:1000],
        "type": "Warning" if warning else "Normal",
        "source": {"component": "sunset.kube"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    written = run.cluster.create(EVENTS, "default", item)
    if written.problem:
        run.outcome.warn(f"Events could not be written: {written.problem.why}", run.tell)
