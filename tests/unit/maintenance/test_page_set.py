# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a page set: who owns whom, who is selected, and what the pods may do."""

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
    Answering,
    PageSource,
    build_bundle,
)
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption

BUNDLE = build_bundle(PageSource(), Answering(image="example.org/nginx@sha256:00"))
UID = "11111111-2222-3333-4444-555555555555"
ROUTE = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "shop", "uid": "r-1", "other": "dropped"}


def made(**choices: Any) -> list[dict[str, Any]]:
    return list(page_set(BUNDLE, "web", Workload(**choices), UID))


def pod_spec(**choices: Any) -> dict[str, Any]:
    spec: dict[str, Any] = made(**choices)[0]["spec"]["template"]["spec"]
    return spec


def test_the_routes_own_the_config_map_and_it_cannot_change() -> None:
    root = config_map(BUNDLE, "web", [ROUTE])
    assert root["immutable"] is True
    assert root["data"] == BUNDLE.files
    assert root["metadata"]["annotations"] == {"sunset.dev/page-digest": BUNDLE.digest}
    assert root["metadata"]["labels"]["sunset.dev/maintenance"] == "page"
    assert root["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "name": "shop",
            "uid": "r-1",
            "controller": False,
            "blockOwnerDeletion": False,
        }
    ]
    assert "ownerReferences" not in config_map(BUNDLE, "web")["metadata"]


def test_the_config_map_owns_everything_else() -> None:
    objects = made(autoscaling=Autoscaling(2, 5))
    assert [one["kind"] for one in objects] == [
        "Deployment",
        "Service",
        "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
    ]
    for one in objects:
        assert (one["metadata"]["name"], one["metadata"]["namespace"]) == (BUNDLE.name, "web")
        (owner,) = one["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("ConfigMap", BUNDLE.name, UID)
        assert owner["blockOwnerDeletion"] is False


def test_only_pods_of_this_very_config_map_are_selected() -> None:
    deployment, service, budget = made()
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels["sunset.dev/page-set-uid"] == UID
    selectors = [
        deployment["spec"]["selector"]["matchLabels"],
        service["spec"]["selector"],
        budget["spec"]["selector"]["matchLabels"],
        *(one["labelSelector"]["matchLabels"] for one in pod_spec()["topologySpreadConstraints"]),
    ]
    assert all(selector == labels for selector in selectors)


def test_no_object_carries_a_mark_of_a_gitops_tool() -> None:
    for one in [config_map(BUNDLE, "web", [ROUTE]), *made(), pod_to_try(BUNDLE, "web", Workload())]:
        assert "app.kubernetes.io/instance" not in one["metadata"]["labels"]


def test_labels_of_the_user_do_not_replace_ours() -> None:
    deployment = made(labels={"team": "shop", "sunset.dev/page-set": "x"})[0]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels["team"] == "shop"
    assert labels["sunset.dev/page-set"] == BUNDLE.id
    assert "team" not in deployment["spec"]["selector"]["matchLabels"]


def test_pods_fit_the_restricted_security_level() -> None:
    spec = pod_spec()
    (container,) = spec["containers"]
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False
    assert {next(iter(set(volume) - {"name"})) for volume in spec["volumes"]} == {"configMap", "emptyDir"}
    assert container["image"] == "example.org/nginx@sha256:00"


def test_the_number_of_pods_never_falls_below_what_was_asked_for() -> None:
    deployment, _service, budget = made(replicas=3)
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert budget["spec"]["minAvailable"] == 1
    # A budget for a single pod would only keep nodes from being drained.
    assert [one["kind"] for one in made(replicas=1)] == ["Deployment", "Service"]


def test_an_autoscaler_begins_at_its_least() -> None:
    deployment, _service, _budget, scaler = made(replicas=9, autoscaling=Autoscaling(2, 5, cpu=60))
    assert deployment["spec"]["replicas"] == scaler["spec"]["minReplicas"] == 2
    assert scaler["spec"]["maxReplicas"] == 5
    assert scaler["spec"]["scaleTargetRef"]["name"] == BUNDLE.name
    assert scaler["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 60


def test_a_single_pod_is_selected_by_the_same_service() -> None:
    pod, service = made(kind="pod", annotations={"a": "b"})
    assert (pod["kind"], pod["metadata"]["annotations"]) == ("Pod", {"a": "b"})
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert pod["spec"] == pod_spec(annotations={"a": "b"})


def test_the_service_offers_http_and_grpc() -> None:
    service = made(service_type="NodePort", service_annotations={"a": "b"})[1]
    assert service["spec"]["type"] == "NodePort"
    assert service["metadata"]["annotations"] == {"a": "b"}
    assert service["spec"]["ports"] == [
        {"name": "http", "port": 80, "targetPort": 8080},
        {"name": "grpc", "port": 8081, "targetPort": 8081, "appProtocol": "kubernetes.io/h2c"},
    ]


def test_choices_reach_the_pods() -> None:
    spec = pod_spec(
        pull_secrets=("one", "two"),
        run_as_user=101,
        node_selector={"disk": "fast"},
        tolerations=[{"operator": "Exists"}],
        resources={"requests": {"cpu": "1"}},
    )
    assert spec["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
    assert spec["securityContext"]["runAsUser"] == 101
    assert spec["nodeSelector"] == {"kubernetes.io/os": "linux", "disk": "fast"}
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["containers"][0]["resources"] == {"requests": {"cpu": "1"}}


def test_the_pod_to_try_has_the_deployments_template_and_no_name_of_its_own() -> None:
    pod = pod_to_try(BUNDLE, "web", Workload(run_as_user=7))
    assert pod["metadata"]["generateName"] == f"{BUNDLE.name}-"
    assert "name" not in pod["metadata"]
    assert pod["spec"]["containers"] == pod_spec(run_as_user=7)["containers"]


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"kind": "job"}, "workload.kind: must be one of deployment, pod"),
        ({"replicas": 0}, "workload.replicas: must be 1 or more"),
        ({"run_as_user": 0}, "never runs as root"),
        ({"service_type": "LoadBalancer"}, "workload.service_type: must be one of ClusterIP, NodePort"),
        ({"autoscaling": Autoscaling(3, 2)}, "needs 1 <= min <= max"),
        ({"autoscaling": Autoscaling(1, 2, cpu=0)}, "must be 1 percent or more"),
        ({"autoscaling": Autoscaling(1, 2), "kind": "pod"}, "a single Pod cannot be scaled"),
        ({"autoscaling": Autoscaling(1, 2), "resources": {}}, "set workload.resources.requests.cpu"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(choices: dict[str, Any], why: str) -> None:
    with pytest.raises(BadOption, match=why):
        made(**choices)
