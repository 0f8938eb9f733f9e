# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bounded load of requests through ingress controllers: who answered each of them, and when it was sent.

Every worker keeps one connection open, as browsers and other proxies do, and does not try again: an answer that is
lost is seen. Some requests take a while, so that some are under way whenever routes change.
"""

from __future__ import annotations

import http.client
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType

AT_MOST = 240.0  # seconds; no load runs on after a test that hangs
PAUSE = 0.02
# What each worker asks in turn. A POST is never sent twice by a proxy.
REQUESTS = (("GET", "/"), ("POST", "/cart?item=1"), ("GET", "/slow?wait=150ms"))


@dataclass(frozen=True)
class Door:
    """A host of an application, asked through one controller."""

    name: str
    port: int
    host: str


@dataclass(frozen=True)
class Answer:
    door: str
    sent: float
    who: str  # "app", the id of a page, or what went wrong


class Load:
    """Requests through these doors as long as the block runs."""

    def __init__(self, doors: Iterable[Door], app: str, *, workers: int = 2) -> None:
        self.answers: list[Answer] = []
        self._greeting = f"app {app}\n"
        self._end = threading.Event()
        self._until = time.monotonic() + AT_MOST
        self._threads = [
            threading.Thread(target=self._ask_on, args=(door, number), name=f"load {door.name}", daemon=True)
            for door in doors
            for number in range(workers)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(10)

    def during(self, work: Callable[[], object]) -> Counter[str]:
        """How often each answered while this was done."""
        return self._between(time.monotonic(), _after(work))

    def now(self, seconds: float = 0.5) -> Counter[str]:
        """Who answers from now on."""
        return self.during(lambda: time.sleep(seconds))

    def wrong(self, *right: str) -> list[Answer]:
        """Everything that none of these has answered."""
        return [answer for answer in list(self.answers) if answer.who not in right]

    def doors_of(self, who: str) -> set[str]:
        return {answer.door for answer in list(self.answers) if answer.who == who}

    def _between(self, start: float, end: float) -> Counter[str]:
        return Counter(answer.who for answer in list(self.answers) if start <= answer.sent <= end)

    def _ask_on(self, door: Door, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=30)
        turns = itertools.islice(itertools.cycle(REQUESTS), number, None)
        while not self._end.wait(PAUSE) and time.monotonic() < self._until:
            method, path = next(turns)
            sent = time.monotonic()
            self.answers.append(Answer(door.name, sent, self._who_answers(connection, method, path, door.host)))
        connection.close()

    def _who_answers(self, connection: http.client.HTTPConnection, method: str, path: str, host: str) -> str:
        try:
            connection.request(method, path, b"x=1" if method == "POST" else None, {"Host": host})
            answer = connection.getresponse()
            body = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as problem:
            connection.close()  # the next request opens it again
            return f"{method} {path}: {problem!r}"
        page = answer.headers["X-Maintenance"]
        if answer.status == 200 and body == self._greeting:
            return "app"
        if answer.status == 503 and page and "<h1>" in body:
            return str(page)
        return f"{method} {path}: {answer.status} {page} {body[:60]!r}"


def _after(work: Callable[[], object]) -> float:
    work()
    return time.monotonic()
