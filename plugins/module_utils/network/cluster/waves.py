# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which nodes are worked on together, and when enough of them have failed. Decides, sends nothing.

Room: network (pure). Private to the collection. First a few to see whether it works, then the workers, then the
control plane; the next wave begins when the one before went well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .scene import NodeView


@dataclass(frozen=True)
class Wave:
    name: str
    nodes: tuple[str, ...]
    gentle: bool = False  # one failure is enough to stop


def waves_of(nodes: Iterable[NodeView], canary: int) -> list[Wave]:
    """The canaries are workers where there are any."""
    ordered = sorted(nodes, key=lambda node: (node.is_control_plane, node.name))
    first, rest = ordered[:canary], ordered[canary:]
    if len(ordered) <= canary:  # all at once would be no try at all
        first, rest = ordered[:1] if canary else [], ordered[1:] if canary else ordered
    found = [
        Wave("canary", _names(first), gentle=True),
        Wave("workers", _names(node for node in rest if not node.is_control_plane)),
        Wave("control plane", _names(node for node in rest if node.is_control_plane)),
    ]
    return [wave for wave in found if wave.nodes]


def may_start(waiting: Sequence[str], running: int, failed: int, most: int) -> list[str]:
    """The next ones. A node that failed keeps its place, as it does with the handlers: it is not available."""
    return list(waiting[: max(0, most - running - failed)])


def must_stop(wave: Wave, failed_here: int, failed: int, most: int) -> bool:
    return failed >= most or (wave.gentle and failed_here > 0)


def _names(nodes: Iterable[NodeView]) -> tuple[str, ...]:
    return tuple(node.name for node in nodes)
