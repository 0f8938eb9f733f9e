# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The orders to NetworkManager that lead where a policy leads: profiles first, then what is brought up and down.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..merging import Merged
from ..shapes import names_used_by, ports_of
from .goal import Goal
from .ip_plan import remade
from .kinds import can_be_made
from .nm_command import Manager, Profile
from .nm_places import Placing
from .nm_properties import Properties, port_properties, properties_of


@dataclass(frozen=True)
class Work:
    """One interface: what is written into its profile, and how it becomes true."""

    name: str
    profile: Profile | None  # None: a new one
    properties: Properties
    again: bool = False  # must be brought up; otherwise NetworkManager can change it as it is
    anew: bool = False  # must be made again before
    is_controller: bool = False


@dataclass(frozen=True)
class Plan:
    work: list[Work] = field(default_factory=list)  # in the order in which they come up
    down: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)  # uuids
    removed: list[str] = field(default_factory=list)  # devices that must go even if they have no profile
    complaints: list[str] = field(default_factory=list)


def plan(goal: Goal, manager: Manager) -> Plan:
    placing = Placing(goal, manager)
    works = {}
    for name, one in placing.up.items():
        properties = _properties(one, goal, manager) if one.touched else {}
        properties.update(placing.found.get(name, {}))
        properties.update(_port_changes(one, goal, manager))
        work = _work(one, manager, properties, again=name in placing.again)
        if properties or work.again:
            works[name] = work
    gone = [one for one in goal.touched if one.is_gone and one.current is not None]
    return Plan(
        list(_bases_first(works, goal)),
        [one.after["name"] for one in goal.touched if not one.is_up and not one.is_gone and _is_up(one, manager)],
        [profile.uuid for one in gone for profile in manager.written_for(one.after["name"])],
        [one.after["name"] for one in gone if can_be_made(one.current or {})],
        placing.complaints,
    )


def _properties(one: Merged, goal: Goal, manager: Manager) -> Properties:
    return properties_of(one, goal, manager.of(one.after["name"]))


def _port_changes(one: Merged, goal: Goal, manager: Manager) -> Properties:
    """A port that stays where it is, but whose settings its controller's list changes."""
    profile = manager.active(one.after["name"])
    controller = goal.interfaces.get((str(one.after.get("controller") or ""), False))
    if one.touched or profile is None or controller is None or not controller.touched:
        return {}
    wanted = port_properties(controller, one.after["name"])
    return {key: value for key, value in wanted.items() if profile.get(key) != value}


def _work(one: Merged, manager: Manager, properties: Properties, *, again: bool) -> Work:
    name = one.after["name"]
    profile = manager.of(name)
    moved = profile is not None and profile.get("connection.master") != (one.after.get("controller") or "")
    again |= one.touched and (profile is None or manager.active(name) is None or moved or remade(one))
    # Settings of a port take effect when it is attached.
    again |= any(key.startswith("bridge-port.") for key in properties)
    return Work(name, profile, properties, again, remade(one), ports_of(one.after) is not None)


def _is_up(one: Merged, manager: Manager) -> bool:
    device = manager.devices.get(one.after["name"])
    return device is not None and device.is_up


def _bases_first(works: dict[str, Work], goal: Goal) -> Iterator[Work]:
    """Controllers before their ports, and what others stand on before those."""
    left = dict(works)
    while left:
        ready = [name for name in left if not _waits(goal.interfaces[name, False], left)] or list(left)
        yield from (left.pop(name) for name in ready)


def _waits(one: Merged, left: dict[str, Work]) -> bool:
    own = set(ports_of(one.after) or ()) | {one.after["name"]}
    peer = (one.after.get("veth") or {}).get("peer")
    return any(name in left and name not in own and name != peer for name in names_used_by(one.after))
