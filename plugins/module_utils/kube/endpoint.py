# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the API server is and how to greet it: the value that configuration makes and connections use.

Room: kube.
"""

from __future__ import annotations

import base64
import re
import ssl
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..problems import BadOption
from .kubeconfig import choose
from .tls import certificates_in

_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")


@dataclass(frozen=True)
class Difference:
    """Why a kubeconfig is about another cluster than ours, or cannot be told to be about ours."""

    why: str
    certain: bool = True


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

    def compare(self, kubeconfig: Mapping[str, Any]) -> Difference | None:
        """None where the current context of a kubeconfig leads to our server. It is only read, nothing is called.

        It is not trusted: files that it names are not opened, and its user does not matter.
        """
        try:
            cluster = choose(kubeconfig, None).cluster
        except (BadOption, TypeError):
            return Difference("its kubeconfig does not say which cluster it means", certain=False)
        return self.compare_cluster(cluster)

    def compare_cluster(self, cluster: Mapping[str, Any]) -> Difference | None:
        """The same for one entry of a kubeconfig's clusters."""
        server = str(cluster.get("server") or "")
        server = server if "://" in server else f"https://{server}"
        name, proxy = (str(cluster.get(key) or "") for key in ("tls-server-name", "proxy-url"))
        if not self.is_at(server):
            return Difference(_without_credentials(server))
        if name != (self.server_name or ""):
            return Difference(f"at the same address, but with the server name {name or 'of that address'}")
        # One address may lead to two clusters in two networks: private ones are in use everywhere.
        if proxy not in ("", self.proxy):
            return Difference("its server is behind a proxy that this connection does not use", certain=False)
        if not (theirs := _authorities_of(cluster)):
            return Difference("its server has our address, but no certificate authority to compare", certain=False)
        if not (ours := self._authorities()):
            why = "its server has our address, but this connection does not verify the server's certificate"
            return Difference(why, certain=False)
        return None if theirs & ours else Difference("at the same address, but with another certificate authority")

    def _authorities(self) -> frozenset[bytes]:
        """The certificates (DER) of whom we trust to sign the server's; none where its certificate is not verified."""
        if self.tls is None or self.tls.verify_mode is not ssl.CERT_REQUIRED:
            return frozenset()
        return frozenset(self.tls.get_ca_certs(binary_form=True))

    def is_at(self, url: str) -> bool:
        """Whether this is the URL's address. With path and port: behind one address a proxy may serve many clusters."""
        try:
            parts = urllib.parse.urlsplit(url)
            place = (parts.hostname, parts.port or 443, parts.path.rstrip("/"))
        except ValueError:  # it is no URL
            return False
        return place == (self.host, self.port, self.base_path.rstrip("/"))

    def __str__(self) -> str:
        return f"{self.url} ({self.origin})" if self.origin else self.url


def is_loopback(host: str) -> bool:
    """Whether this is surely our own machine: a name that begins with 127. may be anybody's."""
    return host in ("localhost", "::1") or bool(_LOOPBACK.fullmatch(host))


def _authorities_of(cluster: Mapping[str, Any]) -> frozenset[bytes]:
    if cluster.get("insecure-skip-tls-verify"):
        return frozenset()
    try:
        return certificates_in(base64.b64decode(cluster.get("certificate-authority-data") or ""))
    except (ValueError, TypeError):
        return frozenset()


def _without_credentials(server: str) -> str:
    try:
        parts = urllib.parse.urlsplit(server)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}:{parts.port or 443}{parts.path}"
    except ValueError:
        return "at an address that is no URL"
