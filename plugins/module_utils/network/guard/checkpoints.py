# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NetworkManager's checkpoints over D-Bus: made, renewed, dropped and rolled back, always by their own path.

Room: network, guard (stands alone). A checkpoint lives in NetworkManager's memory: it dies with it.
"""

from __future__ import annotations

import json
import subprocess

_BUS = "org.freedesktop.NetworkManager"
_PATH = "/org/freedesktop/NetworkManager"
_TIMEOUT = 60.0
_DELETE_NEW_CONNECTIONS, _DISCONNECT_NEW_DEVICES, _TRACK_DNS = 2, 4, 0x20


class NoCheckpoint(Exception):
    """NetworkManager said no, or does not answer."""


def listed() -> list[str]:
    """Paths of all checkpoints, whoever made them."""
    found: list[str] = _answer("get-property", _BUS, _PATH, _BUS, "Checkpoints")["data"]
    return found


def create(seconds: int) -> str:
    """Over all devices. Somebody else's checkpoint is never taken or dropped: with one there, this fails."""
    flags = _DELETE_NEW_CONNECTIONS | _DISCONNECT_NEW_DEVICES
    try:
        return _create(seconds, flags | _TRACK_DNS)
    except NoCheckpoint as problem:
        if "flags" not in str(problem).lower():
            raise
        return _create(seconds, flags)  # before 1.48 global DNS is not part of a checkpoint


def _create(seconds: int, flags: int) -> str:
    path: str = _call("CheckpointCreate", "aouu", "0", str(seconds), str(flags))["data"][0]
    return path


def renew(path: str, seconds: int) -> None:
    _call("CheckpointAdjustRollbackTimeout", "ou", path, str(seconds))


def drop(path: str) -> None:
    _call("CheckpointDestroy", "o", path)


def roll_back(path: str) -> None:
    _call("CheckpointRollback", "o", path)


def _call(method: str, signature: str, *arguments: str) -> dict[str, list[str]]:
    return _answer("call", _BUS, _PATH, _BUS, method, signature, *arguments)


def _answer(*words: str) -> dict[str, list[str]]:
    try:
        done = subprocess.run(
            ["busctl", "--system", "--json=short", *words],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoCheckpoint(str(problem)) from problem
    if done.returncode:
        raise NoCheckpoint(done.stderr.strip() or f"busctl ended with {done.returncode}")
    answer: dict[str, list[str]] = json.loads(done.stdout) if done.stdout.strip() else {"data": []}
    return answer
