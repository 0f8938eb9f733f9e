# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a policy does to the interfaces that are there, also to those it does not name.

Room: network (pure). Private to the collection. Ports of a new bridge lose their addresses, a VLAN goes with the bond
below it, both ends of a veth go together: the rules by which nmstate extends a policy before applying it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..problems import BadOption
from .ip_blocks import merged_block, settled
from .shapes import (
    FAMILIES,
    PORT_LISTS,
    Interface,
    Key,
    as_port,
    by_key,
    parent_of,
    peer_of,
    port_blocks_of,
    port_name,
    ports_of,
    set_ports,
    state_of,
    type_of,
)
from .typed import typed

QUERY_ONLY = ("permanent-mac-address", "max-mtu", "min-mtu", "copy-mac-from", "driver")


@dataclass
class Merged:
    """One interface: what the policy says of it, what is there, what will be sent, and what will be there."""

    desired: Interface | None
    current: Interface | None
    apply: Interface | None
    after: Interface

    @property
    def touched(self) -> bool:
        return self.apply is not None

    @property
    def is_up(self) -> bool:
        return state_of(self.after) == "up"

    @property
    def is_gone(self) -> bool:
        return state_of(self.after) == "absent"

    def touch(self, state: str) -> Interface:
        """Include it although the policy does not name it."""
        if self.apply is None:
            self.apply = name_and_type(self.after)
            _keep_controller(self)
        if self.desired is None and state in ("up", "absent"):
            self.apply["state"] = self.after["state"] = state
        return self.apply


def merge(desired: Mapping[str, Any], pre: Mapping[str, Any]) -> dict[Key, Merged]:
    """Every interface of both documents. Raises `BadOption` for a policy that can never be applied."""
    wanted, there = by_key(typed(desired)), by_key(typed(pre))
    wanted = {key: _with_known_type(interface, there) for key, interface in wanted.items()}
    wanted = {(name, user): interface for (name, user), interface in wanted.items() if interface["type"] != "nothing"}
    _manage_ports_of_new_controllers(wanted, there)
    ignored = _ignored(wanted, there)
    wanted, there = _without(wanted, ignored), _without(there, ignored)
    merged = {
        key: _merged(wanted.get(key), there.get(key)) for key in [*wanted, *(k for k in there if k not in wanted)]
    }
    _refuse_ports_of_two(wanted)
    _move_ports(merged)
    _list_moved_ports(merged)
    _refuse_ports_with_addresses(merged)
    _drop_what_stood_on(merged)
    _refuse_missing_hardware(merged)
    _drop_veth_peers(merged)
    for one in merged.values():
        _settle(one)
    return merged


def name_and_type(interface: Mapping[str, Any], state: str = "up") -> Interface:
    return {"name": interface["name"], "type": type_of(interface), "state": state}


def holds_no_address(interface: Mapping[str, Any], controller_type: str | None = None) -> bool:
    """Ports carry no addresses, except those of a VRF or of an Open vSwitch bridge's own interface."""
    return bool(interface.get("controller")) and type_of(interface) != "ovs-interface" and controller_type != "vrf"


def _with_known_type(interface: Interface, there: Mapping[Key, Interface]) -> Interface:
    if interface["type"] != "unknown" or interface["state"] == "ignore":
        return interface
    found = [other for (name, _user), other in there.items() if name == interface["name"]]
    if interface["state"] == "absent":
        return name_and_type(found[0], "absent") if found else {**interface, "type": "nothing"}
    if len(found) != 1:
        why = "there is no such interface" if not found else "there are two of this name"
        raise BadOption(
            "bad policy: interface", which=interface["name"], why=why, next_step="name its type, or mend it"
        )
    return {**interface, "type": found[0]["type"]}


def _manage_ports_of_new_controllers(wanted: dict[Key, Interface], there: Mapping[Key, Interface]) -> None:
    """An unmanaged interface becomes managed when a policy makes it a port."""
    unmanaged = {key for key, interface in there.items() if interface["state"] == "ignore"}
    for key, controller in list(wanted.items()):
        if controller["state"] != "up":
            continue
        before = {(port, False) for port in ports_of(there.get(key, {})) or ()}
        for port in ((name, False) for name in ports_of(controller) or ()):
            if port in unmanaged and port not in wanted and not before & unmanaged:
                wanted[port] = name_and_type(there[port])


