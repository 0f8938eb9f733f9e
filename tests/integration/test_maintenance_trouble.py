# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals in mid-run, lost answers, signals, few rights, pods that do not start: nothing is lost, and it is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.events import Did
from integration.maintaining import QUICKLY, Body, Maintenance, admission, ingress, services_in, shape
from integration.ranked import failed, succeeded
from integration.running import run_module, run_playbook
from lab.faults import FaultProxy, ResetAfter, Rule
from lab.fixtures import AsUser
from lab.waiting import until


def named(maintenance: Maintenance, *names: str) -> list[Body]:
    return maintenance.api.create(*(ingress(maintenance.namespace, name, f"{name}.example.com") for name in names))


def test_one_route_that_refuses_leaves_all_as_they_were(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    routes = named(maintenance, "a", "b", "refuses", "z")
    probe = named(maintenance, "probe")[0]
    before = [shape(maintenance.live(route)) for route in routes]
    # Dry runs pass, so that it comes as a surprise.
    expression = "request.dryRun == true || !(request.name in ['refuses', 'probe'])"
    targets = [{"namespace": maintenance.namespace, "name": route["metadata"]["name"]} for route in routes]
    with admission(maintenance, expression, probe):
        result = maintenance("enabled", targets=targets, parallel=1)
    assert "this one stays as it is" in failed(result)
    assert [shape(maintenance.live(route)) for route in routes] == before
    assert maintenance.ours() == []
    assert not result["changed"]
    assert {one["state"] for one in result["targets"]} == {"disabled"}
    succeeded(maintenance("enabled", targets=targets))
    succeeded(maintenance("disabled"))
    assert [shape(maintenance.live(route)) for route in routes] == before


def test_answers_that_get_lost_are_not_taken_for_failures(maintenance_on_node: Maintenance, faults: FaultProxy) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    before = shape(maintenance.live(route))
    way = faults.kubeconfig(maintenance.user)
    rules = [
        faults.add(Rule(ResetAfter(), method="POST", path="/configmaps$", query="fieldManager", nth=nth))
        for nth in (1, 2)
    ]
    rules.append(faults.add(Rule(ResetAfter(), method="POST", path="/deployments$", query="fieldManager", nth=1)))
    rules.append(faults.add(Rule(ResetAfter(), method="PATCH", path="/ingresses/web$", query="fieldManager", nth=1)))
    on = succeeded(maintenance.run(way, state="enabled"))
    assert [rule.hits for rule in rules] == [1, 1, 1, 1]
    assert on["changed"]
    assert on["targets"][0]["changed"]
    assert services_in(maintenance.live(route)) == {on["targets"][0]["page"]}
    assert len(maintenance.backups()) == 1

    rules = [faults.add(Rule(ResetAfter(), method="PATCH", path="/ingresses/web$", query="fieldManager", nth=1))]
    rules += [faults.add(Rule(ResetAfter(), method="DELETE", path="/configmaps/", nth=nth)) for nth in (1, 2)]
    off = succeeded(maintenance.run(way, state="disabled"))
    assert [rule.hits for rule in rules] == [1, 1, 1]
    assert off["changed"]
    assert shape(maintenance.live(route)) == before
    until(lambda: maintenance.ours() == [], "the rest of the page to be collected")


def test_told_to_stop_in_mid_run_it_reports_and_the_next_run_goes_on(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    routes = named(maintenance, *(f"r{number}" for number in range(6)))
    before = [shape(maintenance.live(route)) for route in routes]

    def stopped_after(action: str, state: str) -> dict[str, Any]:
        stop = StopSign()

        def listen(event: Any) -> None:
            if isinstance(event, Did) and event.action == action:
                stop.set("SIGTERM")

        return maintenance.run(state=state, parallel=1, stop=stop, on_event=listen)

    result = stopped_after("show page on", "enabled")
    assert "SIGTERM" in failed(result)
    shown = [route for route in routes if services_in(maintenance.live(route)) != {"shop"}]
    assert len(shown) == 1
    assert {route["metadata"]["uid"] for route in shown} <= set(maintenance.backups())
    assert succeeded(maintenance("enabled"))["counts"] == {"targets": 6, "enabled": 6}
    result = stopped_after("take page from", "disabled")
    assert "SIGTERM" in failed(result)
    assert len([route for route in routes if services_in(maintenance.live(route)) == {"shop"}]) == 1
    assert succeeded(maintenance("disabled"))["counts"]["disabled"] == 6
    assert [shape(maintenance.live(route)) for route in routes] == before
    assert maintenance.ours() == []


def test_a_page_that_does_not_start_leaves_the_route_alone_and_says_why(maintenance_on_node: Maintenance) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    before = maintenance.live(route)
    missing = {"image": "lab.invalid/missing:1", "replicas": 1}
    message = failed(maintenance("enabled", workload=missing, timeout=20))
    assert "the page does not get ready" in message
    assert "ErrImagePull" in message or "ImagePullBackOff" in message
    assert maintenance.live(route)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert maintenance.backups() == {}
    assert succeeded(maintenance("disabled"))["changed"]
    assert maintenance.ours() == []


# The least that is needed for Ingresses, in one namespace.
LEAST = [
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["get", "list", "patch"]},
    {"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": ["get", "list", "create", "patch", "delete"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "create", "patch", "delete"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list"]},
]


def test_a_role_in_one_namespace_is_enough(maintenance_on_node: Maintenance, as_user: AsUser) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "exact", "namespace": maintenance.namespace},
        "spec": {"hard": {"pods": "1", "services": "1"}},
    }
    maintenance.api.create(quota)
    before = shape(maintenance.live(route))
    user = as_user("namespaced", LEAST, maintenance.namespace)
    only = [{"namespace": maintenance.namespace, "kind": "Ingress"}]

    on = succeeded(maintenance.run(user.kubeconfig, state="enabled", targets=only, gitops="ignore"))
    assert any("ingressroutes" in text for text in on["unseen"])  # what could not be looked at is said
    # The quota is used up by the page itself: running again needs no second one.
    again = succeeded(maintenance.run(user.kubeconfig, state="enabled", targets=only, gitops="ignore"))
    assert not again["changed"]
    succeeded(maintenance.run(user.kubeconfig, state="disabled", targets=only))
    assert shape(maintenance.live(route)) == before
    until(lambda: maintenance.ours() == [], "the page to be collected")


def test_by_a_playbook_and_as_a_module_with_evidence(maintenance_on_node: Maintenance, tmp_path: Path) -> None:
    maintenance = maintenance_on_node
    (route,) = named(maintenance, "web")
    before = shape(maintenance.live(route))
    options = {**QUICKLY, "targets": [{"namespace": maintenance.namespace}], "headers": {"X-Token": "s3cr3t-value"}}
    task = {"name": "on", "sunset.kube.maintenance": {**options, "evidence_dir": str(tmp_path)}}
    played = run_playbook([task], maintenance.user.kubeconfig, diff=True)
    assert played.rc == 0, played.stdout
    assert played.result["changed"]
    page = played.result["targets"][0]["page"]
    assert f'"name": "{page}"' in played.stdout  # the diff
    files = {file.name for file in Path(played.result["evidence"]).iterdir()}
    assert {"plan.json", "timeline.jsonl", "report.md"} <= files
    plan = json.loads((Path(played.result["evidence"]) / "plan.json").read_text())
    assert plan["targets"][0]["name"] == "web"

    shipped = run_module("maintenance", {**options, "state": "disabled"}, maintenance.user.kubeconfig)
    assert shipped.rc == 0, shipped.stdout
    assert shipped.result["changed"]
    assert shape(maintenance.live(route)) == before
    assert maintenance.ours() == []
