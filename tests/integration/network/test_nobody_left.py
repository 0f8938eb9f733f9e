# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller dies, NetworkManager dies, the node goes down in mid-change: it comes back, with nobody's help."""

from __future__ import annotations

import pytest

from integration.network.changes import (
    INFO,
    ON_ETH2,
    apply,
    changed,
    confirm,
    everything,
    interface,
    outcome,
    static,
    transactions,
    whatever,
)
from integration.network.plays import play, playing
from lab.net.network import Net
from lab.waiting import until

PATIENT = {"settle": 20, "timeout": 60}  # stays in the middle until the test is done with it


def test_a_dead_controller_is_noticed_and_it_is_too_late_to_confirm_then(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    with playing(net, [apply("address", ON_ETH2, lease=6, **PATIENT)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
    ended = until(lambda: outcome(node, transaction), "the way back")
    assert (ended["how"], ended["by"], ended["differences"]) == ("rolled_back", "watchdog", [])
    assert everything(node) == before
    late, info = play(net, whatever(confirm(transaction)), INFO).results
    assert late["_status"] == "failed"
    assert "too late" in late["msg"]
    assert late["outcome"] == "rolled_back"
    assert [one["state"] for one in info["policies"]] == ["rolled_back"]
    assert info["transactions"] == []


def test_an_orphaned_change_is_refused_company_and_can_be_confirmed_by_hand_twice(net: Net) -> None:
    node = net.node(0)
    with playing(net, [apply("address", ON_ETH2, settle=8, timeout=120, lease=120)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
    by_hand = {**confirm(transaction), "register": "it", "until": "it is not failed", "retries": 20, "delay": 1}
    refused, *more = play(net, whatever(apply("other", ON_ETH2)), by_hand, confirm(transaction), INFO).results
    first, second, info = more[-3:]
    assert "another change is under way on this node" in refused["msg"]
    assert transaction in refused["msg"]
    assert [(one["_status"], one["outcome"]) for one in (first, second)] == [("ok", "committed")] * 2
    assert node.addresses("eth2") == ["203.0.113.40/25"]
    assert [(one["policy"], one["state"]) for one in info["policies"]] == [("address", "committed")]
    assert not node.path("/etc/cron.d/sunset-kube-network-guard").exists()


def test_everybody_dies_at_once_and_the_address_was_the_only_way_in(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    away = interface("eth1", ipv4=static("198.51.100.77/25"))
    with playing(net, [apply("move", away, force=True, lease=6, **PATIENT)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
        node.kill_network_manager()
    assert node.addresses("eth1")[0] == "198.51.100.77/25"
    ended = until(lambda: outcome(node, transaction), "the way back")
    assert (ended["how"], ended["differences"]) == ("rolled_back", [])
    assert everything(node) == before
    assert play(net, INFO).result["_status"] == "ok"
    node.start_network_manager()
    until(lambda: everything(node) == before, "the same network")


@pytest.mark.parametrize(
    ("backend", "restarted"),
    [("nmstatectl", True), ("networkmanager", False)],
    ids=["under nmstatectl, and is restarted", "under us, and stays dead"],
)
def test_network_manager_is_killed(net: Net, backend: str, restarted: bool) -> None:
    node = net.node(0)
    before = everything(node)
    with playing(net, [apply("address", ON_ETH2, backend=backend, lease=30, **PATIENT)]) as running:
        running.until(lambda: changed(node), "the change")
        node.kill_network_manager()
        if restarted:
            node.start_network_manager()
        result = running.finish().result
    assert (result["_status"], result["outcome"], result["differences"]) == ("failed", "rolled_back", []), result
    assert "checkpoint" in result["msg"]
    assert everything(node) == before
    node.start_network_manager()
    until(lambda: everything(node) == before, "the same network")


def test_a_reboot_in_mid_change_is_finished_by_the_boot_guard(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    with playing(net, [apply("address", ON_ETH2, lease=60, **PATIENT)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        node.reboot()
        result = running.finish().result
    assert (result["_status"], result["outcome"], result["ended_by"]) == ("failed", "rolled_back", "boot guard"), result
    assert list(transactions(node)) == [transaction]
    until(lambda: everything(node) == before, "the state from before")
    assert not node.path("/etc/cron.d/sunset-kube-network-guard").exists()
