# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""tcp: a connection can be opened. Also the way in for every probe that says something over it.

Room: network (probes).
"""

from __future__ import annotations

import socket

from ...clock import Deadline
from .attempt import Attempt, Failed, Success
from .targets import port

_FAMILIES = {"": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}


def tcp(attempt: Attempt) -> Success:
    there = port(attempt.probe.target)
    with connected(there.host, there.port, attempt.probe.family, attempt.deadline):
        return Success("connected")


def connected(host: str, number: int, family: str, deadline: Deadline) -> socket.socket:
    """A connection, its time-out what is left. Tries each address of a name, none at the others' whole expense."""
    try:
        found = socket.getaddrinfo(host, number, _FAMILIES[family], socket.SOCK_STREAM)
    except OSError as problem:
        raise Failed(f"the name {host} cannot be resolved: {problem.strerror}") from problem
    trouble: OSError = TimeoutError()
    for tried, (kin, kind, protocol, _name, address) in enumerate(found):
        channel = socket.socket(kin, kind, protocol)
        try:
            channel.settimeout(max(deadline.left() / (len(found) - tried), 0.05))
            channel.connect(address)
            channel.settimeout(max(deadline.left(), 0.05))
            return channel
        except OSError as problem:
            channel.close()
            trouble = problem
    raise trouble
