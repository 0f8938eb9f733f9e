# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything there is in a cluster, of every kind it serves, counted before and after; and a way back to before.

It looks by the lab's own client, so that what the product overlooks is found here.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from lab.plane.api import Api
from lab.waiting import until

# What the cluster makes and removes by itself: kinds, and single objects by a label.
PASSING = frozenset({"events", "endpointslices", "endpoints", "componentstatuses"})
BY_ITSELF = "kube-aggregator.kubernetes.io/automanaged"


@dataclass(frozen=True, order=True)
class Resident:
    """One object. Two of the same name at different times are two."""

    kind: str
    namespace: str
    name: str
    uid: str
    path: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def everybody(api: Api) -> set[Resident]:
    """All objects that can be listed now. A group whose server is away has none, and is no error."""
    kinds = list(_listable(api))
    with ThreadPoolExecutor(8, thread_name_prefix="census") as pool:
        return {one for found in pool.map(lambda kind: _residents(api, *kind), kinds) for one in found}


def _listable(api: Api) -> Iterable[tuple[str, str, str, bool]]:
    groups = api.get("/apis")[1].get("groups") or ()
    for root in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
        for resource in api.get(root)[1].get("resources") or ():
            plural = resource["name"]
            if "list" in resource["verbs"] and plural not in PASSING:
                yield root, plural, resource["kind"], resource["namespaced"]


def _residents(api: Api, root: str, plural: str, kind: str, namespaced: bool) -> list[Resident]:
    residents = []
    for item in api.get(f"{root}/{plural}")[1].get("items") or ():
        metadata = item["metadata"]
        if BY_ITSELF in metadata.get("labels", ()):
            continue
        namespace = metadata.get("namespace", "") if namespaced else ""
        within = f"namespaces/{namespace}/" if namespace else ""
        path = f"{root}/{within}{plural}/{metadata['name']}"
        residents.append(Resident(kind, namespace, metadata["name"], metadata["uid"], path))
    return residents


def newcomers(api: Api, before: set[Resident]) -> list[Resident]:
    """Who is there now and was not before."""
    return sorted(everybody(api) - before)


def send_home(api: Api, before: set[Resident]) -> None:
    """Remove every newcomer, whatever holds it, until none is left."""

    def none_is_left() -> bool:
        # Definitions last: while one is Terminating its instances cannot be found by discovery, nor freed.
        left = sorted(newcomers(api, before), key=lambda one: (one.kind == "CustomResourceDefinition", one))
        hooks = [one for one in left if one.kind.endswith("WebhookConfiguration")]
        for one in hooks or left:  # a webhook nobody answers refuses everything else
            api.delete(one.path, gracePeriodSeconds=0)
            if one.kind != "CustomResourceDefinition":
                api.patch(one.path, {"metadata": {"finalizers": None}})
        return not left

    until(none_is_left, "the cluster to be as before", every=0.2)
