# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The normal form of a state: what two descriptions of the same network have in common.

Room: network (pure). Private to the collection. Leases, link-local addresses, counters and spelling are left out,
defaults are filled in, and what has no order is sorted. For comparing and showing; a normal form is never applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .addresses import MAIN_TABLE, cidr
from .entries import clean, family_of, metric_of, route_order, rule_order
from .ip_blocks import is_automatic, settled
from .shapes import (
    FAMILIES,
    PORT_LISTS,
    Interface,
    State,
    by_key,
    entries_of,
    is_absent,
    port_name,
    ports_of,
    set_ports,
)
from .typed import typed
from .upstream import dns_lists

# What a query shows and nobody configures, or what changes by itself.
SHOWN_ONLY = frozenset({
    "permanent-mac-address", "max-mtu", "min-mtu", "driver", "statistics", "neighbors", "profile-name", "identifier",
    "pci-address", "wait-ip", "alt-names",
})  # fmt: skip
# What nmstate shows of an interface NetworkManager manages and not of another one: being this means nothing.
INTERFACE_DEFAULTS: dict[str, Any] = {
    "lldp": {"enabled": False},
    "mptcp": {"address-flags": []},
    "accept-all-mac-addresses": False,
    "description": "",
    "controller": "",
}
BLOCK_DEFAULTS: dict[str, Any] = {
    "prefix-route-metric": -1,
    "auto-route-metric": -1,
    "auto-route-table-id": 0,
    "addr-gen-mode": "eui64",
    "forwarding": False,
    "dhcp-send-hostname": True,
    "allow-extra-address": True,
}
ONLY_OF_LEASES = ("dhcp-duid", "dhcp-client-id")
TIMERS = frozenset({"hello-timer", "gc-timer", "tcn-timer", "topology-change-timer"})


def normalised(state: Mapping[str, Any]) -> State:
    """Two states are the same network if their normal forms are equal."""
    state = typed(state)
    config = (state.get("dns-resolver") or {}).get("config") or {}
    parts: dict[str, Any] = {
        "interfaces": [normal_interface(interface) for _key, interface in sorted(by_key(state).items())],
        "routes": sorted((normal_route(route) for route in entries_of(state, "routes")), key=_exact_route_order),
        "route-rules": sorted((normal_rule(rule) for rule in entries_of(state, "route-rules")), key=rule_order),
        "dns-resolver": {key: value for key, value in dns_lists(config).items() if value},
        "hostname": (state.get("hostname") or {}).get("config"),
        "ovs-db": state.get("ovs-db"),
        "ovn": state.get("ovn"),
    }
    return {part: value for part, value in parts.items() if value}


def normal_interface(interface: Interface) -> Interface:
    """Of an interface that is not there, only that it is not there."""
    if is_absent(interface):
        return {key: interface[key] for key in ("name", "type", "state")}
    found = {key: _plain(value) for key, value in interface.items() if key not in SHOWN_ONLY}
    for family in FAMILIES:
        found[family] = normal_block(family, interface.get(family) or {})
    if found["type"] == "loopback":  # makes no address by itself, whichever way is shown
        found["ipv6"].pop("addr-gen-mode", None)
    if "mac-address" in found:
        found["mac-address"] = str(found["mac-address"]).upper()
    _drop_defaults(found, INTERFACE_DEFAULTS)
    if ports_of(found) is not None:
        block, key = PORT_LISTS[found["type"]]
        set_ports(found, sorted(found[block][key], key=port_name))
    return found


def normal_block(family: str, block: Mapping[str, Any]) -> dict[str, Any]:
    """A family that is off is only that. Order of addresses counts: the first one is the primary."""
    enabled = bool(block.get("enabled"))
    if not enabled:
        return {"enabled": False}
    found = {**settled(family, dict(block), enabled), "enabled": True}
    found["address"] = [cidr(entry) for entry in found.get("address") or ()]
    found["dhcp"] = found.get("dhcp") is True
    if family == "ipv6":
        found["autoconf"] = found.get("autoconf") is True
    if not found["address"] and is_automatic(found):
        del found["address"]
    for key in ONLY_OF_LEASES if not is_automatic(found) else ():
        found.pop(key, None)
    _drop_defaults(found, BLOCK_DEFAULTS)
    return found


def _drop_defaults(found: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        if key in found and (found[key] == value or found[key] is None):
            del found[key]


def normal_route(route: Mapping[str, Any]) -> dict[str, Any]:
    found = clean(route)
    return {**found, "table-id": found.get("table-id") or MAIN_TABLE, "metric": metric_of(found)}


def normal_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    found = {**clean(rule), "family": family_of(rule)}
    if not found.get("action"):
        found["route-table"] = found.get("route-table") or MAIN_TABLE
    return found


def _exact_route_order(route: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*route_order(route), route["metric"])


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items() if key not in TIMERS}
    return [_plain(one) for one in value] if isinstance(value, list) else value
