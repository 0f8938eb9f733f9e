# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kyverno 1.x, where it is told to delete its webhooks by finalizers (off by default).

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "kyverno",
    "title": "Kyverno",
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
    "workloads": ["app.kubernetes.io/part-of=kyverno"],
    "notes": [
        "Delete Kyverno's webhook configurations before its pods: left behind, they can refuse every change.",
        "There are finalizers only where autoDeleteWebhooks is on; they hold Kyverno's own roles and Deployments.",
        "Policies have no finalizer: they go with their definitions, and nothing is enforced from then on.",
    ],
}
