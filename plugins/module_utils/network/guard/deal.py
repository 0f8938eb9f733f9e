# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One transaction on disk: what was there before, until when it may stay undecided, and how it was decided.

Room: network, guard (stands alone). Rule: `decided` is created once, by whoever is first. Everybody else, a late
confirmation too, finds out how it ended. Every file is complete or not there, and survives a power cut.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import PARTIAL, sync_directory, write_text
from .kernel import Scope, Snapshot, snapshot_from

COMMITTED, ROLLED_BACK = "committed", "rolled_back"
_ID = re.compile(r"[0-9a-f]{8,32}")


@dataclass
class Deal:
    """What the guards need to know to bring everything back without anybody's help."""

    id: str
    policy: str
    lease: float  # seconds
    boot: str
    scope: Scope
    snapshot: Snapshot
    active: dict[str, str] = field(default_factory=dict)  # device → profile
    checkpoint: str = ""  # its path in NetworkManager, once there is one
    managed: bool = False  # NetworkManager was there

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "scope": vars(self.scope), "snapshot": self.snapshot.as_dict()}


class Folder:
    """The folder of one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def profiles(self) -> Path:
        return self.path / "profiles"

    def write_deal(self, deal: Deal) -> None:
        write_text(self.path / "deal.json", json.dumps(deal.as_dict()))

    def deal(self) -> Deal:
        data = json.loads((self.path / "deal.json").read_text())
        scope = Scope(tuple(data["scope"]["interfaces"]), tuple(data["scope"]["tables"]))
        return Deal(**{**data, "scope": scope, "snapshot": snapshot_from(data["snapshot"])})

    # -- the lease ---------------------------------------------------------------------------------------------------

    def renew(self, seconds: float) -> None:
        """Counted by a clock that goes on while the machine sleeps and that nobody can set."""
        write_text(self.path / "lease", f"{boot_id()} {now() + seconds:.3f}")

    def left(self) -> float:
        """Seconds; none when the machine was started anew meanwhile."""
        try:
            boot, end = (self.path / "lease").read_text().split()
            return float(end) - now() if boot == boot_id() else 0.0
        except (OSError, ValueError):
            return 0.0

    def say_that_somebody_watches(self) -> None:
        write_text(self.path / "watchdog", f"{boot_id()} {os.getpid()}")

    def is_watched(self) -> bool:
        """Whether the watchdog lives."""
        try:
            boot, pid = (self.path / "watchdog").read_text().split()
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return False
        return boot == boot_id() and str(self.path).encode() in words

    # -- the decision ------------------------------------------------------------------------------------------------

    def decide(self, how: str, by: str) -> bool:
        """Whether it was us who decided."""
        draft = self.path / f"{PARTIAL}decided-{os.getpid()}-{threading.get_ident()}"
        write_text(draft, json.dumps({"how": how, "by": by}))
        try:
            os.link(draft, self.path / "decided")  # fails if it is there: unlike a rename, this has one winner
        except FileExistsError:
            return False
        finally:
            draft.unlink(missing_ok=True)
        sync_directory(self.path)
        return True

    def decided(self) -> dict[str, str]:
        return self._read("decided")

    # -- what came of it ---------------------------------------------------------------------------------------------

    def report(self, **facts: Any) -> None:
        write_text(self.path / "status.json", json.dumps({**self.status(), **facts}))

    def status(self) -> dict[str, Any]:
        return self._read("status.json")

    def conclude(self, **facts: Any) -> None:
        write_text(self.path / "outcome.json", json.dumps(facts))

    def outcome(self) -> dict[str, Any]:
        return self._read("outcome.json")

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.path / name).read_text())
        except FileNotFoundError:
            return {}
        return found


def is_id(text: str) -> bool:
    """Names of folders come from outside: nothing that could lead elsewhere."""
    return _ID.fullmatch(text) is not None


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def boot_id() -> str:
    """Another one after each start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
