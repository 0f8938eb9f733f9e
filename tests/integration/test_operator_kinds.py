# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of the operator, end to end: a pod of its image on a real kubelet, and resources as people apply them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from integration import fleets
from integration.glue import request, why
from integration.in_cluster import HOME, PATIENCE, InCluster, offer_page_image
from integration.maintaining import Maintenance, ingress, ingress_route, services_in
from integration.nmstate_fleet import FINALIZER, Fleet
from integration.stage import CLEANUP, GROUP, Body, Stage, config_map, widget
from lab.node import workloads
from lab.node.node import Node
from lab.operator.pod import Operator
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

MANAGED = {"sunset.dev/managed": "true"}
ENABLED = "maintenance-operator.mithucste30.io/enabled"


@pytest.fixture(scope="module")
def running(
    plane: ControlPlane, node: Node, hub_kinds: None, nmstate_kinds: None, route_kinds: None
) -> Iterator[Operator]:
    """With everything it can watch."""
    watched = ("ocm", "nmstate", "routes", "traefik")
    rights = ("uninstall", "drain-ngrok", "freeze", "force", "maintenance", "managed-clusters", "network-revert")
    with Operator.start(plane, node, rights=rights, components=watched) as operator:
        offer_page_image(node)
        # Kinds of the tests themselves, which no product's role names.
        rules = [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get", "list", "watch", "delete", "patch"]}]
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "sunset-lab", "labels": {"sunset.dev/aggregate-to-operator": "true"}},
            "rules": rules,
        }
        plane.api.create(role)
        operator.wait_until_leading()
        yield operator
        plane.api.delete(plane.api.path_of(role))


@pytest.fixture
def cluster(running: Operator) -> InCluster:
    return InCluster(running)


def documents(*things: Body) -> list[dict[str, Any]]:
    return [{key: thing[key] for key in ("apiVersion", "kind", "metadata")} for thing in things]


def test_an_uninstall_is_planned_approved_and_done_while_another_one_waits(cluster: InCluster, stage: Stage) -> None:
    things = [config_map(name, stage.namespace) for name in ("first", "second")]
    first, second = stage.put(*things)
    asked = [cluster.ask("Uninstall", thing["metadata"]["name"], manifests=documents(thing)) for thing in things]
    plans = [cluster.until(item, "Planned") for item in asked]
    assert not stage.is_gone(first)
    cluster.change(asked[0], approve=plans[0]["planHash"])
    done = cluster.until(asked[0], "Completed")
    assert stage.is_gone(first)
    assert not stage.is_gone(second)
    assert done["survivors"] == []
    said = cluster.api.get(f"/api/v1/namespaces/{HOME}/events", fieldSelector="involvedObject.name=first")[1]
    assert {"AwaitingApproval", "Completed"} <= {event["reason"] for event in said["items"]}
    for item in asked:
        cluster.remove(item)


def test_a_drain_runs_when_it_is_deleted_and_holds_until_it_is_done(cluster: InCluster, stage: Stage) -> None:
    """The hook before an uninstallation. What blocks is named, tried again, and done when the obstacle goes."""
    [held] = stage.hang(widget("held", stage.namespace, CLEANUP, "other.example.com/hold"))
    profile = {"name": "own", "finalizers": [CLEANUP], "operatorKinds": [{"group": GROUP, "kind": "Widget"}]}
    spec = {"profile": profile, "policy": "Delete", "instance": {"namespaces": [stage.namespace]}, "timeout": 10}
    asked = cluster.ask("Drain", "own", onDeletion=True, **spec)
    cluster.until(asked, "Planned")
    assert not stage.is_gone(held)
    cluster.api.delete(cluster.api.path_of(asked))
    blocked = cluster.until(asked, "Blocked")
    assert blocked["drainStatus"] == "failed"
    assert [row["name"] for row in blocked["survivors"]] == ["held"]
    stage.release(held)
    until(lambda: cluster.status(asked) == {}, "the Drain to go by itself", timeout=PATIENCE, every=0.25)
    assert stage.is_gone(held)


