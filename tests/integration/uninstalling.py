# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of the uninstall share: running it as a user of its own, on manifests or a namespace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.jobs import uninstall
from integration.ranked import OnEvent, manifest
from integration.running import Result, run_job
from integration.stage import Body
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.plane.users import User


class Uninstaller:
    """Runs `uninstall`, by default as somebody who may do everything."""

    def __init__(self, plane: ControlPlane) -> None:
        self.user = plane.user("uninstaller", (MASTERS,))

    def __call__(
        self,
        *things: Body,
        check_mode: bool = False,
        user: User | None = None,
        stop: StopSign | None = None,
        on_event: OnEvent | None = None,
        **options: Any,
    ) -> Result:
        params: dict[str, Any] = {"timeout": 60, **options}
        if things:
            params["manifests"] = [manifest(thing) for thing in things]
        where = (user or self.user).kubeconfig
        return run_job(uninstall.JOB, params, where, check_mode=check_mode, stop=stop, on_event=on_event)


@pytest.fixture
def uninstaller(plane: ControlPlane) -> Uninstaller:
    return Uninstaller(plane)


def findings(result: Mapping[str, Any], level: str) -> list[str]:
    return [f"{row['check']}: {row['text']}" for row in result["preflight"] if row["level"] == level]


def left(result: Mapping[str, Any]) -> dict[str, str]:
    """Leftovers by kind and name, with the trace they were known by."""
    return {f"{row['object']['kind']} {row['object']['name']}": row["trace"] for row in result["leftovers"]}
