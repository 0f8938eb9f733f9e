# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DNS questions and answers as bytes (RFC 1035): just enough to learn whether a server works.

Room: network (pure).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

TYPES = {"A": 1, "NS": 2}
RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
_HEADER = struct.Struct("!HHHHHH")
_INTERNET = 1
_IS_ANSWER, _TRUNCATED, _RECURSION_DESIRED, _RCODE = 0x8000, 0x0200, 0x0100, 0x000F


@dataclass(frozen=True)
class Reply:
    rcode: int
    truncated: bool

    @property
    def named(self) -> str:
        return RCODES.get(self.rcode, f"RCODE{self.rcode}")

    @property
    def resolves(self) -> bool:
        """ "No such name" is an answer of somebody who knows; SERVFAIL and REFUSED are not."""
        return self.rcode in (0, 3)


def question(name: str) -> bytes:
    """The root is asked for its servers, every other name for an address."""
    labels = [label.encode("ascii") for label in name.split(".") if label]
    encoded = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    return encoded + struct.pack("!HH", TYPES["A" if labels else "NS"], _INTERNET)


def query(number: int, name: str) -> bytes:
    return _HEADER.pack(number, _RECURSION_DESIRED, 1, 0, 0, 0) + question(name)


def reply(packet: bytes, number: int, name: str) -> Reply | None:
    """None for whatever is no answer to this very question."""
    if len(packet) < _HEADER.size:
        return None
    their_number, flags, questions, *_counts = _HEADER.unpack_from(packet)
    if their_number != number or not flags & _IS_ANSWER:
        return None
    # A server that understood nothing may leave the question out.
    echoed = packet[_HEADER.size :][: len(question(name))]
    if questions and echoed.lower() != question(name).lower():
        return None
    return Reply(flags & _RCODE, bool(flags & _TRUNCATED))
