# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which workloads remove a finalizer, where that is not every workload of its product.

Room: profiles (data). A sibling that runs proves nothing, and one that is down neither. Keys are patterns as in
`known_finalizers.py`.
"""

from __future__ import annotations

# Whatever kind carries it. Empty: a provider of the product removes it, under a name that is not known here.
OWN_CONTROLLERS: dict[str, tuple[str, ...]] = {
    "finalizer.managedresource.crossplane.io": (),
    "in-use.crossplane.io": (),
    "watchoperation.ops.crossplane.io": ("crossplane",),
    "source.extensions.fluxcd.io/finalizer": ("source-watcher",),
    "*.infrastructure.cluster.x-k8s.io": (),
    "*.controlplane.cluster.x-k8s.io": (),
    # Pods of the database, see at_home.py.
    "cnpg.io/delete*": (),
    "deletion.finalizers.rabbitmqclusters.rabbitmq.com": ("rabbitmq-cluster-operator",),
    "deletion.finalizers.*.rabbitmq.com": ("messaging-topology-operator",),
    # A container of the Deployment that Strimzi makes for each Kafka.
    "strimzi.io/topic-operator": ("topic-operator",),
    "chains.tekton.dev*": ("tekton-chains-controller",),
    "results.tekton.dev/*": ("tekton-results-watcher",),
    "*.operator.tekton.dev": ("tekton-operator",),
    "kubevirt.io/virtOperatorFinalizer": ("virt-operator",),
    "velero.io/data-upload-download-finalizer": ("node-agent",),
}

_PERCONA: dict[str, tuple[str, ...]] = {
    "*.pxc.percona.com": ("percona-xtradb-cluster-operator",),
    "*.psmdb.percona.com": ("percona-server-mongodb-operator",),
    "*.pgv2.percona.com": ("percona-postgresql-operator",),
    "*.ps.percona.com": ("percona-server-mysql-operator",),
}

# One name on several kinds: by the kind that carries it, `plural.group` or a glob of that.
BY_KIND: dict[str, dict[str, tuple[str, ...]]] = {
    "resources-finalizer.argocd.argoproj.io*": {
        "applicationsets.argoproj.io": ("argocd-applicationset-controller",),
        "*.argoproj.io": ("argocd-application-controller",),
    },
    "finalizers.fluxcd.io": {
        "*.kustomize.toolkit.fluxcd.io": ("kustomize-controller",),
        "*.helm.toolkit.fluxcd.io": ("helm-controller",),
        "*.source.toolkit.fluxcd.io": ("source-controller",),
        "*.notification.toolkit.fluxcd.io": ("notification-controller",),
        "imageupdateautomations.image.toolkit.fluxcd.io": ("image-automation-controller",),
        "*.image.toolkit.fluxcd.io": ("image-reflector-controller",),
    },
    "percona.com/delete-backup": _PERCONA,
    "percona.com/delete-*": _PERCONA,
    "internal.percona.com/delete-backup": _PERCONA,
    "internal.percona.com/release-lock": _PERCONA,
}
