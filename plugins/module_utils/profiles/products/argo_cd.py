# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argo CD 2.x and 3.x: Applications with their hooks, ApplicationSets and projects.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

_APPLICATIONS = "app.kubernetes.io/name=argocd-application-controller"
_APPLICATION_SETS = "app.kubernetes.io/name=argocd-applicationset-controller"

PROFILE: dict[str, Any] = {
    "name": "argo-cd",
    "title": "Argo CD",
    "checked": [
        {"version": "2.8.0", "how": ["source read"]},
        {"version": "2.14.0", "how": ["source read"]},
        {"version": "3.2.0", "how": ["source read"]},
        {"version": "3.5.1", "how": ["source read"]},
        {"version": "3.5.6", "how": ["source read", "CRDs applied"]},
    ],
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
        {"group": "argoproj.io", "kind": "ApplicationSet", "finalized_by": [_APPLICATION_SETS]},
        {"group": "argoproj.io", "kind": "Application", "finalized_by": [_APPLICATIONS]},
        {"group": "argoproj.io", "kind": "AppProject", "finalized_by": [_APPLICATIONS]},
    ],
    "workloads": [_APPLICATIONS, _APPLICATION_SETS],
    # Where an Application's workloads run: often another cluster.
    "external_ids": {"Application": ["spec.destination.server", "spec.destination.name"]},
    "notes": [
        "Deleting an Application with the resources finalizer deletes all it deployed, on other clusters too.",
        "Taking the finalizer off first keeps the workloads, and skips the hooks.",
        "An ApplicationSet, or an Application of Applications, makes deleted Applications again: it must go first.",
    ],
}
