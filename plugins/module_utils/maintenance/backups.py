# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a route was like before: one ConfigMap a route, owned by it, that only ever grows.

Room: maintenance (pure). Each change has a key of its own, so that what was recorded first is never written again: a
route that shows a page can never become its own backup.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..commands import playbook
from ..objects import ObjectRef, Record, moment, parse_time, record_of
from ..problems import Refused
from ..profiles.gitops_owners import GITOPS_OWNERS
from .backup_key import NO_KEY, SIGNATURE, BackupKey
from .changes import Change, Operation, change_from, text_in
from .markers import BACKUP, BACKUP_PREFIX, HOLDERS, OUR_LABEL, REASON, ROLE, UNTIL

# Whoever runs a task and names no holder. Never written down: a backup that names nobody is theirs.
BY_HAND = "task"
_TARGET, _BEGAN, _PAUSED = "target", "began", "paused-"


@dataclass(frozen=True)
class Paused:
    """Somebody who would undo the swap and was asked to wait: an annotation on his object."""

    api_version: str
    kind: str
    namespace: str
    name: str
    annotation: str
    value: str

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def who(self) -> tuple[str, str, str, str]:
        """The same for one and the same object, in whichever version somebody names it."""
        return self.group, self.kind, self.namespace, self.name

    @property
    def is_one_of_ours(self) -> bool:
        """Whether we ever ask such an owner to wait, and in this way. Whoever writes a ConfigMap may name anything."""
        asked = (self.group, self.kind, (self.annotation, self.value))
        return asked in [(owner.group, owner.kind, owner.pause_owner) for owner in GITOPS_OWNERS]


@dataclass(frozen=True)
class Began:
    """When and by whom, for people who wonder."""

    at: str = ""
    by: str = ""


@dataclass(frozen=True)
class Remarks:
    """What may change while maintenance goes on: until when, why, and on whose behalf."""

    until: float | None = None
    reason: str = ""
    holders: frozenset[str] = frozenset({BY_HAND})

    def joined_by(self, holders: frozenset[str]) -> Remarks:
        return dataclasses.replace(self, holders=self.holders | holders)


@dataclass
class Backup:
    record: Record
    target: ObjectRef
    changes: list[Change] = field(default_factory=list)
    paused: list[Paused] = field(default_factory=list)
    began: Began = field(default_factory=Began)
    remarks: Remarks = field(default_factory=Remarks)
    data: Mapping[str, str] = field(default_factory=dict)  # as it was read
    made_at: float = 0.0

    @property
    def until(self) -> float | None:
        return self.remarks.until

    @property
    def reason(self) -> str:
        return self.remarks.reason

    @property
    def holders(self) -> frozenset[str]:
        return self.remarks.holders


def backup_name(uid: str) -> str:
    """By uid: names may be longer than a label may be, and an Ingress may have an IngressRoute as namesake."""
    return f"{BACKUP_PREFIX}{uid}"


def new_backup(
    target: ObjectRef,
    changes: Sequence[Change],
    paused: Sequence[Paused],
    began: Began,
    remarks: Remarks,
    key: BackupKey = NO_KEY,
) -> dict[str, Any]:
    """A ConfigMap that goes with its route."""
    data = {
        _TARGET: json.dumps(target.as_dict(), sort_keys=True),
        _BEGAN: json.dumps({"at": began.at, "by": began.by}, sort_keys=True),
        **dict(_numbered(changes, paused, {})),
    }
    owner = {"apiVersion": target.api_version, "kind": target.kind, "name": target.name, "uid": target.uid}
    return {
        "metadata": {
            "name": backup_name(target.uid),
            "namespace": target.namespace,
            "labels": {ROLE: BACKUP, OUR_LABEL[0]: OUR_LABEL[1]},
            "annotations": _written(remarks),
            "ownerReferences": [owner],
        },
        "data": {**data, **_signed(key, target.namespace, backup_name(target.uid), data)},
    }


