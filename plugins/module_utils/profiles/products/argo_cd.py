# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argo CD 2.x and 3.x: Applications with their hooks, ApplicationSets and projects.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "argo-cd",
    "title": "Argo CD",
    "finalizers": [
        "resources-finalizer.argocd.argoproj.io",
        "resources-finalizer.argocd.argoproj.io/foreground",
        "resources-finalizer.argocd.argoproj.io/background",
        # Hooks that run before and after an Application is deleted.
        "pre-delete-finalizer.argocd.argoproj.io",
        "pre-delete-finalizer.argocd.argoproj.io/cleanup",
        "post-delete-finalizer.argocd.argoproj.io",
        "post-delete-finalizer.argocd.argoproj.io/cleanup",
    ],
    "operator_kinds": [
        {"group": "argoproj.io", "kind": "ApplicationSet"},
        {"group": "argoproj.io", "kind": "Application"},
        {"group": "argoproj.io", "kind": "AppProject"},
    ],
    "workloads": [
        "app.kubernetes.io/name=argocd-application-controller",
        "app.kubernetes.io/name=argocd-applicationset-controller",
    ],
    # Where an Application's workloads run: often another cluster.
    "external_ids": {"Application": ["spec.destination.server", "spec.destination.name"]},
    "notes": [
        "Deleting an Application with the resources finalizer deletes all it deployed, on other clusters too.",
        "Taking the finalizer off first keeps the workloads, and skips the hooks.",
        "An ApplicationSet, or an Application of Applications, makes deleted Applications again: it must go first.",
    ],
}
