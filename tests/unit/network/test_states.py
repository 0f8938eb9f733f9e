# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Documents at the door: what is read, and how each bad field is named."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.states import read_state
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, MissingPackage
from ansible_collections.sunset.kube.tests.unit.fakes import named

ETH1 = {"name": "eth1", "type": "ethernet", "state": "up"}

READ: dict[str, tuple[Any, dict[str, Any]]] = {
    "a mapping": ({"interfaces": [ETH1]}, {"interfaces": [ETH1]}),
    "YAML": ("interfaces:\n- {name: eth1, type: ethernet, state: up}\n", {"interfaces": [ETH1]}),
    "JSON": ('{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up"}]}', {"interfaces": [ETH1]}),
    "nothing": (None, {}),
    "empty text": ("", {}),
    "only a comment": ("# nothing yet\n", {}),
    "YAML with a marker and an empty end": ("---\nhostname: {config: one}\n---\n", {"hostname": {"config": "one"}}),
    "keys we do not act on": ({"interfaces": [{**ETH1, "ethtool": {"ring": {"rx": 512}}}]}, {
        "interfaces": [{**ETH1, "ethtool": {"ring": {"rx": 512}}}],
    }),
    "what a query prints": (
        {"routes": {"running": [], "config": []}, "dns-resolver": {"running": {}, "config": {}}, "ovn": {}},
        {"routes": {"running": [], "config": []}, "dns-resolver": {"running": {}, "config": {}}, "ovn": {}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "state"), named(READ))
def test_a_document_is_read(given: Any, state: dict[str, Any]) -> None:
    assert read_state(given) == state


def test_what_was_given_is_not_shared() -> None:
    given = {"interfaces": [dict(ETH1)]}
    read_state(given)["interfaces"][0]["mtu"] = 9000
    assert given == {"interfaces": [ETH1]}


def _interface(**more: Any) -> dict[str, Any]:
    return {"interfaces": [{**ETH1, **more}]}


def _route(**more: Any) -> dict[str, Any]:
    return {"routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-interface": "eth1", **more}]}}


BAD: dict[str, tuple[Any, str]] = {
    "a list": ([ETH1], "cannot read desired_state: it is a list, not a mapping."),
    "a word": ("eth1", "cannot read desired_state: it is a str, not a mapping."),
    "two documents": (
        "hostname: {config: one}\n---\nhostname: {config: two}\n",
        "cannot read desired_state: it holds 2 YAML documents. Next: give one.",
    ),
    "an unknown part": ({"interface": []}, "bad options: desired_state.interface: unknown; there are "),
    "no name": ({"interfaces": [{"type": "ethernet"}]}, "desired_state.interfaces[0].name: missing"),
    "interfaces that are a mapping": ({"interfaces": {"eth1": {}}}, "desired_state.interfaces: must be a list"),
    "an interface that is a name": ({"interfaces": ["eth1"]}, "desired_state.interfaces[0]: must be a mapping"),
    "a name with a slash": (_interface(name="../eth1"), "interfaces[0].name: '../eth1' is no name for an interface"),
    "a state nobody knows": (_interface(state="gone"), "interfaces[0].state: 'gone' is not one of up, down, absent"),
    "an MTU in words": (_interface(mtu="big"), "interfaces[0].mtu: must be a number from 0 to"),
    "a switch in words": (_interface(ipv4={"enabled": "yes"}), "interfaces[0].ipv4.enabled: must be true or false"),
    "a block that is a switch": (_interface(ipv4=True), "interfaces[0].ipv4: must be a mapping"),
    "half an address": (
        _interface(ipv4={"enabled": True, "address": [{"ip": "192.0.2", "prefix-length": 24}]}),
        "interfaces[0].ipv4.address[0].ip: '192.0.2' is not an IP address",
    ),
    "an address in the wrong family": (
        _interface(ipv4={"enabled": True, "address": [{"ip": "2001:db8::1", "prefix-length": 24}]}),
        "interfaces[0].ipv4.address[0].ip: 2001:db8::1 does not belong under ipv4",
    ),
    "a prefix too long": (
        _interface(ipv4={"enabled": True, "address": [{"ip": "192.0.2.1", "prefix-length": 64}]}),
        "interfaces[0].ipv4.address[0].prefix-length: must be a number from 0 to 32",
    ),
    "a port without a name": (
        {"interfaces": [{"name": "br0", "type": "linux-bridge", "bridge": {"port": [{"vlan": {}}]}}]},
        "interfaces[0].bridge.port[0]: must name an interface",
    ),
    "an interface twice": ({"interfaces": [ETH1, ETH1]}, "interfaces[1].name: eth1 is already interfaces[0]"),
    "a bad destination": (_route(destination="everywhere"), "routes.config[0].destination: 'everywhere' is not a"),
    "a bad gateway": (_route(**{"next-hop-address": "gw"}), "routes.config[0].next-hop-address: 'gw' is not an IP"),
    "a table below zero": (_route(**{"table-id": -1}), "routes.config[0].table-id: must be a number from 0 to"),
    "a name server by name": (
        {"dns-resolver": {"config": {"server": ["dns.example.com"]}}},
        "dns-resolver.config.server: [0] 'dns.example.com' is not an IP address",
    ),
    "a rule for no family": (
        {"route-rules": {"config": [{"family": "ipx"}]}},
        "route-rules.config[0].family: 'ipx' is not one of ipv4, ipv6",
    ),
}


@pytest.mark.parametrize(("given", "complaint"), named(BAD))
def test_a_bad_field_is_named_by_its_path(given: Any, complaint: str) -> None:
    with pytest.raises(BadOption) as caught:
        read_state(given)
    assert complaint in str(caught.value)


def test_all_bad_fields_are_named_at_once() -> None:
    with pytest.raises(BadOption) as caught:
        read_state({"interfaces": [{"name": "eth1", "mtu": -1}, {"type": "vlan"}], "route": {}}, "saved state")
    text = str(caught.value)
    paths = ("saved state.route:", ".interfaces[0].mtu:", ".interfaces[1].name:")
    assert [text.count(path) for path in paths] == [1, 1, 1]


def test_without_pyyaml_a_mapping_and_json_are_read_and_yaml_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert read_state({"interfaces": [ETH1]}) == {"interfaces": [ETH1]}
    assert read_state('{"hostname": {"config": "one"}}') == {"hostname": {"config": "one"}}
    with pytest.raises(MissingPackage) as caught:
        read_state("hostname: {config: one}")
    assert "give desired_state as a mapping instead of text" in str(caught.value)
