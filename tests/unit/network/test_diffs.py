# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What --diff shows of a change."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.network.diffs import diff_of
from ansible_collections.sunset.kube.plugins.module_utils.network.intents import intent_to_apply
from ansible_collections.sunset.kube.plugins.module_utils.network.journal import Contents

ADDRESSED = {"enabled": True, "dhcp": False, "address": [{"ip": "192.0.2.10", "prefix-length": 24}]}
LOGIN = {"password": "old", "identity": "me"}
NODE = {
    "interfaces": [
        {"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "ipv4": ADDRESSED, "802.1x": LOGIN},
        {"name": "eth2", "type": "ethernet", "state": "up", "mtu": 1500},
    ],
    "routes": {"config": [{"destination": "198.51.100.0/24", "next-hop-interface": "eth1"}]},
}


def test_only_what_changes_is_shown_and_no_password() -> None:
    wanted = {
        "interfaces": [
            {"name": "eth1", "type": "ethernet", "mtu": 1400, "802.1x": {"password": "new", "identity": "me"}},
            {"name": "br0", "type": "linux-bridge", "state": "up"},
        ],
        "dns-resolver": {"config": {"server": ["192.0.2.53"]}},
    }
    shown = diff_of(intent_to_apply("p", wanted, NODE, Contents((), ())))
    eth1, none = shown["before"]["interfaces"][0], shown["before"]["interfaces"][1:]
    assert (eth1["mtu"], eth1["802.1x"]["password"], none) == (1500, "<hidden>", [])
    assert "state" not in eth1
    assert [one["name"] for one in shown["after"]["interfaces"]] == ["br0", "eth1"]
    assert shown["after"]["dns-resolver"] == {"server": ["192.0.2.53"]}
    assert "routes" not in {**shown["before"], **shown["after"]}
