# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same two calls as `wire.Wire`, through a proxy: urllib3, which the `kubernetes` package brings along.

Room: kube. Slower than a direct connection, and only used where a proxy is set.
"""

from __future__ import annotations

import contextlib
import socket
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..problems import BadOption, MissingPackage
from .endpoint import Endpoint
from .wire import USER_AGENT, BrokenWire, QuietStream

_QUIET_STREAM = 30.0


class ProxiedWire:
    def __init__(self, endpoint: Endpoint, connect_timeout: float) -> None:
        self._endpoint = endpoint
        self._connect_timeout = connect_timeout
        self._greeting = [("User-Agent", USER_AGENT), *endpoint.headers]
        self._urllib3 = _import_urllib3()
        self._manager = _proxy_manager(self._urllib3, endpoint)
        self._stream: Any = None

    @property
    def is_open(self) -> bool:
        return False  # the pool opens what it needs; an idle connection that ended is its own business

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> tuple[int, dict[str, str], bytes]:
        answer = self._request(method, target, headers, body, timeout, preload=True)
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.data

    def open_stream(
        self, target: str, headers: Mapping[str, str], timeout: float, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        # No call of `on_quiet` here: long silence ends the stream, and whoever follows a kind lists again after that.
        answer = self._request("GET", target, headers, b"", _QUIET_STREAM, preload=False)
        if answer.status != 200:
            return answer.status, iter([answer.read()])
        self._stream = answer
        return answer.status, _lines(answer, self._urllib3.exceptions.ReadTimeoutError)

    def cut(self) -> None:
        stream = self._stream
        if stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                socket.socket.shutdown(stream.connection.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(Exception):
                stream.close()
        self._manager.clear()

    def _request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float, *, preload: bool
    ) -> Any:
        sent = self._urllib3.HTTPHeaderDict()
        for name, value in (*self._greeting, *headers.items()):
            sent.add(name, value)
        try:
            return self._manager.request(
                method,
                self._endpoint.url + target,
                body=body or None,
                headers=sent,
                retries=False,
                redirect=False,
                preload_content=preload,
                decode_content=False,
                timeout=self._urllib3.Timeout(connect=self._connect_timeout, read=timeout),
            )
        except self._urllib3.exceptions.HTTPError as problem:
            raise BrokenWire(f"through proxy {_harmless(self._endpoint.proxy)}: {problem}") from problem


def _lines(answer: Any, timed_out: type[Exception]) -> Iterator[bytes]:
    rest = b""
    try:
        for part in answer.stream(65536, decode_content=False):
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
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
