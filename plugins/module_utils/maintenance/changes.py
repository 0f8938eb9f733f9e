# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One thing that maintenance changes in a route: what stood there, what stands there meanwhile, and the patch for it.

Room: maintenance (pure).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..paths import covers
from .pointers import ABSENT, escaped, matches, value_of


class Role(enum.Enum):
    BACKEND = "backend"
    BESIDE = "beside"  # something beside a backend that would keep the page from being seen
    ANNOTATION = "annotation"
    ADDED = "added"  # an entry of a list that was not there before: an exempt path, a bypass


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
        entry = repr(self.after) if self.role is Role.ADDED else ""
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
        data["identity"],
        data["pattern"],
        data["pointer"],
        data.get("before", ABSENT),
        data.get("after", ABSENT),
    )


def latest(changes: Sequence[Change]) -> dict[tuple[str, str, str], Change]:
    """What was changed again counts as it was the last time."""
    return {change.key: change for change in changes}


def added_entries(item: Mapping[str, Any], known: Sequence[Change]) -> Iterator[str]:
    """Entries that stand in the route only because of us, as prefixes of pointers: they lead to the application."""
    for change in known:
        if change.role is Role.ADDED:
            for pointer, _chosen in matches(item, f"{change.pattern}/*"):
                if covers(value_of(item, pointer), change.after):
                    yield pointer + "/"


def with_entries_back(change: Change, now: Any) -> Any:
    """A list as it is now, with the entries that we took out of it; anything else as it is now."""
    taken = _taken_out(change)
    if not taken or not (now is ABSENT or isinstance(now, list)):
        return now
    result = [] if now is ABSENT else list(now)
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
