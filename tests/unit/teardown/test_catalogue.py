# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The catalogue of finalizers."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_tree import LOSSES
from ansible_collections.sunset.kube.plugins.module_utils.profiles.finalizer_alternatives import ALTERNATIVES
from ansible_collections.sunset.kube.plugins.module_utils.profiles.finalizers import KnownFinalizer
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_finalizers import KNOWN_FINALIZERS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.catalogue import known
from ansible_collections.sunset.kube.tests.unit.fakes import named

# name: (finalizer as objects carry it, owner, danger)
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "a claim": ("kubernetes.io/pvc-protection", "kube-controller-manager", "data"),
    "an Application": ("resources-finalizer.argocd.argoproj.io/background", "Argo CD", "leftovers"),
    "a group of Ingresses": ("group.ingress.k8s.aws/shop", "aws-load-balancer-controller", "money"),
    "a bucket": ("finalizers.s3.services.k8s.aws/Bucket", "AWS Controllers for Kubernetes", "money"),
    "a virtual machine of a cluster": ("awsmachine.infrastructure.cluster.x-k8s.io", "Cluster API", "money"),
    "a pool of Ceph": ("cephblockpool.ceph.rook.io", "Rook", "data"),
    "a queue": ("deletion.finalizers.queues.rabbitmq.com", "RabbitMQ operators", "data"),
    "a namespace of Rancher": ("controller.cattle.io/namespace-auth", "Rancher", "leftovers"),
}


@pytest.mark.parametrize(("finalizer", "owner", "danger"), named(EXAMPLES))
def test_a_finalizer_is_known_by_the_name_objects_carry(finalizer: str, owner: str, danger: str) -> None:
    entry = known(finalizer)
    assert entry is not None
    assert (entry.owner, entry.danger) == (owner, danger)


@pytest.mark.parametrize("entry", KNOWN_FINALIZERS, ids=lambda entry: entry.pattern)
def test_every_entry_can_be_reached_and_says_what_is_lost(entry: KnownFinalizer) -> None:
    assert known(entry.pattern.replace("*", "x")) == entry, "an earlier pattern hides it"
    assert entry.danger in LOSSES
    assert entry.guards
    assert entry.protected or entry.danger not in ("money", "data")
    assert entry.instead, "a way without force"


def test_there_are_enough_of_them() -> None:
    assert len(KNOWN_FINALIZERS) >= 80


PRODUCTS = (
    *("kube-controller-manager", "the cloud controller", "cert-manager", "Argo CD", "Flux", "Crossplane", "Longhorn"),
    *("Istio operator", "Rook", "Rancher", "Operator Lifecycle Manager", "Cluster API", "Open Cluster Management"),
    *("ngrok operator", "Knative", "Tekton", "External Secrets", "KubeVirt", "Velero", "Kyverno", "CloudNativePG"),
)


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_products_that_people_ask_about_most_are_among_them(product: str) -> None:
    assert any(entry.owner == product for entry in KNOWN_FINALIZERS)


def test_every_alternative_is_of_somebody() -> None:
    owners = {name for entry in KNOWN_FINALIZERS for name in (entry.owner, entry.pattern)}
    assert set(ALTERNATIVES) <= owners
