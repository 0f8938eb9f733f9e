# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Crossplane's Usages: an object that another one uses may not be deleted before that.

Room: teardown. Crossplane puts a label on what is used, and its webhook refuses deletions of what carries it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...objects import Record, Resource
from ...paths import value_at
from .cause import USAGE, Cause
from .census import Census, Seen

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# Group and kind. The first is the one of Crossplane 1, the others of Crossplane 2.
KINDS = (
    ("apiextensions.crossplane.io", "Usage"),
    ("protection.crossplane.io", "Usage"),
    ("protection.crossplane.io", "ClusterUsage"),
)
IN_USE = "crossplane.io/in-use"
Used = tuple[str, str, str]  # group, kind, name


@dataclass(frozen=True)
class Usage:
    kind: Resource
    namespace: str
    name: str
    of_namespace: str  # where the used object is; empty: not in a namespace, or not said
    selector: Mapping[str, str] | None  # not resolved to a name yet
    by: str  # the object that uses it, in words
    by_known: bool  # whether that is one object with a name
    reason: str

    @property
    def place(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass
class Usages:
    named: Mapping[Used, Sequence[Usage]] = field(default_factory=dict)
    selecting: Mapping[tuple[str, str], Sequence[Usage]] = field(default_factory=dict)  # group, kind →
    seen: bool = True


def fetch_usages(found: Sequence[Seen], census: Census, cluster: Cluster) -> Usages:
    """A list for each of the three kinds that is served here."""
    named: dict[Used, list[Usage]] = defaultdict(list)
    selecting: dict[tuple[str, str], list[Usage]] = defaultdict(list)
    before = len(census.unreadable)
    served = [cluster.find_kind(group, kind).resource for group, kind in KINDS]
    for kind in (kind for kind in served if kind is not None and found):

        def read(kind: Resource = kind) -> None:
            for item in cluster.list_whole(kind):
                of = value_at(item, "spec.of") or {}
                group = str(of.get("apiVersion") or "").rpartition("/")[0]
                usage = _usage(kind, item)
                if usage.selector is None:
                    name = str(value_at(of, "resourceRef.name") or "")
                    named[group, str(of.get("kind") or ""), name].append(usage)
                else:
                    selecting[group, str(of.get("kind") or "")].append(usage)

        census.attempt(f"what {kind.qualified} protect", read, kind)
    return Usages(named, selecting, len(census.unreadable) == before)


def _usage(kind: Resource, item: Mapping[str, Any]) -> Usage:
    namespace = item["metadata"].get("namespace") or ""
    of, by = (value_at(item, f"spec.{key}") or {} for key in ("of", "by"))
    resolved = value_at(of, "resourceRef.name")
    name = str(value_at(by, "resourceRef.name") or "")
    place = str(value_at(by, "resourceRef.namespace") or namespace)
    return Usage(
        kind,
        namespace,
        item["metadata"]["name"],
        str(value_at(of, "resourceRef.namespace") or namespace),
        None if resolved else value_at(of, "resourceSelector.matchLabels") or {},
        f"{by.get('kind')} {f'{place}/' if place and name else ''}{name or 'by labels'}" if by else "",
        bool(name),
        str(value_at(item, "spec.reason") or ""),
    )


def in_use(kind: Resource, record: Record, usages: Usages) -> Iterable[Cause]:
    """Only before a deletion: one that was accepted is not held up any more."""
    if record.terminating:
        return
    used = (kind.group, kind.kind, record.name)
    fitting = [usage for usage in usages.named.get(used) or () if _reaches(usage, record)]
    selecting = [usage for usage in usages.selecting.get(used[:2]) or () if _reaches(usage, record)]
    loose = [usage for usage in selecting if _selects(usage, record)]
    yield from (_cause(usage, certain=True) for usage in fitting)
    yield from (_cause(usage, certain=False) for usage in loose)
    if not fitting and not loose and record.labels.get(IN_USE) == "true":
        seen = "no Usage names it any more" if usages.seen else "Usages could not be looked at"
        take_off = kubectl(
            f"label {{kind}} {{name}} {IN_USE}-", namespace=record.namespace, kind=kind.qualified, name=record.name
        )
        text = f"it is marked as in use ({IN_USE}), but {seen}: Crossplane's webhook is still asked about it"
        yield Cause(USAGE, text, f"if nothing needs it: {take_off}", certain=False)


def _reaches(usage: Usage, record: Record) -> bool:
    return usage.of_namespace in ("", record.namespace)


def _selects(usage: Usage, record: Record) -> bool:
    wanted = usage.selector or {}
    return bool(wanted) and all(record.labels.get(key) == value for key, value in wanted.items())


def _cause(usage: Usage, *, certain: bool) -> Cause:
    why = [f"{usage.by} uses it" if usage.by else "", usage.reason]
    # Three kinds share the short name.
    delete = kubectl("delete {kind} {name}", namespace=usage.namespace, kind=usage.kind.qualified, name=usage.name)
    text = f"{usage.kind.kind} {usage.place} lets nobody delete it: {'; '.join(filter(None, why)) or 'no reason given'}"
    if not usage.by_known:
        return Cause(USAGE, text, f"if that is over: {delete}", certain)
    return Cause(USAGE, text, f"delete {usage.by} first, or lift the protection: {delete}", certain, on=usage.by)
