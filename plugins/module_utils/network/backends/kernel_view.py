# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network as the kernel has it, in nmstate's words.

Room: network, backends. Leases are told by their flags only: a lease's address is not something that was configured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..merging import holds_no_address
from . import resolver_file
from .ip_command import ask_ip
from .kernel_entries import Entry, counts, is_configured, routes_of, rule_of
from .kinds import BY_KERNEL, Field, Kind

_SETTINGS = Path("/proc/sys/net/ipv6/conf")
_FAMILIES = {"ipv4": "inet", "ipv6": "inet6"}
_ONE_ADDRESS = 128  # what DHCP gives; an address out of a router's prefix has the prefix's length
_LINK_SCOPE = "link"


def look() -> dict[str, Any]:
    links = ask_ip("address", "show")
    # Numbers instead of names here: what a table or protocol is called is decided by files of the node.
    routes = {family: ask_ip("-N", f"-{family}", "route", "show", "table", "all") for family in (4, 6)}
    rules = {family: ask_ip("-N", f"-{family}", "rule", "show") for family in (4, 6)}
    dns = resolver_file.read()
    return {
        "interfaces": interfaces_from(links, ipv6_is_on),
        "routes": {
            "running": _routes(routes, configured=False),
            "config": _routes(routes, configured=True),
        },
        "route-rules": {"config": [rule for f, found in rules.items() for one in found if (rule := rule_of(f, one))]},
        "dns-resolver": {"running": dns, "config": dns if resolver_file.is_ours() else {}},
    }


def ipv6_is_on(name: str) -> bool:
    try:
        return (_SETTINGS / name / "disable_ipv6").read_text().strip() == "0"
    except OSError:
        return False  # a kernel without IPv6


def unsettled(names: set[str]) -> list[str]:
    """IPv6 addresses that cannot be used: the kernel still asks, or has found out, whether somebody else has them."""
    links = [link for link in ask_ip("-6", "address", "show") if link["ifname"] in names]
    # Without a carrier nobody can be asked: the address waits for its cable.
    asking = [(link["ifname"], one) for link in links if "NO-CARRIER" not in link["flags"] for one in link["addr_info"]]
    return [
        f"{one['local']} on {name} {'is already used by somebody else' if one.get('dadfailed') else 'is not ready'}"
        for name, one in asking
        if one.get("dadfailed") or (one.get("tentative") and not _is_link_local(one))
    ]


def _routes(found: Mapping[int, list[Entry]], *, configured: bool) -> list[Entry]:
    return [
        entry
        for family, listed in found.items()
        for one in listed
        if counts(one) and (is_configured(one) or not configured)
        for entry in routes_of(family, one)
    ]


def interfaces_from(links: list[Entry], ipv6: Any) -> list[Entry]:
    names = {link["ifname"] for link in links}
    found = [_interface(link, names, ipv6(link["ifname"])) for link in links]
    for interface in found:
        kind = BY_KERNEL.get(next(_kernel_kind(link) for link in links if link["ifname"] == interface["name"]))
        if kind and kind.ports:
            ports = [link for link in links if link.get("master") == interface["name"]]
            interface.setdefault(kind.block, {})[kind.ports] = [_port(kind, port) for port in ports]
    return found


def _interface(link: Entry, names: set[str], ipv6: bool) -> Entry:
    kind = BY_KERNEL.get(_kernel_kind(link))
    plain = not _kernel_kind(link) and link.get("link_type") in ("ether", "loopback")
    found: Entry = {"name": link["ifname"], "type": _type(link, kind), "state": _state(link, known=bool(kind) or plain)}
    if link.get("mtu"):
        found["mtu"] = link["mtu"]
    if link.get("address"):
        found["mac-address"] = str(link["address"]).upper()
    if link.get("master"):
        found["controller"] = link["master"]
    if kind and kind.block and (block := _block(kind, link, names)):
        found[kind.block] = block
    for family in _FAMILIES:
        found[family] = _family(family, link, ipv6)
    if holds_no_address(found) and not found["ipv6"].get("address"):
        found["ipv6"] = {"enabled": False}  # what the kernel gave it by itself does not count on a port
    return found


def _kernel_kind(link: Entry) -> str:
    return str((link.get("linkinfo") or {}).get("info_kind") or "")


def _type(link: Entry, kind: Kind | None) -> str:
    if kind:
        return kind.type
    if _kernel_kind(link):
        return _kernel_kind(link)
    return {"ether": "ethernet", "loopback": "loopback"}.get(str(link.get("link_type")), "unknown")


def _state(link: Entry, *, known: bool) -> str:
    if not known:
        return "ignore"  # we could not make it again: nobody shall change it by mistake
    return "up" if "UP" in (link.get("flags") or ()) else "down"


def _block(kind: Kind, link: Entry, names: set[str]) -> Entry:
    data = (link.get("linkinfo") or {}).get("info_data") or {}
    block = _told(kind.fields, data)
    base = data.get("link") or (link.get("link") if "link_netnsid" not in link else None)
    if kind.base[0] and base in names:
        block[kind.base[0]] = base
    return block


def _told(fields: tuple[Field, ...], data: Mapping[str, Any]) -> Entry:
    block: Entry = {}
    for field in fields:
        if field.data and data.get(field.data) is not None:
            inner = block
            for key in field.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[field.path[-1]] = field.form.from_kernel(data[field.data])
    return block


def _port(kind: Kind, link: Entry) -> Any:
    data = (link.get("linkinfo") or {}).get("info_slave_data") or {}
    return {"name": link["ifname"], **_told(kind.port_fields, data)} if kind.port_fields else link["ifname"]


def _family(family: str, link: Entry, ipv6: bool) -> Entry:
    mine = [one for one in link.get("addr_info") or () if one["family"] == _FAMILIES[family]]
    fixed = [one for one in mine if not one.get("dynamic") and not _is_link_local(one)]
    leased = [one for one in mine if one.get("dynamic")]
    enabled = ipv6 if family == "ipv6" else bool(mine)
    if not enabled:
        return {"enabled": False}
    addresses = [{"ip": one["local"], "prefix-length": one["prefixlen"]} for one in fixed]
    if family == "ipv4":
        return {"enabled": True, "dhcp": bool(leased), "address": addresses}
    by_dhcp = [one for one in leased if one["prefixlen"] == _ONE_ADDRESS]
    return {"enabled": True, "dhcp": bool(by_dhcp), "autoconf": len(leased) > len(by_dhcp), "address": addresses}


def _is_link_local(address: Entry) -> bool:
    return bool(address["family"] == "inet6" and str(address.get("scope")) == _LINK_SCOPE)
