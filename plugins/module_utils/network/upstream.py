# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way back as `nmstatectl gr` computes it, key by key; the integration tests hold it against the real one.

Room: network (pure). Private to the collection. Kept apart from `revert.py`, which begins with this answer and mends
what `gr` gets wrong, so that each difference is a line there and not a surprise.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from ..problems import BadOption
from .addresses import address
from .entries import (
    Entry,
    as_absent,
    clean,
    family_of_route,
    replaces_special,
    route_matches,
    route_order,
    rule_matches,
    rule_order,
)
from .ip_blocks import is_automatic, settled
from .merging import Merged, holds_no_address, merge, name_and_type
from .shapes import FAMILIES, Interface, Key, State, entries_of, is_absent, type_of
from .typed import typed

DNS_LISTS = ("server", "search", "options")


def upstream_revert(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> State:
    """The state that undoes `desired` where `pre` was before. Parts with nothing to do are left out."""
    desired, pre = typed(desired), typed(pre)
    interfaces = merge(desired, pre)
    parts: dict[str, Any] = {
        "interfaces": list(_back(interfaces.values())),
        "routes": _config(_routes_back(desired, pre, interfaces), route_order),
        "route-rules": _config(_rules_back(desired, pre), rule_order),
        "dns-resolver": _dns_back(desired, pre),
        "hostname": copy.deepcopy(pre.get("hostname")) if desired.get("hostname") else None,
        "ovs-db": _ovs_db_back(desired.get("ovs-db"), pre.get("ovs-db") or {}),
        "ovn": _ovn_back(desired.get("ovn") or {}, pre.get("ovn") or {}),
    }
    return {part: value for part, value in parts.items() if value}


def _back(interfaces: Iterable[Merged]) -> Iterable[Interface]:
    for one in interfaces:
        if one.apply is None:
            continue
        if one.current is None:
            yield name_and_type(one.apply, "absent")
            continue
        found = copy.deepcopy(one.current) if is_absent(one.apply) else interface_back(one.apply, one.current)
        if found != one.apply:
            yield found


def interface_back(apply: Interface, current: Interface) -> Interface:
    """Each key that was sent, with its value from before. What was not reported before is not mentioned."""
    found: Interface = {**name_and_type(current), **_values_before(apply, current)}
    if holds_no_address(apply) and not holds_no_address(found):
        for family in FAMILIES:
            _copy_block(family, current, found)
    for family in FAMILIES:
        before = current.get(family)
        if before is not None and is_automatic(apply.get(family, {}), True) and not is_automatic(before):
            _copy_block(family, current, found)
        if family in found:
            found[family] = settled(family, found[family], bool(found[family].get("enabled")))
    if type_of(found) == "ethernet" and _virtual_functions(apply) and not _virtual_functions(current):
        found.setdefault("ethernet", {}).setdefault("sr-iov", {"total-vfs": 0})
    return found


def _values_before(sent: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in sent.items():
        if key in before:
            nested = isinstance(value, Mapping) and isinstance(before[key], Mapping)
            found[key] = _values_before(value, before[key]) if nested else copy.deepcopy(before[key])
    return found


def _copy_block(family: str, source: Interface, target: Interface) -> None:
    target.pop(family, None)
    if family in source:
        target[family] = copy.deepcopy(source[family])


def _virtual_functions(interface: Mapping[str, Any]) -> bool:
    return bool(((interface.get("ethernet") or {}).get("sr-iov") or {}).get("total-vfs"))


def _config(entries: list[Entry], order: Any) -> dict[str, Any]:
    return {"config": sorted(entries, key=order)} if entries else {}


def _routes_back(desired: State, pre: State, interfaces: Mapping[Key, Merged]) -> list[Entry]:
    wanted = [route for route in entries_of(desired, "routes") if route.get("state") != "ignore"]
    added = [route for route in wanted if not is_absent(route)]
    refuse_impossible_routes(added, interfaces)
    before = entries_of(pre, "routes")
    removed: dict[tuple[Any, ...], Entry] = {}
    for route in before:
        if route_goes(route, [clean(entry) for entry in wanted], interfaces):
            removed.setdefault(route_order(route), route)
    back = [next(other for other in before if route_matches(route, other)) for route in removed.values()]
    return [as_absent(route) for route in added] + copy.deepcopy(back)


def refuse_impossible_routes(routes: Iterable[Entry], interfaces: Mapping[Key, Merged]) -> None:
    """A route needs its interface, and its family switched on there."""
    for route in routes:
        name = route.get("next-hop-interface")
        if not name or is_absent(route):
            continue
        via = interfaces.get((name, False))
        family = family_of_route(route)
        why = ""
        if via is None or via.is_gone:
            why = f"its next-hop-interface {name} is not there"
        elif via.after.get(family, {}).get("enabled") is False:
            why = f"{family} is off on {name}"
        if why:
            what = f"bad policy: route to {route.get('destination')}"
            raise BadOption(what, why=why, next_step="mend the route or the interface")


def route_goes(route: Entry, wanted: list[Entry], interfaces: Mapping[Key, Merged]) -> bool:
    """By name, with its interface or family, or because the policy's own route takes its place."""
    name = route.get("next-hop-interface")
    if not name and not route.get("route-type"):
        return False
    via = interfaces.get((name or "", False))
    if via is not None:
        family = family_of_route(route)
        if via.is_gone or not (via.after.get(family) or {}).get("enabled"):
            return True
    return any(route_matches(entry, route) if is_absent(entry) else replaces_special(entry, route) for entry in wanted)


def _rules_back(desired: State, pre: State) -> list[Entry]:
    back: list[Entry] = []
    for rule in entries_of(desired, "route-rules"):
        if is_absent(rule):
            back += [copy.deepcopy(other) for other in entries_of(pre, "route-rules") if rule_matches(rule, other)]
        else:
            back.append(as_absent(rule))
    return back


def _dns_back(desired: State, pre: State) -> State | None:
    wanted = (desired.get("dns-resolver") or {}).get("config")
    if wanted is None:
        return None
    before = copy.deepcopy(pre.get("dns-resolver") or {})
    has = dns_lists(before.get("config") or {})
    after = dns_lists(wanted) if not any(key in wanted for key in DNS_LISTS) else {**has, **dns_lists(wanted, True)}
    return before if after != has else None


def dns_lists(config: Mapping[str, Any], only_named: bool = False) -> dict[str, list[str]]:
    """Servers in one spelling; a list left out is empty, unless only what is named is asked for."""
    names = [key for key in DNS_LISTS if not only_named or config.get(key) is not None]
    found = {key: [str(one) for one in config.get(key) or ()] for key in names}
    if "server" in found:
        found["server"] = [address(server) for server in found["server"]]
    return found


def _ovs_db_back(desired: Mapping[str, Any] | None, pre: Mapping[str, Any]) -> State | None:
    if not desired:
        return None
    maps = ("external_ids", "other_config")
    return {name: {key: (pre.get(name) or {}).get(key) for key in desired.get(name) or {}} for name in maps}


def _ovn_back(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> State | None:
    before = {mapping["localnet"]: mapping for mapping in pre.get("bridge-mappings") or ()}
    named = [mapping["localnet"] for mapping in desired.get("bridge-mappings") or ()]
    back = [copy.deepcopy(before.get(name) or {"localnet": name, "state": "absent"}) for name in named]
    back.sort(key=lambda mapping: (not is_absent(mapping), str(mapping["localnet"])))
    return {"bridge-mappings": back} if back else None
