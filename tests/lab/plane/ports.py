# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on loopback."""

from __future__ import annotations

import random
import socket

# Below the range the kernel gives to outgoing connections (from 32768), and below Kubernetes' node ports (from 30000):
# a component that is down for a while must find its port free when it comes back.
FIRST, LAST = 20000, 29999


def free_port() -> int:
    """A port of 127.0.0.1 nobody listens on. Drawn at random, so that labs starting together rarely collide."""
    while True:
        port = random.randint(FIRST, LAST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
