# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons besides finalizers, each made on a real API server: budgets, Usages, volumes, GitOps, rights, refusals."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from integration.admission_hook import refusing_webhook
from integration.breaking import dead_webhook, is_refused
from integration.explaining import Explainer, causes, gone, row_of
from integration.gitops import FLUX, application, labelled, owner, tracked
from integration.ranked import define
from integration.stage import CLEANUP, FOREIGN, GROUP, WIDGETS, Body, Stage, body, config_map, crd, gadget, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.waiting import until

IN_USE = {"crossplane.io/in-use": "true"}
POLICIES = "admissionregistration.k8s.io/v1"


def texts(row: dict[str, Any], what: str) -> list[str]:
    return [cause["text"] for cause in row["causes"] if cause["what"] == what]


# -- budgets -----------------------------------------------------------------------------------------------------------


def guarded_pods(stage: Stage, node: str = "nowhere", *, needed: int = 1) -> Body:
    """One ready pod of an application, and a budget that needs so many of them."""
    here, labels = stage.namespace, {"app": "web"}
    account = f"/api/v1/namespaces/{here}/serviceaccounts/default"
    until(lambda: stage.api.get(account)[0] == 200, account, every=0.05)
    spec = {
        "containers": [{"name": "main", "image": "example/main:1"}],
        "automountServiceAccountToken": False,
        "nodeName": node,
    }
    [pod] = stage.put(body("v1", "Pod", "web-0", here, labels=labels, spec=spec))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    assert stage.api.patch(f"{stage.api.path_of(pod)}/status", {"status": ready})[0] == 200
    budget = {"minAvailable": needed, "selector": {"matchLabels": labels}}
    [made] = stage.put(body("policy/v1", "PodDisruptionBudget", "web", here, spec=budget))
    until(lambda: stage.look(made).get("status", {}).get("expectedPods"), "the budget to be counted", every=0.05)
    until(lambda: stage.look(made)["status"].get("currentHealthy") == 1, "the pod to be counted", every=0.05)
    return pod


def is_evictable(stage: Stage, pod: Body) -> bool:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod["metadata"]["name"]}}
    return stage.api.post(f"{stage.api.path_of(pod)}/eviction", eviction, dryRun="All")[0] == 201


def test_a_pod_that_a_budget_does_not_let_go_is_told_with_the_command_that_lets_it(
    stage: Stage, explain: Explainer
) -> None:
    here, pod = stage.namespace, guarded_pods(stage)
    assert not is_evictable(stage, pod)
    row = row_of(explain(kind="pod", name="web-0", namespace=here), "web-0")
    assert causes(row)["budget"] == (
        f"PodDisruptionBudget {here}/web: it cannot be evicted (a drain waits, a deletion does not ask):"
        " it needs 1 of 1 pods at any time, so it never lets one go"
    )
    command = shlex.split(row["suggestion"].partition(": ")[2])
    assert command[:6] == ["kubectl", "-n", here, "patch", "pdb", "web"]
    # What kubectl would send:
    path = f"/apis/policy/v1/namespaces/{here}/poddisruptionbudgets/web"
    assert stage.api.patch(path, json.loads(command[-1]))[0] == 200
    until(lambda: is_evictable(stage, pod), "the pod to be evictable", every=0.1)
    assert causes(row_of(explain(kind="pod", name="web-0", namespace=here), "web-0")) == {}


def test_a_node_is_told_with_the_pods_that_keep_its_drain_waiting(stage: Stage, explain: Explainer) -> None:
    name = f"node-{stage.namespace}"
    stage.put(body("v1", "Node", name, ""))
    guarded_pods(stage, name)
    told = texts(row_of(explain(kind="node", name=name), name), "budget")
    assert len(told) == 1
    assert "a drain of this node waits for Pod web-0" in told[0]


def test_a_namespace_tells_of_its_budgets_and_not_of_them_any_more_when_it_is_deleted(
    stage: Stage, explain: Explainer
) -> None:
    """A deletion does not ask them."""
    here = stage.namespace
    guarded_pods(stage, needed=2)
    assert "never lets one go" in causes(row_of(explain(namespace=here), here))["budget"]
    stage.put(config_map("held", here, FOREIGN))
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    assert "budget" not in causes(row_of(explain(namespace=here), here))


