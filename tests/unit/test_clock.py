# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deadlines, the stop sign, and the real clock as far as it decides anything."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils import clock as clock_module
from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.problems import Interrupted
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock


def test_a_deadline_counts_down_to_zero_and_then_stays_passed() -> None:
    clock = FakeClock()
    deadline = Deadline(clock, 10.0)
    seen = []
    for seconds in (0.0, 4.0, 6.0, 5.0):
        clock.advance(seconds)
        seen.append((deadline.left(), deadline.passed()))
    assert seen == [(10.0, False), (6.0, False), (0.0, True), (0.0, True)]


def test_a_stop_sign_keeps_its_first_reason() -> None:
    stop = StopSign()
    assert (stop.is_set(), stop.reason) == (False, "")
    stop.set("received SIGTERM")
    stop.set("received SIGINT")
    assert (stop.is_set(), stop.reason) == (True, "received SIGTERM")


def test_a_stop_sign_that_is_set_raises_with_its_reason() -> None:
    stop = StopSign()
    stop.raise_if_set()
    stop.set("received SIGTERM")
    with pytest.raises(Interrupted) as interrupted:
        stop.raise_if_set()
    assert str(interrupted.value) == (
        "stopped: received SIGTERM. Next: run the same task again: it goes on where this one stopped."
    )


def test_the_real_clock_does_not_sleep_once_somebody_wishes_to_stop() -> None:
    stop = StopSign()
    stop.set("received SIGTERM")
    RealClock(stop).sleep(3600.0)  # a test that hangs here has failed


def test_the_real_clock_sleeps_at_the_stop_sign_so_that_it_can_be_woken() -> None:
    sign = StopSign()
    timer = threading.Timer(0.05, sign.set, ("received SIGTERM",))
    timer.start()
    RealClock(sign).sleep(3600.0)  # a test that hangs here has failed
    timer.join()
    RealClock().sleep(0.0)  # without a sign of somebody's, it has its own


def test_a_stop_sign_can_be_set_at_any_moment_of_a_wait() -> None:
    """By a signal handler, which runs between two lines of the waiting thread: with a lock held there it would hang."""

    def wait_and_be_told_at_line(number: int) -> None:
        sign, lines = StopSign(), iter(range(number))

        def at_every_line(frame: FrameType, event: str, _value: Any) -> Any:
            if event == "line" and next(lines, None) is None:
                sign.set("received SIGINT")
            return at_every_line

        sys.settrace(at_every_line)
        sign.wait(0.001)
        sys.settrace(None)

    waiters = [threading.Thread(target=wait_and_be_told_at_line, args=(number,), daemon=True) for number in range(30)]
    for waiter in waiters:
        waiter.start()
    patience = Deadline(RealClock(), 10.0)
    for waiter in waiters:
        waiter.join(patience.left())
    assert not [waiter for waiter in waiters if waiter.is_alive()]


def test_the_real_clock_waits_in_short_turns_so_that_a_signal_is_noticed() -> None:
    waited: list[float] = []

    class Condition(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout or 0.0)
            return True

    for seconds in (3600.0, 0.1):
        RealClock().wait(Condition(), seconds)
    assert waited == [0.5, 0.1]


def test_the_real_clock_is_the_monotonic_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(clock_module.time, "monotonic", lambda: 42.0)
    assert RealClock().now() == 42.0
