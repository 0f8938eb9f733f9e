# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Books over who is still there, and the wait for every uid."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Progress
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing, Scope
from ansible_collections.sunset.kube.plugins.module_utils.kube.writes import Effect, Written
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import (
    Departed,
    Departure,
    Leaver,
    delete_and_wait,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DOMAINS,
    PODS,
    FakeClock,
    StandingClock,
    Told,
    cluster_on,
    named,
    record,
    refusal,
)

F = "example.com/cleanup"
SHOP, EVERYWHERE = Scope(DOMAINS, "shop"), Scope(DOMAINS)
FORBIDDEN = ApiError(403)


def leaver(name: str, namespace: str = "shop", resource: Any = DOMAINS, **more: Any) -> Leaver:
    return Leaver(resource, record(name, namespace, **more))


def books(*leavers: Leaver) -> Departure:
    return Departure(leavers, FakeClock())


def names(leavers: list[Leaver]) -> list[str]:
    return sorted(leaver.record.name for leaver in leavers)


def over(departure: Departure) -> Departed:
    """How it stands when nobody waits any longer."""
    clock = FakeClock()
    return departure.wait(Deadline(clock, 0.0), StopSign(), lambda now: None)


def summary(departed: Departed) -> tuple[int, list[str], list[str], list[str]]:
    refused = [leaver for leaver, _problem in departed.refused]
    return departed.gone, names(departed.replaced), names(refused), names(departed.survivors)


# -- what proves that somebody is gone ---------------------------------------------------------------------------------

A, B = "a", "b"
PROOFS: dict[str, tuple[Callable[[Departure], None], bool]] = {
    "an event of its uid": (lambda d: d.vanished(SHOP, record(A)), True),
    "an event of another uid": (lambda d: d.vanished(SHOP, record(A, uid="other")), False),
    "a list of its kind without it": (lambda d: d.listed(Listing(SHOP, [record(B)])), True),
    "a list of the whole cluster without it": (lambda d: d.listed(Listing(EVERYWHERE, [record(B)])), True),
    "a list with a namesake of another uid": (lambda d: d.listed(Listing(SHOP, [record(A, uid="x"), record(B)])), True),
    "a list with it": (lambda d: d.listed(Listing(SHOP, [record(A), record(B)])), False),
    "a list of another namespace": (lambda d: d.listed(Listing(Scope(DOMAINS, "bank"), [])), False),
    "a list of another kind": (lambda d: d.listed(Listing(Scope(PODS, "shop"), [])), False),
    "a list that was refused": (lambda d: d.blinded(SHOP, FORBIDDEN), False),
    "a change": (lambda d: d.changed(SHOP, record(A, finalizers=[])), False),
}


@pytest.mark.parametrize(("happens", "gone"), named(PROOFS))
def test_only_an_event_of_the_uid_or_a_list_that_would_show_it_proves_it_gone(
    happens: Callable[[Departure], None], gone: bool
) -> None:
    departure = books(leaver(A), leaver(B))
    happens(departure)
    assert names(departure.pending()) == ([B] if gone else [A, B])


WRITTEN: dict[str, tuple[Written, tuple[int, list[str], list[str], list[str]]]] = {
    "gone at once": (Written(Effect.GONE), (1, [], [], [])),
    "replaced": (Written(Effect.REPLACED, record(A, uid="new")), (0, [A], [], [])),
    "refused": (Written(Effect.REFUSED, None, FORBIDDEN), (0, [], [A], [])),
    "on its way": (Written(Effect.DONE, record(A, deleted=True)), (0, [], [], [A])),
    "already on its way": (Written(Effect.ALREADY, record(A, deleted=True)), (0, [], [], [A])),
    "done, and nothing shown": (Written(Effect.DONE), (0, [], [], [A])),
}


@pytest.mark.parametrize(("written", "counted"), named(WRITTEN))
def test_the_answer_to_a_write_settles_what_it_can(
    written: Written, counted: tuple[int, list[str], list[str], list[str]]
) -> None:
    subject = leaver(A)
    departure = books(subject)
    departure.wrote(subject, written)
    assert summary(over(departure)) == counted


def test_the_newest_metadata_is_kept_for_those_who_stay() -> None:
    subject = leaver(A)
    departure = books(subject)
    seen = []
    for step in (
        lambda: departure.wrote(subject, Written(Effect.DONE, record(A, resourceVersion="2"))),
        lambda: departure.changed(SHOP, record(A, resourceVersion="3")),
        lambda: departure.listed(Listing(SHOP, [record(A, resourceVersion="4")])),
        lambda: departure.changed(SHOP, record(A, uid="another", resourceVersion="5")),
    ):
        step()
        seen.append(subject.record.resource_version)
    assert seen == ["2", "3", "4", "4"]


def test_somebody_gone_twice_is_counted_once() -> None:
    subject = leaver(A)
    departure = books(subject, leaver(B))
    departure.vanished(SHOP, subject.record)
    departure.wrote(subject, Written(Effect.GONE))
    departure.listed(Listing(SHOP, [record(B)]))
    assert summary(over(departure)) == (1, [], [], [B])


