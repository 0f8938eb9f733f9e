# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading HTTP answers from bytes that come in any pieces, and writing requests."""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube import wire as wire_module
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, Reader, SilentClose
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import Turns, Wire
from ansible_collections.sunset.kube.tests.unit.fakes import named


class Pieces:
    """A stream that gives these pieces, one a read (or less, if less is wanted), and then its end."""

    def __init__(self, *pieces: bytes | BaseException) -> None:
        self._pieces = list(pieces)
        self.reads_after_the_end = 0

    def recv(self, size: int, /) -> bytes:
        if not self._pieces:
            self.reads_after_the_end += 1
            assert self.reads_after_the_end < 3, "reads on after the end"
            return b""
        piece = self._pieces.pop(0)
        if isinstance(piece, BaseException):
            raise piece
        if len(piece) > size:
            self._pieces.insert(0, piece[size:])
        return piece[:size]


def cut_up(data: bytes, places: list[int]) -> list[bytes]:
    cuts = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(cuts)]


@dataclass(frozen=True)
class Message:
    """An answer and what should be read from it."""

    wire: bytes
    method: str
    status: int
    body: bytes
    marked: bool = True


CRLF = b"\r\n"
tokens = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda text: f"x-{text}")
values = st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f\x85\xa0\xad"), max_size=20)
extras = st.dictionaries(tokens, values, max_size=4)
reasons = st.sampled_from([b" OK", b" Not Found", b" ", b"", b" with many words"])
bodies = st.one_of(st.binary(max_size=300), st.just(b"x" * 70000), st.just(b"\r\n\r\n0\r\n\r\nHTTP/1.1 200"))


def head(status: int, reason: bytes, headers: dict[str, str]) -> bytes:
    lines = [b"HTTP/1.1 %d%s" % (status, reason)]
    lines += [f"{name}: {value}".encode("latin-1") for name, value in headers.items()]
    return CRLF.join(lines) + CRLF + CRLF


@st.composite
def marked_messages(draw: Any) -> Message:
    """Answers whose end can be told: with a length, in chunks, or without a body."""
    status = draw(st.sampled_from([200, 201, 404, 409, 500]))
    reason, headers, body = draw(reasons), draw(extras), draw(bodies)
    kind = draw(st.sampled_from(["length", "chunked", "head", "204", "304"]))
    announcement = draw(st.sampled_from([b"", head(100, b" Continue", {}), head(103, b" Hints", {"link": "x"})]))
    if kind == "length":
        wire = head(status, reason, {**headers, "Content-Length": str(len(body))}) + body
        return Message(announcement + wire, "GET", status, body)
    if kind == "chunked":
        wire = head(status, reason, {**headers, "Transfer-Encoding": "chunked"}) + draw(chunked(body))
        return Message(announcement + wire, "GET", status, body)
    if kind == "head":
        return Message(head(status, reason, {**headers, "Content-Length": "77"}), "HEAD", status, b"")
    return Message(head(int(kind), reason, headers), "GET", int(kind), b"")


@st.composite
def chunked(draw: Any, body: bytes) -> bytes:
    """A body in chunks of any size, with extensions, upper-case sizes, leading zeros and trailers."""
    size = draw(st.sampled_from(["%x", "%X", "000%x", "%x;name=value", '%x; q="a;b"', "%x "]))
    pieces = cut_up(body, draw(st.lists(st.integers(0, 100_000), max_size=4)))
    sent = b"".join((size % len(piece)).encode() + CRLF + piece + CRLF for piece in pieces)
    trailers = draw(st.sampled_from([b"", b"X-Trailer: yes\r\n", b"A: 1\r\nB: 2\r\n"]))
    return sent + b"0" + CRLF + trailers + CRLF


def read_one(reader: Reader, method: str) -> tuple[int, bytes, bool]:
    status, headers, _keeps = reader.head()
    body, marked = reader.body(method, status, headers)
    return status, body, marked


cuts = st.lists(st.integers(0, 200_000), max_size=12)


@given(st.lists(marked_messages(), min_size=1, max_size=4), cuts)
def test_answers_on_one_connection_are_read_back_exactly_however_they_are_cut(
    messages: list[Message], places: list[int]
) -> None:
    stream = Pieces(*cut_up(b"".join(message.wire for message in messages), places))
    reader = Reader(stream)
    read = [read_one(reader, message.method) for message in messages]
    assert read == [(message.status, message.body, True) for message in messages]


