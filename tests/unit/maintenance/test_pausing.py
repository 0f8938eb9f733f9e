# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Owners that wait for routes: asked once, let go on by the last, whoever comes in between."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Warned
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.backups import (
    Backup,
    Began,
    Paused,
    Remarks,
    new_backup,
    read_backup,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.outcome import MaintenanceOutcome, Run
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pausing import (
    Pauses,
    resume,
    sweep_pauses,
    try_pauses,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.route_kinds import ROUTE_KINDS
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.scene import Route
from ansible_collections.sunset.kube.plugins.module_utils.objects import ObjectRef, Resource
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import VERBS, FakeClock, Told, cluster_on, refusal

APPLICATIONS = Resource("argoproj.io", "v1alpha1", "Application", "applications", True, verbs=VERBS)
CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps", True, verbs=VERBS)
INGRESSES = Resource("networking.k8s.io", "v1", "Ingress", "ingresses", True, verbs=VERBS)
SKIP, FOR = "argocd.argoproj.io/skip-reconcile", "sunset.dev/paused-for"
PAUSED = Paused("argoproj.io/v1alpha1", "Application", "argocd", "shop", SKIP, "true")
OURS = {SKIP: "true", FOR: "Ingress shop/web"}


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(APPLICATIONS, CONFIG_MAPS, INGRESSES)


def run_on(server: FakeServer) -> Run:
    clock, stop = FakeClock(), StopSign()
    return Run(cluster_on(server, clock, stop), clock, stop, Told(), Deadline(clock, 60.0))


def application(server: FakeServer, annotations: Mapping[str, str] | None = None) -> None:
    server.add(APPLICATIONS, "shop", "argocd", annotations=dict(annotations or {}), spec={})


def annotations(server: FakeServer) -> dict[str, str]:
    item = server.get(APPLICATIONS, "shop", "argocd")
    assert item is not None
    found: dict[str, str] = item["metadata"].get("annotations") or {}
    return found


def backup(server: FakeServer, route: str, paused: Paused = PAUSED) -> Backup:
    """On the cluster, with the owner that waits."""
    target = ObjectRef("networking.k8s.io/v1", "Ingress", "shop", route, f"uid-{route}")
    made = new_backup(target, [], [paused], Began(), Remarks())
    item = server.add(CONFIG_MAPS, made["metadata"]["name"], labels={"sunset.dev/maintenance": "backup"})
    item["data"] = made["data"]
    return read_backup(item)


def route(name: str = "web") -> Route:
    return Route(ROUTE_KINDS[0], INGRESSES, {"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"}})


def test_an_owner_is_asked_once_for_all_its_routes(server: FakeServer) -> None:
    application(server)
    pauses = Pauses(run_on(server))
    assert [pauses.hold(route(name), [PAUSED], []) for name in ("web", "api")] == [True, False]
    assert annotations(server) == OURS
    assert len(server.writes()) == 1


def test_a_new_claim_writes_though_the_owner_waits_already_and_a_known_one_does_not(server: FakeServer) -> None:
    application(server, OURS)
    assert Pauses(run_on(server)).hold(route("api"), [PAUSED], []) is True
    assert annotations(server)[FOR] == "Ingress shop/api"
    assert Pauses(run_on(server)).hold(route("web"), [PAUSED], [PAUSED]) is False


def test_a_pause_that_a_person_sets_in_between_is_left_to_him(server: FakeServer) -> None:
    application(server, {SKIP: "true"})
    assert Pauses(run_on(server)).hold(route(), [PAUSED], []) is False
    assert resume([backup(server, "web")], run_on(server)) == {}
    assert annotations(server) == {SKIP: "true"}


def test_whoever_is_gone_is_not_asked(server: FakeServer) -> None:
    assert Pauses(run_on(server)).hold(route(), [PAUSED], []) is False
    assert try_pauses([PAUSED], run_on(server)) == []


def test_the_owner_goes_on_with_the_last_route(server: FakeServer) -> None:
    application(server, OURS)
    first, second = backup(server, "first"), backup(server, "second")
    assert resume([first], run_on(server)) == {}
    assert annotations(server) == OURS
    assert resume([first, second], run_on(server)) == {}
    assert annotations(server) == {}


def test_one_owner_is_the_same_in_every_version(server: FakeServer) -> None:
    """Else whoever writes a backup for a route of his own could end the pause of another one."""
    application(server, OURS)
    backup(server, "first")
    forged = backup(server, "second", dataclasses.replace(PAUSED, api_version="argoproj.io/v9"))
    assert resume([forged], run_on(server)) == {}
    assert annotations(server) == OURS


def test_a_backup_that_nobody_can_read_keeps_nobody_waiting(server: FakeServer) -> None:
    application(server, OURS)
    mine = backup(server, "web")
    server.add(CONFIG_MAPS, "junk", labels={"sunset.dev/maintenance": "backup"})["data"] = {"target": "x"}
    run = run_on(server)
    assert resume([mine], run) == {}
    assert annotations(server) == {}
    assert isinstance(run.tell, Told)
    assert ["junk" in event.text for event in run.tell if isinstance(event, Warned)] == [True]


def test_a_claim_that_comes_while_the_owner_is_let_go_on_is_noticed(server: FakeServer) -> None:
    application(server, OURS)
    mine = backup(server, "web")

    def claim() -> None:
        backup(server, "late")
        Pauses(run_on(server)).hold(route("late"), [PAUSED], [])

    server.before("PATCH", claim)
    assert resume([mine], run_on(server)) == {}
    assert annotations(server) == {SKIP: "true", FOR: "Ingress shop/late"}


def test_a_value_that_was_changed_meanwhile_stays(server: FakeServer) -> None:
    application(server, {SKIP: "false", FOR: "Ingress shop/web"})
    assert resume([backup(server, "web")], run_on(server)) == {}
    assert annotations(server) == {SKIP: "false"}


@pytest.mark.parametrize(
    ("method", "path", "word"),
    [
        ("PATCH", "/apis/argoproj.io", "no patching"),
        ("GET", "/api/v1/configmaps", "whether other routes still need it cannot be seen"),
    ],
)
def test_the_backup_of_an_owner_that_cannot_go_on_must_stay(
    server: FakeServer, method: str, path: str, word: str
) -> None:
    application(server, OURS)
    mine = backup(server, "web")
    server.refuse(method, path, refusal(403, "Forbidden", "no patching"))
    kept = resume([mine], run_on(server))
    assert list(kept) == [mine.record.uid]
    assert word in str(kept[mine.record.uid])
    assert annotations(server) == OURS


def test_a_dry_run_changes_nothing(server: FakeServer) -> None:
    application(server, OURS)
    assert resume([backup(server, "web")], run_on(server), dry_run=True) == {}
    assert annotations(server) == OURS


def sweep(server: FakeServer, **how: Any) -> MaintenanceOutcome:
    outcome = MaintenanceOutcome("swept")
    sweep_pauses(outcome, run_on(server), **{"dry_run": False, **how})
    return outcome


def test_the_sweep_ends_pauses_that_no_backup_knows_and_no_others(server: FakeServer) -> None:
    application(server, OURS)
    server.add(APPLICATIONS, "by-hand", "argocd", annotations={SKIP: "true"}, spec={})
    known = backup(server, "web")
    assert sweep(server).swept == []
    server.remove(CONFIG_MAPS, known.record.name)
    assert sweep(server, dry_run=True).swept == ["pause of Application argocd/shop"]
    assert annotations(server) == OURS
    assert sweep(server).swept == ["pause of Application argocd/shop"]
    assert annotations(server) == {}


def test_a_pause_that_the_sweep_cannot_end_is_warned_of(server: FakeServer) -> None:
    application(server, OURS)
    server.refuse("GET", "/api/v1/configmaps", refusal(403, "Forbidden", "no"))
    [warning] = sweep(server).warnings
    assert warning.startswith("Application argocd/shop stays paused")


def test_owners_that_the_sweep_may_not_see_are_named(server: FakeServer) -> None:
    server.refuse("GET", "/apis/argoproj.io", refusal(403, "Forbidden", "no"))
    assert sweep(server).unseen == ["applications.argoproj.io that wait for routes: HTTP 403 Forbidden, no"]
