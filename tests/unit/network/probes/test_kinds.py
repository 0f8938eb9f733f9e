# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What single probes conclude from what they hear, with the hearing done by stand-ins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline
from ansible_collections.sunset.kube.plugins.module_utils.kube.endpoint import Endpoint
from ansible_collections.sunset.kube.plugins.module_utils.network.probes import api, controller, dns, kinds
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.attempt import Attempt
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.controller import (
    seconds_since_it_was_heard,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.dns_message import Reply
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.look import Way
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import (
    TIMEOUTS,
    Finding,
    Probe,
    Surroundings,
)
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.targets import Page, Port, page
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.targets import api as api_page
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named

SURROUNDINGS = Surroundings(nameservers=("198.51.100.53",), controller="203.0.113.9", node_name="node-1")


def finding(
    probe: Probe, earlier: str | None = None, surroundings: Surroundings = SURROUNDINGS, **more: Any
) -> Finding:
    before = None if earlier is None else Finding(probe, True, "", mark=earlier)
    return kinds.run(Attempt(probe, surroundings, Deadline(FakeClock(), 6.0), before, **more))


def test_every_type_has_a_runner_and_a_time_out() -> None:
    assert set(kinds.RUNNERS) == set(TIMEOUTS)


# --- dns


@pytest.mark.parametrize(
    ("target", "earlier", "rcode", "works", "mark"),
    named(
        {
            "a name that resolves": ("a.example", None, 0, True, "resolves a.example"),
            "a name that does not exist": ("a.example", None, 3, True, "resolves a.example"),
            "a name that cannot be resolved": ("a.example", None, 2, False, ""),
            "any answer at first": ("", None, 5, True, "answers ."),
            "any answer where any answer was enough before": ("", "answers .", 2, True, "answers ."),
            "an answer that says less than before": ("", "resolves .", 2, False, ""),
            "an answer that says more than before": ("", "answers .", 0, True, "resolves ."),
            "the name from before": (
                "",
                "answers b.example",
                0,
                True,
                "resolves b.example",
            ),
        }
    ),
)
def test_what_an_answer_of_a_name_server_is_worth(
    target: str, earlier: str | None, rcode: int, works: bool, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns, "_ask", lambda name, servers, *more: {servers[0]: Reply(rcode, False)})
    seen = finding(Probe("dns", target), earlier)
    assert (seen.works, seen.mark) == (works, mark)


def test_only_servers_of_the_wanted_family_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[Port]] = []
    monkeypatch.setattr(dns, "_ask", lambda name, servers, *more: asked.append(servers) or {})
    both = Surroundings(nameservers=("198.51.100.53", "2001:db8::53"))
    seen = finding(Probe("dns", family="ipv6"), surroundings=both)
    assert asked == [[Port("2001:db8::53", 53)]]
    assert seen.detail == "dns ipv6: no answer from 2001:db8::53 within 6 s"
    assert finding(Probe("dns", family="ipv6")).detail == "dns ipv6: no name server is set"


# --- controller


