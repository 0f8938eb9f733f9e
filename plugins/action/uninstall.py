# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`sunset.kube.uninstall` on the controller."""

from __future__ import annotations

from ..module_utils.jobs.uninstall import JOB as UNINSTALL
from ..plugin_utils.engine_action import EngineAction


class ActionModule(EngineAction):
    JOB = UNINSTALL
