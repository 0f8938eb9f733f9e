# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job behind the module `finalizer`: from a task's options to the whole result."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils import front
from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.front import CONNECTION, perform
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from ansible_collections.sunset.kube.plugins.modules import finalizer as module
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, answer, cluster_on, named, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.finalizer_runs import DEFAULTS, F

PARAMS: dict[str, Any] = {
    **dict.fromkeys(CONNECTION),
    **DEFAULTS,
    "in_cluster": "auto",
    "host": "http://api.example.com",
    "evidence_dir": "/anywhere",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """A server that every cluster talks to, with one object that can go and one that cannot."""
    made = FakeServer()
    made.add(DOMAINS, "free", deleted=True, finalizers=[F])
    made.add(DOMAINS, "alive", finalizers=[F])
    monkeypatch.setattr(front, "Cluster", lambda load, clock, stop, parallel: cluster_on(made, None, stop, parallel))
    return made


def result_of(check_mode: bool = False, **params: Any) -> dict[str, Any]:
    return perform(JOB, {**PARAMS, **params}, check_mode=check_mode, stop=StopSign(), show=lambda event: None)


def test_a_run_returns_result_diff_plan_and_timeline(server: FakeServer) -> None:
    result = result_of()
    assert (result["changed"], "failed" in result, result["counts"]) == (
        True,
        False,
        {"looked_at": 2, "release": 1, "keep": 1, "removed": 1, "gone": 1, "failed": 0},
    )
    assert result["diff"]["before"] == f"Domain shop/free: {F}\n"
    assert result["_evidence"]["plan"]["plan_hash"] == result["plan_hash"]
    assert [row["event"] for row in result["_evidence"]["timeline"]] == ["looked", "planned", "did"]
    assert result["requests"] == {
        "list": 5,
        "watch": 0,
        "get": 3,  # one of them for the cluster's identity
        "delete": 0,
        "patch": 1,
        "post": 1,
        "put": 0,
        "throttled_seconds": 0.0,
    }


def test_a_run_that_fails_returns_the_same_keys_and_a_message(server: FakeServer) -> None:
    good = result_of(check_mode=True)
    server.refuse("PATCH", "/apis", refusal(403, "Forbidden", "denied"))
    bad = result_of(check_mode=True)
    assert bad.keys() - good.keys() == {"failed", "msg"}
    assert bad["msg"].startswith("could not remove finalizers from Domain shop/free: HTTP 403 Forbidden, denied.")


NO = answer(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": False}})
REFUSED: dict[str, dict[str, Any]] = {
    "too many objects": {"max_objects": 1},
    "another plan": {"plan_hash": "0123456789abcdef"},
    "a missing right": {},
}


@pytest.mark.parametrize("params", named(REFUSED))
def test_a_plan_that_is_refused_is_returned_with_the_same_keys(server: FakeServer, params: dict[str, Any]) -> None:
    server.add(DOMAINS, "second", deleted=True, finalizers=[F])
    good = result_of(check_mode=True)
    if not params:
        server.refuse("POST", "/apis/authorization.k8s.io", NO)
    bad = result_of(check_mode=True, **params)
    assert (bad.keys() - good.keys(), bad["plan_hash"], bad["plan"]) == (
        {"failed", "msg"},
        good["plan_hash"],
        good["plan"],
    )


@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_every_key_of_the_result_is_documented(server: FakeServer, check_mode: bool) -> None:
    told = {key for key in result_of(check_mode) if not key.startswith("_")} - {"changed", "diff"}
    assert told <= set(yaml.safe_load(module.RETURN))


def test_every_documented_key_is_returned_by_some_run(server: FakeServer) -> None:
    told = {key for check_mode in (True, False) for key in result_of(check_mode)}
    # The fronts add the address and the folder.
    assert set(yaml.safe_load(module.RETURN)) - told == {"cluster", "cluster_name", "evidence"}


def test_bad_options_are_refused_before_anything_is_asked(server: FakeServer) -> None:
    result = result_of(finalizers=["*"])
    assert (result["failed"], server.asked) == (True, [])
