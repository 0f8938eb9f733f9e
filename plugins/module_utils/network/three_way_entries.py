# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking a policy back from routes and rules: its own go, removed ones come back, nobody else's is touched.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .claims import Claims
from .differences import words_for_route, words_for_rule
from .entries import (
    Entry,
    as_absent,
    clean,
    exactly_this_route,
    exactly_this_rule,
    family_of_route,
    route_matches,
    route_order,
    rule_matches,
    rule_order,
    same_route,
    same_rule,
    table_of,
    without_state,
)
from .ip_blocks import leased_families
from .reversal import Ledger
from .shapes import is_absent


@dataclass(frozen=True)
class Sort:
    """Routes or rules: their words, and how they are compared."""

    part: str
    word: str
    words: Callable[[Mapping[str, Any]], str]
    same: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
    exactly: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
    matches: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
    order: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    rivals: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
    made_for: Callable[[list[Entry], list[Entry]], list[Entry]]


def _compete(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.get("destination") == other.get("destination") and table_of(one) == table_of(other)


def _ways_to_gateways(gone: list[Entry], now: list[Entry]) -> list[Entry]:
    """A gateway in no network of its interface gets a route from NetworkManager, which stays when nobody needs it."""
    needed = {_gateway(entry) for entry in now if entry not in gone}
    left = {_gateway(entry) for entry in gone} - needed
    return [entry for entry in now if entry not in gone and not _gateway(entry)[1] and _host(entry) in left]


def _gateway(route: Entry) -> tuple[Any, str]:
    """The gateway; none where the next hop is no address or the one that means none."""
    address = str(route.get("next-hop-address") or "")
    means_none = not address or ipaddress.ip_address(address.partition("%")[0]).is_unspecified
    return route.get("next-hop-interface"), "" if means_none else address


def _host(route: Entry) -> tuple[Any, str]:
    address, _slash, length = str(route.get("destination") or "").partition("/")
    return route.get("next-hop-interface"), address if length in ("32", "128") else "no host"


ROUTES = Sort(
    "routes", "route", words_for_route, same_route, exactly_this_route, route_matches, route_order, _compete,
    _ways_to_gateways,
)  # fmt: skip
RULES = Sort(
    "route-rules", "rule", words_for_rule, same_rule, exactly_this_rule, rule_matches, rule_order,
    lambda *_rules: False, lambda *_rules: [],
)  # fmt: skip


@dataclass(frozen=True)
class Times:
    """Configured entries before the policy, after it, and now."""

    before: list[Entry]
    then: list[Entry]
    now: list[Entry]


def entries_back(
    sort: Sort, target: list[Entry], times: Times, claims: Claims, there: set[tuple[str, str]], ledger: Ledger
) -> None:
    """`there`: interfaces and families that are on once the reversal is done."""
    back = [
        entry for entry in target if not is_absent(entry) and _comes_back(sort, entry, times, claims, there, ledger)
    ]
    gone: list[Entry] = []
    for entry in [entry for pattern in target if is_absent(pattern) for entry in _own(sort, pattern, times)]:
        # Somebody who wants such an entry is as content with the one that comes back.
        others = [*back, *(other for other in map(clean, times.now) if other != entry and other not in gone)]
        if owner := claims.of_entry(sort.part, entry, others, sort.same):
            ledger.keep(f"{sort.word} {sort.words(entry)}", owner)
        elif entry not in gone:
            gone.append(entry)
    for entry in sort.made_for(gone, [clean(entry) for entry in times.now]):
        if _is_new(sort, entry, times) and not claims.of_entry(sort.part, entry, [], sort.same):
            gone.append(entry)
    leased = leased_families(ledger.state.get("interfaces") or ())
    # An absent entry is a pattern and may take more than is meant: whatever else it would take is named again.
    saved = [
        clean(entry)
        for entry in times.now
        if clean(entry) not in gone
        and (any(sort.matches(pattern, clean(entry)) for pattern in gone) or _is_beside_a_lease(entry, leased))
    ]
    for entry in gone:
        ledger.revert(f"{sort.word} {sort.words(entry)} removed")
    for entry in back:
        ledger.revert(f"{sort.word} {sort.words(entry)}")
    found = [*map(as_absent, gone), *back, *(entry for entry in saved if entry not in back)]
    if found:
        ledger.put(sort.part, {"config": sorted(found, key=sort.order)})


def keep_footings(target: list[Entry], times: Times, claims: Claims) -> None:
    """Before addresses are looked at: which routes of ours will stay because somebody else wants them."""
    back = [entry for entry in target if not is_absent(entry)]
    for entry in [entry for pattern in target if is_absent(pattern) for entry in _own(ROUTES, pattern, times)]:
        others = [*back, *(other for other in map(clean, times.now) if other != entry)]
        owner = claims.of_entry(ROUTES.part, entry, others, ROUTES.same)
        if owner and entry.get("next-hop-interface") and entry.get("next-hop-address"):
            claims.keep_way(entry["next-hop-interface"], entry["next-hop-address"], owner)


def _is_beside_a_lease(entry: Entry, leased: set[tuple[str, str]]) -> bool:
    return (entry.get("next-hop-interface"), family_of_route(entry)) in leased


def _is_new(sort: Sort, entry: Entry, times: Times) -> bool:
    return not any(sort.exactly(entry, other) for other in times.before)


def _own(sort: Sort, pattern: Entry, times: Times) -> list[Entry]:
    """What the policy brought and is still there. Never what was there before it."""
    wanted = without_state(pattern)
    return [clean(entry) for entry in times.now if sort.same(wanted, entry) and _is_new(sort, entry, times)]


def _comes_back(
    sort: Sort, entry: Entry, times: Times, claims: Claims, there: set[tuple[str, str]], ledger: Ledger
) -> bool:
    if any(sort.exactly(entry, other) for other in times.now):
        return False
    what = f"{sort.word} {sort.words(entry)}"
    if owner := claims.of_removal(sort.part, clean(entry), sort.matches):
        ledger.keep(f"no {what}", owner)
        return False
    via, family = entry.get("next-hop-interface"), family_of_route(entry)
    blocked = next((name for name in (via, f"{via} {family}") if name in ledger.blocked), None)
    if blocked is not None:
        ledger.block(blocked, ledger.blocked[blocked], f"{what}: {blocked} is not back")
        return False
    if via and (via, family) not in there:
        ledger.drift(f"{what}: {family} is off on {via}")
        return False
    known = [*times.before, *times.then]
    rival = next(
        (
            other
            for other in times.now
            if sort.rivals(entry, clean(other)) and not any(sort.same(other, k) for k in known)
        ),
        None,
    )
    if rival is not None:
        ledger.drift(f"{what}: now there is {sort.words(rival)}")
    return rival is None