# -- Crossplane --------------------------------------------------------------------------------------------------------


def usage(stage: Stage, name: str, of: Body, by: Body | None = None, *, group: str, kind: str, **spec: Any) -> Body:
    def reference(thing: Body) -> Body:
        return {
            "apiVersion": thing["apiVersion"],
            "kind": thing["kind"],
            "resourceRef": {"name": thing["metadata"]["name"]},
        }

    place = stage.namespace if (group, kind) == ("protection.crossplane.io", "Usage") else ""
    whole = {"of": reference(of), **({"by": reference(by)} if by else {}), **spec}
    [made] = stage.put(body(f"{group}/v1beta1", kind, name, place, spec=whole))
    return made


USAGES = {
    "of Crossplane 1": ("apiextensions.crossplane.io", "Usage"),
    "of Crossplane 2, in a namespace": ("protection.crossplane.io", "Usage"),
    "of Crossplane 2, of the cluster": ("protection.crossplane.io", "ClusterUsage"),
}


@pytest.mark.parametrize(("group", "kind"), USAGES.values(), ids=USAGES)
def test_an_object_in_use_is_told_with_who_uses_it(
    stage: Stage, explain: Explainer, group: str, kind: str, tmp_path: Path
) -> None:
    here = stage.namespace
    namespaced = (group, kind) == USAGES["of Crossplane 2, in a namespace"]
    define(stage, crd(kind, group, scope="Namespaced" if namespaced else "Cluster"))
    if namespaced:
        used, user = stage.put(widget("used", here, labels=IN_USE), widget("user", here))
    else:
        used, user = stage.put(gadget(f"used-{here}"), gadget(f"user-{here}"))
        stage.api.patch(stage.api.path_of(used), {"metadata": {"labels": IN_USE}})
    name, by = used["metadata"]["name"], user["metadata"]["name"]
    usage(stage, f"u-{here}", used, user, group=group, kind=kind)
    row = row_of(explain(kind=used["kind"], api_version=f"{GROUP}/v1", name=name, namespace=here), name)
    place, scope = (f"{here}/", f" -n {here}") if namespaced else ("", "")
    assert f"{kind} {place}u-{here} lets nobody delete it: {used['kind']} {place}{by} uses it" in causes(row)["usage"]
    assert row["suggestion"].endswith(f"kubectl{scope} delete {kind.lower()}s.{group} u-{here}")


def test_what_crossplanes_webhook_says_is_told_although_its_usages_may_not_be_listed(
    stage: Stage, explain: Explainer, tmp_path: Path
) -> None:
    here = stage.namespace
    (used,) = stage.put(widget("used", here, labels=IN_USE))
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["*"]}
    selector = {"matchLabels": IN_USE}
    words = 'This resource is in-use by 1 usage(s), including the *v1beta1.Usage "u" with reason: "keep it".'
    with refusing_webhook(stage, tmp_path, "nousages.protection.crossplane.io", words, rule, objectSelector=selector):
        path = stage.api.path_of(used)
        until(lambda: stage.api.delete(path, dryRun="All")[0] == 409, "the webhook to be in force", every=0.05)
        row = row_of(explain(kind=WIDGETS, name="used", namespace=here), "used")
    told = texts(row, "usage")
    assert any("refuses its deletion: This resource is in-use by 1 usage(s)" in text for text in told), told


