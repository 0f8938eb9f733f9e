# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""http: a page answers. Any status counts unless the target names one; redirects are answers and are not followed.

Room: network (probes), the one place besides kube/ that speaks HTTP. Certificates are not checked: the question is
whether the network carries a conversation, and it must not fail over a name or a date.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping

from ...clock import Deadline
from .attempt import Attempt, Failed, Success
from .targets import Page, page
from .tcp import connected

_MOST = 8 << 20  # a Node with all its images stays far below


def http_page(attempt: Attempt) -> Success:
    wanted = page(attempt.probe.target)
    status, _body = exchange(wanted, attempt.probe.family, attempt.deadline, tls=unchecked() if wanted.tls else None)
    if wanted.accepts(status):
        return Success(f"answer {status}")
    raise Failed(f"answer {status}, not {wanted.status}")


def exchange(
    wanted: Page,
    family: str,
    deadline: Deadline,
    *,
    tls: ssl.SSLContext | None,
    server_name: str = "",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """GET over a new connection: an old one may still work where a new one cannot be opened."""
    channel = connected(wanted.host, wanted.port, family, deadline)
    try:
        if tls:
            channel = tls.wrap_socket(channel, server_hostname=server_name or wanted.host)
        return _asked(channel, wanted, {"User-Agent": "sunset.kube", "Connection": "close", **(headers or {})})
    except http.client.HTTPException as problem:
        raise Failed(f"no HTTP answer: {problem!r}") from problem
    finally:
        channel.close()


def _asked(channel: socket.socket, wanted: Page, headers: Mapping[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(wanted.host, wanted.port)
    connection.sock = channel
    connection.request("GET", wanted.path, headers={"Host": wanted.authority, **headers})
    answer = connection.getresponse()
    return answer.status, answer.read(_MOST)


def unchecked() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
