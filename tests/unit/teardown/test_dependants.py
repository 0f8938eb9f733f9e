# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that members own."""

from __future__ import annotations

from typing import Any

from ansible_collections.sunset.kube.plugins.module_utils.teardown.dependants import find_dependants
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Looker, Member
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, LEASES, PODS, STATEFULSETS, Told
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    REPLICA_SETS,
    InMemoryCluster,
    member,
)


def owned_by(*owners: str) -> dict[str, Any]:
    return {"ownerReferences": [{"uid": uid} for uid in owners]}


WEB = "Deployment-shop-web"


def found(cluster: InMemoryCluster, *members: Member, **listed: Any) -> list[str]:
    looker = Looker(cluster, Told())
    for resource in listed.values():
        looker.everything(resource)
    return sorted(f"{each.ref}, {each.source}" for each in find_dependants(list(members), looker))


def deployment() -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(REPLICA_SETS, "web-1", **owned_by(WEB))
    cluster.add(PODS, "web-1-a", **owned_by("ReplicaSet-shop-web-1"))
    cluster.add(PODS, "stranger", **owned_by("somebody"))
    cluster.add(PODS, "free")
    return cluster


def test_a_deployments_replica_sets_and_pods_are_found() -> None:
    assert found(deployment(), member(DEPLOYMENTS)) == [
        "Pod shop/web-1-a, owned by ReplicaSet shop/web-1",
        "ReplicaSet shop/web-1, owned by Deployment shop/web",
    ]


def test_dependants_carry_no_mark_of_the_source() -> None:
    children = find_dependants([member(DEPLOYMENTS)], Looker(deployment(), Told()))
    assert {(child.marked, child.named, child.dependant) for child in children} == {(False, False, True)}


def test_only_kinds_that_a_controller_makes_are_looked_for() -> None:
    cluster = deployment()
    found(cluster, member(DEPLOYMENTS), member(CONFIG_MAPS))
    assert cluster.lists == ["replicasets.apps in namespace shop", "pods in namespace shop"]


def test_every_kind_that_was_listed_anyway_is_looked_through() -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "state", **owned_by("Domain-shop-web"))
    assert found(cluster, member(DOMAINS), listed=CONFIG_MAPS) == ["ConfigMap shop/state, owned by Domain shop/web"]
    assert found(cluster, member(DOMAINS)) == []


def test_what_somebody_else_owns_as_well_is_left_to_the_garbage_collector() -> None:
    cluster = InMemoryCluster()
    cluster.add(PODS, "shared", **owned_by("StatefulSet-shop-web", "somebody"))
    assert found(cluster, member(STATEFULSETS)) == []


def test_what_two_members_own_is_found_once() -> None:
    cluster = InMemoryCluster()
    cluster.add(PODS, "shared", **owned_by("StatefulSet-shop-a", "StatefulSet-shop-b"))
    assert len(found(cluster, member(STATEFULSETS, "a"), member(STATEFULSETS, "b"))) == 1


def test_what_is_owned_through_two_dependants_is_found_whatever_the_order() -> None:
    """A grandchild with two parents: it may be looked at before the second parent is known."""
    cluster = InMemoryCluster()
    for name in "ab":
        cluster.add(REPLICA_SETS, name, **owned_by(WEB))
    cluster.add(PODS, "shared", **owned_by("ReplicaSet-shop-a", "ReplicaSet-shop-b"))
    assert "Pod shop/shared" in " ".join(found(cluster, member(DEPLOYMENTS)))


def test_a_member_is_not_its_own_dependant() -> None:
    child = member(REPLICA_SETS, "web-1", **owned_by(WEB))
    assert found(deployment(), member(DEPLOYMENTS), child) == ["Pod shop/web-1-a, owned by ReplicaSet shop/web-1"]


def test_what_comes_and_goes_by_itself_is_left_alone() -> None:
    cluster = InMemoryCluster()
    cluster.add(LEASES, "lock", **owned_by("Domain-shop-web"))
    assert found(cluster, member(DOMAINS), listed=LEASES) == []
