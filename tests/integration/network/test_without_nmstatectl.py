# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Without nmstatectl, by the modules over SSH: a change is kept, taken back, or undone when nobody is left."""

from __future__ import annotations

import pytest

from integration.network.changes import (
    GATEWAY,
    GATEWAY6,
    State,
    apply,
    changed,
    everything,
    interface,
    outcome,
    revert,
    route,
    static,
    static6,
    visible,
)
from integration.network.on_node import MANAGED
from integration.network.plays import play, playing
from lab.net.addresses import RESOLVERS
from lab.net.network import Net
from lab.net.node import NetNode
from lab.waiting import until

# All the node has, and the way the task came by, moves to a bridge; and a resolver goes.
ON_BRIDGE: State = {
    **interface(
        "br0",
        "linux-bridge",
        ipv4=static("198.51.100.10/25"),
        ipv6=static6("2001:db8:1::10/64"),
        bridge={"options": {"stp": {"enabled": False}}, "port": [{"name": "eth1"}]},
    ),
    "routes": {"config": [route("0.0.0.0/0", GATEWAY, "br0"), route("::/0", GATEWAY6, "br0")]},
    "dns-resolver": {"config": {"server": [str(RESOLVERS[1][0].ip)]}},
}


@pytest.fixture(params=["networkmanager", "iproute2"])
def node(net: Net, request: pytest.FixtureRequest) -> NetNode:
    """One where `auto` takes this backend."""
    if not MANAGED[request.param]:
        net.reset(network_manager=False)
    net.node(0).path("/usr/local/bin/nmstatectl").unlink()
    return net.node(0)


def seen(node: NetNode) -> State:
    """A policy has no words for who made a route; one that goes and comes is from then on an administrator's."""
    found = visible(node)
    return {**found, "routes": [one.replace('"protocol": "boot"', '"protocol": "static"') for one in found["routes"]]}


def test_the_management_address_moves_to_a_bridge_and_back(net: Net, node: NetNode) -> None:
    before = seen(node)
    there = play(net, apply("bridge", ON_BRIDGE, force=True)).result
    assert there.get("outcome") == "committed", there
    assert node.links()["eth1"]["master"] == "br0"
    assert node.addresses("br0") == ["198.51.100.10/25", "2001:db8:1::10/64"]
    assert node.pings(GATEWAY)
    back = play(net, revert("bridge", force=True)).result
    assert back.get("outcome") == "committed", back
    assert seen(node) == before


def test_a_dead_controller_is_noticed_and_everything_is_as_before(net: Net, node: NetNode) -> None:
    before = everything(node)
    with playing(net, [apply("bridge", ON_BRIDGE, force=True, lease=6, timeout=120, settle=60)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
    ended = until(lambda: outcome(node, transaction), "the way back")
    assert (ended["how"], ended["by"], ended["differences"]) == ("rolled_back", "watchdog", [])
    assert everything(node) == before
