# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network policies taken back on a cluster: real definitions and admission policy, handlers that are played."""

from __future__ import annotations

import pytest

from integration.nmstate_fleet import FINALIZER, FLEET, Fleet, phases, vlan
from integration.nmstate_handlers import POLICIES
from integration.ranked import failed, succeeded
from integration.stage import body
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.waiting import until

pytestmark = pytest.mark.quick


def test_every_node_goes_back_to_what_was_recorded_and_the_policy_goes(fleet: Fleet) -> None:
    nodes = fleet.nodes(3)
    before = {node: fleet.network(node) for node in nodes}
    policy = fleet.prepared_policy()
    assert all(fleet.interfaces(node)["eth1.100"]["state"] == "up" for node in nodes)
    assert all(fleet.interfaces(node)["eth1"]["mtu"] == 1400 for node in nodes)
    result = succeeded(fleet.revert(policy))
    assert (result["outcome"], result["changed"]) == ("reverted", True)
    assert phases(result) == dict.fromkeys(nodes, "reverted")
    assert fleet.look(policy) is None
    assert fleet.leftovers() == []
    for node in nodes:
        assert sorted(fleet.interfaces(node)) == ["eth0", "eth1"]
        assert fleet.interfaces(node)["eth1"]["mtu"] == 1500
        assert fleet.network(node)["routes"] == before[node]["routes"]
    told = fleet.events(policy)
    assert (told[0], sorted(told[1:4]), told[4]) == ("RevertStarted", ["NodeReverted"] * 3, "Reverted")
    again = succeeded(fleet.revert(policy))
    assert (again["outcome"], again["changed"]) == ("unchanged", False)


def test_who_has_not_opted_in_is_refused_and_told_how(fleet: Fleet, audit: AuditTrail) -> None:
    fleet.nodes(1)
    policy = fleet.policy(opt_in=False)
    audit.begin_anew()
    text = failed(fleet.revert(policy, mode="delete"))
    assert f"kubectl annotate nncp {policy} sunset.dev/delete-on-removal=true" in text
    assert audit.writes(fleet.user.name) == []


def test_an_opt_in_in_the_spec_is_pruned_by_the_server_so_it_has_to_be_an_annotation(fleet: Fleet) -> None:
    policy = fleet.policy(wait=False, deleteOnRemoval=True)
    assert "deleteOnRemoval" not in fleet.there(policy)["spec"]
    assert fleet.there(policy)["metadata"]["annotations"]


def test_what_nobody_recorded_is_refused_and_removed_with_consent_only(fleet: Fleet, audit: AuditTrail) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.policy()
    audit.begin_anew()
    assert "mode: delete" in failed(fleet.revert(policy))
    assert "mode: delete" in failed(fleet.revert(policy, mode="journal"))
    assert audit.writes(fleet.user.name) == []
    result = succeeded(fleet.revert(policy, mode="delete"))
    assert [row["source"] for row in result["nodes"]] == ["made_up"]
    assert "eth1.100" not in fleet.interfaces(node)
    assert fleet.interfaces(node)["eth1"]["state"] == "down"
    assert (fleet.look(policy), fleet.leftovers()) == (None, [])


def test_it_is_too_late_to_record_once_the_policy_is_on_its_nodes(fleet: Fleet) -> None:
    fleet.nodes(1)
    policy = fleet.policy()
    assert "too late" in failed(fleet.prepare(policy))


