# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node's network looks like right now: default gateways, the way to an address, name servers, who came by SSH.

Room: network (probes). The upper half asks the node, the lower half (`read_…`) only reads what it said.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...problems import CannotLook
from .commands import output_of
from .probe import Gateway, Surroundings
from .targets import Place, family_of

MAIN_TABLE = "254"
RESOLV_CONF = "/etc/resolv.conf"
# Behind systemd's stub, which answers from its memory, are the real servers.
_REAL_SERVERS = "/run/systemd/resolve/resolv.conf"
KUBELET_KUBECONFIGS = (
    "/etc/kubernetes/kubelet.conf",
    "/var/lib/kubelet/kubeconfig",
    "/var/lib/rancher/k3s/agent/kubelet.kubeconfig",
    "/var/lib/rancher/rke2/agent/kubelet.kubeconfig",
)


@dataclass(frozen=True)
class Way:
    """How the kernel would send a packet."""

    interface: str
    gateway: str = ""
    source: str = ""
    is_here: bool = False


def gather(
    environ: Mapping[str, str],
    *,
    controller: str = "",
    api_server: str = "",
    node_name: str = "",
    kubeconfig: str = "",
    resolv_conf: str = RESOLV_CONF,
) -> Surroundings:
    """The node as it is now. What the caller knows already is taken as it is."""
    nameservers, search = read_resolv_conf(_text(resolv_conf))
    if nameservers and all(server.startswith("127.") for server in nameservers):
        nameservers = read_resolv_conf(_text(_REAL_SERVERS))[0] or nameservers
    kubelet = {} if node_name and kubeconfig else kubelet_flags()
    return Surroundings(
        gateways=default_gateways(),
        nameservers=nameservers,
        search=search,
        controller=controller or ssh_client(environ),
        api_server=api_server,
        node_name=node_name or kubelet.get("hostname-override", "") or socket.gethostname().lower(),
        kubeconfig=kubeconfig or _first_file((kubelet.get("kubeconfig", ""), *KUBELET_KUBECONFIGS)),
    )


def default_gateways() -> tuple[Gateway, ...]:
    four = output_of(["ip", "-j", "-4", "route", "show", "default", "table", MAIN_TABLE])
    try:
        six = output_of(["ip", "-j", "-6", "route", "show", "default", "table", MAIN_TABLE])
    except CannotLook:
        six = "[]"  # a kernel without IPv6 has no table to show
    return (*read_gateways(four, "ipv4"), *read_gateways(six, "ipv6"))


def way_to(there: Place, timeout: float = 10.0) -> Way | None:
    """None when the kernel knows no way."""
    interface = ["oif", there.interface] if there.interface else []
    try:
        return read_way(output_of(["ip", "-j", "route", "get", there.address, *interface], timeout))
    except CannotLook as problem:
        if problem.__cause__ is not None:  # the question could not be asked: not the same as "no"
            raise
        return None


def ssh_client(environ: Mapping[str, str]) -> str:
    """The address SSH came from."""
    return read_ssh_client(ssh_environment(environ))


def ssh_environment(environ: Mapping[str, str]) -> Mapping[str, str]:
    """sudo drops the variables of SSH, so the processes above us are asked too."""
    return next(filter(read_ssh_client, (environ, *_environments_above())), environ)


def kubelet_flags() -> dict[str, str]:
    """The flags of the kubelet that runs on this network, if one does."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = _text(f"/proc/{pid}/cmdline").split("\0")
        if os.path.basename(words[0]) == "kubelet" and _network_of(pid) == _network_of("self"):
            return read_flags(words[1:])
    return {}


def _environments_above() -> Iterable[dict[str, str]]:
    pid = str(os.getppid())
    for _generation in range(32):
        if pid in ("0", "1", ""):
            return
        yield dict(pair.split("=", 1) for pair in _text(f"/proc/{pid}/environ").split("\0") if "=" in pair)
        pid = read_parent(_text(f"/proc/{pid}/status"))


def _network_of(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return f"unknown, of {pid}"


def _text(path: str) -> str:
    """Empty when there is no such file, or it is not for us."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def _first_file(paths: Iterable[str]) -> str:
    return next((path for path in paths if path and os.path.isfile(path)), "")


def read_gateways(listing: str, family: str) -> tuple[Gateway, ...]:
    """From `ip -j route show default`: the best metric first, each of several next hops, none without an address."""
    routes = sorted(_entries(listing), key=lambda route: int(route.get("metric", 0)))
    hops = [hop for route in routes for hop in (route.get("nexthops") or [route])]
    return tuple(
        Gateway(address, str(hop.get("dev", "")), family) for hop in hops if (address := _gateway_of(hop)) is not None
    )


def read_way(listing: str) -> Way | None:
    """From `ip -j route get`."""
    for route in _entries(listing):
        if "dev" in route:
            return Way(
                str(route["dev"]),
                _gateway_of(route) or "",
                str(route.get("prefsrc", "")),
                route.get("type") == "local",
            )
    return None


def _gateway_of(hop: Mapping[str, Any]) -> str | None:
    via = hop.get("via")  # an IPv4 route through an IPv6 neighbour
    address = hop.get("gateway") or (via.get("host") if isinstance(via, Mapping) else None)
    return str(address) if address else None


def _entries(listing: str) -> list[Mapping[str, Any]]:
    try:
        found = json.loads(listing or "[]")
    except ValueError as problem:
        raise CannotLook("cannot read what ip says", why=str(problem), next_step="check ip -j route") from problem
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []


def read_resolv_conf(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name servers, and the domains to search. As for the C library the last `search` or `domain` counts."""
    nameservers: list[str] = []
    search: tuple[str, ...] = ()
    for line in text.splitlines():
        words = re.sub(r"[#;].*", "", line).split()
        if len(words) < 2:
            continue
        if words[0] == "nameserver" and family_of(words[1]):
            nameservers.append(words[1])
        elif words[0] in ("search", "domain"):
            search = tuple(words[1:])
    return tuple(dict.fromkeys(nameservers)), search


def read_ssh_client(environ: Mapping[str, str]) -> str:
    words = (environ.get("SSH_CONNECTION") or environ.get("SSH_CLIENT") or "").split()
    return words[0] if words and family_of(words[0]) else ""


def read_flags(words: Iterable[str]) -> dict[str, str]:
    """`--name=value` and `--name value`."""
    flags: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            if equals:
                flags[name], name = value, ""
        elif name:
            flags[name], name = word, ""
    return flags


def read_parent(status: str) -> str:
    match = re.search(r"^PPid:\s+(\d+)$", status, re.MULTILINE)
    return match[1] if match else ""
