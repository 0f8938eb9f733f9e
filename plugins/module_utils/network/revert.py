# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way back from a policy to the state before it.

Room: network (pure). Private to the collection. Begins with what `nmstatectl gr` would answer and mends it: routes
and rules that were there before are never removed, a return to DHCP brings back the lease flags, an unmanaged
interface really gets its addresses back, what was not reported before is switched off where that is known, and
nothing is said that would change nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .after import dns_after, interface_after, routes_after, rules_after
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
)
from .ip_blocks import INHERITED, is_automatic, leased_families, settled
from .merging import Merged, holds_no_address, merge, name_and_type, over
from .normal import SHOWN_ONLY, normal_interface
from .shapes import (
    FAMILIES,
    WHOLE_BLOCKS,
    Interface,
    Key,
    State,
    entries_of,
    is_absent,
    is_virtual,
    key_of,
    port_blocks_of,
    ports_of,
    set_ports,
    state_of,
)
from .typed import typed
from .upstream import upstream_revert

# What an interface is without these settings: a state that does not mention them means this.
RESETS: dict[str, Any] = {
    "description": "",
    "lldp": {"enabled": False},
    "accept-all-mac-addresses": False,
    "controller": "",
    "ipv4": {"enabled": False},
    "ipv6": {"enabled": False},
}
ALWAYS_KNOWN = ("name", "type", "state")


