# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Crossplane 1.x and 2.x: the kinds of Crossplane itself. Those of providers and of users have no fixed names.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "crossplane",
    "title": "Crossplane",
    "checked": [
        {"version": "1.14.0", "how": ["source read"]},
        {"version": "1.20.0", "how": ["source read"]},
        {"version": "2.0.0", "how": ["source read"]},
        {"version": "2.3.4", "how": ["source read"]},
        {"version": "2.4.2", "how": ["source read", "CRDs applied"]},
    ],
    "finalizers": [
        "usage.apiextensions.crossplane.io",
        "offered.apiextensions.crossplane.io",
        "defined.apiextensions.crossplane.io",
        "watchoperation.ops.crossplane.io",
        "revision.pkg.crossplane.io",
        "lock.pkg.crossplane.io",
        # On kinds without fixed names: claims, composites, managed resources, provider configurations.
        "finalizer.apiextensions.crossplane.io",
        "composite.apiextensions.crossplane.io",
        "finalizer.managedresource.crossplane.io",
        "in-use.crossplane.io",
    ],
    "operator_kinds": [
        # It starts Operations whenever what it watches changes: it must go before anything else does.
        {"group": "ops.crossplane.io", "kind": "WatchOperation"},
        {"group": "protection.crossplane.io", "kind": "Usage"},
        {"group": "protection.crossplane.io", "kind": "ClusterUsage"},
        {"group": "apiextensions.crossplane.io", "kind": "Usage"},
        {"group": "apiextensions.crossplane.io", "kind": "CompositeResourceDefinition"},
        {"group": "pkg.crossplane.io", "kind": "ConfigurationRevision"},
        {"group": "pkg.crossplane.io", "kind": "FunctionRevision"},
        {"group": "pkg.crossplane.io", "kind": "ProviderRevision"},
        {"group": "pkg.crossplane.io", "kind": "Lock"},
    ],
    "workloads": ["app=crossplane"],
    "notes": [
        "Claims, composites, managed resources and provider configurations go first: their kinds are not known here.",
        "Deleting a CompositeResourceDefinition deletes its composites, and with them what they made in the cloud.",
        "Providers must run until the last managed resource is gone, or its cloud part stays and costs money.",
    ],
}