def test_a_maintenance_shows_its_page_and_ends_by_itself(cluster: InCluster, maintenance_on_node: Maintenance) -> None:
    there = maintenance_on_node
    workloads.start_app(cluster.api, there.namespace, "shop")
    [route] = cluster.api.create(ingress(there.namespace))
    asked = cluster.api.create(
        request("Maintenance", "night", there.namespace, end="40s", linger=0, reopenEndpoints=False)
    )[0]
    cluster.until(asked, "Progressing")
    until(lambda: services_in(there.live(route)) != {"shop"}, "the page", timeout=PATIENCE, every=0.25)
    cluster.until(asked, "Completed")
    assert services_in(there.live(route)) == {"shop"}
    cluster.remove(asked)


def test_a_maintenance_that_is_deleted_gives_its_routes_back(
    cluster: InCluster, maintenance_on_node: Maintenance
) -> None:
    there = maintenance_on_node
    workloads.start_app(cluster.api, there.namespace, "shop")
    [route] = cluster.api.create(ingress(there.namespace))
    asked = cluster.api.create(request("Maintenance", "open", there.namespace, linger=0, reopenEndpoints=False))[0]
    until(lambda: services_in(there.live(route)) != {"shop"}, "the page", timeout=PATIENCE, every=0.25)
    cluster.remove(asked)
    assert services_in(there.live(route)) == {"shop"}


@pytest.mark.parametrize("kind", ["Ingress", "IngressRoute"])
def test_a_route_with_the_label_follows_its_annotation(
    cluster: InCluster, maintenance_on_node: Maintenance, kind: str
) -> None:
    there = maintenance_on_node
    workloads.start_app(cluster.api, there.namespace, "shop")
    body = {"Ingress": ingress, "IngressRoute": ingress_route}[kind](there.namespace)
    body["metadata"]["labels"] = MANAGED
    [route] = cluster.api.create(body)
    path = cluster.api.path_of(route)
    cluster.api.patch(path, {"metadata": {"annotations": {ENABLED: "true"}}})
    until(lambda: services_in(there.live(route)) != {"shop"}, "the page", timeout=PATIENCE, every=0.25)
    cluster.api.patch(path, {"metadata": {"annotations": {ENABLED: None}}})
    until(lambda: services_in(there.live(route)) == {"shop"}, "the application", timeout=PATIENCE, every=0.25)


def test_a_cluster_with_the_label_leaves_its_hub_in_order(cluster: InCluster, stage: Stage) -> None:
    name = fleets.member(stage, labels=MANAGED)
    path = f"{fleets.CLUSTERS}/{name}"

    def finalizers() -> list[str]:
        return list(cluster.api.get(path)[1]["metadata"].get("finalizers") or ())

    until(lambda: "sunset.dev/managed-cluster" in finalizers(), "our finalizer", timeout=PATIENCE, every=0.25)
    [addon] = stage.put(fleets.addon("search", name))
    [work] = stage.put(fleets.work("config", name))
    cluster.api.delete(path)
    until(lambda: fleets.is_gone(stage, name), "the cluster to go", timeout=PATIENCE, every=0.25)
    assert stage.is_gone(addon)
    assert stage.is_gone(work)


def test_a_cluster_goes_by_a_resource_of_ours(cluster: InCluster, stage: Stage) -> None:
    name = fleets.member(stage)
    [addon] = stage.put(fleets.addon("search", name))
    asked = cluster.ask("ManagedClusterDeletion", "old", names=[name])
    plan = cluster.until(asked, "Planned")
    assert fleets.is_untouched(stage, name)
    cluster.change(asked, approve=plan["planHash"])
    cluster.until(asked, "Completed")
    assert fleets.is_gone(stage, name)
    assert stage.is_gone(addon)
    cluster.remove(asked)


