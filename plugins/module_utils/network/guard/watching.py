# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watchdog and the boot guard: python3 -m guard.watching watch FOLDER, or boot FOLDER.

Room: network, guard (stands alone). They need nobody: no controller, no NetworkManager, no connection.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from . import profiles
from .deal import COMMITTED, ROLLED_BACK, Folder, boot_id, is_id
from .endings import bring_back, finish_commit, roll_back

_NAP = 0.25
_FINISHING = 10.0  # seconds whoever has decided is given to finish
_STARTING = 30.0  # seconds NetworkManager is given after a reboot


def watch(folder: Folder) -> None:
    """Until it is over: decide when the lease has ended, and finish what another one began and died over."""
    folder.say_that_somebody_watches()
    while not folder.decided():
        if folder.left() <= 0:
            roll_back(folder, "watchdog")
            return
        time.sleep(_NAP)
    if folder.decided()["how"] == COMMITTED:
        _wait_for_outcome(folder, _FINISHING)
        if not folder.outcome():
            finish_commit(folder)
        return
    _wait_for_outcome(folder, 6 * _FINISHING)
    if not folder.outcome():
        bring_back(folder, "watchdog")


def _wait_for_outcome(folder: Folder, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not folder.outcome() and time.monotonic() < end:
        time.sleep(_NAP)


def after_boot(transactions: Path) -> None:
    """What was under way when the machine went down is rolled back, and what was being rolled back is finished."""
    for path in sorted(transactions.glob("*")):
        folder = Folder(path)
        if not is_id(path.name) or not (path / "deal.json").exists() or folder.outcome():
            continue
        how = folder.decided().get("how")
        if how == COMMITTED:
            finish_commit(folder)
        elif how == ROLLED_BACK:
            bring_back(folder, "boot guard")
        elif folder.deal().boot != boot_id():
            _wait_for_network_manager(folder)
            roll_back(folder, "boot guard")


def _wait_for_network_manager(folder: Folder) -> None:
    """The files first: then it starts with the old profiles, if it has not started yet."""
    profiles.put_back(folder.profiles)
    end = time.monotonic() + _STARTING
    while folder.deal().managed and not profiles.is_running() and time.monotonic() < end:
        time.sleep(_NAP)


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in ("watch", "boot"):
        raise SystemExit("usage: guard.watching watch|boot FOLDER")
    if sys.argv[1] == "watch":
        watch(Folder(Path(sys.argv[2])))
    else:
        after_boot(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
