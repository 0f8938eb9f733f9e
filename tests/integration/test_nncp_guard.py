# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that can be taken back stay as they are: our admission policy beside that of the handlers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.sunset.kube.plugins.module_utils.jobs import nncp_guard
from ansible_collections.sunset.kube.plugins.module_utils.network.cluster.guard import immutability
from integration.nmstate_conditions import of_policy
from integration.nmstate_fleet import FLEET, OPT_IN, ORIGINAL, Fleet, phases, vlan
from integration.nmstate_handlers import POLICIES
from integration.ranked import failed, succeeded
from integration.running import Result, run_job
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.users import User

pytestmark = pytest.mark.quick

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
    _status, now = fleet.api.get(f"{POLICIES}/{mine}")
    own = now["spec"]["nodeSelector"]
    neutralised = [
        replace(annotation(ORIGINAL), json.dumps(own, sort_keys=True)),
        replace("/spec/nodeSelector", NEUTRAL),
    ]
    assert change(fleet, mine, *neutralised) == 200
    assert change(fleet, mine, *neutralised, changes[0]) == 403


# What a policy may be for. No node of any test has these labels.
SELECTORS: list[dict[str, str] | None] = [
    {"lab.example.com/one": "a-1"},
    {"b": "", "a.example.com/x": "1", "lab.example.com/c": "a.b_c"},
    {},
    None,
]


def to(selector: dict[str, str] | None) -> dict[str, Any]:
    path = "/spec/nodeSelector"
    return {"op": "remove", "path": path} if selector is None else replace(path, selector)


def recording(selector: dict[str, str] | None) -> dict[str, Any]:
    return replace(annotation(ORIGINAL), json.dumps(selector, sort_keys=True))


def test_a_policy_that_was_kept_off_its_nodes_goes_back_to_its_own_and_to_no_others(fleet: Fleet, guard: Guard) -> None:
    forget = {"op": "remove", "path": annotation(ORIGINAL)}
    own = [fleet.policy(wait=False, nodeSelector=selector) for selector in SELECTORS[:2]]
    aside = [fleet.policy(wait=False, nodeSelector=NEUTRAL) for _selector in SELECTORS]
    for policy, selector in zip(aside, SELECTORS, strict=True):
        assert fleet.api.patch(f"{POLICIES}/{policy}", [recording(selector)])[0] == 200
    done = {"status": {"conditions": of_policy("ignored")}}
    for policy in (*own, *aside):  # or else the policy of the handlers has its say
        assert fleet.api.patch(f"{POLICIES}/{policy}/status", done)[0] == 200
    succeeded(guard())

    for selector, policy in zip(SELECTORS, own, strict=False):
        others = [one for one in SELECTORS if one != selector] + [{**(selector or {}), "more": "1"}, NEUTRAL]
        told = [change(fleet, policy, recording(one), to(NEUTRAL)) for one in (selector, *others)]
        assert told == [200] + [403] * len(others), "it is kept off only with its own selector recorded"
    for selector, policy in zip(SELECTORS, aside, strict=True):
        others = [one for one in SELECTORS if one != selector] + [{**(selector or {}), "more": "1"}]
        others.append({"lab.example.com/one": "a-2"})
        told = [change(fleet, policy, to(one), forget) for one in (selector, *others)]
        assert told == [200] + [403] * len(others), selector
        assert {change(fleet, policy, recording(one)) for one in (*others, NEUTRAL)} == {403}, "the record stays"
        assert change(fleet, policy, forget) == 403
        assert change(fleet, policy, replace("/metadata/labels", {"team": "network"})) == 200


@pytest.mark.slow
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
