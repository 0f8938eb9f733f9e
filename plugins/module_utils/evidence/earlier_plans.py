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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..teardown.shown import NOTHING_SHOWN, Shown


def plan_under(plan_hash: str | None, directory: str | None) -> Shown:
    """What the plan with this hash says; nothing where no such plan can be read."""
    if not directory or not plan_hash:
        return NOTHING_SHOWN
    for path in sorted(Path(os.path.expanduser(directory)).glob("*/plan.json"), reverse=True):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            plan = json.loads(path.read_text(encoding="utf-8"))
            if plan["plan_hash"] == plan_hash:
                return _shown(plan)
    return NOTHING_SHOWN


def _shown(plan: Mapping[str, Any]) -> Shown:
    steps = plan["steps"]
    return Shown(
        deleted=frozenset(row["object"]["uid"] for step in steps for row in step["objects"]),
        released=frozenset(row["object"]["uid"] for step in steps for row in step.get("release", ())),
        forced=any(step["force"] for step in steps if step["objects"]),
        allow=frozenset(plan.get("force_allow") or ()),
        policies={str(drain["profile"]): str(drain["policy"]) for drain in plan.get("drains", ())},
    )
