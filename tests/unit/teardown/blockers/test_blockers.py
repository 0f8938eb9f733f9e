# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What blocks, who owns it, and what to do next: whole explanations, on a cluster in memory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.blocker_tree import tree_of
from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import Interrupted, Problem, Unreachable
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.blockers import (
    Explanation,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.blockers.target import Target
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DEPLOYMENTS,
    DOMAINS,
    NAMESPACES,
    PODS,
    VERBS,
    named,
)
from ansible_collections.sunset.kube.tests.unit.teardown.blockers.explaining import (
    F,
    explained,
    row,
    shop_with,
    steps,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFINITIONS,
    SERVED,
    STALE,
    WEBHOOKS,
    InMemoryCluster,
    api_error,
)

CLAIMS = Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True, "", ("pvc",), VERBS)
PVC = "kubernetes.io/pvc-protection"
FOREGROUND = "foregroundDeletion"


@pytest.fixture
def cluster() -> InMemoryCluster:
    return shop_with(CLAIMS)


def going(cluster: InMemoryCluster, *conditions: dict[str, str]) -> None:
    """The namespace is being deleted, and says this of itself."""
    cluster.add(NAMESPACES, "shop", deleted=True, status={"phase": "Terminating", "conditions": list(conditions)})


def operator(cluster: InMemoryCluster, available: int, namespace: str = "ops") -> None:
    """It was written to last a day ago, so it is not starting."""
    cluster.add(
        DEPLOYMENTS,
        "shop-operator",
        namespace,
        spec={"replicas": 1},
        status={"availableReplicas": available},
        managedFields=[{"time": "2025-12-31T00:00:00Z"}],
    )


def text(told: Explanation) -> str:
    return "\n".join(tree_of(told))


def test_objects_that_hang_for_the_same_reason_share_a_branch_and_one_command(cluster: InMemoryCluster) -> None:
    going(
        cluster,
        {
            "type": "NamespaceFinalizersRemaining",
            "status": "True",
            "message": "Some content in the namespace"
            " has finalizers remaining: shop.example.com/cleanup in 3 resource instances",
        },
    )
    operator(cluster, 0)
    for name in "abc":
        cluster.add(DOMAINS, name, finalizers=[F], deleted=True)
    assert text(explained(cluster)) == (
        "namespace shop: 4 objects hang in deletion\n"
        "├─ Namespace shop (being deleted for 0 s)\n"
        "│  ├─ finalizers hold what is left in it: shop.example.com/cleanup in 3 resource instances\n"
        "│  └─ still in it: 3 Domain\n"
        "└─ 3 Domain a, b, c (being deleted for 0 s)\n"
        "   └─ finalizer shop.example.com/cleanup: its owner is gone: Deployment ops/shop-operator has no available\n"
        "      replica; what is lost without it is not known\n"
        "next:\n"
        "  1. see why its owner does not run: kubectl -n ops describe deploy/shop-operator\n"
        "     or, if that is gone for good (what is lost without it is not known):\n"
        "     ansible localhost -m sunset.kube.finalizer"
        " -a 'kind=domains.ingress.example.com namespace=shop finalizers=shop.example.com/cleanup'\n"
        "  (with --check, an ansible command shows what it would do)"
    )


def test_an_owner_that_is_alive_is_given_time_and_nothing_is_forced(cluster: InMemoryCluster) -> None:
    operator(cluster, 1)
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    told = explained(cluster)
    assert row(told, "web").holders[0].alive == "alive"
    assert steps(told) == [
        "give Deployment ops/shop-operator time, or see why it does not act:"
        " kubectl -n ops logs deploy/shop-operator --tail=50"
    ]


def test_a_protected_finalizer_is_left_to_its_owner(cluster: InMemoryCluster) -> None:
    cluster.add(CONFIG_MAPS, "lb", finalizers=["service.kubernetes.io/load-balancer-cleanup"], deleted=True)
    told = explained(cluster)
    [step] = steps(told)
    assert step.startswith("let the cloud controller delete the load balancer")
    assert "a load balancer that costs money" in text(told)


ENDED = "; one that has ended does so until it is deleted"
# name: (pods with their node and phase, what is told, what to do)
USERS: dict[str, tuple[dict[str, tuple[str, str]], list[str], str]] = {
    "one that runs": (
        {"db": ("n1", "Running")},
        ["Pod db still uses it"],
        "stop what made the pod, then: kubectl -n shop delete pod db",
    ),
    "one that has ended": (
        {"job": ("n1", "Succeeded")},
        [f"Pod job still uses it{ENDED}"],
        "delete what has ended: kubectl -n shop delete pod job",
    ),
    "both": (
        {"a-job": ("n1", "Failed"), "db": ("n1", "Running")},
        [f"Pod db, a-job still uses it{ENDED}"],
        "stop what made the pod, then: kubectl -n shop delete pod db a-job",
    ),
    "one without a node": ({"db": ("", "Pending")}, [], "stop the pods that use the claim"),
}


