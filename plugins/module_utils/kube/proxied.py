# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same two calls as `wire.Wire`, through a proxy: urllib3, which the `kubernetes` package brings along.

Room: kube. Slower than a direct connection, and only used where a proxy is set.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..problems import BadOption, MissingPackage
from .endpoint import Endpoint
from .http_reader import BrokenWire, QuietStream, joined, lines_of
from .wire import NEVER_TOOK_IT, TURN, USER_AGENT, Left, still

_QUIET_STREAM = 30.0
_PIECE = 65536


class ProxiedWire:
    def __init__(self, endpoint: Endpoint, connect_timeout: float) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._greeting = [("User-Agent", USER_AGENT), *endpoint.headers]
        self._urllib3 = _import_urllib3()
        self._manager = _proxy_manager(self._urllib3, endpoint)
        self._connection: Any = None
        self._stream: Any = None
        self._keep_track()

    @property
    def is_open(self) -> bool:
        return False  # the pool opens what it needs; an idle connection that ended is its own business

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]:
        with _GUARD.over(self, left):
            answer = self._request(method, target, headers, body, left)
            try:
                content = joined(answer.stream(_PIECE, decode_content=False))
            except self._urllib3.exceptions.HTTPError as problem:
                raise self._broken(problem, left) from problem
            finally:
                if answer.status == NEVER_TOOK_IT:
                    answer.close()
                answer.release_conn()
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}, content

    def open_stream(
        self, target: str, headers: Mapping[str, str], left: Left, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        # No call of `on_quiet` here: long silence ends the stream, and the follower lists again after that.
        with _GUARD.over(self, left):
            answer = self._request("GET", target, headers, b"", lambda: min(left(), _QUIET_STREAM))
            if answer.status != 200:
                return answer.status, iter([joined(answer.stream(_PIECE, decode_content=False))])
        self._stream = answer
        return answer.status, _lines(answer, self._urllib3.exceptions.ReadTimeoutError)

    def cut(self) -> None:
        """End the connection from another thread: whatever reads from it sees its end."""
        sock = getattr(self._connection, "sock", None)
        sock = getattr(sock, "socket", sock)  # TLS within TLS has its socket inside
        if sock is not None:
            with contextlib.suppress(OSError, TypeError):
                # Not SSLSocket.shutdown: that one takes the TLS state away from under the reading thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(Exception):
                stream.close()
        self._manager.clear()

    def _request(self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left) -> Any:
        sent = self._urllib3.HTTPHeaderDict()
        for name, value in (*self._greeting, *headers.items()):
            sent.add(name, value)
        seconds = still(left)
        try:
            return self._manager.request(
                method,
                self._endpoint.url + target,
                body=body or None,
                headers=sent,
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
                timeout=self._urllib3.Timeout(connect=min(self._connect_timeout, seconds), read=seconds),
            )
        except self._urllib3.exceptions.HTTPError as problem:
            raise self._broken(problem, left) from problem

    def _broken(self, problem: Exception, left: Left) -> OSError:
        still(left)
        return BrokenWire(f"through proxy {_harmless(self._endpoint.proxy)}: {problem}")

    def _keep_track(self) -> None:
        """The pool hides its connections, and one of them may have to be cut."""
        pool, wire = self._manager.connection_from_url(self._endpoint.url), self

        class Tracked(pool.ConnectionCls):  # type: ignore[misc,name-defined]
            def connect(self) -> None:
                wire._connection = self
                super().connect()

        pool.ConnectionCls = Tracked


class _Guard:
    """Cuts connections whose time is over: urllib3 counts the time of each read, not of all of them together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[ProxiedWire, Left]] = {}
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def over(self, wire: ProxiedWire, left: Left) -> Iterator[None]:
        with self._lock:
            self._watched[id(wire)] = (wire, left)
            # A thread does not survive a fork, and Ansible forks.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="proxied requests", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._watched[id(wire)]

    def _watch(self) -> None:
        never = threading.Event()
        while not never.wait(TURN):
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                for wire, left in self._watched.values():
                    if left() <= 0:
                        wire.cut()


_GUARD = _Guard()


def _lines(answer: Any, timed_out: type[Exception]) -> Iterator[bytes]:
    try:
        yield from lines_of(answer.stream(_PIECE, decode_content=False))
    except timed_out as problem:
        raise QuietStream("nothing came for a while") from problem
    except Exception as problem:  # urllib3 raises its own and the socket's errors here
        raise BrokenWire(str(problem)) from problem


def _proxy_manager(urllib3: Any, endpoint: Endpoint) -> Any:
    proxy = endpoint.proxy or ""
    parts = _parsed(proxy)
    tls: dict[str, Any] = {}
    if endpoint.tls is not None:
        tls = {"ssl_context": endpoint.tls, "server_hostname": endpoint.server_name}
    if parts.scheme.startswith("socks"):
        try:
            from urllib3.contrib.socks import SOCKSProxyManager
        except ImportError as problem:
            raise MissingPackage.named("PySocks", problem) from problem
        return SOCKSProxyManager(proxy, **tls)
    secret = None
    if parts.username:
        secret = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
    headers = urllib3.make_headers(proxy_basic_auth=secret) if secret else None
    return urllib3.ProxyManager(proxy, proxy_headers=headers, **tls)


def _parsed(proxy: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(proxy)
        if parts.scheme not in _SCHEMES or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise BadOption(
            "the proxy", which=_harmless(proxy), why="it is not a URL", next_step="write it like http://host:3128"
        ) from None
    return parts


_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})


def _harmless(proxy: str | None) -> str:
    """The proxy's address without a login in it."""
    scheme, separator, rest = (proxy or "").rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _import_urllib3() -> Any:
    try:
        import urllib3
    except ImportError as problem:
        raise MissingPackage.named("urllib3", problem) from problem
    return urllib3
