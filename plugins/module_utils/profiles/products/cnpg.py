# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CloudNativePG 1.25 and later: what is declared inside a database server. Clusters carry no finalizer.

DatabaseRole is there from 1.30 on. 1.29 and 1.30 also hold the Services of plugins.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "cnpg",
    "title": "CloudNativePG",
    "checked": [
        {"version": "1.25.0", "how": ["source read"]},
        {"version": "1.29.0", "how": ["source read"]},
        {"version": "1.30.0", "how": ["source read"]},
        {"version": "1.30.1", "how": ["source read", "CRDs applied"]},
    ],
    "finalizers": [
        "cnpg.io/deleteDatabase",
        "cnpg.io/deletePublication",
        "cnpg.io/deleteSubscription",
        "cnpg.io/deleteRole",
        "cnpg.io/cleanupPlugin",
    ],
    # Services that register a plugin: part of the plugin's installation, not of the operator's.
    "user_kinds": [{"group": "", "kind": "Service", "finalizers": ["cnpg.io/cleanupPlugin"]}],
    "operator_kinds": [
        {"group": "postgresql.cnpg.io", "kind": "Subscription"},
        {"group": "postgresql.cnpg.io", "kind": "Publication"},
        {"group": "postgresql.cnpg.io", "kind": "Database"},
        # A role that owns a database goes after it.
        {"group": "postgresql.cnpg.io", "kind": "DatabaseRole"},
    ],
    "workloads": ["app.kubernetes.io/name=cloudnative-pg"],
    "external_ids": {
        "Subscription": ["spec.cluster.name", "spec.dbname", "spec.name"],
        "Publication": ["spec.cluster.name", "spec.dbname", "spec.name"],
        "Database": ["spec.cluster.name", "spec.name"],
        "DatabaseRole": ["spec.cluster.name", "spec.name"],
    },
    # Each says itself whether it goes from the server too; the default is retain.
    "own_policy": {
        "Subscription": {"path": "spec.subscriptionReclaimPolicy", "deletes": "delete"},
        "Publication": {"path": "spec.publicationReclaimPolicy", "deletes": "delete"},
        "Database": {"path": "spec.databaseReclaimPolicy", "deletes": "delete"},
        "DatabaseRole": {"path": "spec.databaseRoleReclaimPolicy", "deletes": "delete"},
    },
    "notes": [
        "A Cluster has no finalizer: deleting it, or its definition, deletes its pods and volume claims at once.",
        "The finalizers are handled inside the database pods, so the Cluster must run until they are gone.",
        "Backups in object storage are not touched.",
    ],
}
