# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others write to the same objects at the same moment: nothing of theirs is lost, and no namesake is touched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Planned
from ansible_collections.sunset.kube.plugins.module_utils.jobs.finalizer import JOB
from integration.running import Result, run_job
from integration.stage import CLEANUP, FOREIGN, Body, Stage, widget
from lab.faults import FaultProxy
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

WRITERS = 4


def between_plan_and_write(action: Callable[[], Any]) -> Callable[[Any], None]:
    """An event hook that does something at the one moment a race is about: everything was seen, nothing is written."""

    def on_event(event: Any) -> None:
        if isinstance(event, Planned):
            action()

    return on_event


def free_live_ones(stage: Stage, kubeconfig: Any, **more: Any) -> Result:
    params = {
        "kind": "Widget",
        "finalizers": [CLEANUP],
        "namespace": stage.namespace,
        "terminating_only": False,
        "owner": "any",
    }
    return run_job(JOB, params, kubeconfig, **more)


class Rival:
    """Another controller: adds finalizers in front of the list, which moves ours, and writes the status, in turns."""

    def __init__(self, stage: Stage, things: list[Body]) -> None:
        self._api = stage.api
        self._paths = [stage.api.path_of(thing) for thing in things]
        self._stop = threading.Event()
        self.added: dict[str, set[str]] = {path: set() for path in self._paths}
        self.writes = 0

    def run(self, me: int) -> None:
        turn = 0
        while not self._stop.is_set():
            path = self._paths[turn % len(self._paths)]
            if turn % 2:
                status, _answer = self._api.patch(f"{path}/status", {"status": {f"seen-by-{me}": turn}})
                assert status == 200
            else:
                name = f"rival-{me}.example.org/f{turn}"
                add = [{"op": "add", "path": "/metadata/finalizers/0", "value": name}]
                if self._api.patch(path, add)[0] == 200:
                    self.added[path].add(name)
            self.writes += 1
            turn += 1
            self._stop.wait(WRITERS / 100)  # all of them together: about 100 writes a second

    def stop(self) -> None:
        self._stop.set()


def test_finalizers_and_status_written_at_the_same_time_are_never_lost(
    stage: Stage, plane: ControlPlane, faults: FaultProxy
) -> None:
    things = stage.put(*(widget(f"w{n}", stage.namespace, FOREIGN, CLEANUP) for n in range(5)))
    rival = Rival(stage, things)
    faults.latency = 0.02  # room for the rival between our reading and our writing
    with ThreadPoolExecutor(WRITERS) as pool:
        work = [pool.submit(rival.run, me) for me in range(WRITERS)]
        try:
            until(lambda: rival.writes > 20, "the rival to be in full swing", every=0.01)
            result = free_live_ones(stage, faults.kubeconfig())
            so_far = rival.writes
            until(lambda: rival.writes > so_far + 20, "the rival to go on afterwards", every=0.01)
        finally:
            rival.stop()
        for done in work:
            done.result()
    assert not result.get("failed"), result["msg"]
    assert result["counts"]["removed"] == 5
    for thing in things:
        seen = stage.look(thing)
        path = stage.api.path_of(thing)
        assert set(seen["metadata"]["finalizers"]) == {FOREIGN, *rival.added[path]}
        assert rival.added[path]
    lost = [request for request in faults.requests if request.method == "PATCH" and request.status == 422]
    assert lost, "the race never happened, so this test has shown nothing"


def test_a_finalizer_added_between_plan_and_write_stays(stage: Stage, plane: ControlPlane) -> None:
    [thing] = stage.put(widget("w", stage.namespace, CLEANUP))
    add = [{"op": "add", "path": "/metadata/finalizers/0", "value": FOREIGN}]
    hook = between_plan_and_write(lambda: stage.api.patch(stage.api.path_of(thing), add))
    result = free_live_ones(stage, plane.admin.kubeconfig, on_event=hook)
    assert result["changed"] is True
    assert stage.finalizers(thing) == [FOREIGN]


def test_a_finalizer_that_its_controller_removed_just_before_us_is_no_change_of_ours(
    stage: Stage, plane: ControlPlane
) -> None:
    [thing] = stage.put(widget("w", stage.namespace, CLEANUP, FOREIGN))
    remove = [{"op": "remove", "path": "/metadata/finalizers/0"}]
    hook = between_plan_and_write(lambda: stage.api.patch(stage.api.path_of(thing), remove))
    result = free_live_ones(stage, plane.admin.kubeconfig, on_event=hook)
    assert not result.get("failed"), result["msg"]
    assert result["changed"] is False
    assert stage.finalizers(thing) == [FOREIGN]


def test_an_object_that_went_by_itself_between_plan_and_write_is_no_failure(stage: Stage, plane: ControlPlane) -> None:
    [thing] = stage.hang(widget("w", stage.namespace, CLEANUP))
    hook = between_plan_and_write(lambda: stage.release(thing))
    result = free_live_ones(stage, plane.admin.kubeconfig, on_event=hook)
    assert not result.get("failed"), result["msg"]
    assert result["changed"] is False
    assert result["survivors"] == []


def test_a_namesake_created_between_plan_and_write_is_not_touched_and_is_reported(
    stage: Stage, plane: ControlPlane
) -> None:
    [old] = stage.hang(widget("w", stage.namespace, CLEANUP))
    new: list[Body] = []

    def replace() -> None:
        stage.release(old)
        new.extend(stage.put(widget("w", stage.namespace, CLEANUP)))

    result = free_live_ones(stage, plane.admin.kubeconfig, on_event=between_plan_and_write(replace))
    assert stage.look(new[0]) == new[0]
    assert result["changed"] is False
    [kept] = result["kept"]
    assert (kept["object"]["name"], kept["object"]["uid"]) == ("w", old["metadata"]["uid"])
    assert kept["verdict"] == "replaced"
    assert not result.get("failed"), "the object that was to be freed is gone, and the new one is none of our business"
