# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-ins for the world outside: a clock that moves only when somebody waits, connections that answer from a script,
and a small API server in memory. No sleeping, no network.
"""

from __future__ import annotations

import copy
import gzip
import json
import threading
import urllib.parse
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jsonpatch
import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.transport import Transport
from ansible_collections.sunset.kube.plugins.module_utils.kube.wire import Left
from ansible_collections.sunset.kube.plugins.module_utils.labels import parse_selector
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
        self.sleep(seconds)

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
        return urllib.parse.urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.target).query, keep_blank_values=True))

    def json(self) -> Any:
        return json.loads(self.body)


class Stream:
    """An answer that goes on: lines, quiet times (functions, called with `on_quiet`), and exceptions that end it."""

    def __init__(self, *parts: bytes | BaseException | Callable[[Callable[[], None]], Any], status: int = 200) -> None:
        self.status = status
        self.parts = parts
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

    def close(self) -> None:
        self.closed += 1
        self.is_open = False


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


class FakeServer:
    """An API server in memory: discovery, lists in pages, reads, guarded writes, access reviews and watches.

    `refuse` answers chosen requests with something else; `before` lets something happen just before one is served.
    """

    def __init__(self, *resources: Resource) -> None:
        self.resources = resources or SERVED
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.asked: list[Asked] = []
        self.page_size: int | None = None
        self._version = 100
        self._events: list[tuple[int, str, dict[str, Any]]] = []
        self._refusals: list[tuple[str, str, deque[Reply] | Reply]] = []
        self._before: list[tuple[str, Callable[[], Any]]] = []
        self._moved = threading.Condition(threading.RLock())

    def connect(self, endpoint: Endpoint) -> FakeConnection:
        connection = FakeConnection(lambda asked: self._answer(asked, connection), endpoint)
        return connection

    def add(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
        """Put an object there. `finalizers`, `labels` … go to its metadata, `spec`, `status` to the object."""
        whole = {key: more.pop(key) for key in ("spec", "status") if key in more}
        meta = metadata(name, namespace if resource.namespaced else "", **more)
        thing = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": meta, **whole}
        self._store("ADDED", resource, thing)
        return thing

    def get(self, resource: Resource, name: str, namespace: str = "shop") -> dict[str, Any] | None:
        return self.objects.get((resource.plural, namespace if resource.namespaced else "", name))

    def remove(self, resource: Resource, name: str, namespace: str = "shop") -> None:
        with self._moved:
            thing = self.objects.pop((resource.plural, namespace if resource.namespaced else "", name))
            self._publish("DELETED", resource, thing)

    def refuse(self, method: str, path: str, *replies: Reply) -> None:
        """Requests whose path begins like this get these replies; the only or last one for ever."""
        self._refusals.append((method, path, deque(replies)))

    def before(self, method: str, action: Callable[[], Any]) -> None:
        """Once, just before the next request of this method is served."""
        self._before.append((method, action))

    def methods(self) -> list[str]:
        return [asked.method for asked in self.asked]

    def writes(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.method in ("PATCH", "DELETE")]

    # -- serving -------------------------------------------------------------------------------------------------------

    def _answer(self, asked: Asked, connection: FakeConnection) -> Reply:
        with self._moved:
            self.asked.append(asked)
            self._moved.notify_all()
            for entry in [entry for entry in self._before if entry[0] == asked.method][:1]:
                self._before.remove(entry)
                entry[1]()
            for method, path, replies in self._refusals:
                if method == asked.method and asked.path.startswith(path):
                    return replies.popleft() if len(replies) > 1 else replies[0]
            reply = self._serve(asked, connection)
        if isinstance(reply, Answer):
            reply.headers.setdefault("date", SERVER_DATE)
        return reply

    def _serve(self, asked: Asked, connection: FakeConnection) -> Reply:
        if asked.path in ("/api", "/apis"):
            return answer(200, self._discovery(core=asked.path == "/api"))
        if asked.path.endswith("/selfsubjectaccessreviews"):
            return answer(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": True}})
        for resource in self.resources:
            found, namespace, name = _place(resource, asked.path)
            if found:
                return self._serve_kind(asked, connection, resource, namespace, name)
        return refusal(404, "NotFound", "the server could not find the requested resource")

    def _serve_kind(
        self, asked: Asked, connection: FakeConnection, resource: Resource, namespace: str, name: str
    ) -> Reply:
        if not name:
            return self._watch(asked, connection, resource) if "watch" in asked.query else self._list(asked, resource)
        thing = self.objects.get((resource.plural, namespace, name))
        if thing is None:
            return refusal(404, "NotFound", f'{resource.plural} "{name}" not found')
        if asked.method == "PATCH":
            return self._patch(asked, resource, thing)
        if asked.method == "DELETE":
            return self._delete(asked, resource, thing)
        return answer(200, thing)

    def _list(self, asked: Asked, resource: Resource) -> Answer:
        _found, namespace, _name = _place(resource, asked.path)
        matching = [
            thing
            for (plural, where, _n), thing in sorted(self.objects.items())
            if plural == resource.plural and namespace in ("", where) and _selected(thing, asked.query)
        ]
        size = self.page_size or int(asked.query.get("limit", "0")) or len(matching)
        start = int(asked.query.get("continue", "0"))
        more = {"continue": str(start + size)} if start + size < len(matching) else {}
        return answer(
            200,
            {
                "kind": f"{resource.kind}List",
                "metadata": {"resourceVersion": str(self._version), **more},
                "items": matching[start : start + size] or None,  # as the API server does
            },
        )

    def _patch(self, asked: Asked, resource: Resource, thing: dict[str, Any]) -> Answer:
        try:
            changed = jsonpatch.apply_patch(copy.deepcopy(thing), asked.json())
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
            return refusal(422, "Invalid", "the server rejected our request due to an error in our request")
        if asked.query.get("dryRun") == "All":
            return answer(200, changed)
        if changed["metadata"].get("deletionTimestamp") and not changed["metadata"].get("finalizers"):
            self.objects.pop((resource.plural, changed["metadata"].get("namespace", ""), changed["metadata"]["name"]))
            self._publish("DELETED", resource, changed)
        else:
            self._store("MODIFIED", resource, changed)
        return answer(200, changed)

    def _delete(self, asked: Asked, resource: Resource, thing: dict[str, Any]) -> Answer:
        options = asked.json()
        meta = thing["metadata"]
        if options["preconditions"]["uid"] != meta["uid"]:
            return refusal(409, "Conflict", "the UID in the precondition does not match")
        if options.get("dryRun") == ["All"]:
            return answer(200, thing)
        if meta.get("finalizers"):
            meta.setdefault("deletionTimestamp", "2026-01-01T00:00:00Z")
            meta.setdefault("deletionGracePeriodSeconds", 0)
            self._store("MODIFIED", resource, thing)
            return answer(200, thing)
        self.remove(resource, meta["name"], meta.get("namespace", ""))
        return answer(200, {"kind": "Status", "status": "Success", "details": {"uid": meta["uid"]}})

    def _watch(self, asked: Asked, connection: FakeConnection, resource: Resource) -> Stream:
        since = int(asked.query["resourceVersion"])
        _found, namespace, _name = _place(resource, asked.path)

        def lines() -> Iterator[bytes]:
            seen = since
            while True:
                with self._moved:
                    fresh = [event for event in self._events if event[0] > seen]
                    if not fresh:
                        # Short turns, because a cut does not notify; nothing is decided on this time.
                        self._moved.wait(0.01)
                if connection.cut_by_somebody.is_set():
                    return
                for version, kind, thing in fresh:
                    seen = version
                    ours = thing["kind"] == resource.kind
                    if ours and namespace in ("", thing["metadata"].get("namespace", "")):
                        yield json.dumps({"type": kind, "object": thing}).encode()

        class Live(Stream):
            def __iter__(self) -> Iterator[bytes]:
                return lines()

        return Live()

    def _store(self, event: str, resource: Resource, thing: dict[str, Any]) -> None:
        with self._moved:
            meta = thing["metadata"]
            self.objects[(resource.plural, meta.get("namespace", ""), meta["name"])] = thing
            self._publish(event, resource, thing)

    def _publish(self, event: str, resource: Resource, thing: dict[str, Any]) -> None:
        with self._moved:
            self._version += 1
            thing["metadata"]["resourceVersion"] = str(self._version)
            self._events.append((self._version, event, copy.deepcopy(thing)))
            self._moved.notify_all()

    def _discovery(self, *, core: bool) -> dict[str, Any]:
        groups: dict[str, dict[str, list[Resource]]] = {}
        for resource in self.resources:
            if (resource.group == "") is core:
                groups.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
        return {
            "kind": "APIGroupDiscoveryList",
            "items": [
                {
                    "metadata": {"name": group},
                    "versions": [
                        {"version": version, "freshness": "Current", "resources": [_discovered(r) for r in resources]}
                        for version, resources in versions.items()
                    ],
                }
                for group, versions in groups.items()
            ],
        }


def _discovered(resource: Resource) -> dict[str, Any]:
    return {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "shortNames": list(resource.short_names),
        "verbs": sorted(resource.verbs),
    }


def _place(resource: Resource, path: str) -> tuple[bool, str, str]:
    """Does this path lead to the kind, and to which namespace and name?"""
    root = resource.path().removesuffix(f"/{resource.plural}")
    parts = [urllib.parse.unquote(part) for part in path.removeprefix(root).strip("/").split("/")]
    if not path.startswith(root + "/"):
        return False, "", ""
    namespace = ""
    if resource.namespaced and len(parts) >= 3 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    if parts[0] != resource.plural or len(parts) > 2:
        return False, "", ""
    return True, namespace, parts[1] if len(parts) == 2 else ""


def _selected(thing: dict[str, Any], query: Mapping[str, str]) -> bool:
    fits = parse_selector(query.get("labelSelector", ""))
    return fits(thing["metadata"].get("labels") or {})
