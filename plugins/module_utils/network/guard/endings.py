# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a transaction ends: confirmed for good, or brought back to what was there before; then proven.

Room: network, guard (stands alone). Back leads a checkpoint, the files on disk, the kernel: each only if the one
before did not lead all the way.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import checkpoints, kernel, profiles
from .deal import COMMITTED, ROLLED_BACK, Deal, Folder

_LOOK_AGAIN = 0.5
_MOMENT = 1.0
# NetworkManager says yes before addresses are back: seconds it is given.
_AFTER_CHECKPOINT, _AFTER_ACTIVATION = 15.0, 20.0


def roll_back(folder: Folder, by: str) -> bool:
    """Decide for the way back, and go it. False: somebody has decided before."""
    if not folder.decide(ROLLED_BACK, by):
        return False
    _stop_worker(folder)
    bring_back(folder, by)
    return True


def _stop_worker(folder: Folder) -> None:
    """With all it has started: nothing may go on with the change while we take it back."""
    worker = folder.status().get("worker")
    if not worker or worker == os.getpid():
        return
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{worker}/cmdline").read_bytes().split(b"\0")
        if str(folder.path).encode() in words:  # and not somebody who got its number
            os.killpg(os.getpgid(worker), signal.SIGKILL)


def bring_back(folder: Folder, by: str) -> None:
    """May be gone again by somebody else, if whoever began it died on the way."""
    deal = folder.deal()
    tried: list[str] = []
    left = _wait_until(lambda: what_differs(deal, folder), 0.0)
    for name, way in _ways(deal, folder):
        # A checkpoint is always rolled back: dropping it would keep what NetworkManager thinks of the new state.
        if left or name == "checkpoint":
            tried += [name, *way()]
            left = _wait_until(lambda: what_differs(deal, folder), _MOMENT)
            tried += [f"after that {one}" for one in left]
    folder.conclude(how=ROLLED_BACK, by=by, tried=tried, differences=left)


def _ways(deal: Deal, folder: Folder) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    if deal.checkpoint:
        yield "checkpoint", lambda: _by_checkpoint(deal, folder)
    yield "files", lambda: _by_files(deal, folder)
    yield "kernel", lambda: kernel.go_back(deal.snapshot, deal.scope)


def _by_checkpoint(deal: Deal, folder: Folder) -> list[str]:
    try:
        checkpoints.roll_back(deal.checkpoint)
    except checkpoints.NoCheckpoint as problem:
        return [f"no checkpoint: {problem}"]  # it has fired by itself, or NetworkManager has died with it
    if not _wait_until(lambda: _kernel_differs(deal), _AFTER_CHECKPOINT):
        # NetworkManager has written profiles in its own words: the same, but not the files that were there.
        profiles.put_back(folder.profiles)
        profiles.reload()
    return []


def _by_files(deal: Deal, folder: Folder) -> list[str]:
    profiles.put_back(folder.profiles)
    if not deal.managed:
        return []
    if not profiles.is_running():
        return ["NetworkManager does not run"]
    devices = {device: profile for device, profile in deal.active.items() if device in deal.scope.interfaces}
    refused = profiles.activate_again(devices)
    _wait_until(lambda: _kernel_differs(deal), _AFTER_ACTIVATION)
    return refused


def what_differs(deal: Deal, folder: Folder) -> list[str]:
    return _kernel_differs(deal) + [f"{name} is not as it was" for name in profiles.differ(folder.profiles)]


def _kernel_differs(deal: Deal) -> list[str]:
    return kernel.differences(deal.snapshot, kernel.look(deal.scope), exact_metrics=not deal.managed)


def _wait_until(look: Callable[[], list[str]], seconds: float) -> list[str]:
    """What still differs then."""
    end = time.monotonic() + seconds
    while True:
        try:
            left = look()
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            left = [f"cannot look: {problem}"]
        if not left or time.monotonic() >= end:
            return left
        time.sleep(_LOOK_AGAIN)


def finish_commit(folder: Folder) -> None:
    """After the decision: nothing may fire any more. Whoever sees a commit that was not finished may do it again."""
    deal = folder.deal()
    if deal.checkpoint:
        with contextlib.suppress(checkpoints.NoCheckpoint):  # dropped before
            checkpoints.drop(deal.checkpoint)
    folder.conclude(how=COMMITTED, by=folder.decided().get("by", ""), tried=[], differences=[])
