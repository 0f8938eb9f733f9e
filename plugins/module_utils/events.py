# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens during a run, as facts. evidence/ turns them into lines and files; nobody else formats them.

Shared by every room and private to the collection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .objects import ObjectRef


@dataclass(frozen=True)
class Reached:
    """Which cluster all that follows is about: address, context and kubeconfig. In no timeline."""

    cluster: str


@dataclass(frozen=True)
class Looked:
    """A kind was listed."""

    kind: str
    found: int
    scope: str


@dataclass(frozen=True)
class Planned:
    """The plan stands; nothing was written yet."""

    summary: str
    plan_hash: str


@dataclass(frozen=True)
class Did:
    """One write and what it came to."""

    action: str
    object: ObjectRef
    effect: str
    detail: str = ""
    resource_version: str = ""
    dry_run: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a step is. `waiting` counts objects by what holds them."""

    step: str
    done: int
    total: int
    seconds_left: float
    waiting: dict[str, int] = field(default_factory=dict)
    word: str = "gone"


@dataclass(frozen=True)
class StepBegan:
    """The barrier before this step has opened."""

    step: str
    rank: int
    total: int


@dataclass(frozen=True)
class StepEnded:
    """Nothing of this step is left, or its time is over."""

    step: str
    rank: int
    deleted: int
    survivors: int
    seconds: float
    released: int = 0
    gone: int = 0  # deleted by other clients
    back: int | None = None  # of an undo: how many came back


@dataclass(frozen=True)
class Noted:
    """What is going on now, for whoever wonders why nothing moves."""

    text: str


@dataclass(frozen=True)
class Warned:
    """Something the person should know that stops nothing."""

    text: str


@dataclass(frozen=True)
class SetAside:
    """What is about to go, kept whole. Never shown and in no timeline: it may hold Secrets."""

    keepsakes: Any


Event: TypeAlias = Reached | Looked | Planned | StepBegan | Did | Progress | StepEnded | Noted | Warned | SetAside
Tell = Callable[[Event], None]
