# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One keep-alive HTTP/1.1 connection: writes a request, reads the answer, or its lines as they come.

Room: kube. Why not `http.client`: its e-mail header parser costs more than the rest of a request; `make bench`
compares both. A request has a total time, asked for again and again while nothing comes: `left` says how much of it
there is at this moment, which may be less than it was (the run has to stop).
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping

from .endpoint import Endpoint
from .http_reader import Reader, Stream

USER_AGENT = "sunset.kube"
TURN = 0.5  # seconds until a reader asks again whether there is time left
_AT_ONCE = 16384  # bytes the system takes without the other side's help
NEVER_TOOK_IT = 408  # the server did not wait for a request: for the idle connection, most likely

Left = Callable[[], float]


class NotSent(TimeoutError):
    """The time was over before the request was sent."""


class Turns:
    """A socket that is read in short turns. Between two of them `at_turn` is asked, and ends the reading by raising.

    So a stream that drips is asked about as well as a silent one, and an answer in one piece is not.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.begin(lambda: None)

    def begin(self, at_turn: Callable[[], object]) -> None:
        self._at_turn = at_turn
        self._is_first = True

    def recv(self, size: int, /) -> bytes:
        while True:
            if not self._is_first:
                self._at_turn()
            self._is_first = False
            try:
                return self._stream.recv(size)
            except TimeoutError:  # this turn brought nothing; the next question tells whether there is another
                continue


class Wire:
    """A connection to one server, opened at its first use and opened anew after trouble."""

    def __init__(self, endpoint: Endpoint, connect_timeout: float) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._socket: socket.socket | None = None
        self._turns: Turns | None = None
        self._reader: Reader | None = None
        self._poll = select.poll()
        greeting = (("Host", endpoint.authority), ("User-Agent", USER_AGENT), *endpoint.headers)
        self._greeting = "".join(f"{name}: {value}\r\n" for name, value in greeting)

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a whole request and read the whole answer. Any trouble closes the connection and is raised."""
        try:
            reader, _turns = self._send(method, target, headers, body, left)
            status, answer_headers, keeps = reader.head()
            answer, marked = reader.body(method, status, answer_headers)
        except BaseException:
            self.close()
            raise
        # Bytes beyond the answer were not asked for: whatever they are, they must not answer the next request.
        if not keeps or not marked or reader.has_more or status == NEVER_TOOK_IT:
            self.close()
        return status, answer_headers, answer

    def open_stream(
        self, target: str, headers: Mapping[str, str], left: Left, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        """GET an answer that has no end yet, as lines. `on_quiet` is called between reads of `quiet` seconds.

        An answer other than 200 comes as one piece. Afterwards this connection serves for nothing else.
        """
        try:
            reader, turns = self._send("GET", target, headers, b"", left)
            status, answer_headers, _keeps = reader.head()
            if status != 200:
                return status, iter([reader.body("GET", status, answer_headers)[0]])
        except BaseException:
            self.close()
            raise
        if self._socket is not None:
            self._socket.settimeout(quiet)
        turns.begin(on_quiet)
        return status, reader.lines(answer_headers)

    def cut(self) -> None:
        """End the connection from another thread: whoever reads from it sees its end."""
        sock = self._socket
        if sock is not None:
            with contextlib.suppress(OSError):
                # Not SSLSocket.shutdown: that one takes the TLS state away from under the reading thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        sock, self._socket, self._reader, self._turns = self._socket, None, None, None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.close()

    def _send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[Reader, Turns]:
        if self._socket is not None and self._has_input(self._socket):
            self.close()  # the server has ended it, or sent something that no request of ours asked for
        if self._socket is None or self._turns is None or self._reader is None:
            self._socket = self._connect(left)
            self._poll = select.poll()  # not select(): that one knows no file descriptors above 1023
            self._poll.register(self._socket.fileno(), select.POLLIN)
            self._turns = Turns(self._socket)
            self._reader = Reader(self._turns)
        self._turns.begin(lambda: still(left))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = f"Content-Length: {len(body)}\r\n" if body or method in ("POST", "PUT", "PATCH") else ""
        base = self._endpoint.base_path
        head = f"{method} {base}{target} HTTP/1.1\r\n{self._greeting}{lines}{length}\r\n"
        if len(body) < _AT_ONCE:
            self._socket.sendall(head.encode("latin-1") + body)
        else:
            self._socket.settimeout(still(left))
            self._socket.sendall(head.encode("latin-1") + body)
            self._socket.settimeout(TURN)
        return self._reader, self._turns

    def _has_input(self, sock: socket.socket) -> bool:
        """Whether anything can be read from a connection that should be quiet. Its end can be read, too."""
        return bool(self._poll.poll(0)) or (isinstance(sock, ssl.SSLSocket) and sock.pending() > 0)

    def _connect(self, left: Left) -> socket.socket:
        endpoint = self._endpoint
        try:
            return self._connected(endpoint, min(self._connect_timeout, still(left)))
        except TimeoutError as problem:
            raise NotSent(str(problem)) from problem

    def _connected(self, endpoint: Endpoint, timeout: float) -> socket.socket:
        plain = socket.create_connection((endpoint.host, endpoint.port), timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if endpoint.tls is None:
                made = plain
            else:
                made = endpoint.tls.wrap_socket(plain, server_hostname=endpoint.server_name or endpoint.host)
            made.settimeout(TURN)
            return made
        except BaseException:
            plain.close()
            raise


def still(left: Left) -> float:
    """How many seconds there are, if any."""
    seconds = left()
    if seconds <= 0:
        raise TimeoutError("no answer in time")
    return seconds
