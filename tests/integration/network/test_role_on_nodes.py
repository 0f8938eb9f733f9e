# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role network_revert on nodes: what it would do, a rehearsal, the reversal, and nothing left to do."""

from __future__ import annotations

from typing import Any

import pytest

from integration.network.plays import play
from lab.net import Net

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
