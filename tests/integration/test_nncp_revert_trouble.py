# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network policies that do not go easily: handlers at work, nodes that fail or are away, runs that are cut off."""

from __future__ import annotations

import signal
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.nmstate_fleet import FINALIZER, FLEET, ORIGINAL, Fleet, phases
from integration.nmstate_handlers import POLICIES
from integration.ranked import failed, succeeded
from integration.running import Result, module_process
from lab.waiting import until


def in_background(fleet: Fleet, policy: str, **options: Any) -> Future[Result]:
    pool = ThreadPoolExecutor(1)
    under_way = pool.submit(fleet.revert, policy, **options)
    pool.shutdown(wait=False)
    return under_way


def helpers(fleet: Fleet) -> list[str]:
    return [item["metadata"]["name"] for item in fleet.helpers()]


# -- waves and slots ---------------------------------------------------------------------------------------------------


def test_a_canary_first_then_workers_two_at_a_time_the_control_plane_last(fleet: Fleet) -> None:
    nodes = fleet.nodes(4, control_plane=1)
    policy = fleet.prepared_policy(maxUnavailable=2)
    fleet.handlers.applied.clear()
    fleet.handlers.most_at_once = 0
    result = succeeded(fleet.revert(policy))
    order = [node for node, name in fleet.handlers.applied if name != policy]
    assert order[0] == nodes[0]
    assert order[-1] == nodes[4]
    assert sorted(order) == nodes
    assert fleet.handlers.most_at_once == 2
    assert result["max_unavailable"] == 2
    assert [step["name"] for step in result["steps"]] == ["canary", "workers", "control plane"]


def test_a_canary_that_fails_stops_it_before_anybody_else_is_touched(fleet: Fleet) -> None:
    first, *others = fleet.nodes(3)
    policy = fleet.prepared_policy()
    fleet.handlers.fails = lambda node, name: node == first and name != policy
    result = fleet.revert(policy)
    assert "probe ping failed" in failed(result)
    assert phases(result) == {first: "failed", **dict.fromkeys(others, "aborted")}
    assert [row["name"] for row in result["survivors"]] == [first, *others]
    assert all("eth1.100" in fleet.interfaces(node) for node in (first, *others))
    assert helpers(fleet) == []
    assert fleet.there(policy)["metadata"]["finalizers"] == [FINALIZER]
    assert fleet.progress(policy)["phase"] == "stopped"
    assert fleet.progress(policy)["nodes"][first]["phase"] == "failed"
    assert {"NodeRevertFailed", "RevertStopped"} <= set(fleet.events(policy))
    # Mended, it goes on.
    fleet.handlers.fails = lambda node, name: False
    assert phases(succeeded(fleet.revert(policy))) == dict.fromkeys([first, *others], "reverted")
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])


def test_when_as_many_failed_as_may_be_unavailable_the_rest_is_aborted_and_what_was_done_can_be_undone(
    fleet: Fleet,
) -> None:
    good, bad, *rest = fleet.nodes(4)
    policy = fleet.prepared_policy(maxUnavailable=1)
    fleet.handlers.fails = lambda node, name: node == bad and name != policy
    result = fleet.revert(policy, on_failure="undo")
    assert "the policy is back on its nodes" in failed(result)
    assert result["outcome"] == "undone"
    assert phases(result) == {good: "aborted", bad: "failed", **dict.fromkeys(rest, "aborted")}
    assert all("eth1.100" in fleet.interfaces(node) for node in (good, bad, *rest))
    there = fleet.there(policy)
    assert there["spec"]["nodeSelector"] == {FLEET: fleet.id}
    assert ORIGINAL not in there["metadata"]["annotations"]
    assert helpers(fleet) == []


# -- the escape --------------------------------------------------------------------------------------------------------


def test_the_escape_lets_the_policy_go_and_leaves_the_nodes_as_they_are(fleet: Fleet) -> None:
    first, other = fleet.nodes(2)
    policy = fleet.prepared_policy()
    fleet.handlers.fails = lambda node, name: node == other and name != policy
    failed(fleet.revert(policy))
    fleet.api.delete(f"{POLICIES}/{policy}")
    assert fleet.there(policy)["metadata"]["deletionTimestamp"]
    fleet.opt_out(policy)
    fleet.handlers.applied.clear()
    result = succeeded(fleet.revert(policy))
    assert (result["outcome"], result["changed"]) == ("released", True)
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])
    assert fleet.handlers.applied == []
    assert "eth1.100" not in fleet.interfaces(first)
    assert "eth1.100" in fleet.interfaces(other)


def test_dropping_the_opt_in_in_the_middle_of_a_run_ends_it(fleet: Fleet) -> None:
    _first, other = fleet.nodes(2)
    policy = fleet.prepared_policy()
    fleet.handlers.holds = lambda node, name: name != policy
    under_way = in_background(fleet, policy)
    until(lambda: helpers(fleet), "the first node to be worked on")
    fleet.opt_out(policy)
    result = succeeded(under_way.result(30))
    assert result["outcome"] == "released"
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])
    assert "eth1.100" in fleet.interfaces(other)


# -- handlers at work --------------------------------------------------------------------------------------------------


