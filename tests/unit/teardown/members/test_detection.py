# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which sources know an application by a name, and which of them owns the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, CannotLook, Unreachable
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.detection import Candidate, find_sources
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.sources import SOURCES
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, named
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    APPLICATIONS,
    GITOPS,
    HELM_RELEASES,
    KUSTOMIZATIONS,
    OLM,
    SUBSCRIPTIONS,
    VERSIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    SERVED,
    InMemoryCluster,
    api_error,
)

HERE = {"server": "https://kubernetes.default.svc", "namespace": "shop"}
Furnish = Callable[[InMemoryCluster], Any]


def everything() -> InMemoryCluster:
    return InMemoryCluster(*SERVED, *GITOPS, *OLM)


def helm(
    cluster: InMemoryCluster, release: str = "shop", namespace: str = "shop", store: Any = SECRETS, **more: Any
) -> None:
    labels = {"owner": "helm", "name": release}
    cluster.add(store, f"sh.helm.release.v1.{release}.v1", namespace, labels=labels, **more)


def found(cluster: InMemoryCluster, release: str | None = "shop", namespace: str | None = "shop") -> list[str]:
    return [candidate.what for candidate in find_sources(release, namespace, cluster)]


# -- each source by itself ---------------------------------------------------------------------------------------------

HELM = {"release": "shop", "namespace": "shop", "driver": "auto"}
KUSTOMIZATION = {"kind": "Kustomization", "name": "shop", "namespace": "flux-system"}
HELM_RELEASE = {"kind": "HelmRelease", "name": "shop", "namespace": "shop"}
ARGO = {"name": "shop", "namespace": "argocd"}
IS_APP = {"kapp.k14s.io/is-app": ""}
ONE: dict[str, tuple[Furnish, Candidate]] = {
    "a Helm release": (helm, Candidate("helm", {"helm": HELM}, "Helm release shop/shop")),
    "a Helm release in a ConfigMap": (
        lambda cluster: helm(cluster, store=CONFIG_MAPS),
        Candidate("helm", {"helm": HELM}, "Helm release shop/shop"),
    ),
    "a kapp application": (
        lambda cluster: cluster.add(CONFIG_MAPS, "shop.apps.k14s.io", labels=IS_APP),
        Candidate("kapp", {"kapp": {"app": "shop", "namespace": "shop"}}, "kapp application shop/shop"),
    ),
    "a kapp application of old": (
        lambda cluster: cluster.add(CONFIG_MAPS, "shop", labels=IS_APP),
        Candidate("kapp", {"kapp": {"app": "shop", "namespace": "shop"}}, "kapp application shop/shop"),
    ),
    "a Kustomization that puts it into the namespace": (
        lambda cluster: cluster.add(KUSTOMIZATIONS, "shop", "flux-system", spec={"targetNamespace": "shop"}),
        Candidate("flux", {"flux": KUSTOMIZATION}, "Flux Kustomization flux-system/shop"),
    ),
    "a Kustomization whose inventory is in the namespace": (
        lambda cluster: cluster.add(
            KUSTOMIZATIONS,
            "shop",
            "flux-system",
            status={"inventory": {"entries": [{"id": "shop_web_apps_Deployment"}]}},
        ),
        Candidate("flux", {"flux": KUSTOMIZATION}, "Flux Kustomization flux-system/shop"),
    ),
    "a HelmRelease": (
        lambda cluster: cluster.add(HELM_RELEASES, "shop"),
        Candidate("flux", {"flux": HELM_RELEASE}, "Flux HelmRelease shop/shop"),
    ),
    "a HelmRelease elsewhere, by its release's name": (
        lambda cluster: cluster.add(
            HELM_RELEASES, "web", "flux-system", spec={"releaseName": "shop", "targetNamespace": "shop"}
        ),
        Candidate(
            "flux",
            {"flux": {"kind": "HelmRelease", "name": "web", "namespace": "flux-system"}},
            "Flux HelmRelease flux-system/web",
        ),
    ),
    "an Application in Argo CD's own namespace": (
        lambda cluster: cluster.add(APPLICATIONS, "shop", "argocd", spec={"destination": HERE}),
        Candidate("argocd", {"argocd": ARGO}, "Argo CD Application argocd/shop"),
    ),
    "an Application whose objects are in the namespace": (
        lambda cluster: cluster.add(APPLICATIONS, "shop", "argocd", status={"resources": [{"namespace": "shop"}]}),
        Candidate("argocd", {"argocd": ARGO}, "Argo CD Application argocd/shop"),
    ),
    "a Subscription": (
        lambda cluster: cluster.add(SUBSCRIPTIONS, "shop"),
        Candidate("olm", {"olm": {"subscription": "shop", "namespace": "shop"}}, "OLM Subscription shop/shop"),
    ),
    "a Subscription by its package": (
        lambda cluster: cluster.add(SUBSCRIPTIONS, "ours", spec={"name": "shop"}),
        Candidate("olm", {"olm": {"subscription": "ours", "namespace": "shop"}}, "OLM Subscription shop/ours"),
    ),
    "what a Subscription that is gone has installed": (
        lambda cluster: cluster.add(VERSIONS, "shop.v1.2.3"),
        Candidate(
            "olm", {"olm": {"subscription": "shop", "namespace": "shop"}}, "what OLM Subscription shop/shop installed"
        ),
    ),
    "the same, by its package": (
        lambda cluster: cluster.add(VERSIONS, "bakery.v1", labels={"operators.coreos.com/shop.shop": ""}),
        Candidate(
            "olm", {"olm": {"subscription": "shop", "namespace": "shop"}}, "what OLM Subscription shop/shop installed"
        ),
    ),
    "a Subscription by its installed version": (
        lambda cluster: cluster.add(SUBSCRIPTIONS, "ours", status={"installedCSV": "shop.v1.2.3"}),
        Candidate("olm", {"olm": {"subscription": "ours", "namespace": "shop"}}, "OLM Subscription shop/ours"),
    ),
}


