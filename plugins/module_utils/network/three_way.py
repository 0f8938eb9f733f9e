# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reversal, from three states: before the policy, as the policy left it, and now.

Room: network (pure). Private to the collection. What somebody changed since stays and is listed as drifted, what
another live policy wants stays and is listed with its owner, and what was there before the policy is never removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .after import dns_after, state_after
from .claims import Claims, Path, value_at
from .differences import words_for
from .reversal import Ledger, Reversal
from .revert import generate_revert
from .shapes import FAMILIES, State, by_key, entries_of, interfaces_of
from .three_way_entries import ROUTES, RULES, Sort, Times, entries_back, keep_footings
from .three_way_interfaces import Scene, interfaces_back
from .typed import typed

PLAIN_PARTS = ("hostname", "ovs-db", "ovn")


def plan_reversal(
    pre: Mapping[str, Any],
    desired: Mapping[str, Any],
    now: Mapping[str, Any],
    claims: Mapping[str, Mapping[str, Any]],
) -> Reversal:
    """`claims`: desired states of the other live policies, by name. Sends nothing."""
    return plan_way_back(generate_revert(desired, pre), pre, desired, now, claims)


def plan_way_back(
    target: Mapping[str, Any],
    pre: Mapping[str, Any],
    desired: Mapping[str, Any],
    now: Mapping[str, Any],
    claims: Mapping[str, Mapping[str, Any]],
) -> Reversal:
    """As `plan_reversal`, with a way back that was computed when the policy was applied."""
    before, then, here = typed(pre), state_after(pre, desired), typed(now)
    target, owners, ledger = typed(target), Claims(claims), Ledger()
    keep_footings(entries_of(target, ROUTES.part), _times(ROUTES, before, then, here), owners)
    interfaces_back(interfaces_of(target), Scene(by_key(before), by_key(then), by_key(here)), owners, ledger)
    there = _families_on(state_after(here, {"interfaces": ledger.state.get("interfaces") or []}))
    for sort in (ROUTES, RULES):
        times = _times(sort, before, then, here)
        entries_back(sort, entries_of(target, sort.part), times, owners, there, ledger)
    _dns_back(target, then, here, owners, ledger)
    for part in PLAIN_PARTS:
        _part_back(part, target, then, here, owners, ledger)
    return ledger.closed()


def _times(sort: Sort, before: State, then: State, now: State) -> Times:
    return Times(entries_of(before, sort.part), entries_of(then, sort.part), entries_of(now, sort.part))


def _families_on(state: State) -> set[tuple[str, str]]:
    """Interfaces and families that can carry a route."""
    return {
        (interface["name"], family)
        for interface in interfaces_of(state)
        for family in FAMILIES
        if (interface.get(family) or {}).get("enabled")
    }


def _dns_back(target: State, then: State, now: State, claims: Claims, ledger: Ledger) -> None:
    """One thing as a whole: half of somebody's name servers is nobody's configuration."""
    if "dns-resolver" not in target:
        return
    wanted, left, here = dns_after(target, {}), dns_after(then, {}), dns_after(now, {})
    if here == wanted:
        return
    if owner := claims.of_dns(here, wanted):
        ledger.keep("dns", owner)
    elif here == left:
        ledger.revert(f"dns {words_for(wanted) or 'automatic'}")
        ledger.put("dns-resolver", {"config": target["dns-resolver"].get("config") or {}})
    else:
        ledger.drift(f"dns: the policy set {words_for(left) or 'nothing'}, now {words_for(here) or 'nothing'}")


def _part_back(part: str, target: State, then: State, now: State, claims: Claims, ledger: Ledger) -> None:
    found: State = {}
    for path, value in _paths(target.get(part) or {}):
        left, here = value_at(then.get(part), path), value_at(now.get(part), path)
        what = f"{part} {' '.join(path)}"
        if here == value or value == left:
            continue
        if owner := claims.of_part(part, path, here):
            ledger.keep(what, owner)
        elif here == left:
            ledger.revert(f"{what} {words_for(value)}")
            _put(found, path, value)
        else:
            ledger.drift(f"{what}: the policy set {words_for(left)}, now {words_for(here)}")
    ledger.put(part, found)


def _paths(block: Mapping[str, Any], above: Path = ()) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for key, value in block.items():
        deeper = _paths(value, (*above, key)) if isinstance(value, Mapping) and value else [((*above, key), value)]
        found += deeper
    return found


def _put(block: State, path: Path, value: Any) -> None:
    for key in path[:-1]:
        block = block.setdefault(key, {})
    block[path[-1]] = value
