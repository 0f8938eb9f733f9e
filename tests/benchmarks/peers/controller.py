# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller as there are many: it takes its finalizer off one second after somebody deleted the object."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.ground import NAMESPACE
from benchmarks.kinds import CONFIG_MAP
from benchmarks.peers.tools import Stage
from lab.plane.api import Api

DELAY = 1.0
_LIFE = 120.0
_WORKERS = 16


@contextlib.contextmanager
def slow_controller(stage: Stage) -> Iterator[None]:
    """At work as long as the context lasts; on entry it has seen every object."""
    api, ready = Api(stage.ground.plane.admin), threading.Event()
    with ThreadPoolExecutor(_WORKERS + 1, thread_name_prefix="controller") as pool:
        watching = pool.submit(_watch, api, stage.size, ready, pool)
        if not ready.wait(30):
            raise RuntimeError("the controller did not see the objects")
        yield
        watching.result()
    api.close()


def _watch(api: Api, size: int, ready: threading.Event, pool: ThreadPoolExecutor) -> None:
    known = deleting = 0
    for event in api.watch(CONFIG_MAP.path(NAMESPACE), seconds=_LIFE):
        metadata = event["object"]["metadata"]
        if event["type"] == "ADDED":
            known += 1
            if known == size:
                ready.set()
        elif event["type"] == "MODIFIED" and metadata.get("deletionTimestamp") and metadata.get("finalizers"):
            deleting += 1
            pool.submit(_release, api, metadata["name"], time.monotonic() + DELAY)
            if deleting == size:
                return


def _release(api: Api, name: str, when: float) -> None:
    time.sleep(max(0.0, when - time.monotonic()))
    api.patch(f"{CONFIG_MAP.path(NAMESPACE)}/{name}", [{"op": "remove", "path": "/metadata/finalizers"}])
