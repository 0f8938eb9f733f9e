# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`sunset.kube.managed_cluster` on the controller."""

from __future__ import annotations

from ..module_utils.jobs.managed_cluster import JOB as MANAGED_CLUSTER
from ..plugin_utils.engine_action import EngineAction


class ActionModule(EngineAction):
    JOB = MANAGED_CLUSTER
