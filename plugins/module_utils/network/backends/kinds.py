# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of links we can make: where each setting stands in a document, in the kernel, and in a profile.

Room: network, backends (pure). A new setting is one more line. What is not in these tables is refused, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """How a value is written: out of what the kernel tells, as words of `ip`, as text of a profile."""

    from_kernel: Callable[[Any], Any] = lambda value: value
    to_ip: Callable[[str, Any], list[str]] = lambda word, value: [word, str(value)]
    to_profile: Callable[[Any], str] = str


def yes_or_no(value: Any) -> str:
    return "yes" if value else "no"


PLAIN = Form()
NAME = Form(to_profile=lambda value: str(value or ""))
SWITCH = Form(lambda value: bool(int(value)), lambda word, value: [word, str(int(value))], yes_or_no)
ON_OFF = Form(bool, lambda word, value: [word, "on" if value else "off"], yes_or_no)
# The kernel counts in hundredths of a second here, documents and profiles in seconds.
SECONDS = Form(lambda value: int(value) // 100, lambda word, value: [word, str(int(value) * 100)])
MASK = Form(lambda value: int(str(value), 16))
PREFIXED_BY_NO = Form(bool, lambda word, value: [word if value else f"no{word}"], yes_or_no)
LOWER = Form(lambda value: str(value).lower(), lambda word, value: [word, str(value)], lambda value: str(value).upper())


@dataclass(frozen=True)
class Field:
    path: tuple[str, ...]  # in the kind's block of a document
    data: str  # in what `ip -d` tells of the link; empty: it does not
    word: str  # in a command of `ip link`; empty: it cannot be set so
    property: str  # of a profile; after a colon: a key in a property that is a list of them
    form: Form = PLAIN
    fixed: bool = False  # for ever: another value needs another link

    def of(self, block: Mapping[str, Any]) -> Any:
        found: Any = block
        for key in self.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True)
class Kind:
    type: str  # in documents
    kernel: str
    profile: str  # connection.type
    block: str = ""
    fields: tuple[Field, ...] = ()
    # The link it stands on or is tied to: the key in the block, how `ip` calls it, and the profile's property.
    base: tuple[str, str, str] = ("", "", "")
    ports: str = ""  # the list of them in the block
    port_fields: tuple[Field, ...] = ()

    def settings(self, interface: Mapping[str, Any]) -> Iterator[tuple[Field, Any]]:
        """Each setting the document names, with its value."""
        block = interface.get(self.block) or {}
        for field in self.fields:
            if (value := field.of(block)) is not None:
                yield field, value

    def base_of(self, interface: Mapping[str, Any]) -> str:
        return str((interface.get(self.block) or {}).get(self.base[0]) or "") if self.base[0] else ""


_BASE = "base-iface"
KINDS: tuple[Kind, ...] = (
    Kind("ethernet", "", "802-3-ethernet"),
    Kind("loopback", "", "loopback"),
    Kind("dummy", "dummy", "dummy"),
    Kind("ethernet", "veth", "veth", "veth", base=("peer", "peer", "veth.peer")),
    Kind(
        "vlan",
        "vlan",
        "vlan",
        "vlan",
        (
            Field(("id",), "id", "id", "vlan.id", fixed=True),
            Field(("protocol",), "protocol", "protocol", "vlan.protocol", LOWER, fixed=True),
        ),
        base=(_BASE, "link", "vlan.parent"),
    ),
    Kind(
        "vxlan",
        "vxlan",
        "vxlan",
        "vxlan",
        (
            Field(("id",), "id", "id", "vxlan.id", fixed=True),
            Field(("remote",), "remote", "remote", "vxlan.remote", NAME, fixed=True),
            Field(("local",), "local", "local", "vxlan.local", NAME, fixed=True),
            Field(("destination-port",), "port", "dstport", "vxlan.destination-port", fixed=True),
            Field(("learning",), "learning", "learning", "vxlan.learning", PREFIXED_BY_NO, fixed=True),
        ),
        base=(_BASE, "dev", "vxlan.parent"),
    ),
    Kind(
        "mac-vlan",
        "macvlan",
        "macvlan",
        "mac-vlan",
        (
            Field(("mode",), "mode", "mode", "macvlan.mode", fixed=True),
            Field(("promiscuous",), "", "", "macvlan.promiscuous", ON_OFF),
        ),
        base=(_BASE, "link", "macvlan.parent"),
    ),
    Kind(
        "linux-bridge",
        "bridge",
        "bridge",
        "bridge",
        (
            Field(("options", "stp", "enabled"), "stp_state", "stp_state", "bridge.stp", SWITCH),
            Field(("options", "stp", "priority"), "priority", "priority", "bridge.priority"),
            Field(
                ("options", "stp", "forward-delay"), "forward_delay", "forward_delay", "bridge.forward-delay", SECONDS
            ),
            Field(("options", "stp", "hello-time"), "hello_time", "hello_time", "bridge.hello-time", SECONDS),
            Field(("options", "stp", "max-age"), "max_age", "max_age", "bridge.max-age", SECONDS),
            Field(("options", "mac-ageing-time"), "ageing_time", "ageing_time", "bridge.ageing-time", SECONDS),
            Field(
                ("options", "group-forward-mask"), "group_fwd_mask", "group_fwd_mask", "bridge.group-forward-mask", MASK
            ),
            Field(
                ("options", "multicast-snooping"),
                "mcast_snooping",
                "mcast_snooping",
                "bridge.multicast-snooping",
                SWITCH,
            ),
        ),
        ports="port",
        port_fields=(
            Field(("stp-priority",), "priority", "priority", "bridge-port.priority"),
            Field(("stp-path-cost",), "cost", "cost", "bridge-port.path-cost"),
            Field(("stp-hairpin-mode",), "hairpin", "hairpin", "bridge-port.hairpin-mode", ON_OFF),
        ),
    ),
    Kind(
        "bond",
        "bond",
        "bond",
        "link-aggregation",
        (
            Field(("mode",), "mode", "mode", "bond.options:mode", fixed=True),
            *(
                Field(("options", name), name, name, f"bond.options:{name}")
                for name in ("miimon", "updelay", "downdelay", "primary", "xmit_hash_policy", "lacp_rate")
            ),
        ),
        ports="port",
    ),
)
_BY_TYPE = {kind.type: kind for kind in reversed(KINDS)}
_VETH = next(kind for kind in KINDS if kind.kernel == "veth")
BY_KERNEL = {kind.kernel: kind for kind in KINDS if kind.kernel}
# How a profile of a port calls what its controller is.
PORT_OF = {"linux-bridge": "bridge", "bond": "bond"}


def kind_of(interface: Mapping[str, Any]) -> Kind | None:
    """A veth is an ethernet interface with a peer."""
    if (interface.get("veth") or {}).get("peer") or interface.get("type") == "veth":
        return _VETH
    return _BY_TYPE.get(str(interface.get("type")))


def can_be_made(interface: Mapping[str, Any]) -> bool:
    kind = kind_of(interface)
    return kind is not None and bool(kind.kernel)
