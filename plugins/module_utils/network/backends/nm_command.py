# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NetworkManager through nmcli: its devices and profiles, and orders to it.

Room: network, backends.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...problems import CannotLook
from .ip_command import CannotApply

_TIMEOUT = 120.0
_BUS, _PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
CONNECTED, UNMANAGED = "connected", "unmanaged"  # "connected (externally)" is another state: made by somebody else


@dataclass(frozen=True)
class Device:
    name: str
    state: str
    uuid: str  # of the profile that is active on it

    @property
    def is_up(self) -> bool:
        return self.state.startswith(CONNECTED)


@dataclass(frozen=True)
class Profile:
    uuid: str
    settings: Mapping[str, str]

    def get(self, key: str) -> str:
        return self.settings.get(key, "")


@dataclass(frozen=True)
class Manager:
    """What NetworkManager knows at one moment."""

    devices: Mapping[str, Device]
    profiles: Mapping[str, Profile]

    def active(self, name: str) -> Profile | None:
        """The profile an interface is up with. One of another program is no profile."""
        device = self.devices.get(name)
        return self.profiles.get(device.uuid) if device and device.state == CONNECTED else None

    def of(self, name: str) -> Profile | None:
        """The profile to be changed for this interface: the active one, else one that was written for it."""
        return self.active(name) or next(iter(self.written_for(name)), None)

    def written_for(self, name: str) -> list[Profile]:
        external = {device.uuid for device in self.devices.values() if device.is_up and device.state != CONNECTED}
        mine = [one for one in self.profiles.values() if one.get("connection.interface-name") == name]
        found = [one for one in mine if one.uuid not in external]
        active = self.active(name)
        return [active, *(one for one in found if one != active)] if active else found


def look() -> Manager:
    devices = {}
    for line in ask("-t", "-f", "STATE,CON-UUID,DEVICE", "device").splitlines():
        state, uuid, name = line.split(":", 2)
        devices[_plain(name)] = Device(_plain(name), state, uuid)
    uuids = ask("-t", "-f", "UUID", "connection", "show").split()
    told = ask("-t", "connection", "show", *uuids) if uuids else ""
    return Manager(devices, {one.uuid: one for one in map(_profile, told.split("\n\n")) if one.uuid})


def global_dns() -> dict[str, list[str]]:
    """Set for the whole machine; then the resolvers of profiles do not count."""
    command = ["busctl", "--system", "--json=short", "get-property", _BUS, _PATH, _BUS, "GlobalDnsConfiguration"]
    done = _run(command)
    if done.returncode:
        raise CannotLook("NetworkManager does not tell its global DNS", why=done.stderr.strip())
    data = json.loads(done.stdout)["data"]
    domains: Mapping[str, Any] = (data.get("domains") or {}).get("data") or {}
    servers = ((domains.get("*") or {}).get("data") or {}).get("servers") or {}
    found = {"server": servers, "search": data.get("searches") or {}, "options": data.get("options") or {}}
    return {key: value["data"] for key, value in found.items() if value.get("data")}


def ask(*words: str) -> str:
    done = _run(["nmcli", *words])
    if done.returncode:
        raise CannotLook("NetworkManager does not answer", why=done.stderr.strip())
    return done.stdout


def tell(*words: str) -> None:
    done = _run(["nmcli", *words])
    if done.returncode:
        raise CannotApply("NetworkManager said no", which=f"to: nmcli {' '.join(words)}", why=done.stderr.strip())


def _profile(text: str) -> Profile:
    """Up to the settings of its present activation, which begin with capital letters."""
    pairs = (line.partition(":") for line in text.splitlines())
    settings = {key: value for key, _colon, value in pairs if not key[:1].isupper()}
    return Profile(settings.get("connection.uuid", ""), settings)


def _plain(text: str) -> str:
    return text.replace("\\:", ":").replace("\\\\", "\\")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    # Yes and no in one language, whatever the node speaks.
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))
