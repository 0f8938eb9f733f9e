# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server answered, and what an answer that is no success means.

Room: kube. Errors are told apart by status code, reason and causes, never by their English text.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

from ..problems import CannotLook, Problem, Unreachable

# Nothing in an object's metadata is nested deeper than this, except managedFields, which mirror the object's content.
_METADATA_DEPTH = 64
# Of a refusal: a webhook may say whatever it likes, to every object of thousands.
_MOST_TEXT, _MOST_CAUSES = 8192, 100
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. The body stays bytes until somebody needs it."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    # An earlier try of this very write got no answer, and may have been carried out all the same.
    unheard: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def retry_after(self) -> float | None:
        try:
            seconds = float(self.headers["retry-after"])
        except (KeyError, ValueError):
            return None
        return max(0.0, seconds) if math.isfinite(seconds) else None

    def json(self, which: str = "") -> dict[str, Any]:
        """The answer's object. Whatever sends anything else with a success is no API server."""
        try:
            value = json.loads(self.body.decode())
        except ValueError:
            value = None
        except RecursionError:
            raise too_deep(which) from None
        if not isinstance(value, dict):
            raise Unreachable(
                "no Kubernetes API answers there",
                why=f"the answer is not a JSON object: {_short(self.body)}",
                next_step="check host and proxy: something else answers at this address",
            )
        return value

    def metadata_json(self) -> dict[str, Any]:
        """As `json`, for a reader of metadata only: an object of any depth is read."""
        try:
            return self.json()
        except CannotLook:
            return Answer(self.status, body=shallow(self.body)).json()


def too_deep(which: str = "") -> CannotLook:
    return CannotLook(
        "cannot read",
        which=which or "an answer of the API server",
        why="the content of an object is nested too deeply",
        next_step="look for an object of thousands of levels with kubectl get -o json, and correct or delete it",
    )


def shallow(body: bytes) -> bytes:
    """JSON with null in place of everything that is nested deeper than metadata is."""
    kept, begin, depth = [], 0, 0
    for token in _TOKEN.finditer(body):
        mark = token.group()[:1]
        if mark in b"[{":
            if depth == _METADATA_DEPTH:
                kept.append(body[begin : token.start()] + b"null")
            depth += 1
        elif mark in b"]}":
            depth -= 1
            if depth == _METADATA_DEPTH:
                begin = token.end()
    return b"".join([*kept, body[begin:]])


class ApiError(Problem):
    """The API server refused a request; carries what decisions need."""

    def __init__(
        self,
        status: int,
        *,
        what: str = "request",
        which: str = "",
        reason: str = "",
        message: str = "",
        causes: tuple[str, ...] = (),
        next_step: str = "",
    ) -> None:
        text = f"HTTP {status}" + (f" {reason}" if reason else "") + (f", {message}" if message else "")
        super().__init__(what, which=which, why=text, next_step=next_step)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes

    @property
    def is_forbidden(self) -> bool:
        return self.status == 403


HINTS = {
    401: "check the credentials: the token or certificate may have expired",
    403: "ask for the right to do this, or run as a user who has it (see context and impersonate_user)",
    405: "this kind does not allow it; look at its verbs with kubectl api-resources -o wide",
    413: "use fewer objects in one request",
    429: "the API server is overloaded; try again later or lower parallel",
    500: "look at the API server's log; a broken conversion or admission webhook is the usual cause",
    503: "the server behind this API group is down; see kubectl get apiservices",
    504: "the API server timed out; try again later",
}


def error_from(answer: Answer, what: str, which: str = "") -> ApiError:
    """Read the Kubernetes `Status` in a refused answer. Anything else (a proxy's page) is quoted, shortened."""
    reason, message, causes = "", "", ()  # type: tuple[Any, Any, tuple[str, ...]]
    try:
        status = json.loads(answer.body)
        if status.get("kind") == "Status":
            reason, message = status.get("reason") or "", (status.get("message") or "")[:_MOST_TEXT]
            listed = (status.get("details") or {}).get("causes") or ()
            causes = tuple(_cause(cause)[:_MOST_TEXT] for cause in listed[:_MOST_CAUSES])
        else:
            message = _short(answer.body)
    except (ValueError, AttributeError, TypeError, RecursionError):
        message = _short(answer.body)
    return ApiError(
        answer.status,
        what=what,
        which=which,
        reason=reason,
        message=message,
        causes=causes,
        next_step=HINTS.get(answer.status, ""),
    )


def _cause(cause: dict[str, Any]) -> str:
    return ": ".join(text for text in (cause.get("field"), cause.get("message") or cause.get("reason")) if text)


def _short(body: bytes) -> str:
    return " ".join(body[:300].decode("utf-8", "replace").split())
