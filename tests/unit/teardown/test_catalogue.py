# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The catalogue of finalizers."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.profiles.finalizer_alternatives import ALTERNATIVES
from ansible_collections.sunset.kube.plugins.module_utils.profiles.finalizer_controllers import (
    BY_KIND,
    OWN_CONTROLLERS,
)
from ansible_collections.sunset.kube.plugins.module_utils.profiles.finalizers import KnownFinalizer
from ansible_collections.sunset.kube.plugins.module_utils.profiles.known_finalizers import KNOWN_FINALIZERS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.holders import LOSSES
from ansible_collections.sunset.kube.plugins.module_utils.teardown.catalogue import controllers_behind, known
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
    "a Service of GKE": ("gke.networking.io/l4-ilb-v2", "the GKE load balancer controller", "money"),
    "a Service of GKE with endpoint groups": (
        "gke.networking.io/l4-netlb-v3",
        "the GKE load balancer controller",
        "money",
    ),
    "a claim that is being cloned": (
        "provisioner.storage.kubernetes.io/cloning-protection",
        "the CSI provisioner",
        "data",
    ),
    "an ExternalSecret": (
        "externalsecrets.external-secrets.io/externalsecret-cleanup",
        "External Secrets",
        "leftovers",
    ),
    "a SecretStore": ("secretstore.externalsecrets.io/finalizer", "External Secrets", "leftovers"),
    "a role of runners": ("actions.github.com/cleanup-protection", "GitHub Actions runner controller", "leftovers"),
    "a ClusterResourceSet": ("addons.cluster.x-k8s.io", "Cluster API", "leftovers"),
    "a MachineDeployment": ("cluster.x-k8s.io/machinedeployment", "Cluster API", "money"),
    "a MachineSet": ("cluster.x-k8s.io/machineset", "Cluster API", "money"),
    "the API server of Calico": ("operator.tigera.io/apiserver-controller", "Tigera operator", "leftovers"),
    "a backup of PostgreSQL": ("internal.percona.com/delete-backup", "Percona operator", "data"),
    "a job of a backup": ("internal.percona.com/keep-job", "Percona operator", "data"),
    "a lock of a copy": ("internal.percona.com/release-lock", "Percona operator", "leftovers"),
    "a bucket of Ceph": ("objectbucket.io/finalizer", "the bucket provisioner", "data"),
    "a DataUpload": ("velero.io/data-upload-download-finalizer", "Velero", "data"),
    "a component of KubeVirt": ("kubevirt.io/virtOperatorFinalizer", "KubeVirt", "leftovers"),
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


# name: (finalizer, kind that carries it, who removes it from there)
BEHIND: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "an Application": (
        "resources-finalizer.argocd.argoproj.io",
        "applications.argoproj.io",
        ("argocd-application-controller",),
    ),
    "an ApplicationSet": (
        "resources-finalizer.argocd.argoproj.io",
        "applicationsets.argoproj.io",
        ("argocd-applicationset-controller",),
    ),
    "a HelmRelease": ("finalizers.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io", ("helm-controller",)),
    "something of Flux": (
        "finalizers.fluxcd.io",
        "",
        (
            *("kustomize-controller", "helm-controller", "source-controller", "notification-controller"),
            *("image-automation-controller", "image-reflector-controller"),
        ),
    ),
    "a managed resource": ("finalizer.managedresource.crossplane.io", "buckets.s3.aws.upbound.io", ()),
    "a server": ("awsmachine.infrastructure.cluster.x-k8s.io", "awsmachines.infrastructure.cluster.x-k8s.io", ()),
    "a topic": ("strimzi.io/topic-operator", "kafkatopics.kafka.strimzi.io", ("topic-operator",)),
    "a RabbitMQ": (
        "deletion.finalizers.rabbitmqclusters.rabbitmq.com",
        "rabbitmqclusters.rabbitmq.com",
        ("rabbitmq-cluster-operator",),
    ),
    "a queue": ("deletion.finalizers.queues.rabbitmq.com", "queues.rabbitmq.com", ("messaging-topology-operator",)),
    "a MongoDB": (
        "percona.com/delete-psmdb-pvc",
        "perconaservermongodbs.psmdb.percona.com",
        ("percona-server-mongodb-operator",),
    ),
    "nobody's": ("example.com/cleanup", "domains.example.com", ()),
}


@pytest.mark.parametrize(("finalizer", "kind", "names"), named(BEHIND))
def test_each_finalizer_has_its_own_controllers(finalizer: str, kind: str, names: tuple[str, ...]) -> None:
    assert controllers_behind(finalizer, kind) == names


def test_every_entry_with_controllers_of_its_own_is_in_the_catalogue() -> None:
    assert {*OWN_CONTROLLERS, *BY_KIND} <= {entry.pattern for entry in KNOWN_FINALIZERS}
