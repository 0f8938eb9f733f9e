# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of objects in a second: one is made through the API server, the others are its twins, put into etcd.

A twin differs from the first by name and uid, both of the same length, so the stored bytes stay valid in whatever
encoding the server chose. All contenders thus find the very same objects, and seeding does not take longer than what
is measured.
"""

from __future__ import annotations

import base64
import http.client
import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.kinds import Kind
from lab.plane.controlplane import ControlPlane

FINALIZER = "bench.example.com/hold"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_TXN = 120  # etcd takes 128 operations in a transaction
_NAME = "twin-{:07d}"


@dataclass(frozen=True)
class Seed:
    """What to put where. `held` objects have a finalizer and are being deleted already."""

    kind: Kind
    namespace: str
    count: int
    held: bool = False


def sow(plane: ControlPlane, seed: Seed) -> None:
    """Put the objects there and return when the API server shows all of them."""
    first = _first(plane, seed)
    key, value = _stored(plane, seed, first["metadata"]["name"])
    with _Etcd(plane) as etcd:
        etcd.put(list(_twins(key, value, first["metadata"], seed.count)))
    found = count(plane, seed.kind, seed.namespace)
    if found != seed.count:
        raise RuntimeError(f"seeded {seed.count} {seed.kind.plural}, but the API server shows {found}")


def count(plane: ControlPlane, kind: Kind, namespace: str) -> int:
    """How many there are, by a whole and consistent list of the lab's own client."""
    found, token = 0, ""
    while True:
        query = {"limit": 10000, **({"continue": token} if token else {})}
        status, page = plane.api.request("GET", kind.path(namespace), query=query, headers={"Accept": _METADATA})
        if status != 200:
            raise RuntimeError(f"cannot list {kind.plural}: {status} {page.get('message')}")
        found += len(page["items"] or ())
        token = page["metadata"].get("continue", "")
        if not token:
            return found


def _first(plane: ControlPlane, seed: Seed) -> dict[str, Any]:
    name = _NAME.format(0)
    body = seed.kind.body(name)
    if seed.held:
        body["metadata"]["finalizers"] = [FINALIZER]
    made = plane.api.create_many(seed.kind.path(seed.namespace), [body])[0]
    if seed.held:
        plane.api.delete(f"{seed.kind.path(seed.namespace)}/{name}")
    return made


def _stored(plane: ControlPlane, seed: Seed, name: str) -> tuple[bytes, bytes]:
    key = f"/registry/{seed.kind.storage}/{seed.namespace}/{name}".encode()
    with _Etcd(plane) as etcd:
        return key, etcd.get(key)


def _twins(key: bytes, value: bytes, first: dict[str, Any], count: int) -> Iterator[tuple[bytes, bytes]]:
    name, uid = first["name"].encode(), first["uid"].encode()
    for number in range(1, count):
        other, other_uid = _NAME.format(number).encode(), str(uuid.uuid4()).encode()
        yield key.replace(name, other), value.replace(name, other).replace(uid, other_uid)


class _Etcd:
    """etcd's own JSON gateway."""

    def __init__(self, plane: ControlPlane) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", plane.layout.ports.etcd, timeout=60)

    def __enter__(self) -> _Etcd:
        return self

    def __exit__(self, *_trouble: object) -> None:
        self._connection.close()

    def get(self, key: bytes) -> bytes:
        found = self._call("/v3/kv/range", {"key": _text(key)}).get("kvs")
        if not found:
            raise RuntimeError(f"etcd has nothing at {key!r}")
        return base64.b64decode(found[0]["value"])

    def put(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        operations = [{"requestPut": {"key": _text(key), "value": _text(value)}} for key, value in pairs]
        # The last one by itself: all of a transaction has one revision, and a list could show half of it.
        for batch in (*_batches(operations[:-1]), operations[-1:]):
            self._call("/v3/kv/txn", {"success": batch})

    def _call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self._connection.request("POST", path, json.dumps(body))
        response = self._connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"etcd answered {path} with {response.status}: {answer[:200]!r}")
        found: dict[str, Any] = json.loads(answer)
        return found


def _batches(operations: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(operations), _TXN):
        yield operations[start : start + _TXN]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