def _ignored(wanted: Mapping[Key, Interface], there: Mapping[Key, Interface]) -> set[Key]:
    said = {key for key, interface in wanted.items() if interface["state"] == "ignore"}
    return said | {key for key, interface in there.items() if interface["state"] == "ignore" and key not in wanted}


def _without(interfaces: Mapping[Key, Interface], ignored: set[Key]) -> dict[Key, Interface]:
    left = {key: interface for key, interface in interfaces.items() if key not in ignored}
    for interface in left.values():
        if ports_of(interface) is not None:
            block, key = PORT_LISTS[interface["type"]]
            set_ports(interface, [port for port in interface[block][key] if (port_name(port), False) not in ignored])
    return left


def _merged(desired: Interface | None, current: Interface | None) -> Merged:
    if desired and current and desired["type"] != current["type"]:
        why = f"the policy says {desired['type']}, but there is one of type {current['type']}"
        raise BadOption("bad policy: interface", which=desired["name"], why=why, next_step="choose another name")
    after = over(desired or {}, current or {})
    if desired and current and ports_of(desired) is not None and desired["type"] in PORT_LISTS:
        there = port_blocks_of(current)
        set_ports(after, [over(port, there.get(name, port)) for name, port in port_blocks_of(desired).items()])
    return Merged(desired, current, copy.deepcopy(desired), after)


def over(upper: Any, lower: Any) -> Any:
    """Mappings key by key; anything else as a whole."""
    if not (isinstance(upper, Mapping) and isinstance(lower, Mapping)):
        return copy.deepcopy(upper)
    both = {key: over(upper[key], lower[key]) if key in lower else copy.deepcopy(upper[key]) for key in upper}
    return {**both, **{key: copy.deepcopy(value) for key, value in lower.items() if key not in upper}}


def _refuse_ports_of_two(wanted: Mapping[Key, Interface]) -> None:
    taken: dict[str, str] = {}
    for controller in wanted.values():
        for port in (ports_of(controller) or ()) if controller["state"] == "up" else ():
            other = taken.setdefault(port, controller["name"])
            if other != controller["name"]:
                why = f"the policy makes it a port of both {other} and {controller['name']}"
                raise BadOption("bad policy: interface", which=port, why=why, next_step="choose one of them")


def _move_ports(merged: dict[Key, Merged]) -> None:
    moves: dict[str, tuple[str, str | None, str]] = {}
    for one in merged.values():
        if one.desired is None or type_of(one.after) not in PORT_LISTS:
            continue
        has = set(ports_of(one.current or {}) or ())
        shall = _ports_after(one.desired, has)
        moves.update({port: (one.after["name"], type_of(one.after), state_of(one.after)) for port in shall - has})
        for port in has - shall:
            moves.setdefault(port, ("", None, state_of(one.after)))
    _follow_named_controllers(merged, moves)
    for port, (controller, controller_type, state) in moves.items():
        if (port, False) in merged:
            _hand_over(merged[port, False], controller, controller_type, state)
        elif controller and controller_type != "ovs-bridge":
            raise BadOption("bad policy: interface", which=controller, why=f"its port {port} is not there")


def _list_moved_ports(merged: Mapping[Key, Merged]) -> None:
    """An interface has one controller: whoever gets it has it in its list, and the one before no longer does."""
    for (name, _user), one in merged.items():
        before, after = ((found or {}).get("controller") or "" for found in (one.current, one.after))
        if before == after:
            continue
        for controller in merged.values():
            listed = port_blocks_of(controller.after)
            if controller.after["name"] != after and name in listed:
                set_ports(controller.after, [port for other, port in listed.items() if other != name])
            elif controller.after["name"] == after and name not in listed and type_of(controller.after) in PORT_LISTS:
                set_ports(controller.after, [*listed.values(), as_port(controller.after, name)])


def _ports_after(desired: Interface, has: set[str]) -> set[str]:
    if state_of(desired) == "absent":
        return set()
    named = ports_of(desired)
    return has if named is None else set(named)


def _follow_named_controllers(merged: Mapping[Key, Merged], moves: dict[str, tuple[str, str | None, str]]) -> None:
    """A port may name its controller instead of being listed there."""
    for (name, _user), one in merged.items():
        controller = (one.desired or {}).get("controller")
        if not controller or not one.is_up or moves.get(name, ("",))[0]:
            continue
        found = merged.get((controller, True)) or merged.get((controller, False))
        if found is None:
            raise BadOption("bad policy: interface", which=name, why=f"its controller {controller} is not there")
        moves[name] = (controller, type_of(found.after), state_of(found.after))


