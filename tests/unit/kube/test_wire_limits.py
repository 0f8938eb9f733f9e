# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a server, or anything between, may not do to us: fill the memory, be read in two ways, answer unasked, drip."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube import http_reader
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, Reader, TooLarge
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import NotSent, Wire
from ansible_collections.sunset.kube.tests.unit.fakes import named

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Bytes:
    """A stream of these bytes, and then of its last byte without end."""

    def __init__(self, data: bytes, *, endless: bool = False) -> None:
        self._data = data
        self._endless = endless
        self.given = 0

    def recv(self, size: int, /) -> bytes:
        piece, self._data = self._data[:size], self._data[size:] or (self._data[-1:] * 65536 if self._endless else b"")
        self.given += len(piece)
        return piece


def read(data: bytes, *, endless: bool = False) -> tuple[int, bytes, bool]:
    reader = Reader(Bytes(data, endless=endless))
    status, headers, keeps = reader.head()
    body, _marked = reader.body("GET", status, headers)
    return status, body, keeps


AMBIGUOUS = {
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello",
    "a list of lengths": OK + b"Content-Length: 5, 5\r\n\r\nhello",
    "two transfer codings": OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
    "a coding that has chunked in its name": OK + b"Transfer-Encoding: xchunkedx\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "a coding we do not know": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "an empty coding": OK + b"Transfer-Encoding:\r\n\r\nhello",
    "a blank before the colon": OK + b"Content-Length : 5\r\n\r\nhello",
    "a folded header": OK + b"X: y\r\n Content-Length: 5\r\n\r\nhello",
}


@pytest.mark.parametrize("data", named(AMBIGUOUS))
def test_what_two_readers_may_read_differently_is_refused(data: bytes) -> None:
    with pytest.raises(BrokenWire):
        read(data)


def test_the_same_length_twice_is_no_contradiction() -> None:
    assert read(OK + b"Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello") == (200, b"hello", True)


def test_a_coding_in_capital_letters_is_known() -> None:
    assert read(OK + b"Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")[1] == b"hello"


def test_after_an_answer_with_length_and_chunks_the_connection_is_not_used_again() -> None:
    data = OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    assert read(data) == (200, b"hello", False)


def test_eight_announcements_are_too_many() -> None:
    hint = b"HTTP/1.1 103 Hints\r\n\r\n"
    assert read(hint * 7 + OK + b"Content-Length: 0\r\n\r\n")[0] == 200
    with pytest.raises(BrokenWire, match="announcements"):
        read(hint * 8 + OK + b"Content-Length: 0\r\n\r\n")


def test_headers_and_trailers_have_a_number() -> None:
    lines = b"".join(b"X-%d: y\r\n" % number for number in range(300))
    with pytest.raises(BrokenWire, match="headers"):
        read(OK + lines + b"\r\n")
    with pytest.raises(BrokenWire, match="trailers without end"):
        read(CHUNKED + b"0\r\n" + lines + b"\r\n")


LARGE = {
    "a length": OK + b"Content-Length: 4097\r\n\r\nx",
    "one chunk": CHUNKED + b"1001\r\nx",
    "many chunks": CHUNKED + b"400\r\n" + (b"x" * 1024 + b"\r\n400\r\n") * 8,
    "no length": OK + b"\r\nx",
}


@pytest.mark.parametrize("data", named(LARGE))
def test_a_body_larger_than_the_limit_is_not_kept(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_reader, "MOST_BODY", 4096)
    with pytest.raises(TooLarge):
        read(data, endless=True)


def test_a_body_of_exactly_the_limit_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_reader, "MOST_BODY", 5)
    assert read(OK + b"Content-Length: 5\r\n\r\nhello")[1] == b"hello"
    assert read(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n")[1] == b"hello"


@pytest.mark.parametrize("data", named({"without a length": OK + b"\r\nx", "in chunks": CHUNKED + b"1001\r\nx"}))
def test_a_line_of_a_stream_has_an_end(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_reader, "MOST_LINE", 4096)
    reader = Reader(Bytes(data, endless=True))
    _status, headers, _keeps = reader.head()
    with pytest.raises(TooLarge):
        list(reader.lines(headers))


def test_a_stream_may_be_longer_than_any_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_reader, "MOST_LINE", 64)
    monkeypatch.setattr(http_reader, "MOST_BODY", 64)
    lines = [b"x" * 50] * 100
    for data in (
        OK + b"\r\n" + b"\n".join(lines) + b"\n",
        CHUNKED + b"33\r\n" + b"\r\n33\r\n".join(line + b"\n" for line in lines) + b"\r\n0\r\n\r\n",
    ):
        reader = Reader(Bytes(data))
        _status, headers, _keeps = reader.head()
        assert list(reader.lines(headers)) == lines


# -- connections to a real socket --------------------------------------------------------------------------------------


