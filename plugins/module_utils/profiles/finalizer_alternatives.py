# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do rather than remove a finalizer by hand: how each product lets go of things in order.

Room: profiles (data). By the owner's name, or by the pattern of a finalizer where that says more. Whoever is not named
here is started again, and finishes by himself. Commands that name the object are for one kind only: products put the
same finalizer on several, and the name of the one may be that of another.
"""

from __future__ import annotations

# Pattern of a finalizer, or owner of finalizers → what helps.
ALTERNATIVES: dict[str, str] = {
    # Kubernetes
    "foregroundDeletion": "see what holds the dependants, and let these go",
    "orphan": "let kube-controller-manager take the owner off its dependants",
    "customresourcecleanup.apiextensions.k8s.io": "see what holds the objects of this kind, and let these go",
    "kubernetes.io/pvc-protection": "stop the pods that use the claim",
    "kubernetes.io/pv-protection": "delete the claim that is bound to the volume",
    "kubernetes.io/vac-protection": "give the volumes another class first",
    "resource.kubernetes.io/delete-protection": "stop the pods that use the device",
    "networking.k8s.io/service-cidr-finalizer": "delete the Services with addresses from it first",
    "batch.kubernetes.io/job-tracking": "let kube-controller-manager count the pod, or delete its Job",
    "kubernetes": "see what is left in the namespace, and let that go",
    "external-attacher/*": "drain the node that has the disk, so that it is detached",
    "service.kubernetes.io/load-balancer-cleanup": "let the cloud controller delete the load balancer; the"
    " Events of the Service say why it cannot",
    "provisioner.storage.kubernetes.io/*": "start the CSI controller of the storage class again, or delete the claim"
    " that is made from it",
    "gke.networking.io/*": "let GKE delete the load balancer; the Events of the Service say why it cannot",
    # Delivery
    "Argo CD": "start Argo CD again and let it finish",
    "Flux": "start Flux again, or keep what it deployed: set spec.prune to false, or suspend it, before it is deleted",
    "source.extensions.fluxcd.io/finalizer": "start source-watcher again and let it finish",
    "Rancher Fleet": "start fleet-agent again; keepResources: true on the GitRepo leaves what it deployed",
    "Rancher": "start Rancher again, or clean the cluster with Rancher's own cleanup job",
    "Operator Lifecycle Manager": "start olm-operator again and delete the ClusterServiceVersion through it",
    "Karmada": "start karmada-controller-manager again; preserveResourcesOnDeletion leaves what it deployed",
    "Open Cluster Management": "use sunset.kube.managed_cluster, which takes a cluster out in order",
    "Landscaper": "start Landscaper again; its annotation delete-without-uninstall leaves what it deployed",
    # Clouds and servers
    "watchoperation.ops.crossplane.io": "start Crossplane again and let it finish",
    "Crossplane": "start Crossplane and its provider again; deletionPolicy: Orphan leaves what is in the cloud",
    "AWS Controllers for Kubernetes": "start its controller again; services.k8s.aws/deletion-policy: retain leaves"
    " what is in the cloud",
    "Azure Service Operator": "start it again; serviceoperator.azure.com/reconcile-policy: detach-on-delete leaves"
    " what is in the cloud",
    "Config Connector": "start it again; cnrm.cloud.google.com/deletion-policy: abandon leaves what is in the cloud",
    "Cluster API": "start its controllers and those of the provider again; delete the Cluster, not its parts",
    "Karpenter": "start Karpenter again, and see what keeps the node from being drained: PodDisruptionBudgets, mostly",
    "Metal3": "start its operator again, or detach the host: baremetalhost.metal3.io/detached",
    "OpenShift Hive": "start Hive again; spec.preserveOnDelete leaves the cluster",
    "Gardener": "start gardenlet again, and see the errors in the status of the Shoot",
    "HCP Terraform operator": "start it again; deletionPolicy: retain leaves the workspace",
    "Pulumi operator": "start it again; destroyOnFinalize: false leaves what is in the cloud",
    # Storage
    "Longhorn": "start longhorn-manager again, and set deleting-confirmation-flag if Longhorn itself is to go",
    "Rook": "start rook-ceph-operator again; a CephCluster goes after its pools, buckets and file systems",
    "the bucket provisioner": "start the operator of the bucket's storage class again and let it finish",
    "the CSI provisioner": "start the CSI controller of the storage class again, so that it deletes the disk",
    "the snapshot controller": "start snapshot-controller again, and delete what was made from the snapshot first",
    # Applications
    "KubeVirt": "start virt-controller again, and stop the virtual machine that it belongs to first",
    "kubevirt.io/virtOperatorFinalizer": "start virt-operator again, and delete the KubeVirt object through it",
    "Velero": "start Velero again, and see that it reaches the storage location",
    "cert-manager": "start cert-manager again, and see that it reaches the DNS provider",
    "Kyverno": "start Kyverno again, where it is 1.17 or older; later ones never remove it: use sunset.kube.drain with"
    " profile kyverno",
    "ngrok operator": "use sunset.kube.drain with profile ngrok, which lets go in order",
    "CloudNativePG": "let the Cluster of the database run: its pods remove it; databaseReclaimPolicy: retain leaves"
    " what is inside PostgreSQL",
    "cnpg.io/cleanupPlugin": "start the operator of CloudNativePG again and let it finish",
    "pushsecret.externalsecrets.io/finalizer": "start External Secrets again; deletionPolicy: None leaves the secrets"
    " at the provider",
    "secretstore.externalsecrets.io/finalizer": "start External Secrets again, and delete the PushSecrets that use this"
    " store first",
    "Knative": "start its controllers again; delete the parent, not what it made",
    "Tekton": "start it again, and see that it reaches the place where results and signatures are kept",
    "Istio operator": "start istio-operator again, or istioctl uninstall",
    "Strimzi": "start the topic operator again; strimzi.io/managed: false on the topic leaves it in Kafka",
    "KEDA": "start keda-operator again, so that the replica count from before comes back",
    "Grafana operator": "start it again, and see that it reaches Grafana",
    "the gateway controller of its class": "delete the Gateways that have this class first",
    "sunset.kube": "run sunset.kube.nncp_revert",
}


# Owner of finalizers → kind that carries one → what helps while the owner runs, with the object's name.
FOR_THE_KIND: dict[str, dict[str, str]] = {
    "Argo CD": {
        "applications.argoproj.io": "delete the Application without its content:"
        " argocd app delete {name} --app-namespace {namespace} --cascade=false",
    },
    "cert-manager": {
        "challenges.acme.cert-manager.io": "see whether cert-manager reaches the DNS provider:"
        " kubectl -n {namespace} describe challenge {name}",
    },
    "KubeVirt": {
        "virtualmachines.kubevirt.io": "stop the virtual machine first: virtctl stop {name} -n {namespace}",
    },
}


def alternative(pattern: str, owner: str, controllers: tuple[str, ...]) -> str:
    """Never empty: there is always one who should have done it."""
    known = ALTERNATIVES.get(pattern) or ALTERNATIVES.get(owner)
    return known or f"start {controllers[0] if controllers else owner} again and let it finish"
