# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One client connection through the fault proxy: request in, server asked, answer out, and the fault in between."""

from __future__ import annotations

import contextlib
import json
import ssl
import time
from typing import Protocol
from urllib.parse import parse_qs, unquote_plus

from lab.faults.rules import (
    WATCH_FAULTS,
    Answer,
    CutWatch,
    DrippingAnswer,
    ErrorInWatch,
    Fault,
    ResetAfter,
    ResetBefore,
    SeenRequest,
    SilentWatch,
    SlowAnswer,
    SlowRequest,
    StrayAnswer,
    TruncatedBody,
    status_body,
)
from lab.faults.wire import END_OF_CHUNKS, Gone, Head, Wire, as_chunk

_MOMENT = 0.05  # long enough for what was sent before to have been read, even on a busy machine
BROKEN = (OSError, ValueError)  # ValueError: a socket closed meanwhile by the other side, or something that is not HTTP


class Desk(Protocol):
    """What a relay asks the proxy for."""

    def fault_for(self, request: SeenRequest) -> Fault | None: ...
    def identity(self, client: Wire, request: SeenRequest) -> ssl.SSLContext | None: ...
    def connect(self, identity: ssl.SSLContext) -> Wire: ...
    def hang_up(self, wire: Wire) -> None: ...
    def pause(self, seconds: float | None = None) -> None: ...


