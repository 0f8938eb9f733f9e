# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Routes and rules in a profile: out of its text, and as its text. What we do not know in an entry stays as it was.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..addresses import MAIN_TABLE, is_ipv6
from ..entries import clean
from .kernel_entries import rule_words
from .nm_command import Profile

_EVERYWHERE = {"ipv4": "0.0.0.0/0", "ipv6": "::/0"}
_RULE_KEYS = {"from": "ip-from", "to": "ip-to", "priority": "priority", "table": "route-table", "iif": "iif"}
_ATTRIBUTES = {"table": "table-id", "src": "source"}  # of a route; others stay unread
_NUMBERS = frozenset({"priority", "route-table"})


@dataclass(frozen=True)
class Line:
    """One entry of a list in a profile."""

    entry: Mapping[str, Any]
    text: str


def routes_in(profile: Profile, family: str, interface: str) -> list[Line]:
    """Its gateway is a route, too."""
    table = int(profile.get(f"{family}.route-table") or 0) or MAIN_TABLE
    found = [_route(text, interface, table) for text in _texts(profile.get(f"{family}.routes"))]
    gateway = profile.get(f"{family}.gateway")
    if gateway:
        entry = {"destination": _EVERYWHERE[family], "next-hop-address": gateway}
        found.append(_route(route_text(entry), interface, table))
    return found


def _route(text: str, interface: str, table: int) -> Line:
    destination, *words = text.split()
    entry: dict[str, Any] = {"destination": destination, "next-hop-interface": interface, "table-id": table}
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            entry.update({_ATTRIBUTES[key]: int(value) if value.isdigit() else value} if key in _ATTRIBUTES else {})
        elif word.isdigit():
            entry["metric"] = int(word)
        else:
            entry["next-hop-address"] = word
    return Line(clean(entry), text)


def route_text(route: Mapping[str, Any]) -> str:
    words = [route["destination"], route.get("next-hop-address")]
    words.append(str(route["metric"]) if (route.get("metric") or -1) >= 0 else None)
    words.append(f"table={route['table-id']}" if route.get("table-id") not in (None, 0, MAIN_TABLE) else None)
    words.append(f"src={route['source']}" if route.get("source") else None)
    return " ".join(str(word) for word in words if word)


def rules_in(profile: Profile, family: str) -> list[Line]:
    return [Line(_rule(text, family), text) for text in _texts(profile.get(f"{family}.routing-rules"))]


def _rule(text: str, family: str) -> dict[str, Any]:
    words = text.split()
    entry: dict[str, Any] = {"family": family}
    for number, value in enumerate(words[1:]):
        word = words[number]
        if word in _RULE_KEYS and value not in _EVERYWHERE.values():
            entry[_RULE_KEYS[word]] = int(value) if _RULE_KEYS[word] in _NUMBERS else value
        elif word == "fwmark":
            mark, _slash, mask = value.partition("/")
            entry.update({"fwmark": int(mark, 0), **({"fwmask": int(mask, 0)} if mask else {})})
    return clean(entry)


def rule_text(rule: Mapping[str, Any]) -> str:
    """A profile's rule needs a priority and a selector, even if that is everything."""
    family = "ipv6" if is_ipv6(str(rule.get("ip-from") or rule.get("ip-to") or "")) else rule.get("family") or "ipv4"
    words = rule_words(rule, "")[3:]
    return " ".join(words if {"from", "to"} & set(words) else [*words[:2], "from", _EVERYWHERE[family], *words[2:]])


def _texts(value: str) -> Iterator[str]:
    yield from (text.strip() for text in value.split(",") if text.strip())
