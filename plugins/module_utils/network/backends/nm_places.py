# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where routes, rules and resolvers live: each in the profile of an interface, found again or placed anew.

Room: network, backends (pure). NetworkManager knows no route, rule or resolver that is nobody's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..addresses import MAIN_TABLE, is_ipv6
from ..after import interface_after
from ..differences import words_for_route, words_for_rule
from ..entries import Entry, family_of, family_of_route, same_route, same_rule, table_of
from ..merging import Merged, holds_no_address
from ..shapes import FAMILIES, entries_of, state_of
from .goal import Goal
from .nm_command import Manager, Profile
from .nm_entries import Line, route_text, routes_in, rule_text, rules_in
from .nm_properties import Properties
from .nm_view import dns_of

_FIRST_PRIORITY = 30000  # of rules that have none, as nmstate does it
_NONE = Profile("", {})


@dataclass
class Placing:
    """What must be written for routes, rules and resolvers, by interface; and what cannot be had."""

    goal: Goal
    manager: Manager
    found: dict[str, Properties] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    again: set[str] = field(default_factory=set)  # interfaces that must be brought up for it

    def __post_init__(self) -> None:
        self.up = {one.after["name"]: one for one in self.goal.interfaces.values() if self._is_up(one)}
        self._place_routes()
        self._place_rules()
        self._place_dns()

    def _is_up(self, one: Merged) -> bool:
        return state_of(one.after) == "up" and (one.touched or self.manager.active(one.after["name"]) is not None)

    def can_hold(self, name: str, family: str) -> bool:
        one = self.up.get(name)
        after = interface_after(one) if one else {}
        return bool((after.get(family) or {}).get("enabled")) and not holds_no_address(after)

    def _profile(self, name: str) -> Profile:
        """As far as its contents stay: a port that leaves its controller has none."""
        profile = self.manager.of(name) or _NONE
        return _NONE if profile.get("connection.master") else profile

    def _write(self, name: str, key: str, value: str) -> None:
        mine = self.found.setdefault(name, {})
        mine[key] = value
        if self._profile(name).get(key) == value:
            del mine[key]  # it is so already, whatever was said of it before

    def _holders(self) -> Iterator[tuple[str, str]]:
        yield from ((name, family) for name in self.up for family in FAMILIES if self.can_hold(name, family))

    # -- routes ------------------------------------------------------------------------------------------------------

    def _place_routes(self) -> None:
        before = entries_of(self.goal.pre, "routes")
        new = [one for one in self.goal.routes if not any(same_route(one, other) for other in before)]
        for name, family in self._holders():
            lines = routes_in(self._profile(name), family, name)
            gone = [one for one in self.goal.gone_routes if _belongs(one, name, family)]
            self._complain("route", words_for_route, [one for one in gone if not _among(one, lines, same_route)])
            stay = [line.text for line in lines if not any(same_route(line.entry, one) for one in gone)]
            come = [route_text(one) for one in new if _belongs(one, name, family)]
            if any(table_of(one) != MAIN_TABLE for one in gone):
                self.again.add(name)  # reapplied, NetworkManager forgets those of other tables where they are
            rewritten = self._rewrites(name, family)
            if gone or come or (rewritten and lines):
                self._write(name, f"{family}.gateway", "")
                self._write(name, f"{family}.routes", ", ".join([*stay, *come]))
        homeless = [one for one in new if not self.can_hold(str(one.get("next-hop-interface")), family_of_route(one))]
        self.complaints += [f"route {words_for_route(one)}: no interface of it is up" for one in homeless]

    def _rewrites(self, name: str, family: str) -> bool:
        """A gateway needs an address beside it, which a change of the family may take away."""
        one = self.up[name]
        return one.touched and family in (one.apply or {})

    # -- rules -------------------------------------------------------------------------------------------------------

    def _place_rules(self) -> None:
        lists = {holder: rules_in(self._profile(holder[0]), holder[1]) for holder in self._holders()}
        everywhere = [
            line for one in self.manager.profiles.values() for family in FAMILIES for line in rules_in(one, family)
        ]
        lost = [one for one in self.goal.gone_rules if not _among(one, everywhere, same_rule)]
        self._complain("rule", words_for_rule, lost)
        before = entries_of(self.goal.pre, "route-rules")
        for holder, lines in lists.items():
            lists[holder] = [one for one in lines if not _matches_any(one, self.goal.gone_rules, same_rule)]
        held = [line for lines in lists.values() for line in lines]
        for number, rule in enumerate(self.goal.rules):
            foreign = any(same_rule(rule, one) for one in before) and not _among(rule, everywhere, same_rule)
            if _among(rule, held, same_rule) or foreign:
                continue
            if rule.get("priority") in (None, -1):
                rule = {**rule, "priority": _FIRST_PRIORITY + number}
            home = self._holder_of(rule)
            if home is None:
                self.complaints.append(f"rule {words_for_rule(rule)}: no interface with {family_of(rule)} can hold it")
                continue
            lists[home].append(Line(rule, rule_text(rule)))
        for (name, family), lines in lists.items():
            self._write(name, f"{family}.routing-rules", ", ".join(line.text for line in lines))

    def _holder_of(self, rule: Entry) -> tuple[str, str] | None:
        """An interface with a route in the rule's table, else one of the policy, else the one to everywhere."""
        family = family_of(rule)
        able = [name for name, other in self._holders() if other == family]
        in_table = [route.get("next-hop-interface") for route in self.goal.routes if _is_in(route, rule)]
        named = [name for name in able if self.up[name].touched]
        return next(
            ((name, family) for name in [*in_table, *named, *self._leading(family), *able] if name in able), None
        )

    def _leading(self, family: str) -> list[str]:
        everywhere = [one for one in self.goal.routes if one.get("destination") in ("0.0.0.0/0", "::/0")]
        return [str(one.get("next-hop-interface")) for one in everywhere if family_of_route(one) == family]

    # -- resolvers ---------------------------------------------------------------------------------------------------

    def _place_dns(self) -> None:
        stays = [(name, self._only(self._profile(name), name)) for name in self.up]
        if dns_of(stays) == self.goal.dns:
            return
        for name, family in self._holders():
            for key in ("dns", "dns-search", "dns-options", "dns-priority"):
                if self._profile(name).get(f"{family}.{key}") not in ("", "0"):
                    self._write(name, f"{family}.{key}", "" if key != "dns-priority" else "0")
        servers = self.goal.dns.get("server") or []
        families = list(dict.fromkeys("ipv6" if is_ipv6(server) else "ipv4" for server in servers)) or ["ipv4"]
        if servers != sorted(servers, key=lambda server: families.index("ipv6" if is_ipv6(server) else "ipv4")):
            self.complaints.append("dns-resolver.config.server: resolvers of one family must stand together")
        for number, family in enumerate(families if self.goal.dns else ()):
            home = self._holder_of_dns(family)
            if home is None:
                self.complaints.append(f"dns-resolver: no interface with {family} can hold a resolver")
                continue
            mine = [server for server in servers if is_ipv6(server) == (family == "ipv6")]
            self._write(home, f"{family}.dns", ",".join(mine))
            if number == 0:
                self._write(home, f"{family}.dns-search", ",".join(self.goal.dns.get("search") or ()))
                self._write(home, f"{family}.dns-options", ",".join(self.goal.dns.get("options") or ()))
            if families[0] == "ipv6":  # otherwise IPv4 comes first by itself
                self._write(home, f"{family}.dns-priority", str(40 + number))

    def _only(self, profile: Profile, name: str) -> Profile:
        """The settings of families that stay on."""
        on = tuple(family for family in FAMILIES if self.can_hold(name, family))
        return Profile(profile.uuid, {key: value for key, value in profile.settings.items() if key.startswith(on)})

    def _holder_of_dns(self, family: str) -> str | None:
        able = [name for name, other in self._holders() if other == family and name != "lo"]
        held = [name for name in able if self._profile(name).get(f"{family}.dns")]
        both = [*held, *self._leading(family), *self._leading("ipv4"), *able]
        return next((name for name in both if name in able), None)

    def _complain(self, what: str, words: Callable[[Mapping[str, Any]], str], lost: list[Entry]) -> None:
        self.complaints += [f"{what} {words(one)}: in no profile of NetworkManager, remove it with ip" for one in lost]


def _belongs(route: Entry, name: str, family: str) -> bool:
    return route.get("next-hop-interface") == name and family_of_route(route) == family


def _is_in(route: Entry, rule: Entry) -> bool:
    return table_of(route) == rule.get("route-table") and family_of_route(route) == family_of(rule)


def _among(entry: Entry, lines: list[Line], same: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]) -> bool:
    return any(same(line.entry, entry) for line in lines)


def _matches_any(
    line: Line, entries: list[Entry], same: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
) -> bool:
    return any(same(line.entry, entry) for entry in entries)
