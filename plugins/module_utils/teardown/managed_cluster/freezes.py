# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nobody may create while clusters leave: one freeze for all that begin at once, an own one for who begins later.

Room: teardown. A cluster whose gate is shut is not frozen: nothing at all happens to it before.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...clock import Clock, Deadline
from ...events import Tell
from ...objects import Resource
from ...profiles import ocm
from ..freeze import Freeze, freeze, lift, try_freeze
from .hub import ClusterView, HubKinds

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_EXTRA = 60.0
_ADDONS_ONLY, _EVERYTHING = "sunset-cluster-leaves", "sunset-cluster-gone"


class Freezes:
    """Those of one task. Switched off, nothing is ever frozen."""

    def __init__(
        self, kinds: HubKinds, cluster: Cluster, clock: Clock, tell: Tell, deadline: Deadline, *, on: bool = True
    ) -> None:
        self._addons = _of_kind(kinds, ocm.ADDONS)
        self._works = _of_kind(kinds, ocm.WORKS)
        self._cluster = cluster
        self._clock = clock
        self._tell = tell
        self._deadline = deadline
        self._on = on
        self._covered: set[str] = set()  # clusters
        self._lock = threading.Lock()

    def try_out(self, views: Sequence[ClusterView]) -> None:
        """Check mode: would the server take them?"""
        for one in self._for(views):
            try_freeze(one, self._cluster)

    @contextlib.contextmanager
    def covering(self, views: Sequence[ClusterView]) -> Iterator[None]:
        """These are frozen as long as the block runs, but for those that are already."""
        with self._lock:
            fresh = [view for view in views if view.name not in self._covered]
            self._covered.update(view.name for view in fresh)
        wanted = list(self._for(fresh))
        try:
            for one in wanted:
                freeze(one, self._cluster, self._clock, self._tell)
            yield
        finally:
            with self._cluster.cleaning_up():
                for one in wanted:
                    lift(one.name, self._cluster, self._clock, self._tell)

    def _for(self, views: Sequence[ClusterView]) -> Iterator[Freeze]:
        """No new addons while a cluster leaves; no new works either where it has left.

        Before, addons' hooks need works.
        """
        there = [view for view in views if view.is_there] if self._on else []
        present = tuple(view.name for view in there if view.record is not None)
        absent = tuple(view.name for view in there if view.record is None)
        ends = self._cluster.server_time() + self._deadline.left() + _EXTRA
        everything = (*self._addons, *self._works)
        if present and self._addons:
            yield Freeze(_named(_ADDONS_ONLY, present), self._addons, namespaces=present, expires_at=ends)
        if absent and everything:
            yield Freeze(_named(_EVERYTHING, absent), everything, namespaces=absent, expires_at=ends)


def _of_kind(kinds: HubKinds, wanted: tuple[str, str]) -> tuple[Resource, ...]:
    return tuple(one for one in kinds.cleanup if one and (one.group, one.kind) == wanted)


def _named(name: str, clusters: Sequence[str]) -> str:
    """Tasks about different clusters must not lift each other's freeze."""
    return f"{name}-{hashlib.sha256(','.join(sorted(clusters)).encode()).hexdigest()[:8]}"