@pytest.mark.parametrize(
    ("echo", "tcp", "heard", "hop", "earlier", "detail", "mark"),
    named(
        {
            "a ping": (True, False, None, False, None, "203.0.113.9 answers a ping", "replies"),
            "a no over TCP": (False, True, None, False, None, "203.0.113.9 answers on TCP", "replies"),
            "its gateway only": (
                False,
                False,
                None,
                True,
                None,
                "203.0.113.9 does not reply, its next hop 198.51.100.1 does",
                "next hop",
            ),
            "its gateway only, when it replied before": (
                False,
                False,
                None,
                True,
                "replies",
                "no reply from 203.0.113.9 within 6 s",
                "",
            ),
            "a session that was heard since": (
                False,
                False,
                3.0,
                True,
                "replies",
                "203.0.113.9 was heard in a TCP session 3.0 s ago",
                "replies",
            ),
            "a session that was silent since": (
                False,
                False,
                12.0,
                True,
                "replies",
                "no reply from 203.0.113.9 within 6 s",
                "",
            ),
            "nobody": (
                False,
                False,
                None,
                False,
                "next hop",
                "neither 203.0.113.9 nor its next hop 198.51.100.1 answers within 6 s",
                "",
            ),
        }
    ),
)
def test_how_far_the_way_back_goes(
    echo: bool,
    tcp: bool,
    heard: float | None,
    hop: bool,
    earlier: str | None,
    detail: str,
    mark: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(controller, "way_to", lambda there, timeout: Way("eth1", "198.51.100.1", "198.51.100.2"))
    monkeypatch.setattr(controller, "_answers_echo", lambda there, deadline: echo)
    monkeypatch.setattr(controller, "_answers_tcp", lambda there, deadline: tcp)
    monkeypatch.setattr(controller, "_sessions_with", lambda there, deadline: "")
    monkeypatch.setattr(controller, "seconds_since_it_was_heard", lambda sessions: heard)
    monkeypatch.setattr(controller, "resolves", lambda there, way, deadline: hop)
    changed_at = None if earlier is None else FakeClock().now() - 10.0
    seen = finding(Probe("controller"), earlier, changed_at=changed_at)
    assert (seen.detail, seen.mark, seen.works) == (f"controller: {detail}", mark, bool(mark))


def test_a_controller_without_a_route_or_an_address_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "way_to", lambda there, timeout: None)
    assert finding(Probe("controller")).detail == "controller: no route to 203.0.113.9"
    nowhere = finding(Probe("controller"), surroundings=Surroundings())
    assert nowhere.detail == "controller: no address of the controller is known"


def test_a_controller_on_the_node_itself_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "way_to", lambda there, timeout: Way("lo", "", "", True))
    assert finding(Probe("controller")).works


def test_the_youngest_arrival_of_all_sessions_counts() -> None:
    sessions = """0 0 198.51.100.2:22 203.0.113.9:50022
\t cubic wscale:7,7 rto:204 lastsnd:10 lastrcv:2400 lastack:1500 pacing_rate 1Mbps
0 0 198.51.100.2:22 203.0.113.9:50023
\t cubic wscale:7,7 rto:204 lastsnd:5 lastrcv:9000 lastack:9001 pacing_rate 1Mbps
"""
    assert (seconds_since_it_was_heard(sessions), seconds_since_it_was_heard("")) == (1.5, None)


# --- api_server, node_ready


class Api:
    """Answers by path; `exchange` as the probes call it."""

    def __init__(self, **answers: tuple[int, Mapping[str, Any]]) -> None:
        self.answers = answers
        self.asked: list[tuple[Page, dict[str, Any]]] = []

    def __call__(self, wanted: Page, family: str, deadline: Deadline, **more: Any) -> tuple[int, bytes]:
        self.asked.append((wanted, more))
        kind = next((kind for kind in ("nodes", "leases") if f"/{kind}/" in wanted.path), "readyz")
        status, content = self.answers[kind]
        return status, json.dumps(content).encode()


def node(status: str, heartbeat: str = "12:00:00") -> tuple[int, Mapping[str, Any]]:
    ready = {"type": "Ready", "status": status, "reason": "KubeletSaysSo", "lastHeartbeatTime": heartbeat}
    return 200, {"status": {"conditions": [{"type": "DiskPressure", "status": "False"}, ready]}}


def lease(renewed: str) -> tuple[int, Mapping[str, Any]]:
    return 200, {"spec": {"renewTime": renewed}}


def endpoint() -> Endpoint:
    return Endpoint("198.51.100.6", 6443, "/k8s", headers=(("Authorization", "Bearer x"),))


