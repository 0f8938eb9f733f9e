# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes on real sockets: in network namespaces with a switch for all that can break, and on a real API server."""

from __future__ import annotations

import contextlib
import secrets
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock
from ansible_collections.sunset.kube.plugins.module_utils.kube.configuration import ConnectionOptions, load_endpoint
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.attempt import OpenApi
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.findings import regressions
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.look import gather, way_to
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import (
    Finding,
    Gateway,
    Probe,
    Surroundings,
    default_probes,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.rounds import hold, run_once
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.targets import Place
from integration.small_network import NameServer, SmallNetwork, web_server
from lab.plane.certificates import Authority
from lab.plane.controlplane import ControlPlane
from lab.processes import start, stop
from lab.waiting import until

PATIENT, SHORT = 20.0, 0.7  # for what must come, and for what must not
NOWHERE = "198.51.100.77"
CLOCK = RealClock()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallNetwork]:
    """For tests that only look."""
    with SmallNetwork.built(tmp_path_factory.mktemp("calm")) as network:
        yield network


@pytest.fixture
def net(tmp_path: Path) -> Iterator[SmallNetwork]:
    with SmallNetwork.built(tmp_path) as network:
        yield network


def surroundings(controller: str = "203.0.113.9", resolv_conf: str = "/nowhere") -> Surroundings:
    return gather({}, controller=controller, node_name="node", kubeconfig="none", resolv_conf=resolv_conf)


def ask(net: SmallNetwork, probe: Probe, earlier: Finding | None = None, **more: Any) -> Finding:
    with net.node.entered():
        around = more.pop("around", None) or surroundings()
        references = {probe: earlier} if earlier else {}
        (finding,) = run_once([probe], around, CLOCK, earlier=references, **more)
    return finding


def answer_of(net: SmallNetwork, kind: str, target: str = "", family: str = "", **more: Any) -> Finding:
    """Of a probe that is expected to work."""
    finding = ask(net, Probe(kind, target, family, PATIENT), **more)
    assert finding.works, finding.detail
    return finding


def trouble_of(net: SmallNetwork, kind: str, target: str = "", family: str = "", **more: Any) -> str:
    """What a probe says that is expected to fail."""
    finding = ask(net, Probe(kind, target, family, SHORT), **more)
    assert not finding.works, finding.detail
    return finding.detail


# --- what the node looks like