@pytest.mark.parametrize(("furnish", "candidate"), named(ONE))
def test_a_source_is_found_with_the_option_that_names_it(furnish: Furnish, candidate: Candidate) -> None:
    cluster = everything()
    furnish(cluster)
    assert find_sources("shop", "shop", cluster) == [candidate]
    assert find_sources("shop", None, cluster) == [candidate], "the namespace need not be known"
    assert set(candidate.option) <= set(SOURCES)


OTHERS: dict[str, Furnish] = {
    "nothing": lambda cluster: None,
    "a Helm release of another name": lambda cluster: helm(cluster, "bank"),
    "a Helm release in another namespace": lambda cluster: helm(cluster, namespace="bank"),
    "a Secret of that name": lambda cluster: cluster.add(SECRETS, "shop"),
    "a ConfigMap of that name": lambda cluster: cluster.add(CONFIG_MAPS, "shop"),
    "a Kustomization about another namespace": lambda cluster: cluster.add(
        KUSTOMIZATIONS, "shop", "flux-system", spec={"targetNamespace": "bank"}
    ),
    "an Application about another namespace": lambda cluster: cluster.add(
        APPLICATIONS, "shop", "argocd", spec={"destination": {**HERE, "namespace": "bank"}}
    ),
    "a Subscription in another namespace": lambda cluster: cluster.add(SUBSCRIPTIONS, "shop", "bank"),
    "a copy of a version": lambda cluster: cluster.add(
        VERSIONS, "shop.v1.2.3", labels={"olm.copiedFrom": "operators", "operators.coreos.com/shop.operators": ""}
    ),
    "the namespace itself": lambda cluster: cluster.add(NAMESPACES, "shop"),
}


@pytest.mark.parametrize("furnish", named(OTHERS))
def test_what_only_looks_alike_is_no_source(furnish: Furnish) -> None:
    cluster = everything()
    furnish(cluster)
    assert find_sources("shop", "shop", cluster) == []


def test_a_namespace_is_a_source_only_when_no_release_is_named() -> None:
    cluster = everything()
    cluster.add(NAMESPACES, "shop")
    helm(cluster)
    assert find_sources(None, "shop", cluster) == [Candidate("namespace", {"namespace": "shop"}, "namespace shop")]
    assert find_sources("", "bank", cluster) == []
    assert find_sources(None, None, cluster) == []


# -- several -----------------------------------------------------------------------------------------------------------


def tracking(application: str) -> dict[str, str]:
    return {"argocd.argoproj.io/tracking-id": f"{application}:helm.toolkit.fluxcd.io/HelmRelease:shop/shop"}


