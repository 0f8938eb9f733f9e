# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Undo bundles of runs that went before: a run that goes on with another one keeps only what that one has left.

Room: evidence. Only folders that are ours alone are named: another user's may hold anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from ..problems import Refused
from .own_files import own_folder

_DONE = "done"


def earlier_bundles(path: str, *, empty: bool) -> list[str]:
    """Folders beside this one that hold the rest, newest first: back to the run that began it.

    `empty`: nothing is in the bundle at `path`, so the last run that was done is the one that is meant.
    """
    own = os.path.realpath(os.path.expanduser(path))
    own = os.path.dirname(own) if os.path.basename(own) == "undo" else own
    found = []
    for folder in _before(own):
        done = _read(folder, "result.json").get("outcome") == _DONE
        if done and not empty:
            break
        if _holds_anything(folder):
            found.append(folder)
        if done:
            break
    return found


def _before(own: str) -> Iterator[str]:
    """Of the same job about the same thing. A run that was killed has not said what it was about."""
    job, source = own.rpartition("-")[2], _read(own, "plan.json").get("source")
    place, name = os.path.split(own)
    for other in sorted(os.listdir(place), reverse=True):
        folder = os.path.join(place, other)
        if other < name and other.endswith(f"-{job}") and _read(folder, "plan.json").get("source", source) == source:
            yield folder


def _holds_anything(folder: str) -> bool:
    undo = os.path.join(folder, "undo")
    try:
        with own_folder(folder), own_folder(undo) as ours:
            names = ours.names()
    except (OSError, Refused):
        names = []
    lists = [name for name in names if name.endswith(".json")]
    return "secrets.vault" in names or any(_read(undo, name).get("items") for name in lists)


def _read(folder: str, name: str) -> dict[str, Any]:
    try:
        with own_folder(folder) as ours:
            found = json.loads(ours.text(name))
    except (OSError, ValueError, Refused):
        return {}
    return found if isinstance(found, dict) else {}
