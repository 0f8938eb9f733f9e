# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small JSON client of the API server, for tests to prepare objects and to look without the product's help.

It decides nothing and retries nothing: a status is returned as it came. Only `create`, `create_many` and `apply_crd`,
which prepare a test, insist on success.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from lab.plane.tls import client_context
from lab.plane.users import User, read_kubeconfig
from lab.problems import LabError
from lab.waiting import PATIENCE, until

Answer = tuple[int, dict[str, Any]]
JSON = "application/json"
USER_AGENT = "sunset-kube-lab"


class Api:
    """The API server as one user sees it. Safe to share between threads: each keeps a connection of its own."""

    def __init__(self, identity: User | str | Path, *, timeout: float = 60.0) -> None:
        """Speak as a user, or as a kubeconfig of the lab says."""
        access = read_kubeconfig(identity.kubeconfig if isinstance(identity, User) else Path(identity))
        url = urlsplit(access.server)
        self._host, self._port = url.hostname or "127.0.0.1", url.port or 443
        self._timeout = timeout
        self._tls = client_context(access)
        self._headers = {"Accept": JSON, "User-Agent": USER_AGENT}
        if access.token:
            self._headers["Authorization"] = f"Bearer {access.token}"
        self._per_thread = threading.local()
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._plurals: dict[tuple[str, str], tuple[str, bool]] = {}

    # -- requests ----------------------------------------------------------------------------------------------------

    def get(self, path: str, **query: object) -> Answer:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: object, **query: object) -> Answer:
        return self.request("POST", path, body, query=query)

    def put(self, path: str, body: object, **query: object) -> Answer:
        return self.request("PUT", path, body, query=query)

    def patch(self, path: str, body: object, **query: object) -> Answer:
        """A list is sent as a JSON patch, a dict as a merge patch."""
        kind = "application/json-patch+json" if isinstance(body, list) else "application/merge-patch+json"
        return self.request("PATCH", path, body, query=query, content_type=kind)

    def delete(self, path: str, body: object = None, **query: object) -> Answer:
        """`body` is DeleteOptions. With a body the server ignores the query, `dryRun` included."""
        return self.request("DELETE", path, body, query=query)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, object] | None = None,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request, one answer: the status and the decoded body (`{"text": ...}` where it is not JSON).

        A body of bytes is sent as it is.
        """
        sent = {**self._headers, **(headers or {})}
        payload = None
        if body is not None:
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["Content-Type"] = content_type
        connection = self._connection()
        try:
            connection.request(method, _with_query(path, query), payload, sent)
            response = connection.getresponse()
            data = response.read()
        except BaseException:
            connection.close()
            raise
        return response.status, _decoded(data, response.headers.get_content_type())

    def watch(self, path: str, *, seconds: float = 10.0, **query: object) -> Iterator[dict[str, Any]]:
        """The events of a watch, as they come, until the server ends it after about `seconds`."""
        connection = http.client.HTTPSConnection(self._host, self._port, timeout=seconds + 10, context=self._tls)
        try:
            target = _with_query(path, {"watch": "true", "timeoutSeconds": max(1, round(seconds)), **query})
            connection.request("GET", target, headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                raise LabError(f"watch of {path} was answered with {response.status}: {response.read().decode()}")
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    def half_sent(self, method: str, path: str) -> http.client.HTTPSConnection:
        """A request whose body does not come: the server waits for it until the caller closes the connection."""
        connection = _Connection(self._host, self._port, timeout=self._timeout, context=self._tls)
        connection.putrequest(method, path)
        for header, value in (("Content-Type", JSON), ("Content-Length", "1000")):
            connection.putheader(header, value)
        connection.endheaders(b"{")
        return connection

    def close(self) -> None:
        """Close the connections of all threads. A later request opens a new one."""
        for connection in tuple(self._connections):
            connection.close()

    # -- preparing a test --------------------------------------------------------------------------------------------

    def create(self, *objects: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Create objects of any kind, in this order, and return them as the server has them."""
        return [self._created(self.path_of(body, collection=True), body) for body in objects]

    def create_many(
        self, path: str, objects: Iterable[Mapping[str, Any]], *, workers: int = 16
    ) -> list[dict[str, Any]]:
        """Create many objects of one kind below one path, in parallel; the result has the order of `objects`."""
        with ThreadPoolExecutor(workers, thread_name_prefix="lab-create") as pool:
            return list(pool.map(lambda body: self._created(path, body), objects))

    def apply_crd(self, crd: Mapping[str, Any], *, timeout: float = PATIENCE) -> dict[str, Any]:
        """Create or replace a CustomResourceDefinition and wait until every served version answers."""
        home = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        path = f"{home}/{crd['metadata']['name']}"
        status, answer = self.post(home, crd)
        if status == 409:
            current = _insist(self.get(path), f"reading {path}")
            version = {"resourceVersion": current["metadata"]["resourceVersion"]}
            answer = _insist(self.put(path, {**crd, "metadata": {**crd["metadata"], **version}}), f"replacing {path}")
        else:
            _insist((status, answer), f"creating {path}")
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        lists = [
            f"/apis/{group}/{version['name']}/{plural}" for version in crd["spec"]["versions"] if version["served"]
        ]

        def usable() -> dict[str, Any] | None:
            _status, seen = self.get(path)
            # A CRD nobody has looked at yet has `conditions: null`.
            conditions = {c["type"]: c["status"] for c in seen.get("status", {}).get("conditions") or ()}
            served = conditions.get("Established") == "True" and all(self.get(url, limit=1)[0] == 200 for url in lists)
            return seen if served else None

        return until(usable, f"{crd['metadata']['name']} to be established and served", timeout=timeout)

    def path_of(self, body: Mapping[str, Any], *, collection: bool = False) -> str:
        """Where an object lives (or with `collection` where it is created), by its kind as the server spells it."""
        api_version, kind, metadata = body["apiVersion"], body["kind"], body.get("metadata", {})
        plural, namespaced = self._plural(api_version, kind)
        parts = [_group_path(api_version)]
        if namespaced:
            parts.append(f"namespaces/{metadata.get('namespace') or 'default'}")
        parts.append(plural)
        if not collection:
            parts.append(quote(metadata["name"], safe=":"))
        return "/".join(parts)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _created(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        name = body.get("metadata", {}).get("name", "an object")
        return _insist(self.post(path, body), f"creating {body.get('kind', '')} {name} at {path}")

    def _plural(self, api_version: str, kind: str) -> tuple[str, bool]:
        """Plural and scope of a kind. Only hits are remembered: a kind may be installed a moment later."""
        if (api_version, kind) not in self._plurals:
            found = _insist(self.get(_group_path(api_version)), f"discovery of {api_version}")
            for resource in found["resources"]:
                if "/" not in resource["name"]:  # subresources repeat the kind of their parent
                    self._plurals[api_version, resource["kind"]] = (resource["name"], resource["namespaced"])
        if (api_version, kind) not in self._plurals:
            raise LabError(f"the server has no kind {kind} in {api_version}; install its CRD first with apply_crd")
        return self._plurals[api_version, kind]

    def _connection(self) -> http.client.HTTPSConnection:
        kept: _Connection | None = getattr(self._per_thread, "connection", None)
        if kept is None:
            kept = _Connection(self._host, self._port, timeout=self._timeout, context=self._tls)
            self._per_thread.connection = kept
            self._connections.add(kept)
        # An idle connection with something to read was closed by the server: a new one, before anything is sent.
        elif kept.sock is not None and select.select([kept.sock], [], [], 0)[0]:
            kept.close()
        return kept


class _Connection(http.client.HTTPSConnection):
    """Closes itself with the thread it belongs to: a connection left open for Python to find is a warning."""

    def __del__(self) -> None:
        self.close()


def _with_query(path: str, query: Mapping[str, object] | None) -> str:
    if not query:
        return path
    return f"{path}{'&' if '?' in path else '?'}{urlencode({key: _plain(value) for key, value in query.items()})}"


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decoded(data: bytes, content_type: str) -> dict[str, Any]:
    if content_type == JSON:
        with contextlib.suppress(RecursionError):  # nested too deeply for Python: the test made it so
            content = json.loads(data)
            if isinstance(content, dict):
                return content
    return {"text": data.decode(errors="replace")}


def _group_path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _insist(answer: Answer, what: str) -> dict[str, Any]:
    status, body = answer
    if not 200 <= status < 300:
        raise LabError(f"{what} was answered with {status}: {body.get('message') or body}")
    return body