def grown(
    backup: Backup,
    changes: Sequence[Change],
    paused: Sequence[Paused],
    remarks: Remarks,
    key: BackupKey = NO_KEY,
) -> list[Operation]:
    """The patch that adds to a backup. Existing entries are not touched; only the remarks may change."""
    news = dict(_numbered(changes, paused, backup.data))
    if news:
        record = backup.record
        news.update(_signed(key, record.namespace, record.name, {**backup.data, **news}))
    operations: list[Operation] = [
        {"op": "add", "path": f"/data/{name}", "value": value} for name, value in news.items()
    ]
    wanted, known = _written(remarks), _written(backup.remarks)
    if wanted != known:
        others = {key: value for key, value in backup.record.annotations.items() if key not in (UNTIL, REASON, HOLDERS)}
        operations.append({"op": "add", "path": "/metadata/annotations", "value": {**others, **wanted}})
    if operations:
        version = backup.record.resource_version
        operations.insert(0, {"op": "test", "path": "/metadata/resourceVersion", "value": version})
    return operations


def _signed(key: BackupKey, namespace: str, name: str, data: Mapping[str, str]) -> dict[str, str]:
    return {SIGNATURE: key.signature(namespace, name, data)} if key.secret else {}


def _numbered(
    changes: Sequence[Change], paused: Sequence[Paused], taken: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    first = len([key for key in taken if key.isdigit()])
    for number, change in enumerate(changes, first):
        yield f"{number:04}", json.dumps(change.as_dict(), sort_keys=True)
    first = len([key for key in taken if key.startswith(_PAUSED)])
    for number, one in enumerate(paused, first):
        yield f"{_PAUSED}{number}", json.dumps(vars(one), sort_keys=True)


def _written(remarks: Remarks) -> dict[str, str]:
    said = {
        UNTIL: moment(remarks.until) if remarks.until is not None else "",
        REASON: remarks.reason,
        HOLDERS: "" if remarks.holders == {BY_HAND} else " ".join(sorted(remarks.holders)),
    }
    return {key: value for key, value in said.items() if value}


def _read(annotations: Mapping[str, str]) -> Remarks:
    until = annotations.get(UNTIL)
    return Remarks(parse_time(until) if until else None, annotations.get(REASON, ""), holders_in(annotations))


def holders_in(annotations: Mapping[str, str]) -> frozenset[str]:
    return frozenset(annotations.get(HOLDERS, "").split()) or Remarks.holders


def read_backup(item: Mapping[str, Any], key: BackupKey = NO_KEY) -> Backup:
    """One that holds something else than we write is refused: every user with write access to ConfigMaps can make one.

    With a key, one that was not signed with it is refused, too.
    """
    metadata = item["metadata"]
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    try:
        genuine = key.is_genuine(namespace, name, item.get("data") or {})
        backup = _parsed(item)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as problem:
        raise not_readable(namespace, name, "another client has written to it") from problem
    if not genuine:
        raise Refused(
            "the backup is not trusted",
            which=f"ConfigMap {namespace}/{name}",
            why=f"it was not signed with the key of Secret {key.where}",
            next_step="as a cluster administrator, compare it with its route; restore with "
            f"{playbook('maintenance', {'state': 'disabled', 'namespace': namespace})}, "
            "or delete it if the route shows no page",
        )
    return backup


def not_readable(namespace: str, name: str, why: str) -> Refused:
    return Refused(
        "cannot read the backup",
        which=f"ConfigMap {namespace}/{name}",
        why=why,
        next_step="put back what was changed; or, if its route shows no page, delete it",
    )


def _parsed(item: Mapping[str, Any]) -> Backup:
    record = record_of(item["metadata"])
    data: Mapping[str, str] = item.get("data") or {}
    target = json.loads(data.get(_TARGET) or "{}")
    ref = ObjectRef(*(text_in(target, key, "") for key in ("api_version", "kind", "namespace", "name", "uid")))
    if (record.namespace, record.name) != (ref.namespace, backup_name(ref.uid)):
        raise ValueError("a backup is beside its route, and named by its uid")
    numbers = sorted(key for key in data if key.isdigit())
    return Backup(
        record,
        ref,
        [change_from(json.loads(data[key])) for key in numbers],
        [one for key in sorted(data) if key.startswith(_PAUSED) and (one := _paused(data[key])).is_one_of_ours],
        Began(**_texts(data.get(_BEGAN) or "{}")),
        _read(record.annotations),
        dict(data),
        made_at(item),
    )


def _paused(text: str) -> Paused:
    return Paused(**_texts(text))


def _texts(text: str) -> dict[str, str]:
    found = json.loads(text)
    return {key: text_in(found, key) for key in found}


def made_at(item: Mapping[str, Any]) -> float:
    text = item["metadata"].get("creationTimestamp")
    return parse_time(text) if text else 0.0
