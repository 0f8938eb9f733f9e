# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of `ip` that lead from here to where a policy leads: links and addresses, then routes and rules.

Room: network, backends (pure). A command begins with who carries it out: `ip`, or `ipv6` for the kernel's switch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..addresses import cidr
from ..after import interface_after
from ..entries import Entry, same_route, same_rule
from ..merging import Merged, holds_no_address
from ..normal import normal_route
from ..shapes import FAMILIES, Interface, entries_of, peer_of, port_blocks_of, type_of
from ..typed import typed
from .goal import Goal
from .kernel_entries import place_of, route_words, rule_words
from .kinds import Field, can_be_made, kind_of

Command = tuple[str, ...]


def link_commands(goal: Goal) -> list[Command]:
    """Addresses leave first and come last, so that a port never keeps one and a link never waits for one."""
    changes = [_Change(one, goal) for one in goal.touched]
    owned = {cidr(entry) for one in goal.interfaces.values() for entry in _addresses(one.current, "ipv6")}
    steps: tuple[Iterator[Command], ...] = (
        (command for change in changes for command in change.lose_addresses()),
        (command for change in changes for command in change.leave()),
        (command for change in _one_of_each_pair(changes) for command in change.unmake()),
        (command for change in _bases_first(changes) for command in change.make()),
        (command for change in changes for command in change.settle()),
        (command for change in changes for command in change.join()),
        (command for change in changes for command in change.settle_ports()),
        (command for change in changes for command in change.switch()),
        (command for change in changes for command in change.gain_addresses(owned)),
    )
    return [command for step in steps for command in step]


def remade(one: Merged) -> bool:
    """Whether a setting changes that a link has for ever."""
    kind = kind_of(one.after)
    if one.current is None or one.is_gone or kind is None or not kind.kernel:
        return False
    before = one.current.get(kind.block) or {}
    fixed = [field for field, value in kind.settings(one.after) if field.fixed and field.of(before) != value]
    return bool(fixed) or kind.base_of(one.after) != kind.base_of(one.current)


class _Change:
    """One interface of the policy: as it is, and as it shall be."""

    def __init__(self, one: Merged, goal: Goal) -> None:
        self.one = one
        self.name = str(one.after["name"])
        self.after = interface_after(one)
        self.kind = kind_of(self.after)
        self.is_new = one.current is None or remade(one)
        self.before: Interface = {} if self.is_new else dict(one.current or {})
        self.goal = goal

    def lose_addresses(self) -> Iterator[Command]:
        if self.is_new or self.is_deleted():
            return
        for family in FAMILIES:
            if self._switches_off(family):
                continue
            gone, _new = _moves(family, self._addresses_before(family), self._addresses_after(family))
            yield from (("ip", "address", "delete", address, "dev", self.name) for address in gone)

    def leave(self) -> Iterator[Command]:
        if self.before.get("controller") and not self._controller() and not self.is_deleted():
            yield ("ip", "link", "set", "dev", self.name, "nomaster")

    def unmake(self) -> Iterator[Command]:
        if self.one.current is None:
            return
        if self.is_deleted() or self.is_new:
            yield ("ip", "link", "delete", "dev", self.name)

    def make(self) -> Iterator[Command]:
        if not self.is_new or self.one.is_gone or self.kind is None or not self.kind.kernel:
            return
        base = self.kind.base_of(self.after)
        _key, word, _property = self.kind.base
        words = [
            part for field, value in self.kind.settings(self.after) if field.fixed for part in _words(field, value)
        ]
        below = ["link", base] if base and word == "link" else []
        beside = ["peer", "name", base] if word == "peer" else [word, base] if base and word == "dev" else []
        yield ("ip", "link", "add", *below, "name", self.name, "type", self.kind.kernel, *words, *beside)

    def settle(self) -> Iterator[Command]:
        if self.one.is_gone:
            return
        named = self.after if self.is_new else self.one.apply or {}
        for key, word in (("mtu", "mtu"), ("mac-address", "address")):
            if named.get(key) and str(named[key]).upper() != str(self.before.get(key)).upper():
                yield ("ip", "link", "set", "dev", self.name, word, str(named[key]))
        if self.kind and self.kind.kernel:
            there = self.before.get(self.kind.block) or {}
            settings = [(field, value) for field, value in self.kind.settings(named) if not field.fixed and field.word]
            words = [part for field, value in settings if field.of(there) != value for part in _words(field, value)]
            if words:
                yield ("ip", "link", "set", "dev", self.name, "type", self.kind.kernel, *words)

    def join(self) -> Iterator[Command]:
        controller = self._controller()
        if not controller or self.one.is_gone:
            return
        found = self.goal.interfaces.get((controller, False))
        above = found.after if found else {}
        if controller != self.before.get("controller") or (found is not None and remade(found)):
            if type_of(above) == "bond":
                yield ("ip", "link", "set", "dev", self.name, "down")  # a bond takes no port that is up
            yield ("ip", "link", "set", "dev", self.name, "master", controller)

    def settle_ports(self) -> Iterator[Command]:
        if self.one.is_gone or self.kind is None or not self.kind.port_fields:
            return
        there = port_blocks_of(self.before)
        for name, port in port_blocks_of(self.after).items():
            named = [(field, field.of(port)) for field in self.kind.port_fields if isinstance(port, Mapping)]
            had = there.get(name) or {}
            words = [w for field, value in named if value not in (None, field.of(had)) for w in _words(field, value)]
            if words:
                yield ("ip", "link", "set", "dev", name, "type", f"{self.kind.kernel}_slave", *words)

    def switch(self) -> Iterator[Command]:
        if not self.one.is_gone and not holds_no_address(self.after) and "ipv6" in self.after:
            wanted, there = bool(self.after["ipv6"].get("enabled")), (self.before.get("ipv6") or {}).get("enabled")
            if wanted is not there or self.before.get("controller"):
                yield ("ipv6", self.name, "on" if wanted else "off")
        if self.one.is_up and (
            self.before.get("state") != "up" or self._controller() != (self.before.get("controller") or "")
        ):
            yield ("ip", "link", "set", "dev", self.name, "up")
        elif not self.one.is_up and not self.is_deleted() and self.before.get("state") == "up":
            yield ("ipv6", self.name, "keep")
            yield ("ip", "link", "set", "dev", self.name, "down")

    def gain_addresses(self, owned: set[str]) -> Iterator[Command]:
        if self.one.is_gone:
            return
        for family in FAMILIES:
            before = [] if self._switches_on(family) else self._addresses_before(family)
            _gone, new = _moves(family, before, self._addresses_after(family))
            for address in new:
                # An address that was ours a moment ago is nobody else's: no second of waiting for an objection.
                flags = ["nodad"] if family == "ipv6" and address in owned else []
                yield ("ip", "address", "replace", address, "dev", self.name, *flags)

    @property
    def stands_on(self) -> str:
        return self.kind.base_of(self.after) if self.kind and self.kind.base[1] != "peer" else ""

    def _controller(self) -> str:
        return str(self.after.get("controller") or "")

    def is_deleted(self) -> bool:
        return self.one.is_gone and self.one.current is not None and can_be_made(self.one.current)

    def _addresses_before(self, family: str) -> list[str]:
        return [cidr(entry) for entry in _addresses(self.before, family)]

    def _addresses_after(self, family: str) -> list[str]:
        if self.one.is_gone or holds_no_address(self.after):
            return []
        return [cidr(entry) for entry in _addresses(self.after, family)]

    def _switches_off(self, family: str) -> bool:
        """The kernel drops all of them by itself."""
        off = not (self.after.get(family) or {}).get("enabled")
        return family == "ipv6" and off and not holds_no_address(self.after) and not self.one.is_gone

    def _switches_on(self, family: str) -> bool:
        return family == "ipv6" and not (self.before.get(family) or {}).get("enabled")


