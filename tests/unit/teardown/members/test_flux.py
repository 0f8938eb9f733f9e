# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of a Flux Kustomization and of a HelmRelease."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Resource
from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.flux import flux_membership, installed_by
from ansible_collections.sunset.kube.tests.unit.fakes import named, record
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import HELM_RELEASES, KUSTOMIZATIONS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import SECRETS, SERVED, InMemoryCluster


def cluster_with(*more: Resource) -> InMemoryCluster:
    return InMemoryCluster(*SERVED, *more)


def claims(found: Membership) -> list[str]:
    return [f"{claim.group or 'core'} {claim.kind} {claim.namespace}/{claim.name}" for claim in found.claims]


def records(found: Membership) -> list[str]:
    return [f"{claim.kind} {claim.namespace}/{claim.name}" for claim in found.records]


def kustomization(*ids: str) -> Membership:
    cluster = cluster_with(KUSTOMIZATIONS)
    entries = [{"id": identity, "v": "v1"} for identity in ids]
    cluster.add(KUSTOMIZATIONS, "apps", status={"inventory": {"entries": entries}})
    return flux_membership("Kustomization", "apps", "shop", cluster)


IDS: dict[str, tuple[str, str]] = {
    "namespaced": ("shop_web_apps_Deployment", "apps Deployment shop/web"),
    "core group": ("shop_settings__ConfigMap", "core ConfigMap shop/settings"),
    "cluster-scoped": ("_shop__Namespace", "core Namespace /shop"),
    "cluster-scoped with a group": (
        "_domains.example.com_apiextensions.k8s.io_CustomResourceDefinition",
        "apiextensions.k8s.io CustomResourceDefinition /domains.example.com",
    ),
    "a colon in the name": (
        "_system__reader_rbac.authorization.k8s.io_ClusterRole",
        "rbac.authorization.k8s.io ClusterRole /system:reader",
    ),
    "a colon in the name of something with a namespace": (
        "shop_a__b__c_rbac.authorization.k8s.io_Role",
        "rbac.authorization.k8s.io Role shop/a:b:c",
    ),
    "dots and dashes": ("shop_a.b-c_x.y.io_Kind", "x.y.io Kind shop/a.b-c"),
}


@pytest.mark.parametrize(("identity", "claim"), named(IDS))
def test_an_inventory_entry_names_one_object(identity: str, claim: str) -> None:
    assert claims(kustomization(identity)) == [claim]


@pytest.mark.parametrize("identity", ["", "web", "shop_web", "shop_web_apps", "shop__apps_", "___", "shop_web_apps_"])
def test_an_entry_nobody_can_read_is_a_failure_and_not_a_shorter_list(identity: str) -> None:
    with pytest.raises(CannotLook, match="unknown entry"):
        kustomization("shop_web_apps_Deployment", identity)


STATUSES: dict[str, Any] = {
    "no status": None,
    "no inventory": {},
    "null entries": {"inventory": {"entries": None}},
    "null inventory": {"inventory": None},
}


@pytest.mark.parametrize("status", named(STATUSES))
def test_a_kustomization_without_an_inventory_has_no_members(status: Any) -> None:
    cluster = cluster_with(KUSTOMIZATIONS)
    cluster.add(KUSTOMIZATIONS, "apps", status=status)
    found = flux_membership("Kustomization", "apps", "shop", cluster)
    assert (found.claims, found.missing) == ([], "")


@pytest.mark.parametrize("cluster", [cluster_with(), cluster_with(KUSTOMIZATIONS)], ids=["no Flux", "no such object"])
def test_what_is_not_there_is_missing(cluster: InMemoryCluster) -> None:
    found = flux_membership("Kustomization", "apps", "shop", cluster)
    assert found.missing == "there is no Flux Kustomization shop/apps"


def test_a_kustomizations_object_must_still_carry_its_labels() -> None:
    not_ours = kustomization().not_ours
    assert not_ours is not None

    def labelled(name: str, namespace: str) -> str:
        prefix = "kustomize.toolkit.fluxcd.io"
        return not_ours(record(labels={f"{prefix}/name": name, f"{prefix}/namespace": namespace}), True)

    assert labelled("apps", "shop") == ""
    assert labelled("infra", "flux") == "it belongs to Flux Kustomization flux/infra"
    assert not_ours(record(), True) == "it carries no Flux label"


ORIGIN = {"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "shop"}
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "labels": ORIGIN}}
RELEASE = {"manifest": json.dumps(SETTINGS), "version": 1}
# Where Flux keeps the record: spec.storageNamespace, else the HelmRelease's own namespace.
HELM: dict[str, tuple[dict[str, Any] | None, str, str, str]] = {
    "nothing said": (None, "web", "shop", "shop"),
    "a name": ({"releaseName": "mine"}, "mine", "shop", "shop"),
    "a target namespace": ({"targetNamespace": "prod"}, "prod-web", "shop", "prod"),
    "a storage namespace": ({"storageNamespace": "flux"}, "web", "flux", "shop"),
    "all of them": (
        {"releaseName": "mine", "targetNamespace": "prod", "storageNamespace": "flux"},
        "mine",
        "flux",
        "prod",
    ),
}


