# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Leader Leases go with the workload that held them, also when that went with an earlier run."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.teardown.guards import Facts
from ansible_collections.sunset.kube.plugins.module_utils.teardown.matching import Matcher
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Claim
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker
from ansible_collections.sunset.kube.plugins.module_utils.teardown.plan import Ground
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.leases import Workload, leases_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.waves import OrderFacts
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, LEASES, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import InMemoryCluster, member

HERE = member(DEPLOYMENTS, "shop-operator")
GONE = Claim("apps", "Deployment", "shop-operator", "shop")
OTHER = Claim("", "ServiceAccount", "shop-operator", "shop")


@pytest.mark.parametrize(
    ("ground", "found"),
    [
        (Ground([HERE], [], Facts(), OrderFacts(), Matcher((), {}, False)), True),
        (Ground([], [], Facts(), OrderFacts(), Matcher((), {}, False), absent=[GONE]), True),
        (Ground([], [], Facts(), OrderFacts(), Matcher((), {}, False), absent=[OTHER]), False),
    ],
    ids=["of a workload in the plan", "of one that is gone already", "of nobody it knows"],
)
def test_a_lease_is_found_by_its_holder(ground: Ground, found: bool) -> None:
    cluster = InMemoryCluster()
    cluster.add(LEASES, "leader", spec={"holderIdentity": "shop-operator-6f9c8b7d4-x2xkz_1"})
    cluster.add(LEASES, "foreign", spec={"holderIdentity": "web-0"})
    leases = leases_of(ground, Looker(cluster, Told()), cluster)
    assert [one.record.name for one in leases] == ["leader"] * found


HOLDERS: dict[str, tuple[str, str, bool]] = {
    "its pod": ("Deployment", "shop-7d9fc8b6d5-x2x4z", True),
    "its pod and a number": ("Deployment", "shop-7d9fc8b6d5-x2x4z_9f1c", True),
    "its pod and the name of the lock": ("Deployment", "shop-7d9fc8b6d5-x2x4z-external-controller", True),
    "its pod, where the name leaves no room": ("Deployment", "shop-7d9fc8b6x2x4z", True),
    "a pod of another Deployment": ("Deployment", "shop-billing-7d9fc8b6d5-x2x4z_1", False),
    "a pod of another DaemonSet": ("Deployment", "shop-db-x2x4z_1", False),
    "a pod of another StatefulSet": ("Deployment", "shop-0", False),
    "a pod of a DaemonSet": ("DaemonSet", "shop-x2x4z_1", True),
    "another DaemonSet's": ("DaemonSet", "shop-billing-x2x4z_1", False),
    "a pod of a StatefulSet": ("StatefulSet", "shop-0_1", True),
    "of a Deployment with a number": ("StatefulSet", "shop-2-7d9fc8b6d5-x2x4z_1", False),
    "somebody else": ("Deployment", "bank-7d9fc8b6d5-x2x4z", False),
}


@pytest.mark.parametrize(("kind", "holder", "ours"), named(HOLDERS))
def test_a_holder_is_a_pod_of_the_workload_and_not_of_one_with_a_longer_name(
    kind: str, holder: str, ours: bool
) -> None:
    assert Workload(kind, "shop", "shop").has_pod(holder) is ours
