# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Routes and rules: which entry means which, and in what order they are written.

Room: network (pure). Private to the collection. An `absent` entry is a pattern: what it leaves out matches
everything, and a route's metric is never looked at. So removing by pattern may take more than was meant; `same_route`
and `same_rule` take just the one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from .addresses import MAIN_TABLE, address, is_ipv6, network

Entry = dict[str, Any]

ROUTE_PATTERN = (
    "destination", "next-hop-interface", "next-hop-address", "table-id", "weight", "route-type", "cwnd", "source",
    "initcwnd", "initrwnd", "mtu", "quickack", "advmss", "lock-mtu", "vrf-name",
)  # fmt: skip
RULE_PATTERN = (
    "ip-from", "ip-to", "priority", "route-table", "fwmark", "fwmask", "iif", "action", "suppress-prefix-length",
)  # fmt: skip
# Numbers of the kernel, which nmstate sorts by.
ACTIONS = {"blackhole": 6, "unreachable": 7, "prohibit": 8}
IPV6_METRIC = 1024  # what the kernel gives an IPv6 route without one
LOOPBACK = "lo"
TEXT_FORMS: dict[str, Callable[[str], str]] = {
    "destination": network,
    "next-hop-address": address,
    "source": address,
    "ip-from": network,
    "ip-to": network,
}


def clean(entry: Mapping[str, Any]) -> Entry:
    """One spelling; an empty network is none at all."""
    found = {key: value for key, value in copy.deepcopy(dict(entry)).items() if value is not None}
    for key, form in TEXT_FORMS.items():
        if found.get(key) == "":
            del found[key]
        elif key in found:
            found[key] = form(found[key])
    return found


def without_state(entry: Mapping[str, Any]) -> Entry:
    return {key: value for key, value in entry.items() if key != "state"}


def as_absent(entry: Mapping[str, Any]) -> Entry:
    return {**entry, "state": "absent"}


# Routes


def route_matches(pattern: Mapping[str, Any], route: Mapping[str, Any]) -> bool:
    wanted = {key: pattern[key] for key in ROUTE_PATTERN if pattern.get(key) not in (None, "")}
    if wanted.get("table-id") == 0:
        del wanted["table-id"]
    return all(route.get(key) == value for key, value in wanted.items())


def route_order(route: Mapping[str, Any]) -> tuple[Any, ...]:
    """Absent ones first, IPv6 before IPv4, then by interface and destination. The metric does not count."""
    return (
        route.get("state") != "absent",
        not is_ipv6(route.get("destination") or ""),
        bool(route.get("quickack")),
        bool(route.get("lock-mtu")),
        route.get("next-hop-interface") or LOOPBACK,
        *(route.get(key) or "" for key in ("destination", "next-hop-address", "source", "vrf-name")),
        table_of(route),
        *(route.get(key) or 0 for key in ("cwnd", "initcwnd", "initrwnd", "mtu", "weight")),
        ACTIONS.get(route.get("route-type") or "", 0),
        route.get("advmss") or 0,
    )


def family_of_route(route: Mapping[str, Any]) -> str:
    return "ipv6" if is_ipv6(route.get("destination") or "") else "ipv4"


def table_of(route: Mapping[str, Any]) -> int:
    return int(route.get("table-id") or MAIN_TABLE)


def metric_of(route: Mapping[str, Any]) -> int:
    """As the kernel will have it."""
    metric = route.get("metric")
    if metric is not None and int(metric) > 0:
        return int(metric)
    return IPV6_METRIC if is_ipv6(route.get("destination") or "") else 0


def replaces_special(route: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The kernel holds one of blackhole, unreachable and prohibit a destination, table and metric: the new one wins."""
    kinds = route.get("route-type"), other.get("route-type")
    return bool(
        all(kinds)
        and kinds[0] != kinds[1]
        and route.get("destination")
        and route.get("destination") == other.get("destination")
        and table_of(route) == table_of(other)
        and metric_of(route) == metric_of(other)
    )


def same_route(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same route in whatever spelling. A metric somebody left out is the one it was given."""
    return _exact_route(one) == _exact_route(other) and _agree(one, other, "metric")


def exactly_this_route(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same down to the metric: one without is another route than one with."""
    return _exact_route(one) == _exact_route(other) and metric_of(one) == metric_of(other)


def _exact_route(route: Mapping[str, Any]) -> Entry:
    found = without_state(clean(route))
    found.pop("metric", None)
    return {**found, "table-id": table_of(found)}


def _agree(one: Mapping[str, Any], other: Mapping[str, Any], key: str) -> bool:
    left, right = one.get(key), other.get(key)
    return left == right or None in (left, right) or -1 in (left, right)


# Rules


def rule_matches(pattern: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    return all(_part_matches(key, pattern[key], rule) for key in RULE_PATTERN if pattern.get(key) is not None) and (
        not pattern.get("family") or rule.get("family") in (None, pattern["family"])
    )


def _part_matches(key: str, wanted: Any, rule: Mapping[str, Any]) -> bool:
    there = rule.get(key)
    if key in ("ip-from", "ip-to"):
        return not there if wanted == "" else there == (wanted if "/" in wanted else network(wanted))
    if (key, wanted) in (("priority", -1), ("route-table", 0)):  # both mean: whatever it is
        return True
    if key in ("priority", "fwmark", "fwmask"):
        return bool(there == wanted or (not wanted and there is None))
    return bool(there == wanted)


def rule_order(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        rule.get("state") != "absent",
        family_of(rule) == "ipv4",
        rule.get("route-table") or 0,
        rule.get("ip-from") or "",
        rule.get("ip-to") or "",
        rule["priority"] if rule.get("priority") is not None else -1,
        rule.get("fwmark") or 0,
        rule.get("fwmask") or 0,
        ACTIONS.get(rule.get("action") or "", 0),
        rule.get("suppress-prefix-length") or 0,
    )


def family_of(rule: Mapping[str, Any]) -> str:
    text = rule.get("ip-from") or rule.get("ip-to")
    if text:
        return "ipv6" if is_ipv6(text) else "ipv4"
    return str(rule.get("family") or "ipv4")


def same_rule(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same selector and action. A priority somebody left out is the one it was given."""
    return _exact_rule(one) == _exact_rule(other) and _agree(one, other, "priority")


def exactly_this_rule(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """The same down to the priority: one without is another rule than one with."""
    given = [None if rule.get("priority") == -1 else rule.get("priority") for rule in (one, other)]
    return _exact_rule(one) == _exact_rule(other) and given[0] == given[1]


def _exact_rule(rule: Mapping[str, Any]) -> Entry:
    found = without_state(clean(rule))
    found.pop("priority", None)
    found["family"] = family_of(found)
    if not found.get("action"):
        found["route-table"] = found.get("route-table") or MAIN_TABLE
    return found
