# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One question to a web server, as a browser would ask it for one of the hosts it serves. No answer is an answer, too.

Room: kube, because only this room speaks HTTP. It has nothing to do with the API server: no credentials are sent. The
same limits hold, and `timeout` is the time for all of it.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..clock import Deadline, RealClock
from .http_reader import Reader
from .tls import client_context
from .wire import TURN, Turns, still


@dataclass(frozen=True)
class WebAnswer:
    """`trouble` instead of a status where there was no answer."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    trouble: str = ""


def ask_web(url: str, host: str, path: str, *, validate_certs: bool, timeout: float) -> WebAnswer:
    """GET a path of a host (empty: the URL's own) from whoever listens at the URL. Redirects are not followed."""
    where = urllib.parse.urlsplit(url)
    address = where.hostname or ""
    secure = where.scheme == "https"
    host = host or address
    deadline = Deadline(RealClock(), timeout)
    connection = http.client.HTTPConnection(address, where.port or (443 if secure else 80), timeout=timeout)
    try:
        connection.connect()
        if secure:
            context = client_context(verify=validate_certs, ca_file=None, cert_file=None, key_file=None)
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in (("Host", host), ("Accept", "text/html"), ("User-Agent", "sunset.kube")):
            connection.putheader(name, value)
        connection.putheader("Connection", "close")
        connection.endheaders()
        connection.sock.settimeout(TURN)
        turns = Turns(connection.sock)
        turns.begin(lambda: still(deadline.left))
        status, headers, _keeps = Reader(turns).head()
        return WebAnswer(status, headers)
    except (OSError, http.client.HTTPException, UnicodeError) as problem:
        return WebAnswer(trouble=_words(problem))
    finally:
        connection.close()


def _words(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({problem.verify_message})"
    if isinstance(problem, ConnectionRefusedError):
        return "nobody listens there"
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, socket.gaierror):
        return "the name is not known"
    return str(problem) or type(problem).__name__
