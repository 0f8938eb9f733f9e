# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster leaves its hub and loses its agent: two control planes. And clusters whose agent runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.fleets import WORK_FINALIZER, Detacher, agent, joined, managed_cluster_body, report, work
from integration.ranked import deletions, succeeded
from integration.stage import Stage, body
from lab.controllers import hub
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

HOSTED = "import.open-cluster-management.io/hosted-cluster"
KLUSTERLETS = "/apis/operator.open-cluster-management.io/v1/klusterlets"


@pytest.fixture(scope="module")
def spoke(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane.start(tmp_path_factory.mktemp("spoke"), controller_manager=False) as running:
        hub.install(running)
        yield running


def test_the_agent_goes_when_the_hub_is_clean_and_leftovers_are_named(
    stage: Stage, detach: Detacher, spoke: ControlPlane
) -> None:
    joined(stage, "two")
    stage.put(managed_cluster_body("two"))
    report(stage, "two")
    stage.put(work("w", "two", WORK_FINALIZER))
    applied = {"hubHash": "x", "agentID": "x", "manifestWorkName": "lost"}
    spoke.api.create(
        body("operator.open-cluster-management.io/v1", "Klusterlet", "klusterlet", "", spec={}),
        body("work.open-cluster-management.io/v1", "AppliedManifestWork", "x-lost", "", spec=applied),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "open-cluster-management-agent"}},
    )
    seen: list[int] = []

    def look(event: object) -> None:
        seen.append(len(spoke.api.get(KLUSTERLETS)[1]["items"]) if not seen or seen[-1] else 0)

    with agent(stage, "two"):
        result = succeeded(detach("two", spoke={"kubeconfig": str(spoke.admin.kubeconfig)}, on_event=look))
    assert spoke.api.get(KLUSTERLETS)[1]["items"] == []
    assert result["clusters"][0]["spoke"] == {
        "klusterlets": 1,
        "leftovers": ["AppliedManifestWork x-lost", "Namespace open-cluster-management-agent"],
    }
    assert seen[0] == 1


def test_works_on_the_hosting_cluster_go_last_and_in_order(stage: Stage, detach: Detacher, audit: AuditTrail) -> None:
    joined(stage, "guest")
    joined(stage, "host")
    stage.put(managed_cluster_body("guest"))
    report(stage, "guest")
    label = {HOSTED: "guest"}
    stage.put(
        work("own", "guest", WORK_FINALIZER),
        work("guest-hosted-kubeconfig", "host", WORK_FINALIZER, labels=label),
        work("guest-hosted-klusterlet", "host", WORK_FINALIZER, labels=label),
        work("guest-addon", "host", WORK_FINALIZER, labels=label),
        work("of-the-host", "host", WORK_FINALIZER),
    )
    with agent(stage, "guest", "host"):
        succeeded(detach("guest"))
    order = [name for name in deletions(audit, detach.user) if name not in ("guest", "two") and "sunset" not in name]
    assert order == ["own", "guest-addon", "guest-hosted-klusterlet", "guest-hosted-kubeconfig"]
    left = stage.api.get("/apis/work.open-cluster-management.io/v1/namespaces/host/manifestworks")[1]["items"]
    assert [one["metadata"]["name"] for one in left] == ["of-the-host"]
