# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One round: parallel, each on its own time. Many rounds: what worked before must hold for a while."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock
from ansible_collections.sunset.kube.plugins.module_utils.network.probes import kinds, rounds
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.attempt import Attempt, Failed, Success
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.findings import regressions
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.probe import Finding, Probe, Surroundings
from ansible_collections.sunset.kube.plugins.module_utils.network.probes.rounds import hold, run_once
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named

PING, DNS, NODE = Probe("ping", timeout=30.0), Probe("dns", timeout=30.0), Probe("node_ready", timeout=30.0)


def fine(attempt: Attempt) -> Success:
    return Success("fine", "a mark")


def raising(problem: Exception) -> Callable[[Attempt], Success]:
    def runner(attempt: Attempt) -> Success:
        raise problem

    return runner


def test_findings_come_in_the_order_of_the_probes_whoever_answers_first(monkeypatch: pytest.MonkeyPatch) -> None:
    dns_is_done = threading.Event()

    def slow(attempt: Attempt) -> Success:
        assert dns_is_done.wait(30.0)  # in a row instead of in parallel this would end in a failure
        return Success("at last")

    def quick(attempt: Attempt) -> Success:
        dns_is_done.set()
        return Success("at once")

    monkeypatch.setitem(kinds.RUNNERS, "ping", slow)
    monkeypatch.setitem(kinds.RUNNERS, "dns", quick)
    findings = run_once([PING, DNS, PING], Surroundings(), RealClock())
    assert [(finding.detail, finding.works) for finding in findings] == [
        ("ping: at last", True),
        ("dns: at once", True),
    ]


def test_a_probe_that_never_ends_is_reported_and_takes_nobody_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    end_of_test = threading.Event()

    def stuck(attempt: Attempt) -> Success:
        end_of_test.wait(60.0)
        return Success("too late")

    monkeypatch.setitem(kinds.RUNNERS, "ping", stuck)
    monkeypatch.setitem(kinds.RUNNERS, "dns", fine)
    monkeypatch.setattr(rounds, "_GRACE", 0.0)
    renewals: list[int] = []
    try:
        findings = run_once([PING, DNS], Surroundings(), RealClock(), at_most=0.7, meanwhile=lambda: renewals.append(1))
    finally:
        end_of_test.set()
    assert [(finding.detail, finding.works) for finding in findings] == [
        ("ping: no answer within 0.7 s", False),
        ("dns: fine", True),
    ]
    assert renewals


@pytest.mark.parametrize(
    ("problem", "detail"),
    named(
        {
            "a failure": (Failed("no answer within 3 s"), "ping: no answer within 3 s"),
            "a time-out": (TimeoutError(), "ping: no answer within 30 s"),
            "an error of the kernel": (OSError(101, "whatever"), "ping: network is unreachable"),
            "a refusal": (ConnectionRefusedError(111, "x"), "ping: connection refused"),
            "an error without a number": (ConnectionError("cut off"), "ping: cannot say"),
            "a problem": (CannotLook("cannot run", which="ip"), "ping: cannot run ip."),
            "a mistake of ours": (KeyError("x"), "ping: the probe broke: KeyError('x')"),
        }
    ),
)
def test_every_ending_is_a_finding(problem: Exception, detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.RUNNERS, "ping", raising(problem))
    finding = kinds.run(Attempt(PING, Surroundings(), Deadline(FakeClock(), 30.0)))
    assert (finding.works, finding.detail) == (False, detail.replace("cannot say", "cut off"))


def test_no_probes_need_no_time() -> None:
    assert run_once([], Surroundings(), FakeClock()) == []


class Network:
    """Answers by the seconds since the change; each round takes one second."""

    def __init__(self, clock: FakeClock, **works: Callable[[float], bool]) -> None:
        self.clock, self.works, self.began = clock, works, clock.now()
        self.asked: list[dict[str, Any]] = []

    def __call__(self, probes: Any, surroundings: Surroundings, clock: Any, **more: Any) -> list[Finding]:
        self.asked.append({"probes": [probe.type for probe in probes], "surroundings": surroundings, **more})
        self.clock.advance(1.0)
        more["meanwhile"]()
        at = self.clock.now() - self.began
        return [Finding(probe, works := self.works[probe.type](at), f"{probe.type}: {works}") for probe in probes]


def held(
    network: Network, timeout: float, settle: float, before: Mapping[str, bool], **more: Any
) -> tuple[list[Finding], list[Finding]]:
    """(what was given back, what is lost)"""
    probes = [Probe(kind) for kind in before]
    baseline = [Finding(probe, before[probe.type], "before", mark="old") for probe in probes]
    clock = network.clock
    deadline = Deadline(clock, timeout)
    after = hold(
        probes,
        baseline,
        more.pop("look", Surroundings),
        clock,
        deadline,
        settle,
        more.pop("renew", lambda: None),
        ask=network,
        **more,
    )
    return after, regressions(baseline, after)


