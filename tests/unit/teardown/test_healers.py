# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Owners outside of a plan that would bring its members back."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.teardown.healers import find_healers
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, VERBS, named
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import (
    APPLICATION_SETS,
    APPLICATIONS,
    GITOPS,
    HELM_RELEASES,
    KUSTOMIZATIONS,
)
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SERVED,
    InMemoryCluster,
    api_error,
    member,
    named_members,
    ranked,
)

WORKS = Resource(
    "work.open-cluster-management.io", "v1", "AppliedManifestWork", "appliedmanifestworks", False, verbs=VERBS
)
FLUX = "kustomize.toolkit.fluxcd.io"
BY_FLUX = {f"{FLUX}/name": "apps", f"{FLUX}/namespace": "flux"}
BY_ARGO = {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}
SELF_HEAL = {"syncPolicy": {"automated": {"selfHeal": True}}}


def everything() -> InMemoryCluster:
    return InMemoryCluster(*SERVED, *GITOPS, WORKS)


def texts(cluster: InMemoryCluster, *members: Member) -> list[str]:
    return [one.text for one in find_healers(members, cluster)]


def test_an_owner_is_told_once_with_all_it_would_bring_back() -> None:
    cluster = everything()
    cluster.add(KUSTOMIZATIONS, "apps", "flux")
    [found] = find_healers(
        [member(DEPLOYMENTS, labels=BY_FLUX), member(CONFIG_MAPS, labels=BY_FLUX), member(CONFIG_MAPS, "other")],
        cluster,
    )
    assert found.text == "Flux, Kustomization flux/apps brings back Deployment shop/web and 1 more"
    assert found.way_out == "flux suspend kustomization apps -n flux"
    assert cluster.lists == ["kustomizations.kustomize.toolkit.fluxcd.io"], "one list a kind"


QUIET: dict[str, tuple[Resource, tuple[str, str], dict[str, Any], dict[str, Any], str]] = {
    "suspended": (KUSTOMIZATIONS, ("apps", "flux"), {"spec": {"suspend": True}}, {"labels": BY_FLUX}, "suspended"),
    "manual": (APPLICATIONS, ("shop", "argocd"), {"spec": {}}, {"annotations": BY_ARGO}, "only syncs when told to"),
}


@pytest.mark.parametrize(("kind", "place", "facts", "marks", "why"), named(QUIET))
def test_an_owner_that_does_not_heal_is_told_as_such(
    kind: Resource, place: tuple[str, str], facts: dict[str, Any], marks: dict[str, Any], why: str
) -> None:
    cluster = everything()
    cluster.add(kind, *place, **facts)
    [found] = find_healers([member(DEPLOYMENTS, **marks)], cluster)
    assert why in found.quiet
    assert "does not bring it back by itself" in found.text


def test_owners_that_are_in_the_plan_bring_nothing_back() -> None:
    cluster = everything()
    cluster.add(APPLICATIONS, "shop", "argocd", spec=SELF_HEAL)
    owner = member(APPLICATIONS, "shop", "argocd")
    assert texts(cluster, member(DEPLOYMENTS, annotations=BY_ARGO), owner) == []


def test_the_owner_of_an_owner_is_found_through_its_labels() -> None:
    cluster = everything()
    cluster.add(KUSTOMIZATIONS, "apps", "flux")
    cluster.add(HELM_RELEASES, "shop")
    assert texts(cluster, member(HELM_RELEASES, "shop", labels=BY_FLUX)) == [
        "Flux, Kustomization flux/apps brings back HelmRelease shop/shop"
    ]


def test_an_application_set_makes_its_applications_anew() -> None:
    cluster = everything()
    cluster.add(APPLICATION_SETS, "all", "argocd")
    made = [{"uid": "ApplicationSet-argocd-all", "kind": "ApplicationSet"}]
    [found] = find_healers([member(APPLICATIONS, "shop", "argocd", ownerReferences=made)], cluster)
    assert found.text == "Argo CD, ApplicationSet argocd/all brings back Application argocd/shop"


def test_a_work_of_a_hub_is_found_by_its_uid() -> None:
    cluster = everything()
    cluster.add(WORKS, "hub-shop")
    made = [{"uid": "AppliedManifestWork--hub-shop"}]
    assert texts(cluster, member(DEPLOYMENTS, ownerReferences=made)) == [
        "Open Cluster Management, AppliedManifestWork hub-shop brings back Deployment shop/web"
    ]