SEVERAL: dict[str, tuple[Furnish, list[str]]] = {
    "who installed a Helm release comes before it": (
        lambda cluster: (helm(cluster), cluster.add(HELM_RELEASES, "shop")),
        ["Flux HelmRelease shop/shop", "Helm release shop/shop"],
    ),
    "an Application comes before the HelmRelease it put there": (
        lambda cluster: (
            cluster.add(HELM_RELEASES, "shop", annotations=tracking("argocd_shop")),
            cluster.add(APPLICATIONS, "shop", "argocd", spec={"destination": HERE}),
        ),
        ["Argo CD Application argocd/shop", "Flux HelmRelease shop/shop"],
    ),
    "and after the Kustomization that put it there": (
        lambda cluster: (
            cluster.add(KUSTOMIZATIONS, "shop"),
            cluster.add(
                APPLICATIONS,
                *("shop", "argocd"),
                spec={"destination": HERE},
                labels={"kustomize.toolkit.fluxcd.io/name": "shop"},
            ),
        ),
        ["Flux Kustomization shop/shop", "Argo CD Application argocd/shop"],
    ),
    "a chart that brings a Subscription comes before it": (
        lambda cluster: (
            helm(cluster),
            cluster.add(SUBSCRIPTIONS, "shop", annotations={"meta.helm.sh/release-name": "shop"}),
        ),
        ["Helm release shop/shop", "OLM Subscription shop/shop"],
    ),
    "an Application about another cluster comes last": (
        lambda cluster: (
            helm(cluster),
            cluster.add(
                APPLICATIONS, "shop", "argocd", spec={"destination": {**HERE, "server": "https://far.example.com"}}
            ),
        ),
        ["Helm release shop/shop", "Argo CD Application argocd/shop"],
    ),
    "marks in a circle do not stop anybody": (
        lambda cluster: (
            cluster.add(HELM_RELEASES, "shop", annotations=tracking("shop")),
            cluster.add(
                APPLICATIONS,
                *("shop", "argocd"),
                spec={"destination": HERE},
                labels={"helm.toolkit.fluxcd.io/name": "shop"},
            ),
        ),
        ["Argo CD Application argocd/shop", "Flux HelmRelease shop/shop"],
    ),
    "two records of one release are one release": (
        lambda cluster: (helm(cluster), helm(cluster, store=CONFIG_MAPS)),
        ["Helm release shop/shop"],
    ),
}


@pytest.mark.parametrize(("furnish", "expected"), named(SEVERAL))
def test_owners_come_first(furnish: Furnish, expected: list[str]) -> None:
    cluster = everything()
    furnish(cluster)
    assert found(cluster) == expected


def test_without_a_namespace_namesakes_are_all_shown() -> None:
    cluster = everything()
    helm(cluster)
    helm(cluster, namespace="bank")
    assert found(cluster, namespace=None) == ["Helm release bank/shop", "Helm release shop/shop"]


# -- what cannot be seen -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plural", "who"),
    [
        ("secrets", "Helm releases"),
        ("configmaps", "kapp applications or Helm releases"),
        ("applications", "Argo CD Applications"),
        ("helmreleases", "Flux HelmReleases"),
        ("kustomizations", "Flux Kustomizations"),
        ("subscriptions", "OLM Subscriptions"),
    ],
)
@pytest.mark.parametrize("status", [403, 503])
def test_what_could_not_be_seen_is_never_taken_for_not_there(plural: str, who: str, status: int) -> None:
    cluster = everything()
    cluster.add(NAMESPACES, "shop")
    cluster.unseen[plural] = api_error(status, "Reason", f"no way to {plural}")
    with pytest.raises(CannotLook, match=f"cannot see whether shop belongs to {who}: .*no way to {plural}") as refused:
        find_sources("shop", "shop", cluster)
    assert "name the source" in refused.value.next_step


def test_an_api_group_whose_server_is_down_is_not_one_that_is_not_installed() -> None:
    cluster = InMemoryCluster()
    helm(cluster)
    cluster.stale.append("argoproj.io/v1alpha1")
    with pytest.raises(CannotLook, match=r"Argo CD Applications.*does not answer.*seen: Helm release shop/shop"):
        find_sources("shop", "shop", cluster)


def test_a_named_source_alone_is_looked_at() -> None:
    cluster = everything()
    helm(cluster)
    cluster.add(HELM_RELEASES, "shop")
    cluster.unseen["applications"] = api_error(403, "Forbidden")
    assert [one.what for one in find_sources("shop", "shop", cluster, "helm")] == ["Helm release shop/shop"]
    assert [one.what for one in find_sources("shop", "shop", cluster, "flux")] == ["Flux HelmRelease shop/shop"]
    assert find_sources("shop", "shop", cluster, "olm") == []


def test_no_answer_at_all_ends_the_task_as_such() -> None:
    cluster = everything()
    cluster.unseen["secrets"] = Unreachable("no answer")
    with pytest.raises(Unreachable):
        find_sources("shop", "shop", cluster)


def test_products_that_are_not_installed_cost_no_request() -> None:
    cluster = InMemoryCluster()
    helm(cluster)
    assert found(cluster) == ["Helm release shop/shop"]
    assert sorted(cluster.lists) == [
        "configmaps in namespace shop kapp.k14s.io/is-app",
        "configmaps in namespace shop owner=helm,name=shop",
        "secrets in namespace shop owner=helm,name=shop",
    ]


@pytest.mark.parametrize("release", ["shop,owner=x", "Shop", "a b", "../x", "-a", "x" * 300])
def test_what_cannot_be_a_name_is_not_sent(release: str) -> None:
    cluster = everything()
    with pytest.raises(BadOption, match="cannot be the name"):
        find_sources(release, "shop", cluster)
    assert cluster.lists == []
