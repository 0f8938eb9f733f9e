# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking a policy back beside others: people who changed things since, other policies, programs with a checkpoint."""

from __future__ import annotations

import json

from integration.network.changes import (
    INFO,
    ON_ETH2,
    SPARE,
    apply,
    everything,
    interface,
    outcome,
    revert,
    route,
    static,
    visible,
    whatever,
)
from integration.network.plays import play
from lab.net.network import Net
from lab.net.node import NetNode

NETWORK_MANAGER = (
    "org.freedesktop.NetworkManager",
    "/org/freedesktop/NetworkManager",
    "org.freedesktop.NetworkManager",
)
DEFAULT = {"destination": "0.0.0.0/0", "next-hop-address": "198.51.100.1", "next-hop-interface": "eth1"}


def test_what_others_changed_or_want_stays(net: Net) -> None:
    node = net.node(0)
    way, own_way = (route(to, "203.0.113.1", "eth2") for to in ("192.0.2.0/25", "192.0.2.128/25"))
    wide = {**interface("eth2", mtu=1400, ipv4=static(SPARE)), "routes": {"config": [way, own_way, DEFAULT]}}
    made = play(net, apply("wide", wide), apply("narrow", {"routes": {"config": [way]}}))
    assert [one["outcome"] for one in made.results] == ["committed", "unchanged"], made.stdout
    by_hand = json.dumps(interface("eth2", mtu=1300))
    node.run(["nmstatectl", "apply", "-"], stdin=by_hand, check=True)
    back = play(net, revert("wide")).result
    assert back["outcome"] == "committed", back
    assert {one["owner"] for one in back["kept"]} == {"narrow"}, back
    assert any("192.0.2.0/25" in one["what"] for one in back["kept"]), back
    assert node.addresses("eth2") == [SPARE], "the route stands on it"
    assert any("mtu" in one for one in back["drifted"]), back
    assert node.links()["eth2"]["mtu"] == 1300
    destinations = [one["dst"] for one in node.routes() if one["family"] == 4]
    assert "192.0.2.0/25" in destinations
    assert "192.0.2.128/25" not in destinations
    assert "default" in destinations, "it was there before the policy"


def test_a_policy_nobody_recorded_is_only_deleted_on_request(net: Net) -> None:
    node = net.node(0)
    before = visible(node)
    bridge = interface("br1", "linux-bridge", bridge={"options": {"stp": {"enabled": False}}, "port": []})
    node.run(["nmstatectl", "apply", "-"], stdin=json.dumps(bridge), check=True)
    management = interface("eth1", ipv4=static(f"{node.address}/25"))
    run = play(
        net,
        whatever(revert("old")),
        whatever(revert("old", mode="journal", desired_state=bridge)),
        whatever(revert("mine", mode="delete", desired_state=management)),
        revert("old", mode="delete", desired_state=bridge),
    )
    unknown, also_unknown, risky, deleted = run.results
    assert [one["_status"] for one in run.results] == ["failed"] * 3 + ["ok"], run.stdout
    assert "the journal of this node does not know it" in unknown["msg"]
    assert "the journal of this node does not know it" in also_unknown["msg"]
    assert "this could cut the node off" in risky["msg"]
    assert (deleted["outcome"], deleted["mode"]) == ("committed", "delete")
    assert visible(node) == before


def test_a_rehearsal_does_it_probes_and_leaves_everything_as_it_was(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    rehearsed, done, back = play(
        net, apply("address", ON_ETH2, rehearse=True), apply("address", ON_ETH2), revert("address", rehearse=True)
    ).results
    for one in (rehearsed, back):
        assert (one["_status"], one["outcome"], one["changed"]) == ("ok", "rolled_back", False), one
        assert one["ended_by"] == "rehearsal"
        assert one["differences"] == []
        assert {probe["after"] for probe in one["probes"] if probe["before"]} == {True}
    assert outcome(node, rehearsed["transaction"])["how"] == "rolled_back"
    assert done["outcome"] == "committed"
    assert node.addresses("eth2") == [SPARE]
    assert everything(node) != before
    [policy] = play(net, INFO).result["policies"]
    assert (policy["state"], policy["revertible"]) == ("committed", True), "rehearsals leave the journal alone"


def checkpoints(node: NetNode) -> list[str]:
    asked = ["busctl", "--json=short", "get-property", *NETWORK_MANAGER, "Checkpoints"]
    found: list[str] = json.loads(node.run(asked, check=True).stdout)["data"]
    return found


def test_somebody_elses_checkpoint_is_neither_taken_nor_dropped(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    node.run(["busctl", "call", *NETWORK_MANAGER, "CheckpointCreate", "aouu", "0", "600", "0"], check=True)
    theirs = checkpoints(node)
    result = play(net, apply("address", ON_ETH2)).result
    assert result["_status"] == "failed"
    assert "checkpoint" in result["msg"]
    assert checkpoints(node) == theirs != []
    assert everything(node) == before


def test_a_journal_where_other_users_can_write_is_refused_before_anything_is_changed(net: Net) -> None:
    """After a reboot root would run what is in it."""
    node = net.node(0)
    before = node.links()["eth2"]["mtu"]
    refused = play(net, apply("wide", interface("eth2", mtu=1400), journal_dir="/tmp/journal")).result
    assert "other users can write to /tmp" in refused["msg"]
    assert node.links()["eth2"]["mtu"] == before
    assert not node.path("/tmp/journal").exists()
