# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who talks to the API server: users with their certificate, and the kubeconfig files that carry credentials.

A kubeconfig holds everything inside (no paths), so it can be copied elsewhere. It is written as JSON, which every
reader of YAML takes, so the lab needs no YAML library.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.problems import LabError


@dataclass(frozen=True)
class User:
    """Somebody the API server knows by a client certificate."""

    name: str
    groups: tuple[str, ...]
    cert_file: Path
    key_file: Path
    kubeconfig: Path


@dataclass(frozen=True)
class Access:
    """What a kubeconfig of the lab says: where the server is, whom to trust, how to say who we are."""

    server: str
    ca: str  # PEM
    cert: str | None = None  # PEM
    key: str | None = None  # PEM
    token: str | None = None


def write_kubeconfig(file: Path, user_name: str, access: Access) -> Path:
    """Write a kubeconfig with one cluster, one user and one context, all called what they are."""
    credentials = {
        "client-certificate-data": _encoded(access.cert),
        "client-key-data": _encoded(access.key),
        "token": access.token,
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [
            {"name": "lab", "cluster": {"server": access.server, "certificate-authority-data": _encoded(access.ca)}}
        ],
        "users": [{"name": user_name, "user": {key: value for key, value in credentials.items() if value}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": user_name}}],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(json.dumps(content, indent=2) + "\n")
    return file


def read_kubeconfig(file: Path) -> Access:
    """Read a kubeconfig that the lab wrote."""
    try:
        content = json.loads(file.read_text())
    except json.JSONDecodeError as problem:
        raise LabError(f"{file} is not a kubeconfig of the lab: those are JSON") from problem
    cluster: dict[str, Any] = content["clusters"][0]["cluster"]
    user: dict[str, Any] = content["users"][0]["user"]
    return Access(
        server=cluster["server"],
        ca=_decoded(cluster["certificate-authority-data"]) or "",
        cert=_decoded(user.get("client-certificate-data")),
        key=_decoded(user.get("client-key-data")),
        token=user.get("token"),
    )


def access_of(user: User) -> Access:
    return read_kubeconfig(user.kubeconfig)


def _encoded(pem: str | None) -> str | None:
    return base64.b64encode(pem.encode()).decode() if pem else None


def _decoded(data: str | None) -> str | None:
    return base64.b64decode(data).decode() if data else None