def test_without_settling_one_good_round_is_enough() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    assert held(network, 60, 0, {"ping": True})[1] == []
    assert len(network.asked) == 1


def test_what_works_must_hold_for_the_time_to_settle() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    after, lost = held(network, 60, 10, {"ping": True})
    assert (lost, after[0].works) == ([], True)
    assert network.clock.now() - network.began >= 11.0  # the first round ends after one second
    assert len(network.asked) == 6


def test_a_network_that_needs_time_to_come_back_gets_it() -> None:
    network = Network(FakeClock(), ping=lambda at: at > 20, dns=lambda at: at > 5)
    assert held(network, 60, 4, {"ping": True, "dns": True})[1] == []


def test_what_fails_once_more_begins_to_settle_anew() -> None:
    network = Network(FakeClock(), ping=lambda at: not 8 < at < 12)
    held(network, 60, 10, {"ping": True})
    assert network.clock.now() - network.began > 22.0


def test_at_the_deadline_what_is_lost_is_given_back_as_it_was_seen_last() -> None:
    network = Network(FakeClock(), ping=lambda at: False, dns=lambda at: True)
    _after, lost = held(network, 20, 4, {"ping": True, "dns": True})
    assert [finding.detail for finding in lost] == ["ping: False"]
    assert network.clock.now() - network.began <= 20.0


def test_at_the_deadline_what_works_but_did_not_hold_is_lost() -> None:
    network = Network(FakeClock(), ping=lambda at: at > 15)
    _after, lost = held(network, 20, 10, {"ping": True})
    assert [finding.detail for finding in lost] == ["ping: True, but held only 2 of 10 s"]


def test_what_never_worked_is_not_asked_again() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    after, lost = held(network, 60, 0, {"ping": True, "dns": False})
    assert ([finding.probe.type for finding in after], lost) == (["ping"], [])
    assert network.asked[0]["probes"] == ["ping"]


def test_where_nothing_worked_there_is_nothing_to_wait_for() -> None:
    network = Network(FakeClock())
    assert held(network, 60, 30, {"ping": False}) == ([], [])
    assert network.clock.slept == []


def test_the_lease_is_renewed_all_the_time_but_not_all_too_often() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    renewals: list[float] = []
    held(network, 60, 20, {"ping": True}, renew=lambda: renewals.append(network.clock.now() - network.began))
    gaps = [later - sooner for sooner, later in itertools.pairwise(renewals)]
    assert renewals[0] == 0.0
    assert gaps
    assert all(2.0 <= gap <= 4.0 for gap in gaps)


def test_a_lease_that_cannot_be_renewed_ends_the_wait() -> None:
    network = Network(FakeClock(), ping=lambda at: True)

    def lost() -> None:
        raise CannotLook("lease lost")

    with pytest.raises(CannotLook):
        held(network, 60, 20, {"ping": True}, renew=lost)


def test_every_round_is_told_and_looks_at_the_node_anew() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    told: list[list[Finding]] = []
    names = iter("abcdef")
    held(network, 60, 4, {"ping": True}, tell=told.append, look=lambda: Surroundings(node_name=next(names)))
    assert len(told) == 3
    assert [asked["surroundings"].node_name for asked in network.asked] == ["a", "b", "c"]


def test_no_round_gets_more_time_than_there_is_until_the_deadline() -> None:
    network = Network(FakeClock(), ping=lambda at: False)
    held(network, 10, 4, {"ping": True})
    assert [asked["at_most"] for asked in network.asked] == [10.0, 8.0, 6.0, 4.0, 2.0]


def test_after_the_change_a_probe_hears_of_the_change_and_of_the_baseline() -> None:
    network = Network(FakeClock(), ping=lambda at: True)
    held(network, 60, 0, {"ping": True})
    asked = network.asked[0]
    assert (asked["changed_at"], asked["earlier"][Probe("ping")].mark) == (network.began, "old")


def test_what_wants_news_is_compared_with_what_was_there_after_the_change() -> None:
    """A heartbeat may arrive between the baseline and the change, and would prove nothing."""
    clock = FakeClock()
    heartbeats = iter(["between", "between", "newer", "newer"])
    references: list[str] = []

    def ask(probes: Any, surroundings: Any, clock: Any, *, earlier: Any, **more: Any) -> list[Finding]:
        reference, seen = earlier[NODE].mark, next(heartbeats)
        references.append(reference)
        works = bool(reference) and seen != reference
        return [Finding(NODE, works, "", mark=seen)]

    baseline = [Finding(NODE, True, "", mark="before")]
    after = hold([NODE], baseline, Surroundings, clock, Deadline(clock, 60), 1.0, lambda: None, ask=ask)
    assert references == ["", "between", "between", "between"]
    assert after[0].works
