# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the key of backups from its Secret; the first task that needs it makes the Secret.

Room: maintenance.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import TYPE_CHECKING

from ..events import Did, Tell
from ..objects import ObjectRef
from ..problems import Refused
from ..well_known import MADE_BY_US, SECRETS
from .backup_key import NO_KEY, BackupKey

if TYPE_CHECKING:
    from ..kube.cluster import Cluster

_ENTRY = "key"
_BYTES = 32


def key_in(place: str, cluster: Cluster, tell: Tell, *, check_mode: bool) -> BackupKey:
    """`place`: namespace/name of the Secret; empty where no backup has to be signed."""
    if not place:
        return NO_KEY
    namespace, _slash, name = place.partition("/")
    found = _read(namespace, name, cluster)
    if found is not None:
        return found
    made = secrets.token_bytes(_BYTES)
    if check_mode:
        return BackupKey(made, place)  # no backup can have been signed with a key that is not there
    body = {
        "metadata": {"name": name, "namespace": namespace, "labels": dict([MADE_BY_US])},
        "type": "Opaque",
        "data": {_ENTRY: base64.b64encode(made).decode()},
    }
    written = cluster.create(SECRETS, namespace, body)
    if written.problem:
        raise written.problem
    if written.changed:
        tell(Did("make", ObjectRef("v1", "Secret", namespace, name), written.effect.value))
    # As it is in the cluster: another task may have been faster.
    found = _read(namespace, name, cluster)
    if found is None:
        raise Refused("cannot sign backups", which=f"with Secret {place}", why="it was deleted while it was made")
    return found


def _read(namespace: str, name: str, cluster: Cluster) -> BackupKey | None:
    item = cluster.read_whole(SECRETS, namespace, name)
    if item is None:
        return None
    try:
        key = base64.b64decode((item.get("data") or {}).get(_ENTRY) or "", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _BYTES:
        raise Refused(
            "cannot sign backups",
            which=f"with Secret {namespace}/{name}",
            why=f"its entry {_ENTRY} has {len(key)} bytes, and a key has {_BYTES} or more",
            next_step="delete the Secret, and the next run makes another one; "
            "pages that are shown then have to be removed from the command line",
        )
    return BackupKey(key, f"{namespace}/{name}")
