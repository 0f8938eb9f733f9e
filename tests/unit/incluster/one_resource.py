# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server in memory with one resource on it, for the ends of a reconciliation and for what they tell."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect, Written
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource, record_of

from ..fakes import SERVER_NOW


class OneResource:
    """Events are kept by their names; everything else is about the one resource."""

    def __init__(self, kind: str, group: str = "sunset.dev", version: str = "v1alpha1", **item: Any) -> None:
        self.resource = Resource(group, version, kind, f"{kind.lower()}s", True)
        self.item: dict[str, Any] = {"metadata": {"name": "one", "namespace": "home", "uid": "u"}, **item}
        self.events: dict[str, dict[str, Any]] = {}
        self.now = SERVER_NOW

    @property
    def named(self) -> dict[str, str]:
        place = {"name": "one", "namespace": "home"}
        return {"api_version": self.resource.api_version, "kind": self.resource.kind, **place}

    @property
    def status(self) -> dict[str, Any]:
        return dict(self.item["status"])

    # -- what a Cluster can do ---------------------------------------------------------------------------------------

    def resolve(self, *_named: Any, **_more: Any) -> tuple[Resource, None]:
        return self.resource, None

    def list(self, _resource: Resource) -> Any:
        return type("Listing", (), {"records": [record_of(self.item["metadata"])]})

    def read_whole(self, resource: Resource, _namespace: str, name: str) -> dict[str, Any] | None:
        return copy.deepcopy(self.events.get(name) if resource.kind == "Event" else self.item)

    def merge_patch(self, resource: Resource, record: Any, body: dict[str, Any], **_more: Any) -> Written:
        thing = self.events[record.name] if resource.kind == "Event" else self.item
        thing.update(copy.deepcopy(body))
        return Written(Effect.DONE, record_of(thing["metadata"]))

    def create(self, _resource: Resource, _namespace: str, item: dict[str, Any]) -> Written:
        name = item["metadata"]["name"]
        effect = Effect.ALREADY if name in self.events else Effect.DONE
        return Written(effect, record_of(self.events.setdefault(name, copy.deepcopy(item))["metadata"]))

    def server_time(self) -> float:
        return self.now
