# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who stands behind a finalizer, and is he alive?"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owners import (
    Lease,
    Life,
    Owner,
    OwnerFacts,
    Workload,
    fetch_owner_facts,
    judge_owner,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import (
    DAEMONSETS,
    DEPLOYMENTS,
    LEASES,
    STATEFULSETS,
    cluster_on,
    named,
    refusal,
)

F = "shop.example.com/cleanup"


def workload(name: str = "shop-operator", available: int = 1, *names: str, wanted: int = 1) -> Workload:
    return Workload("Deployment", "shop", name, wanted, available, frozenset({name, *names}))


def lease(
    name: str = "shop-operator", age: float = 5.0, holder: str = "shop-operator-7d9f_1", lasts: float = 15.0
) -> Lease:
    return Lease("shop", name, holder, age, lasts)


def facts(*things: Workload | Lease, unreadable: list[str] | None = None) -> OwnerFacts:
    return OwnerFacts(
        [thing for thing in things if isinstance(thing, Workload)],
        [thing for thing in things if isinstance(thing, Lease)],
        unreadable or [],
    )


RUNS = Owner(Life.ALIVE, "Deployment shop/shop-operator", "Deployment shop/shop-operator has 1 of 1 replicas available")
DOWN = Owner(Life.GONE, "Deployment shop/shop-operator", "Deployment shop/shop-operator has no available replica")


def renewed(name: str, age: int = 5) -> Owner:
    return Owner(Life.ALIVE, f"Lease shop/{name}", f"Lease shop/{name} was renewed {age} s ago by shop-operator-7d9f_1")


def nobody(what: str = F, who: str = "") -> Owner:
    return Owner(Life.UNKNOWN, who, f"no workload or Lease fits {what}")


