# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A shop on a cluster in memory, and what is explained of it: for all tests of this folder."""

from __future__ import annotations

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import (
    Blocked,
    Explanation,
    explain_blockers,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import NO_CONTEXTS, SERVED, InMemoryCluster

F = "shop.example.com/cleanup"
SHOP = Target(namespace="shop")


def shop_with(*kinds: Resource) -> InMemoryCluster:
    """Its namespace, on a cluster that serves these kinds besides the usual ones."""
    made = InMemoryCluster(*SERVED, *kinds)
    made.add(NAMESPACES, "shop", labels={"kubernetes.io/metadata.name": "shop"})
    return made


def explained(cluster: InMemoryCluster, target: Target = SHOP) -> Explanation:
    return explain_blockers(target, cluster, NO_CONTEXTS, Told())


def row(told: Explanation, name: str) -> Blocked:
    [found] = [one for one in told.blocked if one.record.name == name]
    return found


def steps(told: Explanation) -> list[str]:
    return [str(step) for step in told.next_steps]
