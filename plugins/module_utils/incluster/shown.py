# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a plan has shown, kept in the status: what was approved can be gone on with after a restart.

Room: incluster (pure). A run that was cut off leaves less to do, so its plan has another hash; it goes on without a new
approval if everything that is left was in the plan that somebody saw, and what is to be done with it is still the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from ..shown import NOTHING_SHOWN, Shown, shown_by
from .kinds import GATES

# A status has its limits: 22 characters an object.
MOST = 5000
# In the status → in what was shown.
_PACKED = {"objects": "deleted", "released": "released", "work": "work"}
# These say how long and how many at most, never what is done: they may change after an approval.
_PATIENCE = frozenset({"timeout", "maxObjects", "failFast"})


def digest_of(spec: Mapping[str, Any]) -> str:
    """The same for all specs that ask for the same work."""
    work = {key: value for key, value in spec.items() if key not in GATES | _PATIENCE}
    return hashlib.sha256(json.dumps(work, sort_keys=True).encode()).hexdigest()[:16]


def kept_of(plan: Mapping[str, Any], plan_hash: str, digest: str) -> dict[str, Any]:
    """For the status; without objects where there are too many, or one is called differently."""
    shown = shown_by(plan)
    kept: dict[str, Any] = {"planHash": plan_hash, "spec": digest, "terms": shown.terms}
    if shown.policies:
        kept["policies"] = dict(shown.policies)
    try:
        packed = {place: _packed(getattr(shown, kind)) for place, kind in _PACKED.items() if getattr(shown, kind)}
    except ValueError:
        return kept
    return kept if shown.size > MOST else {**kept, **packed}


def shown_in(status: Mapping[str, Any], plan_hash: str | None, digest: str) -> Shown:
    """What the plan with this hash has shown; nothing where another one was shown, or for another spec."""
    kept = status.get("shown") or {}
    if not plan_hash or (kept.get("planHash"), kept.get("spec")) != (plan_hash, digest):
        return NOTHING_SHOWN
    return Shown(
        **{kind: _unpacked(kept.get(place)) for place, kind in _PACKED.items()},
        terms=kept.get("terms") or "",
        policies=kept.get("policies") or {},
    )


def is_approved(item: Mapping[str, Any]) -> bool:
    """Whether its approval is for the plan that was shown, and for the spec as it is now."""
    return _approves_what_was_shown(item) and _kept_in(item).get("spec") == digest_of(item.get("spec") or {})


def is_for_another_spec(item: Mapping[str, Any], digest: str) -> bool:
    """Whether its approval was given to a plan of another spec than this one, whatever plan this one has."""
    return _approves_what_was_shown(item) and _kept_in(item).get("spec") != digest


def _approves_what_was_shown(item: Mapping[str, Any]) -> bool:
    approval = (item.get("spec") or {}).get("approve")
    return bool(approval) and approval == _kept_in(item).get("planHash")


def _kept_in(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return (item.get("status") or {}).get("shown") or {}


def _packed(uids: Iterable[str]) -> str:
    return base64.b64encode(b"".join(uuid.UUID(uid).bytes for uid in sorted(uids))).decode()


def _unpacked(text: str | None) -> frozenset[str]:
    packed = base64.b64decode(text or "")
    return frozenset(str(uuid.UUID(bytes=packed[place : place + 16])) for place in range(0, len(packed), 16))
