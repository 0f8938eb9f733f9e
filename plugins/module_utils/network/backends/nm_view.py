# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network as NetworkManager has it: the kernel's view, and what the active profiles say was configured.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..merging import holds_no_address
from ..shapes import FAMILIES
from .nm_command import CONNECTED, UNMANAGED, Manager, Profile

_DEFAULT_PRIORITY = 100
_OFF: dict[str, Any] = {"enabled": False}
_LISTS = {"server": "dns", "search": "dns-search", "options": "dns-options"}
# Method of a profile → what a document says of it.
METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "ipv4": {
        "auto": {"enabled": True, "dhcp": True},
        "manual": {"enabled": True, "dhcp": False},
    },
    "ipv6": {
        "auto": {"enabled": True, "dhcp": True, "autoconf": True},
        "dhcp": {"enabled": True, "dhcp": True, "autoconf": False},
        "manual": {"enabled": True, "dhcp": False, "autoconf": False},
        "link-local": {"enabled": True, "dhcp": False, "autoconf": False},
    },
}


def as_configured(state: dict[str, Any], manager: Manager, global_dns: Mapping[str, list[str]]) -> dict[str, Any]:
    """The kernel's state with what only a profile knows: whether a lease is wanted, and whose a resolver is."""
    for interface in state["interfaces"]:
        _overlay(interface, manager)
    state["dns-resolver"]["config"] = dict(global_dns) or dns_of(
        (name, profile) for name in manager.devices if (profile := manager.active(name))
    )
    return state


def _overlay(interface: dict[str, Any], manager: Manager) -> None:
    device = manager.devices.get(interface["name"])
    if device is None or device.state == UNMANAGED:
        interface["state"] = "ignore"
        return
    if not device.is_up:
        interface["state"] = "down"  # the kernel's flag is set all the same, so that a cable can be noticed
        interface.update({family: dict(_OFF) for family in FAMILIES})
        return
    profile = manager.active(interface["name"])
    if interface["state"] != "ignore":
        interface["state"] = "up"
    if profile is None or device.state != CONNECTED:
        return
    for family in FAMILIES:
        port = holds_no_address(interface)
        interface[family] = dict(_OFF) if port else family_in(profile, family, interface[family])


def family_in(profile: Profile, family: str, kernel: Mapping[str, Any]) -> dict[str, Any]:
    said = METHODS[family].get(profile.get(f"{family}.method"))
    if said is None:
        known = profile.get(f"{family}.method") in ("disabled", "ignore", "")
        return dict(_OFF) if known else dict(kernel)  # shared, and what may come
    addresses = [address.strip().split("/") for address in profile.get(f"{family}.addresses").split(",") if address]
    found = {**said, "address": [{"ip": ip, "prefix-length": int(length)} for ip, length in addresses]}
    if found["dhcp"]:
        found.update(
            {
                "auto-dns": profile.get(f"{family}.ignore-auto-dns") != "yes",
                "auto-gateway": profile.get(f"{family}.never-default") != "yes",
                "auto-routes": profile.get(f"{family}.ignore-auto-routes") != "yes",
            }
        )
    return found


def dns_of(profiles: Iterable[tuple[str, Profile]]) -> dict[str, list[str]]:
    """As NetworkManager writes them down: by priority, then IPv4 first."""
    holding = sorted(
        (int(profile.get(f"{family}.dns-priority") or 0) or _DEFAULT_PRIORITY, number, family, profile)
        for number, (_name, profile) in enumerate(profiles)
        for family in FAMILIES
        if any(profile.get(f"{family}.{key}") for key in _LISTS.values())
    )
    found: dict[str, list[str]] = {}
    for key, name in _LISTS.items():
        listed = [one.strip() for *_o, family, profile in holding for one in _list(profile, family, name)]
        if listed:
            found[key] = list(dict.fromkeys(listed))
    return found


def _list(profile: Profile, family: str, name: str) -> list[str]:
    return [one for one in profile.get(f"{family}.{name}").split(",") if one]
