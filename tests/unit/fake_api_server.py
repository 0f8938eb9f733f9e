# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server in memory, below the real client: the one stand-in for a cluster."""

from __future__ import annotations

import copy
import email.utils
import json
import queue
import threading
import urllib.parse
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonpatch

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer, ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Scope
from ansible_collections.sunset.kube.plugins.module_utils.labels import parse_selector
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource, moment
from ansible_collections.sunset.kube.tests.unit.fake_discovery import discovery
from ansible_collections.sunset.kube.tests.unit.fakes import (
    SERVED,
    SERVER_NOW,
    Asked,
    Call,
    FakeClock,
    FakeConnection,
    Key,
    Reply,
    Stream,
    answer,
    metadata,
    refusal,
)

_OF_THE_OBJECT = ("spec", "status", "data", "webhooks", "type", "rules", "roleRef", "subjects")
_VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete", "PUT": "update"}


class _Watch:
    """One open watch: lines that wait to be read, and how many of them were not yet dealt with."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.thread = threading.get_ident()
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.pending = 0

    def offer(self, key: Key, line: bytes) -> None:
        if self._call.covers(key):
            self.pending += 1
            self.lines.put(line)


class FakeServer:
    """Discovery, lists in pages, reads, guarded writes, access reviews and watches.

    A test puts objects there, plays their controllers and lets requests fail. `log` has one line for each write and for
    each object that went. Whoever watches is told of a change before it is answered: nothing depends on real time.
    """

    def __init__(self, *resources: Resource, clock: FakeClock | None = None) -> None:
        self.served = list(resources or SERVED)
        self.clock = clock or FakeClock()
        self._began = self.clock.now()
        self.objects: dict[Key, dict[str, Any]] = {}
        self.asked: list[Asked] = []
        self.log: list[str] = []
        self.lists: list[str] = []
        self.bodies: list[dict[str, Any]] = []  # of merge patches
        self.asked_rights: list[tuple[str, str, str]] = []  # verb, plural, namespace
        self.forbidden: set[tuple[str, str]] = set()  # verb, plural: what access reviews deny
        self.rights_by_namespace = False  # nobody has any for all namespaces, and that question does not count
        self.refusals: dict[str, ApiError] = {}  # "Kind ns/name" → the answer to every write
        self.unseen: dict[str, Exception] = {}  # plural → the answer to every list and read
        self.unlisted: dict[str, Exception] = {}  # plural → the answer to every list; single ones can be read
        self.not_cluster_wide: set[str] = set()  # plurals that may be listed in a namespace only
        self.stale: list[str] = []  # "group/version" whose own server does not answer
        self.hidden: list[str] = []  # "group/version" that this user may not see
        self.system_uid = ""  # of the Namespace kube-system, which is not listed
        self.page_size: int | None = None
        self.meddlers: list[Callable[[Call], Reply | None]] = []  # asked first; a reply is the answer
        self.controllers: list[Callable[[Call], Any]] = []  # told when a call has been served
        self._grace: dict[Key, int] = {}
        self._version = 100
        self._events: list[tuple[int, Key, bytes]] = []
        self._watches: list[_Watch] = []
        self.watched = 0  # how many watches were asked for
        self._refusals: list[tuple[str, str, deque[Reply]]] = []
        self._before: list[tuple[str, Callable[[], Any]]] = []
        self._failed: Asked | None = None
        self._moved = threading.Condition(threading.RLock())

    def connect(self, endpoint: Endpoint) -> FakeConnection:
        connection = FakeConnection(lambda asked: self._answer(asked, connection), endpoint)
        return connection

    # -- what tests do -------------------------------------------------------------------------------------------------

    def add(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> dict[str, Any]:
        """Put an object there. `spec`, `data` … are its own, `grace` its grace period, all else metadata."""
        whole = {key: more.pop(key) for key in _OF_THE_OBJECT if key in more}
        key = _key(resource, name, namespace)
        self._grace[key] = more.pop("grace", 0)
        thing = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata(name, key[2], **more)}
        thing.update(whole)
        self._store("ADDED", key, thing)
        return thing

    def get(self, resource: Resource, name: str, namespace: str = "shop") -> dict[str, Any] | None:
        return self.objects.get(_key(resource, name, namespace))

    def change(self, resource: Resource, name: str, namespace: str = "shop", **more: Any) -> None:
        """Somebody else changes an object's metadata."""
        key = _key(resource, name, namespace)
        self.objects[key]["metadata"].update(more)
        self._store("MODIFIED", key, self.objects[key])

    def release(self, resource: Resource, name: str, namespace: str = "shop") -> None:
        """Its controller takes the finalizers off; if it is being deleted, it goes."""
        self.change(resource, name, namespace, finalizers=[])
        if self.objects[_key(resource, name, namespace)]["metadata"].get("deletionTimestamp"):
            self.remove(resource, name, namespace)

    def remove(self, resource: Resource, name: str, namespace: str = "shop") -> None:
        self._remove(_key(resource, name, namespace))

    def left(self) -> list[str]:
        return sorted(_ref(thing) for thing in self.objects.values())

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

    def now(self) -> float:
        return SERVER_NOW + self.clock.now() - self._began

    def wait_for_watches(self, number: int) -> None:
        """Until so many were asked for, and have seen what there was to see."""
        with self._moved:
            assert self._moved.wait_for(lambda: self.watched >= number, 60.0), "nobody watches"
            self._until_seen()

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
            self._failed = asked if isinstance(reply, Exception) or getattr(reply, "status", 200) >= 429 else None
        if isinstance(reply, Answer):
            reply.headers.setdefault("date", email.utils.formatdate(self.now(), usegmt=True))
        return reply

    def _serve(self, asked: Asked, connection: FakeConnection) -> Reply:
        if asked.path.endswith("/selfsubjectaccessreviews"):
            return self._review(asked.json()["spec"]["resourceAttributes"])
        root, *place = [urllib.parse.unquote(part, errors="surrogatepass") for part in asked.path.strip("/").split("/")]
        group, version, *rest = [*([""] if root == "api" else []), *place, "", ""]
        if not any(rest):
            return discovery(self.served, self.stale, self.hidden, root, group, version)
        call = self._call(asked, group, version, [part for part in rest if part])
        if call is None:
            return refusal(404, "NotFound", "the server could not find the requested resource")
        for meddler in self.meddlers:
            if reply := meddler(call):
                return reply
        reply = self._watch(call, connection) if call.verb == "watch" else self._served(call)
        for controller in self.controllers:
            controller(call)
        return reply

    def _call(self, asked: Asked, group: str, version: str, rest: list[str]) -> Call | None:
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("finalize", "status"):
            namespace, rest = rest[1], rest[2:]
        plural, name, subresource = [*rest, "", ""][:3]
        for resource in self.served:
            if resource.plural == plural and (resource.group, resource.version) == (group, version):
                verb = _VERBS[asked.method]
                if verb == "get" and not name:
                    verb = "watch" if "watch" in asked.query else "list"
                name = asked.json()["metadata"]["name"] if verb == "create" else name
                return Call(verb, resource, namespace, name, subresource, asked)
        return None

    def _served(self, call: Call) -> Reply:
        if call.verb == "list":
            return self._list(call)
        if call.verb != "get" and call.asked != self._failed:  # one that is tried again is still the same write
            self.log.append(call.line())
        problem = self.unseen.get(call.resource.plural) if call.verb == "get" else self.refusals.get(call.which)
        if problem is not None:
            return _refused(problem)
        if call.verb == "create":
            return self._create(call)
        thing = self.objects.get(call.key)
        if thing is None and call.verb == "get" and call.which == "Namespace kube-system" and self.system_uid:
            return answer(200, {"metadata": {"name": "kube-system", "uid": self.system_uid}})
        if thing is None:
            return refusal(404, "NotFound", f'{call.resource.plural} "{call.name}" not found')
        if call.verb == "get":
            return answer(200, _shown(thing, call))
        reply: Reply = getattr(self, f"_{call.verb}")(call, thing)
        return reply

    def _list(self, call: Call) -> Reply:
        query = call.asked.query
        selector = query.get("labelSelector", "")
        if call.asked != self._failed and "continue" not in query:
            self.lists.append(f"{Scope(call.resource, call.namespace)} {selector}".strip())
        problem = self.unseen.get(call.resource.plural) or self.unlisted.get(call.resource.plural)
        if problem is not None:
            return _refused(problem)
        if call.resource.plural in self.not_cluster_wide and not call.namespace:
            return refusal(403, "Forbidden", f"cannot list {call.resource.plural} at the cluster scope")
        fits = parse_selector(selector)
        matching = sorted(
            key
            for key, thing in self.objects.items()
            if call.covers(key) and fits(thing["metadata"].get("labels") or {})
        )
        size = self.page_size or int(query.get("limit", "0")) or len(matching)
        start = int(query.get("continue", "0"))
        items = [_shown(self.objects[key], call) for key in matching[start : start + size]]
        more = {"continue": str(start + size)} if start + size < len(matching) else {}
        return answer(
            200,
            {
                "kind": f"{call.resource.kind}List",
                "metadata": {"resourceVersion": str(self._version), **more},
                "items": items or None,  # as the API server does
            },
        )

    def _create(self, call: Call) -> Answer:
        if call.key in self.objects:
            return refusal(409, "AlreadyExists", f'{call.resource.plural} "{call.name}" already exists')
        thing = call.asked.json()
        uid = uid_of(call.resource, call.name, call.namespace)
        thing["metadata"] = metadata(**{"uid": uid, **thing["metadata"], "namespace": call.namespace})
        if not call.dry_run:
            self._store("ADDED", call.key, thing)
        return answer(201, thing)

    def _patch(self, call: Call, thing: dict[str, Any]) -> Answer:
        body, changed = call.asked.json(), copy.deepcopy(thing)
        if isinstance(body, list):
            try:
                changed = jsonpatch.apply_patch(changed, body)
            except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
                return refusal(422, "Invalid", "the server rejected our request due to an error in our request")
        else:
            self.bodies.append(_without_uid(body))
            if _conflicts(body["metadata"], thing):
                return refusal(409, "Conflict", "the object has been modified")
            _merge(changed, body)
        if call.dry_run:
            return answer(200, changed)
        # In place: whoever plays the controller still has hold of the object.
        kept = {key: value for key, value in thing.items() if changed.get(key) == value}
        thing.clear()
        thing.update({**changed, **kept})
        meta = thing["metadata"]
        if meta.get("deletionTimestamp") and not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds"):
            self._remove(call.key)
        else:
            self._store("MODIFIED", call.key, thing)
        return answer(200, thing)

    def _delete(self, call: Call, thing: dict[str, Any]) -> Answer:
        options, meta = call.asked.json(), thing["metadata"]
        if _conflicts(options["preconditions"], thing):
            return refusal(409, "Conflict", "the precondition does not match")
        if call.dry_run:
            return answer(200, thing)
        grace = options.get("gracePeriodSeconds", self._grace.get(call.key, 0))
        if not meta.get("finalizers") and not grace:
            self._remove(call.key)
            return answer(200, {"kind": "Status", "status": "Success", "details": {"uid": meta["uid"]}})
        if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
            meta.update(deletionTimestamp=moment(self.now() + grace), deletionGracePeriodSeconds=grace)
        self._store("MODIFIED", call.key, thing)
        return answer(200, thing)

    def _update(self, call: Call, thing: dict[str, Any]) -> Answer:
        """Only that of a namespace's own finalizers."""
        assert call.subresource == "finalize"
        if _conflicts(call.asked.json()["metadata"], thing):
            return refusal(409, "Conflict", "the object has been modified")
        self._remove(call.key)
        return answer(200, thing)

    def _review(self, wanted: Mapping[str, str]) -> Answer:
        verb, plural, namespace = wanted["verb"], wanted["resource"], wanted["namespace"]
        namespaced = any((one.group, one.plural) == (wanted["group"], plural) and one.namespaced for one in self.served)
        allowed = (verb, plural) not in self.forbidden
        if self.rights_by_namespace and namespaced and not namespace:
            allowed = False
        else:
            part = f"/{wanted['subresource']}" if "subresource" in wanted else ""
            self.asked_rights.append((verb, plural + part, namespace))
        return answer(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}})

    # -- watches -------------------------------------------------------------------------------------------------------

    def _watch(self, call: Call, connection: FakeConnection) -> Stream:
        watch = _Watch(call)
        for version, key, line in self._events:
            if version > int(call.asked.query["resourceVersion"]):
                watch.offer(key, line)
        self._watches.append(watch)
        self.watched += 1
        self._moved.notify_all()
        connection.on_end = lambda: self._end(watch)
        stream = Stream()
        stream.parts = self._lines(watch)
        return stream

    def _lines(self, watch: _Watch) -> Iterator[bytes]:
        for line in iter(watch.lines.get, None):
            yield line
            with self._moved:
                watch.pending -= 1
                self._moved.notify_all()

    def _end(self, watch: _Watch) -> None:
        watch.lines.put(None)
        with self._moved:
            if watch in self._watches:
                self._watches.remove(watch)
            self._moved.notify_all()

    def _until_seen(self) -> None:
        if threading.get_ident() not in [watch.thread for watch in self._watches]:
            seen = self._moved.wait_for(lambda: not any(watch.pending for watch in self._watches), 60.0)
            assert seen, "a watch does not go on"

    def _store(self, event: str, key: Key, thing: dict[str, Any]) -> None:
        with self._moved:
            self.objects[key] = thing
            self._publish(event, key, thing)

    def _remove(self, key: Key) -> None:
        with self._moved:
            thing = self.objects.pop(key)
            self.log.append(f"gone {_ref(thing)}")
            self._publish("DELETED", key, thing)

    def _publish(self, event: str, key: Key, thing: dict[str, Any]) -> None:
        self._version += 1
        thing["metadata"]["resourceVersion"] = str(self._version)
        line = json.dumps({"type": event, "object": thing}).encode()
        self._events.append((self._version, key, line))
        for watch in self._watches:
            watch.offer(key, line)
        self._moved.notify_all()
        self._until_seen()


