# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role and the playbook on nodes: a plan, a rehearsal, the question, the reversal, and nothing left to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from integration.network.plays import play, play_named
from lab.net.network import Net

pytestmark = pytest.mark.net
SMALLER = {"interfaces": [{"name": "eth3", "type": "ethernet", "state": "up", "mtu": 1400}]}


def role(**variables: Any) -> dict[str, Any]:
    given = {"network_revert_policy": "small", "network_revert_settle": 1, **variables}
    return {"ansible.builtin.include_role": {"name": "sunset.kube.network_revert"}, "vars": given}


def mtu(net: Net) -> int:
    [link] = net.node(0).ip("link", "show", "eth3")
    return int(link["mtu"])


def test_the_role_shows_rehearses_and_takes_back(net: Net) -> None:
    apply = {"sunset.kube.nmstate_apply": {"policy": "small", "desired_state": SMALLER, "settle": 1}}
    assert play(net, apply).rc == 0
    shown = play(net, role(), check=True)
    assert "small: would be taken back" in shown.stdout
    assert mtu(net) == 1400
    rehearsed = play(net, role(network_revert_rehearse=True))
    assert "small: could be taken back; all of it is as it was again" in rehearsed.stdout
    assert mtu(net) == 1400
    done = play(net, role())
    assert (done.rc, mtu(net)) == (0, 1500), done.stdout
    for line in ("small: taken back", "reverted: eth3 mtu 1500", "probe works: controller"):
        assert line in done.stdout
    assert "small: nothing to take back" in play(net, role()).stdout


def test_the_role_fails_with_the_reason_and_the_next_step(net: Net) -> None:
    failed = play(net, role())
    assert failed.rc != 0
    assert "the journal of this node does not know it" in failed.stdout
    assert "use mode: delete with desired_state" in failed.stdout


def test_the_playbook_asks_before_it_reverts_and_its_hash_is_for_that_plan(net: Net) -> None:
    apply = {"sunset.kube.nmstate_apply": {"policy": "small", "desired_state": SMALLER, "settle": 1}}
    assert play(net, apply).rc == 0
    given = ("sunset.kube.revert_network", "-e", "policy=small", "-e", "settle=1")
    stopped = play_named(net, *given)
    found = re.search(r"not confirmed, so nothing was changed.*-e confirm=([0-9a-f]+), or", stopped.stdout, re.S)
    assert found is not None, stopped.stdout
    assert "To revert network policy small on this node without a terminal" in stopped.stdout
    assert mtu(net) == 1400
    other = play_named(net, *given, "-e", f"confirm={found[1]}", "-e", "force=true")
    assert ("the plan has changed" in other.stdout, mtu(net)) == (True, 1400), other.stdout
    done = play_named(net, *given, "-e", f"confirm={found[1]}")
    assert (done.rc, mtu(net)) == (0, 1500), done.stdout
    empty = play_named(net, *given)
    assert empty.rc == 0, empty.stdout
