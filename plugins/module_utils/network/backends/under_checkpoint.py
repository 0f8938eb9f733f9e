# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NetworkManager's net below a change: a checkpoint that we hold ourselves, always by its own path.

Room: network, backends. Shared by the backends that change the network through NetworkManager.
"""

from __future__ import annotations

import contextlib

from ...problems import Refused
from ..guard import checkpoints
from .ip_command import CannotApply


class UnderCheckpoint:
    managed = True

    def renew(self, checkpoint: str, seconds: float) -> bool:
        try:
            checkpoints.renew(checkpoint, int(seconds) + 1)
        except checkpoints.NoCheckpoint:
            return False
        return True


def refuse_beside_others() -> None:
    """Somebody else's checkpoint would roll our change back, and there cannot be two over the same devices."""
    others = listed()
    if others:
        raise Refused(
            "another change is under way on this node",
            which=", ".join(others),
            why="NetworkManager holds a checkpoint that is not ours",
            next_step="wait until its owner has decided (kubernetes-nmstate's handler, a person), then run again",
        )


def create(seconds: float) -> str:
    try:
        return checkpoints.create(int(seconds) + 1)
    except checkpoints.NoCheckpoint as problem:
        raise CannotApply("NetworkManager gives no checkpoint", why=str(problem)) from problem


def roll_back(checkpoint: str) -> None:
    with contextlib.suppress(checkpoints.NoCheckpoint):  # it has fired by itself, or NetworkManager has died with it
        checkpoints.roll_back(checkpoint)


def listed() -> list[str]:
    try:
        return checkpoints.listed()
    except checkpoints.NoCheckpoint as problem:
        raise CannotApply("NetworkManager does not answer", why=str(problem)) from problem
