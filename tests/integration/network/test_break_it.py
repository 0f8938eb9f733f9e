# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What worked before the change does not work after it: the node goes back, and the task fails with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from integration.network.changes import (
    API,
    GATEWAY,
    GATEWAY6,
    ON_ETH2,
    State,
    apply,
    changed,
    confirm,
    everything,
    interface,
    outcome,
    revert,
    route,
    static,
    static6,
    under_way,
    whatever,
)
from integration.network.plays import play, playing
from lab.net.addresses import RESOLVERS
from lab.net.network import Net
from lab.waiting import until

Switch = Callable[[Net], Any]
RESOLVER = RESOLVERS[0][0].ip
BUDGET = {"timeout": 12, "settle": 3}
# what breaks → the switch, the probe that notices
SWITCHES: dict[str, tuple[Switch, State]] = {
    "pings are dropped": (lambda net: net.gateway.drop_icmp(True), {"type": "ping", "target": GATEWAY}),
    "name servers stop": (
        lambda net: net.gateway.stop_dns(),
        {"type": "dns", "target": f"api.example.com@{RESOLVER}"},
    ),
    "a web server stops": (lambda net: net.gateway.stop_http(), {"type": "http", "target": API}),
}


@pytest.mark.parametrize(("switch", "probe"), SWITCHES.values(), ids=SWITCHES)
def test_the_node_goes_back_when(net: Net, switch: Switch, probe: State) -> None:
    node = net.node(0)
    before = everything(node)
    with playing(net, [apply("address", ON_ETH2, probes=[probe, {"type": "controller"}], **BUDGET)]) as running:
        running.until(lambda: under_way(node), "the change")
        switch(net)
        result = running.finish().result
    assert (result["_status"], result["outcome"], result["ended_by"]) == ("failed", "rolled_back", "probes"), result
    assert next((one["before"], one["after"]) for one in result["probes"]) == (True, False)
    assert probe["target"].split("@")[0] in result["msg"]
    assert result["differences"] == []
    assert everything(node) == before


def test_the_node_goes_back_when_its_cable_is_pulled_and_the_task_fails_once_it_is_plugged_in(net: Net) -> None:
    node = net.node(0)
    before = everything(node)
    with playing(net, [apply("address", ON_ETH2, lease=8, **BUDGET)]) as running:
        running.until(lambda: under_way(node), "the change")
        transaction = under_way(node)
        net.gateway.link_down(0)
        running.until(lambda: outcome(node, transaction), "the way back")
        net.gateway.link_up(0)
        result = running.finish().result
    assert (result["_status"], result["outcome"]) == ("failed", "rolled_back"), result
    until(lambda: everything(node) == before, "the state from before")


def test_a_reversal_that_moves_the_management_address_comes_back_alone(net: Net) -> None:
    node = net.node(0)
    away, home = "198.51.100.77", interface("eth1", ipv4=static(f"{node.address}/25"))
    node.run(["nmstatectl", "apply", "-"], stdin=json.dumps(interface("eth1", ipv4=static(f"{away}/25"))), check=True)
    # From one address to another: somebody has to confirm it who knows the other one.
    with playing(net, [apply("home", home, force=True, lease=60)], "--extra-vars", f"ansible_host={away}") as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
    by_hand = {**confirm(transaction), "register": "it", "until": "it is not failed", "retries": 20, "delay": 1}
    assert play(net, by_hand).results[-1]["outcome"] == "committed"
    before = everything(node)
    refused, moved = play(
        net, whatever(revert("home")), whatever(revert("home", force=True, lease=6, timeout=10))
    ).results
    assert refused["_status"] == "failed"
    assert "this could cut the node off" in refused["msg"]
    assert node.address in refused["msg"]
    assert (moved["_status"], moved["outcome"], moved["differences"]) == ("failed", "rolled_back", []), moved
    assert everything(node) == before


def test_a_management_address_that_moves_onto_a_bridge_is_found_again_and_kept(net: Net) -> None:
    node = net.node(0)
    bridge = {"options": {"stp": {"enabled": False}}, "port": [{"name": "eth1"}]}
    addresses = {"ipv4": static(f"{node.address}/25"), "ipv6": static6(f"{node.address6}/64")}
    onto = interface("br0", "linux-bridge", bridge=bridge, **addresses, **{"copy-mac-from": "eth1"})
    onto["routes"] = {"config": [route("0.0.0.0/0", GATEWAY, "br0"), route("::/0", GATEWAY6, "br0")]}
    result = play(net, apply("bridge", onto, force=True)).result
    assert (result["_status"], result["outcome"]) == ("ok", "committed"), result["msg"]
    assert node.addresses("br0") == [f"{node.address}/25", f"{node.address6}/64"]
    assert node.links()["eth1"]["master"] == "br0"
