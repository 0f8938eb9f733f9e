# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kind of proxy that stands between offices and clusters: HTTP with CONNECT, with or without a password."""

from __future__ import annotations

import base64
import contextlib
import select
import socket
import threading


class ConnectProxy:
    """A little HTTP proxy that knows CONNECT and, if told so, insists on a password."""

    def __init__(self, password: str | None = None) -> None:
        self._expected = base64.b64encode(f"me:{password}".encode()).decode() if password else None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept)]
        self.port = self._listener.getsockname()[1]
        self.targets: list[str] = []

    def __enter__(self) -> ConnectProxy:
        self._threads[0].start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive(), "a connection through the proxy was left open"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(client,))
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                received = client.recv(65536)
                if not received:
                    return
                head += received
            first, *headers = head.decode("latin-1").split("\r\n")
            method, target, _version = first.split(" ", 2)
            login = next(
                (line.split()[-1] for line in headers if line.lower().startswith("proxy-authorization:")), None
            )
            if login != self._expected:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                return
            assert method == "CONNECT"
            self.targets.append(target)
            host, _colon, port = target.rpartition(":")
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                _pump(client, server)


def _pump(one: socket.socket, other: socket.socket) -> None:
    while True:
        for ready in select.select([one, other], [], [])[0]:
            data = ready.recv(65536)
            if not data:
                return
            (other if ready is one else one).sendall(data)
