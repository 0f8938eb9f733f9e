# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What `--diff` shows of a change: only what is about to be another one, before and after.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .after import state_after
from .hidden import masked
from .intents import Intent
from .normal import normalised
from .shapes import Interface, State, by_key

_NAMES = ("name", "type")


def diff_of(intent: Intent) -> dict[str, Any]:
    before, after = normalised(intent.now), normalised(state_after(intent.now, intent.change))
    return {
        "before_header": f"{intent.policy}: now",
        "after_header": f"{intent.policy}: then",
        "before": masked(_differing(before, after)),
        "after": masked(_differing(after, before)),
    }


def _differing(state: State, other: State) -> State:
    found: State = {}
    for part, value in state.items():
        there = other.get(part)
        if part == "interfaces":
            found[part] = _differing_interfaces(state, other)
        elif isinstance(value, list):
            found[part] = [one for one in value if one not in (there or [])]
        elif value != there:
            found[part] = value
    return {part: value for part, value in found.items() if value}


def _differing_interfaces(state: State, other: State) -> list[Interface]:
    there = by_key(other)
    found = [_differing_keys(interface, there.get(key, {})) for key, interface in by_key(state).items()]
    return [interface for interface in found if interface]


def _differing_keys(interface: Interface, other: Mapping[str, Any]) -> Interface:
    differing = {key: value for key, value in interface.items() if other.get(key) != value}
    return {**{key: interface[key] for key in _NAMES if key in interface}, **differing} if differing else {}