@pytest.mark.parametrize(
    ("answers", "earlier", "detail", "works"),
    named(
        {
            "Ready": ((node("True"), lease("12:00:09")), None, "Node node-1 is Ready, heartbeat 12:00:09", True),
            "not Ready": (
                (node("Unknown"), lease("12:00:09")),
                None,
                "Node node-1 is not Ready (KubeletSaysSo)",
                False,
            ),
            "no condition yet": (((200, {}), lease("x")), None, "Node node-1 is not Ready (no condition)", False),
            "Ready, the first look after the change": (
                (node("True"), lease("12:00:09")),
                "",
                "Node node-1 is Ready, waiting for a heartbeat newer than the change",
                False,
            ),
            "Ready, no heartbeat since": (
                (node("True"), lease("12:00:09")),
                "12:00:09",
                "Node node-1 is Ready, but no heartbeat since the change (last 12:00:09)",
                False,
            ),
            "Ready, a heartbeat since": (
                (node("True"), lease("12:00:19")),
                "12:00:09",
                "Node node-1 is Ready, heartbeat 12:00:19",
                True,
            ),
            "Ready, leases are not for us to see": (
                (node("True", "12:05:00"), (403, {"kind": "Status"})),
                "12:00:00",
                "Node node-1 is Ready, heartbeat 12:05:00",
                True,
            ),
            "no such Node": (((404, {}), lease("x")), None, "the API server answers 404 for Node node-1", False),
        }
    ),
)
def test_a_node_is_ready_when_it_says_so_after_the_change(
    answers: Any, earlier: str | None, detail: str, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "exchange", Api(nodes=answers[0], leases=answers[1]))
    seen = finding(Probe("node_ready"), earlier, api=endpoint)
    assert (seen.detail, seen.works) == (f"node_ready: {detail}", works)


def test_without_a_kubeconfig_nobody_can_say_whether_the_node_is_ready() -> None:
    assert finding(Probe("node_ready")).detail == "node_ready: no kubeconfig to ask with"


def test_the_api_server_is_asked_as_the_kubeconfig_says(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Api(readyz=(503, {}))
    monkeypatch.setattr(api, "exchange", server)
    seen = finding(Probe("api_server"), api=endpoint)
    ((wanted, more),) = server.asked
    assert (seen.works, seen.detail) == (True, "api_server: answer 503")
    assert (wanted.authority, wanted.path, more["headers"]["Authorization"]) == (
        "198.51.100.6:6443",
        "/k8s/readyz",
        "Bearer x",
    )
    assert "Bearer" not in seen.detail


def test_an_api_server_that_is_named_is_asked_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Api(readyz=(401, {}))
    monkeypatch.setattr(api, "exchange", server)
    assert finding(Probe("api_server", "api.example.com:6443"), api=endpoint).works
    ((wanted, more),) = server.asked
    assert (wanted.authority, wanted.tls) == ("api.example.com:6443", True)
    assert "headers" not in more


def test_an_api_server_behind_a_proxy_is_not_asked_past_it() -> None:
    behind = Endpoint("198.51.100.6", 6443, proxy="http://anna:secret@proxy:3128")
    seen = finding(Probe("api_server"), api=lambda: behind)
    assert (seen.works, "secret" in seen.detail) == (False, False)


def test_an_unknown_api_server_cannot_be_asked() -> None:
    assert finding(Probe("api_server")).detail == "api_server: no address of the API server is known"


# --- targets as probes read them


@pytest.mark.parametrize(
    ("target", "status", "accepted"),
    [
        ("http://a/", 500, True),
        ("http://a/ 200", 200, True),
        ("http://a/ 200", 204, False),
        ("http://a/ 2xx", 204, True),
        ("http://a/ 2xx", 302, False),
    ],
)
def test_a_page_may_expect_a_status(target: str, status: int, accepted: bool) -> None:
    assert page(target).accepts(status) == accepted


@pytest.mark.parametrize(
    ("target", "there"),
    named(
        {
            "host and port": ("api.example.com:6443", ("api.example.com:6443", True, "/readyz")),
            "an IPv6 address": ("2001:db8::6", ("[2001:db8::6]:443", True, "/readyz")),
            "a URL": ("https://api.example.com/k8s/c-1", ("api.example.com:443", True, "/k8s/c-1/readyz")),
            "a URL without TLS": ("http://127.0.0.1:8080", ("127.0.0.1:8080", False, "/readyz")),
        }
    ),
)
def test_an_api_server_is_named_in_several_ways(target: str, there: tuple[str, bool, str]) -> None:
    found = api_page(target)
    assert (found.authority, found.tls, found.path) == there


def test_the_default_gateway_is_looked_up_when_the_probe_runs() -> None:
    assert finding(Probe("ping", family="ipv6")).detail == "ping ipv6: no IPv6 default route"
    assert finding(Probe("neighbour")).detail == "neighbour: no default route"
