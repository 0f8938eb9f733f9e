# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which backend: the one that is asked for, or the one that runs on this node.

Room: network, backends.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ...problems import Refused
from ..guard import profiles
from .backend import Backend
from .iproute2 import Iproute2
from .networkmanager import NetworkManager
from .nmstatectl import Nmstatectl

# In the order in which they are taken: what knows most comes first.
BACKENDS: dict[str, type[Nmstatectl] | type[NetworkManager] | type[Iproute2]] = {
    "nmstatectl": Nmstatectl,
    "networkmanager": NetworkManager,
    "iproute2": Iproute2,
}
_NEEDS = {
    "nmstatectl": "nmstatectl is not installed, or NetworkManager does not run",
    "networkmanager": "NetworkManager does not run, or nmcli is not installed",
    "iproute2": "ip is not installed",
}
_NEXT = {
    "nmstatectl": "install nmstatectl and start NetworkManager, or leave backend out",
    "networkmanager": "install nmcli and start NetworkManager, or leave backend out",
    "iproute2": "install iproute2",
}
_RAN_HERE = Path("/run/NetworkManager")
_SYSTEMD = Path("/run/systemd/system")
_TIMEOUT = 10.0


def choose(name: str) -> Backend:
    """What is running counts, not what is installed."""
    for each, backend in BACKENDS.items():
        if name == "auto" and backend is Iproute2:
            _refuse_behind_the_back_of_network_manager()
        if name in ("auto", each) and backend.is_there():
            return backend()
    raise Refused(
        "no way to change the network of this node",
        which=f"by {name}" if name in BACKENDS else "",
        why=_NEEDS.get(name, "; ".join(_NEEDS.values())),
        next_step=_NEXT.get(name, "install iproute2"),
    )


def backend_named(name: str) -> Backend:
    return BACKENDS[name]()


def _refuse_behind_the_back_of_network_manager() -> None:
    """It would come back and make everything as its profiles say, with our change lost in between."""
    written = [file for file in profiles.PLACES[0].glob("*") if file.is_file()]
    if shutil.which("NetworkManager") and written and _is_meant_to_run():
        raise Refused(
            "NetworkManager does not run, but the network of this node is its own",
            which=f"({len(written)} profiles)",
            why="a change by ip would be lost as soon as it is back",
            next_step="start NetworkManager, or say backend: iproute2 if you mean it",
        )


def _is_meant_to_run() -> bool:
    """Started at each boot, or seen since this one."""
    if _RAN_HERE.is_dir():
        return True
    if not _SYSTEMD.is_dir() or not shutil.which("systemctl"):
        return False
    try:
        done = subprocess.run(
            ["systemctl", "is-enabled", "NetworkManager.service"], capture_output=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return True  # we could not look, so nothing may be concluded from not seeing it
    return done.returncode == 0
