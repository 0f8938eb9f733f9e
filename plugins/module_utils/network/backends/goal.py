# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a policy leads from here: every interface, route, rule and resolver as it shall be, and what is not so yet.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..after import dns_after, interface_after, routes_after, rules_after
from ..differences import words_for, words_for_route, words_for_rule
from ..entries import Entry, clean, same_route, same_rule
from ..ip_blocks import is_automatic
from ..merging import Merged, merge
from ..normal import SHOWN_ONLY, normal_block
from ..shapes import FAMILIES, HARDWARE, Interface, Key, State, by_key, entries_of, port_name, state_of
from ..typed import typed

MAY_DIFFER = ("name", "type", *SHOWN_ONLY)


@dataclass(frozen=True)
class Goal:
    pre: State
    interfaces: dict[Key, Merged]
    routes: list[Entry]
    rules: list[Entry]
    dns: dict[str, list[str]]
    gone_routes: list[Entry]
    gone_rules: list[Entry]

    @property
    def touched(self) -> list[Merged]:
        return [one for one in self.interfaces.values() if one.touched]

    @property
    def changes_dns(self) -> bool:
        return self.dns != dns_after(self.pre, {})


def goal_of(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> Goal:
    """Raises `BadOption` for a policy that can never be applied."""
    desired, pre = typed(desired), typed(pre)
    merged = merge(desired, pre)
    routes, rules = routes_after(pre, desired, merged), rules_after(pre, desired)
    had_routes = [clean(one) for one in entries_of(pre, "routes")]
    had_rules = [clean(one) for one in entries_of(pre, "route-rules")]
    return Goal(
        pre,
        merged,
        routes,
        rules,
        dns_after(pre, desired),
        [one for one in had_routes if not any(same_route(one, other) for other in routes)],
        [one for one in had_rules if not any(same_rule(one, other) for other in rules)],
    )


def not_reached(goal: Goal, now: Mapping[str, Any]) -> list[str]:
    """For people: what is not as the policy wants it."""
    now = typed(now)
    there = by_key(now)
    told = [word for one in goal.touched for word in _of_interface(one, there.get(_key(one)))]
    routes = [clean(one) for one in entries_of(now, "routes")]
    rules = [clean(one) for one in entries_of(now, "route-rules")]
    downed = {one.after["name"] for one in goal.touched if not one.is_up}
    told += [
        f"route {words_for_route(one)} is not there"
        for one in goal.routes
        if one.get("next-hop-interface") not in downed and not any(same_route(one, other) for other in routes)
    ]
    told += [f"route {words_for_route(one)} is still there" for one in goal.gone_routes if one in routes]
    told += [
        f"rule {words_for_rule(one)} is not there" for one in goal.rules if not any(same_rule(one, r) for r in rules)
    ]
    told += [f"rule {words_for_rule(one)} is still there" for one in goal.gone_rules if one in rules]
    dns = dns_after(now, {})
    if dns != goal.dns:
        told.append(f"dns is {words_for(dns) or 'empty'} instead of {words_for(goal.dns) or 'empty'}")
    return told


def _key(one: Merged) -> Key:
    return one.after["name"], False


def _of_interface(one: Merged, now: Interface | None) -> Iterator[str]:
    name = one.after["name"]
    if one.is_gone:
        if now is not None and (one.after["type"] not in HARDWARE or now.get("veth")):
            yield f"{name} is still there"
        return
    if now is None:
        yield f"{name} is not there"
        return
    if not one.is_up:
        if state_of(now) == "up":
            yield f"{name} is up"
        return
    wanted, said = interface_after(one), one.apply or {}
    for key in said:
        if key in MAY_DIFFER:
            continue
        if key in FAMILIES:
            yield from _of_family(name, key, wanted[key], now.get(key) or {})
        elif key == "mac-address":
            if str(said[key]).upper() != str(now.get(key)).upper():
                yield f"{name} {key} is {now.get(key)} instead of {said[key]}"
        elif (said[key] or now.get(key)) and not _holds(now.get(key), said[key]):
            yield f"{name} {key} is {words_for(now.get(key))} instead of {words_for(said[key])}"


def _of_family(name: str, family: str, wanted: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    left, right = normal_block(family, wanted), normal_block(family, now)
    keys = ("enabled", "dhcp", "autoconf") if is_automatic(wanted) else ("enabled", "dhcp", "autoconf", "address")
    if family == "ipv4" and not is_automatic(wanted) and not left.get("address") and not right.get("address"):
        return  # IPv4 without an address is off, however it is said
    for key in keys:
        if left.get(key, []) != right.get(key, []):
            yield f"{name} {family} {key} is {words_for(right.get(key))} instead of {words_for(left.get(key))}"


def _holds(now: Any, wanted: Any) -> bool:
    """Mappings hold what is wanted and may hold more; of ports, their names and settings count, not their order."""
    if isinstance(wanted, Mapping):
        return isinstance(now, Mapping) and all(_holds(now.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(now, list):
        ports = {port_name(one): one for one in now}
        return {port_name(one) for one in wanted} == set(ports) and all(
            not isinstance(one, Mapping) or _holds(ports[port_name(one)], one) for one in wanted
        )
    return bool(now == wanted)
