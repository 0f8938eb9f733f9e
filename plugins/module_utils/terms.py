# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is approved together with the objects of a plan: which cluster, and the options that decide what may happen.

Shared by all rooms, pure. Every option of a job is part of the hash, unless the job says why not (`Job.unhashed`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

_LENGTH = 16


@dataclass(frozen=True)
class Terms:
    """`clusters`: "" is the one the plan is for; others by the name the options give them, each by its identity."""

    clusters: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The same for all plans that were approved under the same terms, whatever objects are in them."""
        return self.hash_of(None)

    def hash_of(self, content: Any) -> str:
        """The hash of a plan with this content."""
        whole = [dict(self.clusters), _canonical(self.options), content]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:_LENGTH]

    def as_dict(self) -> dict[str, Any]:
        return {"clusters": dict(self.clusters), "options": _canonical(self.options)}


def hashed_options(
    params: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]], unhashed: Collection[str]
) -> dict[str, Any]:
    """The options that are part of a plan's hash. One left out and an empty one say the same; secrets are not shown."""
    found: dict[str, Any] = {}
    for name in sorted(arguments.keys() - set(unhashed)):
        value = _canonical(params.get(name))
        if value not in (None, [], {}):
            found[name] = Terms().hash_of(value) if arguments[name].get("no_log") else value
    return found


def _canonical(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(inner) for inner in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
