# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which backend: the one that is asked for, or the one that runs on this node.

Room: network, backends.
"""

from __future__ import annotations

from ...problems import Refused
from .backend import Backend
from .nmstatectl import Nmstatectl

BACKENDS: dict[str, type[Nmstatectl]] = {"nmstatectl": Nmstatectl}


def choose(name: str) -> Backend:
    """What is running counts, not what is installed."""
    for each, backend in BACKENDS.items():
        if name in ("auto", each) and backend.is_there():
            return backend()
    raise Refused(
        "no way to change the network of this node",
        why="nmstatectl is not installed, or NetworkManager does not run" if name != "auto" else "no backend is there",
        next_step="install nmstatectl and start NetworkManager",
    )


def backend_named(name: str) -> Backend:
    return BACKENDS[name]()