def _hand_over(port: Merged, controller: str, controller_type: str | None, state: str) -> None:
    apply = port.touch(state if state == "up" and not port.touched else "")
    if not controller and type_of(port.after) == "ovs-interface":
        apply["state"] = port.after["state"] = "absent"
        return
    apply["controller"] = port.after["controller"] = controller
    if holds_no_address(port.after, controller_type):
        for family in FAMILIES:
            port.after[family] = {"enabled": False}


def _refuse_ports_with_addresses(merged: Mapping[Key, Merged]) -> None:
    for (name, _user), one in merged.items():
        controller = (one.apply or {}).get("controller") or (one.current or {}).get("controller")
        on = any((one.desired or {}).get(family, {}).get("enabled") for family in FAMILIES)
        if on and one.is_up and (one.apply or {}).get("controller") != "" and _is_plain_port(one, controller, merged):
            why = f"it is a port of {controller}, and ports hold no addresses"
            raise BadOption("bad policy: interface", which=name, why=why, next_step=f"give them to {controller}")


def _is_plain_port(one: Merged, controller: str | None, merged: Mapping[Key, Merged]) -> bool:
    found = merged.get((controller or "", True)) or merged.get((controller or "", False))
    return holds_no_address({**one.after, "controller": controller}, type_of(found.after) if found else None)


def _drop_what_stood_on(merged: Mapping[Key, Merged]) -> None:
    # A VLAN can stay on an ethernet interface that is "absent": hardware does not go away.
    gone = {
        one.after["name"] for one in merged.values() if one.touched and one.is_gone and type_of(one.after) != "ethernet"
    }
    for one in merged.values():
        parent = parent_of(one.after)
        if parent not in gone or not one.is_up or type_of(one.after) == "ovs-interface":
            continue
        if one.desired is not None:
            raise BadOption("bad policy: interface", which=one.after["name"], why=f"it stands on {parent}, which goes")
        one.touch("absent")


def _refuse_missing_hardware(merged: Mapping[Key, Merged]) -> None:
    peers = {peer_of(one.after) for one in merged.values() if one.is_up}
    for (name, _user), one in merged.items():
        missing = one.current is None and one.is_up and type_of(one.after) == "ethernet"
        if missing and not peer_of(one.after) and name not in peers:
            why = "there is no such interface, and an ethernet interface cannot be created"
            raise BadOption("bad policy: interface", which=name, why=why, next_step="mend its name or type")


def _drop_veth_peers(merged: Mapping[Key, Merged]) -> None:
    for one in list(merged.values()):
        before = peer_of(one.current or {})
        if one.desired is None or not before or (before, False) not in merged:
            continue
        wanted = peer_of(one.desired)
        if one.is_gone or (one.is_up and wanted and wanted != before):
            merged[before, False].touch("absent")


def _keep_controller(one: Merged) -> None:
    before = (one.current or {}).get("controller")
    if one.apply is not None and before and one.apply.get("controller") is None:
        one.apply["controller"] = before


def _settle(one: Merged) -> None:
    """What is left out gets its value, and what only a query shows is dropped."""
    if one.apply is None:
        return
    _keep_controller(one)
    current = one.current or {}
    for family in FAMILIES:
        if family in one.apply:
            before = current.get(family)
            block, enabled = merged_block(family, one.apply[family], before)
            one.apply[family] = settled(family, block, enabled)
            if not holds_no_address(one.after):
                # Flags of a lease that the policy leaves out are not those of before: they are on.
                both = over(one.apply[family], before or {})
                one.after[family] = {**settled(family, both, enabled), "enabled": enabled}
    if type_of(one.apply) == "vlan" and "vlan" in one.apply:
        _settle_vlan(one.apply["vlan"], current.get("vlan") or {})
    if "mac-address" in one.apply:
        one.apply["mac-address"] = one.apply["mac-address"].upper()
    for key in QUERY_ONLY:
        one.apply.pop(key, None)
    if ports_of(one.apply) is not None:
        block_name, key = PORT_LISTS[one.apply["type"]]
        set_ports(one.apply, sorted(one.apply[block_name][key], key=port_name))


def _settle_vlan(vlan: dict[str, Any], current: Mapping[str, Any]) -> None:
    if current.get("reorder-headers") is not False:
        vlan.setdefault("reorder-headers", True)
    if "base-iface" in current:
        vlan.setdefault("base-iface", current["base-iface"])
