# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Members of an Argo CD Application."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.problems import CannotLook, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.argocd import argocd_membership
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.claims import Membership
from ansible_collections.sunset.kube.plugins.module_utils.well_known import BINDINGS
from ansible_collections.sunset.kube.tests.unit.fakes import named, record
from ansible_collections.sunset.kube.tests.unit.teardown.gitops_kinds import APPLICATIONS, GITOPS
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    SECRETS,
    SERVED,
    InMemoryCluster,
    api_error,
)

TRACKING, INSTANCE = "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"
WEB = {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
ROLE = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole", "name": "shop"}
SETTINGS = {"version": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "settings"}


def cluster_with(*resources: dict[str, Any], destination: Any = None, **more: Any) -> InMemoryCluster:
    cluster = InMemoryCluster(*SERVED, *GITOPS)
    spec = {"destination": destination or {"server": "https://kubernetes.default.svc"}}
    cluster.add(APPLICATIONS, "shop", "argocd", spec=spec, status={"resources": list(resources)}, **more)
    return cluster


def membership(*resources: dict[str, Any], **more: Any) -> Membership:
    return argocd_membership("shop", "argocd", cluster_with(*resources, **more))


def install_argo_cd(cluster: InMemoryCluster, namespace: str = "argocd", **settings: str) -> InMemoryCluster:
    """Its controller with its permissions, and its settings."""
    account = {"kind": "ServiceAccount", "name": "argocd-application-controller", "namespace": namespace}
    cluster.add(BINDINGS[0], "argocd-application-controller", "", subjects=[account])
    data = {f"application.{key}": value for key, value in settings.items()}
    cluster.add(CONFIG_MAPS, "argocd-cm", namespace, data=data)
    return cluster


def test_the_status_lists_the_members_and_the_application_is_the_record() -> None:
    found = membership(WEB, ROLE, SETTINGS)
    assert [(claim.group, claim.kind, claim.namespace, claim.name) for claim in found.claims] == [
        ("apps", "Deployment", "shop", "web"),
        ("rbac.authorization.k8s.io", "ClusterRole", "", "shop"),
        ("", "ConfigMap", "shop", "settings"),
    ]
    assert [(claim.kind, claim.namespace, claim.name) for claim in found.records] == [("Application", "argocd", "shop")]
    assert (found.warnings, found.missing) == ([], "")


@pytest.mark.parametrize(
    "cluster", [InMemoryCluster(), InMemoryCluster(*SERVED, *GITOPS)], ids=["no Argo CD", "no such one"]
)
def test_what_is_not_there_is_missing(cluster: InMemoryCluster) -> None:
    assert argocd_membership("shop", "argocd", cluster).missing == "there is no Argo CD Application argocd/shop"


def test_a_status_that_lists_nothing_is_said() -> None:
    assert "lists no objects" in membership().warnings[0]


def test_an_entry_without_a_name_is_a_failure_and_not_a_shorter_list() -> None:
    with pytest.raises(CannotLook, match="without a name"):
        membership(WEB, {"kind": "Service"})


def test_applications_of_an_application_are_told_about() -> None:
    inner = {"group": "argoproj.io", "version": "v1alpha1", "kind": "Application", "namespace": "argocd", "name": "db"}
    assert "1 Applications, argocd/db among them" in membership(WEB, inner).warnings[0]


# -- whose objects they are --------------------------------------------------------------------------------------------

MARKS: dict[str, tuple[dict[str, Any], bool, str]] = {
    "tracked": ({"annotations": {TRACKING: "shop:apps/Deployment:shop/web"}}, True, ""),
    "tracked from another namespace": ({"annotations": {TRACKING: "argocd_shop:apps/Deployment:shop/web"}}, True, ""),
    "tracked by another": (
        {"annotations": {TRACKING: "team_bank:apps/Deployment:shop/web"}},
        True,
        "it belongs to Argo CD Application team/bank",
    ),
    "dependants of another, too": (
        {"annotations": {TRACKING: "bank:apps/Deployment:shop/web"}},
        False,
        "it belongs to Argo CD Application bank",
    ),
    "labelled": ({"labels": {INSTANCE: "shop"}}, True, ""),
    "labelled by another": ({"labels": {INSTANCE: "bank"}}, True, "it belongs to Argo CD Application bank"),
    "the annotation beats the chart's label": (
        {
            "annotations": {TRACKING: "shop:apps/Deployment:shop/web"},
            "labels": {"app.kubernetes.io/instance": "release"},
        },
        True,
        "",
    ),
    "labelled as no Argo CD here does it": (
        {"labels": {"app.kubernetes.io/instance": "shop"}},
        True,
        f"it carries no mark of the Application (annotation {TRACKING})",
    ),
    "any label with its name": (
        {"labels": {"example.com/instance": "shop", "app": "shop"}},
        True,
        f"it carries no mark of the Application (annotation {TRACKING})",
    ),
    "an annotation that was copied from another object": (
        {"annotations": {TRACKING: "shop:/ConfigMap:shop/x"}},
        True,
        f"its annotation {TRACKING} was made for another object, /ConfigMap:shop/x",
    ),
    "an annotation that was copied from another kind": (
        {"annotations": {TRACKING: "shop:/Service:shop/web"}},
        True,
        f"its annotation {TRACKING} was made for another object, /Service:shop/web",
    ),
    "an annotation that was copied from another namespace": (
        {"annotations": {TRACKING: "shop:apps/Deployment:bank/web"}},
        True,
        f"its annotation {TRACKING} was made for another object, apps/Deployment:bank/web",
    ),
    "a namespace of that name": (
        {"labels": {"kubernetes.io/metadata.name": "shop"}},
        True,
        f"it carries no mark of the Application (annotation {TRACKING})",
    ),
    "unmarked": ({}, True, f"it carries no mark of the Application (annotation {TRACKING})"),
    "unmarked, and never marked": ({}, False, ""),
}


@pytest.mark.parametrize(("facts", "marked", "why"), named(MARKS))
def test_a_live_object_must_still_be_the_applications_own(facts: dict[str, Any], marked: bool, why: str) -> None:
    not_ours = membership(WEB).not_ours
    assert not_ours is not None
    assert not_ours(record(**facts), marked) == why


def test_what_is_cluster_scoped_is_tracked_with_the_namespace_of_the_application() -> None:
    not_ours = membership(ROLE).not_ours
    assert not_ours is not None
    mark = {TRACKING: "shop:rbac.authorization.k8s.io/ClusterRole:shop/shop"}
    assert not_ours(record("shop", "", annotations=mark), True) == ""
    assert not_ours(record("other", "", annotations=mark), True) != ""


LABEL = {"labels": {"app.kubernetes.io/instance": "shop"}}
BY_LABEL: dict[str, tuple[dict[str, str], dict[str, Any], bool]] = {
    "as Argo CD does it up to version 2": ({}, LABEL, True),
    "as its settings say": ({"resourceTrackingMethod": "label"}, LABEL, True),
    "under a key of their own": ({"instanceLabelKey": "example.com/i"}, {"labels": {"example.com/i": "shop"}}, True),
    "under another key than theirs": ({"instanceLabelKey": "example.com/i"}, LABEL, False),
    "but they track by annotation": ({"resourceTrackingMethod": "annotation"}, LABEL, False),
    "but they track by annotation, and label for people": (
        {"resourceTrackingMethod": "annotation+label"},
        LABEL,
        False,
    ),
    "of another name": ({}, {"labels": {"app.kubernetes.io/instance": "bank"}}, False),
    "of a release that Helm installed": ({}, {**LABEL, "annotations": {"meta.helm.sh/release-name": "shop"}}, False),
}


@pytest.mark.parametrize(("settings", "facts", "ours"), named(BY_LABEL))
def test_a_label_counts_where_argo_cd_tracks_by_that_label(
    settings: dict[str, str], facts: dict[str, Any], ours: bool
) -> None:
    not_ours = argocd_membership("shop", "argocd", install_argo_cd(cluster_with(WEB), **settings)).not_ours
    assert not_ours is not None
    assert (not_ours(record(**facts), True) == "") is ours


def test_outside_of_argo_cds_own_namespace_settings_are_a_tenants_and_the_plain_name_is_anothers() -> None:
    cluster = cluster_with(WEB)
    install_argo_cd(cluster, "control")
    cluster.add(CONFIG_MAPS, "argocd-cm", "argocd", data={"application.instanceLabelKey": "app"})
    not_ours = argocd_membership("shop", "argocd", cluster).not_ours
    assert not_ours is not None
    assert not_ours(record(labels={"app": "shop"}), True) != ""
    assert not_ours(record(annotations={TRACKING: "shop:apps/Deployment:shop/web"}), True) != ""
    assert not_ours(record(annotations={TRACKING: "argocd_shop:apps/Deployment:shop/web"}), True) == ""


def test_of_two_applications_of_one_name_the_plain_name_tells_nothing() -> None:
    cluster = cluster_with(WEB)
    cluster.add(APPLICATIONS, "shop", "tenant")
    not_ours = argocd_membership("shop", "argocd", cluster).not_ours
    assert not_ours is not None
    assert not_ours(record(annotations={TRACKING: "shop:apps/Deployment:shop/web"}), True) != ""


SURE: dict[str, tuple[dict[str, Any], bool]] = {
    "tracked": ({"annotations": {TRACKING: "shop:apps/Deployment:shop/web"}}, True),
    "labelled": ({"labels": {INSTANCE: "shop"}}, True),
    "by the label of older ones": ({"labels": {"app.kubernetes.io/instance": "shop"}}, True),
    "of a Helm release of that name": (
        {"labels": {"app.kubernetes.io/instance": "shop"}, "annotations": {"meta.helm.sh/release-name": "shop"}},
        False,
    ),
    "of a program of that name": ({"labels": {"app.kubernetes.io/name": "shop"}}, False),
    "of another Application": ({"labels": {INSTANCE: "bank", "app.kubernetes.io/instance": "shop"}}, False),
    "unmarked": ({}, False),
}


@pytest.mark.parametrize(("facts", "ours"), named(SURE))
def test_what_nobody_names_is_known_by_the_marks_of_argo_cd_only(facts: dict[str, Any], ours: bool) -> None:
    assert membership(WEB).bears_its_mark(record(**facts)) is ours


# -- which cluster it is about -----------------------------------------------------------------------------------------

HERE: dict[str, dict[str, str]] = {
    "by the usual address": {"server": "https://kubernetes.default.svc"},
    "by the long address": {"server": "https://kubernetes.default.svc.cluster.local:443"},
    "by the address we use ourselves": {"server": "https://api.example.com:6443/"},
    "by the usual name": {"name": "in-cluster"},
    "by a name it was registered with": {"name": "production"},
}
ELSEWHERE: dict[str, tuple[dict[str, str], str]] = {
    "another address": ({"server": "https://far.example.com"}, "the cluster at https://far.example.com"),
    "another port": ({"server": "https://api.example.com:7443"}, "the cluster at https://api.example.com:7443"),
    "no port": ({"server": "https://api.example.com:x"}, "the cluster at https://api.example.com:x"),
    "no URL": ({"server": "https://[far"}, r"the cluster at https://\[far"),
    "another path of one proxy": (
        {"server": "https://api.example.com:6443/k8s/clusters/c-1"},
        "the cluster at https://api.example.com:6443/k8s/clusters/c-1",
    ),
    "another name": ({"name": "far"}, "the cluster far"),
    "a name nobody knows": ({"name": "unknown"}, "the cluster unknown"),
}


def register(cluster: InMemoryCluster, name: str, server: str) -> None:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in (("name", name), ("server", server))}
    labels = {"argocd.argoproj.io/secret-type": "cluster"}
    cluster.add(SECRETS, f"cluster-{name}", "argocd", labels=labels, data=data)


