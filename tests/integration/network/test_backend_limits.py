# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What backends do not do: guess, half of a policy, somebody else's things, anything behind NetworkManager's back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.differences import differences
from integration.network.on_node import OnNode
from integration.network.policies import OFF, STATIC, State, ipv4, ipv6, route, up
from lab.net.network import Net
from lab.waiting import until

Take = Callable[[str], OnNode]
TOO_MUCH: State = {
    "interfaces": [
        up("eth2", ipv4=ipv4("203.0.113.40/25"), lldp={"enabled": True}, ethernet={"sr-iov": {"total-vfs": 2}}),
        up("ovs0", "ovs-bridge"),
        up(
            "br0",
            "linux-bridge",
            bridge={"options": {"vlan-protocol": "802.1q"}, "port": [{"name": "eth3", "vlan": {}}]},
        ),
    ],
    "routes": {"config": [route("192.0.2.0/24", "203.0.113.1", "eth2", cwnd=20)]},
    "hostname": {"config": "other"},
}
TOO_MUCH_NAMED = (
    "hostname",
    "interfaces[0].lldp",
    "interfaces[0].ethernet",
    "interfaces[1].type ovs-bridge",
    "interfaces[2].bridge.options.vlan-protocol",
    "interfaces[2].bridge.port[0].vlan",
    "routes.config[0].cwnd",
)


@pytest.fixture
def take(net: Net) -> Iterator[Take]:
    """A backend on a node that is as new."""
    on = OnNode(net)

    def take(backend: str) -> OnNode:
        on.renew(backend)
        return on

    yield take
    on.close()


def test_what_runs_is_taken_and_nothing_behind_the_back_of_network_manager(take: Take) -> None:
    on = take("auto")
    assert on.ask("choose")["answer"] == "nmstatectl"
    on.node.path("/usr/local/bin/nmstatectl").unlink()
    assert on.ask("choose")["answer"] == "networkmanager"
    on.node.kill_network_manager()
    says = on.ask("choose")["says"]
    assert says.startswith("NetworkManager does not run, but the network of this node is its own (2 profiles)")
    assert says.endswith("Next: start NetworkManager, or say backend: iproute2 if you mean it.")
    on.node.start_network_manager()
    assert on.ask("choose")["answer"] == "networkmanager"


def test_without_network_manager_there_is_ip(take: Take) -> None:
    on = take("iproute2")
    on.backend = "auto"
    assert on.ask("choose")["answer"] == "iproute2"
    on.backend = "nmstatectl"
    assert "nmstatectl is not installed, or NetworkManager does not run" in on.ask("choose")["says"]
    on.backend = "iproute2"
    kinds = {one["name"]: (one["type"], one["state"]) for one in on.capture()["interfaces"]}
    cables = {f"eth{number}": ("ethernet", "up" if number < 3 else "down") for number in (1, 2, 3)}
    assert kinds == {"lo": ("loopback", "up"), **cables}


@pytest.mark.parametrize("backend", ["networkmanager", "iproute2"])
def test_a_policy_it_cannot_carry_out_is_refused_with_every_field_and_nothing_is_done(take: Take, backend: str) -> None:
    on = take(backend)
    before = on.capture()
    says = on.refused(TOO_MUCH)
    assert [field for field in TOO_MUCH_NAMED if f"{field}: the backend {backend} cannot set this" not in says] == []
    assert differences(before, on.capture()) == []


def test_ip_refuses_what_needs_somebody_who_stays(take: Take) -> None:
    on = take("iproute2")
    before = on.capture()
    on.node.run(["sh", "-c", "cp /etc/resolv.conf /run/kept && ln -sf /run/kept /etc/resolv.conf"], check=True)
    automatic = {"enabled": True, "dhcp": True}
    desired: State = {
        "interfaces": [
            up("eth2", ipv4=automatic, ipv6={**automatic, "autoconf": True}),
            {"name": "eth1", "type": "ethernet", "state": "down"},
        ],
        "dns-resolver": {"config": {"server": ["198.51.100.3"]}},
    }
    says = on.refused(desired)
    for sentence in (
        "eth2 ipv4.dhcp: cannot be switched on: there is no client for it",
        "eth2 ipv6.autoconf: cannot be switched on: there is no client for it",
        "eth1 state: routes over it would be lost for good",
        "dns-resolver: /etc/resolv.conf is a link, another program keeps it",
    ):
        assert sentence in says
    on.node.run(["sh", "-c", "rm /etc/resolv.conf && cp /run/kept /etc/resolv.conf"], check=True)
    assert differences(before, on.capture()) == []


