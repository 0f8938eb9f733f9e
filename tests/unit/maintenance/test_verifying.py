# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which places can be asked for over HTTP, how long, and what is said when something else answers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.web import WebAnswer
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.locations import Location, locations_of
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.options import Verify
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.outcome import MaintenanceOutcome, Run
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.source import Answering
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS, RouteKind
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.verifying import questions_for, verify
from ansible_collections.sunset.kube.plugins.module_utils.problems import TimedOut
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, Told, cluster_on, named

KINDS = {kind.kind: kind for kind in reversed(ROUTE_KINDS)}
PAGE = "0123456789"
OURS = WebAnswer(503, {"x-maintenance": PAGE})


def ingress(host: str = "", path: str = "/") -> tuple[RouteKind, Location]:
    entry = {"path": path, "pathType": "Prefix", "backend": {"service": {"name": "web"}}}
    rule = {"http": {"paths": [entry]}, **({"host": host} if host else {})}
    return _only("Ingress", {"rules": [rule]})


def ingress_route(match: str) -> tuple[RouteKind, Location]:
    return _only("IngressRoute", {"routes": [{"match": match, "services": [{"name": "web"}]}]})


def http_route(match: dict[str, Any], kind: str = "HTTPRoute") -> tuple[RouteKind, Location]:
    rule = {"matches": [match], "backendRefs": [{"name": "web"}]}
    return _only(kind, {"hostnames": ["a.example.com"], "rules": [rule]})


def _only(kind: str, spec: dict[str, Any]) -> tuple[RouteKind, Location]:
    [place] = locations_of({"metadata": {"namespace": "shop", "name": "web"}, "spec": spec}, KINDS[kind])
    return KINDS[kind], place


PATH = {"path": {"type": "PathPrefix", "value": "/x"}}
ASKED: dict[str, tuple[tuple[RouteKind, Location], list[str]]] = {
    "a host": (ingress("a.example.com"), ["a.example.com/"]),
    "a host that is named like a condition": (ingress("port"), ["port/"]),
    "any host": (ingress(), ["*/"]),
    "a wildcard": (ingress("*.example.com", "/x"), ["maintenance-check.example.com/x"]),
    "a pattern as path": (ingress("a.example.com", "/x(/|$)(.*)"), []),
    "a rule": (ingress_route("Host(`a.example.com`) && PathPrefix(`/x`)"), ["a.example.com/x"]),
    "hosts": (
        ingress_route("(Host(`a.example.com`) || Host(`b.example.com`))"),
        ["a.example.com/", "b.example.com/"],
    ),
    "a rule in quotes": (ingress_route('Host("a.example.com")'), ["a.example.com/"]),
    "hosts and paths in pairs": (
        ingress_route("Host(`a.example.com`) && Path(`/x`) || Host(`b.example.com`) && Path(`/y`)"),
        [],
    ),
    "a rule with a header": (ingress_route("Host(`a.example.com`) && Header(`x`, `y`)"), []),
    "a rule with a pattern": (ingress_route("HostRegexp(`.+`)"), []),
    "a path": (http_route(PATH), ["a.example.com/x"]),
    "a method": (http_route({**PATH, "method": "POST"}), []),
    "a header": (http_route({**PATH, "headers": [{"name": "x", "value": "y"}]}), []),
    "a query": (http_route({**PATH, "queryParams": [{"name": "x", "value": "y"}]}), []),
    "gRPC": (http_route({}, "GRPCRoute"), []),
}


@pytest.mark.parametrize(("place", "expected"), named(ASKED))
def test_only_what_a_host_and_a_path_reach_is_asked_for(place: tuple[RouteKind, Location], expected: list[str]) -> None:
    assert [str(question) for question in questions_for(*place, PAGE)] == expected


class Web:
    """Answers from a script, the last answer for ever, and remembers what it was asked."""

    def __init__(self, *answers: WebAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, url: str, host: str, path: str, *, validate_certs: bool, timeout: float) -> WebAnswer:
        self.asked.append(f"{url} {host}{path} {validate_certs}")
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def look(web: Web, answering: Answering | None = None, place: Any = None, timeout: float = 10.0) -> MaintenanceOutcome:
    clock, stop = FakeClock(), StopSign()
    run = Run(cluster_on(FakeServer(), clock, stop), clock, stop, Told(), Deadline(clock, 60.0))
    outcome = MaintenanceOutcome("enabled")
    wish = Verify("https://203.0.113.7", timeout, validate_certs=False)
    where = place or ingress("a.example.com")
    verify([(*where, PAGE)], wish, answering or Answering(), web, outcome, run)
    return outcome


def test_it_is_asked_again_until_the_page_is_shown() -> None:
    web = Web(WebAnswer(200), WebAnswer(trouble="nobody listens there"), WebAnswer(503), OURS)
    assert look(web).verified == ["a.example.com/"]
    assert web.asked == ["https://203.0.113.7 a.example.com/ False"] * 4


OTHERS: dict[str, tuple[WebAnswer, str]] = {
    "the application": (WebAnswer(200, {"server": "gunicorn"}), "a.example.com/: answered 200 by gunicorn"),
    "another page": (WebAnswer(503, {"x-maintenance": "old"}), "answered 503 with the page old"),
    "a redirect": (WebAnswer(308, {"location": "https://a.example.com/"}), "answered 308 to https://a.example.com/"),
    "another status": (WebAnswer(200, {"x-maintenance": PAGE}), f"answered 200 with the page {PAGE}"),
    "nobody": (WebAnswer(trouble="nobody listens there"), "a.example.com/: nobody listens there"),
}


@pytest.mark.parametrize(("answer", "words"), named(OTHERS))
def test_whoever_answers_instead_is_named_and_the_pages_stay(answer: WebAnswer, words: str) -> None:
    with pytest.raises(TimedOut) as failure:
        look(Web(answer))
    assert words in str(failure.value)
    assert "at 1 of 1 places" in str(failure.value)
    assert "the pages stay" in str(failure.value)


def test_a_task_that_takes_the_header_away_is_known_by_its_status() -> None:
    assert look(Web(WebAnswer(503)), Answering(headers={"x-maintenance": ""})).verified == ["a.example.com/"]


def test_what_cannot_be_asked_is_said_and_fails_nothing() -> None:
    web = Web(WebAnswer(200))
    outcome = look(web, place=ingress_route("HostRegexp(`.+`)"))
    assert outcome.verified == web.asked == []
    assert outcome.warnings == ["not verified: */ needs more than a host and a path"]


def test_the_time_of_the_whole_task_is_not_exceeded() -> None:
    clock, stop = FakeClock(), StopSign()
    run = Run(cluster_on(FakeServer(), clock, stop), clock, stop, Told(), Deadline(clock, 2.0))
    with pytest.raises(TimedOut):
        verify(
            [(*ingress("a.example.com"), PAGE)],
            Verify("http://203.0.113.7", 600.0),
            Answering(),
            Web(WebAnswer(200)),
            MaintenanceOutcome("enabled"),
            run,
        )
    assert clock.now() == pytest.approx(1002.0)
