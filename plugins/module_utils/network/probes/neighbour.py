# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""neighbour: does the owner of an address on a local link answer ARP or neighbour discovery?

Room: network (probes). Asked by a packet of our own: the kernel's table is slow to forget (a stale entry takes some 8 s
to fail) and looking there would change it. Proves the link, the switch port and the VLAN; says nothing of routing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from ...clock import Deadline
from .attempt import Attempt, Failed, Success, aim
from .look import Way, way_to
from .packets import arp_answer, arp_request, is_advertisement, solicitation, solicited_node
from .targets import Place

_AGAIN = 1.0
_ETHERNET = 1
_ETH_P_ARP = 0x0806
_EVERYBODY = b"\xff" * 6


def neighbour(attempt: Attempt) -> Success:
    there, named = aim(attempt)
    way = way_to(there, attempt.deadline.left())
    if way is None:
        raise Failed(f"no route to {there.address}")
    if way.is_here:
        raise Failed(f"{there.address} is an address of this node")
    if way.gateway:
        raise Failed(f"{there.address} is not on a local link: it is reached through {way.gateway}")
    if resolves(there, way, attempt.deadline):
        return Success(f"answer{named} on {way.interface}")
    raise Failed(f"no answer{named} on {way.interface} {attempt.within}")


def resolves(there: Place, way: Way, deadline: Deadline) -> bool:
    """Does the owner of the address say so itself? OSError where nothing can be sent (root only, link down)."""
    ask = _by_discovery if there.family == "ipv6" else _by_arp
    return ask(there.address, way, deadline)


def _by_arp(wanted: str, way: Way, deadline: Deadline) -> bool:
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ARP)) as channel:
        mac = _bound(channel, way.interface)
        request = arp_request(mac, way.source or "0.0.0.0", wanted)  # noqa: S104  # a sender without an address
        to_all = (way.interface, _ETH_P_ARP, 0, _ETHERNET, _EVERYBODY)
        return _asked(
            channel,
            lambda: channel.sendto(request, to_all),
            lambda packet: bool(arp_answer(packet, wanted)),
            deadline,
        )


def _by_discovery(wanted: str, way: Way, deadline: Deadline) -> bool:
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as link:
        mac = _bound(link, way.interface)
    index = socket.if_nametoindex(way.interface)
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as channel:
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, way.interface.encode() + b"\0")
        channel.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        # Anything below 255 has passed a router and is thrown away by the one we ask.
        channel.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        request, group = solicitation(mac, wanted), (solicited_node(wanted), 0, 0, index)
        return _asked(
            channel,
            lambda: channel.sendto(request, group),
            lambda packet: is_advertisement(packet, wanted),
            deadline,
        )


def _bound(channel: socket.socket, interface: str) -> bytes:
    """Bind a link-level socket; gives back the interface's own hardware address."""
    channel.bind((interface, _ETH_P_ARP))
    _name, _protocol, _packet, hardware, mac = channel.getsockname()
    if hardware != _ETHERNET:
        raise Failed(f"{interface} is no Ethernet link, nobody can be asked there")
    return bytes(mac)


def _asked(
    channel: socket.socket, send: Callable[[], object], is_answer: Callable[[bytes], bool], deadline: Deadline
) -> bool:
    while not deadline.passed():
        send()
        turn = Deadline(deadline.clock, min(_AGAIN, deadline.left()))
        while (left := turn.left()) > 0:
            channel.settimeout(left)
            try:
                if is_answer(channel.recv(2048)):
                    return True
            except TimeoutError:
                break
    return False
