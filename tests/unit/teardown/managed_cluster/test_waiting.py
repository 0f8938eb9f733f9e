# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters that wait: who has a place meanwhile, when the freeze begins, and what is said about addons' hooks."""

from __future__ import annotations

import threading
import time

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Noted
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import Answer
from ansible_collections.sunset.kube.plugins.module_utils.profiles import ocm
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.fleet import remove_clusters
from ansible_collections.sunset.kube.plugins.module_utils.teardown.managed_cluster.places import Place, Places
from ansible_collections.sunset.kube.tests.unit.fakes import Call, FakeClock, Told, refusal
from ansible_collections.sunset.kube.tests.unit.teardown.managed_cluster.fleet_fakes import (
    ADDONS,
    CLUSTERS,
    WORKS,
    Hub,
    options_of,
    removed,
)
from ansible_collections.sunset.kube.tests.unit.teardown.policy_fakes import BINDINGS, PoliciesWork
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS

HOOK = ocm.HOOK_FINALIZERS[0]


class GivingWay(FakeClock):
    """Whoever sleeps lets the other threads go on for a moment."""

    def sleep(self, seconds: float) -> None:
        time.sleep(0.002)
        super().sleep(seconds)


class HubWithThreads(Hub):
    """The gate of `gated`, and its agent, wait for `edge` to be gone."""

    def __init__(self) -> None:
        super().__init__(clock=GivingWay())
        self.server.controllers.append(self._open_the_gate)

    def _open_the_gate(self, call: Call) -> None:
        if (call.verb, call.name) != ("delete", "edge") or "ManagedCluster edge" in self.left():
            return
        if "ConfigMap gated/app" in self.left():
            self.remove(CONFIG_MAPS, "app", "gated")
        if "ManifestWork gated/held" in self.left():
            self.release(WORKS, "held", "gated")


# -- places ------------------------------------------------------------------------------------------------------------


def test_a_place_is_had_once_however_often_it_is_taken_or_given_up() -> None:
    clock = FakeClock()
    places = Places(1)
    mine, other = Place(places), Place(places)
    over, stop = Deadline(clock, 0), StopSign()
    assert [place.take(over, stop) for place in (mine, mine, other)] == [True, True, False]
    mine.give_up()
    mine.give_up()
    assert [place.take(over, stop) for place in (other, mine)] == [True, False]


def test_who_waits_for_a_place_gets_it_when_one_is_given_up() -> None:
    places = Places(1)
    first, second = Place(places), Place(places)
    deadline = Deadline(FakeClock(), 60)
    assert first.take(deadline, StopSign())
    got: list[bool] = []
    waiting = threading.Thread(target=lambda: got.append(second.take(deadline, StopSign())))
    waiting.start()
    first.give_up()
    waiting.join(60)
    assert got == [True]


def test_the_wish_to_stop_ends_the_wait_for_a_place() -> None:
    places, stop = Places(1), StopSign()
    Place(places).take(Deadline(FakeClock(), 60), stop)
    stop.set("received SIGTERM")
    assert not Place(places).take(Deadline(FakeClock(), 60), stop)


def test_a_cluster_at_its_gate_does_not_keep_the_only_place() -> None:
    hub = HubWithThreads()
    hub.join("gated")
    hub.join("edge")
    hub.add(CONFIG_MAPS, "app", "gated")
    outcome = removed(hub, "gated", "edge", wait_for=["ConfigMap"], concurrency=1, namespace="keep")
    assert (outcome.failure, [lane.phase for lane in outcome.lanes]) == (None, ["gone", "gone"])


def test_a_cluster_that_waits_for_its_agent_does_not_keep_the_only_place() -> None:
    hub = HubWithThreads()
    hub.join("gated")
    hub.join("edge")
    hub.add(WORKS, "held", "gated", finalizers=[ocm.WORK_FINALIZER])
    outcome = removed(hub, "gated", "edge", concurrency=1, namespace="keep")
    assert (outcome.failure, [lane.phase for lane in outcome.lanes]) == (None, ["gone", "gone"])


