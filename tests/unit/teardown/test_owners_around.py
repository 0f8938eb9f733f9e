# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Owners that are told by what is known of the kind: rights, releases, webhooks. A wrong `gone` is what must not be."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owner_facts import (
    Around,
    Lease,
    OwnerFacts,
    Workload,
)
from ansible_collections.sunset.kube.plugins.module_utils.teardown.owners import judge_owner
from ansible_collections.sunset.kube.plugins.module_utils.teardown.permits import Binding, Permits
from ansible_collections.sunset.kube.tests.unit.fakes import PODS, named

KIND = Resource("shop.example.com", "v1", "Domain", "domains", True)
F = "shop.example.com/cleanup"
RELEASE = ("kiln", "pottery")
STALE = Lease("ops", "a1.shop.example.com", "x", 999.0, 15.0)


def workload(name: str, available: int = 1, **more: object) -> Workload:
    made = Workload("Deployment", "ops", name, available, available, frozenset({name}), account=("ops", name))
    return dataclasses.replace(made, **more)


def down(name: str, **more: object) -> Workload:
    return workload(name, 0, **more)


def allowed(*names: str, everything: bool = False) -> Permits:
    role = ("ClusterRole", "", "r")
    group = "*" if everything else KIND.group
    rules = [{"apiGroups": [group], "resources": ["*"], "verbs": ["*"]}]
    return Permits({role: rules}, [Binding("", role, tuple(("ops", name) for name in names))])


def facts(*things: Workload | Lease, around: Around | None = None, unreadable: tuple[str, ...] = ()) -> OwnerFacts:
    return OwnerFacts(
        [thing for thing in things if isinstance(thing, Workload)],
        [thing for thing in things if isinstance(thing, Lease)],
        list(unreadable),
        around or Around(),
    )


def by_right(*names: str, everything: bool = False) -> Around:
    return Around(allowed(*names, everything=everything))


RELEASED = Around(releases={KIND.qualified: RELEASE})
HOOK = Around(hooks={KIND.qualified: "Service ops/hook, which converts domains.shop.example.com, has ready endpoints"})
BLIND = Around(Permits(unreadable=["Roles: HTTP 403"]))

# name: (facts, life, part of the reason)
CASES: dict[str, tuple[OwnerFacts, str, str]] = {
    "runs and may": (facts(workload("x"), around=by_right("x")), "alive", "and it may change domains"),
    "down and may": (facts(down("x"), around=by_right("x")), "gone", "which may change domains"),
    "one of two that may runs": (facts(down("x"), workload("y"), around=by_right("x", "y")), "alive", "ops/y"),
    "runs and may everything": (facts(workload("x"), around=by_right("x", everything=True)), "unknown", "no workload"),
    "nobody may": (facts(workload("x")), "unknown", "no workload or Lease"),
    "named and down, another may": (
        facts(down("shop-operator"), workload("x"), around=by_right("x")),
        "unknown",
        "but Deployment ops/x runs and may change",
    ),
    "named and down, nobody else may": (facts(down("shop-operator"), workload("x")), "gone", "no available replica"),
    "named and down for a moment": (
        facts(down("shop-operator", wanted=1, down_for=5.0)),
        "unknown",
        "only for 5 s: Deployment ops/shop-operator may be starting",
    ),
    "named and down for long": (facts(down("shop-operator", wanted=1, down_for=300.0)), "gone", "no available"),
    "named and scaled to zero just now": (facts(down("shop-operator", wanted=0, down_for=5.0)), "gone", "no available"),
    "named and down, Leases unread": (
        facts(down("shop-operator"), unreadable=("Leases: HTTP 403",)),
        "unknown",
        "could not look: Leases",
    ),
    "a stale Lease": (facts(STALE), "gone", "was last renewed"),
    "a stale Lease, beside it one that may everything": (
        facts(STALE, workload("x"), around=by_right("x", everything=True)),
        "unknown",
        "runs and may change",
    ),
    "a stale Lease, elsewhere one that may everything": (
        facts(
            STALE,
            workload("x", namespace="argocd", account=("ops", "x")),
            around=by_right("x", everything=True),
        ),
        "gone",
        "was last renewed",
    ),
    "a stale Lease, and roles unread": (facts(STALE, around=BLIND), "unknown", "could not look: Roles"),
    "the release runs": (facts(workload("x", release=RELEASE), around=RELEASED), "alive", "the same Helm release"),
    "the release is down": (facts(down("x", release=RELEASE), around=RELEASED), "gone", "the same Helm release"),
    "the release has several, one runs": (
        facts(down("x", release=RELEASE), workload("ui", release=RELEASE), around=RELEASED),
        "unknown",
        "runs Deployment ops/ui",
    ),
    "the release has nothing left": (facts(workload("x"), around=RELEASED), "unknown", "has no workload here"),
    "its webhook answers": (facts(around=HOOK), "alive", "has ready endpoints"),
    "its webhook answers, but its owner by name is down": (
        facts(down("shop-operator"), around=HOOK),
        "gone",
        "no available replica",
    ),
}