def test_two_that_use_each_other_in_a_namespace_that_goes_are_a_circle(
    stage: Stage, explain: Explainer, tmp_path: Path
) -> None:
    here = stage.namespace
    group, kind = "protection.crossplane.io", "Usage"
    define(stage, crd(kind, group))
    a, b = stage.put(widget("a", here, labels=IN_USE), widget("b", here, labels=IN_USE))
    usage(stage, "first", a, b, group=group, kind=kind)
    usage(stage, "second", b, a, group=group, kind=kind)
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["widgets"]}
    inside = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": here}}}
    # Its Usages are held, or they would be gone before their objects.
    for one in ("first", "second"):
        path = f"/apis/{group}/v1beta1/namespaces/{here}/usages/{one}"
        hold = {"metadata": {"finalizers": ["usage.apiextensions.crossplane.io"]}}
        assert stage.api.patch(path, hold)[0] == 200
    with refusing_webhook(stage, tmp_path, "nousages.protection.crossplane.io", "in use", rule, **inside):
        until(
            lambda: stage.api.delete(stage.api.path_of(a), dryRun="All")[0] == 409, "the webhook in force", every=0.05
        )
        gone(stage, here, "NamespaceDeletionContentFailure")
        result = explain(namespace=here)
    assert "some of it could not be deleted" in "\n".join(texts(row_of(result, here), "condition"))
    [circle] = result["deadlocks"]
    assert sorted(circle["objects"]) == [f"Widget {here}/a", f"Widget {here}/b"]
    assert circle["cut"].startswith(f"kubectl -n {here} delete usages.{group} ")


# -- volumes -----------------------------------------------------------------------------------------------------------


def test_a_volume_is_told_with_the_claim_that_is_bound_to_it(stage: Stage, explain: Explainer) -> None:
    here, name = stage.namespace, f"disk-{stage.namespace}"
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/nowhere"},
        "claimRef": {"namespace": here, "name": "data"},
    }
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": name,
        "storageClassName": "",
    }
    (made,) = stage.put(body("v1", "PersistentVolume", name, "", spec=volume))
    stage.put(body("v1", "PersistentVolumeClaim", "data", here, spec=claim))
    until(lambda: stage.look(made).get("status", {}).get("phase") == "Bound", "the claim to be bound", every=0.05)
    assert stage.api.delete(stage.api.path_of(made))[0] == 200
    row = row_of(explain(kind="pv", name=name), name)
    assert causes(row)["claim"] == f"PersistentVolumeClaim {here}/data is still bound to it"
    assert row["suggestion"].endswith(f"(its disk stays): kubectl -n {here} delete pvc data")


# -- who brings it back ------------------------------------------------------------------------------------------------


def test_owners_that_bring_it_back_are_told_with_the_command_that_makes_them_wait(
    stage: Stage, explain: Explainer, gitops_kinds: None
) -> None:
    here = stage.namespace
    stage.put(application("shop", here), owner(FLUX, "Kustomization", "quiet", here, {"suspend": True}))
    stage.put(
        tracked(widget("a", here, CLEANUP), "shop"),
        tracked(config_map("b", here), "shop"),
        labelled(config_map("c", here), FLUX, "quiet", here),
    )
    assert stage.api.delete(f"/apis/{GROUP}/v1/namespaces/{here}/widgets/a")[0] == 200
    result = explain(namespace=here)
    loud, quiet = result["brought_back_by"]
    assert (loud["owner"], loud["count"], loud["certain"]) == (f"Argo CD, Application {here}/shop", 2, True)
    assert (quiet["owner"], quiet["certain"]) == (f"Flux, Kustomization {here}/quiet", False)
    assert causes(row_of(result, "a"))["gitops"].endswith("brings it back as soon as it is gone")
    pause = f"kubectl annotate application shop -n {here} argocd.argoproj.io/skip-reconcile=true"
    assert result["next_steps"][0] == f"so that it stays away: {pause}"
    told = "\n".join(result["text"])
    assert f"Argo CD, Application {here}/shop brings back" in told
    assert "Kustomization" not in told.partition("next:")[0].replace("still in it", "").split("Argo CD")[-1]
    # And when it waits, nobody says so any more.
    skip = {"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}}
    path = f"/apis/argoproj.io/v1alpha1/namespaces/{here}/applications/shop"
    assert stage.api.patch(path, skip)[0] == 200
    assert [one["certain"] for one in explain(namespace=here)["brought_back_by"]] == [False, False]


# -- rights ------------------------------------------------------------------------------------------------------------


def test_a_right_that_is_missing_is_named_and_nothing_is_tried(
    stage: Stage, explain: Explainer, as_user: AsUser, audit: AuditTrail
) -> None:
    here = stage.namespace
    stage.hang(*(widget(name, here, CLEANUP) for name in "abc"))
    user = as_user("looker", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "get"]}])
    result = explain(user=user, kind=WIDGETS, namespace=here)
    for name in "abc":
        assert causes(row_of(result, name))["rights"] == (
            f"you may not patch {WIDGETS} in namespace {here}, which it takes to remove its finalizer"
        )
    [step] = result["next_steps"]
    assert step.endswith(f"kubectl auth can-i --list -n {here}")
    asked = [event for event in audit.events(user.name) if event.verb not in ("list", "get")]
    assert [event.resource for event in asked] == ["selfsubjectaccessreviews"]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def policy(stage: Stage) -> Any:
    """An admission policy that refuses such requests of the test's namespace."""
    name = f"vault-{stage.namespace}"

    def install(resource: str, operation: str, group: str = "") -> str:
        rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]}
        here = {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}}
        test = {"expression": "false", "message": "the vault is sealed"}
        spec = {"matchConstraints": {"resourceRules": [rule], "namespaceSelector": here}, "validations": [test]}
        binding = {"policyName": name, "validationActions": ["Deny"]}
        stage.api.create(body(POLICIES, "ValidatingAdmissionPolicy", name, "", spec=spec))
        stage.api.create(body(POLICIES, "ValidatingAdmissionPolicyBinding", name, "", spec=binding))
        return name

    def remove() -> None:
        for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            stage.api.delete(f"/apis/{POLICIES}/{kind}/{name}")

    stage.afterwards(remove)
    return install


