# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task needs to know of its node before it decides: lifelines, who else is at work, what to probe.

Room: network.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..problems import MissingPackage, Problem
from .probes.look import gather, kubelet_flags, ssh_environment
from .probes.probe import Surroundings
from .risk import Lifelines, lifelines_of_ssh

if TYPE_CHECKING:
    from .probes.attempt import OpenApi

HANDLER_LOCK = Path("/var/k8s_nmstate/handler_lock")
_SERVER = re.compile(r"^\s*server:\s*[\"']?(https?://[^\s\"']+)", re.MULTILINE)


def surroundings(environ: Mapping[str, str]) -> Surroundings:
    found = gather(ssh_environment(environ))
    return replace(found, api_server=found.api_server or _server_in(found.kubeconfig))


def surroundings_from(known: Surroundings) -> Surroundings:
    """The node as it is now, to somebody who was not started over SSH."""
    return gather(
        {},
        controller=known.controller,
        api_server=known.api_server,
        node_name=known.node_name,
        kubeconfig=known.kubeconfig,
    )


def lifelines(environ: Mapping[str, str], found: Surroundings) -> Lifelines:
    of_ssh = lifelines_of_ssh(ssh_environment(environ).get("SSH_CONNECTION", ""))
    return replace(
        of_ssh,
        api_server=urlsplit(found.api_server).hostname or "",
        node_ip=kubelet_flags().get("node-ip", "").partition(",")[0],
    )


def open_api(kubeconfig: str) -> OpenApi | None:
    """The kubelet's own way to the API server; None where its file cannot be read (that takes PyYAML)."""
    if not kubeconfig:
        return None
    from ..kube.configuration import ConnectionOptions, load_endpoint

    options = ConnectionOptions(kubeconfig=kubeconfig, in_cluster="false")
    try:
        load_endpoint(options)
    except (MissingPackage, Problem):
        return None
    return lambda: load_endpoint(options)


def _server_in(kubeconfig: str) -> str:
    """Enough to ask whether the API server answers at all, also without PyYAML."""
    try:
        match = _SERVER.search(Path(kubeconfig).read_text(encoding="utf-8")) if kubeconfig else None
    except (OSError, UnicodeDecodeError):
        return ""
    return match[1] if match else ""


def handler_runs(lock: Path = HANDLER_LOCK) -> bool:
    """kubernetes-nmstate's handler holds this lock as long as it lives, and applies its policies over and over."""
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
