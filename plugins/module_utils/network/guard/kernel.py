# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kernel's view of the network: a snapshot, what differs between two, the commands that lead from one to the other.

Room: network, guard (stands alone: it is copied to the node and runs without the collection). Only what somebody has
configured counts: what the kernel makes by itself (link-local addresses, connected routes, loopback) does not.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
# Kinds that exist only because somebody made them, and that we can make again.
VIRTUAL = frozenset({"bridge", "vxlan", "macvlan", "vlan", "bond", "veth", "dummy", "vrf", "ipip", "gre", "tun"})
# Routes the kernel keeps by itself, as long as there are addresses: made by it, or by a redirect.
_OWN_ROUTES = frozenset({"2", "1"})
_DHCP = "16"
_ROUTE_TYPES = {"1": "unicast", "6": "blackhole", "7": "unreachable", "8": "prohibit"}
_SCOPE_LINK = "253"
_MAIN, _LOCAL = 254, 255
_BUILT_IN_RULES = frozenset({0, 32766, 32767})
_RULE_PARTS: tuple[str, ...] = ("src", "srclen", "dst", "dstlen", "iif", "oif", "fwmark", "fwmask")
_TIMEOUT = 10.0


@dataclass(frozen=True)
class Scope:
    """What a change is about. Nothing else on the node is looked at: pods come and go, and others keep routes, too."""

    interfaces: tuple[str, ...] = ()
    tables: tuple[int, ...] = ()  # of policy rules


@dataclass
class Snapshot:
    links: dict[str, Entry] = field(default_factory=dict)  # by name
    addresses: list[Entry] = field(default_factory=list)
    routes: list[Entry] = field(default_factory=list)
    rules: list[Entry] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {"links": self.links, "addresses": self.addresses, "routes": self.routes, "rules": self.rules}


def snapshot_from(data: dict[str, Any]) -> Snapshot:
    return Snapshot(data["links"], data["addresses"], data["routes"], data["rules"])


def look(scope: Scope) -> Snapshot:
    """What is there now."""
    found = Snapshot()
    for item in _asked("-d", "address", "show"):
        name = item["ifname"]
        if name not in scope.interfaces:
            continue
        found.links[name] = _link(item)
        found.addresses += [_address(name, one) for one in item.get("addr_info") or () if _counts(one)]
    for family in (4, 6):
        found.routes += [_route(family, one) for one in _asked(f"-{family}", "route", "show", "table", "all")]
        found.rules += [_rule(family, one) for one in _asked(f"-{family}", "rule", "show")]
    found.routes = [one for one in found.routes if one and one["dev"] in scope.interfaces]
    found.rules = [one for one in found.rules if one and one["table"] in scope.tables]
    return found


