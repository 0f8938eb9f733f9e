# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node without NetworkManager: the same promises, kept by the kernel and our own watchdog alone."""

from __future__ import annotations

from integration.network.changes import ON_ETH2, SPARE, apply, changed, everything, interface, outcome, revert, static
from integration.network.plays import play, playing
from lab.net.network import Net
from lab.waiting import until


def test_a_policy_comes_and_goes_and_a_dead_controller_is_noticed(net: Net) -> None:
    net.reset(network_manager=False)
    node = net.node(0)
    before = everything(node)
    there, back = (play(net, task).result for task in (apply("address", ON_ETH2), revert("address")))
    assert [(one["outcome"], one["backend"]) for one in (there, back)] == [("committed", "iproute2")] * 2, (there, back)
    assert any(SPARE in one for one in back["reverted"]), back
    assert everything(node) == before
    away = interface("eth1", ipv4=static("198.51.100.77/25"))
    with playing(net, [apply("move", away, force=True, lease=6, settle=20, timeout=60)]) as running:
        running.until(lambda: changed(node), "the change")
        transaction = changed(node)
        running.kill()
    assert node.addresses("eth1")[0] == "198.51.100.77/25"
    ended = until(lambda: outcome(node, transaction), "the way back")
    assert (ended["how"], ended["by"], ended["differences"]) == ("rolled_back", "watchdog", [])
    assert everything(node) == before
