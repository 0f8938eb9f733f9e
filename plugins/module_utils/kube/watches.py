# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One kind in one scope, followed: a watch from the list's resourceVersion on, and lists where it cannot be trusted.

Room: kube. Rules: a cut or expired watch (410) → list again and let the listener compare uids; a list every 30 s even
while the watch looks healthy, because a proxy may swallow events; no permission to watch → lists with growing pauses.
Never a GET an object. The listener gets facts in the order they were seen and keeps its own books.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..objects import Record, record_of
from ..problems import CannotLook, Problem
from .answers import ApiError, shallow
from .discovery import discover
from .http_reader import QuietStream
from .lists import Listing, Scope, list_metadata
from .naming import is_installed
from .transport import OpenStream, Request, Transport

METADATA_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
RELIST_EVERY = 30.0
_WATCH_SECONDS = 290
_QUIET = 1.0
_POLLS = (0.5, 1.0, 2.0, 5.0)
# Answers that will not change by asking again: this user, or this kind, has no watch.
_NO_WATCH = frozenset({403, 405})


class Listener(Protocol):
    """Called from the watching thread."""

    def changed(self, scope: Scope, record: Record) -> None: ...

    def vanished(self, scope: Scope, record: Record) -> None: ...

    def listed(self, listing: Listing) -> None:
        """Everything there is now: whatever the listener knows besides is gone."""

    def blinded(self, scope: Scope, problem: Problem) -> None:
        """For now nothing can be seen; `listed` follows when that is over."""


@dataclass(frozen=True)
class _Event:
    type: str
    metadata: dict[str, Any]
    status: dict[str, Any]


class _Expired(Exception):
    """The watch cannot go on from where it was (410)."""


class _RefusedStream(OSError):
    """The server answered, but with no stream: no outage."""


class Following:
    """Follows one scope in a thread of its own until stopped."""

    def __init__(self, transport: Transport, listing: Listing, listener: Listener) -> None:
        self._transport = transport
        self._scope = listing.scope
        self._version = listing.resource_version
        self._listener = listener
        self._clock = transport.clock
        self._ended = threading.Event()
        self._stream: OpenStream | None = None
        self._listed_at = self._clock.now()
        self._can_watch = "watch" in listing.scope.resource.verbs
        self._thread = threading.Thread(target=self._run, name=f"follow {self._scope}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        stream = self._stream
        if stream is not None:
            stream.connection.cut()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        failures = 0
        while not self._ended.is_set():
            try:
                if not self._can_watch:
                    self._pause(failures)
                    failures += 1
                    self._relist()
                elif self._watch_once() or not self._can_watch:
                    failures = 0
                else:
                    # A server that ends every watch at once would be asked without end, and never be listed.
                    failures += 1
                    self._rest(failures - 1)
                    self._relist_if_due()
            except _Expired:
                self._relist_when_possible()
            except (OSError, ValueError) as trouble:  # cut, reset, refused, half a line, not JSON
                if self._ended.is_set():
                    return
                if not isinstance(trouble, (_RefusedStream, QuietStream)):
                    self._transport.note_outage()
                failures += 1
                self._rest(failures)
                self._relist_when_possible()
            except Problem as problem:
                self._listener.blinded(self._scope, problem)
                self._pause(failures)
                failures += 1
            except Exception as surprise:  # a follower that dies in silence would look like one that sees nothing
                self._listener.blinded(self._scope, Problem("watching", which=str(self._scope), why=repr(surprise)))
                self._pause(failures)
                failures += 1

    def _rest(self, failures: int) -> None:
        if failures:
            self._ended.wait(min(2.0, 0.05 * 2 ** min(failures - 1, 10)))

    def _pause(self, failures: int) -> None:
        self._ended.wait(_POLLS[min(failures, len(_POLLS) - 1)])

    def _watch_once(self) -> bool:
        """One watch from open to its normal end, the server's time-out. Whether it lasted."""
        began = self._clock.now()
        stream = self._transport.open_stream(self._request(), _QUIET, self._on_quiet)
        self._stream = stream
        try:
            if self._ended.is_set():
                return True
            if stream.status in _NO_WATCH:
                self._can_watch = False
                return False
            if stream.status == 410:
                raise _Expired
            if stream.status != 200:
                raise _RefusedStream(f"the watch was refused with HTTP {stream.status}")
            for event in _events(stream.lines):
                self._deliver(event)
                self._relist_if_due()
            return self._clock.now() - began >= 1.0
        finally:
            self._stream = None
            stream.connection.close()

    def _request(self) -> Request:
        target = self._scope.target(
            watch="1",
            resourceVersion=self._version,
            allowWatchBookmarks="true",
            timeoutSeconds=str(_WATCH_SECONDS),
        )
        return Request("GET", target, "watch", accept=METADATA_WATCH)

    def _deliver(self, event: _Event) -> None:
        if event.type == "ERROR":
            if event.status.get("code") == 410:
                raise _Expired
            raise OSError(f"the watch failed: {event.status.get('message')}")
        record = record_of(event.metadata)
        if record.resource_version:
            self._version = record.resource_version
        if event.type == "DELETED":
            self._listener.vanished(self._scope, record)
        elif event.type in ("ADDED", "MODIFIED"):
            self._listener.changed(self._scope, record)

    def _on_quiet(self) -> None:
        if self._ended.is_set():
            raise OSError("stopped")
        self._relist_if_due()

    def _relist_if_due(self) -> None:
        if self._clock.now() - self._listed_at >= RELIST_EVERY:
            # The watch goes on from its own version; this list only tells what it may have missed.
            version = self._version
            self._relist()
            self._version = version

    def _relist_when_possible(self) -> None:
        try:
            self._relist()
        except Problem as problem:
            self._listener.blinded(self._scope, problem)

    def _relist(self) -> None:
        try:
            listing = list_metadata(self._transport, self._scope)
        except ApiError as problem:
            if problem.status != 404 or not self._kind_is_gone():
                raise
            listing = Listing(self._scope)
        self._listed_at = self._clock.now()
        self._version = listing.resource_version
        self._listener.listed(listing)

    def _kind_is_gone(self) -> bool:
        """A 404 for a whole kind is "nothing there" only when the kind itself is no longer installed."""
        catalogue = discover(self._transport)
        try:
            if is_installed(catalogue, self._scope.resource):
                return False
        except CannotLook:
            return False
        self._can_watch = False
        return True


def _events(lines: Iterator[bytes]) -> Iterator[_Event]:
    for line in lines:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except RecursionError:  # only metadata is read from events
            event = json.loads(shallow(line))
        thing = event.get("object") if isinstance(event, dict) else None
        if not isinstance(thing, dict):
            raise ValueError("not a watch event")
        yield _Event(event.get("type") or "", thing.get("metadata") or {}, thing)
