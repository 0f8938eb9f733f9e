# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The few packets we speak ourselves: ICMP echo, ARP, neighbour discovery. Bytes in, bytes out, no socket.

Room: network (pure).
"""

from __future__ import annotations

import ipaddress
import struct

# (request, reply) of an echo
_ECHO = {"ipv4": (8, 0), "ipv6": (128, 129)}
_ECHO_HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence
_ARP = struct.Struct("!HHBBH6s4s6s4s")
_ARP_ETHERNET, _ARP_IPV4, _ARP_REQUEST, _ARP_REPLY = 1, 0x0800, 1, 2
_ND = struct.Struct("!BBHI16s")  # type, code, checksum, flags, target
_SOLICITATION, _ADVERTISEMENT, _SOURCE_LINK_LAYER = 135, 136, 1


def checksum(data: bytes) -> int:
    """The internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_request(family: str, identifier: int, sequence: int, token: bytes) -> bytes:
    kind, _reply = _ECHO[family]
    bare = _ECHO_HEADER.pack(kind, 0, 0, identifier, sequence) + token
    if family == "ipv6":
        return bare  # its checksum covers the addresses, which only the kernel knows
    return _ECHO_HEADER.pack(kind, 0, checksum(bare), identifier, sequence) + token


def is_echo_reply(family: str, packet: bytes, token: bytes) -> bool:
    """Is it the answer to a request with this token? The identifier is no help: the kernel may set its own."""
    message = without_ip_header(packet) if family == "ipv4" else packet
    if len(message) < _ECHO_HEADER.size:
        return False
    _request, reply = _ECHO[family]
    return message[0] == reply and message[1] == 0 and message[_ECHO_HEADER.size :] == token


def without_ip_header(packet: bytes) -> bytes:
    """Raw IPv4 sockets hand over the header, datagram sockets do not. No ICMP type we wait for looks like one."""
    if packet and packet[0] >> 4 == 4:
        return packet[(packet[0] & 0x0F) * 4 :]
    return packet


def arp_request(our_mac: bytes, our_address: str, wanted: str) -> bytes:
    ours, theirs = ipaddress.IPv4Address(our_address).packed, ipaddress.IPv4Address(wanted).packed
    return _ARP.pack(_ARP_ETHERNET, _ARP_IPV4, 6, 4, _ARP_REQUEST, our_mac, ours, bytes(6), theirs)


def arp_answer(packet: bytes, wanted: str) -> str:
    """The hardware address of the one we asked for, or nothing."""
    if len(packet) < _ARP.size:
        return ""
    hardware, protocol, _hlen, _plen, operation, mac, sender, _to_mac, _to = _ARP.unpack_from(packet)
    asked = (hardware, protocol, operation) == (_ARP_ETHERNET, _ARP_IPV4, _ARP_REPLY)
    return mac.hex(":") if asked and sender == ipaddress.IPv4Address(wanted).packed else ""


def solicitation(our_mac: bytes, wanted: str) -> bytes:
    option = struct.pack("!BB6s", _SOURCE_LINK_LAYER, 1, our_mac)
    return _ND.pack(_SOLICITATION, 0, 0, 0, ipaddress.IPv6Address(wanted).packed) + option


def is_advertisement(packet: bytes, wanted: str) -> bool:
    if len(packet) < _ND.size:
        return False
    kind, code, _checksum, _flags, target = _ND.unpack_from(packet)
    return (kind, code) == (_ADVERTISEMENT, 0) and target == ipaddress.IPv6Address(wanted).packed


def solicited_node(address: str) -> str:
    """The multicast group in which the owner of an address listens (RFC 4291)."""
    tail = ipaddress.IPv6Address(address).packed[-3:]
    return str(ipaddress.IPv6Address(ipaddress.IPv6Address("ff02::1:ff00:0").packed[:-3] + tail))