def test_ip_touches_nothing_of_others(take: Take) -> None:
    """Pods, routing daemons and rules that no policy has words for."""
    on = take("iproute2")
    on.apply(STATIC)
    commands = (
        "link add name cni0 type bridge",
        "link add name pod1 type veth peer name inpod1",
        "link set dev pod1 master cni0 up",
        "route add 192.0.2.0/25 via 203.0.113.1 dev eth2 proto 99",
        "route add 192.0.2.128/25 via 203.0.113.1 dev eth2",
        "route add 192.0.2.192/26 nexthop via 203.0.113.1 nexthop via 203.0.113.2",
        "rule add tos 0x10 table 77",
    )
    for command in commands:
        on.node.run(["ip", *command.split()], check=True)
    everything: State = {
        "interfaces": [up("eth2", mtu=1400)],
        "routes": {"config": [{"state": "absent", "next-hop-interface": "eth2"}]},
        "route-rules": {"config": [{"state": "absent", "route-table": 77}]},
    }
    on.apply(everything)
    left = {one["dst"] for one in on.node.routes() if one.get("dev") == "eth2" or "nexthops" in one}
    assert left == {"203.0.113.0/25", "192.0.2.0/25", "192.0.2.192/26", "2001:db8:2::/64", "fe80::/64"}
    assert [rule["priority"] for rule in on.node.rules() if rule.get("table") == "77"] == [32765]
    assert on.node.links()["pod1"]["master"] == "cni0"


def test_an_address_that_somebody_else_has_is_named(take: Take) -> None:
    on = take("iproute2")
    says = on.refused({"interfaces": [up("eth2", ipv6=ipv6("2001:db8:2::1/64"))]}, seconds=6)
    assert "2001:db8:2::1 on eth2 is already used by somebody else" in says


def test_network_manager_is_left_alone_while_somebody_else_changes_it(take: Take) -> None:
    on = take("networkmanager")
    call = "busctl call org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager"
    on.node.run([*call.split(), "CheckpointCreate", "aouu", "0", "60", "0"], check=True)
    says = on.refused(STATIC)
    assert "NetworkManager holds a checkpoint that is not ours" in says
    assert on.node.addresses("eth2") == []


def test_a_change_by_profiles_that_fails_leaves_nothing_behind(take: Take) -> None:
    on = take("networkmanager")
    before = on.capture()
    # There is no DHCP behind eth3; br0 has been made by then, and eth2 is its port.
    desired: State = {
        "interfaces": [
            up("br0", "linux-bridge", bridge={"port": [{"name": "eth2"}]}, ipv4=ipv4("203.0.113.40/25")),
            up("eth3", ipv4={"enabled": True, "dhcp": True}, ipv6=OFF),
        ]
    }
    assert "nmcli" in on.refused(desired, seconds=5)
    until(lambda: differences(before, on.capture()) == [], "the network from before")
    assert "br0" not in on.node.run(["nmcli", "-t", "-f", "NAME", "connection"], check=True).stdout
    on.apply(STATIC)  # no checkpoint is left that would forbid it


def test_a_change_by_profiles_is_taken_back_by_its_checkpoint_or_stays_over_a_reboot(take: Take) -> None:
    on = take("networkmanager")
    before = on.capture()
    checkpoint = on.ask("apply", state=STATIC, seconds=30)["answer"]
    assert "203.0.113.40/25" in on.node.addresses("eth2")
    on.ask("roll back", checkpoint=checkpoint)
    until(lambda: differences(before, on.capture()) == [], "the network from before")
    on.node.run(["nmcli", "device", "set", "eth2", "managed", "no"], check=True)
    assert {one["name"]: one["state"] for one in on.capture()["interfaces"]}["eth2"] == "ignore"
    on.apply(STATIC)
    on.node.reboot()
    until(lambda: "203.0.113.40/25" in on.node.addresses("eth2"), "the address after the reboot")
