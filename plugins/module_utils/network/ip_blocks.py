# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One family of one interface (`ipv4`, `ipv6`): what a policy's block means on top of the one that is there.

Room: network (pure). Private to the collection. Rules of nmstate: what a policy leaves out stays, a lease becomes
static when DHCP goes off without an address being named, and a block that is off or static holds no DHCP settings.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .addresses import is_foreign, is_leased, is_link_local

Block = dict[str, Any]

LIFETIMES = ("valid-life-time", "preferred-life-time")
LEASE_FLAGS = ("auto-dns", "auto-gateway", "auto-routes")
# What makes no sense without its master switch, by family.
ONLY_WHEN_ENABLED = {"ipv4": ("dhcp", "address", "prefix-route-metric"), "ipv6": ("dhcp", "autoconf", "address")}
ONLY_WHEN_AUTOMATIC = {
    "ipv4": (*LEASE_FLAGS, "auto-route-table-id", "auto-route-metric", "dhcp-client-id", "dhcp-send-hostname",
             "dhcp-custom-hostname"),
    "ipv6": (*LEASE_FLAGS, "auto-route-table-id", "dhcp-send-hostname", "dhcp-custom-hostname"),
}  # fmt: skip
INHERITED = {"ipv4": ("dhcp",), "ipv6": ("dhcp", "autoconf")}


def is_automatic(block: Mapping[str, Any], enabled: bool | None = None) -> bool:
    """Addresses come from DHCP or router advertisements."""
    on = bool(block.get("enabled")) if enabled is None else enabled
    return on and (block.get("dhcp") is True or block.get("autoconf") is True)


def leased_families(interfaces: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Where nmstate forgets static routes: a document that says a family is automatic has to name them again."""
    return {
        (interface["name"], family)
        for interface in interfaces
        for family in INHERITED
        if is_automatic(interface.get(family) or {})
    }


def merged_block(family: str, wanted: Block, there: Block | None) -> tuple[Block, bool]:
    """The policy's block on top of the present one, and whether the family is on afterwards."""
    block = copy.deepcopy(wanted)
    enabled = bool(block.get("enabled", (there or {}).get("enabled")))
    if there is None:
        return block, enabled
    for key in INHERITED[family]:
        if enabled and key not in block and key in there:
            block[key] = there[key]
    goes_static = is_automatic(there) and enabled and not is_automatic(block, enabled)
    if goes_static and "address" in there and all(_is_dynamic(entry) for entry in block.get("address", ())):
        block["address"] = [_without_end(entry) for entry in there["address"] if not is_foreign(entry)]
    return block, enabled


def settled(family: str, block: Block, enabled: bool) -> Block:
    """Only what can be configured: no leases, no link-local addresses, no settings of what is off."""
    block = copy.deepcopy(block)
    if is_automatic(block, enabled):
        for flag in LEASE_FLAGS:
            block.setdefault(flag, True)
    if "address" in block:
        block["address"] = [_without_end(entry) for entry in block["address"] if _is_configured(entry)]
    _drop(block, () if enabled else ONLY_WHEN_ENABLED[family])
    _drop(block, () if is_automatic(block, enabled) else ONLY_WHEN_AUTOMATIC[family])
    if block.get("dhcp-send-hostname") is False:
        _drop(block, ("dhcp-custom-hostname",))
    if family == "ipv6" and block.get("autoconf") is False:
        _drop(block, ("auto-route-metric",))
    return block


def _is_dynamic(entry: Mapping[str, Any]) -> bool:
    return is_leased(entry) or is_foreign(entry) or is_link_local(entry["ip"])


def _is_configured(entry: Mapping[str, Any]) -> bool:
    return not _is_dynamic(entry)


def _without_end(entry: Mapping[str, Any]) -> Block:
    return {key: value for key, value in entry.items() if key not in LIFETIMES}


def _drop(block: Block, keys: tuple[str, ...]) -> None:
    for key in keys:
        block.pop(key, None)
