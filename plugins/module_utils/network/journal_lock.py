# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One at a time on a node: a lock on a file, and who holds it written inside.

Room: network. Private to the collection. The kernel drops the lock with the process, however it ends; what is written
inside is only for the message to whoever comes second.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from ..problems import Refused
from .journal_entries import Holder


class Lock:
    """`with journal.lock(holder, "applying policy web"):`. Does not wait: whoever is second is told who is first."""

    def __init__(self, path: Path, holder: Holder, doing: str) -> None:
        self._path = path
        self._holder = holder
        self._doing = doing
        self._descriptor: int | None = None

    def __enter__(self) -> Lock:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            said = os.pread(descriptor, 4096, 0).decode("utf-8", "replace")
            os.close(descriptor)
            why = f"{_words(said)} is at it" if isinstance(problem, BlockingIOError) else str(problem)
            raise Refused(
                "cannot lock the journal", which=str(self._path), why=why, next_step="try again later"
            ) from problem
        self._descriptor = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({**dataclasses.asdict(self._holder), "doing": self._doing}).encode(), 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)  # and with it the lock
            self._descriptor = None


def _words(said: str) -> str:
    try:
        found = json.loads(said)
        return f"process {found['pid']} ({found['doing']})"
    except (ValueError, KeyError, TypeError):
        return "another process"


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """For moments only: waits for the others, who are as quick."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
