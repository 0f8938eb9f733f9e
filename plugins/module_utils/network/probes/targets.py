# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Targets of probes as people write them: address, address%interface, host:port, URL, name@server.

Room: network (pure).
"""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass

DNS_PORT = 53
HTTPS_PORT = 443
_STATUS = re.compile(r"[1-5](\d\d|xx)")
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


class BadTarget(ValueError):
    """A target nobody can aim at; the text says what it should look like."""


@dataclass(frozen=True)
class Place:
    address: str
    interface: str = ""

    @property
    def family(self) -> str:
        return family_of(self.address)


@dataclass(frozen=True)
class Port:
    host: str
    port: int


@dataclass(frozen=True)
class Page:
    host: str
    port: int
    tls: bool
    path: str
    status: str = ""  # "", "200" or "2xx"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def accepts(self, status: int) -> bool:
        return not self.status or str(status).startswith(self.status.rstrip("x"))


@dataclass(frozen=True)
class Question:
    name: str  # "" = whatever the node's own settings suggest
    server: Port | None  # None = the node's own servers


def family_of(address: str) -> str:
    """ "" for a name."""
    try:
        return f"ipv{ipaddress.ip_address(address.partition('%')[0]).version}"
    except ValueError:
        return ""


def place(target: str) -> Place:
    address, _percent, interface = target.partition("%")
    if not family_of(address):
        raise BadTarget(f"must be an address, or address%interface, not {target or 'empty'}")
    return Place(address, interface)


def port(target: str, default: int | None = None) -> Port:
    """`host:port`; an IPv6 address stands in brackets, unless the port may be left out and is."""
    if default is not None and family_of(target):
        return Port(target, default)
    match = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:\s/]+)(?::(\d+))?", target)
    host, number = (match[1] or match[3], match[2] or match[4]) if match else ("", None)
    chosen = int(number) if number else default
    if not host or chosen is None or not 0 < chosen < 65536:
        raise BadTarget(f"must be host:port, with an IPv6 address in brackets, not {target or 'empty'}")
    return Port(host, chosen)


def page(target: str) -> Page:
    """A URL, and after a space the status that is expected: 200, or 2xx. Without one any answer counts."""
    url, _space, status = target.partition(" ")
    try:
        parts = urllib.parse.urlsplit(url)
        number = parts.port
    except ValueError:
        raise BadTarget(f"must be a URL, not {url}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii():
        raise BadTarget(f"must be a URL that begins with http:// or https://, not {url or 'empty'}")
    if parts.username is not None:
        raise BadTarget("must not hold a user or password: targets are shown in results")
    if status and not _STATUS.fullmatch(status):
        raise BadTarget(f"must end with a status such as 200 or 2xx, not {status}")
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    tls = parts.scheme == "https"
    return Page(parts.hostname, number or (HTTPS_PORT if tls else 80), tls, path, status)


def api(target: str) -> Page:
    """The API server: a URL, or host:port which speaks TLS. Its path is ours to choose."""
    found = page(target) if "://" in target else Page(*_pair(port(target, HTTPS_PORT)), tls=True, path="/")
    return Page(found.host, found.port, found.tls, found.path.rstrip("/") + "/readyz")


def _pair(found: Port) -> tuple[str, int]:
    return found.host, found.port


def question(target: str) -> Question:
    """`name`, `name@server`, `@server` or nothing; a server is an address, with a port if it is not 53."""
    name, at, server = target.partition("@")
    if name and not is_name(name):
        raise BadTarget(f"must be name, name@server or @server, not {target}")
    if not at:
        return Question(name, None)
    there = port(server, DNS_PORT)
    if not family_of(there.host):
        raise BadTarget(f"must have the server as an address, not {server or 'empty'}")
    return Question(name, there)


def is_name(text: str) -> bool:
    """Can it be asked for? The root (a single dot) can."""
    labels = text.removesuffix(".").split(".")
    return text == "." or (len(text) <= 253 and all(_LABEL.fullmatch(label) for label in labels))


def node(target: str) -> str:
    if re.search(r"[\s/?#%]", target):
        raise BadTarget(f"must be the name of a Node, not {target}")
    return target


# type → (how its target is read, may it be empty)
_SHAPES: dict[str, tuple[Callable[[str], object], bool]] = {
    "ping": (place, True),
    "neighbour": (place, True),
    "controller": (place, True),
    "tcp": (port, False),
    "http": (page, False),
    "dns": (question, True),
    "api_server": (api, True),
    "node_ready": (node, True),
}


def complaint_of(kind: str, target: str, family: str) -> str:
    """What is wrong with a target, or nothing."""
    read, may_be_empty = _SHAPES[kind]
    if not target and may_be_empty:
        return ""
    try:
        found = read(target)
    except BadTarget as problem:
        return str(problem)
    if isinstance(found, Question):
        found = found.server
    host = found.address if isinstance(found, Place) else getattr(found, "host", "")
    if family and family_of(host) not in ("", family):
        return f"is no {family} address: {host}"
    return ""
