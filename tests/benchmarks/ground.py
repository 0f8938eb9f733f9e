# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scenario stands on: a control plane of its own, a user the server treats like any other, and a namespace."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bystanders import Patience
from benchmarks.kinds import WIDGET_DEFINITION
from lab.plane.controlplane import ControlPlane
from lab.plane.grants import grant
from lab.plane.users import User

NAMESPACE = "bench"
_EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@dataclass(frozen=True)
class Ground:
    plane: ControlPlane
    user: User  # not in system:masters: those bypass API priority and fairness, and no task runs like that
    server_version: str
    patience: Patience


@contextlib.contextmanager
def fresh_ground(patience: Patience) -> Iterator[Ground]:
    """A new control plane, without controllers: nothing else writes or watches while we measure. With Go's defaults."""
    with (
        tempfile.TemporaryDirectory(prefix="sunset-kube-bench-") as directory,
        ControlPlane.start(Path(directory) / "plane", controller_manager=False, environment={}) as plane,
    ):
        user = plane.user("bench")
        grant(plane.api, user, [_EVERYTHING])
        plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        plane.api.apply_crd(WIDGET_DEFINITION)
        yield Ground(plane, user, plane.api.get("/version")[1]["gitVersion"], patience)
