# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at the network from where it is run, without the product's help. A script: `python ask.py WHAT ARGUMENTS...`

Prints the answer as JSON: whether there is an echo, the addresses of a name, the status of a page; null for none.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import secrets
import socket
import struct
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit

PATIENCE = 1.0  # seconds
RECORD_A, CLASS_INTERNET = 1, 1
# family → protocol, request, reply, octets before the reply
ECHO = {
    socket.AF_INET: (socket.IPPROTO_ICMP, 8, 0, 20),
    socket.AF_INET6: (socket.IPPROTO_ICMPV6, 128, 129, 0),
}


def echo(address: str) -> bool:
    """Whether the address answers a ping."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    protocol, request, reply, skipped = ECHO[family]
    token = secrets.token_bytes(16)
    with socket.socket(family, socket.SOCK_RAW, protocol) as wire:
        wire.sendto(_with_checksum(struct.pack("!BBHHH", request, 0, 0, 1, 1) + token), (address, 0))
        deadline = time.monotonic() + PATIENCE
        while (left := deadline - time.monotonic()) > 0:
            wire.settimeout(left)
            answer = wire.recv(1500)[skipped:]
            if answer[0] == reply and answer.endswith(token):
                return True
    return False


def _with_checksum(packet: bytes) -> bytes:
    """For IPv4; the kernel writes over it for IPv6, where addresses count too."""
    total = sum(struct.unpack(f"!{len(packet) // 2}H", packet))
    folded = (total & 0xFFFF) + (total >> 16)
    return packet[:2] + struct.pack("!H", ~(folded + (folded >> 16)) & 0xFFFF) + packet[4:]


def name(wanted: str, server: str) -> list[str]:
    """The IPv4 addresses a resolver knows for a name."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in wanted.split(".")) + b"\0"
    question = secrets.token_bytes(2) + struct.pack("!HHHHH", 0x0100, 1, 0, 0, 0) + labels
    question += struct.pack("!HH", RECORD_A, CLASS_INTERNET)
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as wire:
        wire.settimeout(PATIENCE)
        wire.connect((server, 53))
        wire.send(question)
        answer = wire.recv(1500)
    count = struct.unpack("!H", answer[6:8])[0]
    # Each answer: a pointer to the name (2), type, class, lifetime, length (10), four octets.
    records = [answer[len(question) + 16 * index :][:16] for index in range(count)]
    return [str(ipaddress.IPv4Address(record[12:])) for record in records]


def page(url: str) -> int:
    """The status a web server answers with."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status
    finally:
        connection.close()


QUESTIONS: dict[str, Callable[..., object]] = {"echo": echo, "name": name, "page": page}


def main(what: str, *arguments: str) -> None:
    try:
        answer = QUESTIONS[what](*arguments)
    except OSError:  # nobody there, nobody answers, no way to it
        answer = None
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
