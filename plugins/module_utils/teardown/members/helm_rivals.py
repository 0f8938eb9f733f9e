# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which other Helm releases have the same definition in `crds/`, or the same object among their hooks.

Room: teardown. Helm puts no mark of a release on either. One list of metadata, then the newest revision of each other
release, one at a time for each worker; asked only for charts that have such objects.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...documents import documents
from ...objects import Record, Resource
from ...problems import BadOption, CannotLook, Problem
from .claims import claims_in
from .helm_releases import STORES, Release, decode, revision_of

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# (group, kind, name) → namespaces it is meant in; an empty one for what is cluster-scoped.
Wanted = Mapping[tuple[str, str, str], Set[str]]
Key = tuple[str, str, str, str]  # group, kind, namespace, name
CRDS = ("apiextensions.k8s.io", "CustomResourceDefinition")
_UNINSTALLED = "uninstalled"  # its history was kept, its objects are gone


@dataclass
class Rivals:
    """Who else has these objects."""

    of: dict[Key, str] = field(default_factory=dict)  # object → `Helm release namespace/name`
    unseen: str = ""  # why other releases could not be looked at
    unread: list[str] = field(default_factory=list)  # releases whose metadata cannot be decoded


def find_rivals(wanted: Wanted, release: str, namespace: str, cluster: Cluster) -> Rivals:
    """`release` and `namespace` are those of the release itself, which is no rival of its own."""
    rivals = Rivals()
    if not wanted:
        return rivals
    try:
        newest = _newest(release, namespace, cluster)
    except Problem as problem:
        if not problem.is_forbidden:
            raise
        rivals.unseen = problem.why
        return rivals
    lock = threading.Lock()

    def look(entry: tuple[Resource, Record]) -> None:
        store, record = entry
        who = f"Helm release {record.namespace}/{record.labels.get('name')}"
        item = cluster.read_whole(store, record.namespace, record.name)
        if item is None:
            return
        try:
            found = set(_keys_in(decode(item, who), record.namespace, wanted))
        except (CannotLook, BadOption):
            with lock:
                rivals.unread.append(who)
            return
        with lock:
            rivals.of.update(dict.fromkeys(found, who))

    cluster.for_each(newest, look)
    return rivals


def _newest(release: str, namespace: str, cluster: Cluster) -> list[tuple[Resource, Record]]:
    """The newest revision of every other release; one that was uninstalled has no objects."""
    found: dict[tuple[str, str, str], tuple[Resource, Record]] = {}
    for store in STORES.values():
        for record in cluster.list(store, None, "owner=helm").records:
            place = (store.kind, record.namespace, record.labels.get("name") or "")
            if place[1:] == (namespace, release):
                continue
            if place not in found or revision_of(record) > revision_of(found[place][1]):
                found[place] = (store, record)
    return [entry for entry in found.values() if entry[1].labels.get("status") != _UNINSTALLED]


def _keys_in(release: Release, namespace: str, wanted: Wanted) -> Iterator[Key]:
    names = {name for _group, _kind, name in wanted}
    for text, only in (*((text, CRDS) for _name, text in release.crds), *((text, None) for text in release.hooks)):
        if not any(name in text for name in names):
            continue  # parsing takes much longer than searching
        for claim in claims_in(documents(text, "release metadata"), ""):
            what = (claim.group or "", claim.kind)
            if only in (None, what):
                places = {"", claim.namespace or release.namespace or namespace}
                for place in places & set(wanted.get((*what, claim.name), ())):
                    yield *what, place, claim.name
