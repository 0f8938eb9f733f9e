# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stops deletes and patches, found with a list a kind, and what could not be looked at."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.finding import find_obstacles
from ansible_collections.sunset.kube.plugins.module_utils.teardown.obstacles.obstacle import Obstacle
from ansible_collections.sunset.kube.tests.unit.fakes import DOMAINS, NAMESPACES, VERBS, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    API_SERVICES,
    CONFIG_MAPS,
    DEFINITIONS,
    SERVED,
    SERVICES,
    SLICES,
    WEBHOOKS,
    InMemoryCluster,
    api_error,
)

OLD_DOMAINS = Resource(DOMAINS.group, "v1beta1", DOMAINS.kind, DOMAINS.plural, True, verbs=VERBS)


@pytest.fixture
def cluster() -> InMemoryCluster:
    there = InMemoryCluster(*SERVED, OLD_DOMAINS, API_SERVICES)
    there.add(NAMESPACES, "shop", labels={"team": "a"})
    return there


def guarded(cluster: InMemoryCluster, name: str = "guard", service: str = "guard", **more: Any) -> None:
    rule = {"operations": ["DELETE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    client = {"service": {"namespace": "ops", "name": service}}
    cluster.add(
        WEBHOOKS, name, webhooks=[{"name": f"{name}.example.com", "clientConfig": client, "rules": [rule], **more}]
    )


def serve(cluster: InMemoryCluster, name: str = "guard", *conditions: dict[str, bool], addresses: int = 1) -> None:
    cluster.add(SERVICES, name, "ops", spec={"ports": [{"port": 443}]})
    endpoints = [{"addresses": ["198.18.0.9"] * addresses, "conditions": one} for one in conditions]
    thing = cluster.add(SLICES, f"{name}-x", "ops", labels={"kubernetes.io/service-name": name})
    thing["endpoints"] = endpoints


def found(cluster: InMemoryCluster, *kinds: Resource, namespaces: tuple[str, ...] = ("shop",)) -> list[Obstacle]:
    return find_obstacles(kinds or (CONFIG_MAPS,), namespaces, cluster).found


# name: (conditions of the endpoints, whether somebody answers)
ENDPOINTS: dict[str, tuple[list[dict[str, bool]], bool]] = {
    "none": ([], False),
    "ready": ([{"ready": True}], True),
    "it does not say": ([{}], True),
    "not ready": ([{"ready": False}], False),
    "one of two": ([{"ready": False}, {"ready": True}], True),
}


@pytest.mark.parametrize(("conditions", "answers"), named(ENDPOINTS))
def test_a_webhook_is_dead_without_a_ready_endpoint(
    cluster: InMemoryCluster, conditions: list[dict[str, bool]], answers: bool
) -> None:
    guarded(cluster)
    serve(cluster, "guard", *conditions)
    assert [str(one.ref) for one in found(cluster)] == ([] if answers else ["ValidatingWebhookConfiguration guard"])


def test_a_namespace_that_is_not_asked_about_does_not_count(cluster: InMemoryCluster) -> None:
    guarded(cluster, namespaceSelector={"matchLabels": {"team": "a"}})
    cluster.add(NAMESPACES, "bank", labels={"team": "b"})
    assert found(cluster)
    assert found(cluster, namespaces=("bank",)) == []
    assert found(cluster, namespaces=()) == []


def converting(cluster: InMemoryCluster, *stored: str, strategy: str = "Webhook") -> None:
    hook = {"clientConfig": {"service": {"namespace": "ops", "name": "convert"}}}
    names = {"plural": DOMAINS.plural, "kind": DOMAINS.kind}
    spec = {"group": DOMAINS.group, "names": names, "conversion": {"strategy": strategy, "webhook": hook}}
    cluster.add(DEFINITIONS, DOMAINS.qualified, spec=spec, status={"storedVersions": list(stored)})


def test_a_dead_converter_is_certain_only_if_other_versions_are_stored(cluster: InMemoryCluster) -> None:
    converting(cluster, "v1beta1", "v1")
    [certain] = found(cluster, DOMAINS)
    assert (certain.kind, certain.certain, certain.services) == ("conversion", True, {("ops", "convert")})
    assert "those stored as v1beta1" in certain.why
    assert f"kubectl patch crd {DOMAINS.qualified}" in certain.suggestion
    converting(cluster, "v1")
    [uncertain] = found(cluster, DOMAINS)
    assert not uncertain.certain
    serve(cluster, "convert", {"ready": True})
    assert found(cluster, DOMAINS) == []


def test_a_definition_without_a_converter_or_of_another_kind_is_no_obstacle(cluster: InMemoryCluster) -> None:
    converting(cluster, "v1beta1", strategy="None")
    assert found(cluster, DOMAINS) == []
    converting(cluster, "v1beta1")
    assert found(cluster, CONFIG_MAPS) == []


def announced(cluster: InMemoryCluster, status: str, **more: Any) -> None:
    condition = {"type": "Available", "status": status, "reason": "ServiceNotFound", "message": "no such service."}
    spec = {"group": "metrics.k8s.io", "version": "v1", **more}
    cluster.add(API_SERVICES, "v1.metrics.k8s.io", spec=spec, status={"conditions": [condition]})


def test_an_api_service_that_is_down_is_an_obstacle_whatever_the_kinds_are(cluster: InMemoryCluster) -> None:
    announced(cluster, "False", service={"namespace": "kube-system", "name": "metrics"})
    [down] = found(cluster)
    assert (down.kind, str(down.ref), down.services) == (
        "api service",
        "APIService v1.metrics.k8s.io",
        {("kube-system", "metrics")},
    )
    assert down.why == "no namespace can finish while metrics.k8s.io/v1 does not answer: no such service"
    assert down.suggestion.endswith("kubectl delete apiservice v1.metrics.k8s.io")
    announced(cluster, "True")
    assert found(cluster) == []


def test_certain_ones_come_first(cluster: InMemoryCluster) -> None:
    guarded(cluster, "a-maybe", objectSelector={"matchLabels": {"a": "b"}})
    guarded(cluster, "b-surely")
    assert [one.ref.name for one in found(cluster)] == ["b-surely", "a-maybe"]


def test_it_takes_a_list_a_kind_however_many_webhooks_there_are(cluster: InMemoryCluster) -> None:
    for number in range(50):
        guarded(cluster, f"guard-{number}", f"guard-{number % 3}")
    assert len(found(cluster)) == 50
    assert sorted(cluster.lists) == [
        "apiservices.apiregistration.k8s.io",
        "endpointslices.discovery.k8s.io in namespace ops",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "namespaces",
        "services in namespace ops",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    ]


def test_what_may_not_be_listed_is_said_and_proves_nothing(cluster: InMemoryCluster) -> None:
    guarded(cluster, namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "shop"}})
    for plural in ("services", "apiservices", "namespaces", "mutatingwebhookconfigurations"):
        cluster.unseen[plural] = api_error(403, "Forbidden", "no")
    result = find_obstacles([CONFIG_MAPS], ["shop"], cluster)
    [maybe] = result.found
    assert not maybe.certain
    assert sorted(result.unreadable) == [
        "APIServices: HTTP 403 Forbidden, no",
        "MutatingWebhookConfigurations: HTTP 403 Forbidden, no",
        "Namespaces: HTTP 403 Forbidden, no",
        "Services in ops: HTTP 403 Forbidden, no",
    ]
