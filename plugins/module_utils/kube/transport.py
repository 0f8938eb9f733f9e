# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests out, answers in: a kept-alive connection for each thread, retries, the shared brake, counters, server time.

Room: kube. Every request we send may be sent twice without harm: reads, deletes with a uid, patches with tests.
So a lost answer is simply asked for again, and the callers' outcome tables make sense of a second "not found".
Every request has a total time (`_time_for`); a stop shortens it, so that clean-up and report find their time.
"""

from __future__ import annotations

import dataclasses
import email.utils
import re
import socket
import ssl
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ..clock import Clock, Deadline, StopSign
from ..problems import CannotLook, NotLoggedIn, Unreachable
from .answers import Answer
from .brake import Brake
from .endpoint import Endpoint
from .http_reader import MOST_BODY, SilentClose, TooLarge
from .patience import Situation, pause_before_next_try
from .proxied import ProxiedWire
from .wire import Left, NotSent, Wire

CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 75.0  # the server gives up after 60 s
# What is begun near the end of the run's time, or after it (clean-up, a last look), has at least this.
LEAST_TIME = 15.0
# After a stop: reads are cut first, writes may still be heard of, and after `STOPPING` nothing is sent any more.
STOPPED_READ, STOPPED_WRITE, STOPPING = 5.0, 10.0, 40.0
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# ssl.SSLError, timeouts, resets and BrokenWire are all OSErrors; a host name may not even be encodable.
_NO_ANSWER = (OSError, zlib.error, UnicodeError)
# Trouble before a connection stood: the request was not sent.
_NOT_SENT = (NotSent, ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError, UnicodeError)


@dataclass(frozen=True)
class Request:
    method: str
    target: str  # path and query
    verb: str  # as counted: list, watch, get, delete, patch, post
    body: bytes = b""
    content_type: str = "application/json"
    accept: str = "application/json"
    gzip: bool = False

    @property
    def writes(self) -> bool:
        return self.method in _WRITES

    def __str__(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"

    def headers(self) -> dict[str, str]:
        headers = {"Accept": self.accept}
        if self.body:
            headers["Content-Type"] = self.content_type
        if self.gzip:
            headers["Accept-Encoding"] = "gzip"
        return headers


class AnswerTooLarge(CannotLook):
    """An answer larger than we are willing to keep; asking for less may help."""


class Connection(Protocol):
    """`Wire` or `ProxiedWire`."""

    @property
    def is_open(self) -> bool: ...

    def exchange(
        self, method: str, target: str, headers: dict[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]: ...

    def open_stream(
        self, target: str, headers: dict[str, str], left: Left, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]: ...

    def cut(self) -> None: ...

    def close(self) -> None: ...


class Transport:
    def __init__(
        self,
        load: Callable[[], Endpoint],
        clock: Clock,
        stop: StopSign,
        parallel: int,
        connect: Callable[[Endpoint], Connection] | None = None,
    ) -> None:
        self._load = load
        self.clock = clock
        self.stop = stop
        self.deadline: Deadline | None = None
        self.brake = Brake(clock, parallel, stop)
        self.requests: Counter[str] = Counter()
        self._connect = connect or _connection
        self._lock = threading.Lock()
        self._mine = threading.local()
        self._open: list[Connection] = []
        # Together, so that a thread never takes old credentials for the newest.
        self._credentials = (load(), 0)
        self._cleaning_up = 0  # how many set things right again; their writes are sent even after the wish to stop
        self._ever_answered = False
        self._last_outage: float | None = None
        self._date: tuple[str, float] | None = None
        self._stopped_at: float | None = None
        self.stopping_seconds = STOPPING
        self.unanswered: list[str] = []

    @property
    def endpoint(self) -> Endpoint:
        return self._credentials[0]

    def send(self, request: Request) -> Answer:
        """The final answer, whatever it says. `Unreachable` when there is none, `NotLoggedIn` on a lasting 401."""
        began = self.clock.now()
        tries = 0
        renewed = False
        unheard = False
        while True:
            tries += 1
            answer, trouble = self._try(request)
            if unheard and answer is not None:
                answer = dataclasses.replace(answer, unheard=True)
            unheard = unheard or (request.writes and _may_be_done(answer, trouble))
            if answer is not None and answer.status == 401 and not renewed:
                renewed = True
                self._renew(self._mine.generation)
                continue
            if answer is not None and answer.ok:
                return answer
            situation = Situation(
                status=answer.status if answer else None,
                tries=tries,
                elapsed=self.clock.now() - began,
                retry_after=answer.retry_after if answer else None,
                ever_answered=self._ever_answered,
                since_outage=None if self._last_outage is None else self.clock.now() - self._last_outage,
            )
            pause = pause_before_next_try(situation)
            if pause is None or not self._may_pause(pause):
                return self._final(request, answer, trouble, unheard=unheard)
            if answer is not None and answer.retry_after is not None:
                self.brake.complain(pause)
            else:
                self.clock.sleep(pause)

    def open_stream(self, request: Request, quiet: float, on_quiet: Callable[[], None]) -> OpenStream:
        """One try, no retries: whoever follows a stream has to cope with its end anyway. Raises OSError."""
        endpoint, generation = self._credentials
        connection = self._connect(endpoint)
        self._count(request)
        left = self._time_for(request)
        try:
            status, lines = connection.open_stream(request.target, request.headers(), left, quiet, on_quiet)
        except OSError:
            connection.close()
            raise
        if status == 401:
            self._renew(generation)
        return OpenStream(status, lines, connection)

    def server_time(self) -> float:
        """Seconds since the epoch as the API server sees it, from the newest answer's Date header."""
        if self._date is None:
            return time.time()
        text, seen_at = self._date
        try:
            at_answer = email.utils.parsedate_to_datetime(text).timestamp()
        except (TypeError, ValueError):
            return time.time()
        return at_answer + (self.clock.now() - seen_at)

    def begin_cleaning_up(self) -> None:
        with self._lock:
            self._cleaning_up += 1

    def end_cleaning_up(self) -> None:
        with self._lock:
            self._cleaning_up -= 1

    def note_outage(self) -> None:
        self._last_outage = self.clock.now()

    def close(self) -> None:
        with self._lock:
            connections, self._open = self._open, []
        for connection in connections:
            connection.close()

    def _try(self, request: Request) -> tuple[Answer | None, Exception | None]:
        self.brake.enter()
        try:
            if request.writes and not self._cleaning_up:
                self.stop.raise_if_set()
            self._count(request)
            connection, was_idle = self._my_connection()
            try:
                return self._exchange(connection, request), None
            except SilentClose as problem:
                if not was_idle:
                    self.note_outage()
                    return None, problem
                # The server had closed a connection we kept: no fault, and nothing was read. Once more, at once.
                self._count(request)
                # A server that died right after carrying a write out looks just the same, so that is not ruled out.
                return dataclasses.replace(self._exchange(connection, request), unheard=request.writes), None
        except _NO_ANSWER as problem:
            self.note_outage()
            return None, problem
        finally:
            self.brake.leave()

    def _exchange(self, connection: Connection, request: Request) -> Answer:
        left = self._time_for(request)
        if self.stop.is_set() and left() <= 0:
            raise NotSent("no time left")
        try:
            status, headers, body = connection.exchange(
                request.method, request.target, request.headers(), request.body, left
            )
            if headers.get("content-encoding") == "gzip":
                body = _unpacked(body)
        except TooLarge as problem:
            raise AnswerTooLarge(
                "cannot read",
                which=f"the answer to {request}",
                why=str(problem),
                next_step="narrow the task down to a namespace or a selector",
            ) from problem
        self._ever_answered = True
        if "date" in headers:
            self._date = (headers["date"], self.clock.now())
        return Answer(status, headers, body)

    def _time_for(self, request: Request) -> Left:
        """How long this request may still take: a function of the moment, because a stop leaves it less."""
        began = self.clock.now()

        def left() -> float:  # only asked while nothing comes, so that the usual request does not pay for it
            now = self.clock.now()
            end = began + READ_TIMEOUT
            if self.deadline is not None:
                end = min(end, max(now + self.deadline.left(), began + LEAST_TIME))
            if self.stop.is_set():
                stopped = self._stopped_at = now if self._stopped_at is None else self._stopped_at
                after_stop = STOPPED_WRITE if request.writes else STOPPED_READ
                end = min(end, max(began, stopped) + after_stop, stopped + self.stopping_seconds)
            return end - now

        return left

    def _my_connection(self) -> tuple[Connection, bool]:
        """This thread's connection, and whether it stood idle before (so that its silent end means nothing)."""
        mine = self._mine
        endpoint, generation = self._credentials
        if getattr(mine, "generation", None) != generation:
            if hasattr(mine, "connection"):
                mine.connection.close()
            mine.connection = self._connect(endpoint)
            mine.generation = generation
            with self._lock:
                self._open.append(mine.connection)
        return mine.connection, mine.connection.is_open

    def _renew(self, generation: int) -> None:
        """Read the credentials again, once for all threads that were refused with the same ones."""
        with self._lock:
            if self._credentials[1] == generation:
                self._credentials = (self._load(), generation + 1)

    def _may_pause(self, pause: float) -> bool:
        if self.stop.is_set():
            return False
        return self.deadline is None or pause < self.deadline.left()

    def _final(self, request: Request, answer: Answer | None, trouble: Exception | None, *, unheard: bool) -> Answer:
        if unheard and answer is None:
            self._note(f"{request} was sent and not answered: whether it was carried out is not known")
        if answer is None and isinstance(trouble, TimeoutError) and self.stop.is_set():
            if self._cleaning_up and not unheard:
                self._note(f"the clean-up is not complete: {request} was not answered in time")
            raise self.stop.interrupted(f"{request} was not answered in time") from trouble
        if answer is None:
            raise unreachable(self.endpoint, trouble) from trouble
        if answer.status == 401:
            raise NotLoggedIn(
                "not logged in",
                which=f"at {self.endpoint}",
                why="the API server does not accept these credentials (401); they may have expired",
                next_step="log in again or renew the token or certificate, then run the task again",
            )
        return answer

    def _count(self, request: Request) -> None:
        with self._lock:
            self.requests[request.verb] += 1

    def _note(self, text: str) -> None:
        with self._lock:
            self.unanswered.append(text)


