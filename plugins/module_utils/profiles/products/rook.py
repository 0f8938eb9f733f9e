# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rook 1.x for Ceph. A finalizer is the kind in small letters, before the group.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

_GROUP = "ceph.rook.io"
_KEYS = "ceph.rook.io/disaster-protection"
# What lives in a store, a filesystem or a pool goes before it, and the cluster last.
_KINDS = (
    "CephBucketTopic",
    "CephObjectStoreUser",
    "CephObjectStoreAccount",
    "CephNFS",
    "CephNVMeOFGateway",
    "CephObjectStore",
    "CephObjectZone",
    "CephFilesystemSubVolumeGroup",
    "CephFilesystem",
    "CephClient",
    "CephBlockPoolRadosNamespace",
    "CephBlockPool",
    "CephCluster",
)

PROFILE: dict[str, Any] = {
    "name": "rook",
    "title": "Rook Ceph",
    "checked": [
        {"version": "1.12.0", "how": ["source read"]},
        {"version": "1.18.0", "how": ["source read"]},
        {"version": "1.20.4", "how": ["source read", "CRDs applied"]},
        {"version": "1.20.6", "how": ["source read"]},
    ],
    # Each in full: they guard data, and a glob takes none of these.
    "finalizers": [*(f"{kind.lower()}.{_GROUP}" for kind in _KINDS), _KEYS],
    # Keys and addresses of the monitors: without them nobody gets at the data again. Never deleted here.
    "user_kinds": [
        {"group": "", "kind": "Secret", "finalizers": [_KEYS]},
        {"group": "", "kind": "ConfigMap", "finalizers": [_KEYS]},
    ],
    "operator_kinds": [{"group": _GROUP, "kind": kind} for kind in _KINDS],
    "workloads": ["operator=rook,storage-backend=ceph"],
    "external_ids": {"CephCluster": ["status.ceph.fsid", "spec.dataDirHostPath"]},
    "notes": [
        "Deleting a pool, filesystem or object store deletes its data. Its claims and buckets must go first.",
        "Claimed buckets (ObjectBucketClaim) have objectbucket.io/finalizer, which NooBaa uses, too. It is left: delete"
        " the claims while the operator runs.",
        "The disks keep their data, unless the CephCluster's cleanupPolicy.confirmation is yes-really-destroy-data.",
        "Save the monitors' Secret and ConfigMap before letting them go: they are the way back to the data.",
    ],
}
