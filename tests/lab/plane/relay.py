# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes connections on. A script, too, that needs nothing of the lab: `python relay.py [ADDRESS:]PORT SOCKET|PORT`.

It listens on loopback unless told otherwise, and leads to a socket in a file or to a port of loopback.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable


def serve(server: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Each connection that comes in is passed on to one of its own, until the server is closed."""
    while True:
        try:
            near, _address = server.accept()
        except OSError:
            return
        far = connect()
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def main(here: str, there: str) -> None:
    address, _colon, port = here.rpartition(":")

    def connect() -> socket.socket:
        if there.isdigit():
            return socket.create_connection(("127.0.0.1", int(there)))
        far = socket.socket(socket.AF_UNIX)
        far.connect(there)
        return far

    serve(socket.create_server((address or "127.0.0.1", int(port))), connect)


if __name__ == "__main__":
    main(*sys.argv[1:])
