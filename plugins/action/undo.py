# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`sunset.kube.undo` on the controller."""

from __future__ import annotations

from ..module_utils.jobs.undo import JOB as UNDO
from ..plugin_utils.undo_action import UndoAction


class ActionModule(UndoAction):
    JOB = UNDO
