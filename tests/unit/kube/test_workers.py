# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many items at once."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.sunset.kube.plugins.module_utils.kube import workers as workers_module
from ansible_collections.sunset.kube.plugins.module_utils.kube.workers import Workers


@given(st.integers(1, 8), st.lists(st.integers(), max_size=40))
def test_every_item_is_done_exactly_once(parallel: int, items: list[int]) -> None:
    done: list[int] = []
    workers = Workers(parallel)
    workers.for_each(items, done.append)
    workers.close()
    assert Counter(done) == Counter(items)


def test_as_many_work_at_once_as_parallel_says() -> None:
    together = threading.Barrier(4, timeout=10)
    workers = Workers(4)
    workers.for_each(range(8), lambda item: together.wait())  # nobody passes unless four are there
    workers.close()
    assert not together.broken


@pytest.mark.parametrize(
    ("parallel", "items", "threads"),
    [(4, 100, 4), (4, 2, 2), (1, 5, 1), (0, 5, 1), (1000, 500, 64)],
    ids=["not more than parallel", "not more than items", "one", "at least one", "at most 64"],
)
def test_threads_are_started_only_where_there_is_work_for_them(parallel: int, items: int, threads: int) -> None:
    all_at_work = threading.Barrier(threads, timeout=30)
    workers = Workers(parallel)
    workers.for_each(range(items), lambda item: all_at_work.wait() if item < threads else None)
    started = len(workers._threads)
    workers.close()
    assert started == threads


def test_few_begin_and_more_join_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_MORE_AFTER", 3600.0)
    done: list[int] = []
    workers = Workers(64)
    workers.for_each(range(200), done.append)
    started = len(workers._threads)
    workers.close()
    assert (started, len(done)) == (8, 200)


def test_where_no_more_threads_can_be_started_those_that_began_do_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = threading.Event()
    workers = Workers(64)
    start = workers._start

    def start_few(wanted: int) -> None:
        if wanted > 8:
            refused.set()
            raise RuntimeError("can't start new thread")
        start(wanted)

    monkeypatch.setattr(workers, "_start", start_few)
    done: list[int] = []

    def work(item: int) -> None:
        refused.wait(30)
        done.append(item)

    workers.for_each(range(100), work)
    workers.close()
    assert sorted(done) == list(range(100))


def test_all_threads_that_are_there_begin_with_the_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(64)
    first = threading.Barrier(20, timeout=30)
    workers.for_each(range(20), lambda item: first.wait())
    monkeypatch.setattr(workers_module, "_MORE_AFTER", 3600.0)
    together = threading.Barrier(20, timeout=30)
    workers.for_each(range(20), lambda item: together.wait())
    workers.close()
    assert not together.broken


def test_the_first_exception_is_raised_and_stops_the_rest() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        done.append(item)
        if item == 2:
            raise ValueError("item 2")

    workers = Workers(1)
    with pytest.raises(ValueError, match="item 2"):
        workers.for_each(range(100), work)
    workers.close()
    assert done == [0, 1, 2]


def test_an_exception_waits_for_the_others_to_finish_what_they_began() -> None:
    begun, failed, finished = threading.Barrier(2, timeout=10), threading.Event(), threading.Event()

    def work(item: int) -> None:
        begun.wait()
        if item == 0:
            failed.set()
            raise ValueError("item 0")
        failed.wait(10)
        finished.set()

    workers = Workers(2)
    with pytest.raises(ValueError, match="item 0"):
        workers.for_each([0, 1], work)
    assert finished.is_set()
    workers.close()


def test_threads_are_used_again_for_the_next_batch_even_after_a_failure() -> None:
    workers = Workers(1)
    names: list[str] = []

    def work(item: int) -> None:
        names.append(threading.current_thread().name)
        if item == 1:
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        workers.for_each([1], work)
    workers.for_each([2, 3], work)
    workers.close()
    assert names == ["worker 0"] * 3


def test_nothing_to_do_is_done_at_once() -> None:
    workers = Workers(4)
    workers.for_each([], lambda item: None)
    assert workers._threads == []
    workers.close()


def test_closing_ends_every_thread() -> None:
    workers = Workers(3)
    together = threading.Barrier(3, timeout=10)
    workers.for_each(range(3), lambda item: together.wait())
    threads = list(workers._threads)
    workers.close()
    assert [thread.is_alive() for thread in threads] == [False] * 3
