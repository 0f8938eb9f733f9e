# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The key with which backups are signed, and the signature itself.

Room: maintenance (pure). A backup is a ConfigMap beside its route: every user who may write ConfigMaps there can forge
one. A task that acts with more permissions than those users, the operator's, therefore believes only what it has signed
itself. Tasks of people have no key: they act with their own permissions, and take unsigned backups.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

# In the data of a backup.
SIGNATURE = "hmac"


@dataclass(frozen=True)
class BackupKey:
    """Without a secret nothing is signed, and nothing has to be."""

    secret: bytes = field(default=b"", repr=False)
    where: str = ""  # the Secret it is from

    def signature(self, namespace: str, name: str, data: Mapping[str, str]) -> str:
        """Covers the place of the ConfigMap and all of its data, which names the route by kind, name and uid."""
        signed = {key: value for key, value in data.items() if key != SIGNATURE}
        text = json.dumps(["v1", namespace, name, signed], sort_keys=True)
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def is_genuine(self, namespace: str, name: str, data: Mapping[str, str]) -> bool:
        if not self.secret:
            return True
        # As bytes: of texts, compare_digest takes ASCII only, and this one may hold anything.
        given = str(data.get(SIGNATURE) or "").encode()
        return hmac.compare_digest(self.signature(namespace, name, data).encode(), given)


NO_KEY = BackupKey()
