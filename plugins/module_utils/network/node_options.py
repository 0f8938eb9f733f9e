# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the modules for nodes, checked before anything is looked at.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..problems import BadFields
from .guard.deal import is_id
from .hidden import with_secrets
from .journal_entries import NAME
from .node_run import Wishes
from .probes.probe import TIMEOUTS, parse_probes
from .shapes import State
from .states import read_state

JOURNAL = "/var/lib/sunset-kube/network"

PROBES: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "options": {
        "type": {"type": "str", "required": True, "choices": list(TIMEOUTS)},
        "target": {"type": "str"},
        "family": {"type": "str", "choices": ["ipv4", "ipv6"]},
        "timeout": {"type": "float"},
    },
}
COMMON: dict[str, dict[str, Any]] = {
    "policy": {"type": "str", "required": True},
    "probes": PROBES,
    "timeout": {"type": "int", "default": 120},
    "settle": {"type": "int", "default": 5},
    "lease": {"type": "int", "default": 60},
    "backend": {"type": "str", "choices": ["auto", "nmstatectl", "networkmanager", "iproute2"], "default": "auto"},
    "journal_dir": {"type": "path", "default": JOURNAL},
    "force": {"type": "bool", "default": False},
    "rehearse": {"type": "bool", "default": False},
    "transaction": {"type": "str"},
    "desired_secrets": {"type": "list", "elements": "str", "no_log": True},
}
# name → smallest and largest
_NUMBERS = {"timeout": (5, 3600), "settle": (0, 3600), "lease": (5, 3600)}


def parse_wishes(params: dict[str, Any], new_id: str) -> Wishes:
    bad = BadFields()
    if not NAME.fullmatch(params["policy"]) or ".." in params["policy"]:
        bad.add("policy", "use small letters, digits, dots and dashes, as for a NodeNetworkConfigurationPolicy")
    for name, (least, most) in _NUMBERS.items():
        if not least <= params[name] <= most:
            bad.add(name, f"must be from {least} to {most} seconds, not {params[name]}")
    if params["settle"] >= params["timeout"]:
        bad.add("settle", f"must be shorter than timeout ({params['timeout']} s), which includes it")
    transaction = params.get("transaction") or new_id
    if not is_id(transaction):
        bad.add("transaction", "must be 8 to 32 of the characters 0-9 and a-f")
    check_directory(params["journal_dir"], bad)
    probes = None if params["probes"] is None else parse_probes(params["probes"], bad)
    bad.raise_if_any()
    return Wishes(
        journal=Path(params["journal_dir"]),
        transaction=transaction,
        backend=params["backend"],
        probes=probes,
        timeout=float(params["timeout"]),
        settle=float(params["settle"]),
        lease=float(params["lease"]),
        force=params["force"],
        rehearse=params["rehearse"],
    )


def state_given(params: dict[str, Any]) -> State | None:
    """The option desired_state; its passwords may have come in an option of their own."""
    if params["desired_state"] is None:
        return None
    return read_state(with_secrets(params["desired_state"], params["desired_secrets"] or ()))


def check_directory(given: str, bad: BadFields) -> None:
    """A relative one would be another one after a reboot. It stands in a unit of systemd, or in a line of cron."""
    if not Path(given).is_absolute():
        bad.add("journal_dir", f"must be an absolute path, not {given}")
    elif not re.fullmatch(r"[A-Za-z0-9/._+@=:-]+", given) or ".." in Path(given).parts:
        bad.add("journal_dir", f"may have letters, digits and /._+@=:- in it, and no part .., not {given!r}")
