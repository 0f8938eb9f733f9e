# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same connection as `kube/wire.py`, built on the standard library's `http.client`: for comparison only."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Callable, Iterator, Mapping

from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, SilentClose
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import CONNECT_TIMEOUT
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import USER_AGENT, Left


class HttpClientWire:
    """One kept `HTTPSConnection`. A stream's silence is not noticed: no benchmark needs that."""

    def __init__(self, endpoint: Endpoint) -> None:
        assert endpoint.tls is not None
        self._connection = http.client.HTTPSConnection(
            endpoint.host, endpoint.port, timeout=CONNECT_TIMEOUT, context=endpoint.tls
        )
        self._base = endpoint.base_path
        self._greeting = {"User-Agent": USER_AGENT, **dict(endpoint.headers)}

    @property
    def is_open(self) -> bool:
        return self._connection.sock is not None

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]:
        try:
            response = self._send(method, target, headers, body, left())
            answer = response.read()
        except BaseException:
            self.close()
            raise
        return response.status, {name.lower(): value for name, value in response.getheaders()}, answer

    def open_stream(
        self,
        target: str,
        headers: Mapping[str, str],
        left: Left,
        quiet: float,
        on_quiet: Callable[[], None],
    ) -> tuple[int, Iterator[bytes]]:
        response = self._send("GET", target, headers, b"", left())
        return response.status, self._lines(response)

    def cut(self) -> None:
        sock = self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()

    def _send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> http.client.HTTPResponse:
        if self._connection.sock is None:
            self._connection.connect()  # sets TCP_NODELAY by itself
        self._connection.sock.settimeout(timeout)
        try:
            self._connection.request(method, self._base + target, body or None, {**self._greeting, **headers})
            return self._connection.getresponse()
        except http.client.RemoteDisconnected as problem:
            raise SilentClose(str(problem)) from problem
        except http.client.HTTPException as problem:
            raise BrokenWire(str(problem)) from problem

    @staticmethod
    def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            yield from response
        except (http.client.HTTPException, ValueError) as problem:  # cut by us, at the end
            raise BrokenWire(str(problem)) from problem
