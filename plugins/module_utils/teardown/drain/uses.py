# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stays keeps what it uses: an endpoint that a person wrote keeps the domain that the operator made for it.

Room: teardown (pure). Only inside one namespace, so that a user cannot keep objects of others.
"""

from __future__ import annotations

import urllib.parse
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from ...objects import ObjectRef, Record, ref_to
from ...paths import value_at
from .profile import ProfileKind
from .scene import KindView

_NAME = "metadata.name"


class Needs:
    """Who of those that stay uses what."""

    def __init__(self) -> None:
        self._users: dict[tuple[str, str, str, str], ObjectRef] = {}  # kind, namespace, path, value
        self._paths: dict[str, set[str]] = defaultdict(set)  # kind → paths of what it is known by

    def note(self, view: KindView, going: Collection[str]) -> None:
        """Everything in this view that is not deleted, neither by us (`going` are uids) nor by others."""
        if view.resource is None or not view.kind.uses:
            return
        for record in view.records:
            if record.uid in going or record.terminating:
                continue
            item = view.items.get(record.uid) or {}
            for use in view.kind.uses:
                for path, value in ((_NAME, _text(item, use.name)), (use.host, host_of(_text(item, use.url)))):
                    if value:
                        self._paths[use.kind].add(path)
                        self._users.setdefault((use.kind, record.namespace, path, value), ref_to(view.resource, record))

    def user_of(self, kind: ProfileKind, record: Record, item: Mapping[str, Any]) -> ObjectRef | None:
        for path in sorted(self._paths.get(kind.kind, ())):
            value = record.name if path == _NAME else _text(item, path).lower()
            user = self._users.get((kind.kind, record.namespace, path, value))
            if user is not None:
                return user
        return None


def _text(item: Mapping[str, Any], path: str) -> str:
    return str(value_at(item, path) or "") if path else ""


def host_of(url: str) -> str:
    """`https://Shop.example.com:443/a`, `shop.example.com:443` and `shop.example.com` → shop.example.com."""
    try:
        return urllib.parse.urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
