# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the kinds of interfaces look like in an nmstate document: where ports and parents stand, what can be created.

Room: network (pure). Private to the collection. A new kind is one more line in a table.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

State = dict[str, Any]
Interface = dict[str, Any]

# Where a controller keeps its ports: the block, and the list in it. Ports are names, or blocks with a name.
PORT_LISTS: dict[str, tuple[str, str]] = {
    "linux-bridge": ("bridge", "port"),
    "ovs-bridge": ("bridge", "port"),
    "bond": ("link-aggregation", "port"),
    "vrf": ("vrf", "port"),
}

# Where an interface names the one it stands on.
PARENTS: dict[str, tuple[str, str]] = {
    "vlan": ("vlan", "base-iface"),
    "vxlan": ("vxlan", "base-iface"),
    "mac-vlan": ("mac-vlan", "base-iface"),
    "mac-vtap": ("mac-vtap", "base-iface"),
    "macsec": ("macsec", "base-iface"),
    "ipvlan": ("ipvlan", "base-iface"),
    "infiniband": ("infiniband", "base-iface"),
}

# Blocks nmstate replaces as a whole: a key that is left out is lost, and with another one the interface is made anew.
WHOLE_BLOCKS = tuple(block for block, _key in PARENTS.values())

# These live beside the kernel's interfaces and may have the same name as one of them.
USER_SPACE = frozenset({"ovs-bridge", "ipsec"})
# Nobody can create or delete these; everything else is virtual.
HARDWARE = frozenset({"ethernet", "infiniband", "loopback", "unknown"})
FAMILIES = ("ipv4", "ipv6")

Key = tuple[str, bool]  # the name, and whether it lives in user space


def key_of(interface: Mapping[str, Any]) -> Key:
    return interface["name"], type_of(interface) in USER_SPACE


def type_of(interface: Mapping[str, Any]) -> str:
    """A veth is an ethernet interface with a `veth` block, whichever of the two names is used."""
    kind = interface.get("type") or "unknown"
    return "ethernet" if kind == "veth" else str(kind)


def state_of(interface: Mapping[str, Any]) -> str:
    return str(interface.get("state") or "up")


def is_virtual(interface: Mapping[str, Any]) -> bool:
    return type_of(interface) not in HARDWARE or interface.get("type") == "veth" or bool(interface.get("veth"))


def ports_of(interface: Mapping[str, Any]) -> list[str] | None:
    """Names of the ports; None when the document says nothing of them."""
    place = PORT_LISTS.get(type_of(interface))
    ports = (interface.get(place[0]) or {}).get(place[1]) if place else None
    return None if ports is None else [port_name(port) for port in ports]


def port_name(port: Any) -> str:
    return str(port["name"]) if isinstance(port, Mapping) else str(port)


def as_port(controller: Mapping[str, Any], name: str) -> Any:
    """A port of which nothing is known but its name, as this kind of controller lists it."""
    return {"name": name} if "bridge" in PORT_LISTS[type_of(controller)] else name


def set_ports(interface: Interface, ports: list[Any]) -> None:
    block, key = PORT_LISTS[type_of(interface)]
    interface.setdefault(block, {})[key] = ports


def port_blocks_of(interface: Mapping[str, Any]) -> dict[str, Any]:
    """Each port as the document has it, by name."""
    place = PORT_LISTS.get(type_of(interface))
    ports = (interface.get(place[0]) or {}).get(place[1]) or [] if place else []
    return {port_name(port): port for port in ports}


def parent_of(interface: Mapping[str, Any]) -> str | None:
    place = PARENTS.get(type_of(interface))
    parent = (interface.get(place[0]) or {}).get(place[1]) if place else None
    return str(parent) if parent else None


def peer_of(interface: Mapping[str, Any]) -> str | None:
    peer = (interface.get("veth") or {}).get("peer")
    return str(peer) if peer else None


def interfaces_of(state: Mapping[str, Any]) -> list[Interface]:
    return list(state.get("interfaces") or [])


def by_key(state: Mapping[str, Any]) -> dict[Key, Interface]:
    """Interfaces of a document, copied. The last one of a name wins, as in nmstate."""
    return {key_of(interface): copy.deepcopy(interface) for interface in interfaces_of(state)}


def entries_of(state: Mapping[str, Any], block: str, which: str = "config") -> list[dict[str, Any]]:
    """Routes (`routes`) or rules (`route-rules`), as configured or as running."""
    return list((state.get(block) or {}).get(which) or [])


def is_absent(entry: Mapping[str, Any]) -> bool:
    return entry.get("state") == "absent"


def names_used_by(interface: Mapping[str, Any]) -> Iterator[str]:
    """Other interfaces this one cannot do without."""
    yield from ports_of(interface) or ()
    for other in (parent_of(interface), peer_of(interface), interface.get("controller")):
        if other:
            yield str(other)
