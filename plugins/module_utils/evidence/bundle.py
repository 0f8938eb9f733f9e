# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The undo bundle, read from the files a run left behind.

Room: evidence. The other end of `files.py`.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ..problems import BadOption
from ..teardown.undo import Bundle

_NEXT = "give the folder a run left below its evidence_dir"


def read_bundle(path: str, secrets: list[dict[str, Any]] | None) -> Bundle:
    """`path`: the run's folder, or `undo` in it."""
    undo = _undo_folder(path)
    if not os.path.isdir(undo) and os.path.isfile(os.path.join(os.path.dirname(undo), "result.json")):
        return Bundle([])  # a run that only planned, or found nothing to do
    try:
        names = sorted(name for name in os.listdir(undo) if name.endswith(".json"))
    except OSError as problem:
        raise BadOption("no undo bundle in", which=path, why=str(problem), next_step=_NEXT) from problem
    steps = [(_step_name(name), _items(os.path.join(undo, name))) for name in names]
    return Bundle(steps, secrets or [], _lines(os.path.join(undo, "left-out.txt")), _uids(os.path.dirname(undo)))


def sealed_secrets(path: str) -> str:
    """Where the encrypted Secrets are; empty without any."""
    file = os.path.join(_undo_folder(path), "secrets.vault")
    return file if os.path.isfile(file) else ""


def _undo_folder(path: str) -> str:
    folder = os.path.normpath(os.path.expanduser(path))
    return folder if os.path.basename(folder) == "undo" else os.path.join(folder, "undo")


def _step_name(file: str) -> str:
    return file.removesuffix(".json").partition("-")[2] or file


def _items(file: str) -> list[dict[str, Any]]:
    items = _json(file).get("items")
    if not isinstance(items, list) or not all(_is_object(item) for item in items):
        raise BadOption("cannot read", which=file, why="it is no List of objects", next_step=_NEXT)
    return items


def _is_object(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
        return False
    return all(isinstance(item.get(key), str) for key in ("apiVersion", "kind")) and bool(item["metadata"].get("name"))


def _json(file: str) -> dict[str, Any]:
    try:
        with open(file, encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError) as problem:
        raise BadOption("cannot read", which=file, why=str(problem), next_step=_NEXT) from problem
    return found if isinstance(found, dict) else {}


def _lines(file: str) -> list[str]:
    if not os.path.exists(file):
        return []
    with open(file, encoding="utf-8") as stream:
        return stream.read().splitlines()


def _uids(folder: str) -> dict[tuple[str, str, str], str]:
    """What the objects were, from the plan beside the bundle."""
    file = os.path.join(folder, "plan.json")
    if not os.path.exists(file):
        return {}
    listed = [one.get("object") or {} for step in _json(file).get("steps") or () for one in step.get("objects") or ()]
    return {
        (str(one.get("kind")), one.get("namespace") or "", str(one.get("name"))): str(one.get("uid")) for one in listed
    }
