# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two kinds that are measured: one the server knows by itself, and one of somebody's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    title: str
    kind: str
    group: str
    version: str
    plural: str
    storage: str  # below /registry in etcd
    content: dict[str, Any]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """group/version/plural, as `limit` wants it."""
        return f"{self.api_version}/{self.plural}"

    def path(self, namespace: str) -> str:
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{namespace}/{self.plural}"

    def body(self, name: str) -> dict[str, Any]:
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": name}, **self.content}


CONFIG_MAP = Kind("ConfigMaps", "ConfigMap", "", "v1", "configmaps", "configmaps", {"data": {"key": "x" * 200}})
WIDGET = Kind(
    "custom resources",
    "Widget",
    "bench.example.com",
    "v1",
    "widgets",
    "bench.example.com/widgets",
    {"spec": {"size": 7, "text": "x" * 200}},
)
KINDS = {"configmaps": CONFIG_MAP, "widgets": WIDGET}

WIDGET_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{WIDGET.plural}.{WIDGET.group}"},
    "spec": {
        "group": WIDGET.group,
        "scope": "Namespaced",
        "names": {"kind": WIDGET.kind, "plural": WIDGET.plural, "singular": "widget"},
        "versions": [
            {
                "name": WIDGET.version,
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}
