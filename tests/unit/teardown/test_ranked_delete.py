# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ranked deletion as a whole: from a task's options to the outcome."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned, Warned
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, Problem, Refused
from ansible_collections.sunset.kube.plugins.module_utils.teardown.members_info import show_members
from ansible_collections.sunset.kube.plugins.module_utils.teardown.ranked_delete import RankedOutcome, parse_ranked
from ansible_collections.sunset.kube.tests.unit.fakes import DEPLOYMENTS, DOMAINS, NAMESPACES, PODS, Told, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import (
    CONFIG_MAPS,
    DEFAULTS,
    DEFINITIONS,
    NO_CONTEXTS,
    REPLICA_SETS,
    ROLES,
    SECRETS,
    SERVICES,
    InMemoryCluster,
    api_error,
    named_members,
    ranked,
    show,
)

DEFINITION = "domains.ingress.example.com"
MARKS = {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}
MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: ingress.example.com/v1
kind: Domain
metadata: {name: web}
"""
HELM = {"helm": {"release": "web", "namespace": "shop", "driver": "auto"}}


def release(cluster: InMemoryCluster | None = None) -> InMemoryCluster:
    """A Helm release with its record, and what its controllers made."""
    cluster = cluster or InMemoryCluster()
    text = base64.b64encode(gzip.compress(json.dumps({"version": 1, "manifest": MANIFEST}).encode())).decode()
    cluster.add(SECRETS, "sh.helm.release.v1.web.v1", labels={"owner": "helm", "name": "web"}, data={"release": text})
    cluster.add(CONFIG_MAPS, "settings", annotations=MARKS)
    cluster.add(DOMAINS, "web", annotations=MARKS)
    owner = cluster.add(DEPLOYMENTS, "web", annotations=MARKS)
    cluster.add(REPLICA_SETS, "web-1", ownerReferences=[{"uid": owner["metadata"]["uid"]}])
    spec = {"group": "ingress.example.com", "names": {"plural": "domains"}}
    cluster.add(DEFINITIONS, DEFINITION, spec=spec)
    return cluster


WHOLE = (
    "1 Domain shop/web\n"
    "2 ConfigMap shop/settings, Deployment shop/web, ReplicaSet shop/web-1\n"
    "3 Secret shop/sh.helm.release.v1.web.v1\n"
)


def document(resource: Any, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


KAPP = {"labelKey": "kapp.k14s.io/app", "labelValue": "1", "usedGKs": [{"Group": "apps", "Kind": "Deployment"}]}
SOURCES: dict[str, dict[str, Any]] = {
    "objects": named_members((DEPLOYMENTS, "old"), (DEPLOYMENTS, "new")),
    "objects without a version": {
        "objects": [{"kind": "deploy", "name": name, "namespace": "shop"} for name in ("old", "new")]
    },
    "a selector": {"selector": {"kinds": ["deploy"], "label_selector": "app=1"}},
    "kapp": {"kapp": {"app": "web", "namespace": "shop"}},
    "manifests": {"manifests": [document(DEPLOYMENTS, name) for name in ("old", "new")]},
    "a namespace": {"namespace": "shop"},
}


def deployments() -> InMemoryCluster:
    """Deployments old and new, each with a ReplicaSet, as each of these sources has deployed them."""
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop")
    cluster.add(CONFIG_MAPS, "web", labels={"kapp.k14s.io/is-app": ""}, data={"spec": json.dumps(KAPP)})
    for name in ("old", "new"):
        owner = cluster.add(DEPLOYMENTS, name, labels={"app": "1", "kapp.k14s.io/app": "1"})
        cluster.add(REPLICA_SETS, f"{name}-1", ownerReferences=[{"uid": owner["metadata"]["uid"]}])
    return cluster


def test_a_release_goes_custom_resources_first_and_its_record_last() -> None:
    cluster = release()
    outcome = ranked(cluster, members=HELM)
    assert (show(outcome.plan), outcome.failure, cluster.left()) == (
        WHOLE,
        None,
        [f"CustomResourceDefinition {DEFINITION}"],
    )


def test_a_second_run_finds_no_record_and_changes_nothing() -> None:
    cluster = release()
    ranked(cluster, members=HELM)
    before = list(cluster.log)
    outcome = ranked(cluster, members=HELM)
    assert (outcome.run.changed, outcome.failure, cluster.log) == (False, None, before)
    assert outcome.warnings == ["nothing to delete: there is no record of Helm release shop/web (secret or configmap)"]


def test_a_missing_record_is_a_failure_where_the_task_says_so() -> None:
    with pytest.raises(Refused, match="there is no record of Helm release shop/web"):
        ranked(InMemoryCluster(), members=HELM, missing="fail")


def test_check_mode_makes_the_same_plan_and_only_tries() -> None:
    cluster, told = release(), Told()
    before = cluster.left()
    planned = ranked(cluster, members=HELM, check_mode=True, told=told)
    assert (show(planned.plan), cluster.left(), planned.failure) == (WHOLE, before, None)
    assert all(line.endswith("(dry run)") for line in cluster.log)
    assert all(event.dry_run for event in told if isinstance(event, Did))
    assert ranked(cluster, members=HELM).plan.hash == planned.plan.hash


def test_check_mode_tells_what_the_server_would_refuse() -> None:
    cluster = release()
    cluster.refusals["ConfigMap shop/settings"] = api_error(403, "Forbidden", "admission webhook says no")
    cluster.refusals["Deployment shop/web"] = api_error(403, "Forbidden", "no")
    outcome = ranked(cluster, members=HELM, check_mode=True)
    assert "would refuse to delete" in str(outcome.failure)
    assert (len(outcome.refused_in_rehearsal), "(and 1 more)" in str(outcome.failure)) == (2, True)


def test_the_plan_is_told_before_the_first_write() -> None:
    told = Told()
    outcome = ranked(release(), members=HELM, told=told)
    kinds = [type(event) for event in told]
    [planned] = [event for event in told if isinstance(event, Planned)]
    assert kinds.index(Planned) < kinds.index(Did)
    assert planned == Planned("delete 5 objects in 2 steps: 4 namespaced resources → 1 records", outcome.plan.hash)


# -- limits and rights -------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "too many objects": ({"max_objects": 4}, "too many objects: the plan touches 5, and max_objects is 4"),
    "another plan": ({"plan_hash": "0" * 16}, "the plan has changed"),
}


@pytest.mark.parametrize(("params", "message"), named(REFUSED))
@pytest.mark.parametrize("check_mode", [True, False], ids=["with --check", "without"])
def test_a_plan_beyond_its_limits_is_refused_with_the_plan(
    check_mode: bool, params: dict[str, Any], message: str
) -> None:
    cluster = release()
    outcome = ranked(cluster, members=HELM, check_mode=check_mode, **params)
    assert (isinstance(outcome.failure, Refused), message in str(outcome.failure)) == (True, True)
    assert (cluster.log, show(outcome.plan), outcome.run.changed) == ([], WHOLE, False)


def test_a_plan_within_its_limits_is_done() -> None:
    cluster = release()
    planned = ranked(cluster, members=HELM, check_mode=True)
    outcome = ranked(cluster, members=HELM, max_objects=5, plan_hash=planned.plan.hash)
    assert (outcome.failure, outcome.run.changed) == (None, True)


def test_a_missing_right_is_found_before_the_first_write() -> None:
    cluster = release()
    cluster.forbidden.add(("delete", "secrets"))  # needed by the very last step
    outcome = ranked(cluster, members=HELM)
    assert str(outcome.failure).startswith("not allowed to delete secrets in namespace shop: the API server says no")
    assert cluster.log == []


RIGHTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "deleting": ({}, {"delete"}),
    "force": ({"deletion_order_rules": [{"deletionRank": 100, "forceDelete": True}]}, {"delete", "patch"}),
    "a step's preparation": (
        {"deletion_order_rules": [{"deletionRank": 100, "beforeDelete": {"annotate": {"a": "b"}}}]},
        {"delete", "patch"},
    ),
    "the task's preparation": ({"before_delete": {"annotate": {"a": "b"}}}, {"delete", "patch"}),
}


@pytest.mark.parametrize(("params", "verbs"), named(RIGHTS))
def test_only_the_rights_that_are_needed_are_asked_for(params: dict[str, Any], verbs: set[str]) -> None:
    cluster = InMemoryCluster()
    cluster.server.rights_by_namespace = True
    cluster.add(CONFIG_MAPS, "a")
    ranked(cluster, members=named_members((CONFIG_MAPS, "a")), **params)
    assert set(cluster.asked_rights) == {(verb, "configmaps", "shop") for verb in verbs}


# -- guards at work ----------------------------------------------------------------------------------------------------

KEPT: dict[str, dict[str, Any]] = {
    "a keep marker": {"annotations": {**MARKS, "sunset.dev/keep": "true"}},
    "another release's": {"annotations": {**MARKS, "meta.helm.sh/release-name": "bank"}},
}


@pytest.mark.parametrize("change", named(KEPT))
def test_what_an_object_owns_stays_with_it(change: dict[str, Any]) -> None:
    cluster = release()
    cluster.change(DEPLOYMENTS, "web", **change)
    ranked(cluster, members=HELM)
    assert {"Deployment shop/web", "ReplicaSet shop/web-1"} <= set(cluster.left())


def test_what_an_unmatched_object_owns_stays_with_it() -> None:
    cluster = release()
    ranked(cluster, members=HELM, deletion_groups=[{"resources": [{"kind": "cm"}, {"kind": "rs"}]}])
    assert {"Deployment shop/web", "ReplicaSet shop/web-1"} <= set(cluster.left())


def test_orphaned_dependants_stay() -> None:
    cluster = release()
    ranked(cluster, members=HELM, propagation_policy="Orphan")
    assert "ReplicaSet shop/web-1" in cluster.left()


def test_markers_and_ownership_can_be_ignored() -> None:
    cluster = release()
    cluster.change(CONFIG_MAPS, "settings", annotations={"sunset.dev/keep": "true"})
    ranked(cluster, members=HELM, keep_markers=False, ownership="ignore")
    assert "ConfigMap shop/settings" not in cluster.left()


BOTH = named_members((DOMAINS, "web"), (DEFINITIONS, DEFINITION))
FOREIGN: dict[str, tuple[str, bool, list[str]]] = {
    "refuse": ("refuse", True, [f"CustomResourceDefinition {DEFINITION}", "Domain bank/other", "Domain shop/web"]),
    "cascade": ("cascade", False, ["Domain bank/other"]),  # the API server would take it along
    "keep": ("keep", False, [f"CustomResourceDefinition {DEFINITION}", "Domain bank/other"]),
}


@pytest.mark.parametrize(("policy", "fails", "left"), named(FOREIGN))
def test_a_definition_with_instances_outside_the_plan(policy: str, fails: bool, left: list[str]) -> None:
    cluster = InMemoryCluster()
    cluster.add(DEFINITIONS, DEFINITION, spec={})
    cluster.add(DOMAINS, "web")
    cluster.add(DOMAINS, "other", "bank")
    outcome = ranked(cluster, members=BOTH, foreign_instances=policy)
    assert (isinstance(outcome.failure, Refused), cluster.left()) == (fails, left)


@pytest.mark.parametrize("members", named(SOURCES))
def test_everything_of_a_type_goes_whatever_the_source(members: dict[str, Any]) -> None:
    cluster = deployments()
    cluster.add(PODS, "made-by-hand")
    groups = [{"resources": [{"kind": "pod", "selector": {"all": True}}]}]
    ranked(cluster, members=members, deletion_groups=groups)
    assert "Pod shop/made-by-hand" not in cluster.left()


# -- a namespace -------------------------------------------------------------------------------------------------------


def shop() -> InMemoryCluster:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop")
    cluster.add(CONFIG_MAPS, "a")
    cluster.add(PODS, "b")
    cluster.add(CONFIG_MAPS, "kube-root-ca.crt")
    cluster.add(PODS, "far", "bank")
    return cluster


SWEEPS: dict[str, tuple[dict[str, Any], bool]] = {
    "its contents only": ({}, False),
    "by option": ({"delete_namespace": True}, True),
    "by a step that names it": ({"deletion_order_rules": [{"deletionRank": 150, "types": [{"kind": "ns"}]}]}, True),
}


@pytest.mark.parametrize(("params", "with_it"), named(SWEEPS))
def test_a_sweep_takes_the_namespace_itself_only_when_asked_to(params: dict[str, Any], with_it: bool) -> None:
    cluster = shop()
    ranked(cluster, members={"namespace": "shop"}, **params)
    namespace = [] if with_it else ["Namespace shop"]
    assert cluster.left() == ["ConfigMap shop/kube-root-ca.crt", *namespace, "Pod bank/far"]


# -- pruning -----------------------------------------------------------------------------------------------------------


def pruned(cluster: InMemoryCluster, members: dict[str, Any], *desired: dict[str, Any], **more: Any) -> RankedOutcome:
    return ranked(cluster, members=members, state="pruned", desired=list(desired), **more)


@pytest.mark.parametrize("members", named(SOURCES))
def test_pruning_never_takes_what_is_desired(members: dict[str, Any]) -> None:
    cluster = deployments()
    pruned(cluster, members, document(DEPLOYMENTS, "new"), document(CONFIG_MAPS, "web"))
    assert cluster.left() == ["ConfigMap shop/web", "Deployment shop/new", "Namespace shop", "ReplicaSet shop/new-1"]


def test_pruning_leaves_the_record_of_a_release_that_lives_on() -> None:
    cluster = release()
    pruned(cluster, HELM, document(DEPLOYMENTS, "web"))
    assert "Secret shop/sh.helm.release.v1.web.v1" in cluster.left()
    assert "ConfigMap shop/settings" not in cluster.left()


def test_a_desired_object_without_a_namespace_lives_where_the_release_does() -> None:
    cluster = release()
    desired = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    pruned(cluster, HELM, desired)
    assert "ConfigMap shop/settings" in cluster.left()


def test_pruning_has_an_order_of_its_own() -> None:
    cluster = InMemoryCluster()
    for resource in (CONFIG_MAPS, SERVICES):
        cluster.add(resource, "a")
    groups = [{"resources": [{"kind": "svc"}]}]
    members = named_members((CONFIG_MAPS, "a"), (SERVICES, "a"))
    pruned(
        cluster,
        members,
        document(SECRETS, "x"),
        deletion_groups=[{"resources": [{"kind": "cm"}]}],
        deletion_groups_during_update=groups,
    )
    assert cluster.left() == ["ConfigMap shop/a"]


# -- what cannot be seen -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [403, 500, 503])
def test_a_kind_that_cannot_be_listed_is_a_failure_and_nothing_is_deleted(status: int) -> None:
    cluster = release()
    cluster.unseen["domains"] = api_error(status, "", "cannot see")
    with pytest.raises(Problem, match=f"HTTP {status}"):
        ranked(cluster, members=HELM)
    assert cluster.log == []


def test_a_mistyped_type_is_an_error_with_a_suggestion_and_nothing_is_deleted() -> None:
    cluster = release()
    with pytest.raises(BadOption, match="did you mean ConfigMap"):
        ranked(cluster, members=HELM, deletion_groups=[{"resources": [{"kind": "configmpas"}]}])
    assert cluster.log == []


def test_a_type_that_went_with_the_first_run_is_a_warning_in_the_second() -> None:
    cluster = InMemoryCluster()
    cluster.add(ROLES, "web")
    told = Told()
    types = [{"group": "gone.io", "version": "v1", "kind": "things"}]
    ranked(
        cluster,
        members=named_members((ROLES, "web")),
        deletion_order_rules=[{"deletionRank": 5, "types": types}],
        told=told,
    )
    assert [event.text for event in told if isinstance(event, Warned)] == [
        "things (gone.io/v1) is not installed: the server has no such kind in group gone.io"
    ]


# -- options -----------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "pruned without a wish": ({"state": "pruned"}, "desired: is needed with state: pruned"),
    "a wish without pruned": ({"desired": ["x"]}, "desired: is only allowed with state: pruned"),
    "everything of a type while pruning": (
        {
            "state": "pruned",
            "desired": ["x"],
            "deletion_groups_during_update": [{"resources": [{"kind": "cm", "selector": {"all": True}}]}],
        },
        "deletion_groups_during_update: selector.all and deleteAllResources are not allowed with state: pruned",
    ),
    "no time": ({"timeout": 0}, "timeout: must be 1 or more, not 0"),
    "nobody at work": ({"parallel": 0}, "parallel: must be 1 or more, not 0"),
    "too many at work": ({"parallel": 65}, "parallel: must be 64 or less, not 65"),
    "no objects": ({"max_objects": 0}, "max_objects: must be 1 or more, not 0"),
    "force before the deletion": ({"force_after": -1}, "force_after: must be 0 or more, not -1"),
    "grace below nothing": ({"grace_period_seconds": -1}, "grace_period_seconds: must be 0 or more, not -1"),
    "a bad preparation": ({"before_delete": {"scale": "x"}}, "before_delete.scale: must be a number, not str"),
    "a bad preparation of a step": (
        {"deletion_groups": [{"predefinedResourceGroup": "crds", "beforeDelete": {"patch": "x"}}]},
        "deletion_groups[0].beforeDelete.patch: must be a mapping, not str",
    ),
    "a bad order": (
        {"deletion_order_rules": [{"deletionRank": "x", "types": [{"kind": "a"}]}]},
        "deletion_order_rules[0].deletionRank: needs a whole number, not 'x'",
    ),
    "groups and rules": (
        {"deletion_groups": [{"predefinedResourceGroup": "crds"}], "deletion_order_rules": [{"deletionRank": 100}]},
        "deletion_order_rules: cannot stand together with deletion_groups",
    ),
    "several at once": (
        {"timeout": 0, "parallel": 99},
        "timeout: must be 1 or more, not 0; parallel: must be 64 or less, not 99",
    ),
}


@pytest.mark.parametrize(("params", "why"), named(BAD))
def test_bad_options_are_refused_with_their_path(params: dict[str, Any], why: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_ranked({**DEFAULTS, "members": {"namespace": "shop"}, **params}, check_mode=False)
    assert refused.value.why == why


def test_bad_members_a_bad_order_and_bad_numbers_are_told_at_once() -> None:
    params = {"members": {"namespace": ""}, "deletion_groups": [{}], "timeout": 0}
    with pytest.raises(BadOption) as refused:
        parse_ranked({**DEFAULTS, **params}, check_mode=False)
    assert all(word in refused.value.why for word in ("members.namespace", "deletion_groups[0]", "timeout"))


# -- members_info ------------------------------------------------------------------------------------------------------


def test_members_are_shown_with_owner_and_marker_and_the_plan_that_a_run_would_make() -> None:
    cluster = release()
    cluster.change(CONFIG_MAPS, "settings", annotations={"sunset.dev/keep": "true"})
    shown = show_members(HELM, cluster, NO_CONTEXTS, Told())
    assert {str(each.member.ref): (each.owned, bool(each.keep_marker)) for each in shown.members} == {
        "ConfigMap shop/settings": (False, True),
        "Deployment shop/web": (True, False),
        "Domain shop/web": (True, False),
        "ReplicaSet shop/web-1": (True, False),
        "Secret shop/sh.helm.release.v1.web.v1": (True, False),
    }
    assert shown.plan.hash == ranked(cluster, members=HELM, check_mode=True).plan.hash
    assert cluster.log == [line for line in cluster.log if "dry run" in line]


def test_members_of_what_is_missing_are_nobody() -> None:
    shown = show_members(HELM, InMemoryCluster(), NO_CONTEXTS, Told())
    assert (shown.members, shown.missing.startswith("there is no record")) == ([], True)
