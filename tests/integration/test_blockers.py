# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`blockers_info` on a real API server: each kind of blocker, made as in the field, is told with its way out."""

from __future__ import annotations

import secrets

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.evidence.report_page import verdict_of
from integration.breaking import dead_converter, dead_webhook, is_refused
from integration.explaining import Explainer, causes, gone, row_of
from integration.ranked import define
from integration.stage import (
    CLEANUP,
    FOREIGN,
    GROUP,
    WIDGETS,
    Body,
    Stage,
    body,
    bring_to_life,
    config_map,
    crd,
    deployment,
    widget,
)
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick


def test_a_namespace_that_hangs_is_told_with_what_holds_it_and_the_next_command(
    stage: Stage, explain: Explainer, audit: AuditTrail
) -> None:
    here = stage.namespace
    stage.put(widget("a", here, CLEANUP), widget("b", here, CLEANUP), config_map("c", here, FOREIGN))
    gone(stage, here, "NamespaceFinalizersRemaining")
    result = explain(namespace=here)
    namespace = row_of(result, here)
    assert "finalizers hold what is left in it" in causes(namespace)["condition"]
    assert "2 Widget" in causes(namespace)["content"]
    [holder] = row_of(result, "a")["finalizers"]
    assert (holder["name"], holder["alive"], holder["danger"]) == (CLEANUP, "unknown", "unknown")
    command = f"ansible localhost -m sunset.kube.finalizer -a 'kind={WIDGETS} namespace={here} finalizers={CLEANUP}'"
    known = "if you know that nobody should remove it any more (what is lost without it is not known):"
    assert result["next_steps"][0] == f"{known} {command}"
    assert result["text"][result["text"].index("     " + command) - 1] == f"  1. {known}"
    assert result["unreadable"] == []
    assert audit.writes(explain.user.name) == []
    assert result["requests"]["get"] <= 4


def test_an_owner_that_is_alive_and_one_that_is_down_are_told_apart(stage: Stage, explain: Explainer) -> None:
    here = stage.namespace
    up, _down, young = stage.put(
        deployment("up-operator", here), deployment("down-operator", here, replicas=0), deployment("new-operator", here)
    )
    bring_to_life(stage, up)
    until(lambda: stage.look(young).get("status", {}).get("conditions"), "the third to be counted", every=0.05)
    held = {"a": "up.example.com/x", "b": "down.example.com/x", "c": "new.example.com/x"}
    stage.hang(*(widget(name, here, finalizer) for name, finalizer in held.items()))
    result = explain(kind="widgets", namespace=here)
    lives = {name: row_of(result, name)["finalizers"][0]["alive"] for name in held}
    assert lives == {"a": "alive", "b": "gone", "c": "unknown"}, "who has just been started is not gone"
    assert "may be starting" in row_of(result, "c")["finalizers"][0]["why"]
    assert f"kubectl -n {here} logs deploy/up-operator" in row_of(result, "a")["suggestion"]
    assert "sunset.kube.finalizer" in row_of(result, "b")["suggestion"]


def test_a_circle_of_a_namespace_and_the_controller_inside_it_is_named_with_the_place_to_cut(
    stage: Stage, explain: Explainer
) -> None:
    """The operator goes with its namespace, and what it should clean up stays: the classic."""
    here = stage.namespace
    stage.put(held_operator("keeper-operator", here), widget("w", here, CLEANUP))
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    result = explain(namespace=here)
    [circle] = result["deadlocks"]
    assert sorted(circle["objects"]) == [
        f"Namespace {here}",
        f"Widget {here}/w",
        f"a running Deployment {here}/keeper-operator",
    ]
    assert f"finalizers={CLEANUP}" in circle["cut"]
    assert "these wait for each other in a circle" in "\n".join(result["text"])


def held_operator(name: str, namespace: str) -> Body:
    """Its Deployment is held too, or it would be gone before anybody looks."""
    operator = deployment(name, namespace, replicas=0)
    operator["metadata"]["finalizers"] = [FOREIGN]
    return operator


