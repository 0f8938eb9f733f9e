# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalizers of products: who removes them, by which workloads that one is recognised, and what they guard.

Room: profiles (data). A new product is one entry. Those that guard data or what is paid for are protected: a run that
is told to force what hangs does not know whether that has gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .finalizer_alternatives import alternative
from .finalizer_controllers import BY_KIND, OWN_CONTROLLERS
from .finalizers import BUILT_IN_FINALIZERS, DATA, LEFTOVERS, MONEY, NOTHING, KnownFinalizer


@dataclass(frozen=True)
class Product:
    owner: str
    controllers: tuple[str, ...]
    finalizers: tuple[tuple[str, str, str], ...]  # pattern, what it guards, danger


_PROTECTED = frozenset({MONEY, DATA})
_SERVERS = "servers, disks and networks of a cluster"
_IN_CLOUD = "what it made in the cloud"

PRODUCTS: tuple[Product, ...] = (
    Product(
        "Argo CD",
        ("argocd-application-controller", "argocd-applicationset-controller"),
        (
            ("resources-finalizer.argocd.argoproj.io*", "everything the Application deployed", LEFTOVERS),
            ("pre-delete-finalizer.argocd.argoproj.io*", "hooks that run before a deletion", LEFTOVERS),
            ("post-delete-finalizer.argocd.argoproj.io*", "hooks that run after a deletion", LEFTOVERS),
        ),
    ),
    Product(
        "Argo Workflows",
        ("workflow-controller", "argo-workflows-workflow-controller"),
        (
            ("workflows.argoproj.io/artifact-gc", "artefacts of the workflow on remote storage", DATA),
            ("workflows.argoproj.io/status", "the result of a workflow's pod", NOTHING),
        ),
    ),
    Product(
        "Flux",
        (
            *("kustomize-controller", "helm-controller", "source-controller", "notification-controller"),
            *("image-automation-controller", "image-reflector-controller"),
        ),
        (
            ("finalizers.fluxcd.io", "everything that Flux deployed from it", LEFTOVERS),
            ("source.extensions.fluxcd.io/finalizer", "artifacts that were made from sources", LEFTOVERS),
        ),
    ),
    Product(
        "Rancher Fleet",
        ("fleet-controller", "fleet-agent", "gitjob"),
        (("fleet.cattle.io/*", "what Fleet deployed to clusters", LEFTOVERS),),
    ),
    Product(
        "Rancher",
        ("rancher", "cattle-cluster-agent"),
        (
            ("controller.cattle.io/*", "Rancher's roles and records of it", LEFTOVERS),
            ("clusterscoped.controller.cattle.io/*", "Rancher's roles and records of it in a cluster", LEFTOVERS),
            ("wrangler.cattle.io/*", "records of a controller of Rancher or Harvester", LEFTOVERS),
        ),
    ),
    Product(
        "cert-manager",
        ("cert-manager", "cert-manager-controller"),
        (
            ("finalizer.acme.cert-manager.io", "the DNS record or Ingress of an ACME challenge", LEFTOVERS),
            ("acme.cert-manager.io/finalizer", "the DNS record or Ingress of an ACME challenge", LEFTOVERS),
        ),
    ),
    Product(
        "Crossplane",
        ("crossplane", "crossplane-rbac-manager"),
        (
            ("finalizer.managedresource.crossplane.io", _IN_CLOUD, MONEY),
            ("composite.apiextensions.crossplane.io", "what the composite resource is made of", MONEY),
            ("finalizer.apiextensions.crossplane.io", "what the claim is made of", MONEY),
            ("usage.apiextensions.crossplane.io", "a resource that others still use", DATA),
            ("in-use.crossplane.io", "credentials that managed resources still need", LEFTOVERS),
            ("defined.apiextensions.crossplane.io", "composites of this definition", DATA),
            ("offered.apiextensions.crossplane.io", "claims of this definition", DATA),
            ("watchoperation.ops.crossplane.io", "the watches that start Operations", NOTHING),
            ("revision.pkg.crossplane.io", "definitions that a package installed", LEFTOVERS),
            ("lock.pkg.crossplane.io", "the list of installed packages", LEFTOVERS),
        ),
    ),
    Product("AWS Controllers for Kubernetes", (), (("finalizers.*.services.k8s.aws/*", _IN_CLOUD, MONEY),)),
    Product(
        "Azure Service Operator",
        ("azureserviceoperator-controller-manager",),
        (("serviceoperator.azure.com/finalizer", _IN_CLOUD, MONEY),),
    ),
    Product(
        "Config Connector",
        ("cnrm-controller-manager", "cnrm-deletiondefender"),
        (
            ("cnrm.cloud.google.com/finalizer", _IN_CLOUD, MONEY),
            ("cnrm.cloud.google.com/deletion-defender", "cloud resources from going with their definition", MONEY),
        ),
    ),
    Product(
        "Karpenter",
        ("karpenter",),
        (
            ("karpenter.sh/termination", "a node's virtual machine", MONEY),
            ("karpenter.k8s.aws/termination", "launch templates and roles of nodes", LEFTOVERS),
        ),
    ),
    Product(
        "AWS network policy controller",
        ("amazon-network-policy-controller-k8s",),
        (("networking.k8s.aws/resources", "rules that nodes still enforce", LEFTOVERS),),
    ),
    Product("Pulumi operator", ("pulumi-kubernetes-operator",), (("finalizer.stack.pulumi.com", _IN_CLOUD, MONEY),)),
    Product(
        "HCP Terraform operator",
        ("hcp-terraform-operator", "terraform-cloud-operator"),
        (("*.app.terraform.io/finalizer", "a workspace and what it made in the cloud", MONEY),),
    ),
    Product(
        "Cluster API",
        ("capi-controller-manager",),
        (
            ("cluster.cluster.x-k8s.io", _SERVERS, MONEY),
            ("machine.cluster.x-k8s.io", "a server of a cluster", MONEY),
            ("machinepool.cluster.x-k8s.io", "servers of a cluster", MONEY),
            ("*.infrastructure.cluster.x-k8s.io", _SERVERS, MONEY),
            ("*.controlplane.cluster.x-k8s.io", "the control plane's servers", MONEY),
            ("cluster.x-k8s.io/machinedeployment", "servers of a cluster", MONEY),
            ("cluster.x-k8s.io/machineset", "servers of a cluster", MONEY),
            ("addons.cluster.x-k8s.io", "records of what was put on clusters", LEFTOVERS),
            ("*.addons.cluster.x-k8s.io", "add-ons of a cluster", LEFTOVERS),
            ("*.topology.cluster.x-k8s.io", "templates that only this topology uses", LEFTOVERS),
        ),
    ),
    Product(
        "Metal3",
        ("baremetal-operator-controller-manager", "metal3-baremetal-operator"),
        (("baremetalhost.metal3.io", "a machine that must be wiped and powered off", DATA),),
    ),
    Product(
        "OpenShift Machine API",
        ("machine-api-controllers", "machine-api-operator"),
        (("machine.machine.openshift.io", "a node's server", MONEY),),
    ),
    Product("OpenShift Hive", ("hive-controllers", "hive-operator"), (("hive.openshift.io/*", _SERVERS, MONEY),)),
    Product(
        "OpenShift ingress operator",
        ("ingress-operator",),
        (("ingresscontroller.operator.openshift.io/*", "load balancer and DNS record of the router", MONEY),),
    ),
    Product(
        "SR-IOV network operator",
        ("sriov-network-operator",),
        (("*.finalizers.sriovnetwork.openshift.io", "a network definition in another namespace", LEFTOVERS),),
    ),
    Product(
        "Gardener",
        ("gardenlet", "gardener-controller-manager", "gardener-operator"),
        (
            ("gardener", _SERVERS, MONEY),
            ("gardener.cloud/reference-protection", "something that a cluster still refers to", DATA),
        ),
    ),
    Product(
        "Landscaper",
        ("landscaper", "landscaper-controller"),
        (("finalizer.landscaper.gardener.cloud", "what an installation deployed", LEFTOVERS),),
    ),
    Product(
        "Open Cluster Management",
        (
            "cluster-manager-registration-controller",
            "cluster-manager-work-controller",
            "klusterlet",
            "klusterlet-agent",
        ),
        (
            ("cluster.open-cluster-management.io/manifest-work-cleanup", "what was deployed to a cluster", LEFTOVERS),
            ("cluster.open-cluster-management.io/applied-manifest-work-cleanup", "what was deployed here", LEFTOVERS),
            ("addon.open-cluster-management.io/*", "jobs of an add-on that run before its deletion", LEFTOVERS),
            ("operator.open-cluster-management.io/*", "agents and hub components", LEFTOVERS),
            ("*.open-cluster-management.io/*", "roles and records of a cluster on its hub", LEFTOVERS),
        ),
    ),
    Product(
        "Karmada",
        ("karmada-controller-manager",),
        (("karmada.io/*", "what was deployed to member clusters", LEFTOVERS),),
    ),
    Product(
        "Istio operator",
        ("istio-operator",),
        (("istio-finalizer.install.istio.io", "the control plane that it installed", LEFTOVERS),),
    ),
    Product(
        "the gateway controller of its class",
        (),
        (("gateway-exists-finalizer.gateway.networking.k8s.io", "Gateways that still have this class", NOTHING),),
    ),
    Product(
        "ngrok operator",
        ("ngrok-operator", "ngrok-operator-manager"),
        (
            ("k8s.ngrok.com/finalizer", "domains and endpoints at ngrok", LEFTOVERS),
            ("ngrok.com/finalizer", "domains and endpoints at ngrok", LEFTOVERS),
        ),
    ),
    Product(
        "Tigera operator",
        ("tigera-operator",),
        (
            ("tigera.io/operator-cleanup", "the order in which Calico is taken down", LEFTOVERS),
            ("operator.tigera.io/*-controller", "the order in which Calico is taken down", LEFTOVERS),
        ),
    ),
    Product(
        "Consul",
        ("consul-connect-injector", "consul-controller"),
        (
            ("finalizers.consul.hashicorp.com", "a configuration entry in Consul", LEFTOVERS),
            ("*.finalizers.consul.hashicorp.com", "a registration in Consul", LEFTOVERS),
        ),
    ),
    Product(
        "Vault Secrets Operator",
        ("vault-secrets-operator-controller-manager",),
        (("*.secrets.hashicorp.com/finalizer", "leases and credentials in Vault", LEFTOVERS),),
    ),
    Product(
        "External Secrets",
        ("external-secrets",),
        (
            ("pushsecret.externalsecrets.io/finalizer", "secrets pushed to a provider", LEFTOVERS),
            ("secretstore.externalsecrets.io/finalizer", "a store that pushed secrets are deleted through", LEFTOVERS),
            ("externalsecrets.external-secrets.io/externalsecret-cleanup", "the Secret that it made", LEFTOVERS),
            ("generatorstate.externalsecrets.io/finalizer", "credentials that a generator made", LEFTOVERS),
        ),
    ),
    Product(
        "Gatekeeper",
        ("gatekeeper-controller-manager",),
        (
            ("finalizers.gatekeeper.sh/*", "constraints in force", NOTHING),
            ("constrainttemplate.finalizers.gatekeeper.sh", "the definition of a constraint", LEFTOVERS),
        ),
    ),
    Product(
        "Kyverno",
        ("kyverno", "kyverno-admission-controller", "kyverno-cleanup-controller"),
        (("kyverno.io/*webhooks", "webhooks that would refuse changes after Kyverno is gone", LEFTOVERS),),
    ),
    Product(
        "Longhorn",
        ("longhorn-manager", "longhorn-driver-deployer"),
        (("longhorn.io", "volumes, replicas and backups with their data", DATA),),
    ),
    Product(
        "Rook",
        ("rook-ceph-operator",),
        (
            ("ceph.rook.io/disaster-protection", "keys without which Ceph's data cannot be read", DATA),
            ("ceph*.ceph.rook.io", "pools, file systems and disks of Ceph with their data", DATA),
        ),
    ),
    Product(
        "the bucket provisioner",
        ("rook-ceph-operator", "noobaa-operator"),
        (("objectbucket.io/finalizer", "a bucket with its objects, and the keys to it", DATA),),
    ),
    Product(
        "OpenEBS",
        ("openebs-lvm-localpv-controller", "openebs-zfs-localpv-controller"),
        (
            ("lvm.openebs.io/finalizer", "a logical volume on a node", DATA),
            ("zfs.openebs.io/finalizer", "a ZFS volume on a node", DATA),
        ),
    ),
    Product(
        "TopoLVM",
        ("topolvm-controller", "topolvm-node"),
        (
            ("topolvm.io/logicalvolume", "a logical volume on a node", DATA),
            ("topolvm.io/node", "logical volumes of a node", DATA),
        ),
    ),
    Product(
        "Velero",
        ("velero",),
        (
            ("restores.velero.io/external-resources-finalizer", "records of a restore on remote storage", LEFTOVERS),
            ("velero.io/data-upload-download-finalizer", "a volume that is being saved or restored", DATA),
        ),
    ),
    Product(
        "KubeVirt",
        ("virt-controller", "virt-operator"),
        (
            ("foregroundDeleteVirtualMachine", "a virtual machine that still runs on a node", DATA),
            ("kubevirt.io/virtualMachineControllerFinalize", "a virtual machine's running instance", DATA),
            ("kubevirt.io/migrationJobFinalize", "a migration under way", LEFTOVERS),
            ("kubevirt.io/virtOperatorFinalizer", "the order in which KubeVirt is taken down", LEFTOVERS),
            ("snapshot.kubevirt.io/*", "a snapshot's data", DATA),
        ),
    ),
    Product(
        "CloudNativePG",
        ("cloudnative-pg", "cnpg-controller-manager"),
        (
            ("cnpg.io/delete*", "a database, role, publication or subscription inside PostgreSQL", DATA),
            ("cnpg.io/cleanupPlugin", "the registration of a plugin", NOTHING),
        ),
    ),
    Product(
        "Zalando postgres-operator",
        ("postgres-operator",),
        (("postgres-operator.acid.zalan.do", "a PostgreSQL cluster with its volumes", DATA),),
    ),
    Product(
        "Crunchy Postgres operator",
        ("pgo", "postgres-operator"),
        (("postgres-operator.crunchydata.com/finalizer", "a PostgreSQL cluster that must stop in order", DATA),),
    ),
    Product(
        "Percona operator",
        ("percona-xtradb-cluster-operator", "percona-server-mongodb-operator", "percona-postgresql-operator"),
        (
            ("percona.com/delete-backup", "a backup on remote storage", DATA),
            ("percona.com/delete-*", "a database's pods, volumes or certificates", DATA),
            ("internal.percona.com/delete-backup", "a backup on remote storage", DATA),
            ("internal.percona.com/keep-job", "a backup or restore that is under way", DATA),
            ("internal.percona.com/release-lock", "a lock that others wait for", LEFTOVERS),
        ),
    ),
    Product(
        "RabbitMQ operators",
        ("rabbitmq-cluster-operator", "messaging-topology-operator"),
        (
            ("deletion.finalizers.rabbitmqclusters.rabbitmq.com", "the orderly stop of RabbitMQ", DATA),
            ("deletion.finalizers.*.rabbitmq.com", "queues and users of RabbitMQ", DATA),
        ),
    ),
    Product(
        "Strimzi",
        ("strimzi-cluster-operator", "entity-operator"),
        (("strimzi.io/topic-operator", "a topic in Kafka with its messages", DATA),),
    ),
    Product(
        "ClickHouse operator",
        ("clickhouse-operator",),
        (("finalizer.clickhouseinstallation.altinity.com", "a ClickHouse cluster with its volumes", DATA),),
    ),
    Product(
        "KEDA",
        ("keda-operator",),
        (("finalizer.keda.sh", "an autoscaler and the replica count from before", LEFTOVERS),),
    ),
    Product(
        "VictoriaMetrics operator",
        ("victoria-metrics-operator", "vm-operator"),
        (("apps.victoriametrics.com/finalizer", "monitoring components in order", LEFTOVERS),),
    ),
    Product(
        "Grafana operator",
        ("grafana-operator", "grafana-operator-controller-manager"),
        (("operator.grafana.com/finalizer", "a dashboard, folder or data source in Grafana", LEFTOVERS),),
    ),
    Product(
        "OpenTelemetry operator",
        ("opentelemetry-operator", "opentelemetry-operator-controller-manager"),
        (("opentelemetrycollector.opentelemetry.io/finalizer", "cluster roles of a collector", LEFTOVERS),),
    ),
    Product(
        "Knative",
        ("knative-operator", "eventing-controller"),
        (("*.knative.dev", "routes, brokers or sources that it made", LEFTOVERS),),
    ),
    Product(
        "Tekton",
        ("tekton-chains-controller", "tekton-results-watcher", "tekton-operator"),
        (
            ("chains.tekton.dev*", "a run that is not signed yet", DATA),
            ("results.tekton.dev/*", "a run whose result is not stored yet", DATA),
            ("*.operator.tekton.dev", "components that Tekton's operator installed", LEFTOVERS),
        ),
    ),
    Product(
        "KServe",
        ("kserve-controller-manager",),
        (("inferenceservice.finalizers", "models and services of it", LEFTOVERS),),
    ),
    Product(
        "KubeRay",
        ("kuberay-operator",),
        (("ray.io/gcs-ft-redis-cleanup-finalizer", "the cluster's state in Redis", LEFTOVERS),),
    ),
    Product("Kueue", ("kueue-controller-manager",), (("kueue.x-k8s.io/*", "quota that workloads still use", NOTHING),)),
    Product(
        "GitHub Actions runner controller",
        ("gha-runner-scale-set-controller", "arc-gha-rs-controller"),
        (
            ("actions.github.com/cleanup-protection", "rights and keys with which runners are taken down", LEFTOVERS),
            ("*.actions.github.com/*", "runners that are registered at GitHub", LEFTOVERS),
        ),
    ),
    Product(
        "Operator Lifecycle Manager",
        ("olm-operator", "catalog-operator"),
        (("operators.coreos.com/csv-cleanup", "roles, webhooks and API services of an operator", LEFTOVERS),),
    ),
    Product(
        "sunset.kube",
        (),
        (
            (
                "sunset.dev/nncp-revert",
                "a network policy that is being taken back; run sunset.kube.nncp_revert",
                LEFTOVERS,
            ),
        ),
    ),
)


def _entries(product: Product) -> Iterator[KnownFinalizer]:
    for pattern, guards, danger in product.finalizers:
        yield KnownFinalizer(
            pattern,
            product.owner,
            guards,
            danger,
            OWN_CONTROLLERS.get(pattern, product.controllers),
            danger in _PROTECTED,
            shared=False,
            by_kind=tuple(BY_KIND.get(pattern, {}).items()),
        )


KNOWN_FINALIZERS: tuple[KnownFinalizer, ...] = tuple(
    # Where it depends on the kind, none of the controllers can be named for all of them.
    replace(entry, instead=alternative(entry.pattern, entry.owner, () if entry.by_kind else entry.controllers))
    for entry in (*BUILT_IN_FINALIZERS, *(entry for product in PRODUCTS for entry in _entries(product)))
)
