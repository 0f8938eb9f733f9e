# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option `probes`, the default questions, and values that travel in a journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import (
    Finding,
    Gateway,
    Probe,
    Surroundings,
    default_probes,
    parse_probes,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadFields, BadOption
from ansible_collections.sunset.kube.tests.unit.fakes import named

FULL = Surroundings(
    gateways=(Gateway("198.51.100.1", "eth1", "ipv4"), Gateway("fe80::1", "eth1", "ipv6")),
    nameservers=("198.51.100.53",),
    search=("example.com",),
    controller="203.0.113.9",
    api_server="https://api.example.com:6443",
    node_name="node-1",
    kubeconfig="/etc/kubernetes/kubelet.conf",
)


def parsed(*given: Mapping[str, Any]) -> tuple[Probe, ...]:
    bad = BadFields()
    probes = parse_probes(given, bad)
    bad.raise_if_any()
    return probes


def complaints(*given: Any) -> str:
    bad = BadFields()
    parse_probes(given, bad)
    with pytest.raises(BadOption) as raised:
        bad.raise_if_any()
    return raised.value.why


@pytest.mark.parametrize(
    ("given", "probe"),
    named(
        {
            "an address": (
                {"type": "ping", "target": "198.51.100.1"},
                Probe("ping", "198.51.100.1", "", 3.0),
            ),
            "an address on an interface": (
                {"type": "neighbour", "target": "fe80::1%eth1", "family": "ipv6"},
                Probe("neighbour", "fe80::1%eth1", "ipv6", 3.0),
            ),
            "the default gateway of a family": (
                {"type": "ping", "target": None, "family": "ipv6", "timeout": None},
                Probe("ping", "", "ipv6", 3.0),
            ),
            "a port": ({"type": "tcp", "target": "db.example.com:5432"}, Probe("tcp", "db.example.com:5432", "", 5.0)),
            "a port of an IPv6 address": (
                {"type": "tcp", "target": "[2001:db8::1]:22", "timeout": 2.5},
                Probe("tcp", "[2001:db8::1]:22", "", 2.5),
            ),
            "a page and its status": (
                {"type": "http", "target": "https://example.com/ready?x=1 2xx"},
                Probe("http", "https://example.com/ready?x=1 2xx", "", 10.0),
            ),
            "a name at a server": (
                {"type": "dns", "target": "example.com@198.51.100.53"},
                Probe("dns", "example.com@198.51.100.53", "", 5.0),
            ),
            "a server alone, at another port": (
                {"type": "dns", "target": "@[2001:db8::53]:5353"},
                Probe("dns", "@[2001:db8::53]:5353", "", 5.0),
            ),
            "the API server by its address alone": (
                {"type": "api_server", "target": "2001:db8::6"},
                Probe("api_server", "2001:db8::6", "", 10.0),
            ),
            "a node": ({"type": "node_ready", "target": "node-1"}, Probe("node_ready", "node-1", "", 10.0)),
            "the controller": ({"type": "controller"}, Probe("controller", "", "", 5.0)),
        }
    ),
)
def test_a_probe_is_understood(given: Mapping[str, Any], probe: Probe) -> None:
    assert parsed(given) == (probe,)