def test_a_node_is_seen_with_its_gateways_name_servers_and_controller(calm: SmallNetwork, tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("search example.com\nnameserver 198.51.100.1\n")
    with calm.node.entered():
        seen = gather({"SSH_CONNECTION": "203.0.113.9 50022 198.51.100.2 22"}, resolv_conf=str(file))
    assert seen.gateways == (Gateway("198.51.100.1", "eth0", "ipv4"), Gateway("fe80::1", "eth0", "ipv6"))
    assert (seen.nameservers, seen.search, seen.controller) == (("198.51.100.1",), ("example.com",), "203.0.113.9")
    assert seen.kubeconfig == ""


def test_the_kubelet_of_this_network_is_found_and_no_other(calm: SmallNetwork, tmp_path: Path) -> None:
    config = tmp_path / "kubelet.conf"
    config.touch()
    # A shell by that name; what follows it are words it does not look at.
    words = f"exec -a kubelet sh -c 'sleep 86400; :' sh --hostname-override=node-7 --kubeconfig {config}"
    kubelet = start(["nsenter", f"--net={calm.node.file}", "bash", "-c", words], tmp_path / "kubelet.log")
    try:
        with calm.node.entered():
            until(lambda: gather({}).node_name == "node-7", "the kubelet to be seen")
            assert gather({}).kubeconfig == str(config)
        with calm.gateway.entered():
            assert gather({}).node_name == socket.gethostname().lower()
    finally:
        stop([kubelet])


def test_ways_are_known_or_known_to_be_missing(net: SmallNetwork) -> None:
    with net.node.entered():
        ways = [way_to(Place(address)) for address in ("198.51.100.1", "203.0.113.9", "198.51.100.2")]
        net.node.ip("route", "del", "default", "via", "198.51.100.1")
        assert way_to(Place("203.0.113.9")) is None
    assert [(way.interface, way.gateway, way.is_here) for way in ways if way] == [
        ("eth0", "", False),
        ("eth0", "198.51.100.1", False),
        ("lo", "", True),
    ]


# --- ping and neighbour


@pytest.mark.parametrize("kind", ["ping", "neighbour"])
@pytest.mark.parametrize(
    ("target", "family"),
    [
        ("198.51.100.1", ""),
        ("198.51.100.1%eth0", "ipv4"),
        ("2001:db8::1", ""),
        ("fe80::1%eth0", "ipv6"),
        ("", "ipv4"),
        ("", "ipv6"),
    ],
)
def test_a_gateway_answers(calm: SmallNetwork, kind: str, target: str, family: str) -> None:
    answer_of(calm, kind, target, family)


@pytest.mark.parametrize("kind", ["ping", "neighbour"])
@pytest.mark.parametrize("target", [NOWHERE, "2001:db8::77"])
def test_nobody_answers_for_an_address_nobody_has(calm: SmallNetwork, kind: str, target: str) -> None:
    where = " on eth0" if kind == "neighbour" else ""
    assert trouble_of(calm, kind, target) == f"{kind} {target}: no answer{where} within 0.7 s"


def test_a_gateway_that_drops_icmp_is_still_a_neighbour(net: SmallNetwork) -> None:
    net.gateway.drop("icmp type echo-request", "icmpv6 type echo-request")
    for family, address in (("ipv4", "198.51.100.1"), ("ipv6", "fe80::1")):
        silence = f"ping {family}: no answer from the default gateway {address} within 0.7 s"
        assert trouble_of(net, "ping", "", family) == silence
        answer_of(net, "neighbour", "", family)


@pytest.mark.parametrize("kind", ["ping", "neighbour"])
def test_a_gateway_whose_link_is_down_does_not_answer_though_the_node_knew_it_a_moment_ago(
    net: SmallNetwork, kind: str
) -> None:
    for family in ("ipv4", "ipv6"):
        answer_of(net, kind, "", family)
    net.gateway.ip("link", "set", "lan", "down")
    for family in ("ipv4", "ipv6"):
        trouble_of(net, kind, "", family)


@pytest.mark.parametrize("kind", ["ping", "neighbour"])
def test_a_gateway_that_lost_its_address_does_not_answer(net: SmallNetwork, kind: str) -> None:
    answer_of(net, kind, "198.51.100.1")
    net.gateway.ip("addr", "del", "198.51.100.1/24", "dev", "lan")
    trouble_of(net, kind, "198.51.100.1")


def test_the_default_gateway_is_the_one_of_now_not_of_before(net: SmallNetwork) -> None:
    net.gateway.ip("addr", "del", "198.51.100.1/24", "dev", "lan")
    net.gateway.ip("addr", "add", "198.51.100.254/24", "dev", "lan")
    trouble_of(net, "ping", "", "ipv4")
    net.node.ip("route", "replace", "default", "via", "198.51.100.254")
    assert answer_of(net, "ping", "", "ipv4").detail == "ping ipv4: answer from the default gateway 198.51.100.254"
    net.node.ip("route", "del", "default", "via", "198.51.100.254")
    assert trouble_of(net, "ping", "", "ipv4") == "ping ipv4: no IPv4 default route"


def test_without_a_route_a_ping_fails_at_once(net: SmallNetwork) -> None:
    net.node.ip("route", "del", "default", "via", "198.51.100.1")
    finding = ask(net, Probe("ping", "203.0.113.9", timeout=600.0))
    assert finding.detail == "ping 203.0.113.9: network is unreachable"


def test_a_ping_is_bound_to_its_interface(net: SmallNetwork) -> None:
    net.node.ip("link", "add", "other", "type", "veth", "peer", "name", "end")
    net.node.ip("link", "set", "other", "up")
    trouble_of(net, "ping", "198.51.100.1%other")
    answer_of(net, "ping", "198.51.100.1%eth0")


@pytest.mark.parametrize("target", ["198.51.100.1", "2001:db8::1"])
def test_a_ping_needs_no_raw_socket_where_everybody_may_echo(
    net: SmallNetwork, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net.node.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
    opened: list[int] = []
    real = socket.socket

    def unprivileged(family: int = -1, kind: int = -1, *more: Any, **named: Any) -> socket.socket:
        if kind == socket.SOCK_RAW:
            raise PermissionError(1, "Operation not permitted")
        opened.append(kind)
        return real(family, kind, *more, **named)

    monkeypatch.setattr(socket, "socket", unprivileged)
    answer_of(net, "ping", target)
    assert opened == [socket.SOCK_DGRAM]


def test_only_what_is_on_a_local_link_is_a_neighbour(calm: SmallNetwork) -> None:
    assert trouble_of(calm, "neighbour", "203.0.113.9") == (
        "neighbour 203.0.113.9: 203.0.113.9 is not on a local link: it is reached through 198.51.100.1"
    )
    assert trouble_of(calm, "neighbour", "198.51.100.2").endswith("198.51.100.2 is an address of this node")


# --- dns


@pytest.mark.parametrize("server", ["198.51.100.1", "2001:db8::1"])
@pytest.mark.parametrize(("rcode", "said"), [(0, "NOERROR"), (3, "NXDOMAIN")])
def test_a_name_server_that_knows_works(calm: SmallNetwork, server: str, rcode: int, said: str) -> None:
    with NameServer(calm.gateway, server, rcode):
        finding = answer_of(calm, "dns", f"a.example@{server}")
    assert finding.detail == f"dns a.example@{server}: {server} answers {said} for a.example"


def test_a_name_server_that_does_not_know_fails_and_one_that_stops_is_silent(net: SmallNetwork) -> None:
    with NameServer(net.gateway, "198.51.100.1") as server:
        answer_of(net, "dns", "a.example@198.51.100.1")
        server.rcode = 2
        assert trouble_of(net, "dns", "a.example@198.51.100.1").endswith("198.51.100.1 answers SERVFAIL for a.example")
    assert trouble_of(net, "dns", "a.example@198.51.100.1").endswith("no answer from 198.51.100.1 within 0.7 s")
    net.node.ip("link", "set", "eth0", "down")
    assert trouble_of(net, "dns", "a.example@198.51.100.1").endswith("no route to 198.51.100.1")


def test_an_answer_that_is_cut_short_is_fetched_over_tcp(calm: SmallNetwork) -> None:
    with NameServer(calm.gateway, "198.51.100.1", truncated=True) as server:
        answer_of(calm, "dns", "a.example@198.51.100.1")
        assert server.by_tcp == 1


def test_of_the_nodes_own_name_servers_one_is_enough(calm: SmallNetwork, tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text(f"nameserver {NOWHERE}\nnameserver 192.0.2.200\nnameserver 2001:db8::1\nsearch corp.example\n")
    with calm.node.entered():
        around = surroundings(resolv_conf=str(file))
    with NameServer(calm.gateway, "2001:db8::1"):
        finding = answer_of(calm, "dns", around=around)
        assert finding.detail == "dns: 2001:db8::1 answers NOERROR for corp.example"
    trouble_of(calm, "dns", around=around)


# --- tcp and http


def test_a_port_is_open_closed_or_silent(net: SmallNetwork) -> None:
    with web_server(net.gateway, "198.51.100.1", 8080), web_server(net.gateway, "2001:db8::1", 8080):
        answer_of(net, "tcp", "198.51.100.1:8080")
        answer_of(net, "tcp", "[2001:db8::1]:8080", "ipv6")
    assert trouble_of(net, "tcp", "198.51.100.1:8080") == "tcp 198.51.100.1:8080: connection refused"
    net.gateway.drop("tcp dport 8080")
    assert trouble_of(net, "tcp", "198.51.100.1:8080") == "tcp 198.51.100.1:8080: no answer within 0.7 s"


def test_any_status_of_a_page_counts_unless_one_is_wanted(calm: SmallNetwork) -> None:
    with web_server(calm.gateway, "198.51.100.1", 80, 503), web_server(calm.gateway, "2001:db8::1", 80, 204):
        assert answer_of(calm, "http", "http://198.51.100.1/x").detail == "http http://198.51.100.1/x: answer 503"
        answer_of(calm, "http", "http://[2001:db8::1]/ 2xx")
        assert trouble_of(calm, "http", "http://198.51.100.1/ 200").endswith("answer 503, not 200")
    trouble_of(calm, "http", "http://198.51.100.1/x")


def test_a_page_with_a_certificate_nobody_knows_answers_too(calm: SmallNetwork, tmp_path: Path) -> None:
    pair = Authority(tmp_path, "ca").server("elsewhere")
    with web_server(calm.gateway, "198.51.100.1", 6443, 401) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.cert_file, pair.key_file)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        answer_of(calm, "http", "https://198.51.100.1:6443/ 401")
        answer_of(calm, "api_server", "198.51.100.1:6443")
        trouble_of(calm, "http", "http://198.51.100.1:6443/")


def test_who_accepts_and_then_says_nothing_does_not_answer(calm: SmallNetwork) -> None:
    with calm.gateway.entered():
        mute = socket.create_server(("198.51.100.1", 8080))
    with mute:
        answer_of(calm, "tcp", "198.51.100.1:8080")
        assert trouble_of(calm, "http", "http://198.51.100.1:8080/").endswith("no answer within 0.7 s")


# --- controller


def test_a_controller_replies_to_a_ping_or_else_over_tcp_or_else_its_gateway_is_there(net: SmallNetwork) -> None:
    assert answer_of(net, "controller").detail == "controller: 203.0.113.9 answers a ping"
    net.controller.drop("icmp type echo-request")
    assert ask(net, Probe("controller", timeout=1.5)).detail == "controller: 203.0.113.9 answers on TCP"
    net.controller.drop("tcp dport 22")
    weak = ask(net, Probe("controller", timeout=1.5))
    assert weak.detail == "controller: 203.0.113.9 does not reply, its next hop 198.51.100.1 does"
    assert ask(net, Probe("controller", timeout=1.5), earlier=weak).works
    net.gateway.ip("link", "set", "lan", "down")
    assert trouble_of(net, "controller", earlier=weak).endswith("nor its next hop 198.51.100.1 answers within 0.7 s")


def test_a_controller_that_replied_before_must_reply_after_even_if_its_gateway_is_there(net: SmallNetwork) -> None:
    before = answer_of(net, "controller")
    net.gateway.run("sysctl", "-qw", "net.ipv4.ip_forward=0")
    assert trouble_of(net, "controller", earlier=before) == "controller: no reply from 203.0.113.9 within 0.7 s"
    net.node.ip("route", "del", "default", "via", "198.51.100.1")
    assert trouble_of(net, "controller", earlier=before) == "controller: no route to 203.0.113.9"


def test_a_controller_that_is_heard_in_a_session_since_the_change_is_reached(net: SmallNetwork) -> None:
    before = answer_of(net, "controller")
    with net.node.entered():
        listening = socket.create_server(("198.51.100.2", 22))
    with net.controller.entered():
        session = socket.create_connection(("198.51.100.2", 22))
    with listening, session, listening.accept()[0] as accepted:
        net.controller.drop("icmp type echo-request", "tcp dport 22")
        long_ago = CLOCK.now() - 3600.0
        finding = ask(net, Probe("controller", timeout=1.5), earlier=before, changed_at=long_ago)
        assert "203.0.113.9 was heard in a TCP session" in finding.detail
        assert finding.works
        # The same silent session, and a change after its last segment, by any clock.
        trouble_of(net, "controller", earlier=before, changed_at=CLOCK.now() + 3600.0)
        accepted.close()


# --- before and after


def test_by_default_all_that_a_node_depends_on_is_asked_and_what_breaks_is_named(
    net: SmallNetwork, tmp_path: Path
) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 2001:db8::1\n")
    net.gateway.drop("icmp type echo-request")
    with NameServer(net.gateway, "2001:db8::1"), net.node.entered():
        around = surroundings(resolv_conf=str(file))
        probes = [replace(probe, timeout=1.0) for probe in default_probes(around)]
        before = run_once(probes, around, CLOCK)
        assert [str(finding.probe) for finding in before if not finding.works] == [
            "ping ipv4",
            "api_server",
            "node_ready",
        ]
        net.gateway.ip("-6", "addr", "flush", "dev", "lan")
        lost = regressions(before, run_once(probes, around, CLOCK))
    assert [str(finding.probe) for finding in lost] == ["ping ipv6", "neighbour ipv6", "dns"]


def test_a_network_that_comes_back_in_time_has_held_and_one_that_does_not_is_lost(net: SmallNetwork) -> None:
    probes = [Probe("ping", "198.51.100.1", timeout=3.0), Probe("ping", NOWHERE, timeout=SHORT)]
    rounds: list[list[bool]] = []

    def repair_after_the_first_round(findings: list[Finding]) -> None:
        rounds.append([finding.works for finding in findings])
        if len(rounds) == 1:
            net.gateway.ip("link", "set", "lan", "up")

    renewals: list[float] = []
    with net.node.entered():
        before = run_once(probes, surroundings(), CLOCK)
        net.gateway.ip("link", "set", "lan", "down")
        patience = Deadline(CLOCK, 60.0)
        after = hold(
            probes,
            before,
            surroundings,
            CLOCK,
            patience,
            1.0,
            lambda: renewals.append(CLOCK.now()),
            tell=repair_after_the_first_round,
        )
        assert regressions(before, after) == []
        assert rounds[0] == [False]
        assert rounds[-2:] == [[True], [True]]
        assert renewals

        net.gateway.ip("link", "set", "lan", "down")
        after = hold(probes, before, surroundings, CLOCK, Deadline(CLOCK, 3.0), 1.0, lambda: None)
    assert [finding.probe.target for finding in regressions(before, after)] == ["198.51.100.1"]


# --- the cluster


@pytest.fixture
def member(plane: ControlPlane) -> Iterator[tuple[str, OpenApi]]:
    """A Node that is Ready, and the way its kubelet talks to the API server."""
    name = f"probed-{secrets.token_hex(4)}"
    plane.api.create(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}},
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": "2026-01-01T00:00:00.000000Z"},
        },
    )
    user = plane.user(f"system:node:{name}", ("system:nodes",))
    options = ConnectionOptions(kubeconfig=str(user.kubeconfig))
    try:
        yield name, lambda: load_endpoint(options, environ={})
    finally:
        plane.api.delete(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}")
        plane.api.delete(f"/api/v1/nodes/{name}")


