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
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.wishes import leases_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.waves import OrderFacts
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, LEASES, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import FakeCluster, member

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
    cluster = FakeCluster()
    cluster.add(LEASES, "leader", spec={"holderIdentity": "shop-operator-6f9-x2x_1"})
    cluster.add(LEASES, "foreign", spec={"holderIdentity": "web-0"})
    leases = leases_of(ground, Looker(cluster, Told()), cluster)  # type: ignore[arg-type]
    assert [one.record.name for one in leases] == ["leader"] * found
