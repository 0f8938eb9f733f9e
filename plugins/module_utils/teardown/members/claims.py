# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a source says belongs to the thing being removed, before anybody has looked whether it is there.

Room: teardown (pure values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...objects import Record


@dataclass(frozen=True)
class Claim:
    """An object that a record, a manifest or a reference names. The namespace may still have to be filled in."""

    group: str | None  # None: wherever the kind's name is unambiguous
    kind: str
    name: str
    namespace: str = ""
    version: str = ""
    source: str = ""
    # Whether the source marks its objects, so that a live one without the mark is not its own any more.
    marked: bool = True
    # An annotation that the live object must carry where it has no mark: else only the release metadata names it.
    evidence: str = ""
    disputed: str = ""  # why another release may own it as well
    # Set by sources that decide over an object themselves, such as a Landscaper policy: the reason to keep it.
    keep: str = ""
    uid: str = ""  # of the object that the source recorded; one made anew under its name has another
    named: bool = False  # by the task itself, one by one
    past: bool = False  # by an older version of the record: that it is not there says nothing
    # What the source wants done before the delete, as the task's `before_delete` would say it.
    before_delete: Mapping[str, Any] = field(default_factory=dict, hash=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)  # as the source writes them

    @property
    def api_version(self) -> str | None:
        return None if self.group is None else f"{self.group}/{self.version}"


@dataclass(frozen=True)
class Search:
    """Objects found by looking instead of by name: all of a kind, by labels."""

    kind: str
    api_version: str | None = None
    namespace: str | None = None
    label_selector: str = ""
    source: str = ""
    by_hand: bool = False  # a person wrote the kind, and may have mistyped it


# Is a live object still the source's own, given whether it must be marked? The reason why not, or nothing.
OwnershipTest = Callable[[Record, bool], str]


@dataclass
class Membership:
    """Everything a source knows."""

    source: str
    claims: list[Claim] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    # The source's own record (Helm's Secrets, kapp's ConfigMap …): goes last, after all else is gone.
    records: list[Claim] = field(default_factory=list)
    default_namespace: str = ""
    # The namespace of the release: what lies outside of it needs more proof, and the plan says so.
    home: str = ""
    not_ours: OwnershipTest | None = None
    # Where `not_ours` is lenient with what the record names: whether a mark alone tells that an object is the source's.
    sure_mark: Callable[[Record], bool] | None = None
    missing: str = ""  # the record itself is not there
    by_marks: bool = False  # the record is gone; what it named is known by its marks
    warnings: list[str] = field(default_factory=list)

    def bears_its_mark(self, record: Record) -> bool:
        """Of any object in the cluster, named by the source or not."""
        if self.sure_mark is not None:
            return self.sure_mark(record)
        return self.not_ours is not None and not self.not_ours(record, True)


def claims_in(documents: Iterator[Any], source: str, *, marked: bool = True, evidence: str = "") -> Iterator[Claim]:
    """Claims of manifest documents; `List` kinds are opened, empty documents and nameless objects passed over."""
    for document in documents:
        if not isinstance(document, Mapping):
            continue
        if str(document.get("kind") or "").endswith("List") and isinstance(document.get("items"), list):
            yield from claims_in(iter(document["items"]), source, marked=marked, evidence=evidence)
            continue
        claim = claim_of(document, source, marked=marked, evidence=evidence)
        if claim is not None:
            yield claim


def claim_of(document: Mapping[str, Any], source: str, *, marked: bool = True, evidence: str = "") -> Claim | None:
    """One object's claim. None where it cannot be named: no kind, or `generateName` only."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return None
    kind, name = document.get("kind"), metadata.get("name")
    if not kind or not name:
        return None
    group, _slash, version = str(document.get("apiVersion") or "").rpartition("/")
    namespace = str(metadata.get("namespace") or "")
    labels = metadata.get("labels")
    labels = {str(key): str(value) for key, value in labels.items()} if isinstance(labels, Mapping) else {}
    return Claim(group, str(kind), str(name), namespace, version, source, marked, evidence, labels=labels)
