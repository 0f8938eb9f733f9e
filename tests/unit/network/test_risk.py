# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a change takes away from under us: SSH, the node's address, the ways to controller and API server."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.risk import (
    Lifelines,
    carriers_of,
    lifelines_of_ssh,
    risks_of,
)
from ansible_collections.sunset.kube.tests.unit.fakes import named

OFF = {"enabled": False}


def _static(text: str, prefix: int = 24) -> dict[str, Any]:
    return {"enabled": True, "dhcp": False, "address": [{"ip": text, "prefix-length": prefix}]}


def _eth(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "ethernet", "state": "up", "ipv4": OFF, "ipv6": OFF, **more}


def _default(name: str, gateway: str = "192.0.2.1", metric: int = 100) -> dict[str, Any]:
    route = {"destination": "0.0.0.0/0", "next-hop-address": gateway, "next-hop-interface": name, "table-id": 254}
    return {**route, "metric": metric}


NOW: dict[str, Any] = {
    "interfaces": [
        _eth("eth0", ipv4=_static("192.0.2.10")),
        _eth("eth1", ipv4=_static("198.51.100.10")),
        _eth("eth2"),
        _eth("eth3", controller="br0"),
        {
            "name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth3"}]},
            "ipv4": _static("203.0.113.10"), "ipv6": OFF,
        },
    ],
    "routes": {"config": [_default("eth0")]},
}  # fmt: skip
SSH = Lifelines(ssh_local="192.0.2.10", ssh_peer="10.9.8.7")
BRIDGED = Lifelines(ssh_local="203.0.113.10", ssh_peer="203.0.113.20")


def _change(name: str, kind: str = "ethernet", **more: Any) -> dict[str, Any]:
    return {"interfaces": [{"name": name, "type": kind, "state": "up", **more}]}


