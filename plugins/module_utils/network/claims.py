# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose is it: what other live policies want of the things one policy would take back.

Room: network (pure). Private to the collection. A claim counts only where it is true now: a policy whose value
somebody has overwritten since does not hold back anybody. So policies that lie on top of each other can be taken off
from above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .addresses import cidr, holds
from .entries import clean
from .shapes import (
    FAMILIES,
    Interface,
    Key,
    State,
    by_key,
    entries_of,
    is_absent,
    names_used_by,
    port_blocks_of,
    ports_of,
)
from .typed import typed
from .upstream import dns_lists

Path = tuple[str, ...]
Same = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


def value_at(block: Any, path: Path) -> Any:
    for key in path:
        block = block.get(key) if isinstance(block, Mapping) else None
    return block


def _is_content(config: Mapping[str, Any], lists: Mapping[str, list[str]]) -> bool:
    wanted = dns_lists(config, only_named=True)
    return all(lists.get(key, []) == value for key, value in wanted.items()) if wanted else not any(lists.values())


class Claims:
    """Desired states of the other live policies, by policy name."""

    def __init__(self, desired: Mapping[str, Mapping[str, Any]]) -> None:
        self._states: dict[str, State] = {policy: typed(state) for policy, state in sorted(desired.items())}
        self._interfaces: dict[str, dict[Key, Interface]] = {
            policy: by_key(state) for policy, state in self._states.items()
        }
        self._ways: list[tuple[str, str, str]] = []

    def of_interface(self, name: str) -> str:
        """Who needs this interface to exist: by name, as a port or parent, or for a route or rule."""
        return next((policy for policy in self._states if name in set(self._names(policy))), "")

    def of_absence(self, key: Key) -> str:
        return self._first(policy for policy, found in self._blocks(key) if is_absent(found))

    def of_value(self, key: Key, path: Path, now: Any) -> str:
        """Who wants just this value."""
        wanted = ((policy, value_at(found, path)) for policy, found in self._blocks(key))
        return self._first(policy for policy, value in wanted if value is not None and value == now)

    def of_lease_flag(self, key: Key, family: str, flag: str, now: Any) -> str:
        """Who wants it on without a word: a policy that speaks of an automatic family turns on what it leaves out."""
        blocks = ((policy, found.get(family)) for policy, found in self._blocks(key))
        return self._first(
            policy
            for policy, block in blocks
            if now is True and isinstance(block, Mapping) and block.get("enabled") is not False and flag not in block
        )

    def keep_way(self, interface: str, next_hop: str, owner: str) -> None:
        """A route that stays for somebody: the address it stands on must stay, too."""
        self._ways.append((interface, next_hop, owner))

    def of_address(self, key: Key, family: str, text: str) -> str:
        by_name = (
            policy
            for policy, found in self._blocks(key)
            if text in [cidr(entry) for entry in (found.get(family) or {}).get("address") or ()]
        )
        by_way = (owner for interface, hop, owner in self._ways if interface == key[0] and holds(text, hop))
        return self._first(by_name) or self._first(by_way)

    def of_addresses(self, key: Key, family: str, now: list[str], automatic: bool) -> str:
        """Who wants just this list: a policy names all at once, and beside a lease naming none means that."""
        blocks = ((policy, found.get(family)) for policy, found in self._blocks(key))
        named = (
            (policy, block.get("address") or ())
            for policy, block in blocks
            if isinstance(block, Mapping) and ("address" in block or (automatic and block.get("enabled") is not False))
        )
        return self._first(policy for policy, entries in named if [*map(cidr, entries)] == now)

    def of_freedom(self, name: str) -> str:
        """Who wants addresses on this interface, which therefore must not become a port."""
        return self._first(
            policy
            for policy, found in self._blocks((name, False))
            if any((found.get(family) or {}).get("enabled") for family in FAMILIES)
        )

    def of_ports(self, key: Key, now: list[str]) -> str:
        lists = ((policy, ports_of(found)) for policy, found in self._blocks(key))
        return self._first(policy for policy, ports in lists if ports is not None and sorted(ports) == sorted(now))

    def of_port(self, key: Key, port: str) -> str:
        by_controller = (policy for policy, found in self._blocks(key) if port in port_blocks_of(found))
        by_port = (policy for policy, found in self._blocks((port, False)) if found.get("controller") == key[0])
        return self._first(by_controller) or self._first(by_port)

    def of_port_setting(self, key: Key, port: str, setting: str, now: Any) -> str:
        named = ((policy, port_blocks_of(found).get(port)) for policy, found in self._blocks(key))
        return self._first(
            policy
            for policy, block in named
            if isinstance(block, Mapping) and now is not None and block.get(setting) == now
        )

    def of_membership(self, controller: str, port: str) -> str:
        """The same, where only the controller's name is known."""
        return self.of_port((controller, False), port) or self.of_port((controller, True), port)

    def of_entry(self, block: str, entry: Mapping[str, Any], others: list[Any], same: Same) -> str:
        """Who wants this route or rule, and would not be content with one of the others."""
        return self._first(
            policy
            for policy, wanted in self._entries(block)
            if not is_absent(wanted) and same(wanted, entry) and not any(same(wanted, other) for other in others)
        )

    def of_removal(self, block: str, entry: Mapping[str, Any], matches: Same) -> str:
        """Who wants this route or rule to be gone, and does not add it again."""
        named = [(policy, is_absent(wanted), matches(clean(wanted), entry)) for policy, wanted in self._entries(block)]
        adds = {policy for policy, absent, match in named if match and not absent}
        return self._first(policy for policy, absent, match in named if match and absent and policy not in adds)

    def of_dns(self, now: Mapping[str, list[str]], target: Mapping[str, list[str]]) -> str:
        """Who is content now and would not be afterwards."""
        configs = ((policy, (state.get("dns-resolver") or {}).get("config")) for policy, state in self._states.items())
        return self._first(
            policy
            for policy, config in configs
            if config is not None and _is_content(config, now) and not _is_content(config, target)
        )

    def of_part(self, part: str, path: Path, now: Any) -> str:
        """Who wants this value outside of the interfaces, such as the host name."""
        wanted = ((policy, value_at(state.get(part), path)) for policy, state in self._states.items())
        return self._first(policy for policy, value in wanted if value is not None and value == now)

    def _blocks(self, key: Key) -> Iterator[tuple[str, Interface]]:
        for policy, interfaces in self._interfaces.items():
            # A policy may leave out the type, and then it cannot know about user space.
            found = interfaces.get(key) or interfaces.get((key[0], False))
            if found is not None:
                yield policy, found

    def _names(self, policy: str) -> Iterator[str]:
        for interface in self._interfaces[policy].values():
            if not is_absent(interface):
                yield interface["name"]
                yield from names_used_by(interface)
        for block, key in (("routes", "next-hop-interface"), ("route-rules", "iif")):
            for entry in entries_of(self._states[policy], block):
                if not is_absent(entry) and entry.get(key):
                    yield entry[key]

    def _entries(self, block: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for policy, state in self._states.items():
            for entry in entries_of(state, block):
                yield policy, entry

    @staticmethod
    def _first(policies: Iterator[str]) -> str:
        return next(policies, "")
