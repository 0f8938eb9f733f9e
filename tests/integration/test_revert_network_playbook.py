# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook and the role that take network policies back on a cluster: what a person really starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.collection_playbooks import play_named
from integration.nmstate_fleet import FLEET, OPT_IN, Fleet, phases, vlan
from integration.nmstate_handlers import POLICIES
from integration.running import PlayRun, run_module
from lab.plane.audit import AuditTrail


def revert_network(directory: Path, fleet: Fleet, *arguments: str, **variables: Any) -> PlayRun:
    """`ansible-playbook sunset.kube.revert_network`, as the documentation says."""
    return play_named(
        "sunset.kube.revert_network", directory, fleet.user.kubeconfig, *arguments, **{"confirm": "skip", **variables}
    )


def outcome(run: PlayRun) -> dict[str, Any]:
    found = [result for result in run.results if "max_unavailable" in result]
    assert len(found) == 1, run.stdout
    return found[0]


@pytest.mark.quick
def test_prepared_guarded_applied_checked_taken_back(fleet: Fleet, tmp_path: Path, audit: AuditTrail) -> None:
    nodes = fleet.nodes(2)
    name, selector = f"vlan-{fleet.id}", {FLEET: fleet.id}
    prepared = revert_network(
        tmp_path / "prepare", fleet, nncp=name, state="prepared", node_selector=selector, guard="present"
    )
    assert prepared.rc == 0, prepared.stdout
    fleet.policy(name=name)
    denied = fleet.api.patch(f"{POLICIES}/{name}", {"spec": {"desiredState": vlan(200)}})
    assert denied[0] == 403, denied
    audit.begin_anew()
    checked = revert_network(tmp_path / "check", fleet, "--check", "--diff", nncp=name)
    assert checked.rc == 0, checked.stdout
    assert '"mtu": 1500' in checked.stdout
    assert audit.writes(fleet.user.name) == []
    evidence = tmp_path / "evidence"
    variables = {"nncp": name, "plan_hash": outcome(checked)["plan_hash"], "evidence_dir": str(evidence)}
    run = revert_network(tmp_path / "run", fleet, **variables, guard="absent")
    assert run.rc == 0, run.stdout
    assert phases(outcome(run)) == dict.fromkeys(nodes, "reverted")
    assert f"{nodes[0]}: reverted" in run.stdout
    folder = evidence / "latest"
    assert {"plan.json", "timeline.jsonl", "report.md"} <= {file.name for file in folder.iterdir()}
    assert fleet.look(name) is None


def test_the_playbook_fails_with_the_reason_and_asks_for_what_is_missing(fleet: Fleet, tmp_path: Path) -> None:
    fleet.nodes(1)
    policy = fleet.policy(opt_in=False)
    refused = revert_network(tmp_path / "refused", fleet, nncp=policy)
    assert refused.rc != 0
    assert f"kubectl annotate nncp {policy} {OPT_IN}=true" in refused.stdout
    asked = revert_network(tmp_path / "asked", fleet)
    assert asked.rc != 0
    assert "-e nncp=vlan100" in asked.stdout


def test_shipped_as_a_module_it_does_the_same(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.prepared_policy()
    run = run_module("nncp_revert", {"policy": policy}, fleet.user.kubeconfig)
    assert run.rc == 0, run.stdout
    assert phases(run.result) == {node: "reverted"}