def test_dependants_do_not_speak_for_themselves() -> None:
    cluster = everything()
    cluster.add(KUSTOMIZATIONS, "apps", "flux")
    child = member(CONFIG_MAPS, labels=BY_FLUX)
    child.dependant = True
    assert texts(cluster, child) == []


def test_what_cannot_be_seen_is_not_taken_for_absent() -> None:
    cluster = everything()
    cluster.unseen["kustomizations"] = api_error(403, "Forbidden", "not yours")
    [found] = find_healers([member(DEPLOYMENTS, labels=BY_FLUX)], cluster)
    assert "may bring back Deployment shop/web: it cannot be seen (HTTP 403 Forbidden, not yours)" in found.text


def test_a_label_that_every_chart_sets_says_nothing_without_such_an_application() -> None:
    cluster = everything()
    chart = member(DEPLOYMENTS, labels={"app.kubernetes.io/instance": "shop"})
    assert texts(cluster, chart) == []
    cluster.add(APPLICATIONS, "shop", "argocd", spec=SELF_HEAL)
    assert texts(cluster, chart) == ["Argo CD, Application argocd/shop brings back Deployment shop/web"]


def test_a_label_that_every_chart_sets_gives_no_command_where_nobody_could_look() -> None:
    """Who may not list Applications is told so; that there is one to be paused would be a guess."""
    cluster = everything()
    cluster.unseen["applications"] = api_error(403, "Forbidden", "not yours")
    chart = {"app.kubernetes.io/instance": "shop"}
    [found] = find_healers([member(CONFIG_MAPS, "settings", labels=chart)], cluster)
    assert "it cannot be seen (HTTP 403 Forbidden, not yours)" in found.text
    assert found.way_out == ""
    cluster.add(CONFIG_MAPS, "settings", labels=chart)
    [kept, warning] = ranked(cluster, members=named_members((CONFIG_MAPS, "settings"))).warnings
    assert warning == found.text
    assert kept.startswith("could not look for kept objects in applications.argoproj.io (HTTP 403 Forbidden")


def test_a_command_says_so_where_the_namespace_of_an_owner_is_not_known() -> None:
    cluster = everything()
    cluster.unseen["applications"] = api_error(403, "Forbidden", "not yours")
    [found] = find_healers([member(DEPLOYMENTS, annotations=BY_ARGO)], cluster)
    assert found.way_out.startswith("kubectl annotate application shop -n <namespace> ")


def test_a_ranked_deletion_warns_of_whoever_brings_back_what_it_deletes() -> None:
    cluster = everything()
    cluster.add(KUSTOMIZATIONS, "apps", "flux")
    cluster.add(CONFIG_MAPS, "settings", labels=BY_FLUX)
    assert ranked(cluster, members=named_members((CONFIG_MAPS, "settings"))).warnings == [
        "Flux, Kustomization flux/apps brings back ConfigMap shop/settings "
        "(way out: flux suspend kustomization apps -n flux)"
    ]


def test_loud_ones_come_before_those_that_cannot_be_seen_and_quiet_ones() -> None:
    cluster = everything()
    cluster.add(APPLICATIONS, "shop", "argocd", spec=SELF_HEAL)
    cluster.add(KUSTOMIZATIONS, "apps", "flux", spec={"suspend": True})
    cluster.unseen["helmreleases"] = api_error(403)
    helm = {"helm.toolkit.fluxcd.io/name": "x", "helm.toolkit.fluxcd.io/namespace": "shop"}
    found = find_healers(
        [member(DEPLOYMENTS, annotations=BY_ARGO), member(CONFIG_MAPS, labels={**BY_FLUX, **helm})], cluster
    )
    assert [(bool(one.quiet), bool(one.unseen)) for one in found] == [(False, False), (False, True), (True, False)]


def test_a_cluster_without_any_of_these_tools_is_asked_nothing() -> None:
    cluster = InMemoryCluster()
    assert texts(cluster, member(DEPLOYMENTS, labels={"app.kubernetes.io/instance": "shop"})) == []
    assert cluster.lists == []
