# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rook 1.x for Ceph. A finalizer is the kind in small letters, before the group.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "rook",
    "title": "Rook Ceph",
    "finalizers": ["ceph*.ceph.rook.io", "ceph.rook.io/disaster-protection"],
    # Keys and addresses of the monitors: without them nobody gets at the data again. Never deleted here.
    "user_kinds": [
        {"group": "", "kind": "Secret", "finalizers": ["ceph.rook.io/disaster-protection"]},
        {"group": "", "kind": "ConfigMap", "finalizers": ["ceph.rook.io/disaster-protection"]},
    ],
    # What lives in a store, a filesystem or a pool goes before it, and the cluster last.
    "operator_kinds": [
        {"group": "ceph.rook.io", "kind": "CephBucketTopic"},
        {"group": "ceph.rook.io", "kind": "CephObjectStoreUser"},
        {"group": "ceph.rook.io", "kind": "CephObjectStoreAccount"},
        {"group": "ceph.rook.io", "kind": "CephNFS"},
        {"group": "ceph.rook.io", "kind": "CephNVMeOFGateway"},
        {"group": "ceph.rook.io", "kind": "CephObjectStore"},
        {"group": "ceph.rook.io", "kind": "CephObjectZone"},
        {"group": "ceph.rook.io", "kind": "CephFilesystemSubVolumeGroup"},
        {"group": "ceph.rook.io", "kind": "CephFilesystem"},
        {"group": "ceph.rook.io", "kind": "CephClient"},
        {"group": "ceph.rook.io", "kind": "CephBlockPoolRadosNamespace"},
        {"group": "ceph.rook.io", "kind": "CephBlockPool"},
        {"group": "ceph.rook.io", "kind": "CephCluster"},
    ],
    "workloads": ["operator=rook,storage-backend=ceph"],
    "external_ids": {"CephCluster": ["status.ceph.fsid", "spec.dataDirHostPath"]},
    "notes": [
        "Deleting a pool, filesystem or object store deletes its data. Its claims and buckets must go first.",
        "The disks keep their data, unless the CephCluster's cleanupPolicy.confirmation is yes-really-destroy-data.",
        "Save the monitors' Secret and ConfigMap before letting them go: they are the way back to the data.",
    ],
}
