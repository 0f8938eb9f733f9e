# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server's audit log: proof of what was asked, by whom, in which order, and whether it was to change things.

The log is written by the server, so nothing the product says or does can make it look better than it was.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lab.waiting import until

READS = ["get", "list", "watch"]
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        # What the cluster's own components read all day. What they write stays: the collector's deletes are evidence.
        {
            "level": "None",
            "users": ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"],
            "verbs": READS,
        },
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system", "system:nodes"], "verbs": READS},
        {"level": "None", "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
        # The body of a delete says whether it was a dry run and which uid it was meant for.
        {"level": "Request", "verbs": ["delete", "deletecollection"]},
        {"level": "Request", "resources": [{"group": "", "resources": ["pods/eviction"]}]},
        {"level": "Metadata"},
    ],
}

# Created to ask a question; the server stores nothing.
QUESTIONS = frozenset(
    {
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "selfsubjectreviews",
        "subjectaccessreviews",
        "localsubjectaccessreviews",
        "tokenreviews",
    }
)


@dataclass(frozen=True)
class AuditEvent:
    """One request as the API server saw it. Times are the server's, RFC 3339 with microseconds: they sort."""

    verb: str
    user: str
    impersonated: str | None
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    uri: str
    dry_run: bool
    user_agent: str
    stage: str
    time: str  # when the request arrived
    completed: str  # when this stage was reached: for a plain request, when it was answered
    request: dict[str, Any] | None  # DeleteOptions or Eviction, for the requests that have one
    audit_id: str

    @property
    def mutating(self) -> bool:
        """Was it meant to change something? True for refused requests too: what counts is what was sent."""
        return self.verb in WRITES and not self.dry_run and self.resource not in QUESTIONS


@dataclass(frozen=True)
class Mark:
    """A place in the log, and the moment it was taken."""

    position: int
    time: str


class AuditLog:
    """Reads the audit log of a running API server."""

    def __init__(self, file: Path, send: Callable[[str], None]) -> None:
        """`send` makes a GET request for the given path; the log uses it to see how far the server has written."""
        self.file = file
        self._send = send

    def mark(self) -> Mark:
        """Now. Whatever is asked after this call counts as `since` this mark."""
        return self._caught_up(_end_of_whole_lines(self.file))[0]

    def since(self, mark: Mark, user: str | None = None) -> list[AuditEvent]:
        """The requests that arrived after the mark, in order of arrival, each once and in its latest stage.

        Requests that are still being answered (other than watches) are not in it: the server logs them at the end.
        """
        latest = {event.audit_id: event for event in self._caught_up(mark.position)[1]}
        wanted = [e for e in latest.values() if e.time > mark.time and user in (None, e.user, e.impersonated)]
        return sorted(wanted, key=lambda event: event.time)

    def _caught_up(self, position: int) -> tuple[Mark, list[AuditEvent]]:
        """Everything from `position` up to a request of our own that is sent now, without that request."""
        needle = f"/healthz?mark={secrets.token_hex(8)}"
        self._send(needle)
        collected: list[AuditEvent] = []
        place = position

        def found() -> Mark | None:
            nonlocal place
            for end, event in _events(self.file, place):
                place = end
                if event.uri == needle:
                    return Mark(end, event.time)
                if not event.uri.startswith("/healthz?mark="):
                    collected.append(event)
            return None

        return until(found, f"the audit log {self.file} to catch up", every=0.02), collected


class AuditTrail:
    """The part of the log that belongs to one test: everything since the trail was begun."""

    def __init__(self, log: AuditLog) -> None:
        self.log = log
        self.start = log.mark()

    def begin_anew(self) -> None:
        """Forget what was so far, for instance the preparations of the test."""
        self.start = self.log.mark()

    def events(self, user: str | None = None) -> list[AuditEvent]:
        return self.log.since(self.start, user)

    def writes(self, user: str | None = None) -> list[AuditEvent]:
        """The requests that were meant to change something."""
        return [event for event in self.events(user) if event.mutating]


def _end_of_whole_lines(file: Path) -> int:
    """The server may be in the middle of a line: it counts from its beginning."""
    if not file.exists():
        return 0
    with file.open("rb") as log:
        size = log.seek(0, os.SEEK_END)
        for reach in (_LONG_LINE, size):  # the whole file only where one line is as long as that
            start = max(0, size - reach)
            log.seek(start)
            newline = log.read(size - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
    return 0


_LONG_LINE = 1 << 16


def _events(file: Path, position: int) -> Iterator[tuple[int, AuditEvent]]:
    """The events from a position on, each with the position after it. A line still being written is left for later."""
    if not file.exists():
        return
    with file.open("rb") as log:
        log.seek(position)
        for line in log:
            if not line.endswith(b"\n"):
                return
            position += len(line)
            yield position, _event(json.loads(line))


def _event(raw: dict[str, Any]) -> AuditEvent:
    target = raw.get("objectRef", {})
    return AuditEvent(
        verb=raw["verb"],
        user=raw.get("user", {}).get("username", ""),
        impersonated=raw.get("impersonatedUser", {}).get("username"),
        group=target.get("apiGroup", ""),
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        code=raw.get("responseStatus", {}).get("code", 0),
        uri=raw["requestURI"],
        dry_run=_is_dry_run(raw),
        user_agent=raw.get("userAgent", ""),
        stage=raw["stage"],
        time=raw["requestReceivedTimestamp"],
        completed=raw["stageTimestamp"],
        request=raw.get("requestObject"),
        audit_id=raw["auditID"],
    )


def _is_dry_run(raw: dict[str, Any]) -> bool:
    body = raw.get("requestObject")
    if raw["verb"] in ("delete", "deletecollection") and body:
        # A delete with a body ignores its query: `?dryRun=All` beside a body deletes for real.
        return bool(body.get("dryRun"))
    in_eviction = bool(body and (body.get("deleteOptions") or {}).get("dryRun"))
    return in_eviction or "dryRun" in parse_qs(urlsplit(raw["requestURI"]).query)