NO_WAY_OUT = [
    "eth0 carries the way back to the controller: default via 192.0.2.1 dev eth0 metric 100 goes, "
    "and no other route leads to 10.9.8.7",
    "eth0 carries the ipv4 default route: the change removes it",
]
RISKS: dict[str, tuple[dict[str, Any], Lifelines, list[str]]] = {
    "another interface": (_change("eth2", ipv4=_static("198.51.100.99")), SSH, []),
    "only its MTU": (_change("eth0", mtu=9000), SSH, []),
    "a second address": (
        _change("eth0", ipv4={"address": [*_static("192.0.2.10")["address"], *_static("192.0.2.11")["address"]]}),
        SSH,
        [],
    ),
    "SSH's address goes": (
        _change("eth0", ipv4=_static("192.0.2.99")),
        SSH,
        ["eth0 carries SSH: 192.0.2.10 is taken from it"],
    ),
    "SSH's interface goes down": (
        {"interfaces": [{"name": "eth0", "type": "ethernet", "state": "down"}]},
        SSH,
        ["eth0 carries SSH: eth0 goes down", *NO_WAY_OUT],
    ),
    "its address moves to a bridge above it": (
        _change("br1", "linux-bridge", bridge={"port": [{"name": "eth0"}]}, ipv4=_static("192.0.2.10")),
        SSH,
        ["eth0 carries SSH: 192.0.2.10 moves to br1", *NO_WAY_OUT],
    ),
    "the default route goes": (
        {"routes": {"config": [{"state": "absent", "next-hop-interface": "eth0"}]}},
        SSH,
        NO_WAY_OUT,
    ),
    "a better default route comes": (
        {"routes": {"config": [_default("eth1", "198.51.100.1", 50)]}},
        Lifelines(api_server="10.1.1.1"),
        [
            "eth0 carries the way to the API server: default via 192.0.2.1 dev eth0 metric 100 gives way to "
            "default via 198.51.100.1 dev eth1 metric 50",
            "eth0 carries the ipv4 default route: it moves to eth1",
        ],
    ),
    "a route in another table": (
        {"routes": {"config": [{**_default("eth1", "198.51.100.1", 50), "table-id": 200}]}},
        SSH,
        [],
    ),
    "the bridge with the node's address goes": (
        {"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "absent"}]},
        Lifelines(node_ip="203.0.113.10"),
        ["br0 carries the node's address: br0 goes, and 203.0.113.10 with it"],
    ),
    "the bridge loses its port": (
        _change("br0", "linux-bridge", bridge={"port": []}),
        BRIDGED,
        [
            "br0 carries SSH: it loses its port eth3",
            "br0 carries the way back to the controller: it loses its port eth3",
        ],
    ),
    "the port below goes down": (
        {"interfaces": [{"name": "eth3", "type": "ethernet", "state": "down"}]},
        BRIDGED,
        [
            "br0 carries SSH: it stands on eth3, which goes down",
            "br0 carries the way back to the controller: it stands on eth3, which goes down",
        ],
    ),
    "nobody is known to need anything": (_change("eth0", ipv4=OFF), Lifelines(), [
        "eth0 carries the ipv4 default route: the change removes it",
    ]),
    "names instead of addresses say nothing": (
        _change("eth1", ipv4=OFF), Lifelines(ssh_local="node1", api_server="api.example.com"), [],
    ),
    "an API server on the node itself": (_change("eth1", ipv4=OFF), Lifelines(api_server="127.0.0.1"), []),
}  # fmt: skip


@pytest.mark.parametrize(("change", "lifelines", "risks"), named(RISKS))
def test_the_risk_of_a_change(change: dict[str, Any], lifelines: Lifelines, risks: list[str]) -> None:
    assert [str(risk) for risk in risks_of(NOW, change, lifelines)] == risks


LEASED: dict[str, Any] = {
    "interfaces": [
        _eth(
            "eth0",
            ipv4={
                "enabled": True,
                "dhcp": True,
                "address": [{"ip": "192.0.2.10", "prefix-length": 24, "valid-life-time": "300sec"}],
            },
        )
    ],
    "routes": {"running": [_default("eth0")], "config": []},
}


def test_what_dhcp_brought_stays_while_dhcp_stays() -> None:
    assert risks_of(LEASED, _change("eth0", mtu=1400), SSH) == []


def test_what_dhcp_brought_goes_with_dhcp() -> None:
    lost = risks_of(LEASED, _change("eth0", ipv4=_static("192.0.2.10")), SSH)
    assert [risk.carries for risk in lost] == ["the way back to the controller", "the ipv4 default route"]
    assert risks_of(LEASED, _change("eth0", ipv4=OFF), SSH)[0].why == "192.0.2.10 is taken from it"


def test_ipv6_is_a_way_of_its_own() -> None:
    six = {**_default("eth0", "2001:db8::1"), "destination": "::/0"}
    now = {
        "interfaces": [_eth("eth0", ipv4=_static("192.0.2.10"), ipv6=_static("2001:db8::10", 64))],
        "routes": {"config": [_default("eth0"), six]},
    }
    lifelines = Lifelines(ssh_local="2001:DB8:0::10", ssh_peer="2001:db8:9::9")
    assert risks_of(now, _change("eth0", ipv4=OFF), lifelines) == [
        risk for risk in risks_of(now, _change("eth0", ipv4=OFF), lifelines) if risk.carries == "the ipv4 default route"
    ]
    assert [risk.carries for risk in risks_of(now, _change("eth0", ipv6=OFF), lifelines)] == [
        "SSH",
        "the way back to the controller",
        "the ipv6 default route",
    ]


def test_who_carries_what() -> None:
    lifelines = Lifelines("192.0.2.10", "10.9.8.7", "198.51.100.20", "203.0.113.10")
    assert carriers_of(NOW, lifelines) == {
        "SSH": "eth0",
        "the node's address": "br0",
        "the way back to the controller": "eth0",
        "the way to the API server": "eth1",
        "the ipv4 default route": "eth0",
    }


CONNECTIONS: dict[str, tuple[str, Lifelines]] = {
    "SSH over IPv4": ("198.51.100.1 50000 192.0.2.10 22", Lifelines("192.0.2.10", "198.51.100.1")),
    "SSH over link-local IPv6": ("fe80::1%eth0 50000 fe80::2%eth0 22", Lifelines("fe80::2%eth0", "fe80::1%eth0")),
    "no SSH": ("", Lifelines()),
    "something else": ("one two", Lifelines()),
}


@pytest.mark.parametrize(("text", "lifelines"), named(CONNECTIONS))
def test_our_own_connection_is_known(text: str, lifelines: Lifelines) -> None:
    assert lifelines_of_ssh(text) == lifelines


def test_a_link_local_connection_is_no_trouble() -> None:
    assert risks_of(NOW, _change("eth2", mtu=1400), lifelines_of_ssh("fe80::1%eth0 50000 fe80::2%eth0 22")) == []
