# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The network by `ip` alone, on a node without NetworkManager. Nothing of it is kept over a reboot.

Room: network, backends. There is no net below it: the guards bring back what a failed change leaves.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...clock import Clock, Deadline, RealClock
from ..after import interface_after
from ..entries import LOOPBACK
from ..ip_blocks import LEASE_FLAGS
from ..shapes import FAMILIES, entries_of
from . import kernel_view, resolver_file
from .abilities import Ability, refuse_if_any, refuse_what_is_not_in
from .goal import Goal, goal_of, not_reached
from .ip_command import CannotApply, tell_ip
from .ip_plan import Command, link_commands, remade, route_commands, rule_commands
from .kinds import kind_of

_PATIENCE, _LOOK_AGAIN = 10.0, 0.1
_SETTINGS = Path("/proc/sys/net/ipv6/conf")
_FAMILY = frozenset({"enabled", "dhcp", "address", *LEASE_FLAGS})
_ABILITY = Ability(
    "iproute2",
    {"ipv4": _FAMILY, "ipv6": _FAMILY | {"autoconf"}},
    by_profile=False,
    route=frozenset({"route-type"}),
    rule=frozenset({"action", "suppress-prefix-length"}),
)
_SWITCHES = {"on": ("disable_ipv6", "0"), "off": ("disable_ipv6", "1"), "keep": ("keep_addr_on_down", "1")}


class Iproute2:
    name = "iproute2"
    managed = False

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or RealClock()

    @staticmethod
    def is_there() -> bool:
        return shutil.which("ip") is not None

    def capture(self) -> Mapping[str, Any]:
        return kernel_view.look()

    def apply(self, state: Mapping[str, Any], seconds: float) -> str:
        refuse_what_is_not_in(_ABILITY, state)
        goal = goal_of(state, self.capture())
        refuse_if_any(_impossible(goal))
        deadline = Deadline(self._clock, min(_PATIENCE, seconds))
        self._run(link_commands(goal))
        # Addresses and links take routes along when they go, so what is missing is known only now.
        self._run(route_commands(goal, self.capture()))
        self._run(rule_commands(goal, self.capture()))
        if goal.changes_dns:
            resolver_file.write(goal.dns)
        self._wait_for(goal, deadline)
        return ""

    def renew(self, checkpoint: str, seconds: float) -> bool:
        """There is none: only the guards count the time."""
        return False

    def _run(self, commands: list[Command]) -> None:
        for who, *words in commands:
            _CARRY_OUT[who](words)

    def _wait_for(self, goal: Goal, deadline: Deadline) -> None:
        """An IPv6 address is not there before the kernel has asked whether somebody else has it."""
        while left := not_reached(goal, self.capture()) + _unsettled(goal):
            if deadline.passed():
                raise CannotApply("the network did not become what the policy says", why="; ".join(left))
            self._clock.sleep(_LOOK_AGAIN)


def _unsettled(goal: Goal) -> list[str]:
    return kernel_view.unsettled({one.after["name"] for one in goal.touched if one.is_up})


def _switch_ipv6(words: list[str]) -> None:
    name, how = words
    setting, value = _SWITCHES[how]
    try:
        (_SETTINGS / name / setting).write_text(value)
    except FileNotFoundError:
        if how == "on":
            raise CannotApply(f"IPv6 cannot be switched on for {name}", why="this kernel has none") from None
    except OSError as problem:
        raise CannotApply(f"IPv6 cannot be switched {how} for {name}", why=str(problem)) from problem


_CARRY_OUT: dict[str, Callable[[list[str]], None]] = {"ip": tell_ip, "ipv6": _switch_ipv6}


def _impossible(goal: Goal) -> Iterator[str]:
    """What these tables could say, but nobody here could keep."""
    carrying = {one.get("next-hop-interface") for one in entries_of(goal.pre, "routes") if one not in goal.gone_routes}
    tied = _tied(goal)
    for one in goal.touched:
        name, before = one.after["name"], one.current or {}
        if one.is_gone:
            if name == LOOPBACK:
                yield f"{name}: cannot go"
            continue
        after = interface_after(one)
        for family in FAMILIES:
            yield from _needs_a_client(name, family, before.get(family) or {}, after.get(family) or {})
        if not one.is_up and before.get("state") == "up" and name in carrying:
            yield f"{name} state: routes over it would be lost for good; name them with state absent, too"
        if remade(one) and name in tied:
            yield f"{name}: it must be made anew for this, and {tied[name]} hangs on it"
    if goal.changes_dns and not resolver_file.is_ours():
        yield f"dns-resolver: {resolver_file.FILE} is a link, another program keeps it"


def _tied(goal: Goal) -> dict[str, str]:
    """Interfaces others cannot do without: what they stand on, and whose ports they are."""
    found: dict[str, str] = {}
    for interface in goal.pre.get("interfaces") or ():
        kind = kind_of(interface)
        below = [kind.base_of(interface)] if kind and kind.base[1] != "peer" else []
        found.update({name: interface["name"] for name in (*below, interface.get("controller")) if name})
    return found


def _needs_a_client(name: str, family: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for key in ("dhcp", "autoconf"):
        if bool(before.get(key)) != bool(after.get(key)):
            how = "on: there is no client for it" if after.get(key) else "off: another program keeps it"
            yield f"{name} {family}.{key}: cannot be switched {how} without NetworkManager"
    if after.get("dhcp") or after.get("autoconf"):
        yield from (f"{name} {family}.{flag}: cannot be set" for flag in LEASE_FLAGS if after.get(flag) is False)
