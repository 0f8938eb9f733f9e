# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a plan must pass before its first write: its size, and whether it is still the plan somebody has seen.

Shared by every room and private to the collection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .problems import BadFields, Refused

# option → the least it may be.
_LEAST = {"timeout": 1, "parallel": 1, "max_objects": 1, "grace": 0, "force_after": 0, "grace_period_seconds": 0}
# option → the most. A task that lasts longer than a day waits for something that does not come.
_MOST = {"timeout": 86_400, "parallel": 64}
_HASH = re.compile("[0-9a-f]{8,64}")


def check_run_options(params: Mapping[str, Any], bad: BadFields) -> None:
    """The run options that jobs share, as far as this one has them."""
    for name, least in _LEAST.items():
        if params.get(name) is not None and params[name] < least:
            bad.add(name, f"must be {least} or more, not {params[name]}")
    if params.get("plan_hash") is not None and not params["plan_hash"].strip():
        bad.add("plan_hash", "is empty; leave it out or give a value")  # it would switch the check off
    for name, most in _MOST.items():
        if params.get(name) is not None and params[name] > most:
            bad.add(name, f"must be {most} or less, not {params[name]}")


def check_limits(
    objects: int, found_hash: str, max_objects: int | None, plan_hash: str | None, *, rest: bool = False
) -> None:
    """`rest`: all of it was in the plan with the hash that was given, and what else was in it is gone."""
    if max_objects is not None and objects > max_objects:
        raise Refused(
            "too many objects",
            why=f"the plan touches {objects}, and max_objects is {max_objects}",
            next_step="look at the plan with --check, then raise max_objects or select less; nothing was changed",
        )
    if plan_hash and plan_hash != found_hash and not rest:
        next_step = "look at the new plan with --check and give its plan_hash; nothing was changed"
        if not _HASH.fullmatch(plan_hash):
            raise Refused(f"{plan_hash!r} is not the hash of a plan", why=f"it is {found_hash}", next_step=next_step)
        differ = "the objects, the options or the cluster differ"
        raise Refused(
            "the plan has changed",
            why=f"it is now {found_hash}, and plan_hash is {plan_hash}; {differ}",
            next_step=next_step,
        )