def _asked(*words: str) -> list[Entry]:
    # Numbers instead of names: tables and protocols are called as this node likes.
    done = subprocess.run(["ip", "-N", "-j", *words], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
    listed: list[Entry] = json.loads(done.stdout or "[]")
    return [one for one in listed if one]


def _link(item: Entry) -> Entry:
    details = item.get("linkinfo") or {}
    return {
        "kind": details.get("info_kind") or "",
        "data": details.get("info_data") or {},
        "up": "UP" in (item.get("flags") or ()),
        "mtu": item.get("mtu"),
        "master": item.get("master") or "",
        "base": item.get("link") or "",
        "mac": item.get("address") or "",
        "ipv6_off": _ipv6_is_off(item["ifname"]),
    }


def _ipv6_switch(name: str) -> Path:
    return Path("/proc/sys/net/ipv6/conf") / name / "disable_ipv6"


def _ipv6_is_off(name: str) -> bool:
    try:
        return _ipv6_switch(name).read_text().strip() == "1"
    except OSError:
        return False  # no IPv6 in this kernel


def _counts(address: Entry) -> bool:
    return address.get("scope") != _SCOPE_LINK and not (address.get("dynamic") and address.get("family") == "inet6")


def _address(name: str, one: Entry) -> Entry:
    return {"dev": name, "address": f"{one['local']}/{one['prefixlen']}", "dynamic": bool(one.get("dynamic"))}


def _route(family: int, one: Entry) -> Entry:
    destination = one.get("dst") or "default"
    kind = _ROUTE_TYPES.get(one.get("type", "1"))
    if one.get("protocol") in _OWN_ROUTES or kind is None:
        return {}
    table = int(one.get("table") or _MAIN)
    if one.get("dev") == "lo" or destination.startswith(("fe80:", "ff00:")) or table == _LOCAL:
        return {}
    return {
        "family": family,
        "to": destination,
        "via": one.get("gateway") or "",
        "dev": one.get("dev") or "",
        "table": table,
        "metric": one.get("metric"),
        "type": kind,
        "protocol": one.get("protocol") or "",
    }


def _rule(family: int, one: Entry) -> Entry:
    priority = one.get("priority")
    if priority in _BUILT_IN_RULES:
        return {}
    parts = {key: one[key] for key in _RULE_PARTS if key in one}
    return {"family": family, "priority": priority, "table": int(one.get("table") or _MAIN), **parts}


def differences(wanted: Snapshot, now: Snapshot, *, exact_metrics: bool = True) -> list[str]:
    """For people: what is not as it was. Empty means equal. Leases count by their interface only.

    NetworkManager gives routes a metric of its own at each activation, so there only their order counts.
    """
    if not exact_metrics:
        wanted, now = _with_ranks(wanted), _with_ranks(now)
    told = [f"{name} is missing" for name in wanted.links if name not in now.links]
    told += [f"{name} is new" for name in now.links if name not in wanted.links]
    for name, link in wanted.links.items():
        other = now.links.get(name)
        for key in ("up", "mtu", "master"):
            if other is not None and other[key] != link[key]:
                told.append(f"{name}: {key} is {other[key]}, was {link[key]}")
    for word, before, after in (
        ("address", _named(wanted.addresses), _named(now.addresses)),
        ("route", _named(wanted.routes), _named(now.routes)),
        ("rule", _named(wanted.rules), _named(now.rules)),
    ):
        told += [f"{word} {one} is missing" for one in sorted(before - after)]
        told += [f"{word} {one} is new" for one in sorted(after - before)]
    return told


def _with_ranks(snapshot: Snapshot) -> Snapshot:
    """Instead of its metric, each route has its place among those to the same destination."""
    ranked = []
    for route in snapshot.routes:
        same = [one for one in snapshot.routes if _goes_where(one) == _goes_where(route)]
        metrics = sorted({one["metric"] or 0 for one in same})
        ranked.append({**route, "metric": metrics.index(route["metric"] or 0) or None})
    return Snapshot(snapshot.links, snapshot.addresses, ranked, snapshot.rules)


def _goes_where(route: Entry) -> tuple[Any, ...]:
    return route["family"], route["to"], route["table"]


def _named(entries: list[Entry]) -> set[str]:
    return {_name(entry) for entry in entries}


def _name(entry: Entry) -> str:
    if "address" in entry:
        return f"{entry['dev']} (lease)" if entry["dynamic"] else f"{entry['address']} on {entry['dev']}"
    if "to" in entry:
        if entry["protocol"] == _DHCP:
            return f"{entry['to']} of the lease on {entry['dev']}"
        return " ".join(_route_words(entry))
    return " ".join(_rule_words(entry))


def way_back(wanted: Snapshot, now: Snapshot) -> list[list[str]]:
    """Commands of `ip` that make `wanted` of `now`: links first, then addresses, routes and rules."""
    commands: list[list[str]] = []
    for name, link in now.links.items():
        if name not in wanted.links and link["kind"] in VIRTUAL:
            commands.append(["link", "delete", "dev", name])
    for name, link in wanted.links.items():
        commands += _way_of_link(name, link, now.links.get(name))
    gone = {name for name in now.links if name not in wanted.links}
    commands += [
        ["address", "delete", one["address"], "dev", one["dev"]]
        for one in now.addresses
        if one["dev"] not in gone and not _is_among(one, wanted.addresses)
    ]
    commands += [
        ["address", "replace", one["address"], "dev", one["dev"]]
        for one in wanted.addresses
        if not _is_among(one, now.addresses)
    ]
    commands += [
        [f"-{one['family']}", "route", "delete", *_route_words(one)]
        for one in now.routes
        if one["dev"] not in gone and one not in wanted.routes
    ]
    commands += [
        # Addresses that went and came have taken their routes along, so all of them are said again.
        [f"-{one['family']}", "route", "replace", *_route_words(one)]
        for one in sorted(wanted.routes, key=lambda one: bool(one["via"]))
    ]
    commands += [
        [f"-{one['family']}", "rule", "delete", *_rule_words(one)] for one in now.rules if one not in wanted.rules
    ]
    commands += [
        [f"-{one['family']}", "rule", "add", *_rule_words(one)] for one in wanted.rules if one not in now.rules
    ]
    return commands


def _is_among(address: Entry, others: list[Entry]) -> bool:
    return any((one["dev"], one["address"]) == (address["dev"], address["address"]) for one in others)


def _way_of_link(name: str, link: Entry, now: Entry | None) -> list[list[str]]:
    if now is None:
        made = _making(name, link)
        if not made:
            return []  # a real device that is gone: nobody can make it again
        commands, now = [made], {"master": "", "mtu": None, "up": False}
    else:
        commands = []
    if now["master"] != link["master"]:
        commands.append(["link", "set", "dev", name, *(["master", link["master"]] if link["master"] else ["nomaster"])])
    if now["mtu"] != link["mtu"] and link["mtu"]:
        commands.append(["link", "set", "dev", name, "mtu", str(link["mtu"])])
    if now["up"] != link["up"]:
        commands.append(["link", "set", "dev", name, "up" if link["up"] else "down"])
    return commands


def _making(name: str, link: Entry) -> list[str]:
    """The command that makes a virtual link again, as far as its details are known."""
    kind, data = link["kind"], link["data"]
    if kind == "vxlan":
        words = ["id", str(data.get("id")), "dstport", str(data.get("port", 4789))]
        words += ["remote", data["remote"]] if data.get("remote") else []
        words += ["dev", data["link"]] if data.get("link") else []
        return ["link", "add", "name", name, "type", "vxlan", *words]
    if kind == "macvlan":
        return [
            "link",
            "add",
            "link",
            link["base"],
            "name",
            name,
            "type",
            "macvlan",
            "mode",
            data.get("mode", "bridge"),
        ]
    if kind == "vlan":
        return ["link", "add", "link", link["base"], "name", name, "type", "vlan", "id", str(data.get("id"))]
    if kind in ("bridge", "bond", "dummy"):
        return ["link", "add", "name", name, "type", kind]
    return []


def _route_words(one: Entry) -> list[str]:
    words = [one["type"]] if one["type"] != "unicast" else []
    words.append(one["to"])
    words += ["via", one["via"]] if one["via"] else []
    words += ["dev", one["dev"]] if one["dev"] else []
    words += ["table", str(one["table"])]
    words += ["metric", str(one["metric"])] if one["metric"] is not None else []
    words += ["proto", str(one["protocol"])] if one["protocol"] else []
    return words


def _rule_words(one: Entry) -> list[str]:
    words = ["priority", str(one["priority"])]
    for key, word in (("src", "from"), ("dst", "to")):
        if key in one and one[key] != "all":
            length = one.get(f"{key}len")
            words += [word, f"{one[key]}/{length}" if length is not None else one[key]]
    words += [part for key in ("iif", "oif", "fwmark") if key in one for part in (key, str(one[key]))]
    return [*words, "table", str(one["table"])]


def go_back(wanted: Snapshot, scope: Scope) -> list[str]:
    """Make it so, command by command; what does not work does not hold up the rest. What was refused."""
    refused = []
    for name, link in wanted.links.items():
        # While it is off the kernel takes no address of this family.
        if not link["ipv6_off"] and _ipv6_is_off(name):
            _ipv6_switch(name).write_text("0")
    for words in way_back(wanted, look(scope)):
        done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        if done.returncode:
            refused.append(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return refused
