# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whom a route names as its owner, which object is meant by that, and whether it heals."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.gitops.healers import (
    Claim,
    Healer,
    claims_on,
    maker_of,
    owners_meant,
    preserves,
)
from ansible_collections.sunset.kube.plugins.module_utils.profiles.gitops_owners import GITOPS_OWNERS, GitopsOwner
from ansible_collections.sunset.kube.tests.unit.fakes import named

ARGO, KUSTOMIZATION, HELM_RELEASE, FLEET, CONFIG_SYNC, KAPP, OCM = GITOPS_OWNERS
TRACKING = "argocd.argoproj.io/tracking-id"
FLUX, FLUX_HELM = "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"
SET_ID, SET_OWNER = "objectset.rio.cattle.io/id", "objectset.rio.cattle.io/owner-gvk"
MANAGED = "configmanagement.gke.io"


def route(labels: Any = None, annotations: Any = None, **more: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop", "labels": labels, "annotations": annotations, **more}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": {}}


def work(kind: str) -> dict[str, Any]:
    return {"apiVersion": "work.open-cluster-management.io/v1", "kind": kind, "name": "w", "uid": "1"}


# what the route carries → owners as tool, name, namespace, and whether others use the same mark
CLAIMS: dict[str, tuple[dict[str, Any], list[tuple[str, str, str, bool]]]] = {
    "nothing": (route(), []),
    "Argo CD's annotation": (
        route(annotations={TRACKING: "shop:networking.k8s.io/Ingress:shop/web"}),
        [("Argo CD", "shop", "", False)],
    ),
    "an Application of another namespace": (
        route(annotations={TRACKING: "team-a_shop:networking.k8s.io/Ingress:shop/web"}),
        [("Argo CD", "shop", "team-a", False)],
    ),
    "an annotation copied from another object": (
        route(annotations={TRACKING: "shop:networking.k8s.io/Ingress:shop/other"}),
        [],
    ),
    "an annotation copied from another kind": (route(annotations={TRACKING: "shop:apps/Deployment:shop/web"}), []),
    "an annotation without a place": (route(annotations={TRACKING: "shop"}), []),
    "Argo CD's label": (route({"argocd.argoproj.io/instance": "shop"}), [("Argo CD", "shop", "", False)]),
    "the label of every chart": (route({"app.kubernetes.io/instance": "shop"}), [("Argo CD", "shop", "", True)]),
    "both labels": (
        route({"app.kubernetes.io/instance": "shop", "argocd.argoproj.io/instance": "shop"}),
        [("Argo CD", "shop", "", False)],
    ),
    "Flux, Kustomization": (
        route({f"{FLUX}/name": "apps", f"{FLUX}/namespace": "flux-system"}),
        [("Flux", "apps", "flux-system", False)],
    ),
    "Flux, told to leave it alone": (route({f"{FLUX}/name": "apps"}, {f"{FLUX}/reconcile": "disabled"}), []),
    "Flux, only made if missing": (route({f"{FLUX}/name": "apps"}, {f"{FLUX}/ssa": "IfNotPresent"}), []),
    "Flux, both": (
        route({f"{FLUX}/name": "apps", f"{FLUX_HELM}/name": "shop", f"{FLUX_HELM}/namespace": "shop"}),
        [("Flux", "apps", "", False), ("Flux", "shop", "shop", False)],
    ),
    "Fleet": (route(annotations={SET_ID: "default-shop"}), [("Fleet", "default-shop", "", False)]),
    "an object set of k3s": (route(annotations={SET_ID: "x", SET_OWNER: "k3s.cattle.io/v1, Kind=Addon"}), []),
    "Config Sync": (
        route(annotations={f"{MANAGED}/managed": "enabled", "configsync.gke.io/manager": ":root"}),
        [("Config Sync", ":root", "", False)],
    ),
    "Config Sync, switched off": (route(annotations={f"{MANAGED}/managed": "disabled"}), []),
    "kapp": (route({"kapp.k14s.io/app": "17"}), [("kapp-controller", "kapp.k14s.io/app=17", "", True)]),
    "a ManifestWork": (
        route(ownerReferences=[work("AppliedManifestWork")]),
        [("Open Cluster Management", "w", "", False)],
    ),
    "another owner": (route(ownerReferences=[work("ManifestWork")]), []),
}


@pytest.mark.parametrize(("item", "expected"), named(CLAIMS))
def test_a_route_names_its_owners(item: dict[str, Any], expected: list[tuple[str, str, str, bool]]) -> None:
    found = [(claim.owner.tool, claim.name, claim.namespace, claim.ambiguous) for claim in claims_on(item)]
    assert found == expected


def application(spec: Any = None, name: str = "shop", namespace: str = "argocd", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, **more.pop("metadata", {})}, "spec": spec or {}, **more}