@pytest.mark.parametrize(("known", "life", "why"), named(CASES))
def test_who_owns_a_finalizer_of_the_kind_itself(known: OwnerFacts, life: str, why: str) -> None:
    owner = judge_owner(F, [], known, KIND, "shop")
    assert (owner.life.value, why in owner.why) == (life, True), owner


MANAGER = Lease("kube-system", "kube-controller-manager", "x", 999.0, 15.0)
# name: (finalizer, facts, life, part of the reason)
ON_PODS: dict[str, tuple[str, OwnerFacts, str, str]] = {
    "beside its Lease somebody runs": (
        F,
        facts(STALE, workload("x")),
        "unknown",
        "but Deployment ops/x runs beside it",
    ),
    "elsewhere somebody runs": (F, facts(STALE, workload("x", namespace="bank")), "gone", "was last renewed"),
    "beside its Lease somebody is down": (F, facts(STALE, down("x")), "gone", "was last renewed"),
    "its Lease has its very name": (
        "kubernetes.io/pvc-protection",
        facts(MANAGER, workload("dns", namespace="kube-system")),
        "gone",
        "was last renewed",
    ),
}


@pytest.mark.parametrize(("finalizer", "known", "life", "why"), named(ON_PODS))
@pytest.mark.parametrize("around", [True, False])
def test_a_stale_lease_proves_little_of_a_kind_that_everybody_may_change(
    finalizer: str, known: OwnerFacts, life: str, why: str, around: bool
) -> None:
    """Rights say nothing of such a kind; whoever runs beside the Lease may be a newer version without one."""
    seen = known if around else dataclasses.replace(known, around=None)
    owner = judge_owner(finalizer, [], seen, PODS, "shop")
    assert (owner.life.value, why in owner.why) == (life, True), owner


FOREIGN = {
    "of another product": ("velero.io/restore", KIND),
    "without a domain": ("cleanup", KIND),
    "on a kind of Kubernetes": (F, PODS),
    "of a domain that is everybody's": ("k8s.io/x", Resource("gizmos.k8s.io", "v1", "Gizmo", "gizmos", True)),
}


@pytest.mark.parametrize(("finalizer", "kind"), named(FOREIGN))
def test_a_foreign_finalizer_is_not_the_business_of_the_kinds_controller(finalizer: str, kind: Resource) -> None:
    known = facts(workload("x"), around=by_right("x"))
    assert judge_owner(finalizer, [], known, kind, "shop").life.value == "unknown"


CHALLENGES = Resource("acme.cert-manager.io", "v1", "Challenge", "challenges", True)


@pytest.mark.parametrize(
    ("left", "life"),
    [
        ((), "gone"),
        ((down("x", release=RELEASE),), "gone"),
        ((workload("x", release=RELEASE),), "alive"),
        ((workload("x", release=RELEASE), workload("y", release=RELEASE)), "unknown"),
    ],
)
def test_a_product_that_is_always_at_home_is_gone_once_its_release_runs_nothing(
    left: tuple[Workload, ...], life: str
) -> None:
    around = Around(releases={CHALLENGES.qualified: RELEASE})
    owner = judge_owner("finalizer.acme.cert-manager.io", [], facts(*left, around=around), CHALLENGES, "shop")
    assert owner.life.value == life, owner


@pytest.mark.parametrize("finalizer", [F, "finalizer.shop.example.com", "a.shop.example.com/x", "example.com/cleanup"])
def test_a_finalizer_of_the_kinds_domain_is(finalizer: str) -> None:
    known = facts(workload("x"), around=by_right("x"))
    assert judge_owner(finalizer, [], known, KIND, "shop").life.value == "alive"
