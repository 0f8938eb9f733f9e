# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is asked before and after a change of the network, and what came back: values, options, the default questions.

Room: network (pure). An empty target is looked up when the probe runs: a policy may move the default gateway, and then
the new one has to answer, not the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...problems import BadFields
from .targets import complaint_of

# type → seconds it may take when the task does not say. What answers at all answers soon.
TIMEOUTS = {
    "ping": 3.0,
    "tcp": 5.0,
    "http": 10.0,
    "dns": 5.0,
    "neighbour": 3.0,
    "api_server": 10.0,
    "node_ready": 10.0,
    "controller": 5.0,
}
FAMILIES = ("ipv4", "ipv6")
_LONGEST = 600.0


@dataclass(frozen=True)
class Probe:
    type: str
    target: str = ""
    family: str = ""  # "", "ipv4" or "ipv6"
    timeout: float = 10.0

    def __str__(self) -> str:
        return " ".join(filter(None, (self.type, self.target, self.family)))


@dataclass(frozen=True)
class Gateway:
    address: str
    interface: str
    family: str  # of the route; an IPv4 route may lead through an IPv6 neighbour


@dataclass(frozen=True)
class Surroundings:
    """What probes without a target need to know of the node."""

    gateways: tuple[Gateway, ...] = ()  # of default routes in the main table, best metric first
    nameservers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    controller: str = ""  # the address SSH comes from
    api_server: str = ""  # host:port or URL
    node_name: str = ""
    kubeconfig: str = ""  # the kubelet's

    def gateway(self, family: str) -> Gateway | None:
        """The best one of a family; of any, IPv4 first."""
        return next((one for one in self.gateways if family in ("", one.family)), None)

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Surroundings:
        lists = {key: tuple(value) for key, value in data.items() if isinstance(value, (list, tuple))}
        gateways = tuple(Gateway(**one) for one in lists.get("gateways", ()))
        return cls(**{**data, **lists, "gateways": gateways})


@dataclass(frozen=True)
class Finding:
    probe: Probe
    works: bool
    detail: str  # a sentence: "ping 198.51.100.1: no answer within 2 s"
    seconds: float = 0.0
    mark: str = ""  # what a later answer is compared with: a heartbeat, how far an answer came

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Finding:
        return cls(**{**data, "probe": Probe(**data["probe"])})


def parse_probes(given: Sequence[Mapping[str, Any]] | None, bad: BadFields) -> tuple[Probe, ...]:
    """The option `probes`; every bad field is reported with its path, a repeated probe is asked once."""
    probes: dict[Probe, None] = {}
    for i, entry in enumerate(given or ()):
        probe = _parse(entry, f"probes[{i}]", bad)
        if probe is not None:
            probes[probe] = None
    return tuple(probes)


def _parse(entry: Mapping[str, Any], where: str, bad: BadFields) -> Probe | None:
    if not isinstance(entry, Mapping):
        bad.add(where, "must be a dictionary with type and target")
        return None
    kind = entry.get("type")
    if kind not in TIMEOUTS:
        bad.add(f"{where}.type", f"must be one of {', '.join(TIMEOUTS)}, not {kind or 'empty'}")
        return None
    family = str(entry.get("family") or "")
    if family not in ("", *FAMILIES):
        bad.add(f"{where}.family", f"must be ipv4 or ipv6, not {family}")
        return None
    target = str(entry.get("target") or "").strip()
    if complaint := complaint_of(kind, target, family):
        bad.add(f"{where}.target", complaint)
    return Probe(kind, target, family, _timeout(entry.get("timeout"), TIMEOUTS[kind], f"{where}.timeout", bad))


def _timeout(given: Any, default: float, where: str, bad: BadFields) -> float:
    if given is None:
        return default
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = 0.0
    if 0 < seconds <= _LONGEST:
        return seconds
    bad.add(where, f"must be a number of seconds above 0, at most {_LONGEST:g}, not {given}")
    return default


def default_probes(surroundings: Surroundings) -> tuple[Probe, ...]:
    """Everything the node is seen to depend on. What does not work beforehand will not count (see findings.py)."""
    kinds: list[tuple[str, str]] = []
    for family in FAMILIES:
        if surroundings.gateway(family):
            # Both: many gateways drop ICMP, none can live without ARP or neighbour discovery.
            kinds += [("ping", family), ("neighbour", family)]
    if surroundings.nameservers:
        kinds.append(("dns", ""))
    if surroundings.controller:
        kinds.append(("controller", ""))
    if surroundings.api_server or surroundings.kubeconfig:
        kinds.append(("api_server", ""))
    if surroundings.kubeconfig and surroundings.node_name:
        kinds.append(("node_ready", ""))
    return tuple(Probe(kind, family=family, timeout=TIMEOUTS[kind]) for kind, family in kinds)
