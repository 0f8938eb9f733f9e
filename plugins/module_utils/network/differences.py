# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What differs between two states, in words: the proof that a rollback brought back what was there.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .hidden import masked
from .normal import normalised
from .shapes import key_of

NOTHING = "nothing"


def differences(a: Mapping[str, Any], b: Mapping[str, Any], called: tuple[str, str] = ("before", "now")) -> list[str]:
    """A sentence a difference, such as `eth1 mtu: before 1500, now 1400`. Empty means: the same network."""
    left, right = normalised(a), normalised(b)
    return [
        *_between_interfaces(left, right, called),
        *_between_lists("route", left.get("routes") or [], right.get("routes") or [], words_for_route, called),
        *_between_lists("rule", left.get("route-rules") or [], right.get("route-rules") or [], words_for_rule, called),
        *_between_values("dns", left.get("dns-resolver"), right.get("dns-resolver"), called),
        *(
            sentence
            for part in ("hostname", "ovs-db", "ovn")
            for sentence in _between_values(part, left.get(part), right.get(part), called)
        ),
    ]


def _between_interfaces(left: Mapping[str, Any], right: Mapping[str, Any], called: tuple[str, str]) -> Iterator[str]:
    before = {key_of(interface): interface for interface in left.get("interfaces") or ()}
    after = {key_of(interface): interface for interface in right.get("interfaces") or ()}
    for key in sorted({*before, *after}):
        name = key[0]
        if _is_gone(before.get(key)) != _is_gone(after.get(key)):
            where = called[1] if _is_gone(before.get(key)) else called[0]
            yield f"{name}: only {where}"
        elif not _is_gone(before.get(key)):
            yield from _between_values(name, before[key], after[key], called)


def _is_gone(interface: Mapping[str, Any] | None) -> bool:
    return interface is None or interface["state"] == "absent"


def _between_values(path: str, left: Any, right: Any, called: tuple[str, str]) -> Iterator[str]:
    if left == right:
        return
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in dict.fromkeys([*left, *right]):
            yield from _between_values(f"{path} {key}", left.get(key), right.get(key), called)
    else:
        last = path.rpartition(" ")[2]
        yield f"{path}: {called[0]} {words_for(masked(left, last))}, {called[1]} {words_for(masked(right, last))}"


def _between_lists(what: str, left: list[Any], right: list[Any], words: Any, called: tuple[str, str]) -> Iterator[str]:
    yield from (f"{what} {words(entry)}: only {called[0]}" for entry in left if entry not in right)
    yield from (f"{what} {words(entry)}: only {called[1]}" for entry in right if entry not in left)


def words_for(value: Any) -> str:
    if value is None or value == []:
        return NOTHING
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(words_for(one) for one in value)
    if isinstance(value, Mapping):
        return " ".join(f"{key} {words_for(one)}" for key, one in value.items())
    return str(value)


def words_for_route(route: Mapping[str, Any]) -> str:
    """`default via 192.0.2.1 dev eth1 metric 100`, as people know it from `ip route`."""
    destination = route.get("destination") or "any"
    said = {
        "": route.get("route-type"),
        "via": route.get("next-hop-address"),
        "dev": route.get("next-hop-interface"),
        "metric": route.get("metric") if route.get("metric") not in (0, -1) else None,
        "table": route.get("table-id") if route.get("table-id") not in (0, 254) else None,
    }
    start = "default" if destination in ("0.0.0.0/0", "::/0") else destination
    return " ".join([start, *(f"{word} {value}".strip() for word, value in said.items() if value is not None)])


def words_for_rule(rule: Mapping[str, Any]) -> str:
    said = {
        "priority": rule.get("priority") if rule.get("priority") != -1 else None,
        "from": rule.get("ip-from"),
        "to": rule.get("ip-to"),
        "iif": rule.get("iif"),
        "fwmark": rule.get("fwmark"),
        "table": rule.get("route-table"),
        "": rule.get("action"),
    }
    return " ".join(f"{word} {value}".strip() for word, value in said.items() if value is not None) or "any"
