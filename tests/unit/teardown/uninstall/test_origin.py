# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of several sources of one name is followed, and when nobody can tell but the person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.options import parse_uninstall
from ansible_collections.sunset.kube.plugins.module_utils.teardown.uninstall.origin import find_origin
from ansible_collections.sunset.kube.tests.unit.fakes import named
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    APPLICATIONS,
    HELM_RELEASES,
    KUSTOMIZATIONS,
    SUBSCRIPTIONS,
    VERSIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, SECRETS, InMemoryCluster
from ansible_collections.sunset.kube.tests.unit.teardown.uninstall.uninstall_fakes import DEFAULTS, a_cluster

Furnish = Callable[[InMemoryCluster], Any]
HERE = {"destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}}
FAR = {"destination": {"server": "https://far.example.com", "namespace": "shop"}}
HELM: dict[str, Any] = {"labels": {"owner": "helm", "name": "shop"}}


def in_two(resource: Any, name: str = "shop", **facts: Any) -> Furnish:
    def furnish(cluster: InMemoryCluster) -> None:
        for team in ("team-a", "team-b"):
            cluster.add(resource, name, team, **facts)

    return furnish


def origin(cluster: InMemoryCluster, **params: Any) -> str:
    options = parse_uninstall({**DEFAULTS, "release": "shop", **params}, check_mode=False)
    found = find_origin(options, cluster)
    assert found is not None
    return found.what


TWINS = {
    "two HelmReleases": in_two(HELM_RELEASES, spec={}),
    "two Kustomizations": in_two(KUSTOMIZATIONS, spec={}),
    "two Applications": in_two(APPLICATIONS, spec=HERE),
    "two Subscriptions": in_two(SUBSCRIPTIONS, spec={"name": "shop"}),
    "what two Subscriptions left": in_two(VERSIONS, "shop.v1"),
    "two Helm releases": in_two(SECRETS, "sh.helm.release.v1.shop.v1", **HELM),
    "two kapp applications": in_two(CONFIG_MAPS, labels={"kapp.k14s.io/is-app": ""}),
}


@pytest.mark.parametrize("furnish", TWINS.values(), ids=TWINS)
def test_of_two_alike_the_person_chooses_by_their_namespace(furnish: Furnish) -> None:
    cluster = a_cluster()
    furnish(cluster)
    with pytest.raises(Refused, match="more than one thing is called shop") as refusal:
        origin(cluster)
    assert [place in refusal.value.why for place in ("team-a/shop", "team-b/shop")] == [True, True]
    assert refusal.value.next_step == "say which, for example namespace: team-a; nothing was changed"
    assert " team-b/shop" in origin(cluster, namespace="team-b")


def test_two_that_installed_a_release_of_this_name_are_told_apart_by_their_own() -> None:
    cluster = a_cluster()
    for team in ("a", "b"):
        spec = {"releaseName": "shop", "targetNamespace": f"team-{team}"}
        cluster.add(HELM_RELEASES, f"shop-{team}", "flux", spec=spec)
    with pytest.raises(Refused, match="release: shop-a and namespace: flux"):
        origin(cluster)
    assert origin(cluster, release="shop-b", namespace="flux") == "Flux HelmRelease flux/shop-b"
    assert origin(cluster, namespace="team-b") == "Flux HelmRelease flux/shop-b"


def test_the_one_in_the_named_namespace_is_meant_though_another_one_installs_there_too() -> None:
    cluster = a_cluster()
    cluster.add(HELM_RELEASES, "shop", "flux", spec={"targetNamespace": "shop"})
    cluster.add(HELM_RELEASES, "shop", "shop", spec={})
    assert origin(cluster, namespace="shop") == "Flux HelmRelease shop/shop"
    assert origin(cluster, namespace="flux") == "Flux HelmRelease flux/shop"


OWNED: dict[str, tuple[Furnish, str]] = {
    "a HelmRelease and its release": (
        lambda cluster: (
            cluster.add(HELM_RELEASES, "shop", spec={}),
            cluster.add(SECRETS, "sh.helm.release.v1.shop.v1", **HELM),
        ),
        "Flux HelmRelease shop/shop",
    ),
    "an Application and one of the same name about another cluster": (
        lambda cluster: (
            cluster.add(APPLICATIONS, "shop", "argocd", spec=FAR),
            cluster.add(APPLICATIONS, "shop", "gitops", spec=HERE),
        ),
        "Argo CD Application gitops/shop",
    ),
}


@pytest.mark.parametrize(("furnish", "expected"), named(OWNED))
def test_an_owner_is_no_rival_of_what_it_owns(furnish: Furnish, expected: str) -> None:
    cluster = a_cluster()
    furnish(cluster)
    assert origin(cluster) == expected


RIVALS: dict[str, tuple[Furnish, str]] = {
    "a kapp application": (
        lambda cluster: cluster.add(CONFIG_MAPS, "shop", labels={"kapp.k14s.io/is-app": ""}),
        "kapp",
    ),
    "a Kustomization": (lambda cluster: cluster.add(KUSTOMIZATIONS, "shop", spec={}), "flux"),
    "an Application": (lambda cluster: cluster.add(APPLICATIONS, "shop", "argocd", spec=HERE), "argocd"),
    "a Subscription": (lambda cluster: cluster.add(SUBSCRIPTIONS, "shop", spec={"name": "shop"}), "olm"),
    "a HelmRelease that installs another release": (
        lambda cluster: cluster.add(HELM_RELEASES, "shop", spec={"releaseName": "shop-web"}),
        "flux",
    ),
    "a HelmRelease that keeps its release elsewhere": (
        lambda cluster: cluster.add(HELM_RELEASES, "shop", spec={"storageNamespace": "flux"}),
        "flux",
    ),
}


@pytest.mark.parametrize(("furnish", "source"), named(RIVALS))
def test_two_sorts_are_told_apart_by_the_source(furnish: Furnish, source: str) -> None:
    cluster = a_cluster()
    cluster.add(SECRETS, "sh.helm.release.v1.shop.v1", **HELM)
    furnish(cluster)
    with pytest.raises(Refused, match=f"Helm release shop/shop are both there.*for example source: {source}"):
        origin(cluster)
    assert origin(cluster, source="helm", namespace="shop") == "Helm release shop/shop"


def test_a_mark_of_an_owner_elsewhere_makes_nothing_its_own() -> None:
    """The labels of Flux name the namespace of the Kustomization, too."""
    cluster = a_cluster()
    flux = "kustomize.toolkit.fluxcd.io"
    cluster.add(KUSTOMIZATIONS, "shop", "tenant", spec={"targetNamespace": "shop"})
    labels = {f"{flux}/name": "shop", f"{flux}/namespace": "flux-system"}
    cluster.add(HELM_RELEASES, "shop", spec={}, labels=labels)
    with pytest.raises(Refused, match="Flux Kustomization tenant/shop and Flux HelmRelease shop/shop are both there"):
        origin(cluster)
    assert origin(cluster, namespace="shop") == "Flux HelmRelease shop/shop"
    cluster.add(KUSTOMIZATIONS, "shop", spec={})
    with pytest.raises(Refused, match=r"for example members.flux.kind: Kustomization of the module ranked_delete"):
        origin(cluster, namespace="shop")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("flux", "Flux HelmRelease shop/shop"),
        ("argocd", "Argo CD Application shop/shop"),
        ("olm", "OLM Subscription shop/shop"),
    ],
)
def test_an_owner_that_is_named_and_not_there_is_no_helm_release(source: str, expected: str) -> None:
    cluster = a_cluster()
    cluster.add(SECRETS, "sh.helm.release.v1.shop.v1", **HELM)
    assert origin(cluster, source=source, namespace="shop") == expected
