# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind `blockers_info`: its whole result, and lines while it runs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, perform
from ansible_collections.sunset.kube.plugins.module_utils.jobs.blockers_info import JOB
from ansible_collections.sunset.kube.plugins.modules import blockers_info
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, NAMESPACES, Told, cluster_on


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    made = FakeServer()
    made.add(NAMESPACES, "shop")
    made.add(DOMAINS, "web", finalizers=["x.example.com/y"], deleted=True)
    monkeypatch.setattr(front, "Cluster", lambda load, clock, stop, parallel: cluster_on(made, None, stop, parallel))
    return made


def result_of(told: Told, **params: Any) -> dict[str, Any]:
    defaults = {name: option.get("default") for name, option in JOB.arguments.items()}
    given = {**defaults, **dict.fromkeys(CONNECTION), "in_cluster": "auto", "host": "http://api.example.com"}
    return perform(JOB, {**given, "parallel": 1, **params}, check_mode=False, stop=StopSign(), show=told)


def test_the_result_is_what_is_documented_and_nothing_is_written(server: FakeServer) -> None:
    told = Told()
    result = result_of(told, namespace="shop")
    told = {key for key in result if not key.startswith("_")} - {"changed"}
    assert told == set(yaml.safe_load(blockers_info.RETURN)) - {"cluster", "cluster_name", "evidence"}
    assert result["changed"] is False
    asked = {asked.method: asked for asked in server.asked}
    assert set(asked) == {"GET", "POST", "PATCH"}
    assert asked["POST"].path.endswith("/selfsubjectaccessreviews"), "a question"
    assert asked["PATCH"].query == {"dryRun": "All"}
    [row] = [row for row in result["blockers"] if row["object"]["name"] == "web"]
    assert set(row["finalizers"][0]) == {"name", "owner", "alive", "why", "meaning", "danger", "protected", "instead"}


def test_without_dry_runs_nothing_but_reads_and_questions_is_sent(server: FakeServer) -> None:
    result_of(Told(), namespace="shop", dry_run=False)
    assert set(server.methods()) == {"GET", "POST"}


def test_bad_options_are_refused_before_anything_is_asked(server: FakeServer) -> None:
    result = result_of(Told(), name="web")
    assert (result["failed"], server.asked) == (True, [])
    assert "needs kind" in result["msg"]


def test_with_an_evidence_directory_the_graph_travels_with_the_result(server: FakeServer) -> None:
    evidence = result_of(Told(), namespace="shop", evidence_dir="anywhere")["_evidence"]
    titles = [node["title"] for node in evidence["graph"]["nodes"]]
    assert titles == ["Domain web", "nobody knows who"]
    assert evidence["plan"] == {}


@pytest.mark.parametrize("option", ["host", "context", "kubeconfig"])
def test_commands_say_for_which_cluster_they_are_where_an_option_has_chosen_it(server: FakeServer, option: str) -> None:
    text = result_of(Told(), namespace="shop", **{"host": None, option: "stage"})["text"]
    cluster = text[0].removeprefix("cluster ")
    assert text[text.index("next:") + 1] == f"  (for {cluster}: point kubectl and ansible there first)"


def test_commands_need_no_such_word_where_kubectl_speaks_to_the_same_cluster(server: FakeServer) -> None:
    text = result_of(Told(), namespace="shop", host=None)["text"]
    assert text[text.index("next:") + 1].startswith("  1. ")