@given(bodies, extras, cuts)
def test_a_body_without_length_lasts_until_the_connection_ends(
    body: bytes, headers: dict[str, str], places: list[int]
) -> None:
    reader = Reader(Pieces(*cut_up(head(200, b" OK", headers) + body, places)))
    assert read_one(reader, "GET") == (200, body, False)


@given(extras, cuts)
def test_headers_are_read_back_with_their_names_in_lower_case(headers: dict[str, str], places: list[int]) -> None:
    sent = {name.title(): f"  {value} " for name, value in headers.items()}
    status, read, keeps = Reader(Pieces(*cut_up(head(200, b" OK", sent), places))).head()
    assert (status, read, keeps) == (200, headers, True)


@given(st.binary(max_size=400), cuts, st.sampled_from(["GET", "HEAD"]))
@example(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", [], "GET")
@example(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", [], "GET")
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 4000 + b"\r\n\r\n", [], "GET")
def test_arbitrary_bytes_are_an_answer_or_a_broken_wire_and_never_anything_else(
    data: bytes, places: list[int], method: str
) -> None:
    assert read_or_broken(data, places, method)


frames = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 204\r\n",
        b"HTTP/1.1 100\r\n\r\n",
        b"Content-Length: 5\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b": x\r\n",
        b"\r\n",
        b"hello",
        b"5\r\nhello\r\n",
        b"5\r\nhel",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
    ]
)


@given(st.lists(st.one_of(frames, st.binary(max_size=8)), max_size=10), cuts)
def test_almost_valid_answers_are_an_answer_or_a_broken_wire_and_never_anything_else(
    parts: list[bytes], places: list[int]
) -> None:
    assert read_or_broken(b"".join(parts), places, "GET")


def read_or_broken(data: bytes, places: list[int], method: str) -> bool:
    for read in (lambda reader: read_one(reader, method), all_lines):
        try:
            read(Reader(Pieces(*cut_up(data, places))))
        except BrokenWire:
            continue
    return True


def all_lines(reader: Reader) -> list[bytes]:
    _status, headers, _keeps = reader.head()
    return list(reader.lines(headers))


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BROKEN = {
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "HTTP/2": b"HTTP/2 200\r\n\r\n",
    "a status of two digits": b"HTTP/1.1 20 OK\r\n\r\n",
    "a status of letters": b"HTTP/1.1 abc\r\n\r\n",
    "no status": b"HTTP/1.1\r\n\r\n",
    "a header without a colon": OK + b"nonsense\r\n\r\n",
    "a header without a name": OK + b": value\r\n\r\n",
    "a head that ends in the middle": OK + b"Content-",
    "a head without end": OK + b"X: " + b"x" * 300_000,
    "a length that is no number": OK + b"Content-Length: five\r\n\r\nhello",
    "a negative length": OK + b"Content-Length: -5\r\n\r\nhello",
    "a length in foreign digits": OK + "Content-Length: \u00b2\r\n\r\n".encode("latin-1"),
    "a length with thousands of digits": OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "a body that is too short": OK + b"Content-Length: 6\r\n\r\nhello",
    "a chunk size that is no number": CHUNKED + b"five\r\nhello\r\n0\r\n\r\n",
    "an empty chunk size": CHUNKED + b"\r\nhello\r\n0\r\n\r\n",
    "a negative chunk size": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n",
    "a chunk size with a prefix": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "a chunk size with an underscore": CHUNKED + b"0_5\r\nhello\r\n0\r\n\r\n",
    "a chunk longer than announced": CHUNKED + b"4\r\nhello\r\n0\r\n\r\n",
    "a chunk that is cut": CHUNKED + b"6\r\nhello",
    "no last chunk": CHUNKED + b"5\r\nhello\r\n",
    "trailers without end": CHUNKED + b"0\r\nX-Trailer: yes\r\n",
    "a chunk size line without end": CHUNKED + b"1" * 100_000,
}


@pytest.mark.parametrize("data", named(BROKEN))
def test_what_is_not_http_as_we_know_it_is_a_broken_wire(data: bytes) -> None:
    with pytest.raises(BrokenWire) as broken:
        read_one(Reader(Pieces(data)), "GET")
    assert not isinstance(broken.value, SilentClose)