@pytest.mark.parametrize(("spec", "release", "storage", "target"), named(HELM))
def test_a_helm_release_is_found_where_flux_keeps_it(
    spec: dict[str, Any] | None, release: str, storage: str, target: str
) -> None:
    cluster = cluster_with(HELM_RELEASES)
    cluster.add(HELM_RELEASES, "web", spec=spec)
    text = base64.b64encode(gzip.compress(json.dumps({**RELEASE, "namespace": target}).encode())).decode()
    labels = {"owner": "helm", "name": release}
    cluster.add(SECRETS, f"sh.helm.release.v1.{release}.v1", storage, labels=labels, data={"release": text})
    found = flux_membership("HelmRelease", "web", "shop", cluster)
    assert (found.missing, claims(found), found.source) == (
        "",
        ["core ConfigMap /settings"],
        "Flux HelmRelease shop/web",
    )
    # Objects that name no namespace live in the release's, which is not always that of its record.
    assert found.default_namespace == target
    assert records(found) == [f"Secret {storage}/sh.helm.release.v1.{release}.v1", "HelmRelease shop/web"]
    marks = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": target}
    assert found.not_ours is not None
    assert found.not_ours(record(annotations=marks, labels=ORIGIN), True) == ""
    other = {**ORIGIN, "helm.toolkit.fluxcd.io/namespace": "bank"}
    assert found.not_ours(record(annotations=marks, labels=other), True) == "it belongs to Flux HelmRelease bank/web"
    # Out of its own namespace the labels of Flux must be there as well.
    out = found.not_ours(record(annotations=marks), True)
    assert bool(out) is ({storage, target} != {"shop"}), out


def test_a_helm_release_in_another_namespace_that_flux_did_not_install_is_refused() -> None:
    """Whoever writes a HelmRelease may name any release of the cluster."""
    cluster = cluster_with(HELM_RELEASES)
    cluster.add(HELM_RELEASES, "web", spec={"releaseName": "payments", "storageNamespace": "bank"})
    text = base64.b64encode(gzip.compress(json.dumps({**RELEASE, "manifest": "", "namespace": "bank"}).encode()))
    labels = {"owner": "helm", "name": "payments"}
    data = {"release": text.decode()}
    cluster.add(SECRETS, "sh.helm.release.v1.payments.v1", "bank", labels=labels, data=data)
    with pytest.raises(Refused, match="the Helm release bank/payments that it names is not its own"):
        flux_membership("HelmRelease", "web", "shop", cluster)


def test_what_a_kustomization_does_not_mark_needs_no_mark() -> None:
    """What its objects own, and what a step takes beyond them, was never marked."""
    not_ours = kustomization().not_ours
    assert not_ours is not None
    assert not_ours(record(), False) == ""
    assert not_ours(record(labels={"kustomize.toolkit.fluxcd.io/name": "x"}), False) != ""


def test_the_flux_object_itself_is_the_record() -> None:
    assert records(kustomization("shop_web_apps_Deployment")) == ["Kustomization shop/apps"]
    assert kustomization().warnings == []


CHARTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "made for it": ({"spec": {"chart": {"spec": {}}}}, ["HelmRelease shop/web", "HelmChart flux/shop-web"]),
    "another one's, by a status that was written by hand": (
        {"spec": {"chart": {"spec": {}}}, "status": {"helmChart": "flux/bank-payments"}},
        ["HelmRelease shop/web"],
    ),
    "somebody else's": ({"spec": {"chartRef": {"kind": "HelmChart", "name": "shop-web"}}}, ["HelmRelease shop/web"]),
}


@pytest.mark.parametrize(("parts", "expected"), named(CHARTS))
def test_a_chart_that_flux_made_for_it_goes_with_a_helm_release(parts: dict[str, Any], expected: list[str]) -> None:
    """Flux itself leaves it behind when the HelmRelease is suspended."""
    cluster = cluster_with(HELM_RELEASES)
    cluster.add(HELM_RELEASES, "web", **{"status": {"helmChart": "flux/shop-web"}, **parts})
    assert records(flux_membership("HelmRelease", "web", "shop", cluster)) == expected


def test_a_helm_release_whose_record_is_gone_already_still_goes_itself() -> None:
    """As after a run that was cut off in its last step."""
    cluster = cluster_with(HELM_RELEASES)
    cluster.add(HELM_RELEASES, "web")
    found = flux_membership("HelmRelease", "web", "shop", cluster)
    assert (found.missing, records(found)) == ("", ["HelmRelease shop/web"])
    assert "there is no record of Helm release shop/web" in found.warnings[0]


# -- what a HelmRelease installs ---------------------------------------------------------------------------------------

INSTALLED: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "by itself": ({}, ("web", "flux", "flux")),
    "into another namespace": ({"spec": {"targetNamespace": "shop"}}, ("shop-web", "flux", "shop")),
    "under a name of its own": ({"spec": {"targetNamespace": "shop", "releaseName": "x"}}, ("x", "flux", "shop")),
    "with its record elsewhere": ({"spec": {"storageNamespace": "box"}}, ("web", "box", "flux")),
    "where the status says it is": (
        {"spec": {"storageNamespace": "new"}, "status": {"storageNamespace": "old"}},
        ("web", "old", "flux"),
    ),
    "a name too long for Helm": (
        {"spec": {"releaseName": "x" * 60}},
        ("x" * 40 + "-" + "42f2d9733566", "flux", "flux"),
    ),
}


@pytest.mark.parametrize(("parts", "expected"), named(INSTALLED))
def test_what_a_helm_release_of_flux_installs(parts: dict[str, Any], expected: tuple[str, str, str]) -> None:
    installed = installed_by({"metadata": {"name": "web", "namespace": "flux"}, **parts})
    assert (installed.release, installed.storage, installed.target) == expected
