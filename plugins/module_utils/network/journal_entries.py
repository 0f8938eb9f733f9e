# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One entry of the journal: what a policy found, what it did, and how to go back.

Room: network (pure). Private to the collection. Written before the change, so that the way back is known to whoever
is left afterwards: a watchdog, a boot guard, or a person years later.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..problems import BadOption, Refused
from .hidden import masked
from .shapes import State

SCHEMA = 1
# Becomes a file name: no separators, no leading dot, nothing a shell or a person could misread.
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class Stage(str, enum.Enum):
    PENDING = "pending"  # being changed; nobody has confirmed it yet
    COMMITTED = "committed"  # confirmed: the policy is live
    ROLLED_BACK = "rolled_back"  # never came to be
    REVERTED = "reverted"  # taken back on purpose


class Action(str, enum.Enum):
    APPLY = "apply"
    REVERT = "revert"


# From where to where. A late confirmation finds "rolled_back" and is an error, never another try.
NEXT: dict[Stage, frozenset[Stage]] = {
    Stage.PENDING: frozenset({Stage.COMMITTED, Stage.ROLLED_BACK}),
    Stage.COMMITTED: frozenset({Stage.REVERTED}),
    Stage.ROLLED_BACK: frozenset(),
    Stage.REVERTED: frozenset(),
}


@dataclass(frozen=True)
class Holder:
    """Who is at it: a process of a boot. A number alone may belong to somebody else after a reboot or a while."""

    pid: int
    boot_id: str
    started: str = ""  # the kernel's start time of the process, as text

    def __str__(self) -> str:
        return f"process {self.pid}"


@dataclass(frozen=True)
class Entry:
    """`times` by event: `created`, then each stage. Text of the caller's choosing, RFC 3339 by custom."""

    id: str
    policy: str
    generation: int
    stage: Stage
    action: Action
    backend: str
    pre: State
    desired: State
    revert: State
    transaction: Mapping[str, Any] = field(default_factory=dict)  # what the backend needs, such as a checkpoint's path
    baseline: tuple[Mapping[str, Any], ...] = ()  # which probes worked before
    holder: Holder | None = None
    kept: tuple[Mapping[str, str], ...] = ()  # what a reversal left to other policies
    times: Mapping[str, str] = field(default_factory=dict)
    of: str = ""  # a revert's entry: the id of the entry it takes back
    schema: int = SCHEMA

    @property
    def is_pending(self) -> bool:
        return self.stage is Stage.PENDING

    @property
    def is_live(self) -> bool:
        """Counts as a policy that wants something: committed, and not taken back."""
        return self.action is Action.APPLY and self.stage is Stage.COMMITTED

    def moved_to(self, stage: Stage, at: str, **more: Any) -> Entry:
        """The same, one stage on. The same stage again is no error: confirming twice is confirming once."""
        if stage is self.stage and not more:
            return self
        if stage is not self.stage and stage not in NEXT[self.stage]:
            why = f"it is {self.stage.value}, and from there it cannot become {stage.value}"
            raise Refused("cannot go on with transaction", which=self.id, why=why, next_step=NEXT_STEPS[self.stage])
        return dataclasses.replace(self, stage=stage, times={**self.times, stage.value: at}, **more)

    def as_dict(self) -> dict[str, Any]:
        found = dataclasses.asdict(self)
        return {**found, "stage": self.stage.value, "action": self.action.value}

    def shown(self) -> dict[str, Any]:
        """For results and logs: without secrets."""
        found: dict[str, Any] = masked(self.as_dict())
        return found


NEXT_STEPS = {
    Stage.PENDING: "wait for it, or roll it back",
    Stage.COMMITTED: "revert the policy",
    Stage.ROLLED_BACK: "find out why it was rolled back, then apply the policy again",
    Stage.REVERTED: "apply the policy again",
}


def checked_name(name: str, what: str) -> str:
    if not NAME.fullmatch(name) or ".." in name:
        why = "use small letters, digits, dots and dashes, at most 253, beginning and ending with a letter or digit"
        raise BadOption(f"bad {what}", which=repr(name), why=why)
    return name


NEEDED: dict[str, type] = {
    "id": str, "policy": str, "generation": int, "stage": str, "action": str, "backend": str,
    "pre": dict, "desired": dict, "revert": dict,
}  # fmt: skip


def entry_of(document: Any) -> Entry:
    """An entry as it was stored. Raises `ValueError` with the reason for anything else."""
    if not isinstance(document, Mapping):
        raise ValueError("it is no JSON object")
    if document.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {document.get('schema')!r}, this version reads {SCHEMA}")
    known = {one.name for one in dataclasses.fields(Entry)}
    missing = sorted(set(NEEDED) - set(document))
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    wrong = [name for name, kind in NEEDED.items() if not isinstance(document[name], kind)]
    if wrong:
        raise ValueError(f"wrong type of {', '.join(wrong)}")
    holder = document.get("holder")
    try:
        return Entry(
            **{
                **{key: value for key, value in document.items() if key in known},
                "stage": Stage(document["stage"]),
                "action": Action(document["action"]),
                "holder": Holder(**holder) if holder else None,
                "baseline": tuple(document.get("baseline") or ()),
                "kept": tuple(document.get("kept") or ()),
            }
        )
    except TypeError as problem:
        raise ValueError(str(problem)) from problem
