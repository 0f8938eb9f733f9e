# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What keeps a namespace besides its content: finalizers in its spec, and nobody who takes the last one off.

Room: teardown. One request more, and only where a namespace is empty and still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...commands import kubectl
from ...objects import Record, Resource
from ...paths import value_at
from ...well_known import LEASES, NAMESPACES
from ..owner_facts import Lease, lease_of
from .cause import CONTROLLER, SPEC_FINALIZER, Cause
from .census import Census

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_OWN = "kubernetes"  # on every namespace; its controller takes it off when nothing is left
_CONTROLLER, _HOME = "kube-controller-manager", "kube-system"


@dataclass
class NamespaceEnds:
    finalizers: Mapping[str, Sequence[str]] = field(default_factory=dict)  # name of the namespace → of its spec
    empty: frozenset[str] = frozenset()  # nothing was seen in them
    controller: Lease | None = None  # of who should end them; None: there is none, or nobody could look


def fetch_namespace_ends(
    whole: Mapping[str, Mapping[str, Any]], left_in: Mapping[str, Mapping[str, int]], census: Census, cluster: Cluster
) -> NamespaceEnds:
    going = {name: item for name, item in whole.items() if value_at(item, "metadata.deletionTimestamp")}
    finalizers = {name: [str(one) for one in value_at(item, "spec.finalizers") or ()] for name, item in going.items()}
    empty = frozenset(name for name in going if not left_in.get(name))
    found: list[Lease] = []

    def look() -> None:
        item = cluster.read_whole(LEASES, _HOME, _CONTROLLER)
        found.extend([lease_of(item, cluster.server_time())] if item else [])

    if any(_OWN in finalizers[name] for name in empty):
        census.attempt(f"whether {_CONTROLLER} is alive", look)
    return NamespaceEnds(finalizers, empty, found[0] if found else None)


def held_by_its_spec(kind: Resource, record: Record, ends: NamespaceEnds) -> Iterable[Cause]:
    if kind.qualified != NAMESPACES.qualified or not record.terminating:
        return
    names = ends.finalizers.get(record.name) or ()
    foreign = [name for name in names if name != _OWN]
    if foreign:
        yield Cause(
            SPEC_FINALIZER,
            f"{', '.join(foreign)} in its spec.finalizers holds it, and whoever put it there has not taken it off",
            f"see why the controller behind {foreign[0]} does not act: "
            + kubectl("get namespace {name} -o yaml", name=record.name),
        )
    lease = ends.controller
    if _OWN in names and record.name in ends.empty and lease and lease.expired:
        yield Cause(
            CONTROLLER,
            f"nothing is left in it, but nobody ends it: {_CONTROLLER} was last heard of {lease.ago} ago ({lease})",
            f"bring {_CONTROLLER} back: {kubectl('get pods', namespace=_HOME)}",
        )
