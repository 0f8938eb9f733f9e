# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a backend can do. A document that asks for more is refused before the first command, with every field named.

Room: network, backends (pure).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...problems import BadOption
from ..entries import LOOPBACK
from ..normal import SHOWN_ONLY
from ..shapes import FAMILIES, is_absent
from .kinds import Field, Kind, kind_of

_TOP = frozenset({"interfaces", "routes", "route-rules", "dns-resolver", "description"})
_INTERFACE = frozenset({"name", "type", "state", "mtu", "mac-address", "controller", *FAMILIES})
_ADDRESS = frozenset({"ip", "prefix-length", "valid-life-time", "preferred-life-time"})
_ROUTE = frozenset({"destination", "next-hop-address", "next-hop-interface", "table-id", "metric", "source", "state"})
_RULE = frozenset({"ip-from", "ip-to", "priority", "route-table", "family", "iif", "fwmark", "fwmask", "state"})
_DNS = frozenset({"server", "search", "options"})


@dataclass(frozen=True)
class Ability:
    """What differs between the backends that use these tables."""

    backend: str
    family: Mapping[str, frozenset[str]]
    by_profile: bool
    route: frozenset[str] = frozenset()  # besides what all can do
    rule: frozenset[str] = frozenset()

    def can_set(self, field: Field) -> bool:
        return bool(field.property if self.by_profile else field.word)


def refuse_what_is_not_in(ability: Ability, state: Mapping[str, Any]) -> None:
    refuse_if_any(f"{path}: the backend {ability.backend} cannot set this" for path in unknown(ability, state))


def refuse_if_any(complaints: Iterable[str]) -> None:
    """All of them at once, so that nobody has to try again for the next one."""
    found = list(complaints)
    if found:
        raise BadOption(
            "this policy cannot be applied here",
            why="; ".join(found),
            next_step="leave these out, or install nmstatectl and let NetworkManager run",
        )


def unknown(ability: Ability, state: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in state if key not in _TOP and state[key])
    for number, interface in enumerate(state.get("interfaces") or ()):
        yield from _in_interface(ability, interface, f"interfaces[{number}]")
    for block, keys in (("routes", _ROUTE | ability.route), ("route-rules", _RULE | ability.rule)):
        for number, entry in enumerate((state.get(block) or {}).get("config") or ()):
            yield from (f"{block}.config[{number}].{key}" for key in entry if key not in keys and not is_absent(entry))
    config = (state.get("dns-resolver") or {}).get("config") or {}
    yield from (f"dns-resolver.config.{key}" for key in config if key not in _DNS)


def _in_interface(ability: Ability, interface: Mapping[str, Any], path: str) -> Iterator[str]:
    if interface.get("state") in ("absent", "ignore"):
        return
    kind = kind_of(interface)
    if kind is None and interface.get("type") not in (None, "unknown"):
        yield f"{path}.type {interface['type']}"
        return
    block = kind.block if kind else ""
    yield from (f"{path}.{key}" for key in interface if key not in _INTERFACE | SHOWN_ONLY | {block})
    for family in FAMILIES:
        there = interface.get(family) or {}
        yield from (f"{path}.{family}.{key}" for key in there if key not in ability.family[family])
        for number, address in enumerate(there.get("address") or ()):
            yield from (f"{path}.{family}.address[{number}].{key}" for key in address if key not in _ADDRESS)
    if kind and kind.block:
        yield from _in_block(ability, kind, interface.get(kind.block) or {}, f"{path}.{kind.block}")
    if interface["name"] == LOOPBACK and interface.get("state") == "down":
        yield f"{path}.state"


def _in_block(ability: Ability, kind: Kind, block: Mapping[str, Any], path: str) -> Iterator[str]:
    known = {field.path: field for field in kind.fields if ability.can_set(field)}
    for where in _leaves(block):
        if where in known or where in ((kind.base[0],), (kind.ports,)):
            continue
        yield f"{path}.{'.'.join(where)}"
    ports = {field.path[0] for field in kind.port_fields} | {"name"}
    for number, port in enumerate((block.get(kind.ports) or ()) if kind.ports else ()):
        keys = port if isinstance(port, Mapping) else ()
        yield from (f"{path}.{kind.ports}[{number}].{key}" for key in keys if key not in ports)


def _leaves(block: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key)
