# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists of many kinds at once, where some may be closed to us: what could be seen, and what could not.

Room: teardown. One list a kind and scope, never a GET an object. A failure is a line in `unreadable`, not an end.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ...events import Looked, Tell
from ...objects import Record, Resource
from ...problems import Interrupted, NotLoggedIn, Problem, Unreachable

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

Seen = tuple[Resource, Record]
# With more of them than this, one list of the whole cluster takes less than a list for each.
FEW_NAMESPACES = 10
# With these nothing else can be seen either.
_FATAL = (Interrupted, NotLoggedIn, Unreachable)
# Thousands of them, gone after an hour, and nobody waits for one.
_NEVER = frozenset({("", "events"), ("events.k8s.io", "events")})


class Census:
    """Everything that was listed for one explanation."""

    def __init__(self, cluster: Cluster, tell: Tell) -> None:
        self._cluster = cluster
        self._tell = tell
        self._lock = threading.Lock()
        self._done: set[tuple[str, str, str | None]] = set()
        self._seen: dict[str, Seen] = {}
        self.counts: Counter[tuple[Resource, str]] = Counter()  # of every kind and namespace, kept or not
        self.closed: set[tuple[Resource, str]] = set()  # kinds that could not be listed, and where
        self.unreadable: list[str] = []

    def everything(self) -> Iterator[Seen]:
        yield from self._seen.values()

    def listable(self, *, namespaced: bool) -> list[Resource]:
        """Kinds that can be listed and deleted. Groups that do not answer are said."""
        for version in self._cluster.catalogue.blind_spots():
            self.could_not(f"{version.name}: {version.blind}")
        return [
            kind
            for kind in self._cluster.catalogue.resources()
            if {"list", "delete"} <= kind.verbs
            and (kind.group, kind.plural) not in _NEVER
            and (kind.namespaced or not namespaced)
        ]

    def look(self, kinds: Iterable[Resource], namespace: str | None, keep: Callable[[Record], bool]) -> None:
        """List these kinds, in one namespace or everywhere, and remember what is worth it."""
        missing = [kind for kind in kinds if not self._was_listed(kind, namespace)]
        self._cluster.for_each(missing, lambda kind: self._list(kind, namespace, keep))

    def attempt(self, what: str, look: Callable[[], None], kind: Resource | None = None, place: str = "") -> None:
        """Do it, and where it cannot be done, remember that."""
        try:
            look()
        except _FATAL:
            raise
        except Problem as problem:
            self.could_not(f"{what}: {problem.why}")
            if kind is not None:
                self.closed.add((kind, place))

    def could_not(self, line: str) -> None:
        with self._lock:
            if line not in self.unreadable:
                self.unreadable.append(line)

    def _was_listed(self, kind: Resource, namespace: str | None) -> bool:
        done = {(kind.group, kind.plural, namespace), (kind.group, kind.plural, None)}
        return bool(done & self._done)

    def _list(self, kind: Resource, namespace: str | None, keep: Callable[[Record], bool]) -> None:
        place = f" in {namespace}" if namespace else ""
        self.attempt(f"{kind.qualified}{place}", lambda: self._take(kind, namespace, keep), kind, namespace or "")

    def _take(self, kind: Resource, namespace: str | None, keep: Callable[[Record], bool]) -> None:
        records = self._cluster.list(kind, namespace if kind.namespaced else None).records
        with self._lock:
            self._done.add((kind.group, kind.plural, namespace))
            for record in records:
                if record.uid in self._seen:
                    continue  # the same object, served by another group as well
                self.counts[kind, record.namespace] += 1
                if keep(record):
                    self._seen[record.uid] = (kind, record)
        self._tell(Looked(kind.kind, len(records), f"namespace {namespace}" if namespace else "the cluster"))

    def add(self, kind: Resource, records: Iterable[Record]) -> None:
        """Remember objects that somebody else has listed."""
        self._seen.update((record.uid, (kind, record)) for record in records)