@pytest.mark.parametrize(("pods", "texts", "step"), named(USERS))
def test_a_claim_names_the_pods_that_hold_it(
    cluster: InMemoryCluster, pods: dict[str, tuple[str, str]], texts: list[str], step: str
) -> None:
    cluster.add(CLAIMS, "data", finalizers=[PVC], deleted=True)
    volume = [{"persistentVolumeClaim": {"claimName": "data"}}, {"emptyDir": {}}]
    for name, (node, phase) in pods.items():
        cluster.add(PODS, name, spec={"volumes": volume, "nodeName": node}, status={"phase": phase})
    told = explained(cluster)
    assert [cause.text for cause in row(told, "data").causes] == texts
    assert steps(told) == [step]


def owned_by(resource: Resource, name: str, blocks: bool = True) -> list[dict[str, Any]]:
    return [{"uid": f"{resource.kind}-shop-{name}", "kind": resource.kind, "name": name, "blockOwnerDeletion": blocks}]


def test_an_owner_in_the_foreground_names_its_dependants(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "owner", finalizers=[FOREGROUND], deleted=True)
    cluster.add(CONFIG_MAPS, "child", ownerReferences=owned_by(DOMAINS, "owner"))
    cluster.add(CONFIG_MAPS, "loose", ownerReferences=owned_by(DOMAINS, "owner", blocks=False))
    told = explained(cluster, Target(kind="Domain", name="owner", namespace="shop"))
    [cause] = row(told, "owner").causes
    assert cause.text.endswith("still there: ConfigMap shop/child")


def test_two_that_own_each_other_are_a_circle(cluster: InMemoryCluster) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        cluster.add(DOMAINS, name, finalizers=[FOREGROUND], deleted=True, ownerReferences=owned_by(DOMAINS, other))
    [circle] = explained(cluster).deadlocks
    assert circle.members == ("Domain shop/a", "Domain shop/b")


def test_a_namespace_and_the_controller_inside_it_are_a_circle_that_is_cut_at_the_finalizer(
    cluster: InMemoryCluster,
) -> None:
    going(cluster)
    operator(cluster, 0, "shop")
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    told = explained(cluster)
    [circle] = told.deadlocks
    assert set(circle.members) == {"Namespace shop", "Domain shop/web", "a running Deployment shop/shop-operator"}
    assert circle.cut.endswith(f"finalizers={F}'")
    assert circle.loss == "what is lost without it is not known"
    assert steps(told)[0] == f"cut the circle ({circle.loss}): {circle.cut}"
    assert sum(circle.cut in step for step in steps(told)) == 1


def dead_webhook(cluster: InMemoryCluster, home: str) -> None:
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["domains"]}
    client = {"service": {"namespace": home, "name": "guard"}}
    cluster.add(WEBHOOKS, "guard", webhooks=[{"name": "g", "clientConfig": client, "rules": [rule]}])