def is_going(stage: Stage, path: str) -> None:
    until(lambda: "deletionTimestamp" in stage.api.get(path)[1]["metadata"], f"{path} to go", every=0.1)


def test_two_namespaces_that_wait_for_each_others_controllers_are_one_circle(stage: Stage, explain: Explainer) -> None:
    one, other = stage.namespace, stage.another_namespace()
    first, second = "first.example.com/x", "second.example.com/x"
    stage.put(held_operator("second-operator", one), held_operator("first-operator", other))
    stage.put(widget("w", one, first), widget("w", other, second))
    for namespace in (one, other):
        assert stage.api.delete(f"/api/v1/namespaces/{namespace}")[0] == 200
    for namespace in (one, other):
        is_going(stage, f"/apis/{GROUP}/v1/namespaces/{namespace}/widgets/w")
    result = explain()
    [circle] = [one_of for one_of in result["deadlocks"] if f"Namespace {one}" in one_of["objects"]]
    assert sorted(circle["objects"]) == sorted(
        [
            *(f"Namespace {namespace}" for namespace in (one, other)),
            *(f"Widget {namespace}/w" for namespace in (one, other)),
            f"a running Deployment {one}/second-operator",
            f"a running Deployment {other}/first-operator",
        ]
    )
    assert circle["cut"].endswith(("finalizers=first.example.com/x'", "finalizers=second.example.com/x'"))


def test_two_circles_are_told_apart_and_each_is_cut_by_its_own_command(stage: Stage, explain: Explainer) -> None:
    """In one namespace a controller that goes with it; in another a webhook that is served from there."""
    here = stage.namespace
    (thing,) = stage.put(config_map("a", here))
    hook = dead_webhook(stage, "configmaps", "DELETE", "UPDATE")
    until(lambda: is_refused(stage, thing), "the webhook to be in force", every=0.05)
    other = stage.another_namespace()
    stage.put(held_operator("keeper-operator", other), widget("w", other, CLEANUP))
    for namespace in (here, other):
        assert stage.api.delete(f"/api/v1/namespaces/{namespace}")[0] == 200
    is_going(stage, f"/apis/{GROUP}/v1/namespaces/{other}/widgets/w")
    found = explain()["deadlocks"]
    [first] = [circle for circle in found if f"Namespace {other}" in circle["objects"]]
    [second] = [circle for circle in found if f"Namespace {here}" in circle["objects"]]
    assert f"finalizers={CLEANUP}" in first["cut"]
    assert second["cut"] == f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}"


def test_a_dead_webhook_is_told_for_what_it_stops_and_comes_first(stage: Stage, explain: Explainer) -> None:
    here = stage.namespace
    (thing,) = stage.put(config_map("a", here))
    hook = dead_webhook(stage, "configmaps", "DELETE", "UPDATE")
    until(lambda: is_refused(stage, thing), "the webhook to be in force", every=0.05)
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    result = explain(namespace=here)
    row = row_of(result, "a")
    assert row["deleting_for"] is None
    assert f"Service {here}/guard does not exist" in causes(row)["webhook"]
    assert result["next_steps"][0].endswith(f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}")
    [circle] = result["deadlocks"]
    assert circle["cut"] == f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}"


def test_a_dead_webhook_for_some_objects_is_certain_where_the_server_says_so(stage: Stage, explain: Explainer) -> None:
    here = stage.namespace
    thing, spared = config_map("a", here), config_map("b", here)
    thing["metadata"]["labels"] = {"guarded": "yes"}
    thing, _spared = stage.put(thing, spared)
    hook = dead_webhook(stage, "configmaps", "DELETE", "UPDATE", objectSelector={"matchLabels": {"guarded": "yes"}})
    until(lambda: is_refused(stage, thing), "the webhook to be in force", every=0.05)
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    result = explain(namespace=here)
    assert causes(row_of(result, "a"))["webhook"].startswith("webhook guard.example.com does not answer")
    removal = f"kubectl delete validatingwebhookconfiguration {hook['metadata']['name']}"
    assert row_of(result, "a")["suggestion"].endswith(removal)
    [circle] = result["deadlocks"]
    assert circle["cut"] == removal


