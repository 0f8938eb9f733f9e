# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What could cut us off: which interface carries what, and whether a change takes it away.

Room: network (pure). Private to the collection. A verdict, not a ban: the front refuses unless `force` is given, and
even then the probes and the dead-man decide.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .addresses import MAIN_TABLE, address, cidr, holds
from .after import state_after
from .differences import words_for_route
from .entries import Entry, clean, family_of_route, metric_of, table_of
from .ip_blocks import is_automatic
from .shapes import (
    FAMILIES,
    Interface,
    State,
    by_key,
    entries_of,
    interfaces_of,
    is_absent,
    parent_of,
    ports_of,
    state_of,
)
from .typed import typed


@dataclass(frozen=True)
class Lifelines:
    """Addresses somebody needs. Empty: not known, or not needed."""

    ssh_local: str = ""  # our end of the connection that runs this task
    ssh_peer: str = ""
    api_server: str = ""
    node_ip: str = ""


@dataclass(frozen=True)
class Risk:
    interface: str
    carries: str
    why: str

    def __str__(self) -> str:
        return f"{self.interface} carries {self.carries}: {self.why}"


def lifelines_of_ssh(connection: str) -> Lifelines:
    """From SSH_CONNECTION: peer address, peer port, local address, local port. Nothing when it is not set."""
    words = connection.split()
    if len(words) != 4:
        return Lifelines()
    peer, _peer_port, local, _local_port = words
    return Lifelines(ssh_local=local, ssh_peer=peer)


def risks_of(now: Mapping[str, Any], change: Mapping[str, Any], lifelines: Lifelines) -> list[Risk]:
    """What the change takes away from under us. Empty: go ahead."""
    before = typed(now)
    after = _with_leases(before, state_after(before, change))
    found = [
        *_lost_addresses(before, after, lifelines),
        *_lost_ways(before, after, lifelines),
        *_lost_default_routes(before, after),
        *_shaken_ground(before, after, lifelines),
    ]
    return list(dict.fromkeys(found))


def _with_leases(before: State, after: State) -> State:
    """What DHCP brought is not configured, but stays where DHCP stays on."""
    stays: set[tuple[str, str]] = set()
    for interface in interfaces_of(after):
        old = _interface(before, interface["name"]) or {}
        for family in FAMILIES:
            blocks = [one.get(family) or {} for one in (old, interface)]
            if all(map(is_automatic, blocks)):
                stays.add((interface["name"], family))
                interface[family].setdefault("address", blocks[0].get("address") or [])
    dynamic = [
        route
        for route in entries_of(before, "routes", "running")
        if (route.get("next-hop-interface"), family_of_route(route)) in stays
    ]
    return {**after, "routes": {**(after.get("routes") or {}), "running": dynamic}}


def carriers_of(now: Mapping[str, Any], lifelines: Lifelines) -> dict[str, str]:
    """What we know of each lifeline's interface: `{"SSH": "eth0", "the default route": "eth0"}`."""
    state = typed(now)
    found = {what: _holder(state, text) for what, text in _own_addresses(lifelines)}
    ways = ((what, _way(state, text)) for what, text in _targets(lifelines))
    found |= {what: str(way.get("next-hop-interface") or "") for what, way in ways if way}
    found |= {f"the {family} default route": name for family, name in _default_interfaces(state)}
    return {what: name for what, name in found.items() if name}


def _own_addresses(lifelines: Lifelines) -> list[tuple[str, str]]:
    pairs = (("SSH", lifelines.ssh_local), ("the node's address", lifelines.node_ip))
    return [(what, text) for what, text in pairs if _is_address(text)]


def _targets(lifelines: Lifelines) -> list[tuple[str, str]]:
    pairs = (
        ("the way back to the controller", lifelines.ssh_peer),
        ("the way to the API server", lifelines.api_server),
    )
    return [(what, text) for what, text in pairs if _is_address(text) and not ipaddress.ip_address(text).is_loopback]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _lost_addresses(before: State, after: State, lifelines: Lifelines) -> Iterator[Risk]:
    for what, text in _own_addresses(lifelines):
        name = _holder(before, text)
        if not name:
            continue
        if _interface(after, name) is None:
            yield Risk(name, what, f"{name} goes, and {address(text)} with it")
        elif state_of(_interface(after, name) or {}) != "up":
            yield Risk(name, what, f"{name} goes down")
        elif not _stays(before, after, name, text):
            moved = _holder(after, text)
            yield Risk(name, what, f"{address(text)} " + (f"moves to {moved}" if moved else "is taken from it"))


