# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real nginx with a generated configuration, on loopback, as a user who may write nothing but the scratch folder."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import Bundle, build_bundle
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.source import (
    HEALTH_PATH,
    Answering,
    PageSource,
    Place,
)
from lab.plane.ports import free_port
from lab.processes import Process, start, stop, wait_until_healthy

NOBODY = 65534
ONE_PROCESS = ("-g", "master_process off;")  # so that it cannot outlive a test that is killed
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin") or "nginx"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Sequence[tuple[str, str]]
    body: str

    def all(self, name: str) -> list[str]:
        return [value for header, value in self.headers if header.lower() == name.lower()]

    def __getitem__(self, name: str) -> str:
        """The one value of a header; empty when it is not there."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else ""


@dataclass(frozen=True)
class PageServer:
    bundle: Bundle
    place: Place
    process: Process

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.place.http}"

    def ask(
        self, method: str = "GET", path: str = "/", headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        return ask(self.place.http, method, path, headers, body)


def ask(
    port: int, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> Answer:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        return Answer(answer.status, answer.getheaders(), answer.read().decode())


@contextlib.contextmanager
def serving(source: PageSource, answering: Answering, more: Sequence[str] = ONE_PROCESS) -> Iterator[PageServer]:
    folder = Path(tempfile.mkdtemp(prefix="maintenance-page-"))  # pytest's own are closed to other users
    place = Place(
        folder=str(folder / "conf"),
        scratch=str(folder / "scratch"),
        address="127.0.0.1",
        http=free_port(),
        h2c=free_port(),
        stopping=free_port(),
    )
    try:
        bundle = build_bundle(source, answering, place)
        lay_out(bundle, place, folder)
        log = folder / "nginx.log"
        process = start([*as_nobody(), NGINX, "-c", f"{place.folder}/nginx.conf", *more], log)
        try:
            wait_until_healthy(process, "nginx", lambda: healthy(place.http), log, timeout=15)
            yield PageServer(bundle, place, process)
        finally:
            stop([process])
    finally:
        shutil.rmtree(folder)


def lay_out(bundle: Bundle, place: Place, folder: Path) -> None:
    """As the kubelet does: the ConfigMap for reading, a scratch folder for writing, and nothing else."""
    for name in (place.folder, place.scratch):
        Path(name).mkdir()
    for name, text in bundle.files.items():
        file = Path(place.folder, name)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o444)
    Path(place.folder).chmod(0o555)
    folder.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(place.scratch, NOBODY, NOBODY)


def as_nobody() -> list[str]:
    if os.geteuid() != 0:
        return []
    # Changing the user clears the parent-death signal; setpriv sets it again.
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=KILL", "--"]


def healthy(port: int) -> bool:
    try:
        return ask(port, "GET", HEALTH_PATH).status == 200
    except (OSError, http.client.HTTPException):
        return False
