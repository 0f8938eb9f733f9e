# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults and the rules that choose them. Pure: no sockets, no clock; chance comes from a seed.

A fault is one small class, so each carries only what it needs. `after` in a watch counts events other than bookmarks,
because bookmarks come when the server likes.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

WRITES = ("POST", "PUT", "PATCH", "DELETE")
QUESTIONS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")

# What the API server itself puts into a Status for these codes.
REASONS = {
    400: ("BadRequest", "the request was not understood"),
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", "access is forbidden"),
    404: ("NotFound", "the object was not found"),
    409: ("Conflict", "the object has been modified; please apply your changes to the latest version and try again"),
    410: ("Expired", "The provided continue parameter is too old to display a consistent list result."),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: ("TooManyRequests", "Too many requests, please try again later."),
    500: ("InternalError", "Internal error occurred: injected by the test"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "the server was unable to return a response in the time allotted"),
}


@dataclass(frozen=True)
class Answer:
    """The proxy answers with a Status of this code; the request never reaches the server."""

    status: int
    retry_after: int | None = None  # seconds; sent as header and in the details, as the API server does
    reason: str | None = None
    message: str | None = None
    causes: tuple[dict[str, str], ...] = ()  # with causes a 422 is a real refusal, without it is a lost race


@dataclass(frozen=True)
class ResetBefore:
    """The connection is reset; the request never reaches the server."""


@dataclass(frozen=True)
class ResetAfter:
    """The server has done its work and answered, then the connection is reset: the answer is lost."""


@dataclass(frozen=True)
class SlowRequest:
    """The server is asked after a while only: whatever happens meanwhile comes first."""

    seconds: float


@dataclass(frozen=True)
class SlowAnswer:
    """The server is asked at once; its answer is held back."""

    seconds: float


@dataclass(frozen=True)
class TruncatedBody:
    """The answer's head promises everything, the connection ends after `keep` bytes of it (half of it by default)."""

    keep: int | None = None


@dataclass(frozen=True)
class DrippingAnswer:
    """The server is asked at once; its answer comes a byte at a time, and never ends."""


@dataclass(frozen=True)
class StrayAnswer:
    """The request is answered as always. A moment later an answer that nothing asked for follows on the connection."""

    status: int = 404


@dataclass(frozen=True)
class CutWatch:
    """A watch ends after some events: abruptly, or `clean`, as when its time is up."""

    after: int = 0
    clean: bool = False


@dataclass(frozen=True)
class SilentWatch:
    """After some events nothing comes through any more, not even the end, while the connection stays open."""

    after: int = 0


@dataclass(frozen=True)
class ErrorInWatch:
    """After some events the watch delivers an ERROR event with a Status, then ends."""

    status: int = 410
    after: int = 0


Fault: TypeAlias = (
    Answer
    | ResetBefore
    | ResetAfter
    | SlowRequest
    | SlowAnswer
    | TruncatedBody
    | DrippingAnswer
    | StrayAnswer
    | CutWatch
    | SilentWatch
    | ErrorInWatch
)
WATCH_FAULTS = (CutWatch, SilentWatch, ErrorInWatch)
PLAIN_FAULTS = (TruncatedBody, DrippingAnswer, StrayAnswer)


@dataclass
class SeenRequest:
    """One request as the proxy saw it. `status` is what the client was told, None while or when it was told nothing."""

    method: str
    path: str
    query: str  # decoded
    headers: dict[str, str]  # names in lower case
    body: bytes
    time: float  # time.monotonic() at arrival
    is_watch: bool
    status: int | None = None
    fault: Fault | None = None
    error: str | None = None  # why the server could not be asked
    served: int | None = None  # what the server said, whether or not the client was told
    strayed: bool = False  # an answer nothing asked for has followed

    @property
    def is_write(self) -> bool:
        """Meant to change something: not a dry run, and not a question that is asked by creating an object."""
        asks = self.path.startswith(QUESTIONS)
        # A DELETE says so in its options, everybody else in the query.
        tries = "dryRun" in self.query or (self.method == "DELETE" and b'"dryRun"' in self.body)
        return self.method in WRITES and not tries and not asks


@dataclass
class Rule:
    """When a fault strikes. Everything given must match; nothing given matches every request.

    A rule counts the requests it matches; `nth`, `after`, `times` and `probability` choose among those. Watch faults
    match watches only, and a body is truncated only where there is one to end, so not in watches.
    """

    fault: Fault
    method: str | None = None  # regular expression for the whole method: "PUT|PATCH"
    path: str | None = None  # regular expression, found anywhere in the path
    query: str | None = None  # text, found anywhere in the decoded query
    writes: bool = False  # only requests that are meant to change something
    nth: int | None = None  # only this match, counted from 1
    after: int = 0  # let this many matches pass first
    times: int | None = None  # strike at most so often
    probability: float = 1.0
    seed: int = 0
    matches: int = field(default=0, init=False)
    hits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def strikes(self, request: SeenRequest) -> bool:
        """Does the fault hit this request? Counts, so ask once per request."""
        if not self._fits(request):
            return False
        self.matches += 1
        if self.matches <= self.after or self.nth not in (None, self.matches):
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        if self.probability < 1.0 and self._chance.random() >= self.probability:
            return False
        self.hits += 1
        return True

    def _fits(self, request: SeenRequest) -> bool:
        if isinstance(self.fault, WATCH_FAULTS) and not request.is_watch:
            return False
        if isinstance(self.fault, PLAIN_FAULTS) and request.is_watch:
            return False
        if self.writes and not request.is_write:
            return False
        if self.method is not None and not re.fullmatch(self.method, request.method):
            return False
        if self.path is not None and not re.search(self.path, request.path):
            return False
        return self.query is None or self.query in request.query


def status_body(answer: Answer) -> dict[str, Any]:
    """The Status object the API server would send with this code."""
    reason, message = REASONS.get(answer.status, ("", "injected by the test"))
    details: dict[str, Any] = {}
    if answer.retry_after is not None:
        details["retryAfterSeconds"] = answer.retry_after
    if answer.causes:
        details["causes"] = list(answer.causes)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": answer.message or message,
        "reason": answer.reason or reason,
        **({"details": details} if details else {}),
        "code": answer.status,
    }
