# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Places inside an object: patterns like `/spec/rules/*/backendRefs`, and the JSON pointers they stand for.

Shared by every room and private to the collection. In a pattern `*` is every entry of a list. `{0}`, `{1}` are entries
that are already chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class _Absent:
    """Nothing stands there, which is different from null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()


def value_of(item: Any, pointer: str) -> Any:
    """What stands at a pointer, or ABSENT."""
    for key in _keys(pointer):
        if isinstance(item, Mapping) and key in item:
            item = item[key]
        elif isinstance(item, list) and key.isdigit() and int(key) < len(item):
            item = item[int(key)]
        else:
            return ABSENT
    return item


def matches(item: Any, pattern: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every pointer a pattern stands for, with the entries its stars have chosen. What stands there may be absent."""
    yield from _matches(item, _raw_keys(pattern), "", ())


def _matches(
    item: Any, keys: list[str], pointer: str, chosen: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not keys:
        yield pointer, chosen
        return
    head, rest = keys[0], keys[1:]
    if head == "*":
        for number, entry in enumerate(item if isinstance(item, list) else ()):
            yield from _matches(entry, rest, f"{pointer}/{number}", (*chosen, number))
    elif not rest:
        if isinstance(item, Mapping) or value_of(item, f"/{head}") is not ABSENT:
            yield f"{pointer}/{head}", chosen
    else:
        inner = value_of(item, f"/{head}")
        if inner is not ABSENT:
            yield from _matches(inner, rest, f"{pointer}/{head}", chosen)


def values(item: Any, pattern: str, chosen: tuple[int, ...] = ()) -> list[Any]:
    """What stands at every place of a pattern whose `{n}` are the entries chosen before."""
    found = (value_of(item, pointer) for pointer, _stars in matches(item, bound(pattern, chosen)))
    return [value for value in found if value is not ABSENT]


def bound(pattern: str, chosen: tuple[int, ...]) -> str:
    for number, entry in enumerate(chosen):
        pattern = pattern.replace(f"{{{number}}}", str(entry))
    return pattern


def place_order(pointer: str) -> list[tuple[int, str]]:
    """To sort pointers as their entries stand in lists: the tenth after the ninth."""
    return [(int(key), "") if key.isdigit() else (0, key) for key in _raw_keys(pointer)]


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _raw_keys(pattern: str) -> list[str]:
    return pattern.split("/")[1:]


def _keys(pointer: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in _raw_keys(pointer)]
