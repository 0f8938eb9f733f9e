# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-ins for the world outside: a clock that moves only when somebody waits, connections that answer from a script.

No sleeping, no network. The API server in memory is in `fake_api_server`.
"""

from __future__ import annotations

import functools
import gzip
import json
import threading
import urllib.parse
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import Transport
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import Left
from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource, record_of

ENDPOINT = Endpoint("api.example.com", 6443)
VERBS = frozenset({"get", "list", "watch", "create", "update", "patch", "delete"})

DOMAINS = Resource("ingress.example.com", "v1", "Domain", "domains", True, "domain", ("dom",), VERBS)
PODS = Resource("", "v1", "Pod", "pods", True, "pod", ("po",), VERBS)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", False, "namespace", ("ns",), VERBS)
NODES = Resource("", "v1", "Node", "nodes", False, "node", ("no",), VERBS)
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", True, "deployment", ("deploy",), VERBS)
STATEFULSETS = Resource("apps", "v1", "StatefulSet", "statefulsets", True, "statefulset", ("sts",), VERBS)
DAEMONSETS = Resource("apps", "v1", "DaemonSet", "daemonsets", True, "daemonset", ("ds",), VERBS)
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases", True, "lease", (), VERBS)
SERVED = (PODS, NAMESPACES, NODES, DEPLOYMENTS, STATEFULSETS, DAEMONSETS, LEASES, DOMAINS)

Key = tuple[str, str, str, str]  # of an object: group, plural, namespace, name

# The server's clock: Thu, 01 Jan 2026 00:00:00 GMT.
SERVER_NOW = 1767225600.0
SERVER_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


def named(table: Mapping[str, Any]) -> list[Any]:
    """Rows of a table as pytest parameters; the row's name is the case's name."""
    rows = {name: row if isinstance(row, tuple) else (row,) for name, row in table.items()}
    return [pytest.param(*row, id=name) for name, row in rows.items()]


class FakeClock:
    """Time that moves only when somebody sleeps or waits. What was agreed `at` a time happens when it comes."""

    def __init__(self, now: float = 1000.0) -> None:
        self._now = now
        self._agenda: list[tuple[float, Callable[[], Any]]] = []
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        assert len(self.slept) < 10_000, "somebody sleeps without end"
        self.slept.append(seconds)
        self.advance(seconds)

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        condition.release()  # what happens meanwhile is told by other threads
        try:
            self.sleep(seconds)
        finally:
            condition.acquire()

    def at(self, when: float, action: Callable[[], Any]) -> None:
        self._agenda.append((when, action))

    def advance(self, seconds: float) -> None:
        until = self._now + seconds
        while due := sorted((entry for entry in self._agenda if entry[0] <= until), key=lambda entry: entry[0]):
            self._agenda.remove(due[0])
            self._now = max(self._now, due[0][0])
            due[0][1]()
        self._now = until


class StandingClock(FakeClock):
    """Time stands still; whoever waits on a condition really waits until another thread notifies him."""

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        assert condition.wait(10.0), "nobody came"


@dataclass(frozen=True)
class Asked:
    """One request as it would go over the wire."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @functools.cached_property
    def query(self) -> dict[str, str]:
        return dict(urllib.parse.parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Call:
    """A request for one kind, taken apart."""

    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    asked: Asked

    @property
    def key(self) -> Key:
        return self.resource.group, self.resource.plural, self.namespace, self.name

    def covers(self, key: Key) -> bool:
        """Is this one of the objects that are listed or watched?"""
        resource = self.resource
        return key[1] == resource.plural and key[0] == resource.group and self.namespace in ("", key[2])

    @property
    def which(self) -> str:
        return f"{self.resource.kind} {self.namespace}/{self.name}".replace(" /", " ")

    @property
    def dry_run(self) -> bool:
        return "All" in (self.asked.query.get("dryRun"), *self._options.get("dryRun", ()))

    @property
    def metadata_only(self) -> bool:
        return "PartialObjectMetadata" in self.asked.headers.get("Accept", "")

    @property
    def _options(self) -> dict[str, Any]:
        found: dict[str, Any] = self.asked.json() if self.verb == "delete" else {}
        return found

    def line(self) -> str:
        """What this write is about to do, in one line."""
        if self.verb not in ("create", "delete", "patch", "update"):
            return ""
        action, how = getattr(self, f"_{self.verb}")()
        how = [*how, "dry run"] if self.dry_run else how
        return f"{action} {self.which}" + (f" ({', '.join(how)})" if how else "")

    def _create(self) -> tuple[str, list[str]]:
        return "create", []

    def _update(self) -> tuple[str, list[str]]:
        return self.subresource or "update", []

    def _delete(self) -> tuple[str, list[str]]:
        grace, propagation = self._options.get("gracePeriodSeconds"), self._options["propagationPolicy"]
        how = [] if grace is None else [f"grace {grace}"]
        return "delete", how + ([] if propagation == "Background" else [propagation])

    def _patch(self) -> tuple[str, list[str]]:
        body = self.asked.json()
        tests = [one for one in body if one["op"] == "test"] if isinstance(body, list) else []
        for action, field in (("strip", "/metadata/finalizers/"), ("detach", "/metadata/ownerReferences/")):
            if values := [one["value"] for one in tests if one["path"].startswith(field)]:
                return action, values[::-1] if action == "strip" else sorted(values)
        return "patch", []


class Stream:
    """An answer that goes on: lines, quiet times (functions, called with `on_quiet`), and exceptions that end it."""

    def __init__(self, *parts: bytes | BaseException | Callable[[Callable[[], None]], Any], status: int = 200) -> None:
        self.status = status
        self.parts: Iterable[bytes | BaseException | Callable[[Callable[[], None]], Any]] = parts
        self.on_quiet: Callable[[], None] = lambda: None

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            if isinstance(part, BaseException):
                raise part
            if isinstance(part, bytes):
                yield part
            else:
                part(self.on_quiet)


Reply = Answer | Stream | BaseException
Handler = Callable[[Asked], Reply]


class FakeConnection:
    """A connection as `Transport` wants it. Whatever its handler returns is the answer; exceptions are raised."""

    def __init__(self, handler: Handler, endpoint: Endpoint = ENDPOINT) -> None:
        self._handler = handler
        self.endpoint = endpoint
        self.is_open = False
        self.closed = 0
        self.cut_by_somebody = threading.Event()
        self.on_end: Callable[[], None] = lambda: None

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, left: Left
    ) -> tuple[int, dict[str, str], bytes]:
        answer = self._ask(Asked(method, target, dict(headers), body))
        assert isinstance(answer, Answer)
        return answer.status, dict(answer.headers), answer.body

    def open_stream(
        self, target: str, headers: Mapping[str, str], left: Left, quiet: float, on_quiet: Callable[[], None]
    ) -> tuple[int, Iterator[bytes]]:
        answer = self._ask(Asked("GET", target, dict(headers)))
        if isinstance(answer, Answer):
            return answer.status, iter([answer.body])
        answer.on_quiet = on_quiet
        return answer.status, iter(answer)

    def _ask(self, asked: Asked) -> Answer | Stream:
        self.is_open = True
        answer = self._handler(asked)
        if isinstance(answer, BaseException):
            self.is_open = False
            raise answer
        return answer

    def cut(self) -> None:
        self.cut_by_somebody.set()
        self.on_end()

    def close(self) -> None:
        self.closed += 1
        self.is_open = False
        self.on_end()


