# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans that earlier runs left in the evidence directory: what somebody has seen under a hash.

Room: evidence.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from ..shown import NOTHING_SHOWN, Shown, shown_by


def plan_under(plan_hash: str | None, directory: str | None) -> Shown:
    """What the plan with this hash says; nothing where no such plan can be read."""
    if not directory or not plan_hash:
        return NOTHING_SHOWN
    for path in sorted(Path(os.path.expanduser(directory)).glob("*/plan.json"), reverse=True):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            plan = json.loads(path.read_text(encoding="utf-8"))
            if plan["plan_hash"] == plan_hash:
                return shown_by(plan)
    return NOTHING_SHOWN
