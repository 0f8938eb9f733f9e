# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every way of changing a node's network can do. Which one is used is decided once, by what runs on the node.

Room: network, backends: the room's only places with commands, besides probes and guard.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

State = Mapping[str, Any]


class Backend(Protocol):
    name: str
    managed: bool  # NetworkManager keeps profiles, so the guards restore these

    def capture(self) -> State:
        """The present state in nmstate's words, with secrets: only for the journal."""

    def apply(self, state: State, seconds: float) -> str:
        """Make it so, now, with a net of its own below where there is one: its path, else empty.

        Raises a Problem that says what was refused.
        """

    def renew(self, checkpoint: str, seconds: float) -> bool:
        """Push its timer on. False: it is not there any more."""
