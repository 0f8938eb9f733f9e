# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking a policy back from the interfaces as they are now: key by key, before, then, and now.

Room: network (pure). Private to the collection. `target` is what the way back would set, `then` what the policy left
behind, `now` what is there. Equal to `target`: nothing to do. Wanted by another policy: kept. Equal to `then`:
reverted. Anything else was changed since, and is not ours any more.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .claims import Claims, Path, value_at
from .differences import words_for
from .hidden import masked
from .merging import holds_no_address, name_and_type, over
from .normal import normal_interface
from .reversal import Ledger
from .shapes import (
    FAMILIES,
    PORT_LISTS,
    WHOLE_BLOCKS,
    Interface,
    Key,
    is_absent,
    is_virtual,
    key_of,
    names_used_by,
    port_blocks_of,
    ports_of,
    set_ports,
    state_of,
    type_of,
)
from .three_way_families import family_back

# A state that does not mention these means this.
UNSAID: dict[Path, Any] = {
    ("description",): "",
    ("controller",): "",
    ("accept-all-mac-addresses",): False,
    ("lldp", "enabled"): False,
    ("ethernet", "sr-iov", "total-vfs"): 0,
}


@dataclass(frozen=True)
class Scene:
    """Interfaces at the three times, by key."""

    before: Mapping[Key, Interface]
    then: Mapping[Key, Interface]
    now: Mapping[Key, Interface]


def interfaces_back(targets: list[Interface], scene: Scene, claims: Claims, ledger: Ledger) -> None:
    """Controllers first: whether a port may have its addresses back depends on whether it is let go."""
    found: list[Interface] = []
    for target in sorted(targets, key=lambda one: (type_of(one) not in PORT_LISTS, not is_absent(one))):
        found += _one_back(target, scene, claims, ledger)
    order = [key_of(target) for target in targets]
    ledger.put("interfaces", sorted(found, key=lambda one: order.index(key_of(one))))


def _one_back(target: Interface, scene: Scene, claims: Claims, ledger: Ledger) -> Iterator[Interface]:
    key, name = key_of(target), target["name"]
    now = scene.now.get(key)
    if is_absent(target):
        yield from _removed(target, now, claims, ledger)
    elif key not in scene.then:
        yield from _made_again(target, scene, claims, ledger)
    elif now is None:
        ledger.block(name, "", f"{name}: is gone")
    elif (why := _held_as_port(scene, key, ledger)) is not None:
        ledger.block(name, why, f"{name} stays a port of {now.get('controller')}")
    else:
        found = _keys_back(target, scene, claims, ledger)
        if found:
            yield {**name_and_type(now, state_of(now)), **found}


def _removed(target: Interface, now: Interface | None, claims: Claims, ledger: Ledger) -> Iterator[Interface]:
    name = target["name"]
    if now is None:
        return
    if type_of(now) != type_of(target):
        ledger.block(name, "", f"{name}: the policy made a {type_of(target)}, now it is a {type_of(now)}")
    elif owner := claims.of_interface(name):
        ledger.block(name, owner, name)
    else:
        ledger.revert(f"{name} removed")
        yield target


def _made_again(target: Interface, scene: Scene, claims: Claims, ledger: Ledger) -> Iterator[Interface]:
    name, now = target["name"], scene.now.get(key_of(target))
    if now is None:
        below = next((other for other in names_used_by(target) if other in ledger.blocked), None)
        if owner := claims.of_absence(key_of(target)):
            ledger.block(name, owner, f"{name} absent")
        elif below is not None:
            ledger.block(name, ledger.blocked[below], f"{name}: {below} is not back")
        else:
            ledger.revert(f"{name} made again")
            yield _without_claimed_ports(target, scene, claims, ledger)
    elif normal_interface(over(target, now)) != normal_interface(now):
        ledger.block(name, "", f"{name}: the policy removed it, but somebody made it again")


def _without_claimed_ports(target: Interface, scene: Scene, claims: Claims, ledger: Ledger) -> Interface:
    name, ports = target["name"], port_blocks_of(target)
    free = [block for port, block in ports.items() if not _is_taken(port, name, scene, claims, ledger)]
    if len(free) == len(ports):
        return target
    found = copy.deepcopy(target)
    set_ports(found, free)
    return found


def _is_taken(port: str, controller: str, scene: Scene, claims: Claims, ledger: Ledger) -> bool:
    """A port that cannot come back: a policy wants addresses on it or has it elsewhere, or somebody moved it since."""
    then, now = (times.get((port, False), {}).get("controller") or "" for times in (scene.then, scene.now))
    if owner := claims.of_freedom(port):
        ledger.keep(f"{port} controller none", owner)
        return True
    if now in ("", controller):
        return False
    owner = claims.of_membership(now, port)
    if not owner and now == then:
        return False
    ledger.block(f"{controller}:{port}", owner, f"{port} controller {now}" if owner else f"{port}: is in {now} now")
    return True


def _held_as_port(scene: Scene, key: Key, ledger: Ledger) -> str | None:
    """The policy that keeps it in the controller it was put into, "" if that stays for another reason; else None."""
    before, then, now = scene.before.get(key, {}), scene.then[key], scene.now[key]
    if not holds_no_address(then) or holds_no_address(before) or now.get("controller") != then.get("controller"):
        return None
    return ledger.blocked.get(now["controller"], ledger.blocked.get(f"{now['controller']}:{key[0]}"))


