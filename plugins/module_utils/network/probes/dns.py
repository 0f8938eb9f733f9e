# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""dns: does a name server answer? Asked directly, so that no library, cache or hosts file answers in its place.

Room: network (probes). With a name, NOERROR and NXDOMAIN count: both come from a server that knows. Without one any
answer counts, but what resolved before the change must still resolve after it: the same name, also when the change
moves the node's search domain. One server of several is enough.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import socket
import struct

from ...clock import Deadline
from .attempt import Attempt, Failed, Success
from .dns_message import Reply, query, reply
from .probe import Surroundings
from .targets import DNS_PORT, Port, api, family_of, is_name, question

_AGAIN = 1.0
RESOLVES, ANSWERS = "resolves", "answers"


def dns(attempt: Attempt) -> Success:
    asked = question(attempt.probe.target)
    family = attempt.probe.family
    servers = [asked.server] if asked.server else [Port(one, DNS_PORT) for one in attempt.surroundings.nameservers]
    usable = [server for server in servers if family in ("", family_of(server.host))]
    if not usable:
        raise Failed("no name server is set")
    depth, _space, asked_before = (attempt.earlier.mark if attempt.earlier else "").partition(" ")
    name = asked.name or asked_before or default_name(attempt.surroundings)
    must_resolve = bool(asked.name) or depth == RESOLVES
    heard = _ask(name, usable, must_resolve, attempt.deadline)
    good = next((server for server, seen in heard.items() if seen.resolves), None)
    if good:
        return Success(f"{good.host} answers {heard[good].named} for {name}", f"{RESOLVES} {name}")
    if not heard:
        raise Failed(f"no answer from {', '.join(server.host for server in usable)} {attempt.within}")
    said = ", ".join(f"{server.host} answers {seen.named} for {name}" for server, seen in heard.items())
    if must_resolve:
        raise Failed(said)
    return Success(said, f"{ANSWERS} {name}")


def default_name(surroundings: Surroundings) -> str:
    """A name this site should know: its API server, its domain; only then the root of the internet."""
    host = api(surroundings.api_server).host if surroundings.api_server else ""
    if host and not family_of(host):
        return host
    return next(filter(is_name, surroundings.search), ".")


def _ask(name: str, servers: list[Port], must_resolve: bool, deadline: Deadline) -> dict[Port, Reply]:
    """What the servers say, all asked at once; ends with the first answer that is good enough."""
    number = secrets.randbelow(1 << 16)
    heard: dict[Port, Reply] = {}
    with contextlib.ExitStack() as stack:
        open_to = {stack.enter_context(channel): server for server in servers if (channel := _channel_to(server))}
        if not open_to:
            raise Failed(f"no route to {', '.join(server.host for server in servers)}")
        while open_to and not deadline.passed():
            for channel in open_to:
                with contextlib.suppress(OSError):  # a refusal, or a lost route: asked again in a second
                    channel.send(query(number, name))
            turn = Deadline(deadline.clock, min(_AGAIN, deadline.left()))
            while open_to and (left := turn.left()) > 0:
                for channel in select.select(list(open_to), [], [], left)[0]:
                    seen = _read(channel, open_to[channel], number, name, deadline)
                    if seen is not None:
                        heard[open_to.pop(channel)] = seen
                        if seen.resolves or not must_resolve:
                            return heard
    return heard


def _channel_to(server: Port) -> socket.socket | None:
    found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST)
    family, kind, protocol, _name, address = found[0]
    channel = socket.socket(family, kind, protocol)
    try:
        channel.setblocking(False)
        channel.connect(address)
    except OSError:  # no route: others may have one
        channel.close()
        return None
    return channel


def _read(channel: socket.socket, server: Port, number: int, name: str, deadline: Deadline) -> Reply | None:
    try:
        seen = reply(channel.recv(4096), number, name)
        if seen is not None and seen.truncated:
            return _by_tcp(server, number, name, deadline) or seen
        return seen
    except OSError:
        return None


def _by_tcp(server: Port, number: int, name: str, deadline: Deadline) -> Reply | None:
    with socket.create_connection((server.host, server.port), timeout=max(deadline.left(), 0.1)) as channel:
        packet = query(number, name)
        channel.sendall(struct.pack("!H", len(packet)) + packet)
        (length,) = struct.unpack("!H", _exactly(channel, 2))
        return reply(_exactly(channel, length), number, name)


def _exactly(channel: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = channel.recv(count - len(data))
        if not more:
            raise ConnectionError("cut off in the middle of an answer")
        data += more
    return data
