# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads HTTP/1.1 answers from a stream of bytes, whole or line by line. Everything it keeps has a limit.

Room: kube. Kept to what API servers and the load balancers before them send: status line, headers, Content-Length,
chunked, read-until-close. Anything else is a `BrokenWire`, and the connection is thrown away. Two readers of one answer
must never see different answers, so what is ambiguous is refused. Fuzzed by tests/unit/kube/test_wire.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

# A page of a list that is larger is asked for in smaller pages.
MOST_BODY = 128 << 20
# One event of a watch. An object has 1.5 MiB at most, unless etcd was told otherwise.
MOST_LINE = 16 << 20
_SHORT_LINE = 4096
_HEAD = 1 << 18
_HEADERS = 256
_TRAILERS = 64
_ANNOUNCEMENTS = 8
_CHUNK = 65536
_STATUS = re.compile("[1-9][0-9][0-9]")
_HEX = b"0123456789abcdefABCDEF"


class BrokenWire(ConnectionError):
    """The other side does not speak HTTP as we know it, or stopped in the middle."""


class SilentClose(BrokenWire):
    """The other side closed before the first byte of an answer: an idle connection that had ended, most likely."""


class TooLarge(BrokenWire):
    """The answer is larger than we are willing to keep. The next try would end the same way."""


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

    def head(self) -> tuple[int, dict[str, str], bool]:
        """Status, headers in lower case, and whether the connection stays open afterwards."""
        for _announcement in range(_ANNOUNCEMENTS):
            first, *rest = self._head().split("\r\n")
            status, keeps = _status_line(first)
            headers = _headers(rest)
            if status >= 200 or status == 101:  # other 1xx answers are only announcements
                break
        else:
            raise BrokenWire("announcements (1xx) without end")
        connection = headers.get("connection", "").lower()
        if "close" in connection:
            keeps = False
        elif "keep-alive" in connection:
            keeps = True
        if "transfer-encoding" in headers and "content-length" in headers:
            keeps = False  # another reader of this connection may see its end elsewhere
        return status, headers, keeps

    def body(self, method: str, status: int, headers: dict[str, str]) -> tuple[bytes, bool]:
        """The whole body, and whether its end was marked (else the connection's end was the mark)."""
        if method == "HEAD" or status in (204, 304):
            return b"", True
        if _is_chunked(headers):
            return joined(self._chunks(MOST_BODY)), True
        if "content-length" in headers:
            return self._exactly(_within(_length(headers["content-length"]), MOST_BODY)), True
        return joined(self._pieces_until_close()), False

    def lines(self, headers: dict[str, str]) -> Iterator[bytes]:
        """The body line by line, as it comes. Ends with the body; a line cut in the middle is `BrokenWire`."""
        if _is_chunked(headers):
            parts = self._chunks(MOST_LINE)
        elif "content-length" in headers:
            parts = iter([self._exactly(_within(_length(headers["content-length"]), MOST_BODY))])
        else:
            parts = self._pieces_until_close()
        yield from lines_of(parts)

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
            if len(self._buffer) > _SHORT_LINE:
                raise BrokenWire("a line without end")
            if not self._more():
                raise BrokenWire("closed by the server")

    def _chunks(self, most: int) -> Iterator[bytes]:
        """The chunks of a body, none of them larger than `most`."""
        while True:
            size_text = self._line().partition(b";")[0].strip()
            if not 0 < len(size_text) <= 16 or size_text.strip(_HEX):
                raise BrokenWire(f"not a chunk size: {size_text[:40]!r}")
            size = int(size_text, 16)
            if size == 0:
                for _trailer in range(_TRAILERS):
                    if not self._line():
                        return
                raise BrokenWire("trailers without end")
            yield self._exactly(_within(size, most))
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

    def _pieces_until_close(self) -> Iterator[bytes]:
        while self._buffer or self._more():
            piece, self._buffer = self._buffer, b""
            yield piece

    def _more(self) -> bool:
        part = self._stream.recv(_CHUNK)
        self._buffer += part
        return bool(part)


def _status_line(line: str) -> tuple[int, bool]:
    parts = line.split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not _STATUS.fullmatch(parts[1]):
        raise BrokenWire(f"not an HTTP answer: {line[:80]!r}")
    return int(parts[1]), parts[0] != "HTTP/1.0"


def _headers(lines: list[str]) -> dict[str, str]:
    """Names in lower case. Of a header that comes twice the last counts, but the body must not have two lengths."""
    if len(lines) > _HEADERS:
        raise BrokenWire(f"{len(lines)} headers")
    headers = dict(map(_header, lines))
    if len(headers) != len(lines):
        for name in ("content-length", "transfer-encoding"):
            values = {value for key, value in map(_header, lines) if key == name}
            if len(values) > 1:
                raise BrokenWire(f"different values of {name}: {', '.join(sorted(values))[:80]!r}")
    return headers


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BrokenWire(f"not a header: {line[:80]!r}")
    return name.lower(), value.strip()


def _is_chunked(headers: dict[str, str]) -> bool:
    coding = headers.get("transfer-encoding")
    if coding is not None and coding.lower() != "chunked":
        raise BrokenWire(f"an unknown transfer coding: {coding[:40]!r}")
    return coding is not None


def _length(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BrokenWire(f"not a content length: {text[:40]!r}")
    return int(text)


def _within(size: int, most: int) -> int:
    if size > most:
        raise TooLarge(f"an answer of more than {most >> 20} MiB")
    return size


def lines_of(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a body, as they come."""
    rest: list[bytes] = []
    size = 0
    for part in parts:
        first, *more = part.split(b"\n")
        rest.append(first)
        size = _within(size + len(first), MOST_LINE)
        for line in more:
            yield b"".join(rest)
            rest, size = [line], len(line)
    if b"".join(rest).strip():
        raise BrokenWire("the stream ended in the middle of a line")


def joined(pieces: Iterator[bytes]) -> bytes:
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        parts.append(piece)
        size = _within(size + len(piece), MOST_BODY)
    return b"".join(parts)