def known_clusters(destination: dict[str, str]) -> InMemoryCluster:
    cluster = cluster_with(WEB, destination=destination)
    register(cluster, "production", "https://kubernetes.default.svc")
    register(cluster, "far", "https://far.example.com")
    return cluster


@pytest.mark.parametrize("destination", named({name: (value,) for name, value in HERE.items()}))
def test_an_application_about_this_cluster_is_taken(destination: dict[str, str]) -> None:
    assert len(argocd_membership("shop", "argocd", known_clusters(destination)).claims) == 1


@pytest.mark.parametrize(("destination", "why"), named(ELSEWHERE))
def test_an_application_about_another_cluster_is_refused(destination: dict[str, str], why: str) -> None:
    with pytest.raises(Refused, match=f"its destination is {why}, and its objects are there"):
        argocd_membership("shop", "argocd", known_clusters(destination))


def test_who_may_not_see_the_registered_clusters_is_refused_a_named_one() -> None:
    cluster = known_clusters({"name": "production"})
    cluster.unseen["secrets"] = api_error(403, "Forbidden")
    with pytest.raises(Refused, match="the cluster production"):
        argocd_membership("shop", "argocd", cluster)


# -- hooks that run afterwards -----------------------------------------------------------------------------------------


def test_hooks_after_the_deletion_need_a_controller_that_looks() -> None:
    finalizers = ["resources-finalizer.argocd.argoproj.io", "post-delete-finalizer.argocd.argoproj.io/cleanup"]
    [plain], [hooked] = membership(WEB).records, membership(WEB, finalizers=finalizers).records
    assert plain.before_delete == {}
    assert hooked.before_delete["patch"]["metadata"] == {"annotations": {"argocd.argoproj.io/skip-reconcile": None}}
