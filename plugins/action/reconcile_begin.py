# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`sunset.kube.reconcile_begin` on the controller."""

from __future__ import annotations

from ..module_utils.jobs.reconcile_begin import JOB as RECONCILE_BEGIN
from ..plugin_utils.engine_action import EngineAction


class ActionModule(EngineAction):
    JOB = RECONCILE_BEGIN
