# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which finalizers may go, and why the others stay: one pure function for each objection.

Room: teardown (pure). Everything a rule needs is in the case and the facts; nothing is fetched here.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

from ..objects import Record
from .catalogue import known
from .owners import Life, Owner
from .verdicts import Fate, Verdict

_GLOB = frozenset("*?[")


@dataclass(frozen=True)
class Wish:
    """What the task asks for."""

    finalizers: tuple[str, ...]
    terminating_only: bool = True
    grace: float = 0.0
    owner: str = "gone"
    allow_protected: bool = False


@dataclass(frozen=True)
class Case:
    """One finalizer on one object, at one moment of the server's time."""

    record: Record
    finalizer: str
    wish: Wish
    now: float
    owner: Owner | None = None


def is_wanted(finalizer: str, wish: Wish) -> bool:
    return any(fnmatch.fnmatchcase(finalizer, pattern) for pattern in wish.finalizers)


def is_named(finalizer: str, wish: Wish) -> bool:
    """Named in full, not merely caught by a glob."""
    return finalizer in wish.finalizers


def judge(case: Case) -> Verdict:
    """The first rule that objects decides; silence means release."""
    objections = (rule(case) for rule in RULES)
    return next(filter(None, objections), Verdict(Fate.RELEASE, "named by the task"))


def not_being_deleted(case: Case) -> Verdict | None:
    if case.wish.terminating_only and not case.record.terminating:
        return Verdict(
            Fate.KEEP, "the object is not being deleted; set terminating_only: false to release it all the same"
        )
    return None


def still_in_grace(case: Case) -> Verdict | None:
    age = case.record.deleting_for(case.now)
    if age is None or age >= case.wish.grace:
        return None
    return Verdict(Fate.KEEP, f"deleted {age:.0f} s ago, and grace is {case.wish.grace:.0f} s")


def guards_money_or_data(case: Case) -> Verdict | None:
    entry = known(case.finalizer)
    if entry is None or not entry.protected:
        return None
    if not is_named(case.finalizer, case.wish):
        return Verdict(Fate.PROTECTED, f"it guards {entry.guards}; a glob never takes it, write its full name")
    if not case.wish.allow_protected:
        return Verdict(
            Fate.PROTECTED, f"it guards {entry.guards} (owner: {entry.owner}); set allow_protected: true to remove it"
        )
    return None


def owner_is_alive(case: Case) -> Verdict | None:
    if case.wish.owner != "gone" or case.owner is None or case.owner.life is not Life.ALIVE:
        return None
    return Verdict(Fate.KEEP, f"its controller is alive: {case.owner.why}; let it finish, or set owner: any")


def owner_may_be_starting(case: Case) -> Verdict | None:
    """Somebody may just have brought it back, so that it finishes by itself."""
    if case.wish.owner != "gone" or case.owner is None or not case.owner.starting:
        return None
    return Verdict(Fate.KEEP, f"its controller may be starting: {case.owner.why}; wait a minute, or set owner: any")


Rule = Callable[[Case], "Verdict | None"]
# Cheap and certain ones first; the last two need facts that are only fetched when something passed the others.
RULES_WITHOUT_OWNER: tuple[Rule, ...] = (not_being_deleted, still_in_grace, guards_money_or_data)
RULES: tuple[Rule, ...] = (*RULES_WITHOUT_OWNER, owner_is_alive, owner_may_be_starting)


def passes_without_owner(case: Case) -> bool:
    return not any(rule(case) for rule in RULES_WITHOUT_OWNER)
