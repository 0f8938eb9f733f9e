# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rounds of probes: all at once, each on its own time; and the wait until what worked before has held for a while.

Room: network (probes). One round takes as long as its slowest probe; the lease is renewed meanwhile by the caller's
callback, so that a short dead-man and a patient probe get along.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ...clock import Clock, Deadline
from . import kinds
from .attempt import Attempt, OpenApi
from .probe import Finding, Probe, Surroundings

_GRACE = 0.5  # for a probe that ends on time to say so
_PAUSE = 1.0  # between two rounds
_LEAST = 1.0  # a round with less time than this would tell of the time, not of the network
RENEW_EVERY = 2.0


class Round(Protocol):
    """`run_once`, or a stand-in for it."""

    def __call__(
        self,
        probes: Sequence[Probe],
        surroundings: Surroundings,
        clock: Clock,
        *,
        api: OpenApi | None = None,
        earlier: Mapping[Probe, Finding] | None = None,
        changed_at: float | None = None,
        at_most: float | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[Finding]: ...


def run_once(
    probes: Sequence[Probe],
    surroundings: Surroundings,
    clock: Clock,
    *,
    api: OpenApi | None = None,
    earlier: Mapping[Probe, Finding] | None = None,
    changed_at: float | None = None,
    at_most: float | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> list[Finding]:
    """Ask everything once, in parallel; the findings in the order of the probes. Each ends with its own time-out.

    Before the change: only the first three. `meanwhile` is called again and again while answers are awaited.
    """
    earlier = earlier or {}
    attempts = {
        probe: Attempt(
            probe, surroundings, Deadline(clock, _time_of(probe, at_most)), earlier.get(probe), changed_at, api
        )
        for probe in dict.fromkeys(probes)
    }
    found: dict[Probe, Finding] = {}
    changed = threading.Condition()

    def ask(attempt: Attempt) -> None:
        finding = kinds.run(attempt)
        with changed:
            found[attempt.probe] = finding
            changed.notify_all()

    for probe, attempt in attempts.items():
        # Daemons: looking up a name in the C library cannot be ended, so such a thread may outlive its round.
        threading.Thread(target=ask, args=(attempt,), name=f"probe {probe}", daemon=True).start()
    end = Deadline(clock, max((attempt.deadline.seconds for attempt in attempts.values()), default=0.0) + _GRACE)
    while not end.passed():
        with changed:
            if len(found) == len(attempts):
                break
            clock.wait(changed, end.left())
        if meanwhile:
            meanwhile()
    with changed:
        return [found.get(probe) or _silent(attempt) for probe, attempt in attempts.items()]


def _time_of(probe: Probe, at_most: float | None) -> float:
    return probe.timeout if at_most is None else min(probe.timeout, at_most)


def _silent(attempt: Attempt) -> Finding:
    seconds = attempt.deadline.seconds
    return Finding(attempt.probe, False, f"{attempt.probe}: no answer {attempt.within}", seconds)


def hold(
    probes: Sequence[Probe],
    before: Sequence[Finding],
    look: Callable[[], Surroundings],
    clock: Clock,
    deadline: Deadline,
    settle: float,
    renew: Callable[[], None],
    *,
    tell: Callable[[list[Finding]], None] | None = None,
    api: OpenApi | None = None,
    ask: Round = run_once,
) -> list[Finding]:
    """Call right after the change. Ask again and again until all that worked before has held for `settle` seconds.

    A finding given back works only if it held: at the deadline, what works but has not held long enough does not work.
    What did not work before is not asked. `look` is asked each round, as a policy may move gateways and name servers.
    `renew` is called at most every RENEW_EVERY seconds; what it raises ends the wait. `tell` hears every round.
    """
    worked = {finding.probe: finding for finding in before if finding.works}
    watched = [probe for probe in probes if probe in worked]
    if not watched:
        return []
    changed_at = clock.now()
    earlier = {probe: _reference(worked[probe]) for probe in watched}
    streaks: dict[Probe, float] = {}
    renewing = _Every(RENEW_EVERY, clock, renew)
    while True:
        renewing()
        findings = ask(
            watched,
            look(),
            clock,
            api=api,
            earlier=earlier,
            changed_at=changed_at,
            at_most=max(deadline.left(), _LEAST),
            meanwhile=renewing,
        )
        _note(findings, earlier, streaks, clock.now())
        if tell:
            tell(findings)
        if _held(watched, streaks, clock.now(), settle):
            return findings
        if deadline.left() < _PAUSE + _LEAST:
            return [_unless_held(finding, streaks, clock.now(), settle) for finding in findings]
        clock.sleep(_PAUSE)


def _reference(baseline: Finding) -> Finding:
    """What the first round after the change compares with. What wants news starts without: its baseline is too old."""
    return replace(baseline, mark="") if baseline.probe.type in kinds.WANT_NEWS else baseline


def _note(findings: Iterable[Finding], earlier: dict[Probe, Finding], streaks: dict[Probe, float], now: float) -> None:
    for finding in findings:
        probe = finding.probe
        if probe.type in kinds.WANT_NEWS and not earlier[probe].mark:
            earlier[probe] = finding
        if finding.works:
            streaks.setdefault(probe, now)
        else:
            streaks.pop(probe, None)


def _held(watched: Iterable[Probe], streaks: Mapping[Probe, float], now: float, settle: float) -> bool:
    return all(probe in streaks and now - streaks[probe] >= settle for probe in watched)


def _unless_held(finding: Finding, streaks: Mapping[Probe, float], now: float, settle: float) -> Finding:
    if not finding.works or now - streaks[finding.probe] >= settle:
        return finding
    held = now - streaks[finding.probe]
    return replace(finding, works=False, detail=f"{finding.detail}, but held only {held:.0f} of {settle:g} s")


class _Every:
    """Calls through at once, then not more often than every so many seconds."""

    def __init__(self, seconds: float, clock: Clock, action: Callable[[], None]) -> None:
        self._seconds, self._clock, self._action = seconds, clock, action
        self._next = clock.now()

    def __call__(self) -> None:
        if self._clock.now() >= self._next:
            self._action()
            self._next = self._clock.now() + self._seconds
