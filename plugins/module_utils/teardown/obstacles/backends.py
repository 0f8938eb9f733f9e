# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Does anybody answer behind a webhook? Its Service, the port it is called at, and ready endpoints.

Room: teardown. `fetch_backends` looks, a list or two for each kind; `Backends.pulse` decides and looks at nothing else.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...well_known import ENDPOINT_SLICES, SERVICE_NAME, SERVICES
from ..looking_around import listed_or_said
from .obstacle import Place

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

# More namespaces than this, and one list of the whole cluster is cheaper.
_FEW_NAMESPACES = 10
_HTTPS = 443


class Beat(enum.Enum):
    READY = "ready"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Pulse:
    beat: Beat
    why: str = ""


@dataclass(frozen=True)
class Service:
    external: bool  # only a name of something outside the cluster
    ports: frozenset[int]


@dataclass
class Backends:
    """Services and the number of their ready endpoints, in the namespaces that were looked at."""

    services: dict[Place, Service] = field(default_factory=dict)
    ready: dict[Place, int] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)  # namespaces

    def pulse(self, client_config: Mapping[str, Any]) -> Pulse:
        place = service_of(client_config)
        if place is None:
            return Pulse(Beat.UNKNOWN, f"{client_config.get('url') or 'its address'} cannot be tried from here")
        named = f"Service {place[0]}/{place[1]}"
        if place[0] in self.unseen:
            return Pulse(Beat.UNKNOWN, f"{named} may not be looked at")
        service = self.services.get(place)
        if service is None:
            return Pulse(Beat.DEAD, f"{named} does not exist")
        if service.external:
            return Pulse(Beat.UNKNOWN, f"{named} leads out of the cluster")
        port = int(client_config["service"].get("port") or _HTTPS)
        if port not in service.ports:
            return Pulse(Beat.DEAD, f"{named} has no port {port}")
        if not self.ready.get(place):
            return Pulse(Beat.DEAD, f"{named} has no ready endpoint")
        return Pulse(Beat.READY)


def service_of(client_config: Mapping[str, Any]) -> Place | None:
    """The Service a webhook calls; None where it calls an address of its own."""
    service = client_config.get("service") or {}
    return (service["namespace"], service["name"]) if service.get("name") else None


def fetch_backends(places: Collection[Place], cluster: Cluster, unreadable: list[str]) -> Backends:
    """The state of these Services. What may not be listed is remembered, and said."""
    backends = Backends()
    namespaces = sorted({namespace for namespace, _name in places})
    scopes: list[str | None] = [None] if len(namespaces) > _FEW_NAMESPACES else [*namespaces]
    for scope in scopes:
        services = listed_or_said(SERVICES, cluster, unreadable, scope)
        slices = listed_or_said(ENDPOINT_SLICES, cluster, unreadable, scope)
        if services is None or slices is None:
            backends.unseen.update(namespaces if scope is None else [scope])
            continue
        backends.services.update((_place(item), _service(item)) for item in services)
        for place, ready in _ready_by_service(slices).items():
            backends.ready[place] = ready
    return backends


def _place(item: Mapping[str, Any]) -> Place:
    return item["metadata"].get("namespace") or "", item["metadata"]["name"]


def _service(item: Mapping[str, Any]) -> Service:
    spec = item.get("spec") or {}
    ports = frozenset(int(port.get("port") or 0) for port in spec.get("ports") or ())
    return Service(spec.get("type") == "ExternalName", ports)


def _ready_by_service(slices: list[dict[str, Any]]) -> dict[Place, int]:
    ready: dict[Place, int] = defaultdict(int)
    for item in slices:
        name = (item["metadata"].get("labels") or {}).get(SERVICE_NAME)
        if name:
            ready[item["metadata"].get("namespace") or "", name] += sum(map(_is_ready, item.get("endpoints") or ()))
    return ready


def _is_ready(endpoint: Mapping[str, Any]) -> bool:
    # Not said is ready, by definition of the API.
    return bool(endpoint.get("addresses")) and (endpoint.get("conditions") or {}).get("ready") is not False