def _addresses(interface: Mapping[str, Any] | None, family: str) -> list[Entry]:
    block = (interface or {}).get(family) or {}
    return list(block.get("address") or ()) if block.get("enabled") else []


def _moves(family: str, before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """What goes and what comes, in this order. The first address is the primary one, and a primary takes others along.

    The kernel tells IPv6 addresses newest first, so that these come in reverse order.
    """
    if family == "ipv6":
        before, after = before[::-1], after[::-1]
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return before[same:][::-1], after[same:]


def _words(field: Field, value: Any) -> list[str]:
    return field.form.to_ip(field.word, value) if field.word else []


def _one_of_each_pair(changes: Sequence[_Change]) -> Iterator[_Change]:
    """The other end of a veth goes with the first."""
    gone: set[str] = set()
    for change in changes:
        if change.name not in gone:
            yield change
            gone |= {peer} if (peer := peer_of(change.one.current or {})) and change.is_deleted() else set()


def _bases_first(changes: Sequence[_Change]) -> Iterator[_Change]:
    """The second end of a pair comes with the first."""
    left = [change for change in changes if change.is_new]
    made: set[str] = set()
    while left:
        names = {change.name for change in left}
        # In a circle nobody is ready, and the kernel will say so.
        ready = [change for change in left if change.stands_on not in names] or left
        for change in ready:
            if change.name not in made:
                yield change
                made |= {change.name, peer_of(change.after) or ""}
        left = [change for change in left if change not in ready]


def route_commands(goal: Goal, now: Mapping[str, Any]) -> list[Command]:
    """A new one takes the place of an old one at once where it can; without a way for a moment, packets are lost."""
    there = entries_of(typed(now), "routes")
    gone = [one for one in there if any(same_route(one, other) for other in goal.gone_routes)]
    kept = {place_of(one) for one in there if one not in gone}
    new = [one for one in goal.routes if not any(same_route(one, other) for other in there)]
    new.sort(key=lambda one: bool(one.get("next-hop-address")))  # a gateway must be reached by a route that is there
    places = {_place(one) for one in new}
    commands = [route_words(one, "append" if _place(one) in kept else "replace") for one in new]
    commands += [route_words(one, "delete") for one in gone if place_of(one) not in places]
    return [("ip", *words) for words in commands]


def _place(route: Entry) -> tuple[bool, str, int, int]:
    return place_of(normal_route(route))


def rule_commands(goal: Goal, now: Mapping[str, Any]) -> list[Command]:
    there = entries_of(typed(now), "route-rules")
    new = [one for one in goal.rules if not any(same_rule(one, other) for other in there)]
    gone = [one for one in there if any(same_rule(one, other) for other in goal.gone_rules)]
    words = [*(rule_words(one, "add") for one in new), *(rule_words(one, "delete") for one in gone)]
    return [("ip", *command) for command in words]
