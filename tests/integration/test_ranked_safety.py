# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ranked deletion does not touch, and when it does not even begin. On a real API server, by its audit log."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Planned, StepBegan
from integration.ranked import (
    RBAC,
    Remover,
    annotated,
    cluster_role,
    define,
    deletions,
    failed,
    kept,
    manifests,
    named,
    names,
    planned,
    remaining,
    service_account,
    succeeded,
    when_waiting_for,
)
from integration.stage import CLEANUP, GROUP, Body, Stage, body, config_map, crd, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

NAMESPACED = {"predefinedResourceGroup": "namespaced-resources"}
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
READ = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def things(stage: Stage) -> Body:
    """A definition of the test's own, in force."""
    return define(stage, crd("Thing", f"{secrets.token_hex(4)}.example.com"))


def thing(of: Body, name: str, namespace: str, *finalizers: str) -> Body:
    return body(f"{of['spec']['group']}/v1", of["spec"]["names"]["kind"], name, namespace, *finalizers)


def the_namespace(name: str) -> Body:
    return body("v1", "Namespace", name, "")


def every(kind: str, **more: Any) -> dict[str, Any]:
    return {"resources": [{"kind": kind, "selector": {"all": True}, **more}]}


def touched_nothing(audit: AuditTrail, remove: Remover) -> bool:
    return audit.writes(remove.user.name) == []


# -- keep markers ------------------------------------------------------------------------------------------------------

MARKERS = {
    "ours": ("sunset.dev/keep", "true"),
    "helm": ("helm.sh/resource-policy", "keep"),
    "argo-delete": ("argocd.argoproj.io/sync-options", "ServerSideApply=true,Delete=false"),
    "argo-prune": ("argocd.argoproj.io/sync-options", "Prune=false"),
    "argo-confirm": ("argocd.argoproj.io/sync-options", "Delete=confirm"),
    "flux-prune": ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    "flux-reconcile": ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    "flux-ssa": ("kustomize.toolkit.fluxcd.io/ssa", "Ignore"),
    "kapp": ("kapp.k14s.io/delete-strategy", "orphan"),
    "cli-utils": ("cli-utils.sigs.k8s.io/on-remove", "keep"),
    "lifecycle": ("client.lifecycle.config.k8s.io/deletion", "detach"),
}


def put_marked(stage: Stage) -> list[Body]:
    marked = [annotated(config_map(name, stage.namespace), **{key: word}) for name, (key, word) in MARKERS.items()]
    approved = {"argocd.argoproj.io/sync-options": "Delete=confirm", "argocd.argoproj.io/deletion-approved": "now"}
    others = [
        annotated(config_map("argo-approved", stage.namespace), **approved),
        annotated(config_map("not-kept", stage.namespace), **{"sunset.dev/keep": "false"}),
        config_map("unmarked", stage.namespace),
        config_map("by-label", stage.namespace, labels={"kustomize.toolkit.fluxcd.io/prune": "disabled"}),
    ]
    return stage.put(*marked, *others)


def test_every_keep_marker_keeps_its_object_and_is_named(remove: Remover, stage: Stage) -> None:
    made = put_marked(stage)
    result = succeeded(remove(manifests(*made)))
    assert remaining(stage, made) == sorted([*MARKERS, "by-label"])
    for name, (key, word) in MARKERS.items():
        verdict, reason = kept(result)[name]
        assert verdict == "keep"
        assert f"{key}: {word}" in reason
    assert result["counts"]["keep"] == len(MARKERS) + 1
    assert result["steps"][0]["kept"] == len(MARKERS) + 1


def test_keep_markers_can_be_overruled_by_the_task(remove: Remover, stage: Stage) -> None:
    made = put_marked(stage)
    result = succeeded(remove(manifests(*made), keep_markers=False))
    assert remaining(stage, made) == []
    assert result["kept"] == []


