# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The jobs behind the modules `ranked_delete` and `members_info`: options and the whole result."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, Job, perform
from ansible_collections.sunset.kube.plugins.module_utils.jobs import members_info as members_job
from ansible_collections.sunset.kube.plugins.module_utils.jobs import ranked_delete as ranked_job
from ansible_collections.sunset.kube.plugins.modules import members_info, ranked_delete
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, answer, cluster_on
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import named_members

JOBS = {job.name: job for job in (ranked_job.JOB, members_job.JOB)}
WEB = named_members((DOMAINS, "web"))


# -- results -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    made = FakeServer()
    made.add(DOMAINS, "web")
    monkeypatch.setattr(front, "Cluster", lambda load, clock, stop, parallel: cluster_on(made, None, stop, parallel))
    # Served by every API server; here without any objects.
    nothing = answer(200, {"metadata": {"resourceVersion": "1"}, "items": None})
    made.refuse("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nothing)
    return made


def params_of(job: Job, **params: Any) -> dict[str, Any]:
    defaults = {name: option.get("default") for name, option in job.arguments.items()}
    given = {**defaults, **dict.fromkeys(CONNECTION), "in_cluster": "auto", "host": "http://api.example.com"}
    return {**given, "members": WEB, "parallel": 1, **params}


def result_of(name: str, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    job = JOBS[name]
    return perform(job, params_of(job, **params), check_mode=check_mode, stop=StopSign(), show=lambda event: None)


def test_a_run_returns_result_diff_plan_undo_and_timeline(server: FakeServer) -> None:
    result = result_of("ranked_delete", evidence_dir="anywhere")
    assert (result["changed"], "failed" in result, server.objects) == (True, False, {})
    assert result["diff"]["before"] == "1. namespaced resources: Domain shop/web\n"
    evidence = result["_evidence"]
    assert evidence["plan"]["plan_hash"] == result["plan_hash"]
    assert [item["metadata"]["name"] for item in evidence["undo"]["steps"][0]["objects"]] == ["web"]
    events = [row["event"] for row in evidence["timeline"]]
    assert list(dict.fromkeys(events)) == ["looked", "planned", "stepbegan", "did", "stepended"]


def test_a_timeline_row_of_a_delete_names_step_object_and_version(server: FakeServer) -> None:
    result = result_of("ranked_delete", evidence_dir="anywhere")
    [row] = [row for row in result["_evidence"]["timeline"] if row["event"] == "did"]
    assert (row["detail"], row["object"]["name"], row["resource_version"].isdigit()) == (
        "namespaced resources",
        "web",
        True,
    )


@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_every_key_of_the_result_is_documented(server: FakeServer, check_mode: bool) -> None:
    told = {key for key in result_of("ranked_delete", check_mode) if not key.startswith("_")} - {"changed", "diff"}
    assert told <= set(yaml.safe_load(ranked_delete.RETURN))


def test_every_documented_key_is_returned_by_some_run(server: FakeServer) -> None:
    told = {key for check_mode in (True, False) for key in result_of("ranked_delete", check_mode)}
    # The fronts add the address and the folder.
    assert set(yaml.safe_load(ranked_delete.RETURN)) - told == {"cluster", "cluster_name", "evidence", "undo_command"}


def test_members_info_returns_what_is_documented_and_writes_nothing(server: FakeServer) -> None:
    result = result_of("members_info")
    told = {key for key in result if not key.startswith("_")} - {"changed"}
    assert told == set(yaml.safe_load(members_info.RETURN)) - {"cluster", "cluster_name"}
    assert (result["changed"], server.writes()) == (False, [])


@pytest.mark.parametrize("name", JOBS)
def test_bad_options_are_refused_before_anything_is_asked(server: FakeServer, name: str) -> None:
    result = result_of(name, members={"namespace": ""})
    assert (result["failed"], result["changed"], server.asked) == (True, False, [])


def test_a_failure_returns_the_same_keys_and_a_message(server: FakeServer) -> None:
    good = result_of("ranked_delete", check_mode=True)
    bad = result_of("ranked_delete", check_mode=True, plan_hash="0" * 16)
    assert bad.keys() - good.keys() == {"failed", "msg"}
