# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`sunset.kube.nmstate_apply` on the controller."""

from __future__ import annotations

from ..module_utils.jobs.nmstate_apply import JOB as NMSTATE_APPLY
from ..plugin_utils.node_action import NodeAction


class ActionModule(NodeAction):
    JOB = NMSTATE_APPLY
