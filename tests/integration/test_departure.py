# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete and wait on a real server: gone means this uid, seen with our own eyes, however bad the view is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import Deadline, RealClock, StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Progress
from ansible_collections.sunset.kube.plugins.module_utils.kube import watches
from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.kube.lists import Listing
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.departure import Departed, Leaver, delete_and_wait
from integration.connect_proxy import ConnectProxy
from integration.running import open_cluster
from integration.stage import CLEANUP, CRDS, FOREIGN, Body, Stage, body, config_map, crd, widget
from lab.faults import Answer, CutWatch, ErrorInWatch, FaultProxy, ResetAfter, Rule, SilentWatch
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.components import APISERVER
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
Hook = Callable[[Any], None]


def kind(cluster: Cluster, name: str) -> Resource:
    resource, _warning = cluster.resolve(name)
    assert resource is not None
    return resource


def leavers(listings: list[Listing]) -> list[Leaver]:
    return [Leaver(listing.scope.resource, record) for listing in listings for record in listing.records]


def depart(
    cluster: Cluster,
    listings: list[Listing],
    leaving: list[Leaver] | None = None,
    *,
    on_event: Hook | None = None,
    seconds: float = 60,
    stop: StopSign | None = None,
) -> Departed:
    sign = stop or StopSign()
    clock = RealClock(sign)
    deadline = Deadline(clock, seconds)
    cluster.limit_to(deadline)
    tell = on_event or (lambda event: None)
    chosen = leavers(listings) if leaving is None else leaving
    return delete_and_wait(listings, chosen, cluster, clock, sign, deadline, tell)


def while_waiting(*actions: Callable[[], Any]) -> Hook:
    """An event hook that does the next of these at every look around while all deletes are sent and we wait."""
    left = list(actions)

    def on_event(event: Any) -> None:
        if isinstance(event, Progress) and left:
            left.pop(0)()

    return on_event


@pytest.fixture
def held(stage: Stage) -> list[Body]:
    """Live objects that will not go by themselves when they are deleted: only a watch or a list can tell."""
    return stage.put(*(widget(f"w{n}", stage.namespace, CLEANUP) for n in range(6)))


@pytest.fixture
def release(stage: Stage, held: list[Body]) -> Callable[[], None]:
    """What their controller does, at last."""

    def release_all() -> None:
        for thing in held:
            stage.release(thing)

    return release_all


def listing_of(cluster: Cluster, stage: Stage) -> list[Listing]:
    return [cluster.list(kind(cluster, "Widget"), stage.namespace)]


@pytest.fixture
def eager_relists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "RELIST_EVERY", 0.2)


# -- the plain case --------------------------------------------------------------------------------------------------


