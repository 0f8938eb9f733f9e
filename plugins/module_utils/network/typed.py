# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A document with one type for each value: `"1500"` is 1500, `"true"` is true, nothing is left out, old names are new.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from .shapes import Interface, State, state_of, type_of

NUMBERS = frozenset({
    "mtu", "prefix-length", "metric", "table-id", "weight", "cwnd", "initcwnd", "initrwnd", "advmss", "priority",
    "route-table", "fwmark", "fwmask", "auto-route-table-id", "auto-route-metric", "prefix-route-metric", "total-vfs",
    "id", "route-table-id", "suppress-prefix-length",
})  # fmt: skip
SWITCHES = frozenset({
    "enabled", "dhcp", "autoconf", "auto-dns", "auto-gateway", "auto-routes", "allow-extra-address", "quickack",
    "lock-mtu", "dhcp-send-hostname", "forwarding", "accept-all-mac-addresses",
})  # fmt: skip
# Block of a kind, its old name, and old names of the keys in it.
OLD_NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "bond": ("link-aggregation", {"ports": "port", "slaves": "port"}),
    "vrf": ("vrf", {"ports": "port"}),
}


def typed(state: Mapping[str, Any]) -> State:
    """A copy in which equal values are equal. The order and the meaning stay."""
    found: State = {key: _typed_block(key, value) for key, value in state.items() if value is not None}
    if "interfaces" in found:
        found["interfaces"] = [_typed_interface(interface) for interface in found["interfaces"]]
    return found


def _typed_interface(interface: Interface) -> Interface:
    kind = type_of(interface)
    if kind == "bond" and "bond" in interface:
        interface.setdefault("link-aggregation", interface.pop("bond"))
    block, renamed = OLD_NAMES.get(kind, ("", {}))
    for old, new in renamed.items():
        if old in interface.get(block, {}):
            interface[block].setdefault(new, interface[block].pop(old))
    return {**interface, "type": kind, "state": state_of(interface)}


def _typed_block(key: str, value: Any) -> Any:
    # Open vSwitch tables are free maps of text, where nothing means: delete this key.
    return copy.deepcopy(value) if key == "ovs-db" else _typed_value(key, value)


def _typed_value(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _typed_block(k, v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_typed_value("", one) for one in value]
    convert = next((convert for names, convert in CONVERSIONS if key in names), None)
    return convert(value) if convert and isinstance(value, str) else value


def _number(text: str) -> Any:
    try:
        return int(text, 0)
    except ValueError:
        return text


def _switch(text: str) -> Any:
    return {"true": True, "false": False}.get(text.lower(), text)


MAC_ADDRESSES = frozenset({"mac-address"})


CONVERSIONS: tuple[tuple[frozenset[str], Callable[[str], Any]], ...] = (
    (NUMBERS, _number),
    (SWITCHES, _switch),
    (MAC_ADDRESSES, str.upper),
)