def set_ready(plane: ControlPlane, name: str, status: str) -> None:
    ready = {"type": "Ready", "status": status, "reason": "Test", "message": "", "lastHeartbeatTime": None}
    answer = plane.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [ready]}})
    assert answer[0] == 200, answer


def renew(plane: ControlPlane, name: str, second: int) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}"
    answer = plane.api.patch(path, {"spec": {"renewTime": f"2026-01-01T00:00:{second:02}.000000Z"}})
    assert answer[0] == 200, answer


def test_a_node_is_ready_again_only_with_a_heartbeat_after_the_change(
    plane: ControlPlane, member: tuple[str, OpenApi]
) -> None:
    name, api = member
    around = Surroundings(node_name=name)
    probe = Probe("node_ready", timeout=PATIENT)
    assert "is not Ready" in run_once([probe], around, CLOCK, api=api)[0].detail
    set_ready(plane, name, "True")
    before = run_once([probe], around, CLOCK, api=api)
    assert before[0].works, before[0].detail
    renew(plane, name, 10)  # between the baseline and the change: proves nothing
    told: list[str] = []

    def heartbeat_after_the_second_round(findings: list[Finding]) -> None:
        told.append(findings[0].detail.partition(" is ")[2])
        set_ready(plane, name, "True")  # the node lifecycle controller may have noticed that there is no kubelet
        if len(told) == 2:
            renew(plane, name, 20)

    after = hold(
        [probe],
        before,
        lambda: around,
        CLOCK,
        Deadline(CLOCK, 60.0),
        0.0,
        lambda: None,
        tell=heartbeat_after_the_second_round,
        api=api,
    )
    assert regressions(before, after) == []
    assert told == [
        "Ready, waiting for a heartbeat newer than the change",
        "Ready, but no heartbeat since the change (last 2026-01-01T00:00:10.000000Z)",
        "Ready, heartbeat 2026-01-01T00:00:20.000000Z",
    ]


