# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault proxy: stands between a client and the API server, passes everything on, and breaks what a rule says.

A TLS proxy cannot pass a client certificate on. So it keeps the keys of the users it gave a kubeconfig to, recognises
them by their certificate and speaks to the server in their name. A request with an Authorization header is passed on
without any certificate. Nothing else is added or changed. Upgraded connections (exec, port-forward) are not supported.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import ssl
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol
from urllib.parse import urlsplit

from lab.faults.relay import BROKEN, Relay
from lab.faults.rules import Fault, Rule, SeenRequest
from lab.faults.wire import Gone, Wire
from lab.plane.certificates import Authority
from lab.plane.tls import client_context
from lab.plane.users import Access, User, access_of, write_kubeconfig

HANDSHAKE_SECONDS = 10.0


class Server(Protocol):
    """What the proxy needs to know of the API server behind it; a ControlPlane has all of it."""

    url: str
    ca_file: Path
    admin: User


class FaultProxy:
    """A proxy on a free port of loopback, at work from construction to `close`.

    `latency` (seconds) delays every request, as a distant server would. `requests` lists all requests seen so far,
    `connections` counts the connections that clients opened.
    """

    def __init__(self, server: Server, user: User | None = None) -> None:
        """`user` is who a client without any credentials of its own becomes; without it such a client is anonymous."""
        self.latency = 0.0
        self.requests: list[SeenRequest] = []
        self.connections = 0
        self._rules: list[Rule] = []
        self._server = server
        self._user = user
        self._ca = server.ca_file.read_text()
        self._anonymous = client_context(Access(server.url, self._ca))
        self._default = client_context(access_of(user)) if user else self._anonymous
        self._known: dict[bytes, ssl.SSLContext] = {}  # by certificate
        self._tls = _server_context(server.ca_file)
        self._files = tempfile.TemporaryDirectory(prefix="fault-proxy-")
        self._lock = threading.Lock()  # for everything above and below that grows
        self._open: set[Wire] = set()
        self._threads: set[threading.Thread] = set()
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept, name="fault-proxy", daemon=True)
        self._acceptor.start()

    def __enter__(self) -> FaultProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all connections and wait for the threads behind them."""
        with self._lock:
            if self._closing.is_set():
                return
            self._closing.set()
            wires, threads = list(self._open), list(self._threads)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor, which close() alone does not
        self._listener.close()
        for wire in wires:
            with contextlib.suppress(*BROKEN):
                wire.wake()
        for thread in (self._acceptor, *threads):
            thread.join(5)
        self._files.cleanup()

    # -- for tests ---------------------------------------------------------------------------------------------------

    def add(self, rule: Rule) -> Rule:
        """From now on follow this rule too. The first rule that strikes decides."""
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        """Forget all rules: everything passes again. A watch that was silenced stays silent."""
        with self._lock:
            self._rules.clear()

    def kubeconfig(self, user: User | None = None) -> Path:
        """A kubeconfig that leads through the proxy and speaks as this user (by default as the administrator)."""
        user = user or self._user or self._server.admin
        access = access_of(user)
        with self._lock:
            self._known.setdefault(ssl.PEM_cert_to_DER_cert(user.cert_file.read_text()), client_context(access))
        return self._write_kubeconfig(user.name, Access(self.url, self._ca, access.cert, access.key))

    def token_kubeconfig(self, token: str) -> Path:
        """A kubeconfig that leads through the proxy and authenticates with a token."""
        return self._write_kubeconfig("token", Access(self.url, self._ca, token=token))

    def _write_kubeconfig(self, name: str, access: Access) -> Path:
        return write_kubeconfig(Path(self._files.name) / f"{secrets.token_hex(8)}.kubeconfig", name, access)

    # -- for relays --------------------------------------------------------------------------------------------------

    def fault_for(self, request: SeenRequest) -> Fault | None:
        with self._lock:
            self.requests.append(request)
            return next((rule.fault for rule in self._rules if rule.strikes(request)), None)

    def identity(self, client: Wire, request: SeenRequest) -> ssl.SSLContext | None:
        """Whose name to speak in; None for a certificate whose key we do not have."""
        if "authorization" in request.headers:
            return self._anonymous
        certificate = client.sock.getpeercert(binary_form=True)
        return self._known.get(certificate) if certificate else self._default

    def connect(self, identity: ssl.SSLContext) -> Wire:
        target = urlsplit(self._server.url)
        raw = socket.create_connection((target.hostname or "127.0.0.1", target.port or 443))
        with _closed_on_error(raw):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._opened(Wire(identity.wrap_socket(raw, server_hostname=target.hostname)))

    def hang_up(self, wire: Wire) -> None:
        with self._lock:
            self._open.discard(wire)
        wire.close()

    def pause(self, seconds: float | None = None) -> None:
        """Sleep, but not longer than the proxy lives; without an argument as long as `latency` says."""
        wanted = self.latency if seconds is None else seconds
        if wanted > 0:
            self._closing.wait(wanted)

    # -- connections -------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                raw, _address = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._converse, args=(raw,), name="fault-proxy-client", daemon=True)
            with self._lock:
                self.connections += 1
                self._threads.add(thread)
            thread.start()

    def _converse(self, raw: socket.socket) -> None:
        """One client connection from handshake to end, in a thread of its own."""
        try:
            with _closed_on_error(raw):
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                raw.settimeout(HANDSHAKE_SECONDS)
                sock = self._tls.wrap_socket(raw, server_side=True)
                sock.settimeout(None)
                client = self._opened(Wire(sock))
            try:
                Relay(client, self).run()
            finally:
                self.hang_up(client)
        except BROKEN:
            pass  # no handshake, no conversation
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _opened(self, wire: Wire) -> Wire:
        """Known to `close` from now on, until `hang_up`."""
        with self._lock:
            if not self._closing.is_set():
                self._open.add(wire)
                return wire
        wire.close()
        raise Gone("the proxy is closing")


def _server_context(ca_file: Path) -> ssl.SSLContext:
    pair = Authority(ca_file.parent, ca_file.stem).server("fault-proxy")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert_file, pair.key_file)
    context.load_verify_locations(ca_file)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.num_tickets = 0  # a resumed session would come without the client's certificate
    return context


@contextlib.contextmanager
def _closed_on_error(sock: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException as problem:
        sock.close()
        # Python leaves its TLS socket open where the peer has reset the connection before the handshake.
        for frame, _line in traceback.walk_tb(problem.__traceback__):
            half_made = frame.f_locals.get("self")
            if isinstance(half_made, ssl.SSLSocket):
                half_made.close()
        raise
