# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a hub on a real API server: what it denies, what it lets pass, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import hub_guard
from integration.fleets import CLUSTERS, Detacher, addon, has_namespace, is_gone, managed_cluster_body, member, work
from integration.ranked import failed, succeeded
from integration.running import PlayRun, Result, run_job, run_playbook
from integration.stage import FOREIGN, Stage
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.users import User
from lab.waiting import until

pytestmark = pytest.mark.quick


class Guard:
    def __init__(self, user: User) -> None:
        self.user = user

    def __call__(self, state: str = "present", *, check_mode: bool = False, user: User | None = None) -> Result:
        return run_job(hub_guard.JOB, {"state": state}, (user or self.user).kubeconfig, check_mode=check_mode)


@pytest.fixture
def guard(detach: Detacher) -> Iterator[Guard]:
    """It is about the whole hub, which tests share: away with it afterwards."""
    guard = Guard(detach.user)
    yield guard
    guard("absent")


def answers(stage: Stage, namespace: str) -> tuple[int, int]:
    """What the API server says to a new addon and to a new work."""
    things = (addon("late", namespace), work("late", namespace))
    codes = [stage.api.post(stage.api.path_of(one, collection=True), one, dryRun="All")[0] for one in things]
    return codes[0], codes[1]


BOTH, NONE, ONLY_WORKS = (201, 201), (422, 422), (403, 201)


def test_a_cluster_is_guarded_from_its_end_on_and_no_other(stage: Stage, guard: Guard) -> None:
    name, other = member(stage, FOREIGN), member(stage)
    assert {name, other} <= set(succeeded(guard())["namespaces"])
    assert [answers(stage, one) for one in (name, other, stage.namespace)] == [BOTH, BOTH, BOTH]
    stage.api.delete(f"{CLUSTERS}/{name}")
    until(lambda: answers(stage, name) == ONLY_WORKS, "addons to be denied")
    stage.api.patch(f"{CLUSTERS}/{name}", {"metadata": {"finalizers": None}})
    until(lambda: answers(stage, name) == NONE, "works to be denied, too")
    assert [answers(stage, one) for one in (other, stage.namespace)] == [BOTH, BOTH]


def test_the_first_rule_covers_a_cluster_that_joined_since_the_second_after_the_next_time(
    stage: Stage, guard: Guard
) -> None:
    member(stage)
    succeeded(guard())
    name = member(stage, FOREIGN)
    stage.api.delete(f"{CLUSTERS}/{name}")
    until(lambda: answers(stage, name) == ONLY_WORKS, "addons to be denied")
    again = succeeded(guard())
    assert name in again["added"]
    stage.api.patch(f"{CLUSTERS}/{name}", {"metadata": {"finalizers": None}})
    until(lambda: answers(stage, name) == NONE, "works to be denied, too")


def test_it_stays_is_idempotent_and_can_be_taken_away(stage: Stage, guard: Guard, audit: AuditTrail) -> None:
    name = member(stage)
    checked = succeeded(guard(check_mode=True))
    assert (checked["changed"], name in checked["added"]) == (True, True)
    assert audit.writes(guard.user.name) == []
    assert succeeded(guard())["changed"] is True
    audit.begin_anew()
    again = succeeded(guard())
    assert name in again["namespaces"]
    assert again["added"] == []
    written = [event.name for event in audit.writes(guard.user.name)]
    assert written == [f"{one}.no-addons-or-works-without-a-cluster.sunset.dev" for one in again["dropped"]]
    assert succeeded(guard("absent", check_mode=True))["changed"] is True
    stage.api.delete(f"{CLUSTERS}/{name}")
    until(lambda: answers(stage, name) == NONE, "the guard to be there still")
    assert succeeded(guard("absent"))["changed"] is True
    assert answers(stage, name) == BOTH
    assert succeeded(guard("absent"))["changed"] is False


def test_what_is_without_a_cluster_already_is_told_and_its_namespace_guarded(stage: Stage, guard: Guard) -> None:
    stage.put(work("stray", stage.namespace))
    result = succeeded(guard())
    assert f"ManifestWork {stage.namespace}/stray" in result["without_cluster"]
    assert answers(stage, stage.namespace) == NONE


def test_who_may_not_write_policies_is_told_before_the_first_write(
    stage: Stage, guard: Guard, as_user: AsUser, audit: AuditTrail
) -> None:
    member(stage)
    reader = as_user("guards-nothing", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}])
    assert "not allowed" in failed(guard(user=reader))
    assert audit.writes(reader.name) == []


# -- the role ----------------------------------------------------------------------------------------------------------


def role(user: User, **variables: Any) -> PlayRun:
    named = {f"managed_cluster_{key}": value for key, value in variables.items()}
    task = {"ansible.builtin.include_role": {"name": "sunset.kube.managed_cluster"}, "vars": named}
    return run_playbook([task], user.kubeconfig)


@pytest.mark.slow
def test_the_role_guards_for_good_removes_and_takes_the_guard_away(stage: Stage, guard: Guard) -> None:
    name, other = member(stage), member(stage)
    stage.put(work("w", name))
    run = role(guard.user, names=[name], namespace="keep", guard="permanent")
    assert run.rc == 0, run.stdout
    assert is_gone(stage, name)
    assert has_namespace(stage, name)
    assert answers(stage, name) == NONE, "the guard stays"
    assert answers(stage, other) == BOTH
    again = role(guard.user, names=[name], namespace="keep", guard="permanent")
    assert again.rc == 0, again.stdout
    (bound,) = [one for one in again.results if "without_cluster" in one]
    assert name not in bound["added"] + bound["dropped"]
    assert [one["changed"] for one in again.results if "clusters" in one] == [False]
    gone = role(guard.user, guard="remove")
    assert gone.rc == 0, gone.stdout
    assert answers(stage, name) == BOTH


@pytest.mark.slow
def test_the_role_leaves_no_binding_of_a_namespace_that_is_gone(stage: Stage, guard: Guard) -> None:
    name = member(stage)
    run = role(guard.user, names=[name], guard="permanent")
    assert run.rc == 0, run.stdout
    assert not has_namespace(stage, name)
    again = succeeded(guard(check_mode=True))
    assert name not in again["namespaces"] + again["dropped"]


def test_a_cluster_that_joins_again_is_welcome(stage: Stage, guard: Guard) -> None:
    name = member(stage)
    succeeded(guard())
    stage.api.delete(f"{CLUSTERS}/{name}")
    until(lambda: answers(stage, name) == NONE, "the guard to notice")
    stage.put(managed_cluster_body(name))
    until(lambda: answers(stage, name) == BOTH, "the guard to notice")