def test_records_follow_the_nodes_until_the_policy_is_there_and_then_stay(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    policy = "recorded-twice"
    assert succeeded(fleet.prepare(policy))["changed"] is True
    assert succeeded(fleet.prepare(policy))["changed"] is False
    fleet.interfaces(node)["eth1"]["mtu"] = 1300
    fleet.handlers.report(node)
    assert succeeded(fleet.prepare(policy))["changed"] is True
    fleet.policy(name=policy)
    held = succeeded(fleet.prepare(policy))
    assert held["changed"] is True, "the policy is there now and gets our finalizer"
    assert fleet.there(policy)["metadata"]["finalizers"] == [FINALIZER]
    assert succeeded(fleet.prepare(policy))["changed"] is False
    succeeded(fleet.revert(policy))
    assert fleet.interfaces(node)["eth1"]["mtu"] == 1300


def test_a_policy_somebody_deletes_waits_for_us_and_is_not_applied_again_behind_our_back(fleet: Fleet) -> None:
    nodes = fleet.nodes(2)
    policy = fleet.prepared_policy()
    succeeded(fleet.prepare(policy))
    fleet.handlers.applied.clear()
    fleet.api.delete(f"{POLICIES}/{policy}")
    until(lambda: len(fleet.handlers.applied) == 2, "the handlers to apply what is being deleted")
    fleet.until_available(policy)
    fleet.handlers.applied.clear()
    assert phases(succeeded(fleet.revert(policy))) == dict.fromkeys(nodes, "reverted")
    assert fleet.look(policy) is None
    assert policy not in [name for _node, name in fleet.handlers.applied]
    assert all("eth1.100" not in fleet.interfaces(node) for node in nodes)


def test_a_node_that_lost_its_label_since_is_still_taken_back(fleet: Fleet) -> None:
    moved, other = fleet.nodes(2)
    policy = fleet.prepared_policy()
    fleet.api.patch(f"/api/v1/nodes/{moved}", {"metadata": {"labels": {FLEET: None}}})
    enactment = f"/apis/nmstate.io/v1beta1/nodenetworkconfigurationenactments/{moved}.{policy}"
    until(lambda: fleet.api.get(enactment)[0] == 404, "the handler to forget the policy")
    assert "eth1.100" in fleet.interfaces(moved), "forgetting changes nothing on the node"
    assert phases(succeeded(fleet.revert(policy))) == {moved: "reverted", other: "reverted"}
    assert "eth1.100" not in fleet.interfaces(moved)


def test_of_a_policy_with_captures_that_counts_which_was_rendered_for_the_node(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    desired = {"interfaces": [{"name": "{{ capture.gw.interfaces.0.name }}", "type": "ethernet", "mtu": 1420}]}
    policy = fleet.prepared_policy(desired, capture={"gw": "routes.running.destination=='0.0.0.0/0'"})
    assert fleet.interfaces(node)["eth0"]["mtu"] == 1420
    result = succeeded(fleet.revert(policy))
    assert fleet.interfaces(node)["eth0"]["mtu"] == 1500
    assert [row["revert_state"]["interfaces"][0]["name"] for row in result["nodes"]] == ["eth0"]


def test_what_another_policy_wants_stays_and_so_does_what_somebody_changed(fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.prepared_policy({"interfaces": [*vlan(100)["interfaces"][:1], *vlan(200)["interfaces"]]})
    other = fleet.policy({"interfaces": vlan(100)["interfaces"][:1]})
    fleet.interfaces(node)["eth1"]["mtu"] = 9000
    fleet.handlers.report(node)
    fleet.long_ago(policy)
    [row] = succeeded(fleet.revert(policy))["nodes"]
    assert [kept["owner"] for kept in row["kept"]] == [other]
    assert any("mtu" in text for text in row["drifted"])
    assert sorted(fleet.interfaces(node)) == ["eth0", "eth1", "eth1.100"]
    assert fleet.interfaces(node)["eth1"]["mtu"] == 9000


def test_a_risky_one_needs_force(fleet: Fleet, audit: AuditTrail) -> None:
    [node] = fleet.nodes(1)
    policy = fleet.policy({"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up", "mtu": 1400}]})
    audit.begin_anew()
    text = failed(fleet.revert(policy, mode="delete"))
    assert "eth0 carries the node's address" in text
    assert "force: true" in text
    assert audit.writes(fleet.user.name) == []
    checked = succeeded(fleet.revert(policy, mode="delete", check_mode=True))
    assert checked["nodes"][0]["risks"]
    succeeded(fleet.revert(policy, mode="delete", force=True))
    assert fleet.interfaces(node)["eth0"]["state"] == "down"


def test_check_mode_shows_what_each_node_would_become_and_writes_nothing(fleet: Fleet, audit: AuditTrail) -> None:
    nodes = fleet.nodes(2)
    policy = fleet.prepared_policy()
    audit.begin_anew()
    result = succeeded(fleet.revert(policy, check_mode=True))
    assert (result["changed"], result["outcome"]) == (True, "planned")
    assert phases(result) == dict.fromkeys(nodes, "planned")
    assert result["nodes"][0]["revert_state"]["interfaces"]
    assert '"mtu": 1400' in result["diff"]["before"]
    assert '"mtu": 1500' in result["diff"]["after"]
    events = audit.events(fleet.user.name)
    assert [event for event in events if event.mutating] == []
    tried = [(event.verb, event.resource) for event in events if event.dry_run]
    assert tried.count(("create", "nodenetworkconfigurationpolicies")) == 2
    assert ("delete", "nodenetworkconfigurationpolicies") in tried
    real = succeeded(fleet.revert(policy, plan_hash=result["plan_hash"]))
    assert real["plan_hash"] == result["plan_hash"]


def test_another_plan_than_the_one_somebody_saw_is_refused(fleet: Fleet) -> None:
    fleet.nodes(1)
    policy = fleet.prepared_policy()
    assert "the plan has changed" in failed(fleet.revert(policy, plan_hash="0123456789ab"))


def test_who_lacks_a_right_is_told_before_the_first_write(fleet: Fleet, as_user: AsUser, audit: AuditTrail) -> None:
    fleet.nodes(1)
    policy = fleet.prepared_policy()
    reader = as_user("reads-networks", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}])
    audit.begin_anew()
    assert "not allowed" in failed(fleet.revert(policy, user=reader))
    assert audit.writes(reader.name) == []


def test_a_policy_that_is_none_of_ours_is_never_taken_for_a_helper(fleet: Fleet) -> None:
    fleet.nodes(1)
    policy = fleet.prepared_policy()
    [row] = succeeded(fleet.revert(policy, check_mode=True))["nodes"]
    assert row["phase"] == "planned"
    stranger = body("nmstate.io/v1", "NodeNetworkConfigurationPolicy", f"revert-{policy}", "")
    fleet.stage.put({**stranger, "spec": {"nodeSelector": {FLEET: "nobody"}, "desiredState": {}}})
    succeeded(fleet.revert(policy))
    assert fleet.look(f"revert-{policy}") is not None
