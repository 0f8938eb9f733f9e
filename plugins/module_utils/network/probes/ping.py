# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ping: an ICMP echo from our own socket, bound to an interface where one is given. No ping binary is needed.

Room: network (probes). Proves that the address answers; many firewalls drop ICMP, so silence proves little by itself.
"""

from __future__ import annotations

import secrets
import socket

from ...clock import Deadline
from .attempt import Attempt, Failed, Success, aim
from .packets import echo_request, is_echo_reply
from .targets import Place

_AGAIN = 1.0  # the first echo often gets lost while the neighbour is looked up
_SOCKETS = {"ipv4": (socket.AF_INET, socket.IPPROTO_ICMP), "ipv6": (socket.AF_INET6, socket.IPPROTO_ICMPV6)}


def ping(attempt: Attempt) -> Success:
    there, named = aim(attempt)
    if echoes(there, attempt.deadline):
        return Success(f"answer{named}")
    raise Failed(f"no answer{named} {attempt.within}")


def echoes(there: Place, deadline: Deadline) -> bool:
    """Does it answer in time? OSError where nothing can even be sent."""
    token, identifier = secrets.token_bytes(16), secrets.randbelow(1 << 16)
    with _opened(there.family) as channel:
        if there.interface:
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, there.interface.encode() + b"\0")
        channel.connect(address_of(there))
        sequence = 0
        while not deadline.passed():
            sequence += 1
            channel.send(echo_request(there.family, identifier, sequence & 0xFFFF, token))
            if _heard(channel, there.family, token, Deadline(deadline.clock, min(_AGAIN, deadline.left()))):
                return True
    return False


def _heard(channel: socket.socket, family: str, token: bytes, turn: Deadline) -> bool:
    while (left := turn.left()) > 0:
        channel.settimeout(left)
        try:
            if is_echo_reply(family, channel.recv(2048), token):
                return True
        except TimeoutError:
            return False
    return False


def _opened(named: str) -> socket.socket:
    family, protocol = _SOCKETS[named]
    try:
        return socket.socket(family, socket.SOCK_RAW, protocol)
    except PermissionError:
        # Without CAP_NET_RAW: echo sockets for everybody, where net.ipv4.ping_group_range allows them.
        return socket.socket(family, socket.SOCK_DGRAM, protocol)


def address_of(there: Place) -> tuple[str, int] | tuple[str, int, int, int]:
    """As sockets want it. Link-local addresses mean nothing without their interface."""
    if there.family == "ipv4":
        return there.address, 0
    scope = socket.if_nametoindex(there.interface) if there.interface else 0
    return there.address, 0, 0, scope
