# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""controller: the way back to where SSH comes from.

Room: network (probes). What it proves, from strong to weak:
- `replies`: the address answered us (an echo, or its TCP said yes or no), or, after the change, a segment of one of its
  TCP sessions with this node arrived. Packets go there and back.
- `next hop`: there is a route, and its first hop answers ARP or neighbour discovery. Nothing is known of the rest.
A controller that replied before must reply after. Neither proves that a new SSH session comes in: only one that does
can prove that, which is why a change is confirmed over a new connection.
"""

from __future__ import annotations

import re

from ...clock import Deadline
from ...problems import CannotLook
from .attempt import Attempt, Failed, Success
from .commands import output_of
from .look import way_to
from .neighbour import resolves
from .ping import echoes
from .targets import Place, place
from .tcp import connected

REPLIES, NEXT_HOP = "replies", "next hop"
_SSH = 22
_ARRIVALS = re.compile(r"\blast(?:rcv|ack):(\d+)\b")


def controller(attempt: Attempt) -> Success:
    target = attempt.probe.target or attempt.surroundings.controller
    if not target:
        raise Failed("no address of the controller is known")
    there = place(target)
    way = way_to(there, attempt.deadline.left())
    if way is None:
        raise Failed(f"no route to {there.address}")
    if way.is_here:
        return Success(f"{there.address} is this node itself", REPLIES)
    how = _reply(there, attempt)
    if how:
        return Success(f"{there.address} {how}", REPLIES)
    if attempt.earlier is not None and attempt.earlier.mark == REPLIES:
        raise Failed(f"no reply from {there.address} {attempt.within}")
    hop = Place(way.gateway or there.address, way.interface)
    if resolves(hop, way, _turn(attempt.deadline, 1)):
        return Success(f"{there.address} does not reply, its next hop {hop.address} does", NEXT_HOP)
    raise Failed(f"neither {there.address} nor its next hop {hop.address} answers {attempt.within}")


def _reply(there: Place, attempt: Attempt) -> str:
    """How it replied, or nothing. Each way gets its part of the time: filters drop one and let the other pass."""
    if _answers_echo(there, _turn(attempt.deadline, 3)):
        return "answers a ping"
    if _answers_tcp(there, _turn(attempt.deadline, 2)):
        return "answers on TCP"
    if attempt.changed_at is not None:
        quiet = seconds_since_it_was_heard(_sessions_with(there, attempt.deadline))
        if quiet is not None and quiet < attempt.deadline.clock.now() - attempt.changed_at:
            return f"was heard in a TCP session {quiet:.1f} s ago"
    return ""


def _turn(deadline: Deadline, parts: int) -> Deadline:
    return Deadline(deadline.clock, deadline.left() / parts)


def _answers_echo(there: Place, deadline: Deadline) -> bool:
    try:
        return echoes(there, deadline)
    except OSError:
        return False


def _answers_tcp(there: Place, deadline: Deadline) -> bool:
    scope = f"%{there.interface}" if there.interface else ""
    try:
        connected(there.address + scope, _SSH, there.family, deadline).close()
    except ConnectionRefusedError:
        return True  # a no is an answer: it came all the way back
    except (OSError, Failed):
        return False
    return True


def _sessions_with(there: Place, deadline: Deadline) -> str:
    filters = ["dst", there.address]
    if there.family == "ipv4":  # a server that listens on both families at once sees IPv4 like this
        filters = ["(", *filters, "or", "dst", f"[::ffff:{there.address}]", ")"]
    try:
        return output_of(["ss", "-tinH", "state", "established", *filters], deadline.left())
    except CannotLook:
        return ""


def seconds_since_it_was_heard(sessions: str) -> float | None:
    """From `ss -ti`: the youngest data or acknowledgement that came in, over all sessions."""
    heard = [int(milliseconds) for milliseconds in _ARRIVALS.findall(sessions)]
    return min(heard) / 1000 if heard else None