# name: (finalizer, managers, facts, owner)
OWNERS: dict[str, tuple[str, list[str], OwnerFacts, Owner]] = {
    "nothing found": (F, [], facts(), nobody()),
    # workloads
    "a workload named after the domain runs": (F, [], facts(workload()), RUNS),
    "a workload named after the manager runs": ("cleanup", ["Shop-Operator"], facts(workload()), RUNS),
    "a container named after the manager runs": (
        "cleanup",
        ["janitor"],
        facts(workload("shop-operator", 1, "janitor")),
        RUNS,
    ),
    "a workload scaled to zero": (F, [], facts(workload(available=0, wanted=0)), DOWN),
    "a workload that does not come up": (F, [], facts(workload(available=0, wanted=3)), DOWN),
    "one of two workloads runs": (
        F,
        [],
        facts(workload(available=0), workload("shop-controller")),
        Owner(
            Life.ALIVE,
            "Deployment shop/shop-controller",
            "Deployment shop/shop-controller has 1 of 1 replicas available",
        ),
    ),
    "some of its replicas run": (
        F,
        [],
        facts(workload(available=1, wanted=3)),
        Owner(
            Life.ALIVE, "Deployment shop/shop-operator", "Deployment shop/shop-operator has 1 of 3 replicas available"
        ),
    ),
    "a workload of another product runs": (F, [], facts(workload("bank-operator")), nobody()),
    "the application itself is not its operator": (F, [], facts(workload("shop")), nobody()),
    # leases
    "a fresh lease named after the manager": ("cleanup", ["shop-operator"], facts(lease()), renewed("shop-operator")),
    "a fresh lease named after the domain": (F, [], facts(lease("shop.example.com")), renewed("shop.example.com")),
    "a fresh lease below the domain": (F, [], facts(lease("a1b2.shop.example.com")), renewed("a1b2.shop.example.com")),
    "a fresh lease of another domain": (F, [], facts(lease("workshop.example.com")), nobody()),
    "a fresh lease held by the workload": (
        "cleanup",
        ["shop-operator"],
        facts(workload(available=0), lease("leader")),
        renewed("leader"),
    ),
    "a fresh lease of a workload elsewhere": (
        "cleanup",
        ["shop-operator"],
        facts(workload(available=0), Lease("bank", "leader", "shop-operator-7d9f_1", 5.0, 15.0)),
        DOWN,
    ),
    "a lease just within its duration": (F, [], facts(lease(age=15.0)), renewed("shop-operator", 15)),
    "a lease whose term has just ended tells nothing": (
        F,
        [],
        facts(lease(age=30.0)),
        Owner(Life.UNKNOWN, "Lease shop/shop-operator", "Lease shop/shop-operator was last renewed 30 s ago"),
    ),
    "nor does it beside a workload that is down": (
        F,
        [],
        facts(workload(available=0), lease(age=20.0)),
        Owner(Life.UNKNOWN, "Lease shop/shop-operator", "Lease shop/shop-operator was last renewed 20 s ago"),
    ),
    "a lease of its leader": (F, [], facts(lease("shop-operator-leader")), renewed("shop-operator-leader")),
    "a lease of its leader election": (
        "cleanup",
        ["janitor"],
        facts(lease("Janitor-leader-election")),
        renewed("Janitor-leader-election"),
    ),
    "a lock": (F, [], facts(lease("shop-operator-lock")), renewed("shop-operator-lock")),
    "a lock of the application itself": (F, [], facts(lease("shop-lock")), nobody()),
    "a stale lease": (
        F,
        [],
        facts(lease(age=31.0)),
        Owner(Life.GONE, "Lease shop/shop-operator", "Lease shop/shop-operator was last renewed 31 s ago"),
    ),
    "a lease that was never renewed": (
        F,
        [],
        facts(lease(age=float("inf"))),
        Owner(Life.GONE, "Lease shop/shop-operator", "Lease shop/shop-operator was last renewed long ago"),
    ),
    "a lease nobody holds": (
        F,
        [],
        facts(lease(holder="")),
        Owner(Life.GONE, "Lease shop/shop-operator", "Lease shop/shop-operator was last renewed 5 s ago"),
    ),
    "a stale lease and a running workload": (F, [], facts(workload(), lease(age=999.0)), RUNS),
    "a fresh lease wins over a workload that is down": (
        F,
        [],
        facts(workload(available=0), lease()),
        renewed("shop-operator"),
    ),
    # generic managers say nothing
    "kubectl set it": (
        "cleanup",
        ["kubectl-client-side-apply"],
        facts(workload("kubectl-client-side-apply")),
        nobody("cleanup"),
    ),
    "helm set it": ("cleanup", ["helm"], facts(workload("helm")), nobody("cleanup")),
    "we set it": ("cleanup", ["sunset.kube"], facts(workload("sunset.kube")), nobody("cleanup")),
    "unknown set it": ("cleanup", ["unknown", ""], facts(workload("unknown")), nobody("cleanup")),
    "a manager called manager": ("cleanup", ["manager"], facts(workload("manager")), nobody("cleanup")),
    "a manager called controller": (
        "cleanup",
        ["controller"],
        facts(workload("x", 1, "controller")),
        nobody("cleanup"),
    ),
    "a domain that begins with k8s": (
        "k8s.example.com/x",
        [],
        facts(workload("k8s-operator")),
        nobody("k8s.example.com/x"),
    ),
    "known managers are named": ("cleanup", ["b-op", "a-op", "helm"], facts(), nobody("a-op or b-op", "a-op or b-op")),
    # what could not be read
    "could not look": (
        F,
        [],
        facts(unreadable=["Deployments: HTTP 403"]),
        Owner(Life.UNKNOWN, "", "could not look: Deployments: HTTP 403"),
    ),
    "could not look, but a lease is fresh": (F, [], facts(lease(), unreadable=["x"]), renewed("shop-operator")),
    "could not look, but a workload runs": (F, [], facts(workload(), unreadable=["x"]), RUNS),
    "could not look, and a lease is stale": (
        F,
        [],
        facts(lease(age=999.0), unreadable=["Deployments: HTTP 403"]),
        Owner(
            Life.UNKNOWN,
            "Lease shop/shop-operator",
            "Lease shop/shop-operator was last renewed 999 s ago, but could not look: Deployments: HTTP 403",
        ),
    ),
    "could not look everywhere, and a workload is down": (
        F,
        [],
        facts(workload(available=0), unreadable=["Leases: HTTP 403"]),
        Owner(
            Life.UNKNOWN,
            "Deployment shop/shop-operator",
            "Deployment shop/shop-operator has no available replica, but could not look: Leases: HTTP 403",
        ),
    ),
}