def test_a_dead_webhook_comes_before_everything_else(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    dead_webhook(cluster, "ops")
    told = explained(cluster)
    assert steps(told)[0] == (
        "bring Service ops/guard back, or, if its application is gone: "
        "kubectl delete validatingwebhookconfiguration guard"
    )
    assert [cause.what for cause in row(told, "web").causes] == ["webhook"]
    assert "Service ops/guard does not exist" in text(told)


def test_nobody_is_told_to_bring_a_service_back_into_a_namespace_that_goes(cluster: InMemoryCluster) -> None:
    going(cluster)
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    dead_webhook(cluster, "shop")
    told = explained(cluster)
    assert steps(told)[0] == (
        "Service shop/guard cannot come back, as its namespace is going; if its application is gone: "
        "kubectl delete validatingwebhookconfiguration guard"
    )
    assert [circle.cut for circle in told.deadlocks] == ["kubectl delete validatingwebhookconfiguration guard"]
    assert "bring Service" not in text(told)


def test_a_definition_counts_its_instances_and_what_holds_them(cluster: InMemoryCluster) -> None:
    condition = {"type": "Terminating", "status": "True", "message": "CustomResource deletion is in progress"}
    cluster.add(
        DEFINITIONS,
        DOMAINS.qualified,
        deleted=True,
        status={"conditions": [condition]},
        finalizers=["customresourcecleanup.apiextensions.k8s.io"],
    )
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.add(DOMAINS, "api")
    told = explained(cluster, Target(kind="crd", name=DOMAINS.qualified))
    found = row(told, DOMAINS.qualified)
    assert [cause.text for cause in found.causes] == [
        "the API server says: CustomResource deletion is in progress",
        f"2 objects of this kind are left, 1 being deleted, held by {F}",
    ]
    assert found.holders[0].alive == "alive"


def test_a_pod_in_its_grace_period_and_one_whose_node_is_silent(cluster: InMemoryCluster) -> None:
    late = {"deletionTimestamp": "2025-12-31T23:00:00Z", "deletionGracePeriodSeconds": 30}
    soon = {"deletionTimestamp": "2026-01-01T00:00:20Z", "deletionGracePeriodSeconds": 30}
    cluster.add(PODS, "late", **late)
    cluster.add(PODS, "soon", **soon)
    told = explained(cluster)
    assert {one.record.name: one.causes[0].what for one in told.blocked if one.causes} == {
        "late": "node",
        "soon": "grace",
    }


# -- what is asked about -----------------------------------------------------------------------------------------------


def test_everything_that_hangs_and_nothing_else(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "hangs", "bank", finalizers=[F], deleted=True)
    cluster.add(DOMAINS, "lives", "bank", finalizers=[F])
    told = explained(cluster, Target())
    assert [str(one.ref) for one in told.blocked] == ["Domain bank/hangs"]
    assert "Domain hangs in namespace bank" in text(told)


def test_what_would_hang_is_told_before_it_is_deleted(cluster: InMemoryCluster) -> None:
    operator(cluster, 0)
    cluster.add(DOMAINS, "held", finalizers=[F])
    cluster.add(DOMAINS, "free")
    cluster.add(CLAIMS, "data", finalizers=[PVC])
    told = explained(cluster, Target(members={"namespace": "shop"}))
    assert [str(one.ref) for one in told.blocked] == ["Namespace shop", "Domain shop/held"]
    assert text(told).startswith("namespace shop: nothing is being deleted now; this would be in the way")
    assert steps(told) == [row(told, "held").suggestion]
    assert "sunset.kube.finalizer" not in steps(told)[0], "it takes nothing off what is not being deleted"


def test_nothing_in_the_way_is_an_answer_too(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "fine")
    told = explained(cluster, Target(kind="Domain", namespace="shop"))
    assert text(told) == (
        "all domains.ingress.example.com in namespace shop: nothing hangs, and nothing is in the way"
        " (1 object looked at)"
    )


MISSING = {
    "namespace": (Target(namespace="bank"), "there is no namespace bank"),
    "object": (Target(kind="Domain", name="x", namespace="shop"), "there is no Domain x in namespace shop"),
    "members": (Target(members={"namespace": "bank"}), "there is no namespace bank"),
}


@pytest.mark.parametrize(("target", "line"), MISSING.values(), ids=MISSING)
def test_what_is_not_there_is_said(cluster: InMemoryCluster, target: Target, line: str) -> None:
    assert text(explained(cluster, target)) == line


def test_what_may_not_be_seen_does_not_end_it(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.unseen["secrets"] = api_error(403, "Forbidden", "no")
    cluster.stale.append("dead.example.com/v1")
    told = explained(cluster)
    assert row(told, "web")
    assert told.unreadable == [f"dead.example.com/v1: {STALE}", "secrets in shop: HTTP 403 Forbidden, no"]
    assert f"could not look, so there may be more behind it:\n  dead.example.com/v1: {STALE}" in text(told)


def test_no_connection_is_an_end(cluster: InMemoryCluster) -> None:
    cluster.unseen["secrets"] = Unreachable("no answer")
    with pytest.raises(Unreachable):
        explained(cluster)


def test_the_number_of_lists_does_not_depend_on_the_number_of_objects(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "first", finalizers=[F], deleted=True)
    explained(cluster)
    few = len(cluster.lists)
    for number in range(500):
        cluster.add(DOMAINS, f"d{number}", finalizers=[F, f"x.example.com/{number % 40}"], deleted=True)
    cluster.lists.clear()
    told = explained(cluster)
    assert len(cluster.lists) == few
    assert len(tree_of(told)) < 40, "one screen"
    assert "more objects for other reasons" in text(told)


def test_a_circle_of_many_is_cut_by_one_command_for_all_of_them(cluster: InMemoryCluster) -> None:
    going(cluster)
    operator(cluster, 0, "shop")
    for name in "abcde":
        cluster.add(DOMAINS, name, finalizers=[F], deleted=True)
    told = explained(cluster)
    assert steps(told) == [f"cut the circle (what is lost without it is not known): {told.deadlocks[0].cut}"]
    assert "name=" not in told.deadlocks[0].cut.replace("namespace=", "")
    assert "(7 objects in it)" in text(told)


KEDA, LONGHORN, ARGO = "finalizer.keda.sh", "longhorn.io", "resources-finalizer.argocd.argoproj.io"


def test_nobody_is_told_to_start_what_cannot_start(cluster: InMemoryCluster) -> None:
    """The operator of KEDA is in the namespace that goes: the circle says so, and nothing else may say otherwise."""
    going(cluster)
    cluster.add(DEPLOYMENTS, "keda-operator", "shop", spec={"replicas": 0})
    cluster.add(DOMAINS, "web", finalizers=[KEDA], deleted=True)
    told = explained(cluster)
    assert told.deadlocks
    assert "start keda-operator again" not in f"{text(told)} {row(told, 'web').suggestion}"


def test_a_product_that_is_gone_for_good_leaves_a_way_with_consent_and_its_price(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "disk", finalizers=[LONGHORN], deleted=True)
    [step] = explained(cluster).next_steps
    assert step.do.startswith("start longhorn-manager again")
    assert step.otherwise.startswith("if that is gone for good (without it data may be lost): ansible localhost")
    assert step.otherwise.endswith(f"finalizers={LONGHORN} allow_protected=true'")


def test_a_circle_through_data_is_cut_with_consent_and_tells_what_it_costs(cluster: InMemoryCluster) -> None:
    going(cluster)
    cluster.add(DEPLOYMENTS, "longhorn-manager", "shop", spec={"replicas": 0})
    cluster.add(DOMAINS, "disk", finalizers=[LONGHORN], deleted=True)
    told = explained(cluster)
    [circle] = told.deadlocks
    assert (circle.loss, circle.cut.endswith("allow_protected=true'")) == ("without it data may be lost", True)
    assert steps(told)[0] == f"cut the circle (without it data may be lost): {circle.cut}"


def test_what_would_hang_on_a_protected_finalizer_is_told_before_it_is_deleted(cluster: InMemoryCluster) -> None:
    cluster.add(DOMAINS, "disk", finalizers=[LONGHORN])
    [found] = explained(cluster, Target(kind="Domain", namespace="shop")).blocked
    assert (found.record.name, found.suggestion.startswith("start longhorn-manager again")) == ("disk", True)


APPLICATIONS, PROJECTS = (
    Resource("argoproj.io", "v1", kind, f"{kind.lower()}s", True, kind.lower(), (), VERBS)
    for kind in ("Application", "AppProject")
)


def test_a_command_with_a_name_is_only_for_the_kind_that_it_takes() -> None:
    cluster = InMemoryCluster(*SERVED, APPLICATIONS, PROJECTS)
    cluster.add(NAMESPACES, "shop")
    # Somebody else may be Argo CD here: nothing is proven.
    cluster.unseen["leases"] = api_error(403, "Forbidden", "no")
    for kind in (APPLICATIONS, PROJECTS):
        cluster.add(kind, "web", finalizers=[ARGO], deleted=True)
    told = explained(cluster)
    found = {one.kind.kind: one.suggestion for one in told.blocked if one.record.name == "web"}
    assert "argocd app delete web --app-namespace shop --cascade=false" in found["Application"]
    assert "argocd app" not in found["AppProject"]


def test_no_command_needs_a_product_that_is_gone() -> None:
    cluster = InMemoryCluster(*SERVED, APPLICATIONS)
    cluster.add(NAMESPACES, "shop")
    cluster.add(APPLICATIONS, "web", finalizers=[ARGO], deleted=True)
    assert "argocd app" not in text(explained(cluster))


def test_who_may_read_a_namespace_and_not_list_them_is_told_of_its_circles(cluster: InMemoryCluster) -> None:
    going(cluster)
    operator(cluster, 0, "shop")
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.unlisted["namespaces"] = api_error(403, "Forbidden", "no")
    told = explained(cluster)
    assert [len(circle.members) for circle in told.deadlocks] == [3]
    assert "namespaces: HTTP 403 Forbidden, no" in told.unreadable
    assert sum(one.record.name == "shop" for one in told.blocked) == 1


@pytest.mark.parametrize("problem", [Unreachable("no answer"), Interrupted("stopped")])
def test_the_end_of_it_all_is_not_taken_for_a_cluster_without_namespaces(
    cluster: InMemoryCluster, problem: Problem
) -> None:
    cluster.add(DOMAINS, "web", finalizers=[F], deleted=True)
    cluster.unlisted["namespaces"] = problem
    with pytest.raises(type(problem)):
        explained(cluster, Target(kind="Domain", namespace="shop"))