def _stays(before: State, after: State, name: str, text: str) -> bool:
    """Still configured here, or from a lease that will be asked for again."""
    if _holder(after, text) == name:
        return True
    family = "ipv6" if ":" in text else "ipv4"
    blocks = [(_interface(state, name) or {}).get(family) or {} for state in (before, after)]
    return all(map(is_automatic, blocks))


def _lost_ways(before: State, after: State, lifelines: Lifelines) -> Iterator[Risk]:
    for what, text in _targets(lifelines):
        old, new = _way(before, text), _way(after, text)
        if old is None or _same_way(old, new):
            continue
        name = old.get("next-hop-interface") or ""
        if new is None:
            yield Risk(name, what, f"{words_for_route(old)} goes, and no other route leads to {address(text)}")
        else:
            yield Risk(name, what, f"{words_for_route(old)} gives way to {words_for_route(new)}")


def _lost_default_routes(before: State, after: State) -> Iterator[Risk]:
    left = dict(_default_interfaces(after))
    for family, name in _default_interfaces(before):
        if family not in left:
            yield Risk(name, f"the {family} default route", "the change removes it")
        elif left[family] != name:
            yield Risk(name, f"the {family} default route", f"it moves to {left[family]}")


def _shaken_ground(before: State, after: State, lifelines: Lifelines) -> Iterator[Risk]:
    """The carrier itself may stay while the bond or port below it is taken away."""
    for what, name in carriers_of(before, lifelines).items():
        if _interface(after, name) is None:
            continue
        for below in _below(before, name):
            left = _interface(after, below)
            if left is None:
                yield Risk(name, what, f"it stands on {below}, which goes")
            elif state_of(left) != "up" and state_of(_interface(before, below) or {}) == "up":
                yield Risk(name, what, f"it stands on {below}, which goes down")
            elif _controller(before, below) == name and _controller(after, below) != name:
                yield Risk(name, what, f"it loses its port {below}")


def _below(state: State, name: str, depth: int = 4) -> Iterator[str]:
    interface = _interface(state, name)
    if interface is None or not depth:
        return
    for other in [parent_of(interface), *(ports_of(interface) or ())]:
        if other:
            yield other
            yield from _below(state, other, depth - 1)


def _controller(state: State, name: str) -> str:
    listed = (one["name"] for one in interfaces_of(state) if name in (ports_of(one) or ()))
    return str((_interface(state, name) or {}).get("controller") or next(listed, ""))


def _interface(state: State, name: str) -> Interface | None:
    found = by_key(state).get((name, False))
    return None if found is None or is_absent(found) else found


def _holder(state: State, text: str) -> str:
    """The interface that holds an address; the longest prefix is not asked for, addresses are unique."""
    wanted = address(text.partition("%")[0])
    for interface in interfaces_of(state):
        for family in FAMILIES:
            for entry in (interface.get(family) or {}).get("address") or ():
                if address(entry["ip"]) == wanted:
                    return str(interface["name"])
    return ""


def _routes(state: State) -> Iterator[Entry]:
    """Connected networks first, then the main table: both as configured and as running, since a lease's count too."""
    up = [interface for interface in interfaces_of(state) if state_of(interface) in ("up", "ignore")]
    for interface in up:
        for family in FAMILIES:
            block = interface.get(family) or {}
            for entry in block.get("address") or () if block.get("enabled") else ():
                yield clean({"destination": cidr(entry), "next-hop-interface": interface["name"]})
    names = {interface["name"] for interface in up}
    for which in ("config", "running"):
        for route in entries_of(state, "routes", which):
            if table_of(route) == MAIN_TABLE and route.get("destination") and route.get("next-hop-interface") in names:
                yield clean(route)


def _way(state: State, text: str) -> Entry | None:
    """The route the kernel would take: longest prefix, then lowest metric."""
    found = [route for route in _routes(state) if holds(route["destination"], text)]
    return min(found, key=lambda route: (-_length(route), metric_of(route)), default=None)


def _length(route: Entry) -> int:
    return int(route["destination"].partition("/")[2])


def _same_way(old: Entry, new: Entry | None) -> bool:
    keys = ("destination", "next-hop-interface", "next-hop-address")
    return new is not None and all(old.get(key) == new.get(key) for key in keys)


def _default_interfaces(state: State) -> list[tuple[str, str]]:
    found = {family: _way(state, probe) for family, probe in (("ipv4", "192.0.0.8"), ("ipv6", "100::"))}
    return [
        (family, str(route["next-hop-interface"]))
        for family, route in found.items()
        if route is not None and _length(route) == 0
    ]
