# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a change is about: the interfaces and rule tables a rollback may touch, and nothing else on the node.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .after import state_after
from .guard.kernel import Scope
from .normal import normalised
from .shapes import entries_of, interfaces_of, names_used_by

_MAIN_TABLE = 254


def scope_of(change: Mapping[str, Any], now: Mapping[str, Any]) -> Scope:
    """Everything that is named, and everything that is another one afterwards: ports, parents, peers, routes."""
    before, after = normalised(now), normalised(state_after(now, change))
    names = {name for state in (change, after) for name in _named(state, change)}
    names |= _changed_interfaces(before, after)
    routes = _changed(before.get("routes") or [], after.get("routes") or [])
    names |= {route["next-hop-interface"] for route in routes if route.get("next-hop-interface")}
    rules = _changed(before.get("route-rules") or [], after.get("route-rules") or [])
    tables = {int(rule.get("route-table") or _MAIN_TABLE) for rule in rules}
    return Scope(tuple(sorted(names)), tuple(sorted(tables)))


def _named(state: Mapping[str, Any], change: Mapping[str, Any]) -> Iterator[str]:
    named = {interface["name"] for interface in interfaces_of(change)}
    for interface in interfaces_of(state):
        if interface["name"] in named:
            yield interface["name"]
            yield from names_used_by(interface)
    for route in entries_of(change, "routes"):
        if route.get("next-hop-interface"):
            yield route["next-hop-interface"]


def _changed_interfaces(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    old, new = ({one["name"]: one for one in state.get("interfaces") or ()} for state in (before, after))
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _changed(before: list[Any], after: list[Any]) -> list[Any]:
    return [one for one in before if one not in after] + [one for one in after if one not in before]
