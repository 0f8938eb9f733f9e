# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""API groups whose server is down: their kinds cannot be seen, and no namespace can finish while that lasts.

Room: teardown (pure).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...commands import kubectl
from ...objects import ObjectRef
from ...paths import condition_of, value_at
from ...well_known import API_SERVICES
from .obstacle import API_SERVICE, Obstacle


def judge_api_service(item: Mapping[str, Any]) -> Obstacle | None:
    available = condition_of(item, "Available")
    if available is None or available.get("status") != "False":
        return None
    name = item["metadata"]["name"]
    ref = ObjectRef(API_SERVICES.api_version, API_SERVICES.kind, "", name, item["metadata"].get("uid") or "")
    service = value_at(item, "spec.service") or {}
    place = (service.get("namespace") or "", service.get("name") or "")
    reason = str(available.get("message") or available.get("reason") or "it does not say why").rstrip(".")
    group = f"{value_at(item, 'spec.group') or 'core'}/{value_at(item, 'spec.version')}"
    return Obstacle(
        API_SERVICE,
        ref,
        f"no namespace can finish while {group} does not answer: {reason}",
        f"if its application is gone: {kubectl('delete apiservice {name}', name=name)}",
        frozenset({place} if place[1] else ()),
    )
