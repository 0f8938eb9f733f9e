# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kyverno until 1.17, where it is told to delete its webhooks by finalizers (off by default).

From 1.18 on it sets none and removes none; those that an older release has left stay until a drain.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "kyverno",
    "title": "Kyverno",
    "checked": [
        {"version": "1.13.0", "how": ["source read"]},
        {"version": "1.17.0", "how": ["source read"]},
        {"version": "1.17.2", "how": ["source read", "CRDs applied"]},
        {"version": "1.18.2", "how": ["source read"]},
    ],
    "finalizers": [
        "kyverno.io/webhooks",
        "kyverno.io/exceptionwebhooks",
        "kyverno.io/celexceptionwebhooks",
        "kyverno.io/globalcontextwebhooks",
        "kyverno.io/policywebhooks",
        "kyverno.io/ttlwebhooks",
    ],
    # Parts of the installation, which Helm deletes: here they are only let go. Policies carry no finalizer.
    "user_kinds": [
        {"group": "rbac.authorization.k8s.io", "kind": "ClusterRoleBinding"},
        {"group": "rbac.authorization.k8s.io", "kind": "ClusterRole"},
        {"group": "rbac.authorization.k8s.io", "kind": "RoleBinding"},
        {"group": "rbac.authorization.k8s.io", "kind": "Role"},
        {"group": "apps", "kind": "Deployment"},
        {"group": "", "kind": "ServiceAccount"},
    ],
    # Two of its four controllers have webhooks; the others neither set nor remove these finalizers.
    "workloads": [
        "app.kubernetes.io/part-of=kyverno,app.kubernetes.io/component=admission-controller",
        "app.kubernetes.io/part-of=kyverno,app.kubernetes.io/component=cleanup-controller",
    ],
    "notes": [
        "Delete Kyverno's webhook configurations before its pods: left behind, they can refuse every change.",
        "There are finalizers only where autoDeleteWebhooks is on; they hold Kyverno's own roles and Deployments.",
        "From 1.18 on Kyverno neither sets nor removes them: what an older release has left, only a drain removes.",
        "Policies have no finalizer: they go with their definitions, and nothing is enforced from then on.",
    ],
}
