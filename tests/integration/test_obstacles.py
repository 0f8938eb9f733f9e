# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stops deletes and patches, found on a real API server before anybody runs into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.cluster import Cluster
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.finding import find_obstacles
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.obstacle import Obstacle
from integration.breaking import dead_converter, dead_webhook, is_refused, somebody_answers
from integration.running import open_cluster
from integration.stage import GROUP, Stage, config_map, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import MASTERS, ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick


@pytest.fixture
def cluster(plane: ControlPlane) -> Iterator[Cluster]:
    with open_cluster(plane.user("looker", (MASTERS,)).kubeconfig) as opened:
        yield opened


def obstacles(cluster: Cluster, stage: Stage, *kinds: str) -> list[Obstacle]:
    found = [cluster.resolve(kind)[0] for kind in kinds]
    every = find_obstacles([kind for kind in found if kind], [stage.namespace], cluster)
    assert every.unreadable == []
    return [one for one in every.found if stage.namespace in str(one)]


def test_a_webhook_whose_service_is_gone_is_found_where_the_server_would_refuse(stage: Stage, cluster: Cluster) -> None:
    (thing,) = stage.put(config_map("a", stage.namespace))
    assert obstacles(cluster, stage, "ConfigMap") == []
    dead_webhook(stage, "configmaps", "DELETE")
    until(lambda: is_refused(stage, thing), "the webhook to be in force", every=0.05)
    [found] = obstacles(cluster, stage, "ConfigMap", "Secret")
    assert found.certain
    assert found.services == {(stage.namespace, "guard")}
    assert f"Service {stage.namespace}/guard does not exist" in found.why
    assert "every delete of configmaps:" in found.why
    assert obstacles(cluster, stage, "Secret") == []


def test_a_webhook_is_found_through_another_version_of_its_kind_and_not_through_another_namespace(
    stage: Stage, cluster: Cluster
) -> None:
    """The rule names v1beta1 only; requests for v1 are intercepted all the same."""
    (thing,) = stage.put(widget("w", stage.namespace))
    rule = {"apiGroups": [GROUP], "apiVersions": ["v1beta1"], "operations": ["DELETE"], "resources": ["*"]}
    dead_webhook(stage, "", "DELETE", rules=[rule])
    until(lambda: is_refused(stage, thing), "the webhook to be in force", every=0.05)
    assert obstacles(cluster, stage, "Widget")
    (kind, _warning) = cluster.resolve("Widget")
    assert kind
    assert not [one for one in find_obstacles([kind], ["default"], cluster).found if stage.namespace in str(one)]


@pytest.mark.parametrize("ready", [True, False])
def test_a_webhook_with_an_endpoint_is_an_obstacle_only_while_that_is_not_ready(
    stage: Stage, cluster: Cluster, ready: bool
) -> None:
    somebody_answers(stage, ready=ready)
    dead_webhook(stage, "configmaps", "DELETE", "UPDATE")
    found = obstacles(cluster, stage, "ConfigMap")
    assert [one.why.split("; ")[0] for one in found] == (
        []
        if ready
        else [f"refuses every delete and update of configmaps: Service {stage.namespace}/guard has no ready endpoint"]
    )


def test_a_converter_that_is_gone_is_found_without_asking_it(stage: Stage, cluster: Cluster, audit: AuditTrail) -> None:
    definition, _stored = dead_converter(stage)
    name = definition["metadata"]["name"]
    [found] = obstacles(cluster, stage, name)
    assert (found.kind, found.certain, found.ref.name) == ("conversion", True, name)
    assert "those stored as v1beta1" in found.why
    asked = [event for event in audit.events("looker") if event.resource == "gizmos"]
    assert asked == []


def test_an_api_group_that_is_down_is_found(stage: Stage, cluster: Cluster, dead_group: str) -> None:
    (kind, _warning) = cluster.resolve("ConfigMap")
    assert kind
    [found] = [one for one in find_obstacles([kind], [], cluster).found if dead_group in one.ref.name]
    assert (found.kind, found.services) == ("api service", {("default", "nobody")})
    assert "default/nobody" in found.suggestion


def test_a_user_without_rights_is_told_what_could_not_be_seen(stage: Stage, as_user: AsUser) -> None:
    dead_webhook(stage, "configmaps", "DELETE")
    user = as_user("narrow-looker", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}])
    with open_cluster(user.kubeconfig) as narrow:
        (kind, _warning) = narrow.resolve("ConfigMap")
        assert kind
        result = find_obstacles([kind], [stage.namespace], narrow)
    assert result.found == []
    assert [line.partition(":")[0] for line in result.unreadable] == [
        "Namespaces",
        "ValidatingWebhookConfigurations",
        "MutatingWebhookConfigurations",
        "APIServices",
    ]
    assert all("403" in line for line in result.unreadable)
