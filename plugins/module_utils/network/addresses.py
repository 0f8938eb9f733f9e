# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Addresses and networks as text: one spelling for each, so that equal things compare equal.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

FOREVER = "forever"
MAIN_TABLE = 254


def address(text: str) -> str:
    """`2001:DB8:0::1` and `2001:db8::1` are the same. A zone (`fe80::1%eth1`) stays."""
    bare, percent, zone = str(text).strip().partition("%")
    return f"{_plain(ipaddress.ip_address(bare))}{percent}{zone}"


def network(text: str) -> str:
    """`192.0.2.7/24` is the network 192.0.2.0/24; an address alone is a network of one."""
    found = ipaddress.ip_network(str(text).strip(), strict=False)
    return f"{_plain(found.network_address)}/{found.prefixlen}"


def is_ipv6(text: str) -> bool:
    return ":" in text


def is_link_local(text: str) -> bool:
    """fe80::/10: made by the kernel for every interface, nobody configures it."""
    found = ipaddress.ip_address(text.partition("%")[0])
    return found.version == 6 and found.is_link_local


def holds(cidr: str, host: str) -> bool:
    """Whether a network takes an address of the same family."""
    inside, member = ipaddress.ip_network(cidr, strict=False), ipaddress.ip_address(host.partition("%")[0])
    return inside.version == member.version and member in inside


def is_leased(entry: Mapping[str, Any]) -> bool:
    """An address with an end: DHCP or router advertisements gave it, and will give it again."""
    life = entry.get("valid-life-time")
    return life is not None and life != FOREVER


def is_foreign(entry: Mapping[str, Any]) -> bool:
    """Put there by another program, which marked it with a protocol number of its own."""
    protocol = entry.get("protocol")
    return isinstance(protocol, int) or (isinstance(protocol, str) and protocol[:2] == "0x")


def cidr(entry: Mapping[str, Any]) -> str:
    return f"{address(entry['ip'])}/{entry['prefix-length']}"


def _plain(found: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    # ::ffff:192.0.2.1 stays hexadecimal in Python; nmstate and the kernel write the dotted form.
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return f"::ffff:{mapped}" if mapped else str(found)