def test_a_policy_that_refuses_the_removal_of_a_finalizer_is_found_by_a_dry_run(
    stage: Stage, explain: Explainer, policy: Any, audit: AuditTrail
) -> None:
    here = stage.namespace
    (held,) = stage.hang(widget("held", here, CLEANUP))
    name = policy("widgets", "UPDATE", GROUP)
    path, touch = stage.api.path_of(held), {"metadata": {"annotations": {"a": "b"}}}
    until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 422, "the policy in force", every=0.05)
    before = stage.versions([held])
    result = explain(namespace=here)
    row = row_of(result, "held")
    assert causes(row)["policy"] == f"ValidatingAdmissionPolicy {name} refuses every change of it: the vault is sealed"
    assert result["next_steps"][0].endswith(f"kubectl delete validatingadmissionpolicybinding {name}")
    assert f"finalizers={CLEANUP}" in result["next_steps"][1], "and then the finalizer"
    assert (stage.versions([held]), audit.writes(explain.user.name)) == (before, [])
    [tried] = [event for event in audit.events(explain.user.name) if event.verb == "patch"]
    assert (tried.name, tried.dry_run) == ("held", True)
    assert "policy" not in causes(row_of(explain(namespace=here, dry_run=False), "held"))


def test_a_policy_that_refuses_the_deletion_of_what_is_in_a_namespace_is_found(
    stage: Stage, explain: Explainer, policy: Any
) -> None:
    here = stage.namespace
    (coins,) = stage.put(config_map("coins", here))
    name = policy("configmaps", "DELETE")
    path = stage.api.path_of(coins)
    until(lambda: stage.api.delete(path, dryRun="All")[0] == 422, "the policy in force", every=0.05)
    gone(stage, here, "NamespaceDeletionContentFailure")
    result = explain(namespace=here)
    told = causes(row_of(result, "coins"))
    assert told["policy"] == f"ValidatingAdmissionPolicy {name} refuses its deletion: the vault is sealed"
    assert told["not deleted"] == "its namespace is going, and nobody could delete it yet"
    assert row_of(result, "coins")["suggestion"].endswith(f"validatingadmissionpolicybinding {name}")