@pytest.mark.parametrize(
    "data", named({"a head": OK + b"X: ", "a chunk size": CHUNKED, "a trailer": CHUNKED + b"0\r\nX: "})
)
def test_what_never_ends_is_given_up_before_it_fills_the_memory(data: bytes) -> None:
    class Endless:
        reads = 0

        def recv(self, size: int, /) -> bytes:
            self.reads += 1
            assert self.reads < 20, "reads without end"
            return data if self.reads == 1 else b"1" * size

    with pytest.raises(BrokenWire, match="without end"):
        read_one(Reader(Endless()), "GET")


def test_a_connection_that_ends_before_the_first_byte_is_a_silent_close() -> None:
    with pytest.raises(SilentClose):
        Reader(Pieces()).head()


STAYS_OPEN = {
    "HTTP/1.1": (b"HTTP/1.1 200 OK\r\n\r\n", True),
    "HTTP/1.1 with close": (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", False),
    "HTTP/1.1 with close among others": (b"HTTP/1.1 200 OK\r\nConnection: upgrade, close\r\n\r\n", False),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\n", False),
    "HTTP/1.0 with keep-alive": (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", True),
}


@pytest.mark.parametrize(("data", "keeps"), named(STAYS_OPEN))
def test_whether_the_connection_stays_open_is_read_from_the_head(data: bytes, keeps: bool) -> None:
    assert Reader(Pieces(data)).head()[2] is keeps


def test_announcements_are_passed_over_but_a_change_of_protocol_is_an_answer() -> None:
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"
    assert Reader(Pieces(data)).head() == (101, {"upgrade": "x"}, True)


lines_of_text = st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=8)


@given(lines_of_text, st.booleans(), cuts, st.data())
def test_lines_are_read_back_exactly_over_any_chunking(
    lines: list[bytes], in_chunks: bool, places: list[int], data: Any
) -> None:
    body = b"".join(line + b"\n" for line in lines)
    headers = {"Transfer-Encoding": "chunked"} if in_chunks else {}
    sent = head(200, b" OK", headers) + (data.draw(chunked(body)) if in_chunks else body)
    assert all_lines(Reader(Pieces(*cut_up(sent, places)))) == lines


def test_a_line_is_given_as_soon_as_it_is_complete() -> None:
    arrived: list[str] = []

    class Slow:
        pieces = iter([CHUNKED, b"8\r\none\ntwo\n\r\n", b"6\r\nthree\n\r\n", b"0\r\n\r\n"])

        def recv(self, size: int, /) -> bytes:
            arrived.append("read")
            return next(self.pieces)

    reader = Reader(Slow())
    _status, headers, _keeps = reader.head()
    for line in reader.lines(headers):
        arrived.append(line.decode())
    assert arrived == ["read", "read", "one", "two", "read", "three", "read"]


HALF_LINES = {
    "in chunks": CHUNKED + b"7\r\none\ntwo\r\n0\r\n\r\n",
    "until the end": OK + b"\r\none\ntwo",
}


@pytest.mark.parametrize("data", named(HALF_LINES))
def test_a_stream_that_ends_in_the_middle_of_a_line_is_a_broken_wire(data: bytes) -> None:
    with pytest.raises(BrokenWire):
        all_lines(Reader(Pieces(data)))


def test_lines_of_a_body_with_a_length_end_with_it() -> None:
    # The connection stays open: whoever reads on waits for bytes that never come.
    reader = Reader(Pieces(OK + b"Content-Length: 8\r\n\r\none\ntwo\n", AssertionError("reads beyond the body")))
    assert all_lines(reader) == [b"one", b"two"]


def test_a_silent_or_dripping_stream_is_asked_about_between_two_reads() -> None:
    asked: list[int] = []
    turns = Turns(Pieces(OK + b"\r\n", TimeoutError(), b"one\nt", TimeoutError(), TimeoutError(), b"w", b"o\n"))
    turns.begin(lambda: asked.append(len(asked)))
    reader = Reader(turns)
    _status, headers, _keeps = reader.head()
    assert not asked, "an answer in one piece needs no question"
    assert (list(reader.lines(headers)), len(asked)) == ([b"one", b"two"], 7)


def test_a_stream_ends_with_what_the_question_raises() -> None:
    turns = Turns(Pieces(OK + b"\r\n", TimeoutError()))
    reader = Reader(turns)
    _status, headers, _keeps = reader.head()

    def stop() -> None:
        raise OSError("stopped")

    turns.begin(stop)
    with pytest.raises(OSError, match="stopped"):
        list(reader.lines(headers))


# -- the connection ----------------------------------------------------------------------------------------------------


def a_minute() -> float:
    return 60.0


def running_out(*left: float) -> Callable[[], float]:
    """So many seconds are left when asked, and then none."""
    answers = [*left]
    return lambda: answers.pop(0) if answers else 0.0


_SILENT = socket.socketpair()  # whose first half has nothing to read


class FakeSocket(Pieces):
    def __init__(self, *pieces: bytes | BaseException) -> None:
        super().__init__(*pieces)
        self.sent = b""
        self.timeouts: list[float] = []
        self.closed = False

    def setsockopt(self, *option: int) -> None: ...

    def fileno(self) -> int:
        return _SILENT[0].fileno()

    def settimeout(self, seconds: float) -> None:
        self.timeouts.append(seconds)

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[FakeSocket]]:
    """Each connection that is opened gets the next of these sockets."""

    def prepare(*prepared: FakeSocket) -> list[FakeSocket]:
        waiting = list(prepared)
        monkeypatch.setattr(wire_module.socket, "create_connection", lambda address, timeout: waiting.pop(0))
        return list(prepared)

    return prepare


