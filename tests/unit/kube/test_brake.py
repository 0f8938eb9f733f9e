# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The brake that all workers share."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.brake import Brake
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named


class Full(Exception):
    """There is no place to send from."""


class ImpatientClock(FakeClock):
    """Raises instead of waiting for a place; pauses pass as usual."""

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        raise Full


def places(brake: Brake) -> int:
    """How many may send at once just now."""
    taken = 0
    try:
        while True:
            brake.enter()
            taken += 1
    except Full:
        return taken
    finally:
        brake._sending -= taken


def calm_requests(brake: Brake, count: int) -> None:
    for _request in range(count):
        brake.enter()
        brake.leave()


def test_nothing_is_limited_but_by_parallel_before_the_server_complains() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 16, StopSign())
    calm_requests(brake, 100)
    assert (places(brake), brake.throttled_seconds, clock.slept) == (16, 0.0, [])


def test_a_pause_holds_whoever_comes_next() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 4, StopSign())
    brake.complain(3.0)
    clock.advance(1.0)
    brake.enter()
    assert (clock.slept, clock.now(), brake.throttled_seconds) == ([2.0], 1003.0, 3.0)


def test_a_short_pause_is_slept_out_too() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 4, StopSign())
    brake.complain(0.5)
    brake.enter()
    assert clock.slept == [0.5]


def test_each_complaint_halves_the_places_down_to_one() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 16, StopSign())
    seen = []
    for _complaint in range(6):
        brake.complain(1.0)
        clock.advance(1.0)
        seen.append(places(brake))
    assert seen == [8, 4, 2, 1, 1, 1]


def test_workers_told_in_the_same_moment_share_one_pause_and_one_halving() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 16, StopSign())
    for _worker in range(16):
        brake.complain(5.0)
    clock.advance(5.0)
    assert (places(brake), brake.throttled_seconds) == (8, 5.0)


def test_a_longer_pause_counts_only_for_what_it_adds() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 16, StopSign())
    brake.complain(5.0)
    clock.advance(2.0)
    brake.complain(5.0)
    brake.complain(1.0)
    brake.enter()
    brake.leave()
    assert (clock.now(), brake.throttled_seconds, places(brake)) == (1007.0, 7.0, 8)


def test_the_places_come_back_slowly_one_by_one_until_all_may_send_again() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 4, StopSign())
    brake.complain(1.0)
    clock.advance(1.0)
    seen = [places(brake)]
    for calm in (39, 1, 59, 1, 1000):
        calm_requests(brake, calm)
        seen.append(places(brake))
    # Twenty calm requests for each place there is.
    assert seen == [2, 2, 3, 3, 4, 4]


def test_a_complaint_starts_the_calm_time_anew() -> None:
    clock = ImpatientClock()
    brake = Brake(clock, 4, StopSign())
    brake.complain(1.0)
    clock.advance(1.0)
    calm_requests(brake, 39)
    brake.complain(0.0)  # nothing to wait for, and nothing halved: only the count begins again
    calm_requests(brake, 39)
    assert places(brake) == 2
    calm_requests(brake, 1)
    assert places(brake) == 3


class NotifiedClock(FakeClock):
    """Lets a place become free while somebody waits, and remembers whether he was told."""

    def __init__(self) -> None:
        super().__init__()
        self.brake: Brake | None = None
        self.notified: list[bool] = []

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        told = threading.Event()
        condition.notify_all = told.set  # type: ignore[method-assign]
        condition.notify = lambda n=1: told.set()  # type: ignore[method-assign,misc]
        assert self.brake is not None
        self.brake.leave()
        self.notified.append(told.is_set())


@pytest.mark.parametrize("complained", [False, True], ids=["all places", "fewer places"])
def test_whoever_waits_for_a_place_is_told_when_one_is_free(complained: bool) -> None:
    clock = NotifiedClock()
    clock.brake = brake = Brake(clock, 2, StopSign())
    if complained:
        brake.complain(1.0)
        clock.advance(1.0)
    while not clock.notified:
        brake.enter()
    assert clock.notified == [True]


WAITED_FOR = {"the end of a pause": 60.0, "a place": 0.0}


@pytest.mark.parametrize("pause", named(WAITED_FOR))
def test_nobody_waits_for_anything_once_the_stop_sign_is_set(pause: float) -> None:
    clock, stop = ImpatientClock(), StopSign()
    brake = Brake(clock, 1, stop)
    if pause:
        brake.complain(pause)
    else:
        brake.enter()
    stop.set("received SIGTERM")
    brake.enter()
    assert clock.slept == []
