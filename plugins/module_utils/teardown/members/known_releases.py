# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is installed in a namespace or in the cluster, by name: for whoever asked for something that is not there.

Room: teardown. Metadata only, and only as far as one may look: a list for people decides nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...objects import Record, Resource
from ...problems import ENDS_THE_TASK, Problem
from ...well_known import CONFIG_MAPS
from .flux import FLUX_GROUPS
from .helm_releases import STORES
from .olm import GROUP as OLM

if TYPE_CHECKING:
    from ...kube.cluster import Cluster

_KAPP_SUFFIX = ".apps.k14s.io"
# Objects that stand for an installation themselves: how they are called, kind, group.
_KINDS = (
    ("Argo CD Application", "Application", "argoproj.io"),
    *((f"Flux {kind}", kind, group) for kind, group in sorted(FLUX_GROUPS.items())),
    ("OLM Subscription", "Subscription", OLM),
)


def known_releases(namespace: str, cluster: Cluster) -> list[str]:
    """Those of the namespace; where it has none, those of the whole cluster."""
    found = sorted(set(_found(namespace or None, cluster)))
    return found if found or not namespace else sorted(set(_found(None, cluster)))


def _found(namespace: str | None, cluster: Cluster) -> Iterator[str]:
    for store in STORES.values():
        for record in _listed(store, namespace, "owner=helm", cluster):
            if record.labels.get("name"):
                yield f"Helm release {record.namespace}/{record.labels['name']}"
    for record in _listed(CONFIG_MAPS, namespace, "kapp.k14s.io/is-app", cluster):
        yield f"kapp application {record.namespace}/{record.name.removesuffix(_KAPP_SUFFIX)}"
    for title, kind, group in _KINDS:
        resource: Resource | None = None
        with _as_far_as_one_may_look():
            resource, _warning = cluster.resolve(kind, f"{group}/", by_hand=False)
        for record in _listed(resource, namespace, None, cluster) if resource else ():
            yield f"{title} {record.place}"


def _listed(resource: Resource, namespace: str | None, selector: str | None, cluster: Cluster) -> list[Record]:
    with _as_far_as_one_may_look():
        return cluster.list(resource, namespace, selector).records
    return []


@contextlib.contextmanager
def _as_far_as_one_may_look() -> Iterator[None]:
    try:
        yield
    except ENDS_THE_TASK:
        raise
    except Problem:
        pass
