# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`blockers_info` as tests call it, and what they look for in its answer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import blockers_info
from integration.ranked import succeeded
from integration.running import Result, run_job
from integration.stage import Stage
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User
from lab.waiting import until


class Explainer:
    def __init__(self, plane: ControlPlane) -> None:
        self.user = plane.user("explainer", (MASTERS,))

    def __call__(self, *, user: User | None = None, **options: Any) -> Result:
        return succeeded(run_job(blockers_info.JOB, options, (user or self.user).kubeconfig))


@pytest.fixture
def explain(plane: ControlPlane) -> Explainer:
    return Explainer(plane)


def row_of(result: Result, name: str) -> dict[str, Any]:
    [row] = [row for row in result["blockers"] if row["object"]["name"] == name]
    return row


def causes(row: dict[str, Any]) -> dict[str, str]:
    return {cause["what"]: cause["text"] for cause in row["causes"]}


def holder(result: Result, name: str) -> dict[str, Any]:
    [found] = row_of(result, name)["finalizers"]
    return dict(found)


def gone(stage: Stage, namespace: str, condition: str) -> None:
    """Delete a namespace, and wait until the server has said this about it."""
    path = f"/api/v1/namespaces/{namespace}"
    assert stage.api.delete(path)[0] == 200

    def says() -> bool:
        told = stage.api.get(path)[1].get("status", {}).get("conditions") or []
        return any(one["type"] == condition and one["status"] == "True" for one in told)

    until(says, f"{namespace} to say {condition}", every=0.1)
