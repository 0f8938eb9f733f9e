# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option `members`, shared by every job that removes or shows what a source names.

Room: jobs.
"""

from __future__ import annotations

from typing import Any


def _required(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"type": "str", "required": True} for name in names}


MEMBERS: dict[str, Any] = {
    "type": "dict",
    "required": True,
    "options": {
        "helm": {
            "type": "dict",
            "options": {
                **_required("release", "namespace"),
                "driver": {"type": "str", "choices": ["auto", "secret", "configmap"], "default": "auto"},
            },
        },
        "manifests": {"type": "raw"},
        "objects": {"type": "list", "elements": "dict"},
        "selector": {
            "type": "dict",
            "options": {
                "label_selector": {"type": "str"},
                "kinds": {"type": "list", "elements": "str"},
                "namespaces": {"type": "list", "elements": "str"},
            },
        },
        "kapp": {"type": "dict", "options": _required("app", "namespace")},
        "flux": {
            "type": "dict",
            "options": {
                "kind": {"type": "str", "choices": ["Kustomization", "HelmRelease"], "default": "Kustomization"},
                **_required("name", "namespace"),
            },
        },
        "argocd": {"type": "dict", "options": _required("name", "namespace")},
        "olm": {"type": "dict", "options": _required("subscription", "namespace")},
        "applyset": {"type": "dict", "options": _required("name", "namespace")},
        "inventory": {"type": "dict", "options": _required("name", "namespace")},
        "landscaper": {
            "type": "dict",
            "options": {
                **_required("deploy_item", "namespace"),
                "context": {"type": "str"},
                "target": {"type": "str"},
            },
        },
        "namespace": {"type": "str"},
    },
}
