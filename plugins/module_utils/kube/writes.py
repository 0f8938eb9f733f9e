# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Guarded writes: a delete that names the uid, patches that test before they change. Outcomes, not exceptions.

Room: kube. Every write here can be repeated: what was done by a first try whose answer got lost shows as GONE or
ALREADY in the second one.
"""

from __future__ import annotations

import enum
import json
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..objects import Record, Resource, record_of
from .answers import Answer, ApiError, error_from
from .transport import Request, Transport

METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_RACES = 12
_ESCAPED_BY_GO = {ord(letter): f"\\u{ord(letter):04x}" for letter in "&<>\u2028\u2029"}


class Effect(enum.Enum):
    """What a write came to."""

    DONE = "done"  # written; the object is still there
    GONE = "gone"  # the object with this uid does not exist any more
    ALREADY = "already"  # nothing to do: somebody did it before us
    REPLACED = "replaced"  # the name now belongs to another uid; not ours, not touched
    REFUSED = "refused"  # the server will not; `problem` says why


@dataclass(frozen=True)
class Written:
    effect: Effect
    record: Record | None = None
    problem: ApiError | None = None
    unheard: bool = False  # an earlier try may have been done: its answer got lost

    @property
    def gone(self) -> bool:
        return self.effect is Effect.GONE

    @property
    def replaced(self) -> bool:
        return self.effect is Effect.REPLACED

    @property
    def changed(self) -> bool:
        """Did this write change the cluster? An object that was gone before we came shows no record."""
        return self.effect is Effect.DONE or (self.gone and self.record is not None)

    @property
    def raced(self) -> bool:
        """Refused only because the object has changed since it was read: look again and try anew."""
        return self.problem is not None and _lost_a_race(self.problem.status, self.problem)


def delete(
    transport: Transport,
    resource: Resource,
    record: Record,
    *,
    propagation: str = "Background",
    grace_seconds: int | None = None,
    unchanged: bool = False,
    dry_run: bool = False,
) -> Written:
    """DELETE with the uid as precondition. Never send it for an object that is already terminating.

    `unchanged`: only if nobody has written to it since it was read.
    """
    version = {"resourceVersion": record.resource_version} if unchanged else {}
    options: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": record.uid, **version},
        "propagationPolicy": propagation,
    }
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if dry_run:
        # In the body: a DELETE that has one ignores ?dryRun=All and would delete for real.
        options["dryRun"] = ["All"]
    request = Request(
        "DELETE", resource.path(record.namespace, record.name), "delete", json.dumps(options).encode(), accept=METADATA
    )
    answer = transport.send(request)
    which = f"{resource.kind} {record.place}"
    if answer.status == 404:
        return _gone(record, by_us=answer.unheard)
    if answer.status == 409:
        problem = error_from(answer, "cannot delete", which)
        # 409 is a uid that differs, or a namespace already on its way. Only a look tells which.
        return _after_conflict(transport, resource, record, problem)
    if not answer.ok:
        return Written(Effect.REFUSED, problem=error_from(answer, "cannot delete", which))
    left = _record_in(answer)
    return Written(Effect.GONE if left is None or proves_gone(left) else Effect.DONE, left or record)


def _gone(record: Record, *, by_us: bool) -> Written:
    """Gone; with its record when it went by a write of ours whose answer got lost."""
    return Written(Effect.GONE, record if by_us else None)


def _after_conflict(transport: Transport, resource: Resource, record: Record, problem: ApiError) -> Written:
    try:
        now = read(transport, resource, record.namespace, record.name)
    except ApiError:  # no right to look: the refusal itself is what there is to tell
        return Written(Effect.REFUSED, record, problem)
    if now is None:
        return Written(Effect.GONE)
    if now.uid != record.uid:
        return Written(Effect.REPLACED, now)
    if now.terminating:
        return Written(Effect.ALREADY, now)
    return Written(Effect.REFUSED, now, problem)


def remove_finalizers(
    transport: Transport, resource: Resource, record: Record, names: Sequence[str], *, dry_run: bool = False
) -> Written:
    """Take the named finalizers out of the list, whatever else happens to the object meanwhile.

    Each entry is tested at its place before it is removed, so that a list that moved under us is refused (422) and
    read again, and an entry somebody else added is never lost.
    """
    return _remove_entries(
        transport, resource, record, lambda now: finalizer_patch(now, names), "the finalizer", dry_run=dry_run
    )


def remove_owner_references(
    transport: Transport, resource: Resource, record: Record, uids: Collection[str], *, dry_run: bool = False
) -> Written:
    """Remove the references to these owners, tested at their places as finalizers are. The object itself stays."""
    return _remove_entries(
        transport, resource, record, lambda now: owner_patch(now, uids), "the owner reference", dry_run=dry_run
    )


def _remove_entries(
    transport: Transport,
    resource: Resource,
    record: Record,
    patch_for: Callable[[Record], list[dict[str, Any]]],
    what: str,
    *,
    dry_run: bool,
) -> Written:
    which = f"{resource.kind} {record.place}"
    unheard = False
    for _race in range(_RACES):
        patch = patch_for(record)
        if not patch:
            return Written(Effect.DONE if unheard else Effect.ALREADY, record)
        answer = _json_patch(transport, resource, record, patch, dry_run)
        unheard = unheard or answer.unheard
        if answer.ok:
            left = record_of(answer.metadata_json().get("metadata") or {})
            return Written(Effect.GONE if proves_gone(left) else Effect.DONE, left)
        if answer.status == 404:
            return _gone(record, by_us=unheard)
        problem = error_from(answer, f"cannot remove {what} from", which)
        if not _lost_a_race(answer.status, problem):
            return Written(Effect.REFUSED, record, problem)
        try:
            now = read(transport, resource, record.namespace, record.name)
        except ApiError:  # no right to look: the refusal itself is what there is to tell
            return Written(Effect.REFUSED, record, problem)
        if now is None:
            return _gone(record, by_us=unheard)
        if now.uid != record.uid:
            return Written(Effect.REPLACED, now)
        record = now
    return Written(Effect.REFUSED, record, problem)


def finalizer_patch(record: Record, names: Sequence[str]) -> list[dict[str, Any]]:
    """A JSON patch that removes the named entries, from the back so that the places before them stay true."""
    places = [place for place, name in enumerate(record.finalizers) if name in names]
    if not places:
        return []
    patch: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": record.uid}]
    for place in reversed(places):
        path = f"/metadata/finalizers/{place}"
        patch.append({"op": "test", "path": path, "value": record.finalizers[place]})
        patch.append({"op": "remove", "path": path})
    return patch


def owner_patch(record: Record, uids: Collection[str]) -> list[dict[str, Any]]:
    """The same for owner references, which are known by their uids."""
    places = [place for place, uid in enumerate(record.owner_uids) if uid in uids]
    if not places:
        return []
    patch: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": record.uid}]
    for place in reversed(places):
        path = f"/metadata/ownerReferences/{place}"
        patch.append({"op": "test", "path": f"{path}/uid", "value": record.owner_uids[place]})
        patch.append({"op": "remove", "path": path})
    return patch


def json_patch(
    transport: Transport,
    resource: Resource,
    record: Record,
    operations: Sequence[dict[str, Any]],
    *,
    dry_run: bool = False,
) -> Written:
    """A JSON patch of one object, tested for the uid. One try: only the caller can compute it anew after a race."""
    patch = [{"op": "test", "path": "/metadata/uid", "value": record.uid}, *operations]
    answer = _json_patch(transport, resource, record, patch, dry_run)
    if answer.ok:
        return Written(Effect.DONE, record_of(answer.metadata_json().get("metadata") or {}))
    if answer.status == 404:
        return _gone(record, by_us=answer.unheard)
    problem = error_from(answer, "cannot patch", f"{resource.kind} {record.place}")
    return Written(Effect.REFUSED, record, problem, unheard=answer.unheard)


def merge_patch(
    transport: Transport,
    resource: Resource,
    record: Record,
    patch: Mapping[str, Any],
    *,
    subresource: str = "",
    dry_run: bool = False,
) -> Written:
    """A merge patch that names the uid: a namesake with another one is refused by the server, not changed."""
    metadata = {**(patch.get("metadata") or {}), "uid": record.uid}
    body = json.dumps({**patch, "metadata": metadata}).encode()
    answer = _patch(transport, resource, record, body, "application/merge-patch+json", dry_run, subresource)
    if answer.ok:
        return Written(Effect.DONE, record_of(answer.metadata_json().get("metadata") or {}))
    if answer.status == 404:
        return _gone(record, by_us=answer.unheard)
    problem = error_from(answer, "cannot patch", f"{resource.kind} {record.place}")
    if answer.status not in (409, 422):
        return Written(Effect.REFUSED, record, problem)
    written = _after_conflict(transport, resource, record, problem)
    return written if written.gone or written.replaced else Written(Effect.REFUSED, written.record, problem)


def create(
    transport: Transport, resource: Resource, namespace: str, item: Mapping[str, Any], *, dry_run: bool = False
) -> Written:
    """POST one object. ALREADY: one of that name is there, and it is not from a try of ours whose answer got lost."""
    query = "?" + urllib.parse.urlencode({"dryRun": "All"} if dry_run else {"fieldManager": "sunset.kube"})
    body = json.dumps({"apiVersion": resource.api_version, "kind": resource.kind, **item}).encode()
    answer = transport.send(Request("POST", resource.path(namespace) + query, "post", body))
    if answer.ok:
        return Written(Effect.DONE, record_of(answer.metadata_json().get("metadata") or {}))
    name = (item.get("metadata") or {}).get("name") or ""
    problem = error_from(answer, "cannot create", f"{resource.kind} {namespace}/{name}".replace(" /", " "))
    if answer.status != 409:
        return Written(Effect.REFUSED, problem=problem)
    try:
        now = read(transport, resource, namespace, name)
    except ApiError:  # no right to look: the refusal itself is what there is to tell
        now = None
    if now is None:
        return Written(Effect.REFUSED, problem=problem)
    return Written(Effect.DONE if answer.unheard else Effect.ALREADY, now)


def finalize_namespace(transport: Transport, resource: Resource, record: Record) -> Written:
    """Take the last hold off a Namespace. Whoever calls this has proven that nothing is left in it."""
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": record.name, "uid": record.uid, "resourceVersion": record.resource_version},
        "spec": {"finalizers": []},
    }
    path = f"{resource.path(None, record.name)}/finalize"
    answer = transport.send(Request("PUT", path, "put", json.dumps(body).encode()))
    if answer.ok:
        return Written(Effect.DONE, record_of(answer.metadata_json().get("metadata") or {}))
    if answer.status == 404:
        return _gone(record, by_us=answer.unheard)
    return Written(Effect.REFUSED, record, error_from(answer, "cannot finalize", f"Namespace {record.name}"))


def read(transport: Transport, resource: Resource, namespace: str, name: str) -> Record | None:
    """One object's metadata, or None where there is none of that name."""
    answer = transport.send(Request("GET", resource.path(namespace, name), "get", accept=METADATA))
    if answer.status == 404:
        return None
    if not answer.ok:
        raise error_from(answer, "cannot read", f"{resource.kind} {namespace}/{name}".replace(" /", " "))
    return record_of(answer.metadata_json().get("metadata") or {})