class Relay:
    """Serves one client until it leaves or a fault ends the connection."""

    def __init__(self, client: Wire, desk: Desk) -> None:
        self._client = client
        self._desk = desk
        self._servers: dict[ssl.SSLContext, Wire] = {}  # kept alive, one an identity

    def run(self) -> None:
        try:
            while (head := self._client.head()) is not None:
                if not self._serve(head) or head.closes:
                    return
        except BROKEN:
            pass  # the client left, or the proxy is closing: nobody is there to be told
        finally:
            for server in self._servers.values():
                self._desk.hang_up(server)

    def _serve(self, head: Head) -> bool:
        """One request. False when the connection is over."""
        body = self._client.body(head)
        request = _seen(head, body)
        fault = request.fault = self._desk.fault_for(request)
        self._desk.pause()
        if isinstance(fault, Answer):
            return self._tell(request, fault)
        if isinstance(fault, ResetBefore):
            return self._reset()
        if isinstance(fault, SlowRequest):
            self._desk.pause(fault.seconds)
        identity = self._desk.identity(self._client, request)
        if identity is None:
            return self._tell(request, Answer(401, message="unknown certificate; use a kubeconfig of the proxy"))
        try:
            server = self._server(identity)
            server.send(head.raw + (_in_chunks(body) if head.chunked else body))
            answer = _final_head(server)
            is_stream = request.is_watch and answer.chunked and answer.status == 200
            content = b"" if is_stream or not _has_body(request, answer) else server.body(answer)
        except BROKEN as problem:
            request.error = str(problem)
            return self._reset()  # a client without a proxy would see a broken connection too
        request.served = answer.status
        if answer.closes:
            self._drop(identity)
        if isinstance(fault, SlowAnswer):
            self._desk.pause(fault.seconds)
        if isinstance(fault, ResetAfter):
            return self._reset()
        request.status = answer.status
        if is_stream:
            try:
                return self._stream(server, answer, fault)
            finally:
                self._drop(identity)  # whatever is left of the stream is not for the next request
        if isinstance(fault, TruncatedBody):
            return self._truncate(answer, content, fault)
        if isinstance(fault, DrippingAnswer):
            return self._drip(answer)
        self._client.send(answer.raw + (_in_chunks(content) if answer.chunked else content))
        if isinstance(fault, StrayAnswer):
            self._desk.pause(_MOMENT)
            self._client.send(_answer(Answer(fault.status)))
            request.strayed = True
        return not answer.closes

    # -- answers -----------------------------------------------------------------------------------------------------

    def _tell(self, request: SeenRequest, answer: Answer) -> bool:
        """The proxy's own answer, formed like the API server's."""
        request.status = answer.status
        self._client.send(_answer(answer, with_body=request.method != "HEAD"))
        return True

    def _drip(self, answer: Head) -> bool:
        """The head, a byte at a time, with one header more that does not end before the client leaves."""
        self._client.send(answer.raw[:-2] + b"X-Drip: ")
        while not self._client.has_input():
            self._client.send(b"x")
            self._desk.pause(_MOMENT)
        return False

    def _truncate(self, answer: Head, content: bytes, fault: TruncatedBody) -> bool:
        keep = len(content) // 2 if fault.keep is None else min(fault.keep, len(content))
        if answer.chunked:
            # The chunk says its full size, so what is missing shows, whatever the client makes of a missing last chunk.
            self._client.send(answer.raw + as_chunk(content)[: -len(content) - 2 + keep])
        else:
            self._client.send(answer.raw + content[:keep])
        return False

    def _stream(self, server: Wire, answer: Head, fault: Fault | None) -> bool:
        """A watch: each piece is passed on as it comes, and an upstream watch ends when the client leaves."""
        client = self._client
        client.send(answer.raw)
        server.reading_for = client
        if not isinstance(fault, WATCH_FAULTS):
            for piece in server.chunks():
                client.send(as_chunk(piece))
            client.send(END_OF_CHUNKS)
            return True
        events = server.lines()
        passed = 0
        while passed < fault.after:
            event = next(events, None)
            if event is None:
                client.send(END_OF_CHUNKS)
                return True
            client.send(as_chunk(event))
            passed += not event.startswith(b'{"type":"BOOKMARK"')
        return self._break_stream(fault)

    def _break_stream(self, fault: CutWatch | SilentWatch | ErrorInWatch) -> bool:
        if isinstance(fault, SilentWatch):
            self._client.wait_for_input()  # until the client gives up
            return False
        if isinstance(fault, ErrorInWatch):
            event = {"type": "ERROR", "object": status_body(Answer(fault.status))}
            self._client.send(as_chunk(json.dumps(event, separators=(",", ":")).encode() + b"\n") + END_OF_CHUNKS)
            return True
        if fault.clean:
            self._client.send(END_OF_CHUNKS)
        return fault.clean

    def _reset(self) -> bool:
        with contextlib.suppress(*BROKEN):
            self._client.reset()
        return False

    # -- servers -----------------------------------------------------------------------------------------------------

    def _server(self, identity: ssl.SSLContext) -> Wire:
        kept = self._servers.get(identity)
        if kept is not None and kept.has_input():  # it should be quiet: the server has closed it, perhaps restarted
            self._drop(identity)
            kept = None
        if kept is None:
            kept = self._servers[identity] = self._desk.connect(identity)
        return kept

    def _drop(self, identity: ssl.SSLContext) -> None:
        server = self._servers.pop(identity, None)
        if server is not None:
            self._desk.hang_up(server)


def _seen(head: Head, body: bytes) -> SeenRequest:
    method, target, _version = head.first_line.split(" ", 2)
    path, _mark, query = target.partition("?")
    watch = parse_qs(query, keep_blank_values=True).get("watch", ["false"])[-1]
    is_watch = watch.lower() not in ("false", "0") or "/watch/" in path
    return SeenRequest(method, path, unquote_plus(query), head.headers, body, time.monotonic(), is_watch)


def _answer(answer: Answer, *, with_body: bool = True) -> bytes:
    content = json.dumps(status_body(answer)).encode()
    retry = f"Retry-After: {answer.retry_after}\r\n" if answer.retry_after is not None else ""
    head = (
        f"HTTP/1.1 {answer.status} Injected\r\n{retry}Content-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + (content if with_body else b"")


def _final_head(server: Wire) -> Head:
    """The head of the real answer, after any 1xx that only says "go on"."""
    while True:
        head = server.head()
        if head is None:
            raise Gone("the server closed the connection without an answer")
        if head.status >= 200:
            return head


def _has_body(request: SeenRequest, answer: Head) -> bool:
    return request.method != "HEAD" and answer.status not in (204, 304)


def _in_chunks(content: bytes) -> bytes:
    return (as_chunk(content) if content else b"") + END_OF_CHUNKS
