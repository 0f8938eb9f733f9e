# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of a cluster's objects goes next: addons, works by priority, the agent's own work last.

Room: teardown (pure).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...objects import Record
from ...paths import value_at
from ...profiles import ocm

_GO_INTEGER = re.compile(r"[+-]?0*[0-9]{1,18}")  # longer ones are out of Go's range, and count as 0 there


def priority_of(record: Record) -> int:
    """`cleanup-priority` as the hub reads it: Go's integers, 0 to 100; anything else counts as 0."""
    text = record.annotations.get(ocm.PRIORITY, "")
    if not _GO_INTEGER.fullmatch(text):
        return ocm.LEAST
    number = int(text)
    return number if ocm.LEAST <= number <= ocm.MOST else ocm.LEAST


def strange_priority(record: Record) -> str:
    """A priority that is written down and does not count, in words."""
    text = record.annotations.get(ocm.PRIORITY)
    if text is None or (_GO_INTEGER.fullmatch(text) and ocm.LEAST <= int(text) <= ocm.MOST):
        return ""
    return f"{record.place} has cleanup-priority {text!r}, which counts as 0"


def carries_definitions(record: Record) -> bool:
    return record.name.endswith(ocm.DEFINITIONS_SUFFIXES)


def carries_the_agent(record: Record, item: Mapping[str, Any] | None = None) -> bool:
    """By its name, by the label of the import controller, or because it brings a Klusterlet."""
    if carries_definitions(record):
        return False
    if record.name.endswith(ocm.KLUSTERLET_SUFFIXES) or any(label in record.labels for label in ocm.IMPORT_LABELS):
        return True
    return any(manifest.get("kind") == "Klusterlet" for manifest in manifests_of(item or {}))


def manifests_of(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = value_at(item, "spec.workload.manifests")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def belongs_to_an_addon(record: Record) -> bool:
    return ocm.ADDON_LABEL in record.labels


def is_a_hook(record: Record) -> bool:
    """A work that an addon runs before it goes: whoever made it takes it away again."""
    return any(label in record.labels or label in record.annotations for label in ocm.HOOK_LABELS)


def replica_set_of(record: Record) -> str:
    """The ManifestWorkReplicaSet that would make this work again, if any."""
    return record.labels.get(ocm.REPLICA_SET_LABEL, "").replace(".", "/", 1)


def hosted_suffix(name: str) -> str:
    """Which of the last works of hosted mode this is; empty for all others, which go before."""
    return next((suffix for suffix in ocm.HOSTED_ORDER if name.endswith(suffix)), "")


@dataclass(frozen=True)
class Wave:
    """Objects of one kind that go together. `deletes` is false for what others have to delete."""

    name: str
    kind: int  # its place in the task's `cleanup`
    records: tuple[Record, ...]
    deletes: bool = True
    definitions: bool = False


def next_wave(kinds: Sequence[Sequence[Record]], works: int | None, agents: Iterable[str], policy: str) -> Wave | None:
    """The first kind with anything left, its lowest priority; of works the agent's own last. None: all is gone.

    `works` is the place of the works among the kinds, `agents` are the uids of those that carry the agent.
    """
    own = set(agents)
    for place, records in enumerate(kinds):
        if not records:
            continue
        if place != works:
            return _lowest("priority", place, records)
        others = [one for one in records if one.uid not in own and not carries_definitions(one)]
        if others:
            return _works(place, others, policy)
        deletes = policy == "all"
        agent = [one for one in records if one.uid in own]
        if agent:
            return Wave("klusterlet work", place, tuple(agent), deletes)
        return Wave("klusterlet definitions", place, tuple(records), deletes, definitions=True)
    return None


def _works(place: int, records: Sequence[Record], policy: str) -> Wave:
    ours = {"all": records, "none": [], "addon_only": [one for one in records if belongs_to_an_addon(one)]}[policy]
    if ours:
        return _lowest("works of priority", place, ours)
    return Wave("works that others delete", place, tuple(records), deletes=False)


def _lowest(name: str, place: int, records: Sequence[Record]) -> Wave:
    lowest = min(map(priority_of, records))
    return Wave(f"{name} {lowest}", place, tuple(one for one in records if priority_of(one) == lowest))


def named_in(manifest: Any) -> str:
    """An object as a work names it."""
    metadata = manifest.get("metadata") or {}
    place = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
    return f"{manifest.get('kind')} {place}"