def test_an_api_group_that_is_down_is_told_of_a_namespace(stage: Stage, explain: Explainer, dead_group: str) -> None:
    here = stage.namespace
    stage.put(config_map("a", here, FOREIGN))
    gone(stage, here, "NamespaceDeletionDiscoveryFailure")
    result = explain(namespace=here)
    told = [cause["text"] for cause in row_of(result, here)["causes"]]
    assert any("an API group does not answer" in text for text in told)
    assert any(dead_group in text and text.startswith("APIService") for text in told)
    assert any(dead_group in line for line in result["unreadable"])
    assert dead_group in result["next_steps"][0]


def test_a_definition_that_hangs_is_told_with_its_instances(stage: Stage, explain: Explainer) -> None:
    made = define(stage, crd("Thing", f"{stage.namespace}.example.com"))
    spec = made["spec"]
    (thing,) = stage.put(body(f"{spec['group']}/v1", "Thing", "t", stage.namespace, CLEANUP))
    assert stage.api.delete(stage.api.path_of(made))[0] == 200
    name = made["metadata"]["name"]
    until(lambda: "deletionTimestamp" in stage.look(thing)["metadata"], "its object to be deleted", every=0.1)
    result = explain(kind="crd", name=name)
    told = causes(row_of(result, name))
    assert "the API server says: " in told["condition"]
    assert told["instances"] == f"1 object of this kind is left, 1 being deleted, held by {CLEANUP}"
    assert row_of(result, name)["finalizers"][0]["danger"] == "bookkeeping"


def test_a_kind_whose_converter_is_dead_is_told_although_it_cannot_be_listed(stage: Stage, explain: Explainer) -> None:
    made, _stored = dead_converter(stage)
    name = made["metadata"]["name"]
    result = explain(kind=name)
    assert any("500" in line and name in line for line in result["unreadable"])
    [obstacle] = [one for one in result["obstacles"] if one["kind"] == "conversion"]
    assert obstacle["object"]["name"] == name
    assert f"kubectl patch crd {name}" in "\n".join(result["text"])


def claim_and_pod(stage: Stage, name: str, node: str = "") -> tuple[Body, Body]:
    """A volume claim that is protected, and a pod of the same name that uses it."""
    here = stage.namespace
    claim = body("v1", "PersistentVolumeClaim", name, here)
    claim["spec"] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
    pod = {"containers": [{"name": "main", "image": "example/main:1"}], "volumes": volumes}
    placed = {"nodeName": node} if node else {}
    user = body("v1", "Pod", name, here, spec={**pod, "automountServiceAccountToken": False, **placed})
    account = f"/api/v1/namespaces/{here}/serviceaccounts/default"
    until(lambda: stage.api.get(account)[0] == 200, account, every=0.05)
    claim, user = stage.put(claim, user)
    until(lambda: stage.finalizers(claim), "the claim to be protected", every=0.05)
    return claim, user


def test_a_claim_is_told_with_the_pod_that_uses_it(stage: Stage, explain: Explainer) -> None:
    here = stage.namespace
    claim, _user = claim_and_pod(stage, "data", "nowhere")
    assert stage.api.delete(stage.api.path_of(claim))[0] == 200
    row = row_of(explain(kind="pvc", name="data", namespace=here), "data")
    assert causes(row)["pod"] == "Pod data still uses it"
    assert row["suggestion"].endswith(f"kubectl -n {here} delete pod data")
    assert (row["finalizers"][0]["danger"], row["finalizers"][0]["protected"]) == ("data", True)