ENDPOINT = Endpoint("api.example.com", 6443, base_path="/k8s", headers=(("Authorization", "Bearer t"),))
EMPTY = OK + b"Content-Length: 2\r\n\r\n{}"


def test_a_request_is_written_with_greeting_headers_length_and_body(sockets: Any) -> None:
    [sock] = sockets(FakeSocket(EMPTY))
    wire = Wire(ENDPOINT, 10.0)
    answer = wire.exchange("PATCH", "/api/v1/pods?x=1", {"Accept": "application/json"}, b"[]", a_minute)
    assert answer == (200, {"content-length": "2"}, b"{}")
    assert sock.sent == (
        b"PATCH /k8s/api/v1/pods?x=1 HTTP/1.1\r\n"
        b"Host: api.example.com:6443\r\n"
        b"User-Agent: sunset.kube\r\n"
        b"Authorization: Bearer t\r\n"
        b"Accept: application/json\r\n"
        b"Content-Length: 2\r\n"
        b"\r\n"
        b"[]"
    )
    assert sock.timeouts == [0.5], "short turns, so that the reader may look up in between"


LENGTHS = {
    "GET without a body": ("GET", b"", False),
    "DELETE without a body": ("DELETE", b"", False),
    "DELETE with a body": ("DELETE", b"{}", True),
    "POST without a body": ("POST", b"", True),
    "PATCH without a body": ("PATCH", b"", True),
}


@pytest.mark.parametrize(("method", "body", "has_length"), named(LENGTHS))
def test_a_length_is_sent_with_every_body_and_where_servers_demand_one(
    sockets: Any, method: str, body: bytes, has_length: bool
) -> None:
    [sock] = sockets(FakeSocket(EMPTY))
    Wire(ENDPOINT, 10.0).exchange(method, "/api", {}, body, a_minute)
    assert (b"Content-Length: %d\r\n" % len(body) in sock.sent) is has_length


def test_a_connection_is_used_again_for_the_next_request(sockets: Any) -> None:
    [sock] = sockets(FakeSocket(EMPTY, EMPTY))
    wire = Wire(ENDPOINT, 10.0)
    assert not wire.is_open
    for _request in range(2):
        wire.exchange("GET", "/api", {}, b"", a_minute)
    assert (sock.sent.count(b"GET /k8s/api HTTP/1.1\r\n"), wire.is_open) == (2, True)


