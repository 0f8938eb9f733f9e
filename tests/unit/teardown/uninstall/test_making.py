# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Did a product make this object? Every sign, alone and together, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.making import (
    APP_NAME,
    CHART,
    MANAGED_BY,
    Product,
    making_of,
    product_of,
)
from ansible_collections.sunset.kube.tests.unit.fakes import metadata, named

NGROK = product_of(
    {("ops", "ngrok-operator-manager"): {APP_NAME: "ngrok-operator"}},
    [],
    "tunnel",
    ["bindings.k8s.ngrok.com", "cert-manager.io", "gateway.networking.k8s.io", "kustomize.toolkit.fluxcd.io"],
)
OF_GROUP = {"bindings.k8s.ngrok.com/endpoint-binding-name": "x"}
SURE, MAYBE, NO = "sure", "maybe", "no"


def grade(product: Product = NGROK, managers: tuple[str, ...] = (), **meta: Any) -> str:
    fields = [{"manager": name, "operation": "Update"} for name in managers]
    found = making_of(record_of(metadata("x", managedFields=fields, **{"namespace": "shop", **meta})), product)
    return NO if found is None else SURE if found.certain else MAYBE


ONLY, BOTH = ("ngrok-operator",), ("ngrok-operator", "kubectl-edit")
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "its program and a label of its group": (ONLY, {"labels": OF_GROUP}, SURE),
    "its program and managed-by": (ONLY, {"labels": {MANAGED_BY: "ngrok-operator"}}, SURE),
    "its program, in its namespace": (ONLY, {"namespace": "ops"}, SURE),
    "its workload's name as field manager": (("ngrok-operator-manager",), {"namespace": "ops"}, SURE),
    "its program and the cluster's": (("ngrok-operator", "kube-controller-manager"), {"namespace": "ops"}, SURE),
    "its program, and a finalizer that we took off": (("ngrok-operator", "sunset.kube"), {"namespace": "ops"}, SURE),
    "its program alone, elsewhere": (ONLY, {}, MAYBE),
    "its program alone, of the whole cluster": (ONLY, {"namespace": ""}, MAYBE),
    "with a person, and nothing else": (BOTH, {"namespace": "ops"}, NO),
    "with a person, and managed-by": (BOTH, {"labels": {MANAGED_BY: "ngrok-operator"}}, MAYBE),
    "managed-by the release, by whomever": (("velero-server",), {"labels": {MANAGED_BY: "Tunnel"}}, MAYBE),
    "managed-by Helm": (("helm",), {"labels": {MANAGED_BY: "Helm"}, "namespace": "ops"}, NO),
    "a label of its group, by a person": (("kubectl-client-side-apply",), {"labels": OF_GROUP}, NO),
    "a label of its group, by another product": (("other-operator",), {"labels": OF_GROUP}, NO),
    "a label of its group, by a program without a name": (("manager",), {"labels": OF_GROUP}, MAYBE),
    "a label of its group, and nobody knows by whom": ((), {"labels": OF_GROUP}, MAYBE),
    "a label below its group": (("ngrok-operator-x",), {"labels": {"controller.cert-manager.io/fao": "true"}}, MAYBE),
    "a label that only ends alike": ((), {"labels": {"not-cert-manager.io/a": "b"}}, NO),
    "a label of a group that is everybody's": ((), {"labels": {"gateway.networking.k8s.io/gateway-name": "g"}}, NO),
    "a label of who delivered it": ((), {"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, NO),
    "an annotation of its group": ((), {"annotations": OF_GROUP}, NO),
    "written by the cluster alone": (("kube-controller-manager",), {"labels": OF_GROUP}, NO),
    "with an owner": (ONLY, {"labels": OF_GROUP, "ownerReferences": [{"uid": "u"}]}, NO),
    "nothing at all": ((), {}, NO),
}


@pytest.mark.parametrize(("managers", "meta", "expected"), named(CASES))
def test_what_tells_that_it_made_an_object(managers: tuple[str, ...], meta: dict[str, Any], expected: str) -> None:
    assert grade(managers=managers, **meta) == expected


def test_the_reason_names_every_sign() -> None:
    fields = [{"manager": "ngrok-operator"}]
    found = making_of(record_of(metadata("x", managedFields=fields, labels=OF_GROUP)), NGROK)
    assert found is not None
    [key] = OF_GROUP
    assert found.why == f"made by its program ngrok-operator (the only field manager; label {key})"


def test_a_product_is_called_after_its_workloads_their_application_and_its_charts() -> None:
    product = product_of(
        {("ops", "Edge"): {APP_NAME: "tunnel-operator"}},
        [{CHART: "ngrok-operator-0.24.0"}, {CHART: "odd"}, {APP_NAME: "not-of-a-workload"}],
        "prod",
        [],
    )
    assert product.programs == {"edge", "tunnel-operator", "ngrok-operator", "odd"}
    assert (product.names - product.programs, product.homes) == ({"prod"}, {"ops"})


@pytest.mark.parametrize(
    "name",
    [
        *("manager", "controller", "operator", "controller-manager", "api", "a"),
        *("helm", "Helm", "kubectl", "kubectl-edit", "kustomize-controller", "helm-controller", "argocd-controller"),
        *("kube-controller-manager", "kubelet", "kapp-controller", "source-controller", "crossplane", "velero"),
        "sunset.kube",
    ],
)
def test_a_name_that_many_have_says_nothing(name: str) -> None:
    product = product_of({("ops", name): {APP_NAME: name}}, [{CHART: f"{name}-1.0.0"}], name, [])
    assert product.names == frozenset()
    assert grade(product, (name,), namespace="ops", labels={MANAGED_BY: name}) == NO
