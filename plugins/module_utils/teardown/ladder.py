# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens to an object that stays after its deletion: wait, then grace 0, then strip what may be stripped.

Room: teardown (pure). Decides the next rung for one object; run.py climbs it.
"""

from __future__ import annotations

import enum
import fnmatch
from dataclasses import dataclass

from ..objects import Record
from .catalogue import known


class Rung(enum.Enum):
    WAIT = "wait"
    NO_GRACE = "no grace"
    STRIP = "strip"


@dataclass(frozen=True)
class Ladder:
    """The task's consent. Nothing is forced without `force` on the step."""

    force: bool = False
    after: float = 30.0
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # protected finalizers that may be stripped after all, by full name
    only: tuple[str, ...] = ()  # if given, no others than these, by name or glob

    def next_rung(self, record: Record, now: float, *, graceless: bool) -> tuple[Rung, tuple[str, ...]]:
        """The rung to climb now, and the finalizers to strip on it."""
        since = record.deleting_for(now)
        if not self.force or since is None or since < self.after:
            return Rung.WAIT, ()
        if record.grace_seconds and not graceless:
            return Rung.NO_GRACE, ()
        strippable = tuple(name for name in record.finalizers if self.may_strip(name))
        return (Rung.STRIP, strippable) if strippable else (Rung.WAIT, ())

    def may_strip(self, finalizer: str) -> bool:
        if any(fnmatch.fnmatchcase(finalizer, pattern) for pattern in self.deny):
            return False
        if self.only and not any(fnmatch.fnmatchcase(finalizer, pattern) for pattern in self.only):
            return False
        entry = known(finalizer)
        return entry is None or not entry.protected or finalizer in self.allow
