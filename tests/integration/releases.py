# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release of each product that its profile is held against. Data only; truth.py says what the fields mean.

ngrok's operator is missing: it is no released Go module, and tests of its profile play it.
"""

from __future__ import annotations

from integration.truth import Module, Truth

_FLUX = "github.com/fluxcd"
_FLUX_MODULES = (
    Module(f"{_FLUX}/flux2/v2", "v2.9.5", "h1:jwCccxvkD+2QnsjN+pl5QqM8KnFUwA8pIoQ1Lf0avkA="),
    Module(f"{_FLUX}/source-controller", "v1.9.5", "h1:MFPyCodUi9hZIMaKDsC/rYbNoyzpvrAdrPVixj7W9F0="),
    Module(f"{_FLUX}/source-controller/api", "v1.9.5", "h1:QwOqmw6/NqOXUR+kGmBJ18CEvthD8DNrSRTtjQG+bHQ="),
    Module(f"{_FLUX}/kustomize-controller", "v1.9.5", "h1:/XY2zy3K7fntyppEXIHG7oRMzmfgIt50eJzUfaPX1Kc="),
    Module(f"{_FLUX}/kustomize-controller/api", "v1.9.5", "h1:Z4CA0cpC9rQmWiJWT9PCNO7+v3PVbAOK+5byHdbtFt8="),
    Module(f"{_FLUX}/helm-controller", "v1.6.4", "h1:u/Ew7LehrwDQaE/NqWdaB3XnNDCxRGDcp1FZl7RKj4g="),
    Module(f"{_FLUX}/helm-controller/api", "v1.6.4", "h1:jDgB87F6RRNF0QEZDAw+8+HPU13toF5IZpPsytA0Nuo="),
    # Of these the release that 2.9.5 has cannot be had; these are the ones before it.
    Module(f"{_FLUX}/notification-controller", "v1.9.3", "h1:vBONN/Lx5aQ2nDnJxYp5Sb0Wsgh13UbuP5A1MK4dmkY="),
    Module(f"{_FLUX}/notification-controller/api", "v1.9.3", "h1:RgpaVPpjICdc9aAAQ6By/Z4uXghm8yDaVy5KuIO5igg="),
    Module(f"{_FLUX}/image-automation-controller", "v1.2.4", "h1:uYtQq2kUb02q6fJE6zT/NdAPLTPLZUOIVp+JGFslW+M="),
    Module(f"{_FLUX}/image-automation-controller/api", "v1.2.4", "h1:EBiu34xHwuXBMJX9LJKi9W9vq3tsfhN54BDjaAWg2XM="),
    Module(f"{_FLUX}/image-reflector-controller", "v1.2.4", "h1:pBC8XOgLXt3VaTzp9k2fYpuR3FFEnZRZBkuSfnGxPhM="),
    Module(f"{_FLUX}/image-reflector-controller/api", "v1.2.4", "h1:A/hf8VmXwJOXesaf4+3aKBp+ofKXjEyV2zDOecqQVLw="),
    Module(f"{_FLUX}/source-watcher/v2", "v2.2.2", "h1:rDqpdZrQ2RM3+k+wGauwXGdI78qIqEG9F6By2hZqV20="),
    Module(f"{_FLUX}/source-watcher/api/v2", "v2.2.2", "h1:D9zHdmLoLl8VI+DgsgAaa6Vc2e1mXGDBn8OaToAhMT4="),
)
_FLUX_CONTROLLERS = (
    "helm-controller",
    "image-automation-controller",
    "image-reflector-controller",
    "kustomize-controller",
    "notification-controller",
    "source-controller",
    "source-watcher",
)

ARGO_CD = Truth(
    profile="argo-cd",
    release="3.5.6",
    modules=(Module("github.com/argoproj/argo-cd/v3", "v3.5.6", "h1:twzdsPiPufKLRtEqD1Jg3FqtuZmSHLTIxs7t6fSkjlk="),),
    definitions="manifests/crds/*-crd.yaml",
    writers={
        # Also on the Applications that it makes.
        r"applicationset/controllers/applicationset_controller\.go": ("ApplicationSet", "Application"),
        r"pkg/apis/application/v1alpha1/types\.go": ("Application",),
        r"cmd/argocd/commands/(?:admin/)?(?:app|backup)\.go": (),  # commands of a person
    },
    controllers=("argocd-application-controller", "argocd-applicationset-controller"),
    manifests="manifests/install.yaml",
    cleaners={
        "Application": "argocd-application-controller",
        "ApplicationSet": "argocd-applicationset-controller",
        "AppProject": "argocd-application-controller",
    },
    # Stages of the hooks: the constant and one more word.
    elsewhere=frozenset(
        {
            "pre-delete-finalizer.argocd.argoproj.io/cleanup",
            "post-delete-finalizer.argocd.argoproj.io/cleanup",
        }
    ),
    unheld=frozenset({"AppProject"}),  # only removed by it, where a person has set one
)

CERT_MANAGER = Truth(
    profile="cert-manager",
    release="1.21.2",
    modules=(
        Module("github.com/cert-manager/cert-manager", "v1.21.2", "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68="),
    ),
    definitions="deploy/crds/*.yaml",
    writers={r"pkg/controller/acmechallenges/update\.go": ("Challenge",)},
    controllers=("cert-manager",),
    chart="deploy/charts/cert-manager",
    bare=frozenset({"cert-manager.io"}),
    leases={"cert-manager-controller": 'resourceNames: ["cert-manager-controller"]'},
)

CNPG = Truth(
    profile="cnpg",
    release="1.30.1",
    modules=(
        Module(
            "github.com/cloudnative-pg/cloudnative-pg", "v1.30.1", "h1:d1jxp0jQi7/3zrEhsv9ycD+G5ssmkNvDvTmogaGccCw="
        ),
    ),
    definitions="config/crd/bases/*.yaml",
    writers={
        r"internal/management/controller/databaserole_controller\.go": ("DatabaseRole",),
        r"internal/management/controller/finalizers\.go": ("Database", "Publication", "Subscription"),
    },
    controllers=("cnpg-controller-manager",),
    manifests="releases/cnpg-1.30.1.yaml",
    unheld=frozenset({"Service"}),  # only removed by it: 1.29 has set them
)

CROSSPLANE = Truth(
    profile="crossplane",
    release="2.4.2",
    modules=(
        Module("github.com/crossplane/crossplane/v2", "v2.4.2", "h1:FKcj7PWCMrRujQ5IOSQ0NRAmokQTJ0MNAc3tpvBVPhg="),
    ),
    definitions="cluster/crds/*.yaml",
    writers={
        r"internal/controller/apiextensions/(?:claim|composite)/reconciler\.go": (),  # kinds of users
        r"internal/controller/apiextensions/(?:definition|offered)/reconciler\.go": ("CompositeResourceDefinition",),
        r"internal/controller/ops/watchoperation/(?:constructor|reconciler)\.go": ("WatchOperation",),
        r"internal/controller/pkg/resolver/reconciler\.go": ("Lock",),
        r"internal/controller/pkg/revision/reconciler\.go": (
            "ConfigurationRevision",
            "FunctionRevision",
            "ProviderRevision",
        ),
        r"internal/controller/protection/usage/reconciler\.go": ("Usage", "ClusterUsage"),
    },
    controllers=("crossplane",),
    chart="cluster/charts/crossplane",
    leases={"crossplane-leader-election-core": '"crossplane-leader-election-core"'},
    # Of crossplane-runtime, which providers are built with.
    elsewhere=frozenset({"finalizer.managedresource.crossplane.io", "in-use.crossplane.io"}),
)

FLUX = Truth(
    profile="flux",
    release="2.9.5",
    modules=_FLUX_MODULES,
    definitions="config/crd/bases/*.yaml",
    writers={r"internal/controller/([a-z]+)_(?:controller|finalize)\.go": ()},
    controllers=_FLUX_CONTROLLERS,
    manifests="config/manager/deployment.yaml",
    labels="manifests/bases/*/labels.yaml",
    cleaners={"Alert": "notification-controller"},
    leases={f"{name}-leader-election": f'controllerName = "{name}"' for name in _FLUX_CONTROLLERS},
    unheld=frozenset({"Alert"}),
)

ISTIO = Truth(
    profile="istio",
    release="1.22 (development)",
    modules=(
        # From the time between 1.21 and 1.22: tags of Istio are no versions of a module.
        Module(
            "istio.io/istio",
            "v0.0.0-20240221233722-55f12a68b4f9",
            "h1:5GGHekbXkCmudaukF/OBpmCvOepnvceLSwMpCphhv5A=",
        ),
    ),
    definitions="manifests/charts/istio-operator/crds/*.yaml",
    writers={
        r"operator/pkg/controller/istiocontrolplane/istiocontrolplane_controller\.go": ("IstioOperator",),
        r"operator/pkg/helmreconciler/prune\.go": (),  # only removes
    },
    controllers=("istio-operator",),
    chart="manifests/charts/istio-operator",
    leases={"istio-operator-lock": 'leaderElectionID := "istio-operator-lock"'},
)

KYVERNO = Truth(
    profile="kyverno",
    release="1.17.2",
    modules=(Module("github.com/kyverno/kyverno", "v1.17.2", "h1:bMbPzBOoD48WTQj4Zswq2PRUpSVKNyGqCD3z/19IyuU="),),
    definitions="config/crds/*/*.yaml",
    writers={
        r"pkg/controllers/webhook/cleanup\.go": (
            "ClusterRole",
            "ClusterRoleBinding",
            "Deployment",
            "Role",
            "RoleBinding",
            "ServiceAccount",
        ),
        r"pkg/cel/matching/predicates/namespace/matcher\.go": (),  # a part of an interface, without any effect
    },
    controllers=("kyverno-admission-controller", "kyverno-cleanup-controller"),
    manifests="config/install-latest-testing.yaml",
    # The finalizers are on parts of the installation.
    bare=frozenset({"kyverno.io", "policies.kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io"}),
    leases={"kyverno": '"kyverno",', "kyverno-cleanup-controller": '"kyverno-cleanup-controller",'},
)
# The profile says that from 1.18 on there are none.
KYVERNO_WITHOUT = Module("github.com/kyverno/kyverno", "v1.19.1", "h1:/MkgFii3/VlQfKR1JpC9tVwNNVNQTt2S4U6qCsafsTU=")

LONGHORN = Truth(
    profile="longhorn",
    release="1.12.0",
    modules=(
        Module("github.com/longhorn/longhorn-manager", "v1.12.0", "h1:XJNQSH1M7P5ot+YoTtpKHTYW3yXNeFLTWbR1My/vs3c="),
    ),
    definitions="k8s/crds.yaml",
    writers={
        r"webhook/resources/([a-z]+)/mutator\.go": (),
        r"webhook/common/common\.go": (),  # what the others call
        r"util/k8s\.go": (),
    },
    controllers=("longhorn-manager",),
    constants=r'\bGroupName = "([^"]+)"',
    # The last two are of 1.12.1 and later.
    unheld=frozenset({"InstanceManager", "Shard", "ShardGroup"}),
)

ROOK = Truth(
    profile="rook",
    release="1.20.4",
    modules=(Module("github.com/rook/rook", "v1.20.4", "h1:ryA86Lh37Eh79k6lGsUyFYmZKRlLxkfFSzyNGwSflmo="),),
    definitions="deploy/examples/crds.yaml",
    writers={
        r"ceph/client/controller\.go": ("CephClient",),
        r"ceph/cluster/controller\.go": ("CephCluster",),
        r"ceph/cluster/mon/mon\.go": ("ConfigMap",),
        r"ceph/controller/cluster_info\.go": ("Secret",),
        r"ceph/controller/finalizer\.go": (),  # what the others call
        r"ceph/file/controller\.go": ("CephFilesystem",),
        r"ceph/file/subvolumegroup/controller\.go": ("CephFilesystemSubVolumeGroup",),
        r"ceph/nfs/controller\.go": ("CephNFS",),
        r"ceph/nvmeof/controller\.go": ("CephNVMeOFGateway",),
        r"ceph/object/account/controller\.go": ("CephObjectStoreAccount",),
        r"ceph/object/controller\.go": ("CephObjectStore",),
        r"ceph/object/topic/controller\.go": ("CephBucketTopic",),
        r"ceph/object/user/controller\.go": ("CephObjectStoreUser",),
        r"ceph/object/zone/controller\.go": ("CephObjectZone",),
        r"ceph/pool/controller\.go": ("CephBlockPool",),
        r"ceph/pool/radosnamespace/controller\.go": ("CephBlockPoolRadosNamespace",),
    },
    controllers=("rook-ceph-operator",),
    manifests="deploy/examples/operator.yaml",
    values={"CustomResourceGroup": "ceph.rook.io"},
    by_kind="{}.ceph.rook.io",
    # Their finalizer is of a library that others use, too; the profile has a note on it.
    bare=frozenset({"objectbucket.io"}),
)

TRUTHS = (ARGO_CD, CERT_MANAGER, CNPG, CROSSPLANE, FLUX, ISTIO, KYVERNO, LONGHORN, ROOK)
