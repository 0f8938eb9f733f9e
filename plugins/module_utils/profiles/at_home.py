# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Products whose controllers always run in the cluster of their objects, under names that charts do not change.

Room: profiles (data). Of these, and only these, not being found proves something. Not in it are products that work on a
cluster from another one (Cluster API, Open Cluster Management, Rancher, Karmada, Gardener, OLM), whose work is spread
over controllers that the catalogue does not all name (Crossplane, Flux, Knative), and everything of clouds.
"""

from __future__ import annotations

# By the owner's name in `known_finalizers.py`.
AT_HOME = frozenset(
    {
        "Argo CD",
        "Argo Workflows",
        "cert-manager",
        "External Secrets",
        "Istio operator",
        "KEDA",
        "Kyverno",
        "KubeVirt",
        "Longhorn",
        "ngrok operator",
        "Rook",
        "Tigera operator",
        "Velero",
    }
)

# Those whose finalizers are removed by pods that no workload stands behind. Their operator says nothing of these.
BY_PODS = {"CloudNativePG": "pods of the database remove it, and no workload stands behind these"}
