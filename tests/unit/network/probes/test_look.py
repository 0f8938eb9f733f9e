# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the node says about its network, read without asking it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.network.probes import look
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.look import (
    Way,
    read_flags,
    read_gateways,
    read_parent,
    read_resolv_conf,
    read_ssh_client,
    read_way,
    ssh_client,
    way_to,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import Gateway
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.targets import Place
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from ansible_collections.sunset.kube.tests.unit.fakes import named


@pytest.mark.parametrize(
    ("routes", "gateways"),
    named(
        {
            "none": ([], []),
            "the best metric first": (
                [
                    {"dst": "default", "gateway": "198.51.100.254", "dev": "eth2", "metric": 200},
                    {"dst": "default", "gateway": "198.51.100.1", "dev": "eth1", "metric": 100},
                ],
                [("198.51.100.1", "eth1"), ("198.51.100.254", "eth2")],
            ),
            "no metric is the best metric": (
                [{"gateway": "198.51.100.2", "dev": "a", "metric": 1}, {"gateway": "198.51.100.1", "dev": "b"}],
                [("198.51.100.1", "b"), ("198.51.100.2", "a")],
            ),
            "several next hops": (
                [{"nexthops": [{"gateway": "198.51.100.1", "dev": "a"}, {"gateway": "198.51.100.2", "dev": "b"}]}],
                [("198.51.100.1", "a"), ("198.51.100.2", "b")],
            ),
            "through a neighbour of the other family": (
                [{"via": {"family": "inet6", "host": "fe80::1"}, "dev": "eth1"}],
                [("fe80::1", "eth1")],
            ),
            "a link without a gateway": ([{"dst": "default", "dev": "ppp0", "scope": "link"}], []),
        }
    ),
)
def test_default_gateways_are_read(routes: list[Mapping[str, Any]], gateways: list[tuple[str, str]]) -> None:
    expected = tuple(Gateway(address, interface, "ipv4") for address, interface in gateways)
    assert read_gateways(json.dumps(routes), "ipv4") == expected


@pytest.mark.parametrize(
    ("listing", "way"),
    named(
        {
            "on the link": (
                [{"dst": "198.51.100.1", "dev": "eth1", "prefsrc": "198.51.100.2", "flags": []}],
                Way("eth1", "", "198.51.100.2"),
            ),
            "through a gateway": (
                [{"dst": "203.0.113.9", "gateway": "198.51.100.1", "dev": "eth1", "prefsrc": "198.51.100.2"}],
                Way("eth1", "198.51.100.1", "198.51.100.2"),
            ),
            "ourselves": (
                [{"type": "local", "dst": "198.51.100.2", "dev": "lo", "prefsrc": "198.51.100.2"}],
                Way("lo", "", "198.51.100.2", True),
            ),
            "nothing": ([], None),
        }
    ),
)
def test_the_way_to_an_address_is_read(listing: list[Mapping[str, Any]], way: Way | None) -> None:
    assert read_way(json.dumps(listing)) == way


def test_what_ip_prints_and_is_no_json_is_not_taken_for_no_routes() -> None:
    with pytest.raises(CannotLook, match="check ip -j route"):
        read_gateways("default via 198.51.100.1", "ipv4")


def test_a_missing_command_is_not_taken_for_no_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotLook, match="install ip on this node"):
        way_to(Place("198.51.100.1"))


def test_name_servers_and_domains_are_read() -> None:
    text = """# by hand
nameserver 198.51.100.53   # first
nameserver 2001:db8::53
nameserver fe80::53%eth1
nameserver 198.51.100.53
nameserver none
domain old.example
search example.com corp.example.com
options ndots:5
nameserver
"""
    assert read_resolv_conf(text) == (
        ("198.51.100.53", "2001:db8::53", "fe80::53%eth1"),
        ("example.com", "corp.example.com"),
    )


@pytest.mark.parametrize(
    ("environ", "address"),
    named(
        {
            "a session": ({"SSH_CONNECTION": "203.0.113.9 50022 198.51.100.2 22"}, "203.0.113.9"),
            "a session over IPv6": ({"SSH_CONNECTION": "2001:db8::9 50022 2001:db8::2 22"}, "2001:db8::9"),
            "an old name": ({"SSH_CLIENT": "203.0.113.9 50022 22"}, "203.0.113.9"),
            "through a pipe": ({"SSH_CONNECTION": "UNKNOWN 65535 UNKNOWN 65535"}, ""),
            "no session": ({}, ""),
        }
    ),
)
def test_the_controller_is_read_from_the_environment(environ: Mapping[str, str], address: str) -> None:
    assert read_ssh_client(environ) == address


def test_a_controller_hidden_by_sudo_is_found_in_the_processes_above(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/40/environ": "PATH=/bin\0SUDO_USER=anna\0",
        "/proc/40/status": "Name:\tsudo\nPPid:\t30\n",
        "/proc/30/environ": "SSH_CONNECTION=203.0.113.9 50022 198.51.100.2 22\0",
    }
    monkeypatch.setattr(look.os, "getppid", lambda: 40)
    monkeypatch.setattr(look, "_text", lambda path: files.get(path, ""))
    assert ssh_client({}) == "203.0.113.9"
    assert ssh_client({"SSH_CLIENT": "203.0.113.7 1 22"}) == "203.0.113.7"


def test_the_search_for_a_session_ends_at_the_first_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look.os, "getppid", lambda: 40)
    monkeypatch.setattr(look, "_text", lambda path: "PPid:\t40\n")  # a loop, were it followed for ever
    assert ssh_client({}) == ""


def test_flags_of_the_kubelet_are_read_in_both_spellings() -> None:
    words = ["--kubeconfig=/etc/k.conf", "--hostname-override", "node-1", "--v", "--fail-swap-on=false", ""]
    assert read_flags(words) == {
        "kubeconfig": "/etc/k.conf",
        "hostname-override": "node-1",
        "fail-swap-on": "false",
    }


def test_the_parent_of_a_process_that_is_gone_is_nobody() -> None:
    assert (read_parent("Name:\tx\nPPid:\t12\nTracerPid:\t0\n"), read_parent("")) == ("12", "")
