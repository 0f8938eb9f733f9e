# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Webhooks that a plan removes before what they would be asked about: what they say in check mode counts for nothing.

Room: teardown. Looks only when somebody asks, which is when the server has refused something.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ...well_known import WEBHOOK_CONFIGURATIONS
from ..plan import Entry, Plan
from .finding import scope_of
from .webhooks import is_asked_about

if TYPE_CHECKING:
    from ...kube.cluster import Cluster


class LeavingWebhooks:
    """The webhook configurations of one plan, with their places in it."""

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        self._cluster = cluster
        waves = [wave for step in plan.steps for wave in step.waves]
        self._places = {entry.member.record.uid: place for place, wave in enumerate(waves) for entry in wave}

    def answer_for(self, entry: Entry) -> bool:
        """Whether one of them is asked about this object now, and is gone when its turn comes."""
        member = entry.member
        turn = self._places[member.record.uid]
        before = [item for item in self._configurations if self._places[item["metadata"]["uid"]] < turn]
        if not before:
            return False
        scope = scope_of([member.resource], [member.record.namespace], self._cluster, [])
        return any(is_asked_about(item, scope) for item in before)

    @functools.cached_property
    def _configurations(self) -> list[dict[str, Any]]:
        items = [item for resource in WEBHOOK_CONFIGURATIONS for item in self._cluster.list_whole(resource)]
        return [item for item in items if item["metadata"]["uid"] in self._places]
