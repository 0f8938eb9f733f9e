# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random networks and policies: small, valid, and full of the things that go wrong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

State = dict[str, Any]
Draw = Any

NICS = ("eth1", "eth2", "eth3")
V4 = ("192.0.2.5", "192.0.2.6", "198.51.100.7")
V6 = ("2001:db8:1::5", "2001:db8:2::6")
GATEWAYS = {"ipv4": ("192.0.2.1", "192.0.2.2"), "ipv6": ("2001:db8:1::1", "2001:db8:1::2")}
DESTINATIONS = {"ipv4": ("0.0.0.0/0", "203.0.113.0/24"), "ipv6": ("::/0", "2001:db8:e::/64")}
MTUS = st.sampled_from([1400, 1500, 9000])
METRICS = st.sampled_from([100, 200])
NO_ADDRESSES: State = {"ipv4": {"enabled": False}, "ipv6": {"enabled": False}}


def some(choices: Iterable[Any], at_most: int | None = None) -> st.SearchStrategy[list[Any]]:
    """Some of them, in order. A set of words has another order in every process, and with it the example."""
    return st.sets(st.sampled_from(sorted(choices)), max_size=at_most).map(sorted)


def addresses(family: str) -> st.SearchStrategy[list[State]]:
    texts, prefix = (V4, 24) if family == "ipv4" else (V6, 64)
    chosen = st.lists(st.sampled_from(texts), unique=True, max_size=2)
    return chosen.map(lambda found: [{"ip": text, "prefix-length": prefix} for text in found])


@st.composite
def blocks(draw: Draw, family: str) -> State:
    """A whole block, as a query shows it."""
    kind = draw(st.sampled_from(["off", "static", "static", "automatic"]))
    if kind == "off":
        return {"enabled": False}
    autoconf = {"autoconf": kind == "automatic"} if family == "ipv6" else {}
    block = {"enabled": True, "dhcp": kind == "automatic", **autoconf}
    if kind == "static":
        return {**block, "address": draw(addresses(family))}
    flags = {flag: draw(st.booleans()) for flag in ("auto-dns", "auto-gateway", "auto-routes")}
    return {**block, **flags, "address": []}


@st.composite
def wanted_blocks(draw: Draw, family: str) -> State:
    """A block as people write it: often only a part."""
    block = draw(blocks(family))
    optional = [key for key in block if key != "enabled"] if block["enabled"] else []
    dropped = draw(some(optional)) if optional else []
    return {key: value for key, value in block.items() if key not in dropped}


@st.composite
def networks(draw: Draw) -> State:
    """A node as it might be: everything reported."""
    nics = {name: _nic(draw, name) for name in NICS}
    others: dict[str, State] = {}
    if draw(st.booleans()):
        ports = draw(st.lists(st.sampled_from(NICS), unique=True, max_size=2))
        others["br0"] = _bridge(draw, "br0", ports)
        for port in ports:
            nics[port].update({"state": "up", "controller": "br0", **NO_ADDRESSES})
    if draw(st.booleans()):
        others["vx1"] = {**_vxlan(draw, "vx1"), **_settings(draw)}
    interfaces = {**nics, **others}
    return {
        "interfaces": list(interfaces.values()),
        "routes": {"config": draw(_routes(_carriers(interfaces)))},
        "route-rules": {"config": draw(_rules(priority=True))},
        "dns-resolver": {"config": draw(_dns())},
        "hostname": {"config": draw(st.sampled_from(["one", "two"]))},
    }


@st.composite
def policies(draw: Draw) -> State:
    """Anything one may ask of such a node; some of it can never be applied."""
    interfaces: dict[str, State] = {}
    for name in draw(some(NICS)):
        interfaces[name] = {"name": name, "type": "ethernet", "state": "up", **_some_settings(draw)}
    ways = {"br0": lambda: _wanted_bridge(draw, "br0"), "br1": lambda: _wanted_bridge(draw, "br1")}
    ways["vx1"] = lambda: {**_vxlan(draw, "vx1"), **_some_settings(draw)}
    ways["vx2"] = lambda: {**_vxlan(draw, "vx2"), **_some_settings(draw)}
    for name in draw(some(ways, at_most=2)):
        interfaces[name] = ways[name]()
        if draw(st.integers(0, 3)) == 0:
            interfaces[name] = {key: interfaces[name][key] for key in ("name", "type")} | {"state": "absent"}
    found: State = {"interfaces": list(interfaces.values())}
    if draw(st.booleans()):
        carriers = {(name, family) for name in NICS for family in GATEWAYS}
        removed = draw(st.lists(st.builds(_removal, st.sampled_from(NICS)), max_size=1))
        found["routes"] = {"config": [*removed, *draw(_routes(carriers, metrics=False))]}
    if draw(st.booleans()):
        found["route-rules"] = {"config": draw(_rules(priority=False))}
    if draw(st.booleans()):
        found["dns-resolver"] = {"config": draw(_dns())}
    if draw(st.booleans()):
        found["hostname"] = {"config": draw(st.sampled_from(["one", "three"]))}
    return found


