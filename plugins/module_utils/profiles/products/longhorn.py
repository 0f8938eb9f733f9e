# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Longhorn 1.x. The order is the one of its own uninstaller, from 1.9 on.

The places of VolumeAttachment, EngineFrontend, BackupBackingImage and SupportBundle are ours: the uninstaller leaves
the first three to the controllers of what they belong to.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

_KINDS = (
    "Volume",
    "VolumeAttachment",
    "Snapshot",
    "Engine",
    "EngineFrontend",
    "Replica",
    "ShardGroup",
    "Shard",
    # Before what it has copies of: with the target goes the way to the remote copies.
    "BackupTarget",
    "BackupVolume",
    "Backup",
    "BackupBackingImage",
    "SystemBackup",
    "EngineImage",
    "BackingImage",
    "ShareManager",
    "BackingImageManager",
    "BackingImageDataSource",
    "Node",
    "InstanceManager",
    "Orphan",
    "SupportBundle",
)

_WHY = "with a Backup, BackupVolume or BackupBackingImage Longhorn deletes the copy on remote storage"

PROFILE: dict[str, Any] = {
    "name": "longhorn",
    "title": "Longhorn",
    "checked": [
        {"version": "1.7.0", "how": ["source read"]},
        {"version": "1.9.0", "how": ["source read"]},
        {"version": "1.10.0", "how": ["source read", "CRDs applied"]},
        {"version": "1.12.0", "how": ["source read", "CRDs applied"]},
        {"version": "1.12.1", "how": ["source read"]},
    ],
    "finalizers": ["longhorn.io"],
    "operator_kinds": [{"group": "longhorn.io", "kind": kind} for kind in _KINDS],
    "workloads": ["app=longhorn-manager"],
    "external_ids": {
        # The copy of the data on a node's disk, and the backup on remote storage.
        "Replica": ["spec.nodeID", "spec.diskPath", "spec.dataDirectoryName"],
        "Backup": ["status.url"],
        "BackupBackingImage": ["status.url"],
        "BackupTarget": ["spec.backupTargetURL"],
    },
    # Longhorn refuses to delete the target called default without it, from 1.8 on.
    "annotate_before_delete": {"BackupTarget": {"longhorn.io/delete-backup-target-from-longhorn": ""}},
    "refuse_delete_while": [
        {
            "group": "longhorn.io",
            "kind": "BackupTarget",
            "path": "spec.backupTargetURL",
            "why": _WHY,
            "fix": "set it to an empty text first, which keeps the remote backups",
        },
        # Until 1.7 the target is this setting, and the BackupTarget follows it.
        {
            "group": "longhorn.io",
            "kind": "Setting",
            "name": "backup-target",
            "path": "value",
            "why": _WHY,
            "fix": "set it to an empty text first, which keeps the remote backups",
        },
    ],
    "notes": [
        "Deleting a Volume deletes its data on every node. Workloads and claims must be gone before.",
        "Longhorn's webhook puts the finalizer back as long as longhorn-manager runs: for Retain, stop it or delete its"
        " webhook configurations first.",
        "Longhorn's own uninstaller refuses to start until the setting deleting-confirmation-flag is true.",
    ],
}
