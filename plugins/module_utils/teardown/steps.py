# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of a deletion as the task wishes it: steps, and which objects each of them takes.

Room: teardown (pure values). Made by `dialects`, used by `plan`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any


class Standard(enum.Enum):
    """The groups that exist without being described."""

    NAMESPACED = "namespaced-resources"
    CLUSTER_SCOPED = "cluster-scoped-resources"
    CRDS = "crds"
    EMPTY = "empty"


@dataclass(frozen=True)
class Narrowing:
    """Which objects of a type: by names and namespaces (globs) and by labels. Nothing given means all."""

    names: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    label_selector: str = ""


@dataclass(frozen=True)
class TypeRule:
    """One type a step takes. `everything` reaches beyond the members to all objects of the type."""

    path: str  # where it stands in the task's options, for messages
    kind: str
    group: str | None = None  # None: wherever the name is unambiguous
    version: str | None = None
    everything: bool = False
    narrowing: Narrowing = Narrowing()


@dataclass(frozen=True)
class StepRule:
    """One step. Either `standard` or `types`; `exclude` takes objects out again."""

    name: str
    rank: int
    path: str = ""
    standard: Standard | None = None
    types: tuple[TypeRule, ...] = ()
    narrowing: Narrowing = Narrowing()
    exclude: tuple[TypeRule, ...] = ()
    force: bool = False
    skip: bool = False
    timeout: float | None = None
    context: str | None = None
    before_delete: dict[str, Any] = field(default_factory=dict)
    only_if_clean: bool = False  # kept when anything of the steps before is still there


DEFAULT_STEPS = (
    StepRule("namespaced resources", 100, standard=Standard.NAMESPACED),
    StepRule("cluster-scoped resources", 200, standard=Standard.CLUSTER_SCOPED),
    StepRule("custom resource definitions", 300, standard=Standard.CRDS),
)
