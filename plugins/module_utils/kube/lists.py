# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metadata-only lists in pages, whole or not at all.

Room: kube. A list is a decision's ground: consistent (never `resourceVersion=0`), complete, or an error. A cluster-wide
list that is forbidden is tried namespace by namespace, and what stays closed is named, not skipped.
"""

from __future__ import annotations

import gc
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..objects import Record, Resource, record_of
from ..problems import CannotLook
from .answers import Answer, error_from
from .transport import AnswerTooLarge, Request, Transport

PAGE = 2000
# Plain JSON second: a few aggregated APIs cannot convert, and then whole objects come, whose metadata we read as well.
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_RESTARTS = 5


@dataclass(frozen=True)
class Scope:
    """Which objects of a kind: all, one namespace, and by selectors."""

    resource: Resource
    namespace: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None

    def target(self, **more: str) -> str:
        query = {
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            **more,
        }
        text = urllib.parse.urlencode({key: value for key, value in query.items() if value})
        path = self.resource.path(self.namespace)
        return f"{path}?{text}" if text else path

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.resource.qualified}{where}"


@dataclass
class Listing:
    """All objects of a scope at one moment."""

    scope: Scope
    records: list[Record] = field(default_factory=list)
    resource_version: str = ""


def list_metadata(transport: Transport, scope: Scope) -> Listing:
    """Every page. An expired page token (410) starts the list anew; half a list is never returned."""
    for _attempt in range(_RESTARTS):
        listing = Listing(scope)
        for page in _pages(transport, scope, METADATA_LIST):
            if page is None:
                break
            listing.resource_version = (page.get("metadata") or {}).get("resourceVersion") or ""
            listing.records.extend(record_of(item.get("metadata") or {}) for item in page.get("items") or ())
        else:
            return listing
    raise CannotLook(
        "cannot list",
        which=str(scope),
        why=f"the list expired {_RESTARTS} times before its last page came",
        next_step="try again when the API server is less busy",
    )


def list_objects(transport: Transport, scope: Scope) -> list[dict[str, Any]]:
    """Whole objects, for the few questions that metadata cannot answer."""
    for _attempt in range(_RESTARTS):
        found: list[dict[str, Any]] = []
        for page in _pages(transport, scope, "application/json"):
            if page is None:
                break
            found.extend(page.get("items") or ())
        else:
            return found
    raise CannotLook(
        "cannot list", which=str(scope), why="the list expired again and again", next_step="try again later"
    )


def _pages(transport: Transport, scope: Scope, accept: str) -> Iterator[Mapping[str, Any] | None]:
    """Pages until the last; None when the continue token has expired."""
    token, limit = "", PAGE
    gzip = not transport.endpoint.is_loopback
    while True:
        target = scope.target(limit=str(limit), **({"continue": token} if token else {}))
        try:
            answer = transport.send(Request("GET", target, "list", accept=accept, gzip=gzip))
        except AnswerTooLarge:
            if limit == 1:
                raise
            limit = max(1, limit // 10)
            continue
        if answer.status == 410 and token:
            yield None
            return
        if not answer.ok:
            raise error_from(answer, "cannot list", str(scope))
        page = _parsed(answer, scope, metadata_only=accept == METADATA_LIST)
        before, token = token, (page.get("metadata") or {}).get("continue") or ""
        if token and token == before:
            # The cache of ansible-operator's proxy does this: it would go on for ever, with the same page.
            raise CannotLook(
                f"cannot list {scope}",
                why="the server answers every page with the same token; it is a cache, not an API server",
                next_step="talk to the API server itself; in a pod, set in_cluster: true",
            )
        yield page
        if not token:
            return


def _parsed(answer: Answer, scope: Scope, *, metadata_only: bool) -> dict[str, Any]:
    # Thousands of small dictionaries without cycles: the collector would walk them again and again for nothing.
    was_on = gc.isenabled()
    gc.disable()
    try:
        return answer.metadata_json() if metadata_only else answer.json(str(scope))
    finally:
        if was_on:
            gc.enable()


def read_object(transport: Transport, resource: Resource, namespace: str, name: str) -> dict[str, Any] | None:
    """One whole object, or None where there is none of that name."""
    answer = transport.send(Request("GET", resource.path(namespace, name), "get"))
    if answer.status == 404:
        return None
    which = f"{resource.kind} {namespace}/{name}" if namespace else f"{resource.kind} {name}"
    if not answer.ok:
        raise error_from(answer, "cannot read", which)
    return answer.json(which)