def test_what_could_not_be_seen_at_the_end_is_told_and_forgotten_when_it_is_seen_again() -> None:
    departure = books(leaver(A))
    problem = CannotLook("cannot list")
    departure.blinded(SHOP, problem)
    departure.blinded(EVERYWHERE, problem)
    departure.listed(Listing(EVERYWHERE, [record(A)]))
    assert over(departure).blind == {"domains.ingress.example.com in namespace shop": problem}


# -- steps -------------------------------------------------------------------------------------------------------------


def test_only_those_of_the_step_are_waited_for_and_counted() -> None:
    first, second = leaver(A), leaver(B)
    departure = books(first, second)
    departure.expect([first])
    departure.vanished(SHOP, second.record)
    assert summary(over(departure)) == (0, [], [], [A])
    departure.vanished(SHOP, first.record)
    assert summary(over(departure)) == (1, [], [], [])
    departure.expect([second])
    assert summary(over(departure)) == (1, [], [], [])


def test_refusals_and_replacements_are_told_with_their_own_step() -> None:
    first, second = leaver(A), leaver(B)
    departure = books(first, second)
    departure.wrote(first, Written(Effect.REFUSED, None, FORBIDDEN))
    departure.wrote(second, Written(Effect.REPLACED))
    seen = []
    for step in ([first], [second]):
        departure.expect(step)
        seen.append(summary(over(departure)))
    assert seen == [(0, [], [A], []), (0, [B], [], [])]


def test_objects_found_later_are_entered_once() -> None:
    first, late = leaver(A), leaver(B)
    departure = books(first)
    departure.enter([late, leaver(A, resourceVersion="9")])
    assert (departure.is_here(late), first.record.resource_version) == (True, "1")
    departure.vanished(SHOP, late.record)
    assert not departure.is_here(late)


def test_an_object_that_is_kept_after_all_is_neither_waited_for_nor_counted() -> None:
    kept, other = leaver(A), leaver(B)
    departure = books(kept, other)
    departure.forget(kept)
    departure.vanished(SHOP, other.record)
    assert summary(over(departure)) == (1, [], [], [])


def test_an_object_that_is_kept_after_all_is_no_longer_a_refusal() -> None:
    kept = leaver(A)
    departure = books(kept)
    departure.wrote(kept, Written(Effect.REFUSED, None, FORBIDDEN))
    departure.forget(kept)
    assert summary(over(departure)) == (0, [], [], [])


# -- the wait ----------------------------------------------------------------------------------------------------------


def test_the_wait_ends_as_soon_as_nobody_is_left() -> None:
    clock = FakeClock()
    departure = Departure([leaver(A), leaver(B)], clock)
    clock.at(1003.0, lambda: departure.vanished(SHOP, record(A)))
    clock.at(1007.5, lambda: departure.vanished(SHOP, record(B)))
    ticks: list[float] = []
    departed = departure.wait(Deadline(clock, 600.0), StopSign(), lambda now: ticks.append(clock.now()))
    assert (summary(departed), ticks) == ((2, [], [], []), [1001.0, 1002, 1003, 1004, 1005, 1006, 1007, 1008])


def test_the_wait_ends_at_the_deadline_with_the_survivors() -> None:
    clock = FakeClock()
    departure = Departure([leaver(A), leaver(B)], clock)
    clock.at(1001.0, lambda: departure.vanished(SHOP, record(A)))
    departed = departure.wait(Deadline(clock, 2.5), StopSign(), lambda now: None)
    assert (summary(departed), clock.slept) == ((1, [], [], [B]), [1.0, 1.0, 0.5])


def test_the_wait_ends_with_the_stop_sign() -> None:
    clock, stop = FakeClock(), StopSign()
    departure = Departure([leaver(A)], clock)
    clock.at(1002.0, lambda: stop.set("received SIGTERM"))
    departed = departure.wait(Deadline(clock, 600.0), stop, lambda now: None)
    assert (summary(departed), clock.now()) == ((0, [], [], [A]), 1002.0)


def test_nobody_to_wait_for_is_over_at_once_with_one_last_look() -> None:
    clock = FakeClock()
    ticks: list[int] = []
    departed = Departure([], clock).wait(Deadline(clock, 600.0), StopSign(), lambda now: ticks.append(1))
    assert (summary(departed), clock.slept, ticks) == ((0, [], [], []), [], [1])


def test_blindness_never_ends_the_wait() -> None:
    clock = FakeClock()
    departure = Departure([leaver(A)], clock)
    for second in range(1, 60):
        clock.at(1000.0 + second, lambda: departure.blinded(SHOP, FORBIDDEN))
    departed = departure.wait(Deadline(clock, 60.0), StopSign(), lambda now: None)
    assert (summary(departed), clock.now()) == ((0, [], [], [A]), 1060.0)


