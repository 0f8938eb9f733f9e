# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many at once: one page for routes of many workers, and many routes in one task with few requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import maintenance as job
from integration.maintaining import INGRESSES, QUICKLY, Body, Maintenance, ingress, owners, shape
from integration.ranked import succeeded
from integration.running import PATIENCE, Result, run_job
from lab.faults import FaultProxy, Rule, SlowRequest
from lab.fixtures import AsUser
from lab.plane.audit import AuditEvent, AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

WORKERS, ROUTES, MANY = 20, 50, 500
BUDGET = 4  # requests a route
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
PARTS = ("ConfigMap", "Service", "Deployment")


@pytest.fixture
def maintenance(plane: ControlPlane, node_namespace: str, route_kinds: None) -> Maintenance:
    return Maintenance(plane, node_namespace)


@dataclass
class Crowd:
    """Workers with some routes each, who all show the same page."""

    maintenance: Maintenance
    routes: list[Body]

    def share_of(self, worker: int) -> list[Body]:
        return self.routes[worker::WORKERS]

    def at_once(self, wishes: Sequence[str]) -> None:
        """Each worker runs a task for its own routes, all at the same time."""

        def work(worker: int) -> Result:
            names = [item["metadata"]["name"] for item in self.share_of(worker)]
            targets = [{"kind": "Ingress", "namespace": self.maintenance.namespace, "name": name} for name in names]
            return self.maintenance(wishes[worker], targets=targets, parallel=2)

        with ThreadPoolExecutor(WORKERS) as pool:
            results = list(pool.map(work, range(WORKERS)))
        assert [result["msg"] for result in results if result.get("failed")] == []

    def check(self, wishes: Sequence[str]) -> None:
        """Exactly the routes of those who wished it show the page, own it, and have a backup."""
        shown = {
            item["metadata"]["uid"]
            for worker, wish in enumerate(wishes)
            if wish == "enabled"
            for item in self.share_of(worker)
        }
        assert {item["metadata"]["uid"] for item in self.now() if shows(item)} == shown
        pages = self.maintenance.pages()
        assert [owners(page) for page in pages] == ([sorted(shown)] if shown else [])
        wanted = {f"configmaps/maintenance-backup-{uid}" for uid in shown}
        for page in pages:
            wanted |= {f"{kind}/{page['metadata']['name']}" for kind in ("configmaps", "deployments", "services")}
        until(lambda: set(self.maintenance.ours()) == wanted, "nothing but what is needed")

    def now(self) -> list[Body]:
        listed = self.maintenance.api.get(INGRESSES.format(self.maintenance.namespace))[1]["items"]
        return sorted(listed, key=lambda item: str(item["metadata"]["name"]))


def shows(item: Body) -> str:
    name: str = item["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"]
    return name if name.startswith("maintenance-") else ""


def make_routes(maintenance: Maintenance, count: int) -> list[Body]:
    routes = [ingress(maintenance.namespace, f"r{n:03}", f"r{n:03}.example.com") for n in range(count)]
    return maintenance.api.create_many(INGRESSES.format(maintenance.namespace), routes)


def test_fifty_routes_of_twenty_workers_share_one_page_without_a_leak(maintenance: Maintenance) -> None:
    crowd = Crowd(maintenance, make_routes(maintenance, ROUTES))
    before = [shape(item) for item in crowd.now()]
    _status, listed = maintenance.api.get(INGRESSES.format(maintenance.namespace))
    since = listed["metadata"]["resourceVersion"]
    some = [("enabled", "disabled")[worker % 2] for worker in range(WORKERS)]
    others = [("disabled", "enabled")[worker % 2] for worker in range(WORKERS)]

    for wishes in (["enabled"] * WORKERS, ["disabled"] * WORKERS, some, others, ["disabled"] * WORKERS):
        crowd.at_once(wishes)
        crowd.check(wishes)

    assert [shape(item) for item in crowd.now()] == before
    assert gaps(maintenance, since) == []


