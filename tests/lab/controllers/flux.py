# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flux's real controllers that deploy, beside a control plane, and a server with what they deploy."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import io
import os
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from lab import processes, tools
from lab.plane import ports
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.processes import Process


@contextlib.contextmanager
def controller(plane: ControlPlane, name: str, namespace: str) -> Iterator[Process]:
    """`helm-controller` or `kustomize-controller` as a process, for this namespace, until its manager is healthy."""
    user = plane.user(name, (MASTERS,))
    program = tools.ensure([name])[name]
    log, health = plane.directory / f"{name}.log", f"127.0.0.1:{ports.free_port()}"
    flags = ["--watch-all-namespaces=false", "--events-addr=", f"--health-addr={health}", "--http-retry=1"]
    place = {"RUNTIME_NAMESPACE": namespace, "KUBECONFIG": str(user.kubeconfig)}
    running = processes.start(
        [str(program), *flags, f"--metrics-addr=127.0.0.1:{ports.free_port()}"],
        log,
        environment={**os.environ, **place},
    )
    try:
        processes.wait_until_healthy(running, name, lambda: _answers(f"http://{health}/readyz"), log)
        yield running
    finally:
        processes.stop([running])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


class Artifacts:
    """Plays the part of source-controller that serves: packed files, on loopback."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        handler = functools.partial(_Silent, directory=str(directory))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> Artifacts:
        threading.Thread(target=self._server.serve_forever, name="artifacts", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pack(self, name: str, files: Mapping[str, str]) -> dict[str, object]:
        """These files as an artifact, in the words of the status of a source."""
        target = self._directory / name
        with tarfile.open(target, "w:gz") as packed:
            for path, text in files.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(text.encode())
                packed.addfile(entry, io.BytesIO(text.encode()))
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        return {
            "digest": f"sha256:{digest}",
            "lastUpdateTime": "2026-01-01T00:00:00Z",
            "path": name,
            "revision": f"1.0.0@sha256:{digest}",
            "url": f"http://127.0.0.1:{self._server.server_port}/{name}",
        }


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Tests say what they need to."""
