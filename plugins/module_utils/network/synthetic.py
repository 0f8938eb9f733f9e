# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A state before that nobody recorded, made up: for removing a policy we did not apply ourselves.

Room: network (pure). Private to the collection. "Delete", never "revert": virtual interfaces of the policy go,
hardware is set down without addresses, static DNS is forgotten. Whether something was there before the policy cannot
be known, so nothing can come back.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from .entries import clean, same_route, same_rule
from .merging import merge, name_and_type
from .shapes import (
    FAMILIES,
    Interface,
    Key,
    State,
    entries_of,
    interfaces_of,
    is_absent,
    is_virtual,
    key_of,
    ports_of,
)
from .typed import typed


def synthetic_pre_state(desired: Mapping[str, Any], now: Mapping[str, Any]) -> State:
    """What the node would be had the policy never been: as now, without everything the policy names."""
    desired, now = typed(desired), typed(now)
    named = {key_of(interface): interface for interface in interfaces_of(desired) if not is_absent(interface)}
    freed = {port for interface in named.values() for port in ports_of(interface) or ()}
    gone = _goes_with_the_policy(named, now)
    found: State = {
        "interfaces": [
            _bare(interface) if key_of(interface) in named else _free(interface, named, freed)
            for interface in interfaces_of(now)
            if interface["name"] not in gone
        ],
    }
    for block, same in (("routes", same_route), ("route-rules", same_rule)):
        wanted = [entry for entry in entries_of(desired, block) if not is_absent(entry)]
        stay = [entry for entry in entries_of(now, block) if not any(same(entry, one) for one in wanted)]
        found[block] = {"config": [clean(entry) for entry in stay if entry.get("next-hop-interface") not in gone]}
    dns = now.get("dns-resolver") or {}
    said = (desired.get("dns-resolver") or {}).get("config")
    found["dns-resolver"] = {"config": {}} if said else copy.deepcopy(dns)
    if now.get("hostname"):
        found["hostname"] = copy.deepcopy(now["hostname"])
    return found


def _goes_with_the_policy(named: Mapping[Key, Interface], now: State) -> set[str]:
    """Its virtual interfaces, and what stands on them and cannot be without."""
    gone = {
        interface["name"]
        for interface in interfaces_of(now)
        if key_of(interface) in named and (is_virtual(interface) or is_virtual(named[key_of(interface)]))
    }
    removal = {"interfaces": [name_and_type(one, "absent") for one in interfaces_of(now) if one["name"] in gone]}
    return {one.after["name"] for one in merge(removal, now).values() if one.is_gone}


def _bare(interface: Interface) -> Interface:
    """Hardware nobody configured."""
    off = {family: {"enabled": False} for family in FAMILIES}
    return {**copy.deepcopy(interface), **name_and_type(interface, "down"), **off, "controller": ""}


def _free(interface: Interface, named: Mapping[Key, Interface], freed: set[str]) -> Interface:
    """A port of a controller that goes; one that stays where the policy was not."""
    found = copy.deepcopy(interface)
    if interface["name"] in freed and any(interface.get("controller") == name for name, _user in named):
        found.update({"state": "down", "controller": "", **{family: {"enabled": False} for family in FAMILIES}})
    return found