def uid_of(resource: Resource, name: str, namespace: str = "") -> str:
    return f"{resource.kind}-{namespace if resource.namespaced else ''}-{name}"


def _key(resource: Resource, name: str, namespace: str) -> Key:
    return resource.group, resource.plural, namespace if resource.namespaced else "", name


def _ref(thing: Mapping[str, Any]) -> str:
    meta = thing["metadata"]
    return f"{thing['kind']} {meta.get('namespace', '')}/{meta['name']}".replace(" /", " ")


def _refused(problem: Exception) -> Reply:
    """An answer that says so, or a connection that breaks."""
    if not isinstance(problem, ApiError):
        return problem
    causes = [{"message": cause} for cause in problem.causes]
    return refusal(problem.status, problem.reason, problem.message, causes)


def _shown(thing: dict[str, Any], call: Call) -> dict[str, Any]:
    """As the API server does: metadata only where that is asked for, and objects of a list do not say what they are."""
    if call.metadata_only:
        return {"metadata": thing["metadata"]}
    return {key: value for key, value in thing.items() if call.name or key not in ("apiVersion", "kind")}


def _conflicts(given: Mapping[str, Any], thing: Mapping[str, Any]) -> bool:
    return any(given.get(key, thing["metadata"][key]) != thing["metadata"][key] for key in ("uid", "resourceVersion"))


def _without_uid(patch: Mapping[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in patch["metadata"].items() if key != "uid"}
    return {key: meta if key == "metadata" else value for key, value in patch.items() if key != "metadata" or meta}


def _merge(thing: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """A JSON merge patch: null takes a key away."""
    for key, value in patch.items():
        if value is None:
            thing.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(thing.setdefault(key, {}), value)
        else:
            thing[key] = value
