# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One thing that maintenance changes in a route: what stood there, what stands there meanwhile, and the patch for it.

Room: maintenance (pure).
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..pointers import ABSENT, escaped, value_of


class Role(enum.Enum):
    BACKEND = "backend"
    BESIDE = "beside"  # something beside a backend that would keep the page from being seen
    ANNOTATION = "annotation"
    ADDED = "added"  # an entry of a list that was not there before, for an exempt path
    ADMITTED = "admitted"  # the same for a bypass: whoever reads it can use it, so it is never shown
    IN_FRONT = "in front"  # nothing in the route itself: another one, whose kind and name are pattern and pointer

    @property
    def is_an_entry(self) -> bool:
        return self in (Role.ADDED, Role.ADMITTED)


@dataclass(frozen=True)
class Change:
    role: Role
    identity: str  # of the location; of an annotation, its key; empty for what belongs to the whole route
    pattern: str
    pointer: str  # where it stood when it was changed
    before: Any = ABSENT
    after: Any = ABSENT

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for the same thing changed twice."""
        entry = json.dumps(self.after, sort_keys=True) if self.role.is_an_entry else ""
        return self.identity, self.pattern, entry

    def as_dict(self) -> dict[str, Any]:
        values = {"before": self.before, "after": self.after}
        return {
            "role": self.role.value,
            "identity": self.identity,
            "pattern": self.pattern,
            "pointer": self.pointer,
            **{key: value for key, value in values.items() if value is not ABSENT},
        }


def change_from(data: Mapping[str, Any]) -> Change:
    return Change(
        Role(data["role"]),
        text_in(data, "identity"),
        text_in(data, "pattern"),
        text_in(data, "pointer"),
        data.get("before", ABSENT),
        data.get("after", ABSENT),
    )


def text_in(data: Mapping[str, Any], key: str, otherwise: str | None = None) -> str:
    """What is no text is no name, whatever else it may be."""
    value = data[key] if otherwise is None else data.get(key, otherwise)
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text")
    return value


def latest(changes: Sequence[Change]) -> dict[tuple[str, str, str], Change]:
    """What was changed again counts as it was the last time."""
    return {change.key: change for change in changes}


def with_entries_back(change: Change, now: Any) -> Any:
    """A list as it is now, with the entries that we took out of it, and without those we put in instead of them;
    anything else as it is now."""
    taken = _taken_out(change)
    if not taken or not (now is ABSENT or isinstance(now, list)):
        return now
    instead = [] if change.after is ABSENT else [one for one in change.after if one not in change.before]
    result = [] if now is ABSENT else [one for one in now if one not in instead]
    for number, entry in enumerate(change.before):
        if entry in taken and entry not in result:
            # behind the nearest of its old neighbours that is still there
            ahead = [result.index(one) + 1 for one in change.before[:number] if one in result]
            result.insert(max(ahead, default=0), entry)
    return result


def _taken_out(change: Change) -> list[Any]:
    after = [] if change.after is ABSENT else change.after
    if not isinstance(change.before, list) or not isinstance(after, list):
        return []
    return [entry for entry in change.before if entry not in after]


def never_shown(changes: Iterable[Change]) -> list[Any]:
    """Entries for a bypass, whose values let everybody in who reads them."""
    return [change.after for change in changes if change.role is Role.ADMITTED]


Operation = dict[str, Any]


def put(item: Mapping[str, Any], pointer: str, value: Any) -> list[Operation]:
    """The patch that makes `value` stand there; nothing where it does already."""
    now = value_of(item, pointer)
    if value is ABSENT:
        return [] if now is ABSENT else [{"op": "remove", "path": pointer}]
    if now is ABSENT:
        return [{"op": "add", "path": pointer, "value": value}]
    return [] if now == value else [{"op": "replace", "path": pointer, "value": value}]


def annotation_pointer(key: str) -> str:
    return f"/metadata/annotations/{escaped(key)}"


def annotate(item: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[Operation]:
    """Annotations by key, ABSENT for those that go; each tested, so that nobody's change in between is lost."""
    known = (item.get("metadata") or {}).get("annotations")
    operations: list[Operation] = []
    if not known and any(value is not ABSENT for value in wanted.values()):
        # Adding the map would wipe one that somebody adds first, and that it is missing cannot be tested.
        version = (item.get("metadata") or {}).get("resourceVersion")
        operations.append({"op": "test", "path": "/metadata/resourceVersion", "value": version})
        operations.append({"op": "add", "path": "/metadata/annotations", "value": {}})
    for key, value in wanted.items():
        pointer = annotation_pointer(key)
        step = put(item, pointer, value)
        if step and key in (known or {}):
            operations.append({"op": "test", "path": pointer, "value": (known or {})[key]})
        operations += step
    return operations


def guarded(item: Mapping[str, Any], operations: Sequence[Operation]) -> list[Operation]:
    """Only on the very spec that was read: places in lists may have moved under us."""
    if not operations:
        return []
    return [{"op": "test", "path": "/spec", "value": item.get("spec")}, *operations]