def test_an_api_server_is_asked_with_and_without_credentials(plane: ControlPlane, member: tuple[str, OpenApi]) -> None:
    probes = [Probe("api_server", timeout=PATIENT), Probe("api_server", plane.url, timeout=PATIENT)]
    findings = run_once(probes, Surroundings(), CLOCK, api=member[1])
    assert [finding.works for finding in findings] == [True, True], findings


def test_a_kubelet_may_not_look_at_other_nodes_and_that_is_said(
    plane: ControlPlane, member: tuple[str, OpenApi]
) -> None:
    (finding,) = run_once([Probe("node_ready", "somebody-else")], Surroundings(), CLOCK, api=member[1])
    assert finding.detail.endswith("the API server answers 403 for Node somebody-else")


def test_a_server_with_another_certificate_is_not_the_api_server(
    plane: ControlPlane, member: tuple[str, OpenApi], tmp_path: Path
) -> None:
    endpoint = member[1]()
    pair = Authority(tmp_path, "ca").server("impostor")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert_file, pair.key_file)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        served = context.wrap_socket(listening, server_side=True)
        port = served.getsockname()[1]

        def accept() -> None:
            with contextlib.suppress(OSError):
                served.accept()

        thread = threading.Thread(target=accept)
        thread.start()
        impostor = replace(endpoint, host="127.0.0.1", port=port)
        (finding,) = run_once([Probe("api_server", timeout=PATIENT)], Surroundings(), CLOCK, api=lambda: impostor)
        thread.join()
        served.close()
    assert "the certificate is not accepted" in finding.detail
