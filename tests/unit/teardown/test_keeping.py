# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kept is kept: what is detached from its owners, what is looked at again, and what is told when something is lost."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned, StepBegan
from ansible_collections.sunset.kube.plugins.module_utils.evidence.ranked_results import ranked_result
from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import RankedOutcome
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, PODS, Call, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.drain_fakes import (
    BASKETS,
    NAME,
    PLACE,
    DrainCluster,
    LivingOperator,
    drained,
    held,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    REPLICA_SETS,
    SECRETS,
    InMemoryCluster,
    When,
    api_error,
    named_members,
    ranked,
)

KEEP = {"annotations": {"sunset.dev/keep": "true"}}
F = "example.com/cleanup"
OWNER = named_members((CONFIG_MAPS, "owner"))
A, B = "ConfigMap-shop-owner", "ConfigMap-shop-between"
DEFINITION = "domains.ingress.example.com"


def owned_by(*uids: str) -> dict[str, Any]:
    return {"ownerReferences": [{"uid": uid, "kind": "ConfigMap", "name": "x", "apiVersion": "v1"} for uid in uids]}


def shop() -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "owner")
    return cluster


def detached(outcome: RankedOutcome) -> list[str]:
    return sorted(one.text for one in outcome.plan.detachments)


def test_a_kept_object_is_detached_before_its_owner_is_deleted() -> None:
    cluster = shop()
    cluster.add(SECRETS, "licence", **owned_by(A), **KEEP)
    outcome = ranked(cluster, members=OWNER)
    assert detached(outcome) == ["Secret shop/licence loses its owner ConfigMap shop/owner"]
    assert cluster.log[:2] == [f"detach Secret shop/licence ({A})", "delete ConfigMap shop/owner"]
    assert outcome.failure is None
    assert outcome.run.steps[0].detached == 1


def test_what_the_garbage_collector_reaches_through_others_is_detached_too() -> None:
    cluster = shop()
    cluster.add(SECRETS, "between", uid=B, **owned_by(A))
    cluster.add(SECRETS, "licence", **owned_by(B), **KEEP)
    [one] = ranked(cluster, members=OWNER).plan.detachments
    assert (one.owner_uids, one.roots) == ({B}, {A})


STAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another owner stays": ({**owned_by(A, "somebody"), **KEEP}, {}),
    "no owner is deleted": ({**owned_by("somebody"), **KEEP}, {}),
    "the task leaves dependants alone": ({**owned_by(A), **KEEP}, {"propagation_policy": "Orphan"}),
    "keep markers do not count": ({**owned_by(A), **KEEP}, {"keep_markers": False}),
    "nothing keeps it": (owned_by(A), {}),
    "it is being deleted": ({**owned_by(A), **KEEP, "deleted": True, "finalizers": [F]}, {}),
}


@pytest.mark.parametrize(("thing", "params"), named(STAYS))
def test_nothing_is_detached_without_need(thing: dict[str, Any], params: dict[str, Any]) -> None:
    cluster = shop()
    cluster.add(SECRETS, "licence", **thing)
    assert detached(ranked(cluster, members=OWNER, check_mode=True, **params)) == []


def test_what_is_detached_is_part_of_the_hash_and_asked_for_beforehand() -> None:
    cluster = shop()
    before = ranked(cluster, members=OWNER, check_mode=True).plan.hash
    cluster.add(SECRETS, "licence", **owned_by(A), **KEEP)
    cluster.server.rights_by_namespace = True
    outcome = ranked(cluster, members=OWNER, check_mode=True)
    assert outcome.plan.hash != before
    assert ("patch", "secrets", "shop") in cluster.asked_rights
    assert cluster.log[-2:] == [f"detach Secret shop/licence ({A}, dry run)", "delete ConfigMap shop/owner (dry run)"]


def test_an_owner_of_what_cannot_be_detached_is_not_deleted() -> None:
    cluster = shop()
    cluster.add(SECRETS, "licence", **owned_by(A), **KEEP)
    cluster.refusals["Secret shop/licence"] = api_error(422, "Invalid", "immutable")
    outcome = ranked(cluster, members=OWNER)
    assert isinstance(outcome.failure, Refused)
    assert "could not delete ConfigMap shop/owner" in str(outcome.failure)
    assert "delete ConfigMap shop/owner" not in cluster.log


def test_a_reference_that_comes_back_is_removed_again() -> None:
    cluster = shop()
    cluster.add(SECRETS, "licence", **owned_by(A), **KEEP)

    def put_back(event: Did) -> bool:
        return event.action == "delete"

    told = When(Did, lambda: cluster.change(SECRETS, "licence", **owned_by(A)), put_back)
    outcome = ranked(cluster, told=told, members=OWNER)
    assert cluster.log.count(f"detach Secret shop/licence ({A})") == 2
    assert outcome.failure is None


def test_what_a_controller_adopts_again_is_kept_by_orphaning() -> None:
    """The Pod of a kept ReplicaSet stays with it; whatever else the Deployment owns is deleted by us."""
    cluster = InMemoryCluster()
    cluster.add(DEPLOYMENTS, "web")
    cluster.add(REPLICA_SETS, "web-1", **owned_by("Deployment-shop-web"), **KEEP)
    cluster.add(REPLICA_SETS, "web-2", **owned_by("Deployment-shop-web"))
    cluster.add(PODS, "web-1-a", **owned_by("ReplicaSet-shop-web-1"))
    cluster.add(SECRETS, "token", **owned_by("Deployment-shop-web"))
    outcome = ranked(cluster, members=named_members((DEPLOYMENTS, "web")))
    assert cluster.left() == ["Pod shop/web-1-a", "ReplicaSet shop/web-1"]
    assert "delete Deployment shop/web (Orphan)" in cluster.log
    assert "delete ReplicaSet shop/web-2" in cluster.log
    assert detached(outcome) == ["ReplicaSet shop/web-1 loses its owner Deployment shop/web"]