def _keys_back(target: Interface, scene: Scene, claims: Claims, ledger: Ledger) -> Interface:
    key, name = key_of(target), target["name"]
    then, now = scene.then[key], scene.now[key]
    found: Interface = {}
    ports = PORT_LISTS.get(type_of(target))
    for path, value in _leaves(target, skipping={"name", "type", *FAMILIES}):
        if path != ports and _reverts(
            name, path, value, value_at(then, path), value_at(now, path), claims, key, ledger
        ):
            _set(found, path, value)
    for family in FAMILIES:
        if _was_made_a_port_since(scene, key):
            _off_for_its_controller(name, family, target, now, claims, ledger)
        elif family in target:
            block = family_back(key, family, target[family], then.get(family), now.get(family), claims, ledger)
            if block is not None:
                found[family] = block
    if ports and ports_of(target) is not None:
        _ports_back(target, scene, found, claims, ledger)
    _complete(found, now, scene.before.get(key, {}))
    return found


def _complete(found: Interface, now: Interface, before: Interface) -> None:
    """What nmstate takes as a whole is given as a whole. The interface is made anew by it, with its old address."""
    for block in WHOLE_BLOCKS:
        if block in found:
            found[block] = over(found[block], now.get(block) or {})
            if is_virtual(now) and before.get("mac-address"):
                found.setdefault("mac-address", before["mac-address"])


def _was_made_a_port_since(scene: Scene, key: Key) -> bool:
    then, now = scene.then[key], scene.now[key]
    if now.get("controller") == then.get("controller"):
        return False
    controller = next((one for (name, _user), one in scene.now.items() if name == now.get("controller")), {})
    return holds_no_address(now, type_of(controller))


def _off_for_its_controller(
    name: str, family: str, target: Interface, now: Interface, claims: Claims, ledger: Ledger
) -> None:
    if (target.get(family) or {}).get("enabled"):
        controller = now["controller"]
        ledger.block(
            f"{name} {family}", claims.of_membership(controller, name), f"{name} is a port of {controller} now"
        )


def _reverts(name: str, path: Path, target: Any, then: Any, now: Any, claims: Claims, key: Key, ledger: Ledger) -> bool:
    target, then, now = (UNSAID.get(path) if value is None else value for value in (target, then, now))
    if now == target or target == then:
        return False
    what = f"{name} {' '.join(path)}"
    if path == ("controller",) and target in ledger.blocked:
        ledger.block(name, ledger.blocked[target], f"{what} {target}: it is not back")
        return False
    if path == ("controller",) and f"{target}:{name}" in ledger.blocked:  # the controller has told why
        return False
    shown = [words_for(masked(value, path[-1])) or "none" for value in (target, then, now)]
    owner = claims.of_value(key, path, now)
    if path == ("controller",):
        owner = owner or (claims.of_freedom(name) if target else "") or (claims.of_membership(now, name) if now else "")
    if owner:
        ledger.keep(f"{what} {shown[2]}", owner)
    elif now == then:
        ledger.revert(f"{what} {shown[0]}")
        return True
    else:
        ledger.drift(f"{what}: the policy set {shown[1]}, now {shown[2]}")
    return False


def _ports_back(target: Interface, scene: Scene, found: Interface, claims: Claims, ledger: Ledger) -> None:
    name, key = target["name"], key_of(target)
    before, left, here = (port_blocks_of(times) for times in (target, scene.then[key], scene.now[key]))
    result = dict(here)
    ours = [port for port in left if port not in before and port in here]
    back = [port for port in before if port not in left and port not in here]
    if (ours or back) and (owner := claims.of_ports(key_of(target), list(here))):
        for port in [*ours, *back]:
            ledger.block(f"{name}:{port}", owner, f"{name} ports {', '.join(here) or 'none'}")
        return
    for port in ours:
        if owner := claims.of_port(key_of(target), port):
            ledger.block(f"{name}:{port}", owner, f"{name} port {port}")
        else:
            ledger.revert(f"{name} without port {port}")
            del result[port]
    for port in back:
        if not _is_taken(port, name, scene, claims, ledger):
            ledger.revert(f"{name} with port {port}")
            result[port] = before[port]
    for port in before:
        if port in left and port in here:
            result[port] = _port_settings_back(target, port, (before[port], left[port], here[port]), claims, ledger)
    if result != here:
        found["type"] = type_of(target)
        set_ports(found, list(result.values()))


def _port_settings_back(
    controller: Interface, port: str, times: tuple[Any, Any, Any], claims: Claims, ledger: Ledger
) -> Any:
    """What the controller says of a port that was there before and is there now, such as its cost in the tree."""
    before, left, here = times
    if not all(isinstance(block, Mapping) for block in times):
        return here
    result = dict(here)
    for key, value in before.items():
        if value in (left.get(key), here.get(key)):
            continue
        what = f"{controller['name']} port {port} {key}"
        if owner := claims.of_port_setting(key_of(controller), port, key, here.get(key)):
            ledger.keep(f"{what} {words_for(here.get(key))}", owner)
        elif here.get(key) == left.get(key):
            ledger.revert(f"{what} {words_for(value)}")
            result[key] = copy.deepcopy(value)
        else:
            ledger.drift(f"{what}: the policy set {words_for(left.get(key))}, now {words_for(here.get(key))}")
    return result


def _leaves(block: Mapping[str, Any], skipping: set[str], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for key, value in block.items():
        if key in skipping:
            continue
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, set(), (*path, key))
        else:
            yield (*path, key), value


def _set(block: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        block = block.setdefault(key, {})
    block[path[-1]] = value
