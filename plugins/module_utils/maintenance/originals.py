# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A route as it was before maintenance, with every edit since: what it will be when the page is taken away.

Room: maintenance (pure).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ..pointers import value_of
from .changes import Change, Operation
from .restore import restore
from .route_kinds import RouteKind


def as_it_was(item: Mapping[str, Any], kind: RouteKind, known: Sequence[Change]) -> Mapping[str, Any]:
    return applied(item, restore(item, kind, known).operations) if known else item


def applied(item: Mapping[str, Any], operations: Sequence[Operation]) -> dict[str, Any]:
    """The object after a patch of ours. Tests are taken as true."""
    patched: dict[str, Any] = copy.deepcopy(dict(item))
    for step in operations:
        if step["op"] == "test":
            continue
        place, _slash, key = step["path"].rpartition("/")
        key = key.replace("~1", "/").replace("~0", "~")
        inside = value_of(patched, place)
        if isinstance(inside, list):
            _change_list(inside, key, step)
        elif step["op"] == "remove":
            del inside[key]
        else:
            inside[key] = copy.deepcopy(step["value"])
    return patched


def _change_list(entries: list[Any], key: str, step: Operation) -> None:
    number = len(entries) if key == "-" else int(key)
    if step["op"] == "remove":
        del entries[number]
    elif step["op"] == "add":
        entries.insert(number, copy.deepcopy(step["value"]))
    else:
        entries[number] = copy.deepcopy(step["value"])