def test_three_hundred_objects_in_three_namespaces_are_deleted_and_gone(
    stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    namespaces = [stage.another_namespace() for _time in range(3)]
    user = as_user("mover", EVERYTHING)
    stage.put(*(config_map(f"c{n}", space, labels={"m": "x"}) for space in namespaces for n in range(100)))
    with open_cluster(user.kubeconfig) as cluster:
        listings = [cluster.list(kind(cluster, "ConfigMap"), space, "m=x") for space in namespaces]
        outcome = depart(cluster, listings)
        requests = cluster.requests()
    assert (outcome.gone, outcome.survivors, outcome.refused, outcome.replaced) == (300, [], [], [])
    assert all(
        stage.api.get(f"/api/v1/namespaces/{n}/configmaps", labelSelector="m=x")[1]["items"] == [] for n in namespaces
    )
    assert (requests["delete"], requests["list"], requests["watch"]) == (300, 3, 3)
    deletes = audit.writes(user.name)
    assert {event.verb for event in deletes} == {"delete"}
    assert all(event.request and event.request["preconditions"]["uid"] for event in deletes)


def test_objects_whose_finalizers_go_later_are_waited_for(
    stage: Stage, plane: ControlPlane, held: list[Body], release: Callable[[], None]
) -> None:
    with open_cluster(plane.admin.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
        assert cluster.requests()["get"] == 2, "two for discovery, none for an object"
    assert (outcome.gone, outcome.survivors) == (6, [])
    assert all(map(stage.is_gone, held))


def test_what_is_still_there_at_the_deadline_is_a_survivor_with_its_newest_finalizers(
    stage: Stage, plane: ControlPlane
) -> None:
    [thing] = stage.put(widget("slow", stage.namespace, CLEANUP, FOREIGN))
    remove = [{"op": "remove", "path": "/metadata/finalizers/0"}]
    hook = while_waiting(lambda: stage.api.patch(stage.api.path_of(thing), remove))
    with open_cluster(plane.admin.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=hook, seconds=1.5)
    assert outcome.gone == 0
    [survivor] = outcome.survivors
    assert survivor.record.uid == thing["metadata"]["uid"]
    assert survivor.record.terminating
    assert survivor.record.finalizers == (FOREIGN,)


def test_a_wish_to_stop_ends_the_wait_with_the_survivors(stage: Stage, plane: ControlPlane, held: list[Body]) -> None:
    stop = StopSign()
    with open_cluster(plane.admin.kubeconfig, stop=stop) as cluster:
        hook = while_waiting(lambda: stop.set("enough"))
        outcome = depart(cluster, listing_of(cluster, stage), on_event=hook, stop=stop)
    assert len(outcome.survivors) == 6


def test_terminating_objects_get_no_second_delete(
    stage: Stage, as_user: AsUser, audit: AuditTrail, held: list[Body], release: Callable[[], None]
) -> None:
    user = as_user("gentle", EVERYTHING)
    for thing in held[:4]:
        stage.api.delete(stage.api.path_of(thing))
    with open_cluster(user.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
    assert outcome.gone == 6
    assert sorted(event.name for event in audit.writes(user.name)) == ["w4", "w5"]


def test_a_delete_whose_answer_was_lost_is_neither_lost_nor_double(
    stage: Stage, faults: FaultProxy, held: list[Body], release: Callable[[], None]
) -> None:
    lost = faults.add(Rule(ResetAfter(), method="DELETE", times=2))
    with open_cluster(faults.kubeconfig()) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
    assert lost.hits == 2
    assert (outcome.gone, outcome.refused, outcome.survivors) == (6, [], [])


# -- watches that cannot be trusted ----------------------------------------------------------------------------------

BAD_WATCHES = [
    Rule(CutWatch(after=3), times=3),
    Rule(CutWatch(after=3, clean=True), times=3),
    Rule(ErrorInWatch(410, after=2), times=3),
    Rule(ErrorInWatch(500, after=2), times=3),
    Rule(Answer(410), query="watch=1", times=2),
    Rule(Answer(500), query="watch=1", times=2),
    Rule(Answer(429, retry_after=1), query="watch=1", times=1),
]


@pytest.mark.parametrize("rule", BAD_WATCHES, ids=lambda rule: repr(rule.fault))
def test_a_watch_that_fails_for_a_while_misses_nothing(
    stage: Stage, faults: FaultProxy, held: list[Body], release: Callable[[], None], rule: Rule
) -> None:
    rule = faults.add(Rule(rule.fault, query=rule.query, times=rule.times))
    with open_cluster(faults.kubeconfig()) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
    assert rule.hits
    assert (outcome.gone, outcome.survivors) == (6, [])


@pytest.mark.usefixtures("eager_relists")
@pytest.mark.parametrize("fault", [SilentWatch(), CutWatch(clean=True)], ids=repr)
def test_a_watch_that_never_tells_anything_is_made_good_by_lists(
    stage: Stage, faults: FaultProxy, held: list[Body], release: Callable[[], None], fault: Any
) -> None:
    faults.add(Rule(fault))
    with open_cluster(faults.kubeconfig()) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release), seconds=10)
    assert (outcome.gone, outcome.survivors) == (6, [])


def test_a_watch_that_always_ends_at_once_is_not_reopened_without_a_breath(
    stage: Stage, faults: FaultProxy, held: list[Body]
) -> None:
    faults.add(Rule(CutWatch(clean=True)))
    with open_cluster(faults.kubeconfig()) as cluster:
        depart(cluster, listing_of(cluster, stage), seconds=2)
    assert sum(request.is_watch for request in faults.requests) < 40


def test_without_the_right_to_watch_the_kind_is_listed_again_and_again(
    stage: Stage, as_user: AsUser, audit: AuditTrail, held: list[Body], release: Callable[[], None]
) -> None:
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "delete"]}]
    user = as_user("no-watcher", rules)
    with open_cluster(user.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
    assert (outcome.gone, outcome.survivors) == (6, [])
    asked = [(event.verb, event.code) for event in audit.events(user.name) if event.verb == "watch"]
    assert asked == [("watch", 403)], "once is enough to know"


@pytest.mark.slow
def test_a_restart_of_the_api_server_while_waiting_is_survived(
    stage: Stage, plane: ControlPlane, as_user: AsUser, held: list[Body], release: Callable[[], None]
) -> None:
    user = as_user("steadfast", EVERYTHING)

    def restart_and_release() -> None:
        plane.restart(APISERVER)
        release()

    with open_cluster(user.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(restart_and_release))
    assert (outcome.gone, outcome.survivors) == (6, [])


# -- what is not a departure -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("eager_relists")
def test_a_label_taken_away_while_waiting_is_no_deletion(stage: Stage, faults: FaultProxy) -> None:
    [thing] = stage.put(widget("labelled", stage.namespace, CLEANUP, labels={"app": "shop"}))
    path = stage.api.path_of(thing)
    done: list[int] = []

    def relabel() -> None:
        status, _answer = stage.api.patch(path, {"metadata": {"labels": {"app": None}}})
        assert status == 200
        seen = len(faults.requests)
        # The next list after this one has shown what a list makes of it.
        until(lambda: any(r.status and not r.is_watch for r in faults.requests[seen:]), "a list", every=0.02)

    def on_event(event: Any) -> None:
        if isinstance(event, Progress):
            done.append(event.done)
        then(event)

    then = while_waiting(relabel, lambda: None, lambda: stage.release(thing))
    with open_cluster(faults.kubeconfig()) as cluster:
        listings = [cluster.list(kind(cluster, "Widget"), stage.namespace, "app=shop")]
        outcome = depart(cluster, listings, on_event=on_event)
    assert done[:3] == [0, 0, 0], "counted as gone before it was"
    assert outcome.gone == 1


def test_a_namesake_created_while_waiting_is_another_object(stage: Stage, plane: ControlPlane) -> None:
    [old] = stage.put(widget("same", stage.namespace, CLEANUP))
    new: list[Body] = []

    def replace() -> None:
        stage.release(old)
        new.extend(stage.put(widget("same", stage.namespace, CLEANUP)))

    with open_cluster(plane.admin.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(replace))
    assert (outcome.gone, outcome.survivors, outcome.replaced) == (1, [], [])
    assert stage.look(new[0]) == new[0]


def test_a_namesake_that_came_before_our_delete_is_spared_and_reported_as_replaced(
    stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    user = as_user("careful", EVERYTHING)
    stage.put(widget("same", stage.namespace))
    with open_cluster(user.kubeconfig) as cluster:
        [before] = listing_of(cluster, stage)
        stage.api.delete(stage.api.path_of(widget("same", stage.namespace)))
        [new] = stage.put(widget("same", stage.namespace))
        outcome = depart(cluster, listing_of(cluster, stage), leavers([before]))
    assert [leaver.record.uid for leaver in outcome.replaced] == [before.records[0].uid]
    assert (outcome.gone, outcome.survivors) == (0, [])
    assert stage.look(new) == new
    assert [(event.verb, event.code) for event in audit.writes(user.name)] == [("delete", 409)]


def test_a_delete_the_server_refuses_is_reported_and_not_waited_for(
    stage: Stage, as_user: AsUser, held: list[Body], release: Callable[[], None]
) -> None:
    user = as_user("looker", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}])
    with open_cluster(user.kubeconfig) as cluster:
        outcome = depart(cluster, listing_of(cluster, stage))
    assert [problem.status for _item, problem in outcome.refused if isinstance(problem, ApiError)] == [403] * 6
    assert (outcome.gone, outcome.survivors) == (0, [])
    assert [stage.look(thing) for thing in held] == held