def test_an_object_that_breaks_its_own_schema_is_told_with_the_fields_to_mend(stage: Stage, explain: Explainer) -> None:
    here, group = stage.namespace, f"{stage.namespace}.example.com"
    made = define(stage, crd("Vase", group))
    broken, _whole = stage.hang(
        body(f"{group}/v1", "Vase", "broken", here, CLEANUP),
        body(f"{group}/v1", "Vase", "whole", here, CLEANUP, glazed=True),
    )
    rule = {"rule": "has(self.glazed)", "message": "a vase must say whether it is glazed"}
    strict = {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {"glazed": {"type": "boolean"}},
            "x-kubernetes-validations": [rule],
        }
    }
    stage.api.apply_crd(crd("Vase", group, schema=strict))
    stage.afterwards(lambda: stage.api.apply_crd(crd("Vase", group)))
    path, touch = stage.api.path_of(broken), {"metadata": {"annotations": {"a": "b"}}}
    until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 422, "the schema in force", every=0.05)
    result = explain(kind=made["metadata"]["name"])
    row = row_of(result, "broken")
    assert "breaks its own schema: " in causes(row)["schema"]
    assert "a vase must say whether it is glazed" in causes(row)["schema"]
    assert f"kubectl -n {here} edit vases.{group} broken" in row["suggestion"]
    assert row["suggestion"] in result["next_steps"], "although the other is freed by a command"
    assert "schema" not in causes(row_of(result, "whole"))
    # As said, in one go:
    mended = {"glazed": False, "metadata": {"finalizers": None}}
    assert stage.api.patch(path, mended)[0] == 200
    assert stage.is_gone(broken)


def test_a_webhook_that_answers_no_is_told_in_its_own_words(stage: Stage, explain: Explainer, tmp_path: Path) -> None:
    here = stage.namespace
    (held,) = stage.hang(widget("held", here, CLEANUP))
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["widgets"]}
    inside = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": here}}}
    with refusing_webhook(stage, tmp_path, "porter.example.com", "not on a Sunday", rule, **inside):
        path, touch = stage.api.path_of(held), {"metadata": {"annotations": {"a": "b"}}}
        until(lambda: stage.api.patch(path, touch, dryRun="All")[0] == 409, "the webhook in force", every=0.05)
        result = explain(kind=WIDGETS, name="held", namespace=here)
    told = texts(row_of(result, "held"), "webhook")
    assert "webhook porter.example.com refuses every change of it: not on a Sunday" in told
    first, second = result["next_steps"]
    assert first == "do as webhook porter.example.com says: it is its application's word"
    assert f"finalizers={CLEANUP}" in second, "after who refuses it"


def test_a_webhook_for_some_objects_that_refuses_the_removal_of_a_finalizer_comes_before_it(
    stage: Stage, explain: Explainer
) -> None:
    """Nobody can tell by its selector that it is asked; the dry run shows it."""
    here = stage.namespace
    (held,) = stage.hang(widget("held", here, CLEANUP, labels={"guarded": "yes"}))
    guarded = {"matchLabels": {"guarded": "yes"}}
    hook = dead_webhook(stage, "widgets", "UPDATE", group=GROUP, objectSelector=guarded)
    until(lambda: is_refused(stage, held, "UPDATE"), "the webhook to be in force", every=0.05)
    first, second = explain(kind=WIDGETS, name="held", namespace=here)["next_steps"]
    assert first.endswith(f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}")
    assert f"finalizers={CLEANUP}" in second


def test_an_owner_in_the_foreground_says_what_holds_its_dependant_of_another_kind_and_how_to_ask_on(
    stage: Stage, explain: Explainer
) -> None:
    here = stage.namespace
    (parent,) = stage.put(gadget(f"parent-{here}"))
    reference = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "name": f"parent-{here}"}
    child = config_map("child", here, FOREIGN)
    child["metadata"]["ownerReferences"] = [{**reference, "uid": parent["metadata"]["uid"], "blockOwnerDeletion": True}]
    stage.put(child)
    assert stage.api.delete(stage.api.path_of(parent), propagationPolicy="Foreground")[0] == 200
    row = row_of(explain(kind=f"gadgets.{GROUP}", name=f"parent-{here}"), f"parent-{here}")
    assert causes(row)["dependant"].endswith(f"still there: ConfigMap {here}/child (held by {FOREIGN})")
    assert row["suggestion"] == (
        "see what holds its dependant: ansible localhost -m sunset.kube.blockers_info"
        f" -a 'api_version=v1 kind=ConfigMap name=child namespace={here}'"
    )