def _nic(draw: Draw, name: str) -> State:
    state = draw(st.sampled_from(["up", "up", "down"]))
    off = NO_ADDRESSES if state == "down" else {}
    return {"name": name, "type": "ethernet", "state": state, **_settings(draw), **off}


def _settings(draw: Draw) -> State:
    return {"mtu": draw(MTUS), "ipv4": draw(blocks("ipv4")), "ipv6": draw(blocks("ipv6"))}


def _some_settings(draw: Draw) -> State:
    whole = {"mtu": draw(MTUS), "ipv4": draw(wanted_blocks("ipv4")), "ipv6": draw(wanted_blocks("ipv6"))}
    return {key: whole[key] for key in draw(some(whole))}


def _bridge(draw: Draw, name: str, ports: list[str]) -> State:
    bridge = {"port": [{"name": port} for port in sorted(ports)]}
    return {"name": name, "type": "linux-bridge", "state": "up", "bridge": bridge, **_settings(draw)}


def _wanted_bridge(draw: Draw, name: str) -> State:
    ports = draw(st.lists(st.sampled_from(NICS), unique=True, max_size=2))
    bridge = {"port": [{"name": port} for port in sorted(ports)]}
    return {"name": name, "type": "linux-bridge", "state": "up", "bridge": bridge, **_some_settings(draw)}


def _vxlan(draw: Draw, name: str) -> State:
    vxlan = {"base-iface": "eth3", "id": draw(st.sampled_from([70, 71])), "remote": "192.0.2.9"}
    return {"name": name, "type": "vxlan", "state": "up", "vxlan": vxlan}


def _carriers(interfaces: Mapping[str, State]) -> set[tuple[str, str]]:
    return {
        (name, family)
        for name, interface in interfaces.items()
        for family in GATEWAYS
        if interface[family]["enabled"] and interface["state"] == "up"
    }


@st.composite
def _routes(draw: Draw, carriers: set[tuple[str, str]], metrics: bool = True) -> list[State]:
    if not carriers:
        return []
    found: dict[Any, State] = {}
    for name, family in draw(st.lists(st.sampled_from(sorted(carriers)), max_size=3)):
        route = {
            "destination": draw(st.sampled_from(DESTINATIONS[family])),
            "next-hop-address": draw(st.sampled_from(GATEWAYS[family])),
            "next-hop-interface": name,
        }
        metric = draw(METRICS) if metrics or draw(st.booleans()) else None
        extra = {"table-id": 254} if metrics else {}
        found[(*route.values(), metric)] = {**route, **extra, **({} if metric is None else {"metric": metric})}
    return list(found.values())


def _removal(name: str) -> State:
    return {"state": "absent", "next-hop-interface": name}


@st.composite
def _rules(draw: Draw, priority: bool) -> list[State]:
    found: dict[Any, State] = {}
    for source, table in draw(some(SELECTORS, at_most=2)):
        rule: State = {"ip-from": source, "route-table": table}
        if priority:
            rule |= {"priority": draw(st.sampled_from([1000, 1001])), "family": "ipv6" if ":" in source else "ipv4"}
        elif draw(st.integers(0, 2)) == 0:
            rule = {"state": "absent", "route-table": table}
        found[tuple(rule.values())] = rule
    return list(found.values())


SELECTORS = [(source, table) for source in ("198.51.100.0/24", "2001:db8:b::/64") for table in (200, 201)]


@st.composite
def _dns(draw: Draw) -> State:
    lists = {"server": ["192.0.2.53"], "search": ["example.com"]}
    found = {key: lists[key] for key in draw(some(lists))}
    if "server" in found and draw(st.booleans()):
        found["server"] = ["192.0.2.54", "192.0.2.53"]
    return found
