# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What will be there after a policy: the policy laid over the state it meets.

Room: network (pure). Private to the collection. Only what is configured: addresses and routes that DHCP will bring
are not known beforehand.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from .entries import Entry, clean, family_of_route, rule_matches, same_route, same_rule, without_state
from .ip_blocks import is_automatic, leased_families
from .merging import Merged, merge, name_and_type, over
from .shapes import FAMILIES, Interface, Key, State, entries_of, is_absent, is_virtual
from .typed import typed
from .upstream import DNS_LISTS, dns_lists, refuse_impossible_routes, route_goes

FIRST_OWN_PRIORITY = 30000  # what nmstate gives a rule without one


def state_after(pre: Mapping[str, Any], desired: Mapping[str, Any]) -> State:
    """The whole configured state once `desired` is applied to `pre`."""
    desired, pre = typed(desired), typed(pre)
    interfaces = merge(desired, pre)
    parts: dict[str, Any] = {
        "interfaces": [interface_after(one) for one in interfaces.values() if not _is_no_more(one)],
        "routes": {"config": routes_after(pre, desired, interfaces)},
        "route-rules": {"config": rules_after(pre, desired)},
        "dns-resolver": {"config": dns_after(pre, desired)},
        "hostname": over(desired.get("hostname") or {}, pre.get("hostname") or {}),
        "ovs-db": over(desired.get("ovs-db") or {}, pre.get("ovs-db") or {}),
        "ovn": over(desired.get("ovn") or {}, pre.get("ovn") or {}),
    }
    return {part: value for part, value in parts.items() if value}


def _is_no_more(one: Merged) -> bool:
    return one.is_gone and (one.current is None or is_virtual(one.current))


def interface_after(one: Merged) -> Interface:
    found = copy.deepcopy(one.after)
    if one.is_gone:  # hardware does not go away, it is only left alone
        off = {family: {"enabled": False} for family in FAMILIES}
        return {**found, **name_and_type(found, "down"), **off, "controller": ""}
    for family in FAMILIES:
        wanted = (one.desired or {}).get(family)
        if family in found and is_automatic(found[family]) and wanted is not None and "address" not in wanted:
            found[family].pop("address", None)
    return found


def routes_after(pre: State, desired: State, interfaces: Mapping[Key, Merged]) -> list[Entry]:
    wanted = [clean(route) for route in entries_of(desired, "routes") if route.get("state") != "ignore"]
    refuse_impossible_routes(wanted, interfaces)
    leased = leased_families(
        {**one.after, **{family: None for family in FAMILIES if family not in (one.apply or {})}}
        for one in interfaces.values()
    )
    stay = [
        route
        for route in map(clean, entries_of(pre, "routes"))
        if not route_goes(route, wanted, interfaces)
        and (route.get("next-hop-interface"), family_of_route(route)) not in leased
    ]
    return _with_new_ones(stay, wanted, same_route)


def rules_after(pre: State, desired: State) -> list[Entry]:
    wanted = [rule for rule in entries_of(desired, "route-rules") if rule.get("state") != "ignore"]
    gone = [rule for rule in wanted if is_absent(rule)]
    before = [clean(rule) for rule in entries_of(pre, "route-rules")]
    stay = [rule for rule in before if not any(rule_matches(pattern, rule) for pattern in gone)]
    return _with_new_ones(stay, [_as_numbered(clean(rule), before) for rule in wanted], same_rule)


def _as_numbered(rule: Entry, before: list[Entry]) -> Entry:
    """A rule without priority gets the next free one of nmstate's own, and the same one when it is made again."""
    if is_absent(rule) or rule.get("priority") not in (None, -1):
        return rule
    return next(
        (other for other in before if same_rule(rule, other) and int(other.get("priority") or 0) >= FIRST_OWN_PRIORITY),
        rule,
    )


def _with_new_ones(stay: list[Entry], wanted: list[Entry], same: Callable[[Entry, Entry], bool]) -> list[Entry]:
    for entry in wanted:
        if not is_absent(entry) and not any(same(entry, other) for other in stay):
            stay.append(without_state(entry))
    return stay


def dns_after(pre: State, desired: State) -> dict[str, list[str]]:
    """A block without any list means: forget all static settings."""
    has = dns_lists((pre.get("dns-resolver") or {}).get("config") or {})
    wanted = (desired.get("dns-resolver") or {}).get("config")
    if wanted is not None:
        named = any(wanted.get(key) is not None for key in DNS_LISTS)
        has = {**has, **dns_lists(wanted, True)} if named else {}
    return {key: value for key, value in has.items() if value}