# -- kinds that go meanwhile -----------------------------------------------------------------------------------------


def test_objects_of_a_kind_that_was_removed_are_gone_once_the_definition_is(
    stage: Stage, plane: ControlPlane, faults: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = f"{stage.namespace}.example.com"
    path = f"{CRDS}/vases.{group}"
    plane.api.apply_crd(crd("Vase", group))
    vases = stage.put(*(body(f"{group}/v1", "Vase", f"v{n}", stage.namespace, CLEANUP) for n in range(3)))
    faults.add(Rule(SilentWatch()))  # the list has to find out

    def remove_the_kind() -> None:
        for vase in vases:
            stage.release(vase)
        plane.api.delete(path)
        until(lambda: plane.api.get(path)[0] == 404, "the definition to go", every=0.05)
        home = f"/apis/{group}/v1/namespaces/{stage.namespace}/vases"
        until(lambda: plane.api.get(home)[0] == 404, "its path to close", every=0.05)
        monkeypatch.setattr(watches, "RELIST_EVERY", 0.1)

    with open_cluster(faults.kubeconfig()) as cluster:
        listings = [cluster.list(kind(cluster, f"vases.{group}"), stage.namespace)]
        outcome = depart(cluster, listings, on_event=while_waiting(remove_the_kind))
    assert (outcome.gone, outcome.survivors) == (3, [])
    assert any(request.status == 404 for request in faults.requests)


@pytest.mark.usefixtures("eager_relists")
def test_a_404_for_the_whole_kind_proves_nothing_as_long_as_the_kind_is_installed(
    stage: Stage, faults: FaultProxy, held: list[Body]
) -> None:
    stop = StopSign()
    with open_cluster(faults.kubeconfig(), stop=stop) as cluster:
        listings = listing_of(cluster, stage)
        faults.add(Rule(SilentWatch()))
        missing = faults.add(Rule(Answer(404), method="GET", path="/widgets$"))

        def enough(event: Any) -> None:
            if missing.hits >= 2:
                stop.set("seen enough")

        outcome = depart(cluster, listings, on_event=enough, stop=stop)
    assert (outcome.gone, len(outcome.survivors)) == (0, 6)


# -- blind -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("eager_relists")
@pytest.mark.parametrize("status", [403, 500, 503])
def test_what_cannot_be_seen_is_never_gone_even_when_it_is(
    stage: Stage, faults: FaultProxy, held: list[Body], release: Callable[[], None], status: int
) -> None:
    with open_cluster(faults.kubeconfig()) as cluster:
        listings = listing_of(cluster, stage)
        faults.add(Rule(SilentWatch()))
        blind = faults.add(Rule(Answer(status, message="fog"), method="GET", path="/widgets$"))
        outcome = depart(cluster, listings, on_event=while_waiting(release), seconds=3)
    assert blind.hits
    assert (outcome.gone, len(outcome.survivors)) == (0, 6)
    assert [problem.why for problem in outcome.blind.values() if "fog" in problem.why], "and why is not said"
    assert all(map(stage.is_gone, held))


# -- through a proxy -------------------------------------------------------------------------------------------------


def behind_proxy(plane: ControlPlane, user_kubeconfig: Path, file: Path, proxy: ConnectProxy) -> Path:
    content = json.loads(user_kubeconfig.read_text())
    content["clusters"][0]["cluster"]["proxy-url"] = f"http://127.0.0.1:{proxy.port}"
    file.write_text(json.dumps(content))
    return file


def test_watches_go_through_a_proxy_too_and_end_with_the_run(
    stage: Stage, plane: ControlPlane, held: list[Body], release: Callable[[], None], tmp_path: Path
) -> None:
    with ConnectProxy() as proxy:
        kubeconfig = behind_proxy(plane, plane.admin.kubeconfig, tmp_path / "config", proxy)
        with open_cluster(kubeconfig) as cluster:
            outcome = depart(cluster, listing_of(cluster, stage), on_event=while_waiting(release))
    assert (outcome.gone, outcome.survivors) == (6, [])


def test_a_quiet_watch_through_a_proxy_is_no_outage(
    stage: Stage, plane: ControlPlane, as_user: AsUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage a 403 is doubted; where nothing was wrong it has to be final at once."""
    rules = [{"apiGroups": ["*"], "resources": ["widgets"], "verbs": ["list", "watch"]}]
    user = as_user("office", rules)
    monkeypatch.setattr(watches, "_QUIET", 0.1)
    with ConnectProxy() as proxy:
        kubeconfig = behind_proxy(plane, user.kubeconfig, tmp_path / "config", proxy)
        with open_cluster(kubeconfig) as cluster:
            widgets = kind(cluster, "Widget")
            cluster.limit_to(Deadline(RealClock(), 4))
            with cluster.following([cluster.list(widgets, stage.namespace)], Bystander()):
                time.sleep(0.5)  # it is about silence, and silence sends no event
                before = cluster.requests()["get"]
                with pytest.raises(ApiError, match="403"):
                    cluster.read(widgets, stage.namespace, "anything")
                assert cluster.requests()["get"] - before == 1


class Bystander:
    """A listener that does not care."""

    def changed(self, *seen: Any) -> None: ...
    def vanished(self, *seen: Any) -> None: ...
    def listed(self, *seen: Any) -> None: ...
    def blinded(self, *seen: Any) -> None: ...
