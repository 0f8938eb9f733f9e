# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the API server is and how to greet it: the value that configuration makes and connections use.

Room: kube.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field

_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")


@dataclass(frozen=True)
class Endpoint:
    host: str
    port: int
    base_path: str = ""
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    # Authorization and Impersonate-*: never printed.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    proxy: str | None = field(default=None, repr=False)
    # For people: "context lab of ~/.kube/config".
    origin: str = ""
    context: str = ""

    @property
    def url(self) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{self.authority}{self.base_path}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def title(self) -> str:
        """The cluster as a question names it: "context prod (https://api.example.com:6443)"."""
        return f"context {self.context} ({self.url})" if self.context else self.url

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"{self.url} ({self.origin})" if self.origin else self.url


def is_loopback(host: str) -> bool:
    """Whether this is surely our own machine: a name that begins with 127. may be anybody's."""
    return host in ("localhost", "::1") or bool(_LOOPBACK.fullmatch(host))