def test_a_dependant_that_no_step_takes_is_left_to_the_garbage_collector_and_not_called_kept() -> None:
    cluster = InMemoryCluster()
    cluster.add(DEPLOYMENTS, "web")
    cluster.add(REPLICA_SETS, "web-1", **owned_by("Deployment-shop-web"))
    groups = [{"resources": [{"kind": "Deployment"}]}]
    outcome = ranked(cluster, members=named_members((DEPLOYMENTS, "web")), deletion_groups=groups)
    assert (outcome.plan.kept, detached(outcome)) == ([], [])


def test_an_object_marked_during_the_run_is_detached_from_what_goes_later() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "owner", uid="o")
    cluster.add(CONFIG_MAPS, "a", **owned_by("o"))
    groups = [{"resources": [{"kind": "ConfigMap"}]}, {"resources": [{"kind": "Secret"}]}]
    told = When(StepBegan, lambda: cluster.change(CONFIG_MAPS, "a", **KEEP))
    members = named_members((CONFIG_MAPS, "a"), (SECRETS, "owner"))
    ranked(cluster, told=told, members=members, deletion_groups=groups)
    assert cluster.log == ["detach ConfigMap shop/a (o)", "delete Secret shop/owner", "gone Secret shop/owner"]


def test_what_a_drain_releases_is_detached_from_what_it_deletes() -> None:
    cluster = DrainCluster()
    held(cluster, (BASKETS, "made"), labels={NAME: "shop", PLACE: "ops"})
    held(cluster, (BASKETS, "marked"), **owned_by("Basket-shop-made"), **KEEP)
    outcome = drained(cluster, told=LivingOperator(cluster), policy="Delete", force=True)
    detach = "detach Basket shop/marked (Basket-shop-made)"
    assert cluster.log.index(detach) < cluster.log.index("delete Basket shop/made")
    assert (outcome.failure, [run.kept.lost for run in outcome.runs if run.kept.lost]) == (None, [])


# -- at the end --------------------------------------------------------------------------------------------------------


def test_what_is_lost_fails_the_run_and_is_not_called_kept() -> None:
    cluster = shop()
    cluster.add(SECRETS, "licence", **KEEP)
    told = When(StepBegan, lambda: cluster.remove(SECRETS, "licence"))
    outcome = ranked(cluster, told=told, members=named_members((CONFIG_MAPS, "owner"), (SECRETS, "licence")))
    found = ranked_result(outcome, {})
    assert "lost Secret shop/licence: it was to be kept" in str(outcome.failure)
    assert (found["kept"], [row["name"] for row in found["lost"]]) == ([], ["licence"])


def test_what_was_not_ours_may_be_deleted_by_others() -> None:
    cluster = shop()
    cluster.add(SECRETS, "theirs")
    groups = [{"resources": [{"kind": "ConfigMap"}]}]
    told = When(StepBegan, lambda: cluster.remove(SECRETS, "theirs"))
    members = named_members((CONFIG_MAPS, "owner"), (SECRETS, "theirs"))
    outcome = ranked(cluster, told=told, members=members, deletion_groups=groups)
    found = ranked_result(outcome, {})
    assert (outcome.failure, found["kept"], [row["name"] for row in found["gone"]]) == (None, [], ["theirs"])


def test_a_run_that_deletes_nothing_does_not_look_again() -> None:
    cluster = InMemoryCluster()
    cluster.add(SECRETS, "licence", **KEEP)
    ranked(cluster, members=named_members((SECRETS, "licence")))
    assert cluster.lists.count("secrets in namespace shop") == 1


# -- the last moment ---------------------------------------------------------------------------------------------------


def with_a_definition() -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(DEFINITIONS, DEFINITION, spec={})
    cluster.add(DOMAINS, "web")
    return cluster


LATE: dict[str, tuple[str, dict[str, Any], bool, bool]] = {
    "refuse": ("refuse", {}, True, True),
    "keep": ("keep", {}, False, True),
    "cascade": ("cascade", {}, False, False),
    "cascade, with a keep marker": ("cascade", KEEP, False, True),
    "owned by something in the plan": ("refuse", owned_by("Domain-shop-web"), False, False),
}


@pytest.mark.parametrize(("policy", "late", "fails", "stays"), named(LATE))
def test_a_definition_is_held_back_by_what_came_after_the_plan(
    policy: str, late: dict[str, Any], fails: bool, stays: bool
) -> None:
    cluster = with_a_definition()
    told = When(Planned, lambda: cluster.add(DOMAINS, "late", "bank", **late))
    members = named_members((DOMAINS, "web"), (DEFINITIONS, DEFINITION))
    outcome = ranked(cluster, told=told, members=members, foreign_instances=policy)
    assert (outcome.failure is not None, f"CustomResourceDefinition {DEFINITION}" in cluster.left()) == (fails, stays)
    if fails:
        assert "Domain bank/late" in str(outcome.failure)


def test_an_object_that_changes_all_the_time_is_judged_each_time_and_given_up_in_the_end() -> None:
    cluster = shop()

    def change(call: Call) -> None:
        if call.verb == "delete":
            cluster.change(CONFIG_MAPS, "owner", labels={"turn": str(len(cluster.log))})

    cluster.server.meddlers.append(change)
    outcome = ranked(cluster, told=Told(), members=OWNER)
    assert "could not delete ConfigMap shop/owner" in str(outcome.failure)
    assert cluster.log.count("delete ConfigMap shop/owner") == 12