def test_handlers_that_are_still_applying_it_are_waited_for(fleet: Fleet) -> None:
    nodes = fleet.nodes(2)
    policy = fleet.prepared_policy()
    fleet.handlers.holds = lambda node, name: node == nodes[0] and name == policy
    fleet.api.patch(f"{POLICIES}/{policy}", {"spec": {"maxUnavailable": 2}})
    until(lambda: fleet.handlers.of[nodes[0]].job, "a handler to be at it")
    told: list[str] = []
    under_way = in_background(fleet, policy, on_event=lambda event: told.append(getattr(event, "text", "")))
    until(lambda: any("still at work" in text for text in told), "the run to wait")
    assert fleet.there(policy)["spec"]["nodeSelector"] == {FLEET: fleet.id}
    fleet.handlers.holds = lambda node, name: False
    assert phases(succeeded(under_way.result(40))) == dict.fromkeys(nodes, "reverted")


def test_handlers_that_never_finish_end_in_a_time_out_with_no_node_touched(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.prepared_policy()
    fleet.handlers.holds = lambda _node, name: name == policy
    fleet.api.patch(f"{POLICIES}/{policy}", {"spec": {"maxUnavailable": 2}})
    until(lambda: fleet.handlers.of[node].job, "the handler to be at it")
    text = failed(fleet.revert(policy, timeout=10))
    assert "still at work" in text
    assert f"kubectl get nnce -l nmstate.io/policy={policy}" in text
    assert fleet.there(policy)["spec"]["nodeSelector"] == {FLEET: fleet.id}


def test_a_handlers_word_is_not_enough_the_node_has_to_show_it(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.prepared_policy()
    fleet.handlers.forgets = lambda _node, name: name != policy
    result = fleet.revert(policy, timeout=10)
    assert "the node does not show it yet" in failed(result)
    assert fleet.there(policy)["metadata"]["finalizers"] == [FINALIZER]
    assert helpers(fleet) == []
    fleet.handlers.forgets = lambda _node, name: False
    fleet.handlers.lag = 20  # reports come late, and are waited for
    assert phases(succeeded(fleet.revert(policy))) == {node: "reverted"}


def test_a_report_from_before_the_policy_is_not_taken_for_a_node_without_it(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    fleet.handlers.lag = 10_000  # not by themselves
    policy = fleet.prepared_policy()
    assert phases(succeeded(fleet.revert(policy, check_mode=True))) == {node: "unchanged"}
    fleet.handlers.lag = 0
    assert phases(succeeded(fleet.revert(policy))) == {node: "reverted"}
    assert "eth1.100" not in fleet.interfaces(node)


# -- nodes that are away -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("away", ["not ready", "without handler"])
def test_a_node_that_is_away_is_told_and_not_waited_for(fleet: Fleet, away: str) -> None:
    here, gone = fleet.nodes(2)
    policy = fleet.prepared_policy()
    if away == "not ready":
        fleet.ready(gone, "Unknown")
    else:
        fleet.remove_handler(gone)
    fleet.handlers.of[gone].alive = False
    result = fleet.revert(policy)
    expected = "the node is not Ready" if away == "not ready" else "no nmstate handler runs on it"
    assert expected in failed(result)
    assert phases(result) == {here: "reverted", gone: "unreachable"}
    assert fleet.there(policy)["metadata"]["finalizers"] == [FINALIZER]
    left = succeeded(fleet.revert(policy, unreachable="leave"))
    assert phases(left) == {here: "unchanged", gone: "unreachable"}
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])
    assert "eth1.100" in fleet.interfaces(gone)


def test_a_node_that_left_the_cluster_holds_up_nobody(fleet: Fleet) -> None:
    here, gone = fleet.nodes(2)
    policy = fleet.prepared_policy()
    fleet.api.delete(f"/api/v1/nodes/{gone}")
    enactment = f"/apis/nmstate.io/v1beta1/nodenetworkconfigurationenactments/{gone}.{policy}"
    until(lambda: fleet.api.get(enactment)[0] == 404, "its enactment to be collected")
    assert phases(succeeded(fleet.revert(policy))) == {here: "reverted", gone: "gone"}
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])


# -- cut off -----------------------------------------------------------------------------------------------------------


def test_a_run_that_was_killed_is_taken_up_by_the_next_one(fleet: Fleet) -> None:
    nodes = fleet.nodes(3)
    policy = fleet.prepared_policy()
    fleet.handlers.holds = lambda node, name: name != policy
    with module_process("nncp_revert", {"policy": policy}, fleet.user.kubeconfig) as process:
        until(lambda: helpers(fleet), "the first node to be worked on")
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert len(helpers(fleet)) == 1
    assert ORIGINAL in fleet.there(policy)["metadata"]["annotations"]
    fleet.handlers.holds = lambda node, name: False
    assert set(phases(succeeded(fleet.revert(policy))).values()) <= {"reverted", "unchanged"}
    assert all("eth1.100" not in fleet.interfaces(node) for node in nodes)
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])


@pytest.mark.parametrize("after", ["neutralise", "revert", "forget", "release"])
def test_a_run_stopped_after_any_of_its_writes_goes_on(fleet: Fleet, after: str) -> None:
    nodes = fleet.nodes(2)
    policy = fleet.prepared_policy()
    stop = StopSign()

    def on_event(event: Any) -> None:
        if isinstance(event, Did) and event.action == after:
            stop.set("the test says so")

    first = fleet.revert(policy, stop=stop, on_event=on_event)
    assert stop.is_set()
    assert "stopped" in failed(first)
    assert fleet.look(policy) is not None
    succeeded(fleet.revert(policy))
    assert all("eth1.100" not in fleet.interfaces(node) for node in nodes)
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])