ENDS = {
    "the server says close": [OK + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"],
    "the body lasts until the end": [OK + b"\r\n{}"],
    "the answer is broken": [b"nonsense\r\n\r\n"],
    "the answer is cut": [OK + b"Content-Length: 5\r\n\r\n{}"],
    "nothing comes in time": [TimeoutError()],
    "the connection is reset": [ConnectionResetError()],
}


@pytest.mark.parametrize("pieces", named({name: (pieces,) for name, pieces in ENDS.items()}))
def test_after_an_end_or_trouble_the_next_request_opens_a_new_connection(
    sockets: Any, pieces: list[bytes | BaseException]
) -> None:
    first, second = sockets(FakeSocket(*pieces), FakeSocket(EMPTY))
    wire = Wire(ENDPOINT, 10.0)
    with contextlib.suppress(OSError):
        wire.exchange("GET", "/api", {}, b"", a_minute)
    assert (first.closed, wire.is_open) == (True, False)
    assert wire.exchange("GET", "/api", {}, b"", a_minute)[2] == b"{}"
    assert second.sent.startswith(b"GET /k8s/api HTTP/1.1\r\n")


def test_bytes_that_nobody_asked_for_are_never_taken_for_the_next_answer(sockets: Any) -> None:
    unasked = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
    sockets(FakeSocket(EMPTY + unasked), FakeSocket(EMPTY))
    wire = Wire(ENDPOINT, 10.0)
    wire.exchange("GET", "/api", {}, b"", a_minute)
    assert wire.exchange("GET", "/apis", {}, b"", a_minute)[0] == 200


def test_a_stream_gives_lines_and_allows_quiet_only_after_its_head(sockets: Any) -> None:
    [sock] = sockets(FakeSocket(OK + b"\r\n", b"one\n", TimeoutError(), b"two\n"))
    quiet: list[str] = []
    status, lines = Wire(ENDPOINT, 10.0).open_stream("/watch", {}, a_minute, 1.0, lambda: quiet.append("quiet"))
    assert (status, list(lines), quiet, sock.timeouts) == (200, [b"one", b"two"], ["quiet"] * 3, [0.5, 1.0])


def test_a_stream_that_is_refused_gives_its_answer_in_one_piece(sockets: Any) -> None:
    sockets(FakeSocket(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\na\nb\n"))
    status, lines = Wire(ENDPOINT, 10.0).open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    assert (status, list(lines)) == (403, [b"a\nb\n"])


def test_a_stream_that_cannot_be_opened_closes_its_connection(sockets: Any) -> None:
    [sock] = sockets(FakeSocket(TimeoutError()))
    with pytest.raises(TimeoutError):
        Wire(ENDPOINT, 10.0).open_stream("/watch", {}, running_out(60.0), 1.0, lambda: None)
    assert sock.closed


def test_a_cut_ends_the_stream_for_whoever_reads_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(wire_module.socket, "create_connection", lambda address, timeout: NoOptions(ours))
        wire = Wire(ENDPOINT, 10.0)
        theirs.sendall(OK + b"\r\none\n")
        _status, lines = wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
        assert next(lines) == b"one"
        wire.cut()
        assert list(lines) == []
        wire.close()


def NoOptions(sock: socket.socket) -> socket.socket:
    """A socket pair has no TCP options."""

    class Plain(socket.socket):
        def setsockopt(self, *option: Any) -> None: ...

    return Plain(fileno=sock.detach())


def test_cutting_and_closing_a_connection_that_is_not_open_do_nothing() -> None:
    wire = Wire(ENDPOINT, 10.0)
    wire.cut()
    wire.close()
    assert not wire.is_open


@pytest.mark.parametrize(
    ("server_name", "greeted"), named({"by default": (None, "api.example.com"), "by option": ("other", "other")})
)
def test_a_tls_connection_names_the_server_it_expects(sockets: Any, server_name: str | None, greeted: str) -> None:
    [sock] = sockets(FakeSocket(EMPTY))
    names: list[str] = []

    class Tls:
        def wrap_socket(self, plain: FakeSocket, server_hostname: str) -> FakeSocket:
            names.append(server_hostname)
            return plain

    wire = Wire(Endpoint("api.example.com", 6443, tls=Tls(), server_name=server_name), 10.0)  # type: ignore[arg-type]
    wire.exchange("GET", "/api", {}, b"", a_minute)
    assert (names, sock.closed) == ([greeted], False)


def test_a_tls_greeting_that_fails_leaves_no_open_connection(sockets: Any) -> None:
    [sock] = sockets(FakeSocket())

    class Tls:
        def wrap_socket(self, plain: FakeSocket, server_hostname: str) -> FakeSocket:
            raise ConnectionResetError

    wire = Wire(Endpoint("api.example.com", 6443, tls=Tls()), 10.0)  # type: ignore[arg-type]
    with pytest.raises(ConnectionResetError):
        wire.exchange("GET", "/api", {}, b"", a_minute)
    assert (sock.closed, wire.is_open) == (True, False)
