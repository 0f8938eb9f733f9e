# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The jobs behind the modules `drain` and `freeze`: options and the whole result."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, perform
from ansible_collections.sunset.kube.plugins.module_utils.jobs import drain as drain_job
from ansible_collections.sunset.kube.plugins.modules import drain
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, cluster_on

F = "example.com/cleanup"
PROFILE = {
    "name": "shop",
    "finalizers": [F],
    "operator_kinds": [{"group": "ingress.example.com", "kind": "Domain"}],
    "workloads": ["app=shop"],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    made = FakeServer()
    made.add(DOMAINS, "web", finalizers=[F])
    monkeypatch.setattr(front, "Cluster", lambda load, clock, stop, parallel: cluster_on(made, None, stop, parallel))
    return made


def result_of(check_mode: bool = False, **params: Any) -> dict[str, Any]:
    defaults = {name: option.get("default") for name, option in drain_job.ARGUMENTS.items()}
    given = {**defaults, **dict.fromkeys(CONNECTION), "in_cluster": "auto", "host": "http://api.example.com"}
    wanted = {**given, "profile": PROFILE, "parallel": 1, "settle": 0, **params}
    return perform(drain_job.JOB, wanted, check_mode=check_mode, stop=StopSign(), show=lambda event: None)


def test_a_run_returns_result_diff_plan_and_timeline(server: FakeServer) -> None:
    result = result_of(evidence_dir="anywhere")
    assert (result["changed"], "failed" in result, result["drain_status"]) == (True, False, "completed")
    stored = server.get(DOMAINS, "web")
    assert stored is not None
    assert stored["metadata"]["finalizers"] == []
    assert result["diff"]["before"] == f"Domain shop/web: {F}\n"
    assert result["_evidence"]["plan"]["plan_hash"] == result["plan_hash"]
    assert [row["event"] for row in result["_evidence"]["timeline"] if row["event"] != "looked"] == [
        *("planned", "stepbegan", "did", "stepended"),
    ]


def test_a_draft_is_returned_for_auto_and_nothing_is_written(server: FakeServer) -> None:
    result = result_of(profile="auto")
    assert ([draft["name"] for draft in result["draft_profiles"]], result["changed"], server.writes()) == (
        ["example"],
        False,
        [],
    )


def test_every_key_of_the_result_is_documented_and_every_documented_one_is_returned(server: FakeServer) -> None:
    told = {
        key
        for result in (result_of(check_mode=True), result_of(profile="auto"), result_of())
        for key in result
        if not key.startswith("_")
    }
    # The fronts add the address and the folder.
    assert told - {"changed", "diff"} == set(yaml.safe_load(drain.RETURN)) - {
        "cluster",
        "cluster_name",
        "evidence",
        "undo_command",
    }


def test_the_table_names_what_goes_what_is_let_go_and_what_stays(server: FakeServer) -> None:
    """It is what somebody approves."""
    cluster = "cluster http://api.example.com:6443"
    assert result_of(check_mode=True)["table"] == [
        cluster,
        "policy Retain",
        "Domain: 0 to delete, 1 to let go",
        f"  let go shop/web, without {F}",
    ]
    server.add(DOMAINS, "other", finalizers=[F], annotations={"helm.sh/resource-policy": "keep"})
    assert result_of(check_mode=True, policy="Delete")["table"] == [
        cluster,
        "policy Delete",
        "Domain: 1 to delete, 1 to let go",
        "  delete shop/web",
        f"  let go shop/other, without {F}",
    ]


def test_a_long_table_is_cut_and_says_so(server: FakeServer) -> None:
    for number in range(300):
        server.add(DOMAINS, f"more-{number}", finalizers=[F])
    table = result_of(check_mode=True)["table"]
    assert len(table) < 200
    assert table[-1] == "  … and 201 more"


def test_bad_options_are_refused_before_anything_is_asked(server: FakeServer) -> None:
    result = result_of(profile="ngrock")
    assert (result["failed"], "did you mean ngrok?" in result["msg"], server.asked) == (True, True, [])


def test_a_failure_returns_the_same_keys_and_a_message(server: FakeServer) -> None:
    good, bad = result_of(check_mode=True), result_of(check_mode=True, plan_hash="0" * 16)
    assert bad.keys() - good.keys() == {"failed", "msg"}
