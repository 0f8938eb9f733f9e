# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server in memory says about the kinds it serves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.tests.unit.fakes import answer, refusal


def discovery(
    served: Iterable[Resource], stale: Collection[str], hidden: Collection[str], root: str, group: str, version: str
) -> Answer:
    """Aggregated; where some group version is hidden, in the older form: one request for each of them."""
    seen: dict[str, dict[str, list[Resource]]] = {}
    for resource in served:
        seen.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    for one in (*stale, *hidden):
        seen.setdefault(one.partition("/")[0], {}).setdefault(one.partition("/")[2], [])
    if f"{group}/{version}" in hidden:
        return refusal(403, "Forbidden", "no")
    if version:
        return answer(200, {"kind": "APIResourceList", "resources": list(map(_listed, seen[group][version]))})
    groups = {name: versions for name, versions in seen.items() if (name == "") is (root == "api")}
    if root == "apis" and hidden:
        named = [{"name": name, "versions": [{"version": one} for one in found]} for name, found in groups.items()]
        return answer(200, {"kind": "APIGroupList", "groups": named})
    items = [
        {
            "metadata": {"name": name},
            "versions": [
                {
                    "version": version,
                    "freshness": "Stale" if f"{name}/{version}" in stale else "Current",
                    "resources": list(map(_discovered, resources)),
                }
                for version, resources in versions.items()
            ],
        }
        for name, versions in groups.items()
    ]
    return answer(200, {"kind": "APIGroupDiscoveryList", "items": items})


def _discovered(resource: Resource) -> dict[str, Any]:
    return {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "shortNames": list(resource.short_names),
        "verbs": sorted(resource.verbs),
    }


def _listed(resource: Resource) -> dict[str, Any]:
    names = {"name": resource.plural, "kind": resource.kind, "singularName": resource.singular}
    return {**_discovered(resource), **names, "namespaced": resource.namespaced}
