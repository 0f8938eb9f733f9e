# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values inside whole objects, by paths like `spec.drain.policy`.

Shared by every room and private to the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_at(item: Mapping[str, Any], path: str) -> Any:
    """What stands there, or None. Names of keys hold no dots here."""
    value: Any = item
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def patch_at(path: str, value: Any) -> dict[str, Any]:
    """A merge patch that sets one value."""
    for key in reversed(path.split(".")):
        value = {key: value}
    patch: dict[str, Any] = value
    return patch


def condition_of(item: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """One of the object's own conditions, by type."""
    conditions = value_at(item, "status.conditions")
    entries = conditions if isinstance(conditions, list) else []
    return next((one for one in entries if isinstance(one, Mapping) and one.get("type") == kind), None)


def covers(known: Any, wanted: Any) -> bool:
    """Is everything wanted already there? Keys that only the server's defaults have brought do not count."""
    if isinstance(wanted, Mapping):
        return isinstance(known, Mapping) and all(covers(known.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        same_length = isinstance(known, list) and len(known) == len(wanted)
        return same_length and all(covers(one, other) for one, other in zip(known, wanted, strict=True))
    return bool(known == wanted)