def proves_gone(record: Record) -> bool:
    """An answer that shows a deleting object without finalizers and without grace: it was the last write to it."""
    return record.terminating and not record.finalizers and record.grace_seconds == 0


def _lost_a_race(status: int, problem: ApiError) -> bool:
    # 422, not 409: a failed JSON-patch "test" is "unprocessable". With causes it is a real refusal.
    return status == 409 or (status == 422 and not problem.causes)


def _json_patch(
    transport: Transport, resource: Resource, record: Record, patch: Sequence[dict[str, Any]], dry_run: bool
) -> Answer:
    return _patch(transport, resource, record, _as_go_writes(list(patch)), "application/json-patch+json", dry_run)


def _as_go_writes(value: Any) -> bytes:
    """The server compares the texts of a "test" as they are written, and writes `&` as `\\u0026`."""
    text = json.dumps(value, ensure_ascii=False)
    return text.translate(_ESCAPED_BY_GO).encode()


def _patch(
    transport: Transport,
    resource: Resource,
    record: Record,
    body: bytes,
    content_type: str,
    dry_run: bool,
    subresource: str = "",
) -> Answer:
    query = "?" + urllib.parse.urlencode({"dryRun": "All"} if dry_run else {"fieldManager": "sunset.kube"})
    target = resource.path(record.namespace, record.name) + (f"/{subresource}" if subresource else "") + query
    return transport.send(Request("PATCH", target, "patch", body, content_type=content_type, accept=METADATA))


def _record_in(answer: Answer) -> Record | None:
    """The object a DELETE answered with; None for a `Status`, which means it went at once."""
    body = answer.metadata_json()
    if body.get("kind") == "Status":
        return None
    return record_of(body.get("metadata") or {})