def test_a_claim_is_held_by_a_pod_that_has_ended_and_not_by_one_without_a_node(
    stage: Stage, explain: Explainer
) -> None:
    """As the real controller sees it: the one claim goes at once, the other when the pod that has ended is deleted."""
    here = stage.namespace
    held, ended = claim_and_pod(stage, "held", "nowhere")
    free, _waiting = claim_and_pod(stage, "free")
    assert stage.api.patch(f"{stage.api.path_of(ended)}/status", {"status": {"phase": "Succeeded"}})[0] == 200
    for claim in (held, free):
        assert stage.api.delete(stage.api.path_of(claim))[0] == 200
    until(lambda: stage.is_gone(free), "the claim of a pod without a node to go", every=0.1)
    row = row_of(explain(kind="pvc", namespace=here), "held")
    assert causes(row)["pod"].startswith("Pod held still uses it; one that has ended")
    assert row["suggestion"] == f"delete what has ended: kubectl -n {here} delete pod held"
    assert stage.api.delete(stage.api.path_of(ended), gracePeriodSeconds=0)[0] == 200
    until(lambda: stage.is_gone(held), "the claim to go", every=0.1)


def test_an_owner_that_goes_in_the_foreground_is_told_with_its_dependant_of_another_kind(
    stage: Stage, explain: Explainer
) -> None:
    here = stage.namespace
    (owner,) = stage.put(widget("owner", here))
    reference = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "name": "owner", "uid": owner["metadata"]["uid"]}
    child: Body = config_map("child", here, FOREIGN)
    child["metadata"]["ownerReferences"] = [{**reference, "blockOwnerDeletion": True}]
    stage.put(child)
    assert stage.api.delete(stage.api.path_of(owner), propagationPolicy="Foreground")[0] == 200
    row = row_of(explain(kind="widgets", name="owner", namespace=here), "owner")
    assert row["finalizers"][0]["name"] == "foregroundDeletion"
    assert f"ConfigMap {here}/child" in causes(row)["dependant"]


def test_everything_that_hangs_is_found_without_naming_anything(stage: Stage, explain: Explainer) -> None:
    stage.hang(widget("hanging", stage.namespace, CLEANUP))
    stage.put(widget("healthy", stage.namespace, CLEANUP))
    result = explain()
    names = [row["object"]["name"] for row in result["blockers"] if row["object"]["namespace"] == stage.namespace]
    assert names == ["hanging"]


def test_members_that_would_hang_are_found_before_anybody_deletes_them(stage: Stage, explain: Explainer) -> None:
    here = stage.namespace
    stage.put(deployment("down-operator", here, replicas=0))
    held, free = stage.put(widget("held", here, "down.example.com/x"), widget("free", here))
    objects = [
        {"api_version": f"{GROUP}/v1", "kind": "Widget", "name": one["metadata"]["name"], "namespace": here}
        for one in (held, free)
    ]
    result = explain(members={"objects": objects})
    assert [row["object"]["name"] for row in result["blockers"]] == ["held"]
    assert "this would be in the way" in result["text"][1]
    assert result["next_steps"] == [
        f"bring its owner back for a while: kubectl -n {here} scale deploy/down-operator --replicas=1"
    ]


def test_a_user_who_may_see_little_is_told_what_he_could_not_see(
    stage: Stage, explain: Explainer, as_user: AsUser
) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    rules = [{"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list"]}]
    user = as_user("nearly-blind", rules, namespace=stage.namespace)
    result = explain(user=user, namespace=stage.namespace)
    assert [row["object"]["name"] for row in result["blockers"]] == ["w"]
    assert any(line.startswith("secrets in") and "403" in line for line in result["unreadable"])
    assert "could not look, so there may be more behind it:" in result["text"]
    assert not any("sunset.kube.finalizer" in step for step in result["next_steps"]), "its owner may be alive"


def test_a_kind_that_may_not_be_listed_is_not_told_as_free_of_trouble(
    stage: Stage, explain: Explainer, as_user: AsUser
) -> None:
    stage.hang(widget("w", stage.namespace, CLEANUP))
    user = as_user("blind", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}])
    result = explain(user=user, kind=WIDGETS, name="w", namespace=stage.namespace)
    assert result["blockers"] == []
    assert result["text"][1] == (
        f"Widget w in namespace {stage.namespace}: nothing was seen that hangs,"
        " but not everything could be looked at (0 objects looked at)"
    )
    assert verdict_of(result) == "not everything was seen"


