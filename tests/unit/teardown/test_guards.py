# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must not be deleted, and why."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.objects import Record, Resource
from ansible_collections.sunset.kube.plugins.module_utils.profiles.keep_markers import KEEP_MARKERS
from ansible_collections.sunset.kube.plugins.module_utils.profiles.system_objects import SYSTEM_OBJECTS
from ansible_collections.sunset.kube.plugins.module_utils.teardown.guards import Facts, judge, keep_marker_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.looking import Member
from ansible_collections.sunset.kube.plugins.module_utils.teardown.verdicts import Fate, Verdict
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, NAMESPACES, NODES, PODS, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    ACCOUNTS,
    CONFIG_MAPS,
    DEFINITIONS,
    ENDPOINTS,
    ROLES,
    SERVICES,
    SLICES,
    member,
)

ARGO = "argocd.argoproj.io/sync-options"
FLUX = "kustomize.toolkit.fluxcd.io"
APPROVED = {"argocd.argoproj.io/deletion-approved": "2026-01-01T00:00:00Z"}


def fate(each: Member, **facts: Any) -> Fate:
    return judge(each, Facts(**facts)).fate


def test_what_nobody_objects_to_is_deleted_because_its_source_says_so() -> None:
    assert judge(member(PODS, source="Helm release shop/shop"), Facts()) == Verdict(
        Fate.DELETE, "Helm release shop/shop"
    )


def test_what_is_already_being_deleted_is_waited_for() -> None:
    assert fate(member(PODS, deleted=True)) is Fate.TERMINATING


# -- keep markers ------------------------------------------------------------------------------------------------------

KEPT: dict[str, tuple[str, str]] = {
    "ours": ("sunset.dev/keep", "true"),
    "Helm": ("helm.sh/resource-policy", "keep"),
    "Helm, with blanks and capitals, as Helm reads it": ("helm.sh/resource-policy", " Keep "),
    "Argo CD, no deletion": (ARGO, "Delete=false"),
    "Argo CD, no pruning": (ARGO, "Prune=false"),
    "Argo CD, deletion to be confirmed": (ARGO, "Delete=confirm"),
    "Argo CD, pruning to be confirmed": (ARGO, "Prune=confirm"),
    "Argo CD, one of several options": (ARGO, "Validate=false,Delete=false"),
    "Argo CD, one of several options with blanks": (ARGO, "Validate=false , Prune=false , ServerSideApply=true"),
    "Flux, pruning": (f"{FLUX}/prune", "disabled"),
    "Flux, in capitals, as Flux reads it": (f"{FLUX}/prune", "Disabled"),
    "Flux, reconciling": (f"{FLUX}/reconcile", "disabled"),
    "Flux, applying": (f"{FLUX}/ssa", "Ignore"),
    "Flux, applying, in small letters": (f"{FLUX}/ssa", "ignore"),
    "kapp": ("kapp.k14s.io/delete-strategy", "orphan"),
    "cli-utils": ("cli-utils.sigs.k8s.io/on-remove", "keep"),
    "cli-utils, the newer one": ("client.lifecycle.config.k8s.io/deletion", "detach"),
}


@pytest.mark.parametrize(("key", "value"), named(KEPT))
@pytest.mark.parametrize("where", ["annotations", "labels"])
def test_a_keep_marker_keeps_and_is_quoted(where: str, key: str, value: str) -> None:
    verdict = judge(member(PODS, **{where: {key: value}}), Facts())
    assert (verdict.fate, f"marker {key}: {value}" in verdict.why) == (Fate.KEEP, True)


def test_every_keep_marker_we_know_is_in_that_table() -> None:
    assert {marker.key for marker in KEEP_MARKERS} == {key for key, _value in KEPT.values()}


