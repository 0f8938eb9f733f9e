# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters as a table for people: one line each, what became of it and why.

Room: evidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..teardown.managed_cluster.fleet import FleetOutcome
from ..teardown.managed_cluster.lane import LaneOutcome

_HEADS = ("cluster", "state", "agent", "on the hub", "namespace", "remarks")
_WIDEST = 40
_MOST = 200


def fleet_table(outcome: FleetOutcome) -> list[str]:
    """Aligned lines, heads first. Those that are not gone come first, as they are what one looks for."""
    lanes = sorted(outcome.lanes, key=lambda lane: (lane.phase == "gone", lane.view.name))
    rows = [_HEADS, *(_row(lane, outcome) for lane in lanes[:_MOST])]
    widths = [min(_WIDEST, max(len(row[column]) for row in rows)) for column in range(len(_HEADS))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, f"… and {len(lanes) - _MOST} more"] if len(lanes) > _MOST else lines


def _row(lane: LaneOutcome, outcome: FleetOutcome) -> tuple[str, ...]:
    view = lane.view
    state = _planned_state(lane) if outcome.check_mode else lane.phase if not lane.failure else f"failed: {lane.phase}"
    left = [] if lane.phase == "gone" else _counted(outcome.kinds, [len(records) for records in view.kinds])
    agent = "-" if lane.phase == "gone" and view.record is None else view.reach.value
    return (view.name, state, agent, ", ".join(left) or "-", _namespace(lane, outcome), _remarks(lane, outcome))


def _planned_state(lane: LaneOutcome) -> str:
    if lane.phase == "gone":
        return "gone already"
    return "would be refused" if lane.failure else "would wait" if lane.view.gate else "would go"


def _counted(kinds: Sequence[str], counts: Sequence[int]) -> list[str]:
    return [f"{count} {kind}" for kind, count in zip(kinds, counts, strict=False) if count]


def _namespace(lane: LaneOutcome, outcome: FleetOutcome) -> str:
    if lane.namespace_kept:
        return "would be kept" if outcome.check_mode else "kept"
    if lane.namespace_gone:
        return "gone"
    return "would go" if outcome.check_mode else "there"


def _remarks(lane: LaneOutcome, outcome: FleetOutcome) -> str:
    texts = [lane.failure.why or str(lane.failure)] if lane.failure else []
    if lane.view.gate and not lane.failure:
        texts.append(f"waits for {lane.view.gate[0]}")
    if lane.namespace_kept:
        texts.append(f"namespace: {lane.namespace_kept}")
    if lane.may_remain:
        texts.append(f"{len(lane.may_remain)} objects may remain on the cluster")
    texts += [f"the hook of {hook.addon} did not finish" for hook in lane.hooks.values() if hook.state == "forced"]
    return "; ".join(texts)