def test_a_keep_marker_set_after_the_plan_was_made_still_counts(remove: Remover, stage: Stage) -> None:
    """The barrier of the first step gives somebody the time to change his mind about the second."""
    [held] = stage.put(config_map("held", stage.namespace, CLEANUP))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    mark = {"metadata": {"annotations": {"sunset.dev/keep": "true"}}}

    def change_of_mind() -> None:
        assert stage.api.patch(stage.api.path_of(later), mark)[0] == 200
        stage.release(held)

    result = succeeded(remove(named(held, later), on_event=when_waiting_for(CLEANUP, change_of_mind)))
    assert remaining(stage, [held, later]) == [f"later-{stage.namespace}"]
    assert kept(result)[f"later-{stage.namespace}"][0] == "keep"
    assert [step["deleted"] for step in result["steps"]] == [1, 0, 0]


# -- the cluster's own objects -----------------------------------------------------------------------------------------


def test_a_sweep_of_whole_kinds_leaves_the_clusters_own_objects_alone(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    put = stage.put(
        config_map("mine", stage.namespace),
        service_account("mine", stage.namespace),
        cluster_role(f"mine-{stage.namespace}"),
    )
    kinds = [{"kind": kind, "selector": {"all": True}} for kind in ("ConfigMap", "ServiceAccount", "ClusterRole")]
    result = succeeded(remove(named(), check_mode=True, deletion_groups=[{"resources": kinds}]))
    going = {name for wave in planned(result) for name in wave}
    assert {"mine", f"mine-{stage.namespace}"} <= going
    protected = {
        (row["object"]["kind"], row["object"]["name"]) for row in result["kept"] if row["verdict"] == "protected"
    }
    assert {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ServiceAccount", "default"),
        ("ClusterRole", "cluster-admin"),
    } <= protected
    assert not {"kube-root-ca.crt", "default", "cluster-admin", "system:node", "view"} & going
    assert "extension-apiserver-authentication" not in going
    assert touched_nothing(audit, remove)
    assert len(remaining(stage, put)) == 3


def test_a_real_sweep_of_one_namespace_spares_what_the_cluster_writes_into_it(remove: Remover, stage: Stage) -> None:
    here = stage.namespace
    api = stage.api
    root = f"/api/v1/namespaces/{here}/configmaps/kube-root-ca.crt"
    account = f"/api/v1/namespaces/{here}/serviceaccounts/default"
    before = [
        until(lambda: _found(api.get(root)), root, every=0.05),
        until(lambda: _found(api.get(account)), account, every=0.05),
    ]
    put = stage.put(config_map("mine", here), service_account("mine", here))
    groups = [every("cm", namespaces=[here]), every("sa", namespaces=[here])]
    result = succeeded(remove(named(), deletion_groups=groups))
    assert remaining(stage, put) == []
    assert [api.get(path)[1] for path in (root, account)] == before
    assert {verdict for verdict, _reason in kept(result).values()} == {"protected"}


def _found(answer: tuple[int, Body]) -> Body | None:
    return answer[1] if answer[0] == 200 else None


@pytest.mark.parametrize("kind", ["nodes", "apiservices", "priorityclasses", "flowschemas", "namespaces"])
def test_no_kind_of_the_cluster_itself_is_ever_swept(
    remove: Remover, stage: Stage, audit: AuditTrail, kind: str
) -> None:
    """There is one of each that comes with every API server (nodes aside: there is none in the lab)."""
    if kind == "nodes":
        stage.put(body("v1", "Node", f"node-{secrets.token_hex(3)}", ""))
    result = remove(named(), check_mode=True, deletion_groups=[every(kind)], foreign_instances="cascade")
    succeeded(result)
    protected = {name for name, (verdict, _reason) in kept(result).items() if verdict == "protected"}
    going = {name for wave in planned(result) for name in wave}
    assert protected
    assert not {"default", "kube-system", "v1.", "v1.apps", "system-node-critical", "exempt", "catch-all"} & going
    assert kind != "nodes" or not going
    assert touched_nothing(audit, remove)


def test_a_protected_object_that_is_named_one_by_one_goes(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    path = f"/api/v1/namespaces/{stage.namespace}/configmaps/kube-root-ca.crt"
    until(lambda: _found(stage.api.get(path)), path, every=0.05)
    root = body("v1", "ConfigMap", "kube-root-ca.crt", stage.namespace)
    assert planned(succeeded(remove(manifests(root), check_mode=True))) == []
    succeeded(remove(named(root)))
    assert deletions(audit, remove.user) == ["kube-root-ca.crt"]


# -- identity ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_force_leaves_finalizers_of_products_that_guard_data_until_they_are_named(
    remove: Remover, stage: Stage
) -> None:
    """Without the Secret of its monitors nobody gets at the data of Ceph again."""
    keys = "ceph.rook.io/disaster-protection"
    [secret] = stage.put(body("v1", "Secret", "rook-ceph-mon", stage.namespace, keys))
    forced = {"deletion_groups": [{**NAMESPACED, "forceDelete": True}], "force_after": 0}
    assert "keys without which Ceph's data cannot be read" in failed(remove(named(secret), **forced))
    assert stage.finalizers(secret) == [keys]
    succeeded(remove(named(secret), **forced, force_allow=[keys]))
    assert stage.is_gone(secret)


def test_an_object_that_was_replaced_after_the_plan_is_not_touched(remove: Remover, stage: Stage) -> None:
    [held] = stage.put(config_map("held", stage.namespace, CLEANUP))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    anew: list[Body] = []

    def replace() -> None:
        assert stage.api.delete(stage.api.path_of(later))[0] == 200
        anew.extend(stage.put(cluster_role(later["metadata"]["name"])))
        stage.release(held)

    succeeded(remove(named(held, later), on_event=when_waiting_for(CLEANUP, replace)))
    assert stage.look(anew[0]) == anew[0]


def test_every_delete_names_the_uid_it_is_meant_for(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    """So that even a replacement that no watch has shown yet is safe."""
    made = stage.put(config_map("a", stage.namespace), cluster_role(f"b-{stage.namespace}"))
    succeeded(remove(named(*made)))
    sent = {event.name: event.request or {} for event in audit.writes(remove.user.name)}
    for one in made:
        options = sent[one["metadata"]["name"]]
        assert options["preconditions"]["uid"] == one["metadata"]["uid"]
        assert options["propagationPolicy"] == "Background"


def test_a_replacement_that_no_watch_has_shown_is_saved_by_its_uid(remove: Remover, stage: Stage) -> None:
    """Replaced in the very moment between plan and delete."""
    [old] = stage.put(config_map("swapped", stage.namespace))
    anew: list[Body] = []

    def replace(event: Any) -> None:
        if isinstance(event, Planned) and not anew:
            assert stage.api.delete(stage.api.path_of(old))[0] == 200
            anew.extend(stage.put(config_map("swapped", stage.namespace)))

    result = succeeded(remove(named(old), on_event=replace))
    assert stage.look(anew[0]) == anew[0]
    assert (result["survivors"], result["counts"]["refused"]) == ([], 0)


# -- what would go along unseen ----------------------------------------------------------------------------------------


def test_a_definition_with_instances_of_somebody_else_is_refused_before_anything_is_deleted(
    remove: Remover, stage: Stage, things: Body, audit: AuditTrail
) -> None:
    mine, foreign = stage.put(
        thing(things, "mine", stage.namespace), thing(things, "foreign", stage.another_namespace())
    )
    said = failed(remove(named(mine, things)))
    assert things["metadata"]["name"] in said
    assert "foreign" in said
    assert "foreign_instances" in said
    assert touched_nothing(audit, remove)
    assert remaining(stage, [mine, foreign]) == ["foreign", "mine"]


def test_a_definition_with_instances_of_somebody_else_can_be_kept(remove: Remover, stage: Stage, things: Body) -> None:
    mine, foreign = stage.put(thing(things, "mine", stage.namespace), thing(things, "foreign", stage.namespace))
    result = succeeded(remove(named(mine, things), foreign_instances="keep"))
    assert remaining(stage, [mine, foreign, things]) == sorted(["foreign", things["metadata"]["name"]])
    verdict, reason = kept(result)[things["metadata"]["name"]]
    assert verdict == "keep"
    assert "foreign" in reason


def test_a_definition_can_take_instances_of_somebody_else_along(remove: Remover, stage: Stage, things: Body) -> None:
    mine, foreign = stage.put(thing(things, "mine", stage.namespace), thing(things, "foreign", stage.namespace))
    succeeded(remove(named(mine, things), foreign_instances="cascade"))
    assert stage.is_gone(things)
    assert stage.api.get(f"/apis/{things['spec']['group']}/v1/things")[0] == 404
    assert {mine["metadata"]["name"], foreign["metadata"]["name"]} == {"mine", "foreign"}


def test_an_instance_that_is_kept_keeps_its_definition(
    remove: Remover, stage: Stage, things: Body, audit: AuditTrail
) -> None:
    """Or the keep marker would be worth nothing: deleting the definition deletes it too."""
    treasure = annotated(thing(things, "treasure", stage.namespace), **{"sunset.dev/keep": "true"})
    made = stage.put(treasure)
    assert "treasure" in failed(remove(named(*made, things)))
    assert touched_nothing(audit, remove)


def test_a_namespace_with_content_of_somebody_else_is_refused_before_anything_is_deleted(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.another_namespace()
    mine, foreign = stage.put(config_map("mine", here), widget("foreign", here))
    said = failed(remove(named(mine, the_namespace(here))))
    assert "foreign" in said
    assert here in said
    assert touched_nothing(audit, remove)
    assert remaining(stage, [mine, foreign]) == ["foreign", "mine"]


def test_a_namespace_with_content_of_somebody_else_can_be_kept(remove: Remover, stage: Stage) -> None:
    here = stage.another_namespace()
    mine, foreign = stage.put(config_map("mine", here), widget("foreign", here))
    result = succeeded(remove(named(mine, the_namespace(here)), foreign_instances="keep"))
    assert remaining(stage, [mine, foreign]) == ["foreign"]
    assert kept(result)[here][0] == "keep"
    assert stage.api.get(f"/api/v1/namespaces/{here}")[1]["status"]["phase"] == "Active"


def test_a_namespace_can_take_content_of_somebody_else_along(remove: Remover, stage: Stage) -> None:
    here = stage.another_namespace()
    mine, foreign = stage.put(config_map("mine", here), widget("foreign", here))
    succeeded(remove(named(mine, the_namespace(here)), foreign_instances="cascade"))
    assert remaining(stage, [mine, foreign]) == []
    assert stage.api.get(f"/api/v1/namespaces/{here}")[0] == 404


# -- limits ------------------------------------------------------------------------------------------------------------


def test_more_objects_than_allowed_are_refused_and_as_many_as_allowed_go(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    made = stage.put(*(config_map(f"map-{n}", stage.namespace) for n in range(4)))
    said = failed(remove(named(*made), max_objects=3))
    assert "4" in said
    assert "max_objects" in said
    assert touched_nothing(audit, remove)
    assert len(remaining(stage, made)) == 4
    succeeded(remove(named(*made), max_objects=4))
    assert remaining(stage, made) == []


def test_another_plan_than_the_one_that_was_looked_at_is_refused(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    made = stage.put(config_map("a", stage.namespace), config_map("b", stage.namespace))
    selector = {"selector": {"kinds": ["Widget"], "namespaces": [stage.namespace]}}
    [one] = stage.put(widget("one", stage.namespace))
    seen = succeeded(remove(selector, check_mode=True))["plan_hash"]
    [two] = stage.put(widget("two", stage.namespace))
    said = failed(remove(selector, plan_hash=seen))
    assert seen in said
    assert touched_nothing(audit, remove)
    now = succeeded(remove(selector, check_mode=True))["plan_hash"]
    result = succeeded(remove(selector, plan_hash=now))
    assert result["plan_hash"] == now != seen
    assert remaining(stage, [one, two, *made]) == ["a", "b"]


def test_another_order_of_the_same_objects_is_another_plan(remove: Remover, stage: Stage) -> None:
    made = stage.put(config_map("a", stage.namespace), widget("b", stage.namespace))
    first = [{"resources": [{"kind": "Widget"}]}, NAMESPACED]
    second = [{"resources": [{"kind": "ConfigMap"}]}, NAMESPACED]
    hashes = {
        remove(named(*made), check_mode=True, deletion_groups=groups)["plan_hash"] for groups in (first, second, None)
    }
    assert len(hashes) == 3


# -- check mode --------------------------------------------------------------------------------------------------------


def test_check_mode_makes_the_same_plan_and_sends_dry_runs_only(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    made = stage.put(
        config_map("a", stage.namespace), widget("b", stage.namespace, CLEANUP), cluster_role(f"c-{stage.namespace}")
    )
    before = stage.versions(made)
    checked = succeeded(remove(named(*made), check_mode=True))
    assert stage.versions(made) == before
    tried = [event for event in audit.events(remove.user.name) if event.verb == "delete"]
    assert sorted(event.name for event in tried) == ["a", "b", f"c-{stage.namespace}"]
    assert all(event.dry_run for event in tried)
    assert touched_nothing(audit, remove)
    assert checked["changed"] is True
    assert planned(checked) == [["b"], ["a"], [f"c-{stage.namespace}"]]
    done = succeeded(remove(named(*made), on_event=when_waiting_for(CLEANUP, lambda: stage.release(made[1]))))
    assert done["plan_hash"] == checked["plan_hash"]


Policy = Callable[[str], None]


@pytest.fixture
def undeletable(plane: ControlPlane, stage: Stage) -> Iterator[Policy]:
    """An admission policy that refuses the deletion of ConfigMaps of this name, in the test's namespace."""
    api = plane.api
    policies = "admissionregistration.k8s.io/v1"
    name = f"undeletable-{secrets.token_hex(4)}"

    def forbid(protected: str) -> None:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}
        here = {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}}
        test = {"expression": f"oldObject.metadata.name != '{protected}'", "message": "the treasury says no"}
        spec = {"matchConstraints": {"resourceRules": [rule], "namespaceSelector": here}, "validations": [test]}
        api.create(body(policies, "ValidatingAdmissionPolicy", name, "", spec=spec))
        binding = {"policyName": name, "validationActions": ["Deny"]}
        api.create(body(policies, "ValidatingAdmissionPolicyBinding", name, "", spec=binding))
        path = f"/api/v1/namespaces/{stage.namespace}/configmaps/{protected}"
        until(lambda: api.delete(path, dryRun="All")[0] == 422, "the policy to be in force", every=0.05)

    yield forbid
    for kind in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
        api.delete(f"/apis/{policies}/{kind}/{name}")


def test_what_the_server_would_refuse_shows_in_check_mode_and_in_the_run_with_the_object_named(
    remove: Remover, stage: Stage, undeletable: Policy, audit: AuditTrail
) -> None:
    made = stage.put(config_map("coins", stage.namespace), config_map("dust", stage.namespace))
    [later] = stage.put(cluster_role(f"later-{stage.namespace}"))
    undeletable("coins")
    checked = remove(named(*made, later), check_mode=True)
    said = failed(checked)
    assert "coins" in said
    assert "the treasury says no" in said
    assert checked["counts"]["refused"] == 1
    assert touched_nothing(audit, remove)
    result = remove(named(*made, later))
    said = failed(result)
    assert "ConfigMap" in said
    assert "coins" in said
    assert "the treasury says no" in said
    assert [row["name"] for row in result["survivors"]] == ["coins"]
    assert "the treasury says no" in str(result["survivors"][0]["blocked_by"])
    assert remaining(stage, [*made, later]) == ["coins", f"later-{stage.namespace}"], "later steps are not begun"


# -- what cannot be seen -----------------------------------------------------------------------------------------------


def test_a_kind_that_may_not_be_listed_is_a_failure_and_nothing_is_deleted(
    remove: Remover, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    made = stage.put(config_map("a", stage.namespace), widget("b", stage.namespace))
    rights = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "delete"]}
    user = as_user("half-blind", [rights], stage.namespace)
    said = failed(remove(named(*made), user=user))
    assert "widgets" in said.lower()
    assert audit.writes(user.name) == []
    assert remaining(stage, made) == ["a", "b"]


def test_a_sweep_is_refused_while_an_api_group_cannot_be_seen(
    remove: Remover, stage: Stage, dead_group: str, audit: AuditTrail
) -> None:
    """An aggregated API that does not answer may hold members; nothing is deleted on half a view."""
    [made] = stage.put(config_map("a", stage.namespace))
    said = failed(remove({"namespace": stage.namespace}))
    assert dead_group in said
    assert touched_nothing(audit, remove)
    assert not stage.is_gone(made)


def test_a_dead_api_group_that_is_not_concerned_stops_nothing(remove: Remover, stage: Stage, dead_group: str) -> None:
    [made] = stage.put(config_map("a", stage.namespace))
    succeeded(remove(named(made)))
    assert stage.is_gone(made)


def test_a_type_of_a_dead_api_group_is_a_failure_not_an_empty_set(
    remove: Remover, stage: Stage, dead_group: str, audit: AuditTrail
) -> None:
    [made] = stage.put(config_map("a", stage.namespace))
    groups = [{"resources": [{"group": dead_group, "version": "v1", "kind": "ghosts"}]}, NAMESPACED]
    assert dead_group in failed(remove(named(made), deletion_groups=groups))
    assert touched_nothing(audit, remove)
    assert not stage.is_gone(made)


def test_a_kind_whose_converter_is_dead_is_a_failure_that_says_so_and_nothing_is_deleted(
    remove: Remover, stage: Stage, things: Body, plane: ControlPlane, audit: AuditTrail
) -> None:
    """Stored in one version, asked for in another: the server needs the converter even to list."""
    [other] = stage.put(config_map("a", stage.namespace))
    stage.put(thing(things, "stored", stage.namespace))
    spec = things["spec"]
    versions = [{**version, "storage": version["name"] == "v1beta1"} for version in spec["versions"]]
    hook = {"clientConfig": {"url": "https://127.0.0.1:9/convert"}, "conversionReviewVersions": ["v1"]}
    path = stage.api.path_of(things)
    patch = {"spec": {"versions": versions, "conversion": {"strategy": "Webhook", "webhook": hook}}}
    assert plane.api.patch(path, patch)[0] == 200
    mine = thing(things, "stored", stage.namespace)
    everywhere = f"/apis/{spec['group']}/v1beta1/things"
    until(lambda: plane.api.get(everywhere, limit=1)[0] == 500, "the conversion to fail", every=0.05)
    old = {**mine, "apiVersion": f"{spec['group']}/v1beta1"}
    groups = [{"resources": [{"group": spec["group"], "version": "v1beta1", "kind": "Thing"}]}, NAMESPACED]
    said = failed(remove(manifests(old, other), deletion_groups=groups, timeout=20))
    assert "conversion webhook" in said
    assert "things" in said.lower()
    assert touched_nothing(audit, remove)
    assert not stage.is_gone(other)
    none = {"spec": {"versions": spec["versions"], "conversion": {"strategy": "None", "webhook": None}}}
    assert plane.api.patch(path, none)[0] == 200  # or the stage could not be cleared


# -- rights ------------------------------------------------------------------------------------------------------------


def test_a_missing_right_to_delete_one_kind_is_found_before_the_first_delete(
    remove: Remover, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    made = stage.put(config_map("a", stage.namespace), widget("b", stage.namespace))
    delete = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}
    user = as_user("no-widgets", [READ, delete])
    said = failed(remove(named(*made), user=user))
    assert "delete" in said
    assert "widgets" in said.lower()
    assert audit.writes(user.name) == []
    assert remaining(stage, made) == ["a", "b"]


def test_a_missing_right_to_strip_finalizers_is_found_before_the_first_delete(
    remove: Remover, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    made = stage.put(widget("b", stage.namespace, CLEANUP))
    delete = {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["delete"]}
    user = as_user("no-patches", [READ, delete])
    groups = [{**NAMESPACED, "forceDelete": True}]
    said = failed(remove(named(*made), user=user, deletion_groups=groups, force_after=0))
    assert "patch" in said
    assert audit.writes(user.name) == []


def test_rights_in_the_namespace_alone_are_enough(
    remove: Remover, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    made = stage.put(config_map("a", stage.namespace), widget("b", stage.namespace))
    rights = {"apiGroups": ["", GROUP], "resources": ["configmaps", "widgets"], "verbs": ["list", "watch", "delete"]}
    user = as_user("local", [rights], stage.namespace)
    succeeded(remove(named(*made), user=user))
    assert remaining(stage, made) == []
    asked = [event for event in audit.events(user.name) if event.resource == "selfsubjectaccessreviews"]
    first = next(event for event in audit.events(user.name) if event.mutating)
    assert asked
    assert max(event.time for event in asked) < first.time


def test_a_watch_that_is_not_allowed_is_replaced_by_lists_and_never_taken_for_gone(
    remove: Remover, stage: Stage, as_user: AsUser
) -> None:
    [held] = stage.put(config_map("held", stage.namespace, CLEANUP))
    rights = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "delete"]}
    user = as_user("no-watch", [rights], stage.namespace)
    release = when_waiting_for(CLEANUP, lambda: stage.release(held))
    result = succeeded(remove(named(held), user=user, on_event=release))
    assert stage.is_gone(held)
    assert result["steps"][0]["deleted"] == 1


def test_a_delete_that_was_forbidden_meanwhile_fails_at_once_and_names_the_object(
    remove: Remover, stage: Stage, undeletable: Policy
) -> None:
    """A refusal is not waited out until the timeout."""
    made = stage.put(config_map("coins", stage.namespace), config_map("dust", stage.namespace))
    began: list[Any] = []

    def forbid(event: Any) -> None:
        if isinstance(event, StepBegan) and not began:
            began.append(event)
            undeletable("coins")

    result = remove(named(*made), on_event=forbid)
    assert "coins" in failed(result)
    assert "the treasury says no" in result["msg"]
    assert names(result["survivors"]) == ["coins"]
    assert result["counts"]["refused"] == 1


def test_the_roles_of_the_cluster_cannot_be_reached_through_a_manifest(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    role = body(f"{RBAC}/v1", "ClusterRole", "view", "")
    result = succeeded(remove(manifests(role)))
    assert kept(result)["view"][0] == "protected"
    assert result["changed"] is False
    assert touched_nothing(audit, remove)


def test_an_immortal_namespace_that_is_named_is_refused_by_the_server_itself(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    result = remove(named(the_namespace("kube-public")), check_mode=True, foreign_instances="cascade")
    assert "kube-public" in failed(result)
    assert touched_nothing(audit, remove)
    assert kept(remove(manifests(the_namespace("kube-public"))))["kube-public"][0] == "protected"
