# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a page set on a real API server: accepted to the letter, also where Pods are restricted."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.maintenance.page_set import (
    Autoscaling,
    Workload,
    config_map,
    page_set,
    pod_to_try,
)
from ansible_collections.sunset.kube.plugins.module_utils.maintenance.pages.bundle import (
    MOST_BYTES,
    Answering,
    Bundle,
    PageSource,
    build_bundle,
)
from lab.plane.controlplane import ControlPlane

PLURALS = {
    "ConfigMap": "api/v1/namespaces/{}/configmaps",
    "Pod": "api/v1/namespaces/{}/pods",
    "Service": "api/v1/namespaces/{}/services",
    "Deployment": "apis/apps/v1/namespaces/{}/deployments",
    "PodDisruptionBudget": "apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "HorizontalPodAutoscaler": "apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
}
EVERYTHING = Workload(
    autoscaling=Autoscaling(2, 4),
    pull_secrets=("registry",),
    run_as_user=101,
    node_selector={"disk": "fast"},
    tolerations=({"key": "night", "operator": "Exists"},),
    labels={"team": "shop"},
    annotations={"example.org/note": "x"},
    service_type="NodePort",
    service_annotations={"example.org/note": "x"},
)
BIG = PageSource(html="x" * 900_000)


def tried(plane: ControlPlane, one: dict[str, Any]) -> str:
    """What the server says to a dry run that forgives no unknown field; empty when it has nothing to say."""
    path = "/" + PLURALS[one["kind"]].format(one["metadata"]["namespace"])
    status, answer = plane.api.post(path, one, dryRun="All", fieldValidation="Strict")
    return "" if status == 201 else f"{one['kind']}: {status} {answer.get('message')}"


@pytest.mark.parametrize(
    ("source", "workload"),
    [
        (PageSource(), Workload()),
        (PageSource(), EVERYTHING),
        (BIG, Workload(kind="pod")),
        (PageSource(), Workload(replicas=1, resources={})),
    ],
    ids=["plain", "every choice", "a pod and a big page", "one replica"],
)
def test_a_restricted_namespace_accepts_every_object(
    plane: ControlPlane, namespace: str, source: PageSource, workload: Workload
) -> None:
    restricted = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    assert plane.api.patch(f"/api/v1/namespaces/{namespace}", restricted)[0] == 200
    bundle = build_bundle(source, Answering())
    owner = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "shop", "uid": "r-1"}
    root = config_map(bundle, namespace, [owner])
    made = [root, *page_set(bundle, namespace, workload, "c-1"), pod_to_try(bundle, namespace, workload)]
    assert [complaint for one in made if (complaint := tried(plane, one))] == []


def test_our_limit_of_a_pages_size_is_the_servers(plane: ControlPlane, namespace: str) -> None:
    small = build_bundle(PageSource(), Answering())
    rest = sum(len(text.encode()) for name, text in small.files.items() if name != "page.html")
    largest = build_bundle(PageSource(html="x" * (MOST_BYTES - rest)), Answering())
    assert tried(plane, config_map(largest, namespace)) == ""
    one_more = {**largest.files, "page.html": largest.files["page.html"] + "x"}
    assert "422" in tried(plane, config_map(Bundle(one_more, largest.digest, largest.image), namespace))