def test_a_cluster_that_waits_for_works_of_others_does_not_keep_the_only_place() -> None:
    hub = HubWithThreads()
    hub.join("gated")
    hub.join("edge")
    held = hub.add(WORKS, "held", "gated", finalizers=[ocm.WORK_FINALIZER])
    held["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    outcome = removed(hub, "gated", "edge", concurrency=1, namespace="keep", manifestworks="none")
    assert (outcome.failure, [lane.phase for lane in outcome.lanes]) == (None, ["gone", "gone"])


# -- the freeze --------------------------------------------------------------------------------------------------------


class FreezingHub(PoliciesWork, Hub):
    """Admission policies take effect."""

    def frozen(self) -> dict[str, list[str]]:
        """Namespaces by the name of the freeze."""
        found = [thing for key, thing in list(self.objects.items()) if key[1] == BINDINGS.plural]
        limits = [one["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"][0]["values"] for one in found]
        return {one["metadata"]["name"]: limit for one, limit in zip(found, limits, strict=True)}


def test_the_freeze_begins_when_the_gate_opens() -> None:
    hub = FreezingHub()
    hub.join("edge")
    hub.add(ADDONS, "held", "edge", finalizers=[HOOK])
    hub.add(CONFIG_MAPS, "app", "edge")
    seen: dict[str, list[list[str]]] = {}

    def look(when: str) -> None:
        seen[when] = list(hub.frozen().values())

    def open_it() -> None:
        look("at the gate")
        hub.remove(CONFIG_MAPS, "app", "edge")

    def let_go() -> None:
        look("waiting for the addon")
        hub.release(ADDONS, "held", "edge")

    hub.clock.at(hub.clock.now() + 7, open_it)
    hub.clock.at(hub.clock.now() + 30, let_go)
    outcome = removed(hub, "edge", wait_for=["ConfigMap"], freeze=True, namespace="keep")
    assert outcome.failure is None
    assert seen == {"at the gate": [], "waiting for the addon": [["edge"]]}
    assert hub.frozen() == {}


def test_a_gate_that_stays_shut_writes_nothing_at_all() -> None:
    hub = FreezingHub()
    hub.join("edge")
    hub.add(CONFIG_MAPS, "app", "edge")
    assert removed(hub, "edge", wait_for=["ConfigMap"], freeze=True, timeout=20).failure is not None
    assert hub.log == []


def test_a_cluster_that_is_refused_is_not_frozen() -> None:
    hub = FreezingHub()
    hub.join("dark", available="Unknown")
    hub.add(WORKS, "held", "dark", finalizers=[ocm.WORK_FINALIZER])
    assert removed(hub, "dark", freeze=True).failure is not None
    assert hub.log == []


def test_clusters_that_begin_together_share_one_freeze() -> None:
    hub = FreezingHub()
    for name in ("a", "b"):
        hub.join(name)
    hub.add(ADDONS, "held", "a", finalizers=[HOOK])
    seen: list[list[str]] = []

    def let_go() -> None:
        seen.extend(hub.frozen().values())
        hub.release(ADDONS, "held", "a")

    hub.clock.at(hub.clock.now() + 10, let_go)
    assert removed(hub, "a", "b", freeze=True, namespace="keep").failure is None
    assert seen == [["a", "b"]]


# -- hooks -------------------------------------------------------------------------------------------------------------


def hub_with_a_hook(*said: dict[str, str]) -> Hub:
    hub = Hub()
    hub.join("edge", ocm.CLUSTER_FINALIZERS[0])
    hub.add(ADDONS, "metrics", "edge", finalizers=[HOOK], status={"conditions": list(said)})
    hub.add(ADDONS, "plain", "edge")
    return hub


NOT_YET = {"type": "HookManifestCompleted", "status": "False", "reason": "HookManifestIsNotCompleted"}


def test_a_hook_that_does_not_finish_is_named_with_its_condition_and_its_work() -> None:
    hub = hub_with_a_hook({**NOT_YET, "message": "job is running"})
    hub.add(WORKS, "addon-metrics-pre-delete", "edge", finalizers=[ocm.WORK_FINALIZER])
    outcome = removed(hub, "edge", timeout=20)
    text = str(outcome.failure)
    assert "hook of addon metrics (work addon-metrics-pre-delete): HookManifestCompleted is False" in text
    assert "HookManifestIsNotCompleted: job is running" in text
    assert HOOK in text
    (hook,) = outcome.lanes[0].hooks.values()
    assert hook.as_dict() == {
        "addon": "metrics",
        "state": "waiting",
        "works": ["addon-metrics-pre-delete"],
        "condition": {**NOT_YET, "message": "job is running"},
    }


def test_a_hook_is_waited_for_and_what_it_says_is_told_once() -> None:
    hub = hub_with_a_hook(NOT_YET)
    told = Told()

    def finish() -> None:
        hub.objects[ADDONS.group, ADDONS.plural, "edge", "metrics"]["status"]["conditions"][0]["status"] = "True"

    hub.clock.at(hub.clock.now() + 20, finish)
    hub.clock.at(hub.clock.now() + 40, lambda: hub.release(ADDONS, "metrics", "edge"))
    options = options_of(names=["edge"], force_after=1)
    outcome = remove_clusters(options, hub, hub.clock, StopSign(), told)
    assert outcome.failure is None
    (hook,) = outcome.lanes[0].hooks.values()
    assert (hook.state, hook.status, hook.works) == ("finished", "True", ())
    notes = [event.text for event in told if isinstance(event, Noted)]
    assert [("is False" in text, "is True" in text) for text in notes] == [(True, False), (False, True)]


def test_a_hook_whose_addon_is_forced_did_not_finish() -> None:
    hub = hub_with_a_hook()
    hub.objects[CLUSTERS.group, CLUSTERS.plural, "", "edge"]["status"] = {"conditions": []}
    outcome = removed(hub, "edge", on_unreachable="force", force_after=1)
    assert outcome.failure is None
    (hook,) = outcome.lanes[0].hooks.values()
    assert (hook.state, hook.status) == ("forced", "Unknown")


@pytest.mark.parametrize("finalizer", ocm.HOOK_FINALIZERS)
def test_every_spelling_of_a_hooks_finalizer_counts(finalizer: str) -> None:
    hub = Hub()
    hub.join("edge")
    hub.add(ADDONS, "metrics", "edge", finalizers=[finalizer])
    assert list(removed(hub, "edge", timeout=5).lanes[0].hooks) == ["metrics"]


def test_a_hook_that_cannot_be_looked_at_holds_nothing_up() -> None:
    hub = hub_with_a_hook()
    hub.clock.at(hub.clock.now() + 3, lambda: hub.release(ADDONS, "metrics", "edge"))

    def blind(call: Call) -> Answer | None:
        whole = call.verb == "list" and call.resource == ADDONS and not call.metadata_only
        return refusal(403, "Forbidden", "no") if whole else None

    hub.server.meddlers.append(blind)
    assert removed(hub, "edge", force_after=1, namespace="keep").failure is None