@pytest.mark.parametrize(("finalizer", "managers", "known", "owner"), named(OWNERS))
def test_the_owner_behind_a_finalizer(finalizer: str, managers: list[str], known: OwnerFacts, owner: Owner) -> None:
    assert judge_owner(finalizer, managers, known) == owner


def kind_of(group: str, plural: str) -> Resource:
    return Resource(group, "v1", plural.title(), plural, True)


FLUX = (workload("kustomize-controller", 0), workload("source-controller"), workload("helm-controller"))
CNPG = kind_of("postgresql.cnpg.io", "databases")

# name: (finalizer, managers, kind, facts, life): who runs beside the controller proves nothing
SIBLINGS: dict[str, tuple[str, list[str], Resource, OwnerFacts, Life]] = {
    "another controller of Flux": (
        "finalizers.fluxcd.io",
        ["kustomize-controller"],
        kind_of("kustomize.toolkit.fluxcd.io", "kustomizations"),
        facts(*FLUX),
        Life.GONE,
    ),
    "the right one": (
        "finalizers.fluxcd.io",
        [],
        kind_of("helm.toolkit.fluxcd.io", "helmreleases"),
        facts(*FLUX),
        Life.ALIVE,
    ),
    "Crossplane, whose provider does it": (
        "finalizer.managedresource.crossplane.io",
        [],
        kind_of("s3.aws.upbound.io", "buckets"),
        facts(workload("crossplane")),
        Life.UNKNOWN,
    ),
    "the operator of Kafka": (
        "strimzi.io/topic-operator",
        [],
        kind_of("kafka.strimzi.io", "kafkatopics"),
        facts(workload("strimzi-cluster-operator"), workload("shop-entity-operator", 0, "topic-operator")),
        Life.GONE,
    ),
    "an operator whose pods do it, running": ("cnpg.io/deleteDatabase", [], CNPG, facts(workload("x")), Life.UNKNOWN),
    "an operator whose pods do it, gone": ("cnpg.io/deleteDatabase", [], CNPG, facts(), Life.UNKNOWN),
    "the tool that deployed it": (
        "resources-finalizer.argocd.argoproj.io",
        ["helm-controller"],
        kind_of("argoproj.io", "applications"),
        facts(workload("helm-controller"), workload("argocd-application-controller", 0, wanted=0)),
        Life.GONE,
    ),
    "the controller of another kind": (
        "resources-finalizer.argocd.argoproj.io",
        [],
        kind_of("argoproj.io", "applications"),
        facts(workload("argocd-applicationset-controller"), workload("argocd-application-controller", 0, wanted=0)),
        Life.GONE,
    ),
}


@pytest.mark.parametrize(("finalizer", "managers", "kind", "known", "life"), named(SIBLINGS))
def test_a_sibling_is_not_the_controller(
    finalizer: str, managers: list[str], kind: Resource, known: OwnerFacts, life: Life
) -> None:
    assert judge_owner(finalizer, managers, known, kind, "shop").life is life


def test_of_several_in_the_catalogue_the_one_counts_who_has_set_it() -> None:
    known = facts(workload("kustomize-controller", 0), workload("helm-controller"))
    assert judge_owner("finalizers.fluxcd.io", ["kustomize-controller"], known).life is Life.GONE
    assert judge_owner("finalizers.fluxcd.io", [], known).life is Life.ALIVE


# -- looking -----------------------------------------------------------------------------------------------------------


def template(*containers: tuple[str, str], **labels: str) -> dict[str, Any]:
    spec = {"containers": [{"name": name, "image": image} for name, image in containers]}
    return {"metadata": {"labels": labels}, "spec": spec}


def test_workloads_are_read_with_their_replicas_and_every_name_they_go_by() -> None:
    server = FakeServer()
    image = "localhost:5000/team/Janitor:v1@sha256:0f"
    server.add(
        DEPLOYMENTS,
        "web",
        labels={"app.kubernetes.io/instance": "shop"},
        spec={"replicas": 3, "template": template(("manager", image), app="web-app")},
        status={"availableReplicas": 2},
    )
    server.add(STATEFULSETS, "db", spec={"template": {}}, status={})
    server.add(DAEMONSETS, "agent", spec={}, status={"desiredNumberScheduled": 5, "numberAvailable": 4})
    assert fetch_owner_facts(cluster_on(server)).workloads == [
        Workload(
            "Deployment",
            "shop",
            "web",
            3,
            2,
            frozenset({"web", "manager", "janitor", "web-app"}),
            images=frozenset({"Janitor"}),
        ),
        Workload("StatefulSet", "shop", "db", 1, 0, frozenset({"db"})),
        Workload("DaemonSet", "shop", "agent", 5, 4, frozenset({"agent"})),
    ]


