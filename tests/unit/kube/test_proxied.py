# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same two calls through a proxy."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.http_reader import BrokenWire, QuietStream
from ansible_collections.sunset.kube.plugins.module_utils.kube.proxied import ProxiedWire
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, MissingPackage
from ansible_collections.sunset.kube.tests.unit.fakes import named

urllib3 = pytest.importorskip("urllib3")

PROXY = "http://me:secret@proxy.example.com:3128"


def a_minute() -> float:
    return 60.0


class FakeAnswer:
    def __init__(self, status: int = 200, data: bytes = b"{}", pieces: Any = ()) -> None:
        self.status, self.data, self._pieces = status, data, pieces
        self.headers = {"Content-Type": "application/json"}
        self.ended: list[str] = []

    def stream(self, size: int, decode_content: bool) -> Iterator[bytes]:
        for piece in self._pieces or [self.data]:
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    def release_conn(self) -> None:
        self.ended.append("release")

    def close(self) -> None:
        self.ended.append("close")


class FakeManager:
    """In place of urllib3's: remembers the call and answers."""

    def __init__(self, answer: FakeAnswer | BaseException) -> None:
        self._answer = answer
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.cleared = 0

    def request(self, method: str, url: str, **how: Any) -> FakeAnswer:
        self.calls.append((method, url, how))
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer

    def clear(self) -> None:
        self.cleared += 1


def wire_to(answer: FakeAnswer | BaseException, **more: Any) -> tuple[ProxiedWire, FakeManager]:
    endpoint = Endpoint("api.example.com", 6443, base_path="/k8s", proxy=PROXY, **more)
    wire = ProxiedWire(endpoint, 10.0)
    manager = FakeManager(answer)
    wire._manager = manager
    return wire, manager


def test_a_request_goes_out_whole_and_its_answer_comes_back_whole() -> None:
    headers = (("Authorization", "Bearer t"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b"))
    wire, manager = wire_to(FakeAnswer(201, b'{"a": 1}'), headers=headers)
    answer = wire.exchange("POST", "/api?x=1", {"Accept": "application/json"}, b"[]", a_minute)
    [(method, url, how)] = manager.calls
    assert answer == (201, {"content-type": "application/json"}, b'{"a": 1}')
    assert (method, url, how["body"]) == ("POST", "http://api.example.com:6443/k8s/api?x=1", b"[]")
    assert list(how["headers"].iteritems()) == [
        ("User-Agent", "sunset.kube"),
        *headers,
        ("Accept", "application/json"),
    ]
    assert (how["retries"], how["redirect"], how["preload_content"], how["decode_content"]) == (
        False,
        False,
        False,
        False,
    )
    assert (how["timeout"].connect_timeout, how["timeout"].read_timeout) == (10.0, 60.0)


TROUBLES = {
    "the proxy is not there": urllib3.exceptions.NewConnectionError(None, "refused"),
    "silence": urllib3.exceptions.ReadTimeoutError(None, "/", "timed out"),
    "a cut": urllib3.exceptions.ProtocolError("reset"),
}


@pytest.mark.parametrize("trouble", named(TROUBLES))
def test_trouble_with_the_proxy_is_a_broken_wire_that_names_it_without_its_password(trouble: Exception) -> None:
    wire, _manager = wire_to(trouble)
    with pytest.raises(BrokenWire, match=r"through proxy http://proxy\.example\.com:3128: ") as broken:
        wire.exchange("GET", "/api", {}, b"", a_minute)
    assert "secret" not in str(broken.value)


def test_a_stream_gives_lines_over_any_pieces() -> None:
    wire, _manager = wire_to(FakeAnswer(pieces=[b"on", b"e\ntwo\nth", b"ree\n"]))
    status, lines = wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    assert (status, list(lines)) == (200, [b"one", b"two", b"three"])


def test_a_stream_is_allowed_to_be_quiet_for_a_while() -> None:
    # Each silence ends the stream here, and a list follows: every second would be a flood.
    wire, manager = wire_to(FakeAnswer())
    wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    [(_method, _url, how)] = manager.calls
    assert how["timeout"].read_timeout >= 10.0


ENDS: dict[str, tuple[BaseException, bool]] = {
    "a cut": (urllib3.exceptions.ProtocolError("reset"), False),
    "the socket's own error": (ConnectionResetError("reset"), False),
    "long silence, which is no fault": (urllib3.exceptions.ReadTimeoutError(None, "/", "timed out"), True),
}


@pytest.mark.parametrize(("trouble", "quiet"), named(ENDS))
def test_a_stream_ends_in_its_own_way(trouble: BaseException, quiet: bool) -> None:
    wire, _manager = wire_to(FakeAnswer(pieces=[b"one\n", trouble]))
    _status, lines = wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    assert next(lines) == b"one"
    with pytest.raises(BrokenWire) as ended:
        next(lines)
    assert isinstance(ended.value, QuietStream) is quiet


def test_a_stream_that_is_refused_gives_its_answer_in_one_piece() -> None:
    wire, _manager = wire_to(FakeAnswer(403, b"no\nno"))
    status, lines = wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    assert (status, list(lines)) == (403, [b"no\nno"])


def test_a_cut_ends_the_stream_for_whoever_reads_from_it() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire, _manager = wire_to(FakeAnswer())
        wire._connection = SimpleNamespace(sock=ours)
        wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
        wire.cut()
        assert (ours.recv(1), theirs.recv(1)) == (b"", b"")


def test_cutting_what_is_not_open_or_has_no_connection_any_more_does_nothing() -> None:
    wire, _manager = wire_to(FakeAnswer())
    wire.cut()
    wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    wire.cut()


def test_closing_ends_the_stream_once_and_empties_the_pool() -> None:
    answer = FakeAnswer()
    wire, manager = wire_to(answer)
    wire.open_stream("/watch", {}, a_minute, 1.0, lambda: None)
    wire.close()
    wire.close()
    assert (answer.ended, manager.cleared) == (["close"], 2)


def test_a_proxied_connection_never_counts_as_idle() -> None:
    wire, _manager = wire_to(FakeAnswer())
    assert wire.is_open is False


def test_the_proxys_login_is_sent_to_the_proxy_only() -> None:
    wire = ProxiedWire(Endpoint("api.example.com", 6443, proxy="http://me:p%40ss@proxy.example.com:3128"), 10.0)
    assert wire._manager.proxy_headers == urllib3.make_headers(proxy_basic_auth="me:p@ss")
    assert [name for name, _value in wire._greeting] == ["User-Agent"]


BAD_PROXIES = {
    "no scheme": "proxy.example.com:3128",
    "another scheme": "ftp://proxy.example.com",
    "a port that is no number": "http://proxy.example.com:x",
    "a port that is too high": "http://proxy.example.com:99999",
    "no host": "http://",
    "a bracket too few": "http://[fd00::1",
    "a login without a scheme": "me:secret@proxy.example.com:3128",
    "a login and a bad port": "http://me:secret@proxy.example.com:x",
}


@pytest.mark.parametrize("proxy", named(BAD_PROXIES))
def test_a_bad_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(BadOption) as refused:
        ProxiedWire(Endpoint("api.example.com", 6443, proxy=proxy), 10.0)
    assert refused.value.next_step == "write it like http://host:3128"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("package", "proxy"),
    named({"urllib3": ("urllib3", PROXY), "PySocks": ("urllib3.contrib.socks", "socks5://proxy.example.com:1080")}),
)
def test_without_the_package_the_next_step_is_told(package: str, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match="python3 -m pip install"):
        ProxiedWire(Endpoint("api.example.com", 6443, proxy=proxy), 10.0)
