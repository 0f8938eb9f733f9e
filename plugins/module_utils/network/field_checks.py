# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may stand in an nmstate document, as far as we act on it. Each complaint names its field by path.

Room: network (pure). Private to the collection. Keys we do not act on pass: nmstate knows more of them than we do,
and refuses them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..problems import BadFields
from .addresses import address, is_ipv6, network
from .shapes import FAMILIES, PORT_LISTS, key_of

TOP = {
    "interfaces", "routes", "route-rules", "dns-resolver", "hostname", "ovs-db", "ovn", "description", "override-iface",
}  # fmt: skip
INTERFACE_STATES = ("up", "down", "absent", "ignore")
ENTRY_STATES = ("absent", "ignore")
ROUTE_TYPES = ("blackhole", "unreachable", "prohibit")
BITS = {"ipv4": 32, "ipv6": 128}

Check = Callable[[Any], str]  # a complaint, or nothing


def check_state(state: Mapping[str, Any], path: str, bad: BadFields) -> None:
    for key in state:
        if key not in TOP:
            bad.add(f"{path}.{key}", f"unknown; there are {', '.join(sorted(TOP))}")
    for where, interface in _blocks(state, "interfaces", path, bad):
        _check_interface(interface, where, bad)
    _complain_about_twins(state, path, bad)
    for which in ("config", "running"):
        for where, route in _blocks(_block(state, "routes", path, bad), which, f"{path}.routes", bad):
            _check_fields(route, ROUTE, where, bad)
        for where, rule in _blocks(_block(state, "route-rules", path, bad), which, f"{path}.route-rules", bad):
            _check_fields(rule, RULE, where, bad)
    dns = _block(state, "dns-resolver", path, bad)
    for which in ("config", "running"):
        _check_fields(_block(dns, which, f"{path}.dns-resolver", bad), DNS, f"{path}.dns-resolver.{which}", bad)
    _block(state, "hostname", path, bad)


def _check_interface(interface: Mapping[str, Any], path: str, bad: BadFields) -> None:
    if not interface.get("name"):
        bad.add(f"{path}.name", "missing")
        return
    _check_fields(interface, INTERFACE, path, bad)
    for family in FAMILIES:
        block = _block(interface, family, path, bad)
        _check_fields(block, FLAGS, f"{path}.{family}", bad)
        for where, entry in _blocks(block, "address", f"{path}.{family}", bad):
            _check_address(entry, family, where, bad)
    place = PORT_LISTS.get(str(interface.get("type")))
    if place:
        _check_ports(_block(interface, place[0], path, bad), place[1], f"{path}.{place[0]}", bad)


def _check_address(entry: Mapping[str, Any], family: str, path: str, bad: BadFields) -> None:
    if complaint := an_address(entry.get("ip", "")):
        bad.add(f"{path}.ip", complaint)
    elif is_ipv6(str(entry["ip"])) != (family == "ipv6"):
        bad.add(f"{path}.ip", f"{entry['ip']} does not belong under {family}")
    if complaint := _a_number(0, BITS[family])(entry.get("prefix-length")):
        bad.add(f"{path}.prefix-length", complaint)


def _check_ports(block: Mapping[str, Any], key: str, path: str, bad: BadFields) -> None:
    ports = block.get(key)
    if ports is None:
        return
    if not isinstance(ports, list):
        bad.add(f"{path}.{key}", "must be a list")
        return
    for i, port in enumerate(ports):
        if not (port.get("name") if isinstance(port, Mapping) else isinstance(port, str) and port):
            bad.add(f"{path}.{key}[{i}]", "must name an interface")


def _complain_about_twins(state: Mapping[str, Any], path: str, bad: BadFields) -> None:
    """Two blocks for one interface: nmstate takes the last and says nothing."""
    seen: dict[Any, int] = {}
    interfaces = state.get("interfaces")
    for i, interface in enumerate(interfaces if isinstance(interfaces, list) else ()):
        if not isinstance(interface, Mapping) or not interface.get("name"):
            continue
        first = seen.setdefault(key_of(interface), i)
        if first != i:
            bad.add(f"{path}.interfaces[{i}].name", f"{interface['name']} is already interfaces[{first}]")


