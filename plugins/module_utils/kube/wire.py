# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One keep-alive HTTP/1.1 connection: writes a request, reads the answer, or its lines as they come.

Room: kube. Why not `http.client`: its e-mail header parser costs more than the rest of a request; `make bench`
compares both. Kept to what API servers and the load balancers before them send: status line, headers,
Content-Length, chunked, read-until-close. Anything else is a `BrokenWire`, and the connection is thrown away.
Fuzzed by tests/unit/kube/test_wire.py.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from .endpoint import Endpoint

USER_AGENT = "sunset.kube"
_LINE = 4096
_HEAD = 1 << 18
_CHUNK = 65536
_STATUS = re.compile("[1-9][0-9][0-9]")
_HEX = b"0123456789abcdefABCDEF"


class BrokenWire(ConnectionError):
    """The other side does not speak HTTP as we know it, or stopped in the middle."""


class SilentClose(BrokenWire):
    """The other side closed before the first byte of an answer: an idle connection that had ended, most likely."""


class QuietStream(BrokenWire):
    """Nothing came on a stream for so long that it was given up; no sign of trouble."""


class Stream(Protocol):
    """What a connection offers to the reader: `recv` and nothing else."""

    def recv(self, size: int, /) -> bytes: ...


class Reader:
    """Reads answers from a stream of bytes. Keeps what came too early for the next answer."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = b""

    @property
    def has_more(self) -> bool:
        return bool(self._buffer)

    def patiently(self, on_quiet: Callable[[], None]) -> None:
        """From now on a read that times out calls `on_quiet` and goes on, instead of ending the stream."""
        self._stream = _Patient(self._stream, on_quiet)

    def head(self) -> tuple[int, dict[str, str], bool]:
        """Status, headers in lower case, and whether the connection stays open afterwards."""
        while True:
            first, *rest = self._head().split("\r\n")
            status, keeps = _status_line(first)
            headers = dict(map(_header, rest))
            if status >= 200 or status == 101:  # other 1xx answers are only announcements
                break
        connection = headers.get("connection", "").lower()
        if "close" in connection:
            keeps = False
        elif "keep-alive" in connection:
            keeps = True
        return status, headers, keeps

    def body(self, method: str, status: int, headers: dict[str, str]) -> tuple[bytes, bool]:
        """The whole body, and whether its end was marked (else the connection's end was the mark)."""
        if method == "HEAD" or status in (204, 304):
            return b"", True
        if _is_chunked(headers):
            return b"".join(self._chunks()), True
        if "content-length" in headers:
            return self._exactly(_length(headers["content-length"])), True
        return self._until_close(), False

    def lines(self, headers: dict[str, str]) -> Iterator[bytes]:
        """The body line by line, as it comes. Ends with the body; a line cut in the middle is `BrokenWire`."""
        if _is_chunked(headers):
            parts = self._chunks()
        elif "content-length" in headers:
            parts = iter([self._exactly(_length(headers["content-length"]))])
        else:
            parts = self._pieces_until_close()
        rest = b""
        for part in parts:
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
        if rest.strip():
            raise BrokenWire("the stream ended in the middle of a line")

    def _head(self) -> str:
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if found:
                self._buffer = rest
                return head.decode("latin-1")
            if len(self._buffer) > _HEAD:
                raise BrokenWire("a head without end")
            if not self._more():
                raise (BrokenWire if self._buffer else SilentClose)("closed by the server")

    def _line(self) -> bytes:
        while True:
            line, found, rest = self._buffer.partition(b"\r\n")
            if found:
                self._buffer = rest
                return line
            if len(self._buffer) > _LINE:
                raise BrokenWire("a line without end")
            if not self._more():
                raise BrokenWire("closed by the server")

    def _chunks(self) -> Iterator[bytes]:
        while True:
            size_text = self._line().partition(b";")[0].strip()
            try:
                if not 0 < len(size_text) <= 16 or size_text.strip(_HEX):
                    raise ValueError
                size = int(size_text, 16)
            except ValueError:
                raise BrokenWire(f"not a chunk size: {size_text[:40]!r}") from None
            if size == 0:
                while self._line():  # trailers
                    pass
                return
            yield self._exactly(size)
            if self._line():
                raise BrokenWire("a chunk is longer than announced")

    def _exactly(self, size: int) -> bytes:
        if len(self._buffer) >= size:
            data, self._buffer = self._buffer[:size], self._buffer[size:]
            return data
        parts, missing = [self._buffer], size - len(self._buffer)
        self._buffer = b""
        while missing:
            part = self._stream.recv(min(missing, 1 << 20))
            if not part:
                raise BrokenWire(f"the answer was cut, {missing} of {size} bytes are missing")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _until_close(self) -> bytes:
        return b"".join(self._pieces_until_close())

    def _pieces_until_close(self) -> Iterator[bytes]:
        while self._buffer or self._more():
            piece, self._buffer = self._buffer, b""
            yield piece

    def _more(self) -> bool:
        part = self._stream.recv(_CHUNK)
        self._buffer += part
        return bool(part)


class _Patient:
    """A stream that may be quiet for as long as `on_quiet` lets it."""

    def __init__(self, stream: Stream, on_quiet: Callable[[], None]) -> None:
        self._stream = stream
        self._on_quiet = on_quiet

    def recv(self, size: int, /) -> bytes:
        while True:
            try:
                return self._stream.recv(size)
            except TimeoutError:
                self._on_quiet()


def _status_line(line: str) -> tuple[int, bool]:
    parts = line.split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not _STATUS.fullmatch(parts[1]):
        raise BrokenWire(f"not an HTTP answer: {line[:80]!r}")
    return int(parts[1]), parts[0] != "HTTP/1.0"


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    name = name.strip()
    if not colon or not name:
        raise BrokenWire(f"not a header: {line[:80]!r}")
    return name.lower(), value.strip()


def _is_chunked(headers: dict[str, str]) -> bool:
    return "chunked" in headers.get("transfer-encoding", "").lower()


def _length(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BrokenWire(f"not a content length: {text[:40]!r}")
    return int(text)


class Wire:
    """A connection to one server, opened at its first use and opened anew after trouble."""

    def __init__(self, endpoint: Endpoint, connect_timeout: float) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._socket: socket.socket | None = None
        self._reader: Reader | None = None
        self._timeout: float | None = None
        greeting = (("Host", endpoint.authority), ("User-Agent", USER_AGENT), *endpoint.headers)
        self._greeting = "".join(f"{name}: {value}\r\n" for name, value in greeting)

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a whole request and read the whole answer. Any trouble closes the connection and is raised."""
        try:
            reader = self._send(method, target, headers, body, timeout)
            status, answer_headers, keeps = reader.head()
            answer, marked = reader.body(method, status, answer_headers)
        except BaseException:
            self.close()
            raise
        # Bytes beyond the answer were not asked for: whatever they are, they must not answer the next request.
        if not keeps or not marked or reader.has_more:
            self.close()
        return status, answer_headers, answer

    def open_stream(
        self, target: str, headers: Mapping[str, str], timeout: float, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        """GET an answer that has no end yet, as lines. Calls `on_quiet` when nothing came for `quiet` seconds.

        An answer other than 200 comes as one piece. Afterwards this connection serves for nothing else.
        """
        try:
            reader = self._send("GET", target, headers, b"", timeout)
            status, answer_headers, _keeps = reader.head()
            if status != 200:
                return status, iter([reader.body("GET", status, answer_headers)[0]])
        except BaseException:
            self.close()
            raise
        if self._socket is not None:
            self._socket.settimeout(quiet)
        reader.patiently(on_quiet)
        return status, reader.lines(answer_headers)

    def cut(self) -> None:
        """End the connection from another thread: whoever reads from it sees its end."""
        sock = self._socket
        if sock is not None:
            with contextlib.suppress(OSError):
                # Not SSLSocket.shutdown: that one takes the TLS state away from under the reading thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        sock, self._socket, self._reader = self._socket, None, None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.close()

    def _send(self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Reader:
        if self._socket is None or self._reader is None:
            self._socket = self._connect()
            self._reader = Reader(self._socket)
            self._timeout = None
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = f"Content-Length: {len(body)}\r\n" if body or method in ("POST", "PUT", "PATCH") else ""
        base = self._endpoint.base_path
        head = f"{method} {base}{target} HTTP/1.1\r\n{self._greeting}{lines}{length}\r\n"
        if self._timeout != timeout:  # each setting is a system call
            self._socket.settimeout(timeout)
            self._timeout = timeout
        self._socket.sendall(head.encode("latin-1") + body)
        return self._reader

    def _connect(self) -> socket.socket:
        endpoint = self._endpoint
        plain = socket.create_connection((endpoint.host, endpoint.port), self._connect_timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if endpoint.tls is None:
                return plain
            return endpoint.tls.wrap_socket(plain, server_hostname=endpoint.server_name or endpoint.host)
        except BaseException:
            plain.close()
            raise
