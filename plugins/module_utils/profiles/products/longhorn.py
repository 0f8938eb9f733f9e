# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Longhorn 1.x. The order is the one its own uninstaller uses; SystemBackup is ours.

Room: profiles (data).
"""

from __future__ import annotations

from typing import Any

PROFILE: dict[str, Any] = {
    "name": "longhorn",
    "title": "Longhorn",
    "finalizers": ["longhorn.io"],
    "operator_kinds": [
        {"group": "longhorn.io", "kind": "Volume"},
        {"group": "longhorn.io", "kind": "Snapshot"},
        {"group": "longhorn.io", "kind": "Engine"},
        {"group": "longhorn.io", "kind": "Replica"},
        {"group": "longhorn.io", "kind": "BackupVolume"},
        {"group": "longhorn.io", "kind": "Backup"},
        {"group": "longhorn.io", "kind": "SystemBackup"},
        {"group": "longhorn.io", "kind": "BackupTarget"},
        {"group": "longhorn.io", "kind": "EngineImage"},
        {"group": "longhorn.io", "kind": "BackingImage"},
        {"group": "longhorn.io", "kind": "ShareManager"},
        {"group": "longhorn.io", "kind": "BackingImageManager"},
        {"group": "longhorn.io", "kind": "BackingImageDataSource"},
        {"group": "longhorn.io", "kind": "Node"},
        {"group": "longhorn.io", "kind": "InstanceManager"},
        {"group": "longhorn.io", "kind": "Orphan"},
    ],
    "workloads": ["app=longhorn-manager"],
    "external_ids": {
        # The copy of the data on a node's disk, and the backup on remote storage.
        "Replica": ["spec.nodeID", "spec.diskPath", "spec.dataDirectoryName"],
        "Backup": ["status.url"],
        "BackupTarget": ["spec.backupTargetURL"],
    },
    "notes": [
        "Deleting a Volume deletes its data on every node. Workloads and claims must be gone before.",
        "Deleting a Backup or BackupVolume also deletes the remote copy: empty the backup target first to keep it.",
        "Longhorn's own uninstaller refuses to start until the setting deleting-confirmation-flag is true.",
    ],
}