HEALING = {"syncPolicy": {"automated": {"selfHeal": True}}}
SKIPPED = {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}
OURS = {"annotations": {**SKIPPED["annotations"], "sunset.dev/paused-for": "Ingress shop/other"}}
# owner, its object → a word of why it is quiet; empty when it heals
QUIET: dict[str, tuple[GitopsOwner, dict[str, Any], str]] = {
    "Argo CD heals": (ARGO, application(HEALING), ""),
    "Argo CD without automation": (ARGO, application({"syncPolicy": {}}), "when told"),
    "Argo CD, switched off": (
        ARGO,
        application({"syncPolicy": {"automated": {"enabled": False, "selfHeal": True}}}),
        "automated sync is off",
    ),
    "Argo CD without self-heal": (ARGO, application({"syncPolicy": {"automated": {"prune": True}}}), "next commit"),
    "Argo CD, paused by people": (ARGO, application(HEALING, metadata=SKIPPED), "paused"),
    "Argo CD, paused by us for another route": (ARGO, application(HEALING, metadata=OURS), ""),
    "Flux": (KUSTOMIZATION, application({}), ""),
    "Flux, suspended": (KUSTOMIZATION, application({"suspend": True}), "suspended"),
    "a release that corrects drift": (HELM_RELEASE, application({"driftDetection": {"mode": "enabled"}}), ""),
    "a release that warns of drift": (HELM_RELEASE, application({"driftDetection": {"mode": "warn"}}), "next upgrade"),
    "a release": (HELM_RELEASE, application({}), "next upgrade"),
    "a bundle": (FLEET, application({}), "next commit"),
    "a bundle that corrects drift": (FLEET, application({"correctDrift": {"enabled": True}}), ""),
    "an App": (KAPP, application({}), ""),
    "an App that is paused": (KAPP, application({"paused": True}), "paused"),
}


@pytest.mark.parametrize(("owner", "item", "word"), named(QUIET))
def test_an_owner_heals_unless_its_object_says_otherwise(owner: GitopsOwner, item: dict[str, Any], word: str) -> None:
    why = Healer(Claim(owner, "shop"), item).why_quiet
    assert (word in why) if word else why == ""


def test_an_owner_that_cannot_be_seen_is_never_taken_for_quiet() -> None:
    assert Healer(Claim(ARGO, "shop"), unseen="HTTP 403").why_quiet == ""


def test_of_namesakes_the_one_that_lists_the_route_is_meant() -> None:
    listing = {"resources": [{"kind": "Ingress", "namespace": "shop", "name": "web"}]}
    mine, other = application(namespace="argo-a", status=listing), application(namespace="argo-b")
    assert owners_meant(Claim(ARGO, "shop"), route(), [other, mine]) == [mine]
    assert owners_meant(Claim(ARGO, "shop", "argo-b"), route(), [other, mine]) == [other]
    assert owners_meant(Claim(ARGO, "shop"), route(), [other, application()]) == [other, application()]


def test_an_app_is_known_by_its_label_and_a_bundle_by_the_end_of_its_set() -> None:
    label = {"deploy": {"kapp": {"associatedResources": {"label": "kapp.k14s.io/app=17"}}}}
    app = application(name="other-name", status=label)
    assert owners_meant(Claim(KAPP, "kapp.k14s.io/app=17"), route(), [application(), app]) == [app]
    bundle = application(name="shop")
    assert owners_meant(Claim(FLEET, "default-shop"), route(), [application(name="web"), bundle]) == [bundle]


def test_a_generator_lets_a_pause_stay_only_if_it_says_so() -> None:
    keys = ["argocd.argoproj.io/skip-reconcile", "sunset.dev/paused-for"]
    assert not preserves(application(), ARGO, keys)
    assert not preserves(application({"preservedFields": {"annotations": keys[:1]}}), ARGO, keys)
    assert preserves(application({"preservedFields": {"annotations": keys}}), ARGO, keys)
    assert preserves(application({"syncPolicy": {"applicationsSync": "create-only"}}), ARGO, keys)


def test_only_a_controlling_owner_has_made_an_object() -> None:
    assert maker_of(route(ownerReferences=[{"kind": "Grafana", "name": "g", "controller": True}])) == ("Grafana", "g")
    assert maker_of(route(ownerReferences=[{"kind": "Grafana", "name": "g"}])) == ("", "")


@pytest.mark.parametrize("owner", GITOPS_OWNERS, ids=lambda owner: f"{owner.tool} {owner.kind}")
def test_every_owner_has_a_way_out_that_can_be_written_down(owner: GitopsOwner) -> None:
    healer = Healer(Claim(owner, "shop", "apps"))
    assert healer.way_out
    assert "{" not in healer.way_out
    assert not (owner.pause_owner and not owner.quiet)  # a pause must be seen, to tell ours from others'
