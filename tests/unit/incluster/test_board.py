# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the status of a resource shows while a run goes on, what it keeps of a plan, and when it says stop."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Planned, Progress, StepBegan
from ansible_collections.sunset.kube.plugins.module_utils.incluster.board import Board
from ansible_collections.sunset.kube.plugins.module_utils.incluster.shown import digest_of, is_approved
from ansible_collections.sunset.kube.plugins.module_utils.shown import NOTHING_SHOWN

from ..fakes import FakeClock
from .one_resource import OneResource

FIRST, SECOND = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


def board_of(server: OneResource, job: str, stop: StopSign | None = None, spec: str = "s") -> Board:
    return Board({**server.named, "spec_digest": spec}, server, FakeClock(), stop, job=job)  # type: ignore[arg-type]


def plan(*uids: str) -> dict[str, Any]:
    return {"steps": [{"objects": [{"object": {"uid": uid}} for uid in uids]}]}


def test_the_rest_of_an_approved_plan_does_not_take_the_place_of_what_was_shown() -> None:
    server = OneResource("Uninstall")
    board_of(server, "uninstall").settle({"plan_hash": "whole"}, "planned", plan(FIRST, SECOND))
    board_of(server, "uninstall").settle({"plan_hash": "rest"}, "planned", plan(SECOND), approved="whole")
    assert board_of(server, "uninstall").shown("whole").deleted == {FIRST, SECOND}
    assert server.status["planHash"] == "rest"


def test_a_new_plan_that_is_approved_takes_the_place_of_the_one_before() -> None:
    server = OneResource("Uninstall")
    board_of(server, "uninstall").settle({"plan_hash": "old"}, "planned", plan(FIRST))
    board_of(server, "uninstall").settle({"plan_hash": "new"}, "planned", plan(SECOND), approved="new")
    assert board_of(server, "uninstall").shown("new").deleted == {SECOND}


def test_what_was_shown_for_another_spec_was_not_shown() -> None:
    server = OneResource("Drain")
    board_of(server, "drain", spec="retain").settle({"plan_hash": "abc"}, "planned", plan(FIRST))
    assert board_of(server, "drain", spec="retain").shown("abc").deleted == {FIRST}
    assert board_of(server, "drain", spec="delete").shown("abc") == NOTHING_SHOWN


def test_a_changed_spec_whose_plan_has_the_same_hash_is_not_approved_by_the_old_approval() -> None:
    server = OneResource("ManagedClusterDeletion", spec={"spokeContent": "orphan"})
    job, before = "managed_cluster", digest_of({"spokeContent": "orphan"})
    board_of(server, job, spec=before).settle({"plan_hash": "abc"}, "planned", plan(FIRST))
    server.item["spec"] = {"spokeContent": "delete", "approve": "abc"}
    after = digest_of(server.item["spec"])
    for _look in range(2):
        board_of(server, job, spec=after).settle({"plan_hash": "abc"}, "planned", plan(FIRST))
        assert not is_approved(server.item)
    del server.item["spec"]["approve"]
    board_of(server, job, spec=after).settle({"plan_hash": "abc"}, "planned", plan(FIRST))
    server.item["spec"]["approve"] = "abc"
    assert is_approved(server.item), "it was given anew"


def test_a_plan_that_cannot_be_carried_out_yet_was_seen_all_the_same() -> None:
    """One cluster of many does not answer: who approves the plan wants the others to go."""
    server = OneResource("ManagedClusterDeletion")
    board_of(server, "managed_cluster").settle({"plan_hash": "abc", "failed": True}, "refused", plan(FIRST))
    assert board_of(server, "managed_cluster").shown("abc").deleted == {FIRST}


def test_the_plan_is_that_of_the_main_module() -> None:
    """An Uninstall puts a page in front of the application: that has a plan of its own, which nobody approves."""
    server = OneResource("Uninstall", status={"planHash": "mine", "outcome": "planned"})
    page = board_of(server, "maintenance")
    page.hear(Planned("one route", "its own"))
    page.settle({"plan_hash": "its own", "text": ["a route"]}, "done", plan(SECOND))
    assert server.status == {"planHash": "mine", "outcome": "planned"}
    assert server.events == {}
    board_of(server, "maintenance").settle({"plan_hash": "its own", "failed": True}, "refused")
    assert server.status == {"planHash": "mine", "outcome": "refused"}, "that is why the whole stopped"


def test_the_plan_of_an_uninstall_is_not_taken_for_that_of_its_drains() -> None:
    server = OneResource("Uninstall")
    board = board_of(server, "uninstall")
    for plan_hash in ("whole", "of a drain"):
        board.hear(Planned("three objects", plan_hash))
        board._clock.sleep(60)
    board.hear(StepBegan("Domains", 1, 10))
    assert server.status["planHash"] == "whole"
    assert [event["reason"] for event in server.events.values()] == ["Planned"]


def test_a_network_policy_is_planned_by_a_module_of_another_name() -> None:
    server = OneResource("NetworkRevert")
    board_of(server, "nncp_revert").settle({"plan_hash": "abc"}, "planned")
    assert server.status["planHash"] == "abc"


def test_a_drain_is_seen_while_it_drains() -> None:
    server = OneResource("Drain", status={"drainStatus": "pending"})
    board = board_of(server, "drain")
    board.hear(StepBegan("Domains", 1, 10))
    assert server.status["drainStatus"] == "draining"
    board._clock.sleep(60)
    board.hear(Progress("Domains", 4, 10, 60.0))
    assert (server.status["drainProgress"], server.status["progress"]) == ("4/10", "4/10")
    other = OneResource("Uninstall")
    board_of(other, "uninstall").hear(Progress("Domains", 4, 10, 60.0))
    assert "drainStatus" not in other.status


@pytest.mark.parametrize("deleting_before", [False, True])
def test_a_resource_that_is_deleted_and_held_by_its_finalizer_stops_the_run(deleting_before: bool) -> None:
    server, stop = OneResource("Drain"), StopSign()
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["sunset.dev/drain"]}
    if deleting_before:  # then this very run is what its deletion has asked for
        server.item["metadata"].update(leaving)
    board = board_of(server, "drain", stop)
    board.hear(StepBegan("Domains", 1, 10))
    assert not stop.is_set()
    server.item["metadata"].update(leaving)
    board._clock.sleep(60)
    board.hear(Progress("Domains", 4, 10, 60.0))
    assert stop.is_set() is not deleting_before