def test_the_last_one_to_go_wakes_whoever_waits() -> None:
    clock = StandingClock()
    departure = Departure([leaver(A), leaver(B)], clock)
    threads = [threading.Thread(target=departure.vanished, args=(SHOP, record(name))) for name in (A, B)]
    for thread in threads:
        thread.start()
    departed = departure.wait(Deadline(clock, 600.0), StopSign(), lambda now: None)
    for thread in threads:
        thread.join()
    assert summary(departed) == (2, [], [], [])


def test_progress_counts_what_holds_those_who_are_left() -> None:
    clock = FakeClock()
    leavers = [
        leaver("a", finalizers=[F]),
        leaver("b", finalizers=[F]),
        leaver("c", finalizers=["x/y", "z/w"]),
        leaver("d"),
        leaver("e"),
        leaver("f", finalizers=["one/more"]),
    ]
    departure = Departure(leavers, clock)
    departure.vanished(SHOP, record("e"))
    progress = departure.progress("custom resources", Deadline(clock, 70.0))
    assert (progress.step, progress.done, progress.total, progress.seconds_left) == ("custom resources", 1, 6, 70.0)
    assert (next(iter(progress.waiting.items())), len(progress.waiting)) == ((F, 2), 3)


# -- deleting and waiting ----------------------------------------------------------------------------------------------


def delete_all(server: FakeServer, clock: FakeClock, **more: Any) -> tuple[Departed, Told]:
    told, stop = Told(), more.pop("stop", None) or StopSign()
    cluster = cluster_on(server, clock, stop, parallel=1)
    listing = cluster.list(DOMAINS, "shop")
    leavers = [Leaver(DOMAINS, found) for found in listing.records]
    deadline = Deadline(clock, more.pop("seconds", 60.0))
    if "following" in more:
        cluster.following = more.pop("following")  # type: ignore[method-assign]
    try:
        return delete_and_wait([listing], leavers, cluster, clock, stop, deadline, told, step="domains"), told
    finally:
        cluster.close()


@contextlib.contextmanager
def nobody_watches(listings: Any, listener: Any) -> Iterator[None]:
    yield


def test_everything_is_deleted_watched_and_waited_for() -> None:
    server = FakeServer()
    server.add(DOMAINS, "a")
    server.add(DOMAINS, "held", finalizers=[F])

    def controller() -> None:
        """Takes its finalizer off as soon as it sees the deletion."""
        with server._moved:
            server._moved.wait_for(
                lambda: "deletionTimestamp" in server.objects[DOMAINS.group, "domains", "shop", "held"]["metadata"], 10
            )
            server.remove(DOMAINS, "held")

    thread = threading.Thread(target=controller)
    thread.start()
    departed, told = delete_all(server, StandingClock())
    thread.join()
    assert (summary(departed), server.objects) == ((2, [], [], []), {})
    done = [(event.object.name, event.effect) for event in told if isinstance(event, Did)]
    assert done == [("a", "gone"), ("held", "done")]
    assert told[-1] == Progress("domains", 2, 2, 60.0, {})


def test_the_watch_is_opened_before_the_first_delete() -> None:
    order: list[str] = []
    server = FakeServer()
    server.add(DOMAINS, "a")
    server.before("DELETE", lambda: order.append("delete"))

    @contextlib.contextmanager
    def watching(listings: Any, listener: Any) -> Iterator[None]:
        order.append("watch")
        yield
        order.append("end")

    delete_all(server, FakeClock(), following=watching)
    assert order == ["watch", "delete", "end"]


def test_what_is_already_being_deleted_is_waited_for_but_not_deleted_again() -> None:
    server = FakeServer()
    server.add(DOMAINS, "going", deleted=True, finalizers=[F])
    departed, _told = delete_all(server, FakeClock(), following=nobody_watches)
    assert (summary(departed), server.writes()) == ((0, [], [], ["going"]), [])


def test_a_delete_that_is_refused_is_told_and_not_waited_for() -> None:
    server, clock = FakeServer(), FakeClock()
    server.add(DOMAINS, "a")
    server.refuse("DELETE", "/apis", refusal(403, "Forbidden"))
    departed, told = delete_all(server, clock, following=nobody_watches)
    assert (summary(departed), clock.slept) == ((0, [], ["a"], []), [])
    assert [event.effect for event in told if isinstance(event, Did)] == ["refused"]


def test_after_the_stop_sign_no_further_delete_is_sent_and_the_survivors_are_told() -> None:
    server, stop = FakeServer(), StopSign()
    for name in ("a", "b", "c"):
        server.add(DOMAINS, name)
    server.before("DELETE", lambda: stop.set("received SIGTERM"))
    departed, _told = delete_all(server, FakeClock(), following=nobody_watches, stop=stop)
    assert (summary(departed), len(server.writes())) == ((1, [], [], ["b", "c"]), 1)


def test_after_the_deadline_no_further_delete_is_sent_and_the_survivors_are_told() -> None:
    server, clock = FakeServer(), FakeClock()
    for name in ("a", "b", "c"):
        server.add(DOMAINS, name)
    server.before("DELETE", lambda: clock.advance(61.0))
    departed, _told = delete_all(server, clock, following=nobody_watches)
    assert (summary(departed), len(server.writes())) == ((1, [], [], ["b", "c"]), 1)
