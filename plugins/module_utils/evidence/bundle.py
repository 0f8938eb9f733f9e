# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The undo bundle, read from the files a run left behind.

Room: evidence. The other end of `files.py`. Objects are created from it with this user's rights, so it must be ours
alone (`own_files.py`).
"""

from __future__ import annotations

import json
import os
from typing import Any

from ..problems import BadOption
from ..teardown.undo import Bundle
from .own_files import OwnFolder, own_folder

_NEXT = "give the folder a run left below its evidence_dir"


def read_bundle(path: str, secrets: list[dict[str, Any]] | None) -> Bundle:
    """`path`: the run's folder, or `undo` in it."""
    run = os.path.realpath(os.path.dirname(_undo_folder(path)))
    try:
        with own_folder(run) as folder:
            if "undo" not in folder.names() and "result.json" in folder.names():
                return Bundle([])  # a run that only planned, or found nothing to do
            uids = _uids(folder)
        with own_folder(os.path.join(run, "undo")) as undo:
            steps = [(_step_name(name), _items(undo, name)) for name in undo.names() if name.endswith(".json")]
            return Bundle(steps, secrets or [], _lines(undo), uids)
    except OSError as problem:
        raise BadOption("no undo bundle in", which=path, why=str(problem), next_step=_NEXT) from problem


def sealed_secrets(path: str) -> str:
    """Where the encrypted Secrets are; empty without any."""
    file = os.path.join(_undo_folder(path), "secrets.vault")
    return file if os.path.isfile(file) else ""


def _undo_folder(path: str) -> str:
    folder = os.path.normpath(os.path.expanduser(path))
    return folder if os.path.basename(folder) == "undo" else os.path.join(folder, "undo")


def _step_name(file: str) -> str:
    return file.removesuffix(".json").partition("-")[2] or file


def _items(folder: OwnFolder, name: str) -> list[dict[str, Any]]:
    items = _json(folder, name).get("items")
    if not isinstance(items, list) or not all(_is_object(item) for item in items):
        file = os.path.join(folder.path, name)
        raise BadOption("cannot read", which=file, why="it is no List of objects", next_step=_NEXT)
    return items


def _is_object(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
        return False
    return all(isinstance(item.get(key), str) for key in ("apiVersion", "kind")) and bool(item["metadata"].get("name"))


def _json(folder: OwnFolder, name: str) -> dict[str, Any]:
    try:
        found = json.loads(folder.text(name))
    except (OSError, ValueError, RecursionError) as problem:
        file = os.path.join(folder.path, name)
        raise BadOption("cannot read", which=file, why=str(problem), next_step=_NEXT) from problem
    return found if isinstance(found, dict) else {}


def _lines(folder: OwnFolder) -> list[str]:
    try:
        return folder.text("left-out.txt").splitlines()
    except FileNotFoundError:
        return []


def _uids(folder: OwnFolder) -> dict[tuple[str, str, str], str]:
    """What the objects were, from the plan beside the bundle."""
    if "plan.json" not in folder.names():
        return {}
    listed = [
        one.get("object") or {}
        for step in _json(folder, "plan.json").get("steps") or ()
        for one in step.get("objects") or ()
    ]
    return {
        (str(one.get("kind")), one.get("namespace") or "", str(one.get("name"))): str(one.get("uid")) for one in listed
    }