class Peer:
    """The other side of a connection, by hand: each request gets the next of its answers, and what follows unasked."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.requests: list[list[bytes]] = []  # of each connection
        self.endpoint = Endpoint("127.0.0.1", self.listener.getsockname()[1])
        self._replies: list[Any] = []
        self._open: list[socket.socket] = []
        self.idle = threading.Semaphore(0)  # released after whatever follows an answer was sent
        threading.Thread(target=self._accept, daemon=True).start()

    def answers(self, *replies: tuple[bytes, bytes | None]) -> None:
        """An answer each, and what comes afterwards without being asked for: None is the connection's end."""
        self._replies = list(replies)

    def _accept(self) -> None:
        while True:
            try:
                sock, _address = self.listener.accept()
            except OSError:
                return
            self._open.append(sock)
            self.requests.append([])
            threading.Thread(target=self._serve, args=(sock, self.requests[-1]), daemon=True).start()

    def _serve(self, sock: socket.socket, seen: list[bytes]) -> None:
        with contextlib.suppress(OSError):
            self._converse(sock, seen)

    def _converse(self, sock: socket.socket, seen: list[bytes]) -> None:
        while request := sock.recv(65536):
            seen.append(request.split(b" ", 1)[0])
            answer, unasked = self._replies.pop(0)
            sock.sendall(answer)
            if unasked is None:
                sock.shutdown(socket.SHUT_RDWR)
            elif unasked:
                sock.sendall(unasked)
            self.idle.release()

    def close(self) -> None:
        self.listener.close()
        for sock in self._open:
            sock.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.close()


def a_minute() -> float:
    return 60.0


DONE = OK + b"Content-Length: 4\r\n\r\ndone"
STRAY = {
    "an answer to nothing": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "a load balancer that is tired of waiting": b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
    "a single byte": b"\n",
    "the connection's end": None,
}


@pytest.mark.parametrize("stray", named(STRAY))
def test_what_came_on_an_idle_connection_never_answers_the_next_request(peer: Peer, stray: bytes | None) -> None:
    peer.answers((DONE, stray), (DONE, b""))
    wire = Wire(peer.endpoint, 10.0)
    wire.exchange("GET", "/", {}, b"", a_minute)
    assert peer.idle.acquire(timeout=30)
    assert wire.exchange("DELETE", "/x", {}, b"", a_minute)[::2] == (200, b"done")
    assert peer.requests == [[b"GET"], [b"DELETE"]], "a new connection, and the old one was not written to"
    wire.close()


def test_a_connection_that_stayed_quiet_is_used_again(peer: Peer) -> None:
    peer.answers(*[(DONE, b"")] * 3)
    wire = Wire(peer.endpoint, 10.0)
    for _request in range(3):
        wire.exchange("GET", "/", {}, b"", a_minute)
        assert peer.idle.acquire(timeout=30)
    assert peer.requests == [[b"GET"] * 3]
    wire.close()


def test_after_a_408_the_next_request_has_a_new_connection(peer: Peer) -> None:
    peer.answers((b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", b""), (DONE, b""))
    wire = Wire(peer.endpoint, 10.0)
    assert [wire.exchange("GET", "/", {}, b"", a_minute)[0] for _request in range(2)] == [408, 200]
    assert len(peer.requests) == 2
    wire.close()


def running_out(times: int) -> Callable[[], float]:
    """There is time left so many times, and then no more."""
    answers = iter([60.0] * times)
    return lambda: next(answers, 0.0)


@pytest.mark.parametrize("answer", named({"silence": b"", "half an answer": OK + b"Content-Length: 9\r\n\r\nhal"}))
def test_an_answer_that_does_not_come_ends_with_the_time(peer: Peer, answer: bytes) -> None:
    peer.answers((answer, b""))
    wire = Wire(peer.endpoint, 10.0)
    with pytest.raises(TimeoutError, match="no answer in time"):
        wire.exchange("GET", "/", {}, b"", running_out(2))
    assert not wire.is_open


def test_a_dripping_answer_ends_with_the_time() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        dripping = threading.Event()

        def drip() -> None:
            while not dripping.wait(0.01):
                theirs.sendall(b"x")

        theirs.sendall(OK + b"Content-Length: 1000000\r\n\r\n")
        thread = threading.Thread(target=drip)
        thread.start()
        wire = Wire(Endpoint("127.0.0.1", 1), 10.0)
        wire._connect = lambda left: ours  # type: ignore[method-assign]
        try:
            with pytest.raises(TimeoutError, match="no answer in time"):
                wire.exchange("GET", "/", {}, b"", running_out(5))
        finally:
            dripping.set()
            thread.join()


def test_without_time_nothing_is_sent(peer: Peer) -> None:
    with pytest.raises(NotSent):
        Wire(peer.endpoint, 10.0).exchange("DELETE", "/", {}, b"", lambda: 0.0)
    assert peer.requests == []