@dataclass
class OpenStream:
    status: int
    lines: Iterator[bytes]
    connection: Connection


def _may_be_done(answer: Answer | None, trouble: Exception | None) -> bool:
    """Whether a write may have been carried out without our hearing of it."""
    if answer is None:
        return not isinstance(trouble, _NOT_SENT)
    return answer.status in (500, 502, 504)


def _unpacked(body: bytes) -> bytes:
    """A few kilobytes may unpack to more than there is memory."""
    unpacking = zlib.decompressobj(wbits=31)
    content = unpacking.decompress(body, MOST_BODY)
    if unpacking.unconsumed_tail:
        raise TooLarge(f"an answer of more than {MOST_BODY >> 20} MiB")
    if not unpacking.eof:
        raise zlib.error("the packed answer is cut")
    return content


def _connection(endpoint: Endpoint) -> Connection:
    return (ProxiedWire if endpoint.proxy else Wire)(endpoint, CONNECT_TIMEOUT)


# OpenSSL's names for what a server says to a client certificate it does not like.
_REFUSED_CERTIFICATE = re.compile("ALERT.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)")


def unreachable(endpoint: Endpoint, trouble: Exception | None) -> Unreachable:
    why, next_step = _explain(endpoint, trouble)
    return Unreachable("cannot reach the API server", which=str(endpoint), why=why, next_step=next_step)


def _explain(endpoint: Endpoint, trouble: Exception | None) -> tuple[str, str]:
    if isinstance(trouble, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({trouble.verify_message})",
            "set ca_cert to the authority that signed it, or check the host",
        )
    if isinstance(trouble, ssl.SSLError) and _REFUSED_CERTIFICATE.search(str(trouble.reason or "")):
        return (
            f"it refused our client certificate ({trouble.reason})",
            "renew the client certificate; it may have expired",
        )
    if isinstance(trouble, ssl.SSLError):
        return (
            f"the TLS greeting failed ({trouble.reason or trouble})",
            "check that this is the API server's HTTPS port",
        )
    if isinstance(trouble, socket.gaierror):
        return f"the name {endpoint.host} is not known", "check the host, or the name service"
    if isinstance(trouble, TimeoutError):
        return "no answer in time", "check the address, firewalls and the proxy"
    if isinstance(trouble, ConnectionRefusedError):
        return "nobody listens there", "check the address and whether the API server runs"
    return str(trouble) or "the connection broke", "check the network and whether the API server runs"