def _check_fields(block: Mapping[str, Any], table: Mapping[str, Check], path: str, bad: BadFields) -> None:
    for key, check in table.items():
        if block.get(key) is not None and (complaint := check(block[key])):
            bad.add(f"{path}.{key}", complaint)


def _block(parent: Mapping[str, Any], key: str, path: str, bad: BadFields) -> Mapping[str, Any]:
    found = parent.get(key)
    if found is None:
        return {}
    if isinstance(found, Mapping):
        return found
    bad.add(f"{path}.{key}", "must be a mapping")
    return {}


def _blocks(parent: Mapping[str, Any], key: str, path: str, bad: BadFields) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = parent.get(key)
    if found is not None and not isinstance(found, list):
        bad.add(f"{path}.{key}", "must be a list")
        return
    for i, entry in enumerate(found or ()):
        if isinstance(entry, Mapping):
            yield f"{path}.{key}[{i}]", entry
        else:
            bad.add(f"{path}.{key}[{i}]", "must be a mapping")


def an_address(value: Any) -> str:
    return _parses(address, value, "an IP address")


def _a_network(value: Any) -> str:
    return _parses(network, value, "a network such as 192.0.2.0/24") if value != "" else ""


def _parses(parse: Callable[[str], str], value: Any, what: str) -> str:
    try:
        parse(value if isinstance(value, str) else "")
    except ValueError:
        return f"{value!r} is not {what}"
    return ""


def _a_name(value: Any) -> str:
    return "" if isinstance(value, str) and value else "must be text"


def _a_kernel_name(value: Any) -> str:
    if _a_name(value):
        return "must be text"
    wrong = value in (".", "..") or "/" in value or any(letter.isspace() for letter in value)
    return f"{value!r} is no name for an interface" if wrong else ""


def _a_switch(value: Any) -> str:
    return "" if value in (True, False) or str(value).lower() in ("true", "false") else "must be true or false"


def _a_number(low: int, high: int) -> Check:
    def check(value: Any) -> str:
        text = str(value)
        ok = not isinstance(value, bool) and text.lstrip("-").isdigit() and low <= int(text) <= high
        return "" if ok else f"must be a number from {low} to {high}"

    return check


def _one_of(*words: str) -> Check:
    return lambda value: "" if value in words else f"{value!r} is not one of {', '.join(words)}"


def _a_list_of(check: Check) -> Check:
    def check_each(value: Any) -> str:
        if not isinstance(value, list):
            return "must be a list"
        return next((f"[{i}] {complaint}" for i, one in enumerate(value) if (complaint := check(one))), "")

    return check_each


U32 = _a_number(0, 2**32 - 1)
INTERFACE: dict[str, Check] = {
    "name": _a_kernel_name,
    "type": _a_name,
    "state": _one_of(*INTERFACE_STATES),
    "mtu": _a_number(0, 2**32 - 1),
}
SWITCHES = ("enabled", "dhcp", "autoconf", "auto-dns", "auto-gateway", "auto-routes")
FLAGS: dict[str, Check] = dict.fromkeys(SWITCHES, _a_switch)
ROUTE: dict[str, Check] = {
    "state": _one_of(*ENTRY_STATES),
    "destination": _a_network,
    "next-hop-address": an_address,
    "source": an_address,
    "metric": _a_number(-1, 2**32 - 1),
    "table-id": U32,
    "weight": _a_number(1, 256),
    "route-type": _one_of(*ROUTE_TYPES),
}
RULE: dict[str, Check] = {
    "state": _one_of(*ENTRY_STATES),
    "ip-from": _a_network,
    "ip-to": _a_network,
    "family": _one_of(*FAMILIES),
    "priority": _a_number(-1, 2**32 - 1),
    "route-table": U32,
    "action": _one_of(*ROUTE_TYPES),
}
DNS: dict[str, Check] = {
    "server": _a_list_of(an_address),
    "search": _a_list_of(_a_name),
    "options": _a_list_of(_a_name),
}