@pytest.mark.parametrize(
    ("given", "complaint"),
    named(
        {
            "not a dictionary": ("ping", "probes[0]: must be a dictionary with type and target"),
            "no type": (
                {},
                "probes[0].type: must be one of ping, tcp, http, dns, neighbour, api_server, node_ready, controller, "
                "not empty",
            ),
            "a family nobody has": (
                {"type": "ping", "family": "ipv5"},
                "probes[0].family: must be ipv4 or ipv6, not ipv5",
            ),
            "a name to ping": (
                {"type": "ping", "target": "gw.example.com"},
                "probes[0].target: must be an address, or address%interface, not gw.example.com",
            ),
            "the other family": (
                {"type": "ping", "target": "198.51.100.1", "family": "ipv6"},
                "probes[0].target: is no ipv6 address: 198.51.100.1",
            ),
            "a server of the other family": (
                {"type": "dns", "target": "a@198.51.100.1", "family": "ipv6"},
                "probes[0].target: is no ipv6 address: 198.51.100.1",
            ),
            "no port": (
                {"type": "tcp", "target": "198.51.100.1"},
                "probes[0].target: must be host:port, with an IPv6 address in brackets, not 198.51.100.1",
            ),
            "a port too high": (
                {"type": "tcp", "target": "a:65536"},
                "probes[0].target: must be host:port, with an IPv6 address in brackets, not a:65536",
            ),
            "no target": (
                {"type": "tcp"},
                "probes[0].target: must be host:port, with an IPv6 address in brackets, not empty",
            ),
            "another scheme": (
                {"type": "http", "target": "ftp://example.com"},
                "probes[0].target: must be a URL that begins with http:// or https://, not ftp://example.com",
            ),
            "a port that is no number": (
                {"type": "http", "target": "http://example.com:port/"},
                "probes[0].target: must be a URL, not http://example.com:port/",
            ),
            "a password": (
                {"type": "http", "target": "http://anna:secret@example.com/"},
                "probes[0].target: must not hold a user or password: targets are shown in results",
            ),
            "a status that is none": (
                {"type": "http", "target": "http://example.com/ fine"},
                "probes[0].target: must end with a status such as 200 or 2xx, not fine",
            ),
            "a server by name": (
                {"type": "dns", "target": "a@ns.example.com"},
                "probes[0].target: must have the server as an address, not ns.example.com",
            ),
            "a name with a hole": (
                {"type": "dns", "target": "a..b"},
                "probes[0].target: must be name, name@server or @server, not a..b",
            ),
            "a path for a node": (
                {"type": "node_ready", "target": "a/b"},
                "probes[0].target: must be the name of a Node, not a/b",
            ),
            "no time": (
                {"type": "ping", "timeout": 0},
                "probes[0].timeout: must be a number of seconds above 0, at most 600, not 0",
            ),
            "time without end": (
                {"type": "ping", "timeout": float("nan")},
                "probes[0].timeout: must be a number of seconds above 0, at most 600, not nan",
            ),
        }
    ),
)
def test_a_bad_probe_is_refused_with_its_path(given: Any, complaint: str) -> None:
    assert complaints(given) == complaint


def test_every_bad_field_is_reported_at_once() -> None:
    assert complaints({"type": "tcp", "target": "x", "timeout": -1}, {"type": "nmap"}).count("; ") == 2


def test_no_option_is_no_probe_and_a_repeated_one_is_asked_once() -> None:
    assert parse_probes(None, BadFields()) == ()
    assert len(parsed({"type": "controller"}, {"type": "controller"}, {"type": "ping"})) == 2


def test_by_default_everything_the_node_depends_on_is_asked() -> None:
    assert [str(probe) for probe in default_probes(FULL)] == [
        "ping ipv4",
        "neighbour ipv4",
        "ping ipv6",
        "neighbour ipv6",
        "dns",
        "controller",
        "api_server",
        "node_ready",
    ]


@pytest.mark.parametrize(
    ("surroundings", "asked"),
    named(
        {
            "nothing known": (Surroundings(), []),
            "IPv6 only": (Surroundings(gateways=FULL.gateways[1:]), ["ping ipv6", "neighbour ipv6"]),
            "an API server without credentials": (Surroundings(api_server="a:6443", node_name="n"), ["api_server"]),
        }
    ),
)
def test_what_is_not_known_is_not_asked(surroundings: Surroundings, asked: list[str]) -> None:
    assert [str(probe) for probe in default_probes(surroundings)] == asked


def test_default_probes_have_the_time_outs_of_their_type() -> None:
    assert {probe.type: probe.timeout for probe in default_probes(FULL)}["ping"] == 3.0


def test_surroundings_and_findings_come_back_from_a_journal_as_they_were() -> None:
    finding = Finding(Probe("dns", "a@198.51.100.1", "ipv4", 2.0), True, "dns a: fine", 0.25, "resolves")
    assert Surroundings.from_data(json.loads(json.dumps(FULL.as_data()))) == FULL
    assert Finding.from_data(json.loads(json.dumps(finding.as_data()))) == finding


def test_the_best_gateway_of_a_family_and_of_any() -> None:
    assert [gateway and gateway.address for gateway in map(FULL.gateway, ("", "ipv4", "ipv6"))] == [
        "198.51.100.1",
        "198.51.100.1",
        "fe80::1",
    ]
    assert Surroundings().gateway("") is None
