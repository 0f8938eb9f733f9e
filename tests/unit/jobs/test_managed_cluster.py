# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind the module `managed_cluster`: options and the whole result."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, perform
from ansible_collections.sunset.kube.plugins.module_utils.jobs.managed_cluster import ARGUMENTS, JOB
from ansible_collections.sunset.kube.plugins.modules import managed_cluster
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import SERVED, cluster_on
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTER_ROLE_BINDINGS,
    CLUSTERS,
    ROLE_BINDINGS,
    WORKS,
    conditions,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import ROLES


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    made = FakeServer(*SERVED, CLUSTERS, ADDONS, WORKS, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS, ROLES)
    made.add(CLUSTERS, "edge", "", spec={"hubAcceptsClient": True}, status=conditions())
    made.add(WORKS, "w", "edge")
    monkeypatch.setattr(front, "Cluster", lambda load, clock, stop, parallel: cluster_on(made, None, stop, parallel))
    return made


def result_of(check_mode: bool = False, **params: Any) -> dict[str, Any]:
    defaults = {name: option.get("default") for name, option in ARGUMENTS.items()}
    given = {**defaults, **dict.fromkeys(CONNECTION), "in_cluster": "auto", "host": "http://api.example.com"}
    wanted = {**given, "name": "edge", "parallel": 1, "freeze": False, **params}
    return perform(JOB, wanted, check_mode=check_mode, stop=StopSign(), show=lambda event: None)


def test_a_run_returns_result_diff_plan_and_timeline(server: FakeServer) -> None:
    result = result_of(evidence_dir="anywhere")
    assert (result["changed"], result.get("msg")) == (True, None)
    assert (server.get(CLUSTERS, "edge"), server.get(WORKS, "w", "edge")) == (None, None)
    assert result["_evidence"]["plan"]["plan_hash"] == result["plan_hash"]
    assert result["diff"]["before"].endswith("ManagedCluster edge\n")


def test_every_key_of_the_result_is_documented_and_every_documented_one_is_returned(server: FakeServer) -> None:
    told = {key for result in (result_of(check_mode=True), result_of()) for key in result if not key.startswith("_")}
    # The fronts add the address and the folder.
    assert told - {"changed", "diff"} == set(yaml.safe_load(managed_cluster.RETURN)) - {
        "cluster",
        "cluster_name",
        "evidence",
        "undo_command",
    }


def test_check_mode_writes_nothing(server: FakeServer) -> None:
    result = result_of(check_mode=True)
    assert (result["changed"], "failed" in result) == (True, False)
    assert server.get(WORKS, "w", "edge") is not None


def test_bad_options_are_refused_before_anything_is_asked(server: FakeServer) -> None:
    result = result_of(wait_for=["a/b"])
    assert (result["failed"], "wait_for[0]" in result["msg"], server.asked) == (True, True, [])


def test_a_failure_returns_the_same_keys_and_a_message(server: FakeServer) -> None:
    good, bad = result_of(check_mode=True), result_of(check_mode=True, plan_hash="0" * 16)
    assert bad.keys() - good.keys() == {"failed", "msg"}
