# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that can be taken back stay as they are: our admission policy beside that of the handlers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils.jobs import nncp_guard
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.guard import immutability
from integration.nmstate_fleet import FLEET, OPT_IN, ORIGINAL, Fleet, phases, vlan
from integration.nmstate_handlers import POLICIES
from integration.ranked import failed, succeeded
from integration.running import Result, run_job
from lab.audit import AuditTrail
from lab.fixtures import AsUser
from lab.users import User

FILE = Path(__file__).parents[2] / "operator/config/policies/nncp-immutable.yaml"
NEUTRAL = {"sunset.dev/neutralised": "true"}


class Guard:
    def __init__(self, user: User) -> None:
        self.user = user

    def __call__(self, state: str = "present", *, check_mode: bool = False, user: User | None = None) -> Result:
        return run_job(nncp_guard.JOB, {"state": state}, (user or self.user).kubeconfig, check_mode=check_mode)


@pytest.fixture
def guard(fleet: Fleet) -> Iterator[Guard]:
    """It is about the whole cluster, which tests share: away with it afterwards."""
    made = Guard(fleet.user)
    yield made
    made("absent")


def change(fleet: Fleet, policy: str, *operations: dict[str, Any]) -> int:
    """What the API server says to a change; nothing is kept."""
    return fleet.api.patch(f"{POLICIES}/{policy}", list(operations), dryRun="All")[0]


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def annotation(key: str) -> str:
    return f"/metadata/annotations/{key.replace('/', '~1')}"


def test_the_file_for_the_operator_says_the_same() -> None:
    policy, binding = yaml.safe_load_all(FILE.read_text(encoding="utf-8"))
    for item, ours in zip((policy, binding), immutability(), strict=True):
        assert {key: value for key, value in item.items() if key not in ("apiVersion", "kind")} == ours


def test_the_spec_of_a_policy_that_opted_in_cannot_be_changed_metadata_and_opt_in_can(
    fleet: Fleet, guard: Guard
) -> None:
    fleet.nodes(1)
    mine, free = fleet.policy(), fleet.policy(vlan(200), opt_in=False)
    changes = [
        replace("/spec/desiredState", vlan(300)),
        replace("/spec/maxUnavailable", 3),
        replace("/spec/nodeSelector", {FLEET: "another"}),
        replace("/spec/nodeSelector", NEUTRAL),  # without keeping the old one
    ]
    assert [change(fleet, mine, one) for one in changes] == [200] * 4
    assert succeeded(guard())["changed"] is True
    assert [change(fleet, mine, one) for one in changes] == [403] * 4
    assert [change(fleet, free, one) for one in changes] == [200] * 4
    assert change(fleet, mine, replace("/metadata/labels", {"team": "network"})) == 200
    assert change(fleet, mine, {"op": "remove", "path": annotation(OPT_IN)}) == 200
    assert change(fleet, mine, {"op": "remove", "path": annotation(OPT_IN)}, changes[0]) == 403, "one after the other"
    neutralised = [replace(annotation(ORIGINAL), "{}"), replace("/spec/nodeSelector", NEUTRAL)]
    assert change(fleet, mine, *neutralised) == 200
    assert change(fleet, mine, *neutralised, changes[0]) == 403


def test_with_the_guard_a_policy_is_taken_back_undone_and_taken_back_again(fleet: Fleet, guard: Guard) -> None:
    good, bad = fleet.nodes(2)
    policy = fleet.prepared_policy()
    succeeded(guard())
    fleet.handlers.fails = lambda node, name: node == bad and name != policy
    undone = fleet.revert(policy, on_failure="undo")
    assert "back on its nodes" in failed(undone)
    fleet.handlers.fails = lambda node, name: False
    assert phases(succeeded(fleet.revert(policy))) == {good: "reverted", bad: "reverted"}


def test_it_is_idempotent_can_be_taken_away_and_check_mode_writes_nothing(
    fleet: Fleet, guard: Guard, audit: AuditTrail
) -> None:
    assert succeeded(guard(check_mode=True))["changed"] is True
    assert audit.writes(guard.user.name) == []
    assert [succeeded(guard())["changed"] for _time in range(2)] == [True, False]
    audit.begin_anew()
    assert succeeded(guard("absent", check_mode=True))["changed"] is True
    assert audit.writes(guard.user.name) == []
    assert [succeeded(guard("absent"))["changed"] for _time in range(2)] == [True, False]


def test_who_may_not_write_policies_is_told_before_the_first_write(
    guard: Guard, as_user: AsUser, audit: AuditTrail
) -> None:
    rules = [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]},
        {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["create"]},
    ]
    reader = as_user("guards-no-networks", rules)
    assert "not allowed" in failed(guard(user=reader))
    assert audit.writes(reader.name) == []