def test_who_may_read_his_namespace_and_not_list_them_is_told_of_its_circle(
    stage: Stage, explain: Explainer, as_user: AsUser
) -> None:
    here = stage.namespace
    stage.put(held_operator("keeper-operator", here), widget("w", here, CLEANUP))
    rules = [
        {"apiGroups": [GROUP, "apps"], "resources": ["*"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
    ]
    user = as_user("landlord", rules)
    until(lambda: explain(user=user, namespace=here)["looked_at"] > 1, "the rights to be in force")
    assert stage.api.delete(f"/api/v1/namespaces/{here}")[0] == 200
    is_going(stage, f"/apis/{GROUP}/v1/namespaces/{here}/widgets/w")
    result = explain(user=user, namespace=here)
    assert any(line.startswith("namespaces: ") and "403" in line for line in result["unreadable"])
    [circle] = result["deadlocks"]
    assert f"Namespace {here}" in circle["objects"]


def test_a_healthy_namespace_and_a_missing_one(stage: Stage, explain: Explainer) -> None:
    stage.put(config_map("fine", stage.namespace))
    result = explain(namespace=stage.namespace)
    assert [row["object"]["kind"] for row in result["blockers"]] == ["Namespace"]
    assert result["next_steps"] == []
    assert "nothing hangs, and nothing is in the way" in result["text"][1]
    assert explain(namespace="no-such")["text"][1:] == ["there is no namespace no-such"]


def test_a_namespace_that_somebody_holds_in_its_spec_is_told(stage: Stage, explain: Explainer) -> None:
    """As OpenShift does it: the API server keeps what stands in spec.finalizers when a namespace is made."""
    here = f"{stage.namespace}-held"
    path, mark = f"/api/v1/namespaces/{here}", "example.com/origin"
    whole: Body = body("v1", "Namespace", here, "", spec={"finalizers": ["kubernetes", mark]})
    stage.api.create(whole)
    stage.afterwards(lambda: stage.api.delete(path))
    stage.afterwards(lambda: stage.api.put(f"{path}/finalize", {**whole, "spec": {"finalizers": []}}))
    assert stage.api.delete(path)[0] == 200
    until(lambda: stage.api.get(path)[1]["spec"].get("finalizers") == [mark], "its controller to be done", every=0.1)
    result = explain(namespace=here)
    assert causes(row_of(result, here))["spec finalizer"].startswith(f"{mark} in its spec.finalizers holds it")
    assert result["next_steps"] == [
        f"see why the controller behind {mark} does not act: kubectl get namespace {here} -o yaml"
    ]


def test_an_empty_namespace_that_nobody_ends_is_told_with_who_should(narrow_plane: ControlPlane) -> None:
    """On a control plane without controllers, with the Lease of one that was there."""
    api, here = narrow_plane.api, f"stage-{secrets.token_hex(5)}"
    lease = {"holderIdentity": "m_1", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    manager = body("coordination.k8s.io/v1", "Lease", "kube-controller-manager", "kube-system", spec=lease)
    api.create(body("v1", "Namespace", here, ""))
    until(lambda: api.get("/api/v1/namespaces/kube-system")[0] == 200, "kube-system", every=0.1)
    api.create(manager)
    try:
        assert api.delete(f"/api/v1/namespaces/{here}")[0] == 200
        told = causes(row_of(Explainer(narrow_plane)(namespace=here), here))
    finally:
        api.delete(api.path_of(manager))
    assert "kube-controller-manager was last heard of" in told["controller"]


def test_many_objects_take_as_many_requests_as_few_and_one_screen(stage: Stage, explain: Explainer) -> None:
    stage.hang(widget("one", stage.namespace, CLEANUP))
    few = explain(namespace=stage.namespace)["requests"]
    stage.hang(*(widget(f"more{i}", stage.namespace, CLEANUP) for i in range(60)))
    result = explain(namespace=stage.namespace)
    many = result["requests"]
    assert (many["list"], many["get"]) == (few["list"], few["get"])
    assert len(result["blockers"]) == 62
    assert len(result["text"]) < 30
