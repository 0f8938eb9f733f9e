# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node, its gateway and a controller in three network namespaces, with switches to break things. Needs root.

    node eth0 198.51.100.2, 2001:db8::2 -- gateway lan .1, ::1, fe80::1; wan 203.0.113.1 -- controller eth0 203.0.113.9

Each namespace lives as long as a process of ours, and that dies with us however we end: nothing is left behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lab.processes import Process, start, stop
from lab.waiting import until

NODE = """
addr add 198.51.100.2/24 dev eth0
addr add 2001:db8::2/64 dev eth0 nodad
link set lo up
link set eth0 up
route add default via 198.51.100.1
route add default via fe80::1 dev eth0
"""
GATEWAY = """
addr add 198.51.100.1/24 dev lan
addr add 2001:db8::1/64 dev lan nodad
addr add fe80::1/64 dev lan nodad
addr add 203.0.113.1/24 dev wan
link set lo up
link set lan up
link set wan up
"""
CONTROLLER = """
addr add 203.0.113.9/24 dev eth0
link set lo up
link set eth0 up
route add default via 203.0.113.1
"""
_CLONE_NEWNET = 0x40000000
_IS_ANSWER, _TRUNCATED = 0x8000, 0x0200


@dataclass(frozen=True)
class Namespace:
    holder: Process

    @classmethod
    def made(cls, log_file: Path) -> Namespace:
        namespace = cls(start(["unshare", "--net", "sleep", "86400"], log_file))
        ours = os.readlink("/proc/self/ns/net")
        until(lambda: os.readlink(namespace.file) != ours, "a network namespace", every=0.01)
        return namespace

    @property
    def file(self) -> str:
        return f"/proc/{self.holder.pid}/ns/net"

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """This thread, and what it starts meanwhile, is in the namespace; a socket stays where it was opened."""
        with open("/proc/thread-self/ns/net") as home, open(self.file) as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())

    def run(self, *command: str, stdin: str = "") -> None:
        done = subprocess.run(
            ["nsenter", f"--net={self.file}", *command], input=stdin, text=True, check=False, capture_output=True
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"

    def ip(self, *words: str) -> None:
        self.run("ip", *words)

    def drop(self, *what: str) -> None:
        """Silently drop what comes in, by words of nftables: `icmp type echo-request`."""
        rules = "\n".join(f"add rule inet t c {one} drop" for one in what)
        chain = "add table inet t\nadd chain inet t c { type filter hook input priority 0 ; }\n"
        self.run("nft", "-f", "-", stdin=chain + rules + "\n")


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@dataclass(frozen=True)
class SmallNetwork:
    node: Namespace
    gateway: Namespace
    controller: Namespace

    @classmethod
    @contextlib.contextmanager
    def built(cls, directory: Path) -> Iterator[SmallNetwork]:
        made: list[Namespace] = []
        try:
            for name in ("node", "gateway", "controller"):
                made.append(Namespace.made(directory / f"{name}.log"))
            node, gateway, controller = made
            for other, link in ((node, "lan"), (controller, "wan")):
                peer = ("type", "veth", "peer", "name", "eth0", "netns", str(other.holder.pid))
                gateway.ip("link", "add", link, *peer)
            for namespace, orders in ((gateway, GATEWAY), (node, NODE), (controller, CONTROLLER)):
                namespace.run("ip", "-batch", "-", stdin=orders)
            gateway.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
            yield cls(node, gateway, controller)
        finally:
            stop([namespace.holder for namespace in made])


class NameServer:
    """Answers every question over UDP and TCP with one code; the first question over UDP may be cut short."""

    def __init__(self, place: Namespace, address: str, rcode: int = 0, *, truncated: bool = False) -> None:
        self.rcode, self.truncated = rcode, truncated
        self.by_tcp = 0
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with place.entered():
            self._udp = socket.socket(family, socket.SOCK_DGRAM)
            self._tcp = socket.create_server((address, 53), family=family)
            self._udp.bind((address, 53))
        for work in (self._answer_udp, self._answer_tcp):
            threading.Thread(target=work, daemon=True).start()

    def __enter__(self) -> NameServer:
        return self

    def __exit__(self, *_trouble: object) -> None:
        for one in (self._udp, self._tcp):
            with contextlib.suppress(OSError):  # wakes the thread that waits there; a datagram socket says it is none
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _answer_udp(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                question, asker = self._udp.recvfrom(4096)
                if question:
                    self._udp.sendto(self._answer(question, self.truncated), asker)

    def _answer_tcp(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                asker, _address = self._tcp.accept()
                with asker:
                    (length,) = struct.unpack("!H", asker.recv(2))
                    answer = self._answer(asker.recv(length), False)
                    self.by_tcp += 1  # before whoever asks can look at it
                    # In two pieces, as long answers come.
                    asker.sendall(struct.pack("!H", len(answer)) + answer[:5])
                    asker.sendall(answer[5:])

    def _answer(self, question: bytes, truncated: bool) -> bytes:
        flags = _IS_ANSWER | self.rcode | (_TRUNCATED if truncated else 0)
        return question[:2] + struct.pack("!H", flags) + question[4:]


@contextlib.contextmanager
def web_server(place: Namespace, address: str, port: int, status: int = 200) -> Iterator[ThreadingHTTPServer]:
    """Answers every GET with one status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: pytest's output is for tests."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        daemon_threads = True

    with place.entered():
        server = Server((address, port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