def gaps(maintenance: Maintenance, since: str) -> list[str]:
    """Moments at which a route showed a page that was not all there, from everything the server has stored since."""
    there: set[tuple[str, str]] = set()
    showing: dict[str, str] = {}
    found = []
    for item, deleted in history(maintenance, since):
        kind, name = item["kind"], item["metadata"]["name"]
        if kind == "Ingress":
            showing[name] = shows(item)
        elif deleted:
            there.discard((kind, name))
        else:
            there.add((kind, name))
        for route, page in showing.items():
            missing = [part for part in PARTS if page and (part, page) not in there]
            if missing:
                found.append(f"{item['metadata']['resourceVersion']}: {route} shows {page} without {missing}")
    return found


def history(maintenance: Maintenance, since: str) -> list[tuple[Body, bool]]:
    """Every write to routes and to parts of pages, and whether it was the last one, in the order they were stored."""
    api, namespace = maintenance.api, maintenance.namespace
    ours = {"labelSelector": "app.kubernetes.io/managed-by=sunset.kube"}
    watched: dict[str, dict[str, str]] = {
        INGRESSES.format(namespace): {},
        f"/api/v1/namespaces/{namespace}/configmaps": ours,
        f"/api/v1/namespaces/{namespace}/services": ours,
        f"/apis/apps/v1/namespaces/{namespace}/deployments": ours,
    }
    events = [
        (event["object"], event["type"] == "DELETED")
        for path, query in watched.items()
        for event in api.watch(path, seconds=1, resourceVersion=since, **query)
    ]
    return sorted(events, key=lambda event: int(event[0]["metadata"]["resourceVersion"]))


def test_a_page_that_somebody_claims_while_it_is_about_to_end_stays(
    maintenance: Maintenance, faults: FaultProxy
) -> None:
    [_mine, other] = make_routes(maintenance, 2)
    only_mine = [{"namespace": maintenance.namespace, "name": "r000"}]
    succeeded(maintenance("enabled", targets=only_mine))
    [page] = maintenance.pages()
    place = maintenance.api.path_of({**page, "apiVersion": "v1", "kind": "ConfigMap"})
    held = faults.add(Rule(SlowRequest(2), method="DELETE", path=f"{place}$", times=1))

    with ThreadPoolExecutor(1) as pool:
        options = {**QUICKLY, "targets": only_mine, "state": "disabled"}
        ending = pool.submit(run_job, job.JOB, options, faults.kubeconfig(maintenance.user))
        until(lambda: held.hits or ending.done(), "the end of the page", timeout=PATIENCE, every=0.01)
        claim = {"op": "add", "path": "/metadata/ownerReferences/-", "value": reference(other)}
        assert maintenance.api.patch(place, [claim])[0] == 200
        succeeded(ending.result(PATIENCE))

    [left] = maintenance.pages()
    assert left["metadata"]["uid"] == page["metadata"]["uid"]
    assert owners(left) == [other["metadata"]["uid"]]
    name = page["metadata"]["name"]
    assert maintenance.ours() == [f"configmaps/{name}", f"deployments/{name}", f"services/{name}"]


def reference(item: Body) -> Body:
    names = {key: item["metadata"][key] for key in ("name", "uid")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], **names}


def test_five_hundred_routes_take_few_requests_each(
    maintenance: Maintenance, as_user: AsUser, audit: AuditTrail
) -> None:
    routes = make_routes(maintenance, MANY)
    user = as_user("many", EVERYTHING)
    for state in ("enabled", "disabled"):
        audit.begin_anew()
        result = succeeded(maintenance(state, user=user))
        sent = audit.events(user.name)
        assert result["counts"][state] == MANY
        assert len(sent) <= BUDGET * MANY, told(sent)
        assert len(audit.writes(user.name)) <= 2 * MANY + 10, told(sent)
    crowd = Crowd(maintenance, routes)
    assert [shape(item) for item in crowd.now()] == [shape(item) for item in routes]
    assert maintenance.ours() == []


def told(events: Iterable[AuditEvent]) -> str:
    """How often what was asked, most often first."""
    counted = Counter(f"{event.verb} {event.resource} {'(dry run)' if event.dry_run else ''}" for event in events)
    return ", ".join(f"{number} {what.strip()}" for what, number in counted.most_common())
