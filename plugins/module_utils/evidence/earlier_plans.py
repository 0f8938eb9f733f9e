# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans that earlier runs left in the evidence directory: what somebody has seen under a hash.

Room: evidence. A file is consent only if its folder is ours alone, and if what it says gives the hash that it states.
What it has shown is taken from that very content, and from nothing else in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..problems import Refused
from ..shown import NOTHING_SHOWN, Shown
from ..terms import Terms
from .own_files import own_folder

_UID = 4  # of an object as a plan hashes it: api_version, kind, namespace, name, uid
_WAVES, _RELEASES, _DETACHED = 3, 4, slice(5, 6)  # of a step; the last only where there is something


def plan_under(plan_hash: str | None, directory: str | None) -> tuple[Shown, str]:
    """What the plan with this hash has shown. Where a file states the hash and does not count, why."""
    why = ""
    if not directory or not plan_hash:
        return NOTHING_SHOWN, why
    for folder in sorted(_folders(os.path.expanduser(directory)), reverse=True):
        if not _states(folder, plan_hash):
            continue
        try:
            with own_folder(str(folder)) as ours:
                shown = shown_under(plan_hash, json.loads(ours.text("plan.json")))
        except Refused as refused:
            why = f"{folder / 'plan.json'} is no consent to plan {plan_hash}: {refused.which}, {refused.why}"
            continue
        except (OSError, ValueError, RecursionError):
            shown = NOTHING_SHOWN
        if shown:
            return shown, ""
        why = f"{folder / 'plan.json'} is no consent to plan {plan_hash}: its content does not give this hash"
    return NOTHING_SHOWN, why


def shown_under(plan_hash: str, plan: Mapping[str, Any]) -> Shown:
    """What a plan has shown, if its content gives this hash; else nothing."""
    try:
        terms = _terms(plan)
        *drains, deletion = plan["hashed"]
        parts = plan["parts"]
        stated = [*(drain[2] for drain in drains), deletion]
        if terms.hash_of(plan["hashed"]) != plan_hash or len(parts) != len(stated):
            return NOTHING_SHOWN
        if any(_terms(part).hash_of(part["hashed"]) != each for part, each in zip(parts, stated, strict=True)):
            return NOTHING_SHOWN
        steps = [step for part in parts for step in part["hashed"]]
        return Shown(
            deleted=frozenset(row[_UID] for step in steps for wave in step[_WAVES] for row in wave),
            released=frozenset(row[_UID] for step in steps for row in step[_RELEASES]),
            detached=frozenset(row[0] for step in steps for rows in step[_DETACHED] for row in rows),
            terms=terms.digest,
            policies={str(drain[0]): str(drain[1]) for drain in drains},
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return NOTHING_SHOWN


def _terms(plan: Mapping[str, Any]) -> Terms:
    return Terms(plan["terms"]["clusters"], plan["terms"]["options"])


def _folders(directory: str) -> Iterator[Path]:
    """Without `latest`, which leads to one of them."""
    place = Path(directory)
    return (entry for entry in (place.iterdir() if place.is_dir() else ()) if not entry.is_symlink())


def _states(folder: Path, plan_hash: str) -> bool:
    try:
        return plan_hash in (folder / "plan.json").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
