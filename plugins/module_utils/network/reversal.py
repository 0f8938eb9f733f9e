# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reversal will do, and what it leaves alone and why.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from .shapes import State


@dataclass(frozen=True)
class Kept:
    """Left as it is, because another live policy wants it so."""

    what: str
    owner: str

    def as_dict(self) -> dict[str, str]:
        return {"what": self.what, "owner": self.owner}


@dataclass(frozen=True)
class Reversal:
    """The plan: the state to apply, and every key's fate in words. An empty state means: there is nothing to do."""

    state: State
    reverted: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()
    drifted: tuple[str, ...] = ()

    @property
    def unchanged(self) -> bool:
        return not self.state


@dataclass
class Ledger:
    """A reversal in the making."""

    state: State = field(default_factory=dict)
    reverted: list[str] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    # Interfaces that stay as they are although the policy's way back names them, and for whom ("" = drifted).
    blocked: dict[str, str] = field(default_factory=dict)

    def revert(self, what: str) -> None:
        self.reverted.append(what)

    def keep(self, what: str, owner: str) -> None:
        if Kept(what, owner) not in self.kept:
            self.kept.append(Kept(what, owner))

    def drift(self, what: str) -> None:
        if what not in self.drifted:
            self.drifted.append(what)

    def block(self, name: str, owner: str, what: str) -> None:
        """An interface, or what hangs on it, stays: said once, remembered for what comes after."""
        self.blocked[name] = owner
        if owner:
            self.keep(what, owner)
        else:
            self.drift(what)

    def put(self, part: str, value: Any) -> None:
        if value:
            self.state[part] = copy.deepcopy(value)

    def closed(self) -> Reversal:
        return Reversal(self.state, tuple(self.reverted), tuple(self.kept), tuple(self.drifted))