class Script:
    """Answers in the given order, whoever asks, and remembers what it was asked. A function answers for itself."""

    def __init__(self, *replies: Reply | Handler) -> None:
        self._replies = deque(replies)
        self.asked: list[Asked] = []
        self.connections: list[FakeConnection] = []

    def connect(self, endpoint: Endpoint) -> FakeConnection:
        self.connections.append(FakeConnection(self.answer, endpoint))
        return self.connections[-1]

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        assert self._replies, f"nobody expected {asked.method} {asked.target}"
        reply = self._replies.popleft()
        return reply(asked) if callable(reply) else reply

    @property
    def unused(self) -> int:
        return len(self._replies)

    def summary(self) -> list[str]:
        return [f"{asked.method} {asked.target}" for asked in self.asked]


def transport_to(server: Any, clock: FakeClock | None = None, stop: StopSign | None = None, **more: Any) -> Transport:
    settings = {"load": lambda: ENDPOINT, "parallel": 4, "connect": server.connect, **more}
    return Transport(clock=clock or FakeClock(), stop=stop or StopSign(), **settings)


def cluster_on(server: Any, clock: FakeClock | None = None, stop: StopSign | None = None, parallel: int = 4) -> Cluster:
    clock, stop = clock or FakeClock(), stop or StopSign()
    cluster = Cluster(lambda: ENDPOINT, clock, stop, parallel)
    cluster._transport = transport_to(server, clock, stop, parallel=parallel)
    return cluster


def answer(status: int, body: Any = None, **headers: str) -> Answer:
    """An answer with a JSON body, or with these bytes; header names with underscores."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def zipped(status: int, body: Any) -> Answer:
    return Answer(status, {"content-encoding": "gzip"}, gzip.compress(json.dumps(body).encode()))


def refusal(status: int, reason: str = "", message: str = "", causes: list[dict[str, str]] | None = None) -> Answer:
    details = {"details": {"causes": causes}} if causes else {}
    return answer(status, {"kind": "Status", "status": "Failure", "reason": reason, "message": message, **details})


def page(*metadata: dict[str, Any], version: str = "100", token: str = "") -> Answer:
    """One page of a metadata-only list."""
    return answer(
        200,
        {
            "kind": "PartialObjectMetadataList",
            "metadata": {"resourceVersion": version, **({"continue": token} if token else {})},
            "items": [{"metadata": entry} for entry in metadata],
        },
    )


def metadata(name: str = "web", namespace: str = "shop", **more: Any) -> dict[str, Any]:
    """An object's metadata. Keys as the API server writes them; `deleted` is short for a deletion at SERVER_NOW."""
    if more.pop("deleted", False):
        more = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, **more}
    where = {"namespace": namespace} if namespace else {}
    return {"name": name, **where, "uid": f"uid-{name}", "resourceVersion": "1", **more}


def record(name: str = "web", namespace: str = "shop", **more: Any) -> Record:
    return record_of(metadata(name, namespace, **more))


class Told(list[Any]):
    """Remembers every event it is told."""

    def __call__(self, event: Any) -> None:
        self.append(event)
