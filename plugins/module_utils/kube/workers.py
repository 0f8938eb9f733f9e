# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many requests at once: up to a number of threads, each with its own kept-alive connection.

Room: kube. Threads are started when there is work for them and reused for the whole run. A connection costs more than a
request, so a batch begins with few of them, and more join while items wait.
"""

from __future__ import annotations

import contextlib
import gc
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
MOST = 64
_FIRST = 8  # threads that begin with a batch
_MORE_AFTER = 0.1  # seconds after which as many join again, if items are waiting


class Workers:
    def __init__(self, parallel: int) -> None:
        self._parallel = max(1, min(parallel, MOST))
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._hiring = threading.Lock()  # several may ask for work to be done at the same time

    def for_each(self, items: Iterable[Item], work: Callable[[Item], None]) -> None:
        """Do `work` for every item and return when all is done. The first exception stops the rest and is raised."""
        batch = _Batch(list(items), work)
        most = min(self._parallel, len(batch.items))
        helpers = 0
        with _nothing_to_collect(len(batch.items)):
            while helpers < most and not batch.all_taken.wait(_MORE_AFTER if helpers else 0.0):
                wanted = min(most, max(_FIRST, len(self._threads), 2 * helpers))
                try:
                    self._start(wanted)
                except RuntimeError:  # this machine allows no more threads; those that have begun can do all of it
                    if not helpers:
                        raise
                    break
                for _helper in range(wanted - helpers):
                    self._tasks.put(batch.take_turns)
                helpers = wanted
            batch.wait(helpers)

    def close(self) -> None:
        for _thread in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(5.0)
        self._threads.clear()

    def _start(self, wanted: int) -> None:
        with self._hiring:
            while len(self._threads) < wanted:
                thread = threading.Thread(target=self._serve, name=f"worker {len(self._threads)}", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()


@contextlib.contextmanager
def _nothing_to_collect(items: int) -> Iterator[None]:
    """Thousands of records live until the end anyway: do not let the collector walk them again and again."""
    if items < _MANY:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


_MANY = 500


class _Batch:
    def __init__(self, items: Sequence[Any], work: Callable[[Any], None]) -> None:
        self.items = items
        self.all_taken = threading.Event()
        self._work = work
        self._next = iter(items)
        self._lock = threading.Lock()
        self._idle = threading.Semaphore(0)
        self._failure: BaseException | None = None

    def take_turns(self) -> None:
        try:
            while self._failure is None:
                with self._lock:
                    item = next(self._next, _END)
                if item is _END:
                    break
                self._work(item)
        except BaseException as failure:  # handed to the waiting thread, which raises it
            self._failure = self._failure or failure
        finally:
            self.all_taken.set()
            self._idle.release()

    def wait(self, helpers: int) -> None:
        for _helper in range(helpers):
            # In short turns, so that a signal handler gets its chance to run in the main thread.
            while not self._idle.acquire(timeout=0.5):
                pass
        if self._failure is not None:
            raise self._failure


_END = object()
