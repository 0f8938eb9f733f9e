# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is it quiet? Who puts a finalizer back while somebody watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing, Scope
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.profile import ProfileKind
from ansible_collections.sunset.kube.plugins.module_utils.teardown.drain.settling import Settling, stays_quiet
from ansible_collections.sunset.kube.tests.unit.fakes import FakeClock, named, record
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import BASKETS, STORES, DrainCluster, F, G
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import api_error

KINDS = {("shop.example.com", "baskets"): ProfileKind("shop.example.com", "Basket", (F,))}
HERE = Scope(BASKETS, None)
Listener = Callable[[Settling], Any]


def settling(known: tuple[str, ...] = ()) -> Settling:
    return Settling(KINDS, set(known), FakeClock())


def basket(**facts: Any) -> Any:
    return record("b", **{"finalizers": [F], **facts})


EVENTS: dict[str, tuple[tuple[str, ...], list[Listener], bool]] = {
    "nothing": ((), [], True),
    "a finalizer that comes back": ((), [lambda s: s.changed(HERE, basket())], False),
    "a foreign finalizer": ((), [lambda s: s.changed(HERE, basket(finalizers=[G]))], True),
    "on an object that is being deleted": ((), [lambda s: s.changed(HERE, basket(deleted=True))], True),
    "on an object of another kind": ((), [lambda s: s.changed(Scope(STORES, None), basket())], True),
    "one that was there all the time": (("uid-b",), [lambda s: s.changed(HERE, basket())], True),
    "one that was there, went, and is back": (
        ("uid-b",),
        [lambda s: s.changed(HERE, basket(finalizers=[])), lambda s: s.changed(HERE, basket())],
        False,
    ),
    "one that went again": (
        (),
        [lambda s: s.changed(HERE, basket()), lambda s: s.changed(HERE, basket(finalizers=[]))],
        True,
    ),
    "one whose object vanished": (
        (),
        [lambda s: s.changed(HERE, basket()), lambda s: s.vanished(HERE, basket())],
        True,
    ),
    "one in a list after a gap": ((), [lambda s: s.listed(Listing(HERE, [record("a"), basket()]))], False),
}


@pytest.mark.parametrize(("known", "events", "quiet"), named(EVENTS))
def test_only_a_finalizer_that_comes_back_on_a_living_object_is_noise(
    known: tuple[str, ...], events: list[Listener], quiet: bool
) -> None:
    listener = settling(known)
    for event in events:
        event(listener)
    assert (listener.wait(3.0, StopSign()), list(listener.back) == []) == (quiet, quiet)


def test_quiet_takes_all_its_time() -> None:
    clock = FakeClock()
    assert Settling(KINDS, set(), clock).wait(3.0, StopSign())
    assert sum(clock.slept) == 3.0


def test_no_time_is_no_wait() -> None:
    clock = FakeClock()
    assert Settling(KINDS, set(), clock).wait(0.0, StopSign())
    assert clock.slept == []


def watch(cluster: DrainCluster, seconds: float = 3.0, stop: StopSign | None = None) -> bool:
    return stays_quiet(
        [cluster.list(BASKETS)],
        KINDS,
        set(),
        seconds,
        cluster,
        cluster.clock,
        stop or StopSign(),
    )


@pytest.mark.parametrize(("after", "quiet"), [(2.0, False), (3.5, True)])
def test_what_comes_back_within_the_time_is_seen(after: float, quiet: bool) -> None:
    cluster = DrainCluster()
    cluster.add(BASKETS, "b")
    cluster.clock.at(cluster.clock.now() + after, lambda: cluster.change(BASKETS, "b", finalizers=[F]))
    assert watch(cluster) is quiet


def test_noise_ends_the_wait_and_gives_the_others_a_moment_to_come() -> None:
    cluster = DrainCluster()
    cluster.add(BASKETS, "b")
    began = cluster.clock.now()
    cluster.clock.at(began + 1.0, lambda: cluster.change(BASKETS, "b", finalizers=[F]))
    watch(cluster, 60.0)
    assert cluster.clock.now() - began == 1.5


def test_the_wish_to_stop_ends_the_wait() -> None:
    cluster, stop = DrainCluster(), StopSign()
    began = cluster.clock.now()
    cluster.clock.at(began + 2.0, lambda: stop.set("received SIGTERM"))
    watch(cluster, 60.0, stop)
    assert cluster.clock.now() - began == 2.0


def test_what_cannot_be_seen_is_not_quiet() -> None:
    listener = settling()
    listener.blinded(HERE, api_error(403, "Forbidden", "no"))
    assert not listener.wait(3.0, StopSign())
