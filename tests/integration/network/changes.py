# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a node's network as tests write them: tasks, states in the words of nmstate, and what the node tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from integration.network.plays import Task
from lab.net.addresses import API_PORT, API_SERVER, MANAGEMENT
from lab.net.files import PROFILES
from lab.net.node import NetNode

State = dict[str, Any]

API = f"http://{API_SERVER.ip}:{API_PORT}/healthz"
GATEWAY, GATEWAY6 = str(MANAGEMENT.v4.ip), str(MANAGEMENT.v6.ip)
JOURNAL = "/var/lib/sunset-kube/network"
QUICK = {"timeout": 40, "lease": 30, "settle": 0}
SPARE = "203.0.113.40/25"  # for eth2

# -- tasks -----------------------------------------------------------------------------------------------------------


def apply(policy: str, state: State, **options: Any) -> Task:
    return {"sunset.kube.nmstate_apply": {"policy": policy, "desired_state": state, **QUICK, **options}}


def revert(policy: str, **options: Any) -> Task:
    return {"sunset.kube.nmstate_revert": {"policy": policy, **QUICK, **options}}


def confirm(transaction: str, state: str = "confirmed") -> Task:
    return {"sunset.kube.nmstate_confirm": {"transaction": transaction, "state": state}}


INFO: Task = {"sunset.kube.nmstate_info": {}}


def whatever(task: Task) -> Task:
    """The play goes on when it fails."""
    return {**task, "ignore_errors": True}


# -- states ----------------------------------------------------------------------------------------------------------


def interface(name: str, kind: str = "ethernet", **more: Any) -> State:
    return {"interfaces": [{"name": name, "type": kind, "state": "up", **more}]}


def static(*addresses: str) -> State:
    split = [one.split("/") for one in addresses]
    entries = [{"ip": ip, "prefix-length": int(length)} for ip, length in split]
    return {"enabled": True, "dhcp": False, "address": entries}


def static6(*addresses: str) -> State:
    return {**static(*addresses), "autoconf": False}


def route(destination: str, via: str, device: str, **more: Any) -> State:
    return {"destination": destination, "next-hop-address": via, "next-hop-interface": device, **more}


ON_ETH2 = interface("eth2", ipv4=static(SPARE))

# -- the node --------------------------------------------------------------------------------------------------------


def everything(node: NetNode) -> State:
    """All that must be as it was after a rollback: the kernel's network, name servers, and profiles word for word."""
    profiles = {file.name: file.read_text() for file in sorted(node.path(PROFILES).iterdir())}
    return {**visible(node), "profiles": profiles}


def visible(node: NetNode) -> State:
    """All that must be as it was after a policy was taken back; NetworkManager may have other words for it."""
    names = sorted(line for line in node.path("/etc/resolv.conf").read_text().splitlines() if not line.startswith("#"))
    return {**node.snapshot(), "routes": _routes(node), "names": names}


def _routes(node: NetNode) -> list[str]:
    """Without metrics, which NetworkManager counts up each time it activates a device, and without loopback.

    That one it takes over, and keeps, as soon as somebody wants rules that belong to no interface.
    """
    kept = [one for one in node.routes() if one["dev"] != "lo"]
    return sorted({json.dumps({**one, "metric": None}, sort_keys=True) for one in kept})


def transactions(node: NetNode) -> dict[str, str]:
    """Changes this node knows of, and how far each is."""
    return {folder.name: _phase(folder) for folder in node.path(f"{JOURNAL}/transactions").glob("*")}


def under_way(node: NetNode) -> str:
    """The id of the change that is being made or probed, past the point where the node has looked at what works."""
    return next((name for name, phase in transactions(node).items() if phase in ("applying", "probing", "ready")), "")


def changed(node: NetNode) -> str:
    """The id of a change that is there and not decided."""
    return next((name for name, phase in transactions(node).items() if phase in ("probing", "ready")), "")


def outcome(node: NetNode, transaction: str) -> State:
    """How it ended; empty before."""
    file = node.path(f"{JOURNAL}/transactions/{transaction}/outcome.json")
    return json.loads(file.read_text()) if file.exists() else {}


def _phase(folder: Path) -> str:
    if (folder / "outcome.json").exists():
        return "over"
    status = folder / "status.json"
    return str(json.loads(status.read_text()).get("phase")) if status.exists() else ""
