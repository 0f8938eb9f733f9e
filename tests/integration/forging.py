# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups as a tenant would forge them, and a route behind a page that nothing serves."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from integration.maintaining import Body, ingress

PAGE = "maintenance-0123456789"
SHOWN = {"service": {"name": PAGE, "port": {"number": 80}}}
BEFORE = {"service": {"name": "shop", "port": {"name": "http"}}}
PATHS = "/spec/rules/*/http/paths/*/backend"
IDENTITY = json.dumps([PATHS, ["shop.example.com"], ["/"], ["Prefix"]], sort_keys=True)


def change(role: str, pattern: str, pointer: str, identity: str = "", **values: Any) -> str:
    return json.dumps({"role": role, "identity": identity, "pattern": pattern, "pointer": pointer, **values})


BACKEND = change("backend", PATHS, "/spec/rules/0/http/paths/0/backend", IDENTITY, before=BEFORE, after=SHOWN)


def shown(namespace: str) -> Body:
    """An Ingress behind a page of ours, with a rule that leads to the application."""
    item = copy.deepcopy(ingress(namespace))
    item["metadata"]["annotations"] = {"sunset.dev/maintenance": PAGE}
    item["metadata"]["labels"] = {"app": "shop"}
    paths = item["spec"]["rules"][0]["http"]["paths"]
    paths[0]["backend"] = SHOWN
    paths.append({"path": "/kept", "pathType": "Prefix", "backend": BEFORE})
    return item


def forged(route: Mapping[str, Any], **entries: str) -> Body:
    metadata = route["metadata"]
    target = {"api_version": route["apiVersion"], "kind": route["kind"]}
    target |= {key: metadata[key] for key in ("namespace", "name", "uid")}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"maintenance-backup-{metadata['uid']}",
            "namespace": metadata["namespace"],
            "labels": {"sunset.dev/maintenance": "backup"},
        },
        "data": {"target": json.dumps(target), "began": "{}", **entries},
    }
