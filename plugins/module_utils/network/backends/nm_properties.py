# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an interface of a document is in a profile: its properties as nmcli takes them.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..addresses import cidr
from ..after import interface_after
from ..ip_blocks import LEASE_FLAGS, is_automatic
from ..merging import Merged, holds_no_address
from ..shapes import FAMILIES, port_blocks_of, type_of
from .goal import Goal
from .ip_plan import remade
from .kinds import PORT_OF, Field, kind_of, yes_or_no
from .nm_command import Profile

Properties = dict[str, str]

WIRED = "802-3-ethernet"
_FLAGS = {"auto-dns": "ignore-auto-dns", "auto-gateway": "never-default", "auto-routes": "ignore-auto-routes"}
# What a family that is off, or gone with a bridge, does not keep.
_EMPTY = ("addresses", "gateway", "routes", "routing-rules", "dns", "dns-search", "dns-options")


def properties_of(one: Merged, goal: Goal, profile: Profile | None) -> Properties:
    """What to write for an interface that shall be up: all of a new profile, else what the policy changes."""
    after, named = interface_after(one), one.apply or {}
    found: Properties = {} if profile else _new(after)
    if profile and profile.get("connection.autoconnect") == "no":
        found["connection.autoconnect"] = "yes"
    if named.get("mtu"):
        found[f"{WIRED}.mtu"] = str(named["mtu"])
    if named.get("mac-address") or remade(one):  # a link that is made anew stays who it was
        found[f"{WIRED}.cloned-mac-address"] = str(after["mac-address"])
    found.update(_kind_properties(after, named if profile else after))
    found.update(_controller_properties(one, after, goal, profile))
    was_port = bool(profile and profile.get("connection.master"))
    for family in FAMILIES:
        if not holds_no_address(after) and (profile is None or was_port or family in named):
            found.update(family_properties(family, after.get(family) or {}))
    return found


def _new(after: Mapping[str, Any]) -> Properties:
    kind = kind_of(after)
    name = after["name"]
    return {"connection.type": kind.profile if kind else "", "connection.interface-name": name, "connection.id": name}


def _kind_properties(after: Mapping[str, Any], named: Mapping[str, Any]) -> Properties:
    kind = kind_of(after)
    if kind is None:
        return {}
    found: Properties = {}
    if kind.base[0] and kind.base_of(named):
        found[kind.base[2]] = kind.base_of(named)
    settings = list(kind.settings(after if _is_listed(kind.fields) and kind.block in named else named))
    for field, value in settings:
        name, colon, key = field.property.partition(":")
        text = f"{key}={field.form.to_profile(value)}" if colon else field.form.to_profile(value)
        found[name] = f"{found[name]},{text}" if colon and name in found else text
    return found


def _is_listed(fields: tuple[Field, ...]) -> bool:
    """Properties that are lists are written as a whole."""
    return any(":" in field.property for field in fields)


def _controller_properties(one: Merged, after: Mapping[str, Any], goal: Goal, profile: Profile | None) -> Properties:
    controller = str(after.get("controller") or "")
    if not controller:
        return (
            {"connection.master": "", "connection.slave-type": ""}
            if profile and profile.get("connection.master")
            else {}
        )
    found = goal.interfaces.get((controller, False))
    if found is None:
        return {}
    kind = type_of(found.after)
    words = {"connection.master": controller, "connection.slave-type": PORT_OF.get(kind, "")}
    return {**words, **port_properties(found, one.after["name"])}


def port_properties(controller: Merged, port: str) -> Properties:
    """Settings of a port that stand in its controller's list."""
    kind, block = kind_of(controller.after), port_blocks_of(controller.after).get(port)
    if kind is None or not isinstance(block, Mapping):
        return {}
    named = [(field, field.of(block)) for field in kind.port_fields]
    return {field.property: field.form.to_profile(value) for field, value in named if value is not None}


def family_properties(family: str, block: Mapping[str, Any]) -> Properties:
    """Routes, rules and resolvers of the profile are written by those who place them."""
    method = method_of(family, block)
    if method == "disabled":
        return {f"{family}.method": method, **{f"{family}.{key}": "" for key in _EMPTY}}
    automatic = is_automatic(block)
    found = {
        f"{family}.method": method,
        f"{family}.addresses": ",".join(cidr(entry) for entry in block.get("address") or ()),
        **{f"{family}.{_FLAGS[flag]}": yes_or_no(automatic and block.get(flag) is False) for flag in LEASE_FLAGS},
    }
    if automatic and block.get("auto-table-id") is not None:
        found[f"{family}.route-table"] = str(block["auto-table-id"])
    if automatic and block.get("auto-route-metric") is not None:
        found[f"{family}.route-metric"] = str(block["auto-route-metric"])
    return found


def method_of(family: str, block: Mapping[str, Any]) -> str:
    if not block.get("enabled"):
        return "disabled"
    if block.get("autoconf") or (family == "ipv4" and block.get("dhcp")):
        return "auto"
    if block.get("dhcp"):
        return "dhcp"
    if block.get("address"):
        return "manual"
    return "link-local" if family == "ipv6" else "disabled"