NOT_KEPT: dict[str, dict[str, str]] = {
    "ours, switched off": {"sunset.dev/keep": "false"},
    "Helm, another policy": {"helm.sh/resource-policy": "delete"},
    "Argo CD, other options": {ARGO: "Validate=false,Prune=true"},
    "Argo CD, approved": {ARGO: "Delete=confirm", **APPROVED},
    "Argo CD, both approved": {ARGO: "Delete=confirm,Prune=confirm", **APPROVED},
    "Flux, switched on": {f"{FLUX}/prune": "enabled"},
    "kapp, the usual way": {"kapp.k14s.io/delete-strategy": ""},
    "a word that only begins like it": {"helm.sh/resource-policy": "keeper"},
}


@pytest.mark.parametrize("annotations", named(NOT_KEPT))
def test_a_marker_that_says_something_else_keeps_nothing(annotations: dict[str, str]) -> None:
    assert fate(member(PODS, annotations=annotations)) is Fate.DELETE


STILL_KEPT: dict[str, dict[str, str]] = {
    "Delete=false is not a question": {ARGO: "Delete=false", **APPROVED},
    "one of both is not a question": {ARGO: "Delete=confirm,Prune=false", **APPROVED},
    "another tool's marker beside it": {ARGO: "Delete=confirm", **APPROVED, "helm.sh/resource-policy": "keep"},
}


@pytest.mark.parametrize("annotations", named(STILL_KEPT))
def test_an_approval_answers_only_its_own_question(annotations: dict[str, str]) -> None:
    assert fate(member(PODS, annotations=annotations)) is Fate.KEEP


def test_the_marker_is_told_with_its_tool() -> None:
    assert keep_marker_of(member(PODS, annotations={"helm.sh/resource-policy": "keep"})) == (
        "Helm marker helm.sh/resource-policy: keep"
    )
    assert keep_marker_of(member(PODS)) == ""


def test_markers_can_be_ignored() -> None:
    assert fate(member(PODS, annotations={"sunset.dev/keep": "true"}), keep_markers=False) is Fate.DELETE


def test_a_marker_keeps_even_what_the_task_names_and_what_is_being_deleted() -> None:
    marked = {"annotations": {"sunset.dev/keep": "true"}}
    assert fate(member(PODS, named=True, **marked)) is Fate.KEEP
    assert fate(member(PODS, deleted=True, **marked)) is Fate.KEEP


# -- the cluster itself ------------------------------------------------------------------------------------------------


def kind(group: str, name: str, plural: str, namespaced: bool = False) -> Resource:
    return Resource(group, "v1", name, plural, namespaced)


RBAC = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
FLOW = kind("flowcontrol.apiserver.k8s.io", "FlowSchema", "flowschemas")
LEVEL = kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "prioritylevelconfigurations")
APIS = kind("apiregistration.k8s.io", "APIService", "apiservices")
PRIORITY = kind("scheduling.k8s.io", "PriorityClass", "priorityclasses")
ROLE_BINDINGS = kind("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings")

SYSTEM: dict[str, Member] = {
    "anything in kube-system": member(DEPLOYMENTS, "coredns", "kube-system"),
    "anything in kube-public": member(CONFIG_MAPS, "cluster-info", "kube-public"),
    "anything in kube-node-lease": member(PODS, "x", "kube-node-lease"),
    **{f"namespace {name}": member(NAMESPACES, name) for name in ("default", "kube-system", "kube-public")},
    "namespace kube-node-lease": member(NAMESPACES, "kube-node-lease"),
    "the certificate in every namespace": member(CONFIG_MAPS, "kube-root-ca.crt"),
    "the account in every namespace": member(ACCOUNTS, "default"),
    "the API server's Service": member(SERVICES, "kubernetes", "default"),
    "the API server's Endpoints": member(ENDPOINTS, "kubernetes", "default"),
    "the API server's EndpointSlice": member(SLICES, "kubernetes", "default"),
    "a built-in role": member(ROLES, "admin", labels=RBAC),
    "a built-in role binding": member(ROLE_BINDINGS, "cluster-admin", labels=RBAC),
    "a built-in priority": member(PRIORITY, "system-node-critical"),
    "a suggested flow schema": member(FLOW, "probes", annotations={"apf.kubernetes.io/autoupdate-spec": "true"}),
    "the mandatory flow schema": member(FLOW, "catch-all"),
    "the mandatory priority level": member(LEVEL, "exempt"),
    "an API of the server itself": member(APIS, "v1.apps", labels={AUTOMANAGED: "onstart"}),
    "the API of a definition": member(APIS, "v1.example.com", labels={AUTOMANAGED: "true"}),
    "a node": member(NODES, "node-1"),
}


