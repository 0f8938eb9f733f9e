# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What came of a task about maintenance, and what all its parts share while it runs.

Room: maintenance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..clock import Clock, Deadline, StopSign
from ..events import Tell, Warned
from ..objects import ObjectRef
from ..problems import Problem
from ..profiles.maintenance_operator import DEFAULT_NAMES, Names
from .backup_key import NO_KEY, BackupKey
from .changes import Operation

if TYPE_CHECKING:
    from ..kube.cluster import Cluster
    from ..kube.web import WebAnswer


class AskWeb(Protocol):
    """GET a path of a host from whoever listens at a URL."""

    def __call__(self, url: str, host: str, path: str, *, validate_certs: bool, timeout: float) -> WebAnswer: ...


@dataclass
class Run:
    """Who is asked, what time it is, who is told."""

    cluster: Cluster
    clock: Clock
    stop: StopSign
    tell: Tell
    deadline: Deadline
    ask_web: AskWeb | None = None  # nobody asks where nothing is shown
    key: BackupKey = NO_KEY  # with which backups are signed


@dataclass
class TargetOutcome:
    """One route: `state` is what it shows now."""

    ref: ObjectRef
    state: str = "unchanged"  # enabled, disabled, exempt, failed, pending
    page: str = ""
    strategy: str = ""
    locations: list[dict[str, Any]] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    changed: bool = False
    why: str = ""
    until: float | None = None
    since: str = ""
    by: str = ""
    reason: str = ""
    paused: list[str] = field(default_factory=list)  # owners that wait for it
    holders: list[str] = field(default_factory=list)  # on whose behalf it is in maintenance
    item: Mapping[str, Any] | None = None  # as it was read, and what was sent, for previews
    operations: Sequence[Operation] = ()
    hidden: Sequence[Any] = ()  # entries in them that must not be shown
    in_front: Mapping[str, Any] | None = None  # of an overlay, what may be shown


@dataclass(frozen=True)
class PageSetOutcome:
    namespace: str
    name: str
    digest: str
    state: str  # made, kept, released, removed


@dataclass
class MaintenanceOutcome:
    state: str
    check_mode: bool = False
    targets: list[TargetOutcome] = field(default_factory=list)
    page_sets: list[PageSetOutcome] = field(default_factory=list)
    coverage: list[dict[str, Any]] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    swept: list[str] = field(default_factory=list)
    verified: list[str] = field(default_factory=list)  # hosts and paths seen behind the page
    operator: Names = DEFAULT_NAMES  # how the maintenance-operator calls its annotations here
    plan_hash: str = ""
    changed: bool = False
    warnings: list[str] = field(default_factory=list)
    failure: Problem | None = None
    seconds: float = 0.0

    def warn(self, text: str, tell: Tell) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            tell(Warned(text))


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
