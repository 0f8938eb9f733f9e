# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task is about to do to its node, worked out before anything is done: for applying and for taking back.

Room: network (pure). Private to the collection.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..problems import Refused
from .after import state_after
from .differences import differences
from .journal import Contents
from .journal_entries import Action, Entry, Stage
from .merging import over
from .reversal import Kept
from .revert import generate_revert, not_reverted
from .shapes import State, by_key, entries_of
from .synthetic import synthetic_pre_state
from .three_way import plan_reversal, plan_way_back


@dataclass(frozen=True)
class Intent:
    """`change` is applied to `now`; the rest is what the journal keeps, and what people are told."""

    policy: str
    action: Action
    now: State
    change: State
    pre: State
    desired: State
    revert: State
    of: str = ""  # the entry a reversal takes back
    mode: str = ""
    reverted: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()
    drifted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def effects(self) -> list[str]:
        """What will be another one, in words. Empty: the node is as it should be."""
        return differences(self.now, state_after(self.now, self.change), ("now", "then")) if self.change else []


def intent_to_apply(policy: str, desired: State, now: State, contents: Contents) -> Intent:
    """A policy that is applied anew is taken back to before its first generation, not only to the one before."""
    pre, whole = now, desired
    last = contents.live().get(policy)
    if last is not None:
        back = plan_way_back(last.revert, last.pre, last.desired, now, contents.claims(besides=policy))
        pre, whole = state_after(now, back.state), union_of(last.desired, desired)
    stays = not_reverted(desired, now)
    return Intent(
        policy,
        Action.APPLY,
        now,
        desired,
        pre,
        whole,
        generate_revert(whole, pre),
        warnings=(f"cannot be taken back later, as nobody knows what it was: {', '.join(stays)}",) if stays else (),
    )


def union_of(first: Mapping[str, Any], second: Mapping[str, Any]) -> State:
    """All that two generations of a policy have said; the second has the last word."""
    found = over(copy.deepcopy(dict(second)), copy.deepcopy(dict(first)))
    old, new = by_key(first), by_key(second)
    found["interfaces"] = [over(new.get(key, {}), old.get(key, {})) for key in dict.fromkeys([*old, *new])]
    for block in ("routes", "route-rules"):
        entries = [*entries_of(first, block), *entries_of(second, block)]
        found[block] = {"config": [entry for i, entry in enumerate(entries) if entry not in entries[:i]]}
    return {part: value for part, value in found.items() if value not in ([], {"config": []})}


def intent_to_revert(
    policy: str, mode: str, given: State | None, force: bool, now: State, contents: Contents
) -> Intent | None:
    """None: it was taken back before, and there is nothing left to do."""
    claims = contents.claims(besides=policy)
    entry = contents.live().get(policy)
    if mode != "delete" and entry is not None:
        found = plan_way_back(entry.revert, entry.pre, entry.desired, now, claims)
        return _reversal(policy, "journal", found, now, entry.id)
    if mode != "delete" and _was_reverted(contents.chain(policy)):
        return None
    if mode != "delete" and not (mode == "auto" and force):
        raise Refused(
            "cannot revert policy",
            which=policy,
            why="the journal of this node does not know it, so nobody knows what was there before",
            next_step="use mode: delete with desired_state, which removes what the policy made and brings nothing back",
        )
    desired = given if given is not None else entry.desired if entry is not None else None
    if desired is None:
        raise Refused(
            "cannot delete policy",
            which=policy,
            why="the journal of this node does not know what it wanted",
            next_step="give its desired_state",
        )
    found = plan_reversal(synthetic_pre_state(desired, now), desired, now, claims)
    return _reversal(policy, "delete", found, now, entry.id if entry is not None else "")


def _reversal(policy: str, mode: str, found: Any, now: State, of: str) -> Intent:
    return Intent(
        policy,
        Action.REVERT,
        now,
        found.state,
        now,
        found.state,
        generate_revert(found.state, now) if found.state else {},
        of=of,
        mode=mode,
        reverted=found.reverted,
        kept=found.kept,
        drifted=found.drifted,
    )


def _was_reverted(chain: list[Entry]) -> bool:
    return any(entry.stage is Stage.REVERTED for entry in chain)