@pytest.mark.parametrize("each", named(SYSTEM))
def test_a_part_of_the_cluster_itself_is_protected(each: Member) -> None:
    verdict = judge(each, Facts(keep_markers=False, check_ownership=False))
    assert (verdict.fate, verdict.why.endswith("only members.objects can name it")) == (Fate.PROTECTED, True)


@pytest.mark.parametrize("each", named(SYSTEM))
def test_it_passes_only_when_it_is_named_one_by_one(each: Member) -> None:
    each = Member(each.resource, each.record, "named by members.objects[0]", named=True)
    assert fate(each) is Fate.DELETE


def test_every_system_object_we_know_is_in_that_table() -> None:
    said = {judge(each, Facts()).why for each in SYSTEM.values()}
    assert {f"{entry.why}; only members.objects can name it" for entry in SYSTEM_OBJECTS} == said


ORDINARY: dict[str, Member] = {
    "a namespace with a similar name": member(NAMESPACES, "kube-system-2"),
    "a thing called default": member(CONFIG_MAPS, "default"),
    "an account called otherwise": member(ACCOUNTS, "web"),
    "a Service called kubernetes elsewhere": member(SERVICES, "kubernetes", "shop"),
    "a role of somebody's own": member(ROLES, "admin"),
    "a priority of somebody's own": member(PRIORITY, "shop"),
    "an aggregated API": member(APIS, "v1.metrics.example.com"),
    "a flow schema of somebody's own": member(FLOW, "shop", annotations={"apf.kubernetes.io/autoupdate-spec": "false"}),
    "a custom resource called Node": member(kind("example.com", "Node", "nodes"), "node-1"),
    "a definition": member(DEFINITIONS, "domains.ingress.example.com"),
}


@pytest.mark.parametrize("each", named(ORDINARY))
def test_what_only_looks_like_it_is_not_protected(each: Member) -> None:
    assert fate(each) is Fate.DELETE


# -- the others --------------------------------------------------------------------------------------------------------


def somebody_elses(record: Record, marked: bool) -> str:
    return "it belongs to the bank" if marked else ""


def test_what_is_not_the_sources_own_any_more_stays() -> None:
    assert judge(member(PODS), Facts(not_ours=somebody_elses)) == Verdict(Fate.NOT_OWNED, "it belongs to the bank")


def test_ownership_asks_whether_the_source_marks_its_objects() -> None:
    assert fate(member(PODS, marked=False), not_ours=somebody_elses) is Fate.DELETE


def test_ownership_can_be_ignored() -> None:
    assert fate(member(PODS), not_ours=somebody_elses, check_ownership=False) is Fate.DELETE


def test_a_source_may_keep_an_object_itself_whatever_the_markers() -> None:
    each = member(PODS, keep="Landscaper policy keep")
    assert judge(each, Facts(keep_markers=False)) == Verdict(Fate.KEEP, "Landscaper policy keep")


def test_what_would_take_others_along_stays_where_the_task_says_so() -> None:
    each = member(DEFINITIONS, "domains.ingress.example.com", uid="u1")
    facts = Facts(takes_others_along={"u1": "3 objects would go with it"})
    assert judge(each, facts) == Verdict(Fate.KEEP, "3 objects would go with it")


def test_the_first_guard_that_objects_decides() -> None:
    each = member(NODES, "n", keep="policy", annotations={"sunset.dev/keep": "true"})
    assert fate(each, not_ours=somebody_elses) is Fate.PROTECTED
    each = member(PODS, annotations={"sunset.dev/keep": "true"})
    assert fate(each, not_ours=somebody_elses) is Fate.KEEP
