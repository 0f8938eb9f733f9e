# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routes of every kind that can keep something open, and the ways into maintenance and back, without a server."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.carving import Openings
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.changes import Change, change_from
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.checked_backup import why_not_ours
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.originals import applied
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.restore import restore
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS, RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.swap import Selection, Swap, swap

Body = dict[str, Any]
PAGE, OTHER_PAGE = "maintenance-0123456789", "maintenance-9876543210"


def kind_of(item: Body) -> RouteKind:
    group = item["apiVersion"].rpartition("/")[0]
    return next(one for one in ROUTE_KINDS if (one.group, one.kind) == (group, item["kind"]))


def route(api_version: str, kind: str, spec: Body, **metadata: Any) -> Body:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7", **metadata},
        "spec": spec,
    }


def ingress(*paths: str, host: str = "shop.example.com", path_type: str = "Prefix", **metadata: Any) -> Body:
    entries = [
        {"path": path, "pathType": path_type, "backend": {"service": {"name": "app", "port": {"number": 80}}}}
        for path in paths or ("/",)
    ]
    return route("networking.k8s.io/v1", "Ingress", {"rules": [{"host": host, "http": {"paths": entries}}]}, **metadata)


def ingress_route(*matches: str, **more: Any) -> Body:
    routes = [
        {"kind": "Rule", "match": match, "services": [{"name": "app", "port": 80}], **more}
        for match in matches or ("Host(`shop.example.com`)",)
    ]
    return route("traefik.io/v1alpha1", "IngressRoute", {"entryPoints": ["web"], "routes": routes})


def http_route(*rules: Body) -> Body:
    usual = {"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}
    backends = [{"name": "app", "port": 80, "kind": "Service", "group": "", "weight": 1}]
    entries = [{**one, "backendRefs": backends} for one in rules or (usual,)]
    spec = {"parentRefs": [{"name": "gateway"}], "hostnames": ["shop.example.com"], "rules": entries}
    return route("gateway.networking.k8s.io/v1", "HTTPRoute", spec)


def http_proxy(*routes: Body, root: bool = True) -> Body:
    entries = [{**one, "services": [{"name": "app", "port": 80}]} for one in routes or ({},)]
    virtualhost = {"virtualhost": {"fqdn": "shop.example.com"}} if root else {}
    return route("projectcontour.io/v1", "HTTPProxy", {**virtualhost, "routes": entries})


def virtual_service(*entries: Body) -> Body:
    http = [{**one, "route": [{"destination": {"host": "app"}}]} for one in entries or ({},)]
    return route("networking.istio.io/v1", "VirtualService", {"hosts": ["shop.example.com"], "http": http})


class Life:
    """One route and its backup, through maintenance."""

    def __init__(self, item: Body) -> None:
        self.item = copy.deepcopy(item)
        self.kind = kind_of(item)
        self.known: list[Change] = []

    def enable(self, openings: Openings, page: str = PAGE, exempt: Sequence[str] = ()) -> Swap:
        selection = Selection(exempt=tuple(exempt) or openings.paths)
        done = swap(self.item, self.kind, selection, page, self.known, carve=openings.carve)
        # As a backup keeps them: JSON with sorted keys.
        self.known += [change_from(json.loads(json.dumps(one.as_dict(), sort_keys=True))) for one in done.changes]
        metadata = self.item["metadata"]
        assert why_not_ours(self.known, self.kind, metadata.get("namespace", ""), metadata.get("uid", "")) == ""
        self.item = applied(self.item, done.operations)
        return done

    def disable(self) -> None:
        self.item = applied(self.item, restore(self.item, self.kind, self.known).operations)
        self.known = []

    @property
    def spec(self) -> Body:
        spec: Body = self.item["spec"]
        return spec
