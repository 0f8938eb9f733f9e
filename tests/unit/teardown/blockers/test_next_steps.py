# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What to do next, on a cluster in memory: nothing that is sure to be refused, and nothing that nobody may know."""

from __future__ import annotations

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.kube.answers import ApiError
from ansible_collections.sunset.kube.plugins.module_utils.objects import record_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers import cause
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import Blocked
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    named,
)
from ansible_collections.sunset.kube.tests.unit.teardown.blockers.explaining import (
    F,
    explained,
    row,
    shop_with,
    steps,
)
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import GITOPS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    InMemoryCluster,
    api_error,
    named_members,
)

KEDA = "finalizer.keda.sh"
WEB = Target(kind="Domain", name="web", namespace="shop")
UNKNOWN = "if you know that nobody should remove it any more (what is lost without it is not known): "


@pytest.fixture
def cluster() -> InMemoryCluster:
    return shop_with(*GITOPS)


def operator(cluster: InMemoryCluster, available: int) -> None:
    status = {"availableReplicas": available}
    cluster.add(DEPLOYMENTS, "shop-operator", "ops", spec={"replicas": available}, status=status)


# -- who says no -------------------------------------------------------------------------------------------------------

# name: (what the API server says to the dry run, how the first step begins)
NOES: dict[str, tuple[ApiError, str]] = {
    "a webhook that answers": (
        api_error(403, "Forbidden", 'admission webhook "w.x" denied the request: frozen'),
        "do as webhook w.x says",
    ),
    "a webhook that does not": (
        api_error(500, "InternalError", 'failed calling webhook "w.x": dial: refused'),
        "bring what serves it back",
    ),
    "crossplane": (
        api_error(409, "Conflict", 'admission webhook "nousages.x" denied the request: used'),
        "do as webhook nousages.x says",
    ),
    "the API server itself": (
        api_error(405, "MethodNotAllowed", "not here"),
        "mend what the API server says of Domain",
    ),
}


@pytest.mark.parametrize(("answer", "begins"), named(NOES))
def test_who_refused_the_dry_run_comes_before_the_command_that_it_refused(
    cluster: InMemoryCluster, answer: ApiError, begins: str
) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.refusals["Domain shop/web"] = answer
    first, second = steps(explained(cluster))
    assert first.startswith(begins)
    assert "sunset.kube.finalizer" in second


# -- what may not be known ---------------------------------------------------------------------------------------------


def test_a_finalizer_of_nobody_goes_only_by_somebody_who_knows_and_with_its_price(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    told = explained(cluster)
    [step] = steps(told)
    assert step.startswith(f"{UNKNOWN}ansible localhost -m sunset.kube.finalizer ")
    assert row(told, "web").suggestion.startswith(f"find out who should remove it; or, {UNKNOWN}ansible ")


@pytest.mark.parametrize("unseen", ["deployments", "leases"])
def test_no_command_removes_the_finalizer_of_an_owner_who_could_not_be_looked_for(
    cluster: InMemoryCluster, unseen: str
) -> None:
    """`finalizer` takes who is not found for gone; a live controller would lose its work."""
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.unseen[unseen] = api_error(403, "Forbidden", "no")
    told = explained(cluster)
    assert steps(told) == [
        f"leave {F} where it is until its owner can be looked for:"
        " ask somebody who may list workloads and Leases everywhere"
    ]
    assert row(told, "web").suggestion == steps(told)[0]


def test_what_the_product_offers_stays_without_a_look_at_its_owner_and_the_command_does_not(
    cluster: InMemoryCluster,
) -> None:
    cluster.add(DOMAINS, "web", finalizers=[KEDA], deleted=True)
    cluster.unseen["leases"] = api_error(403, "Forbidden", "no")
    told = explained(cluster)
    [step] = steps(told)
    assert step.startswith("start keda-operator again")
    assert "sunset.kube.finalizer" not in step + row(told, "web").suggestion


# -- one row and the others --------------------------------------------------------------------------------------------


def test_what_only_one_of_many_needs_is_not_lost_among_them(cluster: InMemoryCluster) -> None:
    for name in ("bad", "good"):
        cluster.add(DOMAINS, name, finalizers=[F], deleted=True)
    cluster.refusals["Domain shop/bad"] = ApiError(422, message="invalid", causes=("spec.a: must be b",))
    told = explained(cluster)
    assert row(told, "bad").suggestion.startswith("mend these fields")
    assert row(told, "bad").suggestion in steps(told)
    assert any("name=good" in step for step in steps(told))


# -- what is not being deleted -----------------------------------------------------------------------------------------


def test_nothing_is_to_be_done_about_a_healthy_object_whose_owner_is_alive(cluster: InMemoryCluster) -> None:
    operator(cluster, 1)
    cluster.add(DOMAINS, "web", finalizers=[F])
    told = explained(cluster, WEB)
    assert (row(told, "web").suggestion, steps(told), row(told, "web").may_stay) == ("", [], False)


@pytest.mark.parametrize("certain", [False, True])
def test_an_owner_that_leaves_it_alone_is_no_reason_to_stay(certain: bool) -> None:
    web = Blocked(
        DOMAINS, record_of({"name": "web"}), causes=[cause.Cause(cause.GITOPS, "it is paused", certain=certain)]
    )
    assert web.may_stay is certain


def test_nothing_is_taken_off_an_object_that_is_not_being_deleted(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F])
    told = explained(cluster, WEB)
    assert (row(told, "web").suggestion, steps(told), row(told, "web").may_stay) == ("", [], True)


def test_the_owner_that_would_be_missed_is_brought_back_before_the_deletion(cluster: InMemoryCluster) -> None:
    operator(cluster, 0)
    cluster.add(DOMAINS, "web", finalizers=[F])
    assert steps(explained(cluster, WEB)) == [
        "bring its owner back for a while: kubectl -n ops scale deploy/shop-operator --replicas=1"
    ]


# -- GitOps ------------------------------------------------------------------------------------------------------------


def test_no_application_is_paused_of_which_only_a_label_of_helm_speaks(cluster: InMemoryCluster) -> None:
    cluster.unseen["applications"] = api_error(403, "Forbidden", "not yours")
    cluster.add(CONFIG_MAPS, "settings", labels={"app.kubernetes.io/instance": "shop"}, finalizers=[F], deleted=True)
    told = explained(cluster)
    assert not any("kubectl annotate application" in step for step in steps(told))
    assert [one.unseen for one in told.returns] == ["HTTP 403 Forbidden, not yours"], "and that is said"


# -- instances ---------------------------------------------------------------------------------------------------------


def test_members_are_counted_among_the_instances_of_their_definition(cluster: InMemoryCluster) -> None:
    held = ["customresourcecleanup.apiextensions.k8s.io"]
    cluster.add(DEFINITIONS, DOMAINS.qualified, deleted=True, finalizers=held)
    for name in "ab":
        cluster.add(DOMAINS, name, finalizers=[F], deleted=True)
    told = explained(
        cluster, Target(members=named_members((DEFINITIONS, DOMAINS.qualified), (DOMAINS, "a"), (DOMAINS, "b")))
    )
    texts = [cause.text for cause in row(told, DOMAINS.qualified).causes]
    assert texts == [f"2 objects of this kind are left, 2 being deleted, held by {F}"]
