# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an object is to us: its identity, and the few facts of its metadata that decide over it.

Shared by every room and private to the collection. Identity is the uid: a namesake with another uid is another object.
"""

from __future__ import annotations

import datetime
import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from .visible import visible


@dataclass(frozen=True)
class Resource:
    """One served kind: how it is called and where it lives on the API server."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    singular: str = ""
    short_names: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    categories: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """`domains.ingress.example.com`; just the plural for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{_in_path(namespace)}" if self.namespaced and namespace else ""
        leaf = f"/{_in_path(name)}" if name else ""
        return f"{root}{scope}/{self.plural}{leaf}"


def _in_path(name: str) -> str:
    # No object is named with half a surrogate pair, but YAML can say it: that is a 404 and no crash.
    return quote(name, safe=":", errors="surrogatepass")


class Record(NamedTuple):
    """One object as a metadata-only list shows it. A tuple, because a run may hold 100 000 of them."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    finalizers: tuple[str, ...]
    deleted_at: str | None
    grace_seconds: int | None
    owner_uids: tuple[str, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    finalizer_managers: tuple[tuple[str, str], ...]
    # Owners that cannot go in the foreground while this object is there.
    held_owner_uids: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()  # field managers of everything but the status, each once

    @property
    def terminating(self) -> bool:
        return self.deleted_at is not None

    def deleting_for(self, now: float) -> float | None:
        """Seconds since its deletion was asked for. `deletionTimestamp` is when its grace period ends, maybe later."""
        if self.deleted_at is None:
            return None
        return max(0.0, now - (parse_time(self.deleted_at) - (self.grace_seconds or 0)))

    @property
    def place(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


_NOTHING: Mapping[str, str] = {}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def record_of(metadata: Mapping[str, Any]) -> Record:
    """The facts we keep of an object's `metadata`; everything else is dropped at once to stay small."""
    return Record(
        namespace=sys.intern(metadata.get("namespace") or ""),
        name=metadata.get("name") or "",
        # Some listable kinds (component statuses, metrics) have no uid. Empty never equals a real one.
        uid=metadata.get("uid") or "",
        resource_version=metadata.get("resourceVersion") or "",
        finalizers=tuple(sys.intern(f) for f in metadata.get("finalizers") or ()),
        deleted_at=metadata.get("deletionTimestamp"),
        grace_seconds=metadata.get("deletionGracePeriodSeconds"),
        owner_uids=tuple(owner.get("uid", "") for owner in metadata.get("ownerReferences") or ()),
        labels=metadata.get("labels") or _NOTHING,
        annotations=_small(metadata.get("annotations")),
        finalizer_managers=tuple(_finalizer_managers(metadata.get("managedFields") or ())),
        held_owner_uids=tuple(
            owner.get("uid", "")
            for owner in metadata.get("ownerReferences") or ()
            if owner.get("blockOwnerDeletion") is True
        ),
        managers=_managers(metadata.get("managedFields") or ()),
    )


def _small(annotations: Mapping[str, str] | None) -> Mapping[str, str]:
    # The whole object once more, as text. Nobody decides anything on it, and it would be most of our memory.
    if annotations and LAST_APPLIED in annotations:
        return {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return annotations or _NOTHING


def _managers(managed_fields: Any) -> tuple[str, ...]:
    # Controllers write the status of objects that they have not made.
    names = (entry.get("manager") or "" for entry in managed_fields if not entry.get("subresource"))
    return _shared(tuple(dict.fromkeys(names)))


@functools.lru_cache(maxsize=4096)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """One tuple for all objects with the same managers: there are few of these, and many objects."""
    return names


def _finalizer_managers(managed_fields: Any) -> Iterator[tuple[str, str]]:
    """Which field manager put which finalizer there: a hint to its owner, never a proof."""
    for entry in managed_fields:
        owned = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:finalizers") or {}
        for key in owned:
            if key.startswith('v:"') and key.endswith('"'):
                yield sys.intern(key[3:-1]), sys.intern(entry.get("manager") or "")


@dataclass(frozen=True)
class ObjectRef:
    """An object, named for people (as text, safe to show) and for results (as it is)."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return visible(f"{self.kind} {place}")

    def as_dict(self) -> dict[str, str]:
        return {
            "api_version": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }


def ref_to(resource: Resource, record: Record) -> ObjectRef:
    return ObjectRef(resource.api_version, resource.kind, record.namespace, record.name, record.uid)


def parse_time(text: str) -> float:
    """RFC 3339 (Kubernetes `Time` and `MicroTime`) to seconds since the epoch."""
    moment = datetime.datetime.fromisoformat(_with_offset(text))
    return moment.timestamp()


def moment(seconds: float) -> str:
    """The other way round, in whole seconds."""
    return datetime.datetime.fromtimestamp(seconds, tz=datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _with_offset(text: str) -> str:
    # Python 3.10 does not read a trailing Z, nor fractions that are not 3 or 6 digits long.
    text = text.strip()
    if text[-1:] in "Zz":
        text = text[:-1] + "+00:00"
    whole, dot, rest = text.partition(".")
    if dot:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        text = f"{whole}.{rest[:digits][:6].ljust(6, '0')}{rest[digits:]}"
    moment = text if "+" in text[10:] or "-" in text[10:] else text + "+00:00"
    return moment
