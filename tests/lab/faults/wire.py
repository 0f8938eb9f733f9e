# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 on a socket, as much as a proxy needs: heads, bodies by length or in chunks, and a hard reset.

Written out instead of using http.server and http.client, because a fault proxy has to stop in places where those insist
on finishing, and because they spend most of a request's time parsing headers as if they were mail.
"""

from __future__ import annotations

import select
import socket
import ssl
import struct
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 65536
END_OF_CHUNKS = b"0\r\n\r\n"


class Gone(ConnectionError):
    """The other side ended the connection."""


@dataclass(frozen=True)
class Head:
    """The first line and the headers of a message, with the bytes they came in."""

    first_line: str
    headers: dict[str, str]  # names in lower case
    raw: bytes

    @property
    def chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def length(self) -> int | None:
        return int(self.headers["content-length"]) if "content-length" in self.headers else None

    @property
    def closes(self) -> bool:
        return self.headers.get("connection", "").lower() == "close"

    @property
    def is_answer(self) -> bool:
        return self.first_line.startswith("HTTP/")

    @property
    def status(self) -> int:
        """Of an answer."""
        return int(self.first_line.split(" ", 2)[1])


class Wire:
    """One connection with a reading buffer."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self.sock = sock
        self.reading_for: Wire | None = None  # while set, reading ends with Gone as soon as that side leaves
        self._buffer = bytearray()

    def head(self) -> Head | None:
        """The next message's head; None when the other side has ended the connection in good order."""
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if not self._more():
                if self._buffer:
                    raise Gone("the connection ended within a head")
                return None
        raw = self._take(end + 4)
        first, *rest = raw[:-4].decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in rest)
        return Head(first, {name.strip().lower(): value.strip() for name, _colon, value in pairs}, raw)

    def body(self, head: Head) -> bytes:
        """The whole body that belongs to this head."""
        if head.chunked:
            return b"".join(self.chunks())
        if head.length is None and head.is_answer:
            return self._rest()
        return self._exactly(head.length or 0)

    def chunks(self) -> Iterator[bytes]:
        """The payload of each chunk as it comes."""
        while True:
            size = int(self._line().partition(b";")[0], 16)
            if size == 0:
                while self._line():  # trailers
                    pass
                return
            yield self._exactly(size)
            self._line()

    def lines(self) -> Iterator[bytes]:
        """The lines of a chunked body as they come: a long event is spread over several chunks."""
        pending = bytearray()
        for chunk in self.chunks():
            pending += chunk
            while (end := pending.find(b"\n")) >= 0:
                yield bytes(pending[: end + 1])
                del pending[: end + 1]
        if pending:
            yield bytes(pending)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def has_input(self) -> bool:
        """Is there anything to read now? On a connection that should be quiet it means that the other side left."""
        return bool(self._buffer) or self.sock.pending() > 0 or bool(_readable(self.sock, seconds=0))

    def reset(self) -> None:
        """End the connection with a TCP reset: the other side gets an error, not an end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self) -> None:
        self.sock.close()

    def wake(self) -> None:
        """End the connection while another thread may be reading from it; that thread sees the end and closes."""
        # Not SSLSocket.shutdown: that one takes the TLS state away under the reader's feet.
        socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

    def wait_for_input(self) -> None:
        """Wait until something can be read, which may be the end."""
        if not self.has_input():
            _readable(self.sock)

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if not self._more():
                raise Gone("the connection ended within a body")
        return self._take(end + 2)[:-2]

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if not self._more():
                raise Gone("the connection ended within a body")
        return self._take(size)

    def _rest(self) -> bytes:
        """Everything up to the end of the connection: an answer that says no length means that."""
        while self._more():
            pass
        return self._take(len(self._buffer))

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _more(self) -> bool:
        if self.reading_for is not None and self.sock.pending() == 0:
            other = self.reading_for.sock
            if other.pending() or other in _readable(self.sock, other):
                raise Gone("the side we read for has left")
        received = self.sock.recv(BLOCK)
        self._buffer += received
        return bool(received)


def _readable(*sockets: ssl.SSLSocket, seconds: float | None = None) -> list[ssl.SSLSocket]:
    """Those that can be read (or have ended); waits for the first, at most so many seconds."""
    poll = select.poll()  # not select(): that one knows no file descriptors above 1023
    by_number = {sock.fileno(): sock for sock in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _event in poll.poll(None if seconds is None else seconds * 1000)]


def as_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