def generate_revert(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> State:
    """The state to apply after `desired`, so that the network is as in `pre` again. Empty: there is nothing to undo."""
    desired, pre = typed(desired), typed(pre)
    merged = merge(desired, pre)
    raw = upstream_revert(desired, pre)
    interfaces = list(_mended(raw, merged))
    routes = _back(ROUTES, entries_of(pre, "routes"), routes_after(pre, desired, merged))
    parts: dict[str, Any] = {
        "interfaces": interfaces,
        "routes": _config(_with_forgotten_ones(routes, entries_of(pre, "routes"), interfaces)),
        "route-rules": _config(_back(RULES, entries_of(pre, "route-rules"), rules_after(pre, desired))),
        "dns-resolver": _dns_back(desired, pre),
        "hostname": _hostname_back(raw.get("hostname") or {}, desired.get("hostname") or {}),
        "ovs-db": _changed_maps(raw.get("ovs-db") or {}, desired.get("ovs-db") or {}),
        "ovn": _changed(raw.get("ovn"), desired.get("ovn")),
    }
    return {part: value for part, value in parts.items() if value}


def not_reverted(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> list[str]:
    """Settings of the policy that stay: the state before did not report them, and what they were cannot be known."""
    back = {key_of(interface): interface for interface in generate_revert(desired, pre).get("interfaces") or ()}
    return [
        f"{one.desired['name']} {key}"
        for name, one in merge(desired, pre).items()
        if one.desired is not None and one.current is not None and not is_absent(one.desired)
        for key in one.desired
        if key not in one.current and key not in back.get(name, RESETS) and key not in SHOWN_ONLY
    ]


# Interfaces


def _mended(raw: State, merged: Mapping[Key, Merged]) -> Iterator[Interface]:
    answers = {key_of(found): found for found in raw.get("interfaces") or ()}
    for key, one in merged.items():
        if one.apply is None:
            if one.current is not None and _has_other_ports(one):
                yield _with_ports(name_and_type(one.current, state_of(one.current)), one)
        elif one.current is None:
            if not is_absent(one.apply):  # a policy that removes what was not there has nothing to undo
                yield name_and_type(one.apply, "absent")
        elif is_absent(one.apply):
            whole = _whole(one.current)
            if is_virtual(whole) or not _changes_nothing(whole, interface_after(one)):
                yield whole
        else:
            # gr says nothing where the state before reported none of the policy's keys.
            bare = {known: one.current[known] for known in ALWAYS_KNOWN}
            back = _parts(answers.get(key, bare), one.apply, one.current, one)
            if _has_other_ports(one):
                back = _with_ports(back, one)
            if not _changes_nothing(back, interface_after(one)):
                yield back


def _has_other_ports(one: Merged) -> bool:
    return sorted(ports_of(one.current or {}) or ()) != sorted(ports_of(one.after) or ())


def _with_ports(back: Interface, one: Merged) -> Interface:
    """Also where the policy only named the one that took a port away: with it went what was set on that port."""
    if ports_of(one.current or {}) is None:
        return back
    found = copy.deepcopy(back)
    set_ports(found, copy.deepcopy(list(port_blocks_of(one.current or {}).values())))
    return found


def _whole(current: Interface) -> Interface:
    """An interface the policy removed, as it can be made again."""
    found = {key: copy.deepcopy(value) for key, value in current.items() if key not in SHOWN_ONLY}
    for family in FAMILIES:
        if family in found:
            found[family] = settled(family, found[family], bool(found[family].get("enabled")))
    return _managed(found)


def _parts(found: Interface, apply: Interface, current: Interface, one: Merged) -> Interface:
    back = copy.deepcopy(found)
    for key in one.desired or ():
        if key not in current and key in RESETS:
            back[key] = copy.deepcopy(RESETS[key])
    for block in WHOLE_BLOCKS:
        if block in back and block in current:
            back[block] = copy.deepcopy(current[block])
            if is_virtual(current) and "mac-address" in current and back[block] != (one.after.get(block) or {}):
                back["mac-address"] = current["mac-address"]
    lost = holds_no_address(apply) and not holds_no_address(current)
    for family in FAMILIES:
        if family in apply or lost:
            after = one.after.get(family) or {}
            back[family] = _family_back(family, current.get(family) or {}, after, None if lost else apply[family])
    return _managed(back)


def _family_back(
    family: str, before: Mapping[str, Any], after: Mapping[str, Any], sent: Mapping[str, Any] | None
) -> dict[str, Any]:
    """All of the block where its kind changed: the flags of a lease are not among what a static policy names."""
    enabled = bool(before.get("enabled"))
    whole = settled(family, {**before, "enabled": enabled}, enabled)
    if enabled and (not is_automatic(whole) or "address" in (sent or {})):
        whole.setdefault("address", [])
    other_kind = any(bool(after.get(key)) != bool(before.get(key)) for key in ("enabled", *INHERITED[family]))
    if sent is None or other_kind:
        # What is left out would stay as it is now.
        switches = {key: False for key in INHERITED[family] if enabled and after.get(key)}
        return {**switches, **whole}
    # Addresses beside a lease are lost unless they are named, also by a policy that says nothing of them.
    lost = ("address",) if is_automatic(whole) and whole.get("address") else ()
    return {key: value for key, value in whole.items() if key in ("enabled", *sent, *lost)}


def _managed(interface: Interface) -> Interface:
    # Applying "ignore" does nothing at all, so the policy's settings would stay.
    return {**interface, "state": "up"} if state_of(interface) == "ignore" else interface


def _changes_nothing(back: Interface, after: Interface) -> bool:
    return normal_interface(over(back, after)) == normal_interface(after)


# Routes and rules

Same = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
ROUTES: tuple[Same, Same, Any] = (exactly_this_route, route_matches, route_order)
RULES: tuple[Same, Same, Any] = (exactly_this_rule, rule_matches, rule_order)


def _back(kind: tuple[Same, Same, Any], before: list[Entry], after: list[Entry]) -> list[Entry]:
    """Only configured entries count as there before: those of a lease come and go with it."""
    same, matches, order = kind
    new = [clean(entry) for entry in after if not any(same(entry, other) for other in before)]
    lost = [entry for entry in before if not any(same(entry, other) for other in after)]
    # A pattern without metric or priority would also take entries that were there before: those are put back.
    swept = [entry for entry in before if entry not in lost and any(matches(gone, clean(entry)) for gone in new)]
    return sorted([*map(as_absent, new), *copy.deepcopy(lost), *copy.deepcopy(swept)], key=order)


def _with_forgotten_ones(routes: list[Entry], before: list[Entry], interfaces: list[Interface]) -> list[Entry]:
    """Static routes beside a lease: they stay only if they are named."""
    leased = leased_families(interfaces)
    beside = [entry for entry in before if (entry.get("next-hop-interface"), family_of_route(entry)) in leased]
    return sorted([*routes, *(copy.deepcopy(entry) for entry in beside if entry not in routes)], key=route_order)


def _config(entries: list[Entry]) -> State:
    return {"config": entries} if entries else {}


# The rest


def _dns_back(desired: State, pre: State) -> State:
    """The static settings as they were. None before: an empty block, which makes nmstate forget them."""
    before, after = dns_after(pre, {}), dns_after(pre, desired)
    if before == after:
        return {}
    # Lists that are not named would stay as they are.
    return {"config": {**{key: [] for key in after}, **before} if before else {}}


def _hostname_back(back: State, wanted: State) -> State:
    return back if back.get("config") != wanted.get("config") else {}


def _changed(back: Any, wanted: Any) -> Any:
    return back if back != wanted else None


def _changed_maps(back: State, wanted: State) -> State:
    found = {
        name: {key: value for key, value in values.items() if (wanted.get(name) or {}).get(key) != value}
        for name, values in back.items()
    }
    return {name: values for name, values in found.items() if values}
