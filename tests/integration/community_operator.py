# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The played maintenance-operator as a process, for the namespaces of one test, and what it leaves in them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.maintaining import Body
from lab import machine, processes
from lab.plane.api import Api
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.waiting import until

ROOT = Path(__file__).resolve().parents[2]
PLAYED = ROOT / "tests" / "lab" / "controllers" / "maintenance_operator.py"
PREFIX = "maintenance-operator.mithucste30.io/"
FLAG, MARKER, SERVICE = PREFIX + "enabled", PREFIX + "original-service", PREFIX + "service-name"
KOPF = "kopf.zalando.org/"  # what kopf itself writes on every object it has seen


class CommunityOperator:
    """Runs in these namespaces until the test ends."""

    def __init__(self, api: Api, namespaces: tuple[str, ...], process: processes.Process, log: Path) -> None:
        self.api, self.namespaces, self.process, self.log = api, namespaces, process, log

    def made(self) -> list[str]:
        """Its backups and pages, as plural/name, in all its namespaces."""
        found = []
        for namespace in self.namespaces:
            for plural in ("configmaps", "pods", "services"):
                listed = self.api.get(f"/api/v1/namespaces/{namespace}/{plural}", labelSelector=_ITS)[1]["items"]
                found += [f"{plural}/{one['metadata']['name']}" for one in listed if not is_going(one)]
        return sorted(found)

    def flag(self, route: Body, name: str = FLAG, value: str | None = "true") -> None:
        """As a user does it, with kubectl annotate."""
        status, answer = self.api.patch(self.api.path_of(route), {"metadata": {"annotations": {name: value}}})
        assert status == 200, answer

    def has_failed_on(self, route: Body) -> bool:
        """Its patch was refused."""
        named = f"[{route['metadata']['namespace']}/{route['metadata']['name']}]"
        return any(named in line and "failed with an exception" in line for line in self.log.read_text().splitlines())


_ITS = "app in (maintenance-page,maintenance-operator)"
Begin = Callable[..., CommunityOperator]


def is_going(item: Mapping[str, Any]) -> bool:
    return bool(item["metadata"].get("deletionTimestamp"))


@pytest.fixture(scope="session")
def kopf_program() -> Path:
    """kopf and the client of the version the operator pins, in an environment of their own."""
    command = [sys.executable, str(ROOT / "scripts" / "environments.py"), "maintenance_operator"]
    made = subprocess.run(command, env=machine.environment(), stdout=subprocess.PIPE, text=True, check=True)
    return Path(made.stdout.strip()) / "bin" / "kopf"


@pytest.fixture
def community_operator(plane: ControlPlane, kopf_program: Path, route_kinds: None, tmp_path: Path) -> Iterator[Begin]:
    """Starts it; with the environment that its chart would give it."""
    user = plane.user("maintenance-operator", (MASTERS,))
    with contextlib.ExitStack() as leaving:

        def begin(*namespaces: str, environment: Mapping[str, str] | None = None) -> CommunityOperator:
            for namespace in namespaces:
                account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
                until(lambda path=account: plane.api.get(path)[0] == 200, "the account that a Pod needs")
            log = tmp_path / "maintenance-operator.log"
            watched = [f"--namespace={namespace}" for namespace in namespaces]
            command = [str(kopf_program), "run", "--standalone", *watched, str(PLAYED)]
            known = {**os.environ, "KUBECONFIG": str(user.kubeconfig), **(environment or {})}
            known.pop("PYTHONPATH", None)
            process = processes.start(command, log, environment=known)
            leaving.callback(processes.stop, [process])
            begun = "Initial authentication has finished"
            processes.wait_until_healthy(process, "the maintenance-operator", lambda: begun in log.read_text(), log)
            return CommunityOperator(plane.api, namespaces, process, log)

        yield begin
