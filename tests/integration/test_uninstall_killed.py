# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed at every stage, one after the other, and run again each time: the end is that of an undisturbed run.

The proxy holds back the answer to a write of the stage, which the server has done by then, and the whole play is killed
while it waits for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integration.broken_apps import RELEASE, Shop, webhook_dead
from integration.collection_playbooks import play_named, playing_named
from integration.running import PATIENCE
from lab.faults import FaultProxy, Rule, SlowAnswer
from lab.plane.controlplane import ControlPlane

# In the order a run comes by: method and path of the write, and whether it is only tried.
STAGES: dict[str, dict[str, Any]] = {
    "rehearsal": {"method": "DELETE"},
    "webhooks": {"method": "DELETE", "path": "/validatingwebhookconfigurations/", "writes": True},
    "custom resources": {"method": "DELETE", "path": "/orders/", "writes": True},
    "finalizers": {"method": "PATCH", "path": "/(orders|storefronts)/", "writes": True},
    "workloads": {"method": "DELETE", "path": "/deployments/", "writes": True},
    "leases": {"method": "DELETE", "path": "/leases/", "writes": True},
    "definitions": {"method": "DELETE", "path": "/customresourcedefinitions/", "writes": True},
    "records": {"method": "DELETE", "path": "/secrets/sh.helm", "writes": True},
}
# As test_uninstall_broken.py has it for runs that nobody disturbs.
LEFT = {"ConfigMap shop-tax-records"}


def test_killed_at_every_stage_it_ends_as_an_undisturbed_run(
    shop: Shop, plane: ControlPlane, faults: FaultProxy, tmp_path: Path
) -> None:
    webhook_dead(shop)
    shop.end_operator()
    variables: dict[str, Any] = {
        "release": RELEASE,
        "namespace": shop.namespace,
        "confirm": "skip",
        "timeout": 60,
        "instances": "delete",
        "volumes": "delete",
        "force": True,
        "force_after": 0,
        "evidence_dir": str(tmp_path / "evidence"),
    }
    for stage, wanted in STAGES.items():
        rule = faults.add(Rule(SlowAnswer(PATIENCE), times=1, **wanted))
        with playing_named("sunset.kube.uninstall", tmp_path / stage, faults.kubeconfig(), **variables) as play:
            play.until(lambda rule=rule: is_held(rule, faults), f"its write in stage {stage}")
            play.kill()
        faults.clear()
    run = play_named("sunset.kube.uninstall", tmp_path / "last", plane.admin.kubeconfig, **variables)
    assert run.rc == 0, run.stdout
    assert {f"{one.kind} {one.name}" for one in shop.left()} == LEFT


def is_held(rule: Rule, faults: FaultProxy) -> bool:
    return any(one.fault is rule.fault and one.served is not None for one in faults.requests)
