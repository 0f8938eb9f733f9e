# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One question to a web server, whatever it answers."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.web import WebAnswer, ask_web
from ansible_collections.sunset.kube.tests.unit.fakes import named

Talk = Callable[[socket.socket], None]


@pytest.fixture
def served() -> Iterator[Callable[[Talk], str]]:
    """The address of a server that talks like this to whatever connects."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve(talk: Talk) -> str:
        def once() -> None:
            sock, _address = listener.accept()
            with sock, contextlib.suppress(OSError):
                sock.recv(65536)
                talk(sock)

        threads.append(threading.Thread(target=once))
        threads[-1].start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield serve
    for thread in threads:
        thread.join(30)
    listener.close()


def ask(url: str, timeout: float = 30.0) -> WebAnswer:
    return ask_web(url, "shop.example.com", "/", validate_certs=True, timeout=timeout)


def test_status_and_headers_are_read(served: Callable[[Talk], str]) -> None:
    url = served(lambda sock: sock.sendall(b"HTTP/1.1 503 Down\r\nRetry-After: 5\r\nX: y\r\n\r\n<html>"))
    assert ask(url) == WebAnswer(503, {"retry-after": "5", "x": "y"})


BAD = {
    "announcements without end": (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "announcements (1xx) without end"),
    "a head without end": (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, "a head without end"),
    "another protocol": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "not an HTTP answer: 'SSH-2.0-OpenSSH_9.2'"),
}


@pytest.mark.parametrize(("data", "trouble"), named(BAD))
def test_what_is_no_answer_is_told_in_words(served: Callable[[Talk], str], data: bytes, trouble: str) -> None:
    assert ask(served(lambda sock: sock.sendall(data))) == WebAnswer(trouble=trouble)


def test_an_answer_that_drips_for_ever_is_none(served: Callable[[Talk], str]) -> None:
    def drip(sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        pause = threading.Event()
        while not pause.wait(0.05):
            sock.sendall(b"x")

    assert ask(served(drip), timeout=0.3) == WebAnswer(trouble="no answer in time")
