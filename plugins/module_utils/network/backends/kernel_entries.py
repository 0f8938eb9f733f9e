# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Routes and rules: out of the kernel's words, and as words of `ip`.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..addresses import MAIN_TABLE, is_ipv6
from ..entries import ACTIONS, family_of, family_of_route

Entry = dict[str, Any]
FAMILY_NUMBERS = {"ipv4": 4, "ipv6": 6}
_UNICAST, _BOOT, _STATIC, _KERNEL, _REDIRECT = 1, 3, 4, 2, 1
_CONFIGURED = frozenset({_BOOT, _STATIC})  # somebody wrote it; a lease, a router or a routing daemon has its own number
_LOCAL_TABLE = 255
_TYPES = {number: name for name, number in ACTIONS.items()}
_EVERYWHERE = {4: "0.0.0.0/0", 6: "::/0"}
_LENGTHS = {4: 32, 6: 128}
_BUILT_IN = frozenset({(0, 255), (32766, 254), (32767, 253)})
_RULE_KEYS = frozenset({"priority", "src", "srclen", "dst", "dstlen", "table", "protocol", "action", "iif", "fwmark",
                        "fwmask", "suppress_prefixlen"})  # fmt: skip


def is_configured(route: Mapping[str, Any]) -> bool:
    """A route over several ways is left to whoever made it."""
    return int(route["protocol"]) in _CONFIGURED and "nexthops" not in route


def counts(route: Mapping[str, Any]) -> bool:
    """Not what the kernel keeps by itself as long as there are addresses."""
    kind = int(route.get("type", _UNICAST))
    own = int(route["protocol"]) in (_KERNEL, _REDIRECT) or int(route["table"]) == _LOCAL_TABLE
    return not own and (kind == _UNICAST or kind in _TYPES)


def routes_of(family: int, route: Mapping[str, Any]) -> list[Entry]:
    """In a document's words; one over several ways is several entries."""
    ways: list[Entry] = route.get("nexthops") or [{}]
    return [_route(family, {**route, **way}) for way in ways]


def _route(family: int, one: Mapping[str, Any]) -> Entry:
    special = _TYPES.get(int(one.get("type", _UNICAST)))
    found = {
        "destination": _network(family, one["dst"]),
        "next-hop-interface": None if special else one.get("dev"),
        "next-hop-address": one.get("gateway") or (one.get("via") or {}).get("host"),
        "metric": one.get("metric"),
        "table-id": int(one["table"]),
        "source": one.get("prefsrc"),
        "route-type": special,
        "weight": one.get("weight") if one.get("nexthops") else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _network(family: int, text: str) -> str:
    if text == "default":
        return _EVERYWHERE[family]
    return text if "/" in text else f"{text}/{_LENGTHS[family]}"


def rule_of(family: int, one: Mapping[str, Any]) -> Entry | None:
    """None for the kernel's own, and for what a document has no words for: nobody may touch it by mistake."""
    table = int(one["table"]) if "table" in one else None
    if (one.get("priority"), table) in _BUILT_IN or set(one) - _RULE_KEYS:
        return None
    found = {
        "family": f"ipv{family}",
        "ip-from": _selector(family, one, "src"),
        "ip-to": _selector(family, one, "dst"),
        "priority": one.get("priority"),
        "route-table": table,
        "iif": one.get("iif"),
        "fwmark": one.get("fwmark"),
        "fwmask": one.get("fwmask"),
        "action": _TYPES.get(int(one["action"])) if "action" in one else None,
        "suppress-prefix-length": one.get("suppress_prefixlen"),
    }
    return {key: value for key, value in found.items() if value is not None}


def _selector(family: int, one: Mapping[str, Any], key: str) -> str | None:
    if one.get(key) in (None, "all"):
        return None
    return f"{one[key]}/{one.get(f'{key}len', _LENGTHS[family])}"


def route_words(route: Mapping[str, Any], action: str) -> list[str]:
    """One command. What is deleted is named as far as it is known, so that it is this one and no other."""
    named = [
        [str(route.get("route-type") or "")],
        [str(route["destination"])],
        _named(route, "next-hop-address", "via"),
        _named(route, "next-hop-interface", "dev"),
        ["table", str(route.get("table-id") or MAIN_TABLE)],
        _named(route, "metric", "metric") if (route.get("metric") or -1) > 0 else [],
        _named(route, "source", "src"),
        [] if action == "delete" else ["proto", "static"],
    ]
    family = FAMILY_NUMBERS[family_of_route(route)]
    return [f"-{family}", "route", action, *(word for part in named for word in part if word)]


def rule_words(rule: Mapping[str, Any], action: str) -> list[str]:
    named = [
        _named(rule, "priority", "priority") if rule.get("priority") not in (None, -1) else [],
        _named(rule, "ip-from", "from"),
        _named(rule, "ip-to", "to"),
        _named(rule, "iif", "iif"),
        ["fwmark", _mark(rule)] if rule.get("fwmark") is not None else [],
        [str(rule["action"])] if rule.get("action") else ["table", str(rule.get("route-table") or MAIN_TABLE)],
        _named(rule, "suppress-prefix-length", "suppress_prefixlength"),
    ]
    return [f"-{FAMILY_NUMBERS[family_of(rule)]}", "rule", action, *(word for part in named for word in part)]


def _mark(rule: Mapping[str, Any]) -> str:
    mask = rule.get("fwmask")
    return f"{rule['fwmark']}/{mask}" if mask is not None else str(rule["fwmark"])


def _named(entry: Mapping[str, Any], key: str, word: str) -> list[str]:
    return [word, str(entry[key])] if entry.get(key) not in (None, "") else []


def place_of(route: Mapping[str, Any]) -> tuple[bool, str, int, int]:
    """Where the kernel has room for one route: a second one replaces it."""
    return is_ipv6(route["destination"]), route["destination"], route["table-id"], int(route.get("metric") or 0)