def test_a_network_policy_is_taken_back_by_a_resource_and_by_its_own_deletion(cluster: InCluster, fleet: Fleet) -> None:
    [node] = fleet.nodes(1)
    before = fleet.interfaces(node)
    with fleet.alive():
        first = fleet.prepared_policy()
        asked = cluster.ask("NetworkRevert", "vlan", nncp=first, approve="always")
        cluster.until(asked, "Completed")
        assert fleet.look(first) is None
        assert fleet.interfaces(node) == before
        cluster.remove(asked)

        second = fleet.prepared_policy()
        path = f"/apis/nmstate.io/v1/nodenetworkconfigurationpolicies/{second}"
        noticed = {"labels": MANAGED, "annotations": {"example.com/noticed": "now"}}
        cluster.api.patch(path, {"metadata": noticed})
        until(
            lambda: FINALIZER in (fleet.there(second)["metadata"].get("finalizers") or ()),
            "our finalizer",
            timeout=PATIENCE,
        )
        cluster.api.delete(path)
        until(lambda: fleet.look(second) is None, "the policy to go", timeout=PATIENCE, every=0.25)
        assert fleet.interfaces(node) == before


def test_a_pod_that_is_killed_in_mid_teardown_goes_on_where_it_was(cluster: InCluster, stage: Stage) -> None:
    things = [config_map("free", stage.namespace), config_map("held", stage.namespace, CLEANUP)]
    free, held = stage.put(*things)
    asked = cluster.ask("Uninstall", "killed", manifests=documents(*things))
    cluster.change(asked, approve=cluster.until(asked, "Planned")["planHash"])
    until(lambda: stage.is_gone(free), "the first object to go", timeout=PATIENCE, every=0.1)
    cluster.operator.restart()
    stage.release(held)
    cluster.until(asked, "Completed")
    assert stage.is_gone(held)
    cluster.remove(asked)


def test_values_of_a_spec_are_never_templates_nor_commands(cluster: InCluster) -> None:
    text = "{{ lookup('ansible.builtin.pipe', 'touch /tmp/sprung') }}$(touch /tmp/sprung)"
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": text, "namespace": "default"}}
    asked = [
        cluster.ask("Uninstall", "trap-1", manifests=[named]),
        cluster.ask("Drain", "trap-2", profile={"name": text, "finalizers": [text]}),
    ]
    # No object has such a name, so the plan is empty; no profile has, so that one is refused.
    cluster.until(asked[0], "Planned")
    assert why(cluster.until(asked[1], "Blocked"))
    assert "sprung" not in cluster.operator.run("ls", "/tmp")
    for item in asked:
        cluster.remove(item)


def test_finished_resources_leave_little_and_deleted_ones_nothing(cluster: InCluster) -> None:
    """ansible-operator keeps a folder for each for ever; ours are cleared up."""
    over = {"start": "2020-01-01T00:00:00Z", "end": "1h"}
    asked = [cluster.ask("Maintenance", f"over-{number}", **over) for number in range(4)]
    for item in asked:
        cluster.until(item, "Completed")
    root = "/tmp/ansible-operator/runner/sunset.dev/v1alpha1/Maintenance"

    def folders() -> int:
        return len(cluster.operator.run("find", root, "-mindepth", "2", "-maxdepth", "2", "-name", "over-*").split())

    assert folders() == 4
    for item in asked[:3]:
        cluster.remove(item)
    cluster.operator.run("find", root, "-name", "over-*", "-exec", "touch", "-d", "2 hours ago", "{}", "+")
    last = cluster.ask("Maintenance", "last", **over)
    cluster.until(last, "Completed")
    until(lambda: folders() <= 1, "the folders of deleted resources to go", timeout=PATIENCE, every=0.5)
    for item in (asked[3], last):
        cluster.remove(item)
