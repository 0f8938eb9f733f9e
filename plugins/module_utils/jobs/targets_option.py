# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options `targets`, `route_kinds` and `maintenance_operator`, as the modules about maintenance share them.

Room: jobs. Private to the collection.
"""

from __future__ import annotations

from typing import Any

TARGETS: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "options": {
        "kind": {"type": "str"},
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "label_selector": {"type": "str"},
        "hosts": {"type": "list", "elements": "str"},
        "paths": {"type": "list", "elements": "str"},
        "ingress_class": {"type": "str"},
        "service": {"type": "str"},
    },
}

MAINTENANCE_OPERATOR: dict[str, Any] = {
    "type": "dict",
    "options": {
        "maintenance_annotation": {"type": "str"},
        "maintenance_annotation_value": {"type": "str"},
        "backup_annotation": {"type": "str"},
        "backup_config_map_prefix": {"type": "str"},
    },
}

ROUTE_KINDS: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "options": {
        "group": {"type": "str", "required": True},
        "kind": {"type": "str", "required": True},
        "hosts": {"type": "list", "elements": "str"},
        "paths": {"type": "list", "elements": "str"},
        "backends": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": {
                "pattern": {"type": "str", "required": True},
                "page": {"type": "raw", "required": True},
                "known_by": {"type": "list", "elements": "str"},
                "name": {"type": "str", "default": "/name"},
                "namespace": {"type": "str"},
            },
        },
    },
}