# name: (kind, condition, last writes, seconds)
DOWN_FOR: dict[str, tuple[Resource, dict[str, str], list[str], float | None]] = {
    "a Deployment says it": (DEPLOYMENTS, {"lastTransitionTime": "2025-12-31T23:59:30Z"}, ["2025-12-31T23:00:00Z"], 30),
    "a StatefulSet was written to last": (STATEFULSETS, {}, ["2025-12-31T23:00:00Z", "2025-12-31T23:59:50Z"], 10),
    "a DaemonSet too": (DAEMONSETS, {}, ["2025-12-31T22:00:00Z"], 7200),
    "nothing tells": (STATEFULSETS, {}, [], None),
}


@pytest.mark.parametrize(("kind", "condition", "written", "seconds"), named(DOWN_FOR))
def test_how_long_a_workload_has_been_down_at_least(
    kind: Resource, condition: dict[str, str], written: list[str], seconds: float | None
) -> None:
    server = FakeServer()
    conditions = [{"type": "Available", "status": "False", **condition}] if condition else []
    fields = [{"manager": "m", "time": time} for time in written]
    server.add(
        kind,
        "x",
        spec={"replicas": 1},
        status={"desiredNumberScheduled": 1, "conditions": conditions},
        managedFields=fields,
    )
    [found] = fetch_owner_facts(cluster_on(server)).workloads
    assert found.down_for == seconds
    assert found.may_be_starting is (seconds is None or seconds < 60)


def test_leases_are_read_with_their_age_by_the_servers_clock() -> None:
    server = FakeServer()
    spec = {"holderIdentity": "pod-1", "renewTime": "2025-12-31T23:59:50.000000Z", "leaseDurationSeconds": 60}
    server.add(LEASES, "leader", spec=spec)
    server.add(LEASES, "old", spec={})
    assert fetch_owner_facts(cluster_on(server)).leases == [
        Lease("shop", "leader", "pod-1", 10.0, 60.0),
        Lease("shop", "old", "", float("inf"), 15.0),
    ]


def test_what_may_not_be_listed_is_remembered_as_unreadable() -> None:
    server = FakeServer()
    server.add(STATEFULSETS, "db", spec={}, status={"availableReplicas": 1})
    server.refuse("GET", "/apis/apps/v1/deployments", refusal(403, "Forbidden", "no"))
    server.refuse("GET", "/apis/coordination.k8s.io/v1/leases", refusal(403, "Forbidden", "no"))
    found = fetch_owner_facts(cluster_on(server))
    assert [str(workload) for workload in found.workloads] == ["StatefulSet shop/db"]
    assert found.unreadable == ["Deployments: HTTP 403 Forbidden, no", "Leases: HTTP 403 Forbidden, no"]


def test_who_may_only_look_in_a_namespace_sees_who_runs_there_and_calls_nobody_gone() -> None:
    server = FakeServer()
    server.add(DEPLOYMENTS, "shop-operator", spec={"replicas": 1}, status={"availableReplicas": 1})
    server.add(DEPLOYMENTS, "bank-operator", spec={"replicas": 0}, status={})
    server.refuse("GET", "/apis/apps/v1/deployments", refusal(403, "Forbidden", "no"))
    found = fetch_owner_facts(cluster_on(server), {"shop"})
    assert judge_owner(F, [], found).life is Life.ALIVE
    assert judge_owner("bank.example.com/x", [], found).life is Life.UNKNOWN
    assert found.unreadable == ["Deployments: HTTP 403 Forbidden, no"]


def test_the_whole_look_takes_four_lists() -> None:
    server = FakeServer()
    fetch_owner_facts(cluster_on(server))
    assert [asked.path.rpartition("/")[2] for asked in server.asked] == [
        "deployments",
        "statefulsets",
        "daemonsets",
        "leases",
    ]
