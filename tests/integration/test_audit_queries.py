# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What automation controller counts as managed: our queries, run by a real jq on results of real runs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.fleets import Detacher, member
from integration.nmstate_fleet import FLEET, Fleet
from integration.running import run_module, run_playbook
from integration.stage import CLEANUP, Stage, widget
from lab.plane.controlplane import ControlPlane

FILE = Path(__file__).parents[2] / "extensions" / "audit" / "event_query.yml"
QUERIES: dict[str, dict[str, str]] = yaml.safe_load(FILE.read_text())


def counted(module: str, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As the controller does it: the result goes in, each thing that counts comes out."""
    done = subprocess.run(
        ["jq", "--compact-output", QUERIES[f"sunset.kube.{module}"]["query"]],
        input=json.dumps(result),
        check=True,
        capture_output=True,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_cluster_counts_once_by_whichever_module_and_wherever_that_ran(stage: Stage, plane: ControlPlane) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    options = {
        "api_version": "lab.example.com/v1",
        "kind": "Widget",
        "namespace": stage.namespace,
        "finalizers": [CLEANUP],
    }
    here = run_playbook([{"sunset.kube.finalizer": options}], plane.admin.kubeconfig)
    there = run_module("finalizer", options, plane.admin.kubeconfig)
    assert (here.rc, there.rc) == (0, 0), here.stdout + there.stdout
    found = [counted(name.rpartition(".")[2], run.result) for name in QUERIES for run in (here, there)]
    canonical = [[one["canonical_facts"] for one in entries] for entries in found]
    server = yaml.safe_load(plane.admin.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    assert canonical == [[{"api_server": server}]] * (2 * len(QUERIES))
    assert all(one["name"] and one["facts"] for entries in found for one in entries)


@pytest.mark.parametrize("module", sorted(name.rpartition(".")[2] for name in QUERIES))
def test_a_task_that_never_reached_a_cluster_counts_nothing(module: str) -> None:
    for result in ({"failed": True, "msg": "no cluster"}, {"skipped": True, "changed": False}):
        assert counted(module, result) == []


def test_clusters_that_leave_a_hub_count_beside_it(stage: Stage, detach: Detacher) -> None:
    name = member(stage)
    task = {"sunset.kube.managed_cluster": {"name": name, "timeout": 60}}
    run = run_playbook([task], detach.user.kubeconfig, check=True)
    assert run.rc == 0, run.stdout
    hub, leaving = counted("managed_cluster", run.result)
    assert hub["canonical_facts"] == {"api_server": run.result["cluster"]}
    assert leaving["canonical_facts"] == {"hub": run.result["cluster"], "managed_cluster": name}


def test_nodes_whose_network_is_taken_back_count_beside_their_cluster(fleet: Fleet) -> None:
    nodes = fleet.nodes(2)
    options = {"policy": f"vlan-{fleet.id}", "state": "prepared", "node_selector": {FLEET: fleet.id}}
    run = run_playbook([{"sunset.kube.nncp_revert": options}], fleet.user.kubeconfig, check=True)
    assert run.rc == 0, run.stdout
    cluster, *counted_nodes = counted("nncp_revert", run.result)
    assert cluster["canonical_facts"] == {"api_server": run.result["cluster"]}
    assert [one["canonical_facts"]["node"] for one in counted_nodes] == sorted(nodes)
