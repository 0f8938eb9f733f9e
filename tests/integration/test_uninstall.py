# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An application goes by one task: what the plan shows, what the preflight stops, what stays and what is left."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from integration.breaking import dead_converter, dead_webhook, is_refused
from integration.collection_playbooks import play_named
from integration.products import custom, ingress
from integration.ranked import (
    RBAC,
    annotated,
    cluster_role,
    define,
    failed,
    kept,
    remaining,
    service,
    service_account,
    succeeded,
)
from integration.running import run_playbook, warnings_of
from integration.stage import Body, Stage, body, bring_to_life, config_map, crd, deployment, lease
from integration.uninstalling import Uninstaller, findings, left
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick


def defined(stage: Stage, kind: str = "Order") -> Body:
    """A definition of this test's own, in a group of its own."""
    return define(stage, crd(kind, f"g{secrets.token_hex(4)}.example.com"))


def instance(definition: Body, name: str, namespace: str, *finalizers: str) -> Body:
    spec = definition["spec"]
    return body(f"{spec['group']}/v1", spec["names"]["kind"], name, namespace, *finalizers)


# -- the whole way -----------------------------------------------------------------------------------------------------


def test_everything_goes_in_order_and_a_second_run_finds_nothing(
    stage: Stage, uninstaller: Uninstaller, audit: AuditTrail
) -> None:
    definition = defined(stage)
    here = stage.namespace
    things = stage.put(
        config_map("settings", here),
        deployment("orders-operator", here),
        service_account("operator", here),
        cluster_role(f"operator-{here}"),
        instance(definition, "first", here),
    )
    plan = succeeded(uninstaller(*things, definition, namespace=here, check_mode=True))
    assert plan["changed"]
    assert plan["total"] == 8  # the Deployment's ReplicaSet and Pod are shown as well
    assert len(remaining(stage, things)) == 5
    done = succeeded(uninstaller(*things, definition, namespace=here, plan_hash=plan["plan_hash"]))
    assert done["changed"]
    assert remaining(stage, [*things, definition]) == []
    assert done["leftovers"] == []
    assert done["unseen"] == []
    again = succeeded(uninstaller(*things, definition, namespace=here))
    assert not again["changed"]
    assert again["text"][-1] == "nothing to do"


def test_the_plan_is_a_tree_that_says_what_comes_first(stage: Stage, uninstaller: Uninstaller) -> None:
    definition = defined(stage)
    here = stage.namespace
    [order, settings] = stage.put(instance(definition, "first", here), config_map("settings", here))
    plan = succeeded(uninstaller(order, settings, definition, namespace=here, check_mode=True))
    tree = [line.replace(here, "shop") for line in plan["text"]]
    assert tree[0].startswith("cluster https://127.0.0.1:")
    assert tree[1] == "uninstall manifests"
    assert [line for line in tree if "preflight" not in line and " ok " not in line][2:] == [
        "├─ 1. namespaced resources: 2",
        "│  ├─ first",
        "│  │  └─ Order shop/first",
        "│  └─ then",
        "│     └─ ConfigMap shop/settings",
        "└─ 2. custom resource definitions: 1",
        f"   └─ CustomResourceDefinition {definition['metadata']['name']}",
        f"3 objects in 2 steps, about {plan['forecast']} s; plan {plan['plan_hash']}",
    ]


def test_check_mode_writes_nothing(stage: Stage, uninstaller: Uninstaller, audit: AuditTrail) -> None:
    things = stage.put(config_map("settings", stage.namespace), deployment("web", stage.namespace))
    before = stage.versions(things[:1])
    succeeded(uninstaller(*things, namespace=stage.namespace, check_mode=True))
    assert stage.versions(things[:1]) == before


@pytest.mark.parametrize("whose", ["the play's", "a block's"])
def test_check_mode_of_whoever_includes_the_role_is_obeyed(
    stage: Stage, plane: ControlPlane, tmp_path: Path, whose: str
) -> None:
    """Without --check, and with a yes given beforehand."""
    things = stage.put(config_map("settings", stage.namespace), ingress("shop", stage.namespace))
    before = stage.versions(things)
    wanted = {"namespace": stage.namespace, "confirm": "skip", "maintenance": True}
    role: Body = {
        "ansible.builtin.include_role": {"name": "sunset.kube.uninstall"},
        "vars": {f"uninstall_{name}": value for name, value in wanted.items()},
    }
    play: Body = {"hosts": "localhost", "connection": "local", "gather_facts": False}
    play |= (
        {"tasks": [role], "check_mode": True}
        if whose == "the play's"
        else {"tasks": [{"block": [role], "check_mode": True}]}
    )
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    done = play_named(str(tmp_path / "play.yml"), tmp_path / "run", plane.admin.kubeconfig)
    assert done.rc == 0, done.stdout
    assert stage.versions(things) == before


def test_a_whole_namespace_goes_with_itself(stage: Stage, uninstaller: Uninstaller) -> None:
    here = stage.another_namespace()
    stage.put(config_map("settings", here), deployment("web", here))
    done = succeeded(uninstaller(namespace=here, delete_namespace=True))
    assert stage.api.get(f"/api/v1/namespaces/{here}")[0] == 404
    assert done["steps"][-1]["name"] == "records"
    assert done["steps"][-1]["deleted"] == 1


def test_stages_can_be_left_out(stage: Stage, uninstaller: Uninstaller) -> None:
    [settings] = stage.put(config_map("settings", stage.namespace))
    only_looked = succeeded(uninstaller(settings, namespace=stage.namespace, stages=["preflight", "verify"]))
    assert not only_looked["changed"]
    assert remaining(stage, [settings])
    assert left(only_looked) == {"ConfigMap settings": "plan"}
    only_deleted = succeeded(uninstaller(settings, namespace=stage.namespace, stages=["delete"]))
    assert only_deleted["preflight"] == []
    assert only_deleted["leftovers"] == []
    assert remaining(stage, [settings]) == []


# -- what stops it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wish", ["refuse", "delete", "keep"])
def test_custom_resources_of_others_are_for_the_person_to_decide(
    stage: Stage, uninstaller: Uninstaller, wish: str
) -> None:
    definition = defined(stage)
    elsewhere = stage.another_namespace()
    [settings, other] = stage.put(config_map("settings", stage.namespace), instance(definition, "theirs", elsewhere))
    done = uninstaller(settings, definition, namespace=stage.namespace, instances=wish)
    if wish == "refuse":
        assert "Order" in failed(done)
        assert "instances: delete" in done["msg"]
        assert "crds: keep" in done["msg"]
        assert len(remaining(stage, [settings, other, definition])) == 3
    else:
        succeeded(done)
        assert bool(remaining(stage, [other, definition])) == (wish == "keep")


def test_what_is_of_a_definition_that_stays_stays_as_well(stage: Stage, uninstaller: Uninstaller) -> None:
    marked = annotated(crd("Order", f"g{secrets.token_hex(4)}.example.com"), **{"helm.sh/resource-policy": "keep"})
    definition = define(stage, marked)
    [settings, other] = stage.put(
        config_map("settings", stage.namespace), instance(definition, "theirs", stage.another_namespace())
    )
    done = succeeded(uninstaller(settings, definition, namespace=stage.namespace, instances="delete"))
    assert kept(done)[definition["metadata"]["name"]] == ("keep", "Helm marker helm.sh/resource-policy: keep")
    assert len(remaining(stage, [other, definition])) == 2
    assert remaining(stage, [settings]) == []


def test_what_is_of_others_is_refused_whichever_stages_are_chosen(stage: Stage, uninstaller: Uninstaller) -> None:
    definition = defined(stage)
    theirs = annotated(instance(definition, "theirs", stage.another_namespace()), **{"sunset.dev/keep": "true"})
    [theirs] = stage.put(theirs)
    for options in ({"stages": ["delete"]}, {"instances": "delete"}):
        stopped = uninstaller(definition, namespace=stage.namespace, **options)
        assert "crds: keep" in failed(stopped)
        assert len(remaining(stage, [theirs, definition])) == 2


def test_one_decision_is_asked_for_once(stage: Stage, uninstaller: Uninstaller) -> None:
    definitions = [defined(stage), defined(stage)]
    stage.put(*(instance(one, "theirs", stage.another_namespace()) for one in definitions))
    stopped = uninstaller(*definitions, namespace=stage.namespace)
    [text] = findings(stopped, "stop")
    assert "(and 1 more alike)" in text


def test_definitions_stay_on_demand(stage: Stage, uninstaller: Uninstaller) -> None:
    definition = defined(stage)
    [order] = stage.put(instance(definition, "first", stage.namespace))
    done = succeeded(uninstaller(order, definition, namespace=stage.namespace, crds="keep"))
    assert kept(done)[definition["metadata"]["name"]] == ("keep", "crds: keep")
    assert remaining(stage, [order]) == []
    assert remaining(stage, [definition])
    assert done["leftovers"] == []


def test_a_dead_controller_is_told_before_anything_hangs_and_force_goes_on(
    stage: Stage, uninstaller: Uninstaller
) -> None:
    definition = defined(stage)
    group = definition["spec"]["group"]
    here = stage.namespace
    things = stage.put(
        instance(definition, "first", here, f"{group}/cleanup"), deployment(f"{group.partition('.')[0]}-operator", here)
    )
    stopped = uninstaller(*things, definition, namespace=here)
    assert "has no available replica" in failed(stopped)
    assert "force: true" in stopped["msg"]
    assert "nothing was changed" in stopped["msg"]
    assert len(remaining(stage, things)) == 2
    done = succeeded(uninstaller(*things, definition, namespace=here, force=True, force_after=0))
    assert remaining(stage, [*things, definition]) == []
    assert done["leftovers"] == []


def test_force_reaches_what_goes_before_the_workloads(stage: Stage, uninstaller: Uninstaller) -> None:
    """A custom resource without a namespace is taken out of its step, and goes first."""
    group = f"g{secrets.token_hex(4)}.example.com"
    definition = define(stage, crd("Region", group, scope="Cluster"))
    here = stage.namespace
    things = stage.put(
        body(f"{group}/v1", "Region", "north", "", f"{group}/cleanup"),
        deployment(f"{group.partition('.')[0]}-operator", here),
    )
    done = succeeded(uninstaller(*things, definition, namespace=here, force=True, force_after=0))
    assert done["steps"][0]["name"] == "custom resources"
    assert remaining(stage, [*things, definition]) == []


@pytest.mark.parametrize("left_a_lease", [False, True], ids=["without a Lease", "with an expired Lease"])
def test_a_controller_that_was_deleted_is_told_as_well(
    stage: Stage, uninstaller: Uninstaller, left_a_lease: bool
) -> None:
    definition = defined(stage)
    here, group = stage.namespace, definition["spec"]["group"]
    [order] = stage.put(instance(definition, "first", here, f"{group}/cleanup"))
    if left_a_lease:
        stage.put(lease(f"leader.{group}", here, renewed_ago=300))
    stopped = uninstaller(order, deployment("orders-operator", here), definition, namespace=here)
    assert f"Deployment {here}/orders-operator belongs to it and is not there" in failed(stopped)
    assert "force: true" in stopped["msg"]


def test_a_living_controller_is_waited_for(stage: Stage, uninstaller: Uninstaller) -> None:
    definition = defined(stage)
    group = definition["spec"]["group"]
    here = stage.namespace
    [operator] = stage.put(deployment(f"{group.partition('.')[0]}-operator", here))
    bring_to_life(stage, operator)
    [order] = stage.put(instance(definition, "first", here, f"{group}/cleanup"))

    def does_its_work(event: Any) -> None:
        found = stage.find(order)
        if found and found["metadata"].get("deletionTimestamp"):
            assert stage.find(operator), "the operator went before its resources"
            stage.release(order)

    done = succeeded(uninstaller(order, operator, definition, namespace=here, on_event=does_its_work))
    assert any("replicas available" in text for text in findings(done, "ok"))
    assert remaining(stage, [order, operator]) == []


def test_another_installation_keeps_its_definitions(stage: Stage, uninstaller: Uninstaller) -> None:
    definition = defined(stage)
    labels = {"app.kubernetes.io/name": "orders"}
    here, there = stage.namespace, stage.another_namespace()
    [mine, _other] = stage.put(
        *(
            {**one, "metadata": {**one["metadata"], "labels": labels}}
            for one in (
                deployment("one", here, image="example/orders:1"),
                deployment("two", there, image="example/orders:2"),
            )
        )
    )
    stopped = uninstaller(mine, definition, namespace=here)
    assert f"Deployment {there}/two runs the same program" in failed(stopped)
    succeeded(uninstaller(mine, definition, namespace=here, crds="keep"))


def test_a_dead_webhook_of_somebody_else_stops_it_and_its_own_does_not(stage: Stage, uninstaller: Uninstaller) -> None:
    [settings] = stage.put(config_map("settings", stage.namespace))
    webhook = dead_webhook(stage, "configmaps", "DELETE")
    until(lambda: is_refused(stage, settings), "the webhook to be asked", every=0.05)
    stopped = uninstaller(settings, namespace=stage.namespace)
    assert webhook["metadata"]["name"] in failed(stopped)
    assert "nothing was changed" in stopped["msg"]
    succeeded(uninstaller(settings, webhook, namespace=stage.namespace))
    assert remaining(stage, [settings, webhook]) == []


def test_a_namespace_with_something_else_in_it_stays(stage: Stage, uninstaller: Uninstaller) -> None:
    here = stage.another_namespace()
    [mine, theirs] = stage.put(config_map("mine", here), config_map("theirs", here))
    stopped = uninstaller(mine, namespace=here, delete_namespace=True)
    assert f"ConfigMap {here}/theirs" in failed(stopped)
    assert "delete_namespace" in stopped["msg"]
    assert len(remaining(stage, [mine, theirs])) == 2


def test_what_may_not_be_deleted_is_told_first(stage: Stage, uninstaller: Uninstaller, as_user: Any) -> None:
    [settings] = stage.put(config_map("settings", stage.namespace))
    reader = as_user("reader", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}])
    stopped = uninstaller(settings, namespace=stage.namespace, user=reader)
    assert "delete" in failed(stopped)
    assert remaining(stage, [settings])


@pytest.mark.slow
def test_a_namespace_that_hangs_is_gone_on_with(stage: Stage, uninstaller: Uninstaller) -> None:
    """Somebody deleted the namespace: its record went with it, and what it holds waits for a controller."""
    definition = defined(stage)
    here = stage.another_namespace()
    finalizer = f"{definition['spec']['group']}/cleanup"
    marks = {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": here}
    role = cluster_role(f"operator-{here}")
    role["metadata"] |= {"annotations": marks, "labels": {"app.kubernetes.io/managed-by": "Helm"}}
    [order, role] = stage.put(instance(definition, "first", here, finalizer), role)
    stage.api.delete(f"/api/v1/namespaces/{here}")
    stopped = uninstaller(release="shop", namespace=here, timeout=10)
    assert finalizer in failed(stopped)
    assert "force: true" in stopped["msg"]
    done = succeeded(uninstaller(release="shop", namespace=here, force=True, force_after=0))
    assert remaining(stage, [order, role]) == []
    assert stage.api.get(f"/api/v1/namespaces/{here}")[0] == 404
    assert "the record of Helm release" in warnings_of(done)


def test_a_lease_goes_with_its_holder(stage: Stage, uninstaller: Uninstaller) -> None:
    here = stage.namespace
    [operator, mine, *others] = stage.put(
        deployment("operator", here),
        lease("a1b2.example.com", here, renewed_ago=100, holder="operator-7d9fc8b6d5-x2x4z_9f"),
        lease("other", here, renewed_ago=100, holder="somebody-else"),
        lease("another", here, renewed_ago=100, holder="operator-of-others-7d9fc8b6d5-x2x4z_9f"),
    )
    done = succeeded(uninstaller(operator, namespace=here))
    assert remaining(stage, [operator, mine, *others]) == ["another", "other"]
    assert [row["name"] for row in done["steps"] if row["deleted"]] == ["namespaced resources", "leases"]


def test_a_tenant_is_told_what_he_cannot_see(stage: Stage, uninstaller: Uninstaller, as_user: Any) -> None:
    rights = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    tenant = as_user("tenant", rights, stage.namespace)
    done = succeeded(uninstaller(release="shop", namespace=stage.namespace, source="helm", user=tenant))
    assert "nothing carries its marks (but not every kind could be looked at" in done["missing"]
    assert done["unseen"]


def test_a_release_that_is_not_there_is_said_first_with_those_that_are(
    stage: Stage, uninstaller: Uninstaller, plane: ControlPlane, tmp_path: Path
) -> None:
    here = stage.namespace
    record = body("v1", "Secret", "sh.helm.release.v1.web.v1", here)
    record["metadata"]["labels"] = {"owner": "helm", "name": "web"}
    stage.put(record)
    done = succeeded(uninstaller(release="tpyo", namespace=here))
    assert (done["changed"], done["releases"]) == (False, [f"Helm release {here}/web"])
    assert done["text"][1].startswith(f"NOT FOUND: there is no record of Helm release {here}/tpyo")
    assert done["text"][2].endswith(f"there is Helm release {here}/web")
    anywhere = succeeded(uninstaller(release="tpyo"))
    assert f"Helm release {here}/web" in anywhere["releases"], "where no namespace is given, it is the same"
    assert f"there is Helm release {here}/web" in failed(uninstaller(release="tpyo", namespace=here, missing="fail"))
    asked, pipeline = (
        play_named("sunset.kube.uninstall", tmp_path / name, plane.admin.kubeconfig, *arguments, **wanted)
        for name, arguments, wanted in (
            ("asked", ["--check"], {"release": "tpyo", "namespace": here}),
            ("pipeline", [], {"release": "tpyo", "namespace": here, "confirm": "skip"}),
        )
    )
    assert (asked.rc, "nothing to uninstall: " in asked.stdout) == (2, True), asked.stdout
    assert (pipeline.rc, "NOT FOUND: " in pipeline.stdout) == (0, True), pipeline.stdout


@pytest.mark.slow
def test_nothing_found_is_no_answer_where_a_kind_cannot_be_listed(stage: Stage, uninstaller: Uninstaller) -> None:
    definition, _stored = dead_converter(stage)
    message = failed(uninstaller(release="shop", namespace=stage.namespace, source="helm", timeout=20))
    assert f"cannot see whether anything is left of Helm release {stage.namespace}/shop" in message
    assert definition["spec"]["names"]["plural"] in message


# -- what stays --------------------------------------------------------------------------------------------------------


def stateful_set(name: str, namespace: str) -> Body:
    pod = {"metadata": {"labels": {"run": name}}, "spec": {"containers": [{"name": "main", "image": "example/db:1"}]}}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    spec = {
        "serviceName": name,
        "selector": {"matchLabels": {"run": name}},
        "template": pod,
        "volumeClaimTemplates": [claim],
    }
    return body("apps/v1", "StatefulSet", name, namespace, spec=spec)


@pytest.mark.parametrize("wish", ["keep", "delete"])
def test_data_stays_unless_the_task_says_so(stage: Stage, uninstaller: Uninstaller, wish: str) -> None:
    [database] = stage.put(stateful_set("db", stage.namespace))
    claims = f"/api/v1/namespaces/{stage.namespace}/persistentvolumeclaims"
    until(lambda: stage.api.get(claims)[1]["items"], "the claim", every=0.05)
    done = succeeded(uninstaller(database, namespace=stage.namespace, volumes=wish))
    assert bool(stage.api.get(claims)[1]["items"]) == (wish == "keep")
    assert ("data-db-0" in kept(done)) == (wish == "keep")
    assert done["leftovers"] == []


@pytest.mark.slow
def test_a_sweep_leaves_the_data_and_the_namespace_that_holds_it(stage: Stage, uninstaller: Uninstaller) -> None:
    here = stage.another_namespace()
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    stage.put(stateful_set("db", here), body("v1", "PersistentVolumeClaim", "uploads", here, spec=spec))
    claims = f"/api/v1/namespaces/{here}/persistentvolumeclaims"
    until(lambda: len(stage.api.get(claims)[1]["items"]) == 2, "the claims", every=0.05)
    stopped = uninstaller(namespace=here, delete_namespace=True)
    assert "set volumes: delete to delete their data, too; nothing was changed" in failed(stopped)
    done = [succeeded(uninstaller(namespace=here)) for _turn in range(2)]
    assert [{"data-db-0", "uploads"} <= set(kept(one)) for one in done] == [True, True]
    assert [one["changed"] for one in done] == [True, False]
    assert len(stage.api.get(claims)[1]["items"]) == 2
    succeeded(uninstaller(namespace=here, delete_namespace=True, volumes="delete"))
    assert stage.api.get(f"/api/v1/namespaces/{here}")[0] == 404


@pytest.mark.parametrize("wish", ["last", "keep"])
def test_routes_go_last_or_stay(stage: Stage, uninstaller: Uninstaller, wish: str) -> None:
    things = stage.put(ingress("shop", stage.namespace), config_map("settings", stage.namespace))
    done = succeeded(uninstaller(*things, namespace=stage.namespace, routes=wish))
    if wish == "keep":
        assert remaining(stage, things) == ["shop"]
        assert kept(done)["shop"] == ("keep", "routes: keep")
    else:
        busy = [row["name"] for row in done["steps"] if row["deleted"]]
        assert busy == ["namespaced resources", "routes"]
        assert remaining(stage, things) == []


@pytest.mark.parametrize("wish", ["last", "keep"])
def test_a_page_is_meant_for_routes_that_go_and_for_no_others(
    stage: Stage, uninstaller: Uninstaller, wish: str
) -> None:
    marked = annotated(ingress("stays", stage.namespace), **{"helm.sh/resource-policy": "keep"})
    things = stage.put(ingress("shop", stage.namespace), marked)
    plan = succeeded(uninstaller(*things, namespace=stage.namespace, routes=wish, check_mode=True))
    assert plan["routes"] == [{"kind": "Ingress", "namespace": stage.namespace, "name": "shop"}]
    assert kept(plan)["stays"] == ("keep", "Helm marker helm.sh/resource-policy: keep")


def test_no_page_is_put_where_nothing_is_deleted(stage: Stage, plane: ControlPlane, tmp_path: Path) -> None:
    [route] = stage.put(ingress("shop", stage.namespace))
    before = stage.versions([route])
    done = play_named(
        "sunset.kube.uninstall",
        tmp_path / "run",
        plane.admin.kubeconfig,
        namespace=stage.namespace,
        confirm="skip",
        maintenance="true",
        stages=["preflight"],
    )
    assert done.rc == 0, done.stdout
    assert stage.versions([route]) == before


def test_keep_markers_are_no_leftovers(stage: Stage, uninstaller: Uninstaller) -> None:
    [settings] = stage.put(annotated(config_map("settings", stage.namespace), **{"helm.sh/resource-policy": "keep"}))
    done = succeeded(uninstaller(settings, namespace=stage.namespace))
    assert not done["changed"]
    assert remaining(stage, [settings])
    assert done["leftovers"] == []
    assert done["verified"].endswith("objects checked); 1 kept on purpose")


# -- going on ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_plan_that_was_seen_may_be_gone_on_with_and_nothing_else(
    stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    things = stage.put(*(config_map(f"settings-{number}", stage.namespace) for number in range(3)))
    documents = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"settings-{n}"}} for n in range(4)]
    task = {"manifests": documents, "namespace": stage.namespace, "evidence_dir": str(tmp_path)}
    seen = run_playbook([{"sunset.kube.uninstall": task}], plane.admin.kubeconfig, check=True)
    assert seen.rc == 0, seen.stdout
    stage.api.delete(stage.api.path_of(things[0]))  # as far as the first run came
    task["plan_hash"] = seen.result["plan_hash"]
    [newcomer] = stage.put(config_map("settings-3", stage.namespace))
    refused = run_playbook([{"sunset.kube.uninstall": task}], plane.admin.kubeconfig)
    assert refused.rc == 2
    assert "the plan has changed" in refused.result["msg"]
    stage.api.delete(stage.api.path_of(newcomer))
    forced = run_playbook([{"sunset.kube.uninstall": {**task, "force": True}}], plane.admin.kubeconfig)
    assert "the plan has changed" in forced.result["msg"], "nobody has agreed to force"
    done = run_playbook([{"sunset.kube.uninstall": task}], plane.admin.kubeconfig)
    assert done.rc == 0, done.stdout
    assert remaining(stage, things) == []
    assert f"going on with plan {task['plan_hash']}: 2 of 3 objects are left" in done.stdout
    again = run_playbook([{"sunset.kube.uninstall": task}], plane.admin.kubeconfig)
    assert again.rc == 0
    assert not again.result["changed"]


@pytest.mark.parametrize("whole", [False, True], ids=["manifests", "a whole namespace"])
def test_a_pod_that_was_replaced_meanwhile_does_not_make_it_another_plan(
    stage: Stage, uninstaller: Uninstaller, whole: bool
) -> None:
    here = stage.another_namespace()
    things = stage.put(deployment("web", here))
    path = f"/api/v1/namespaces/{here}/pods"

    def pods() -> set[str]:
        return {pod["metadata"]["name"] for pod in stage.api.get(path)[1]["items"]}

    until(pods, "the Pod", every=0.05)
    [before] = pods()
    of = () if whole else things
    plan = succeeded(uninstaller(*of, namespace=here, check_mode=True))
    stage.api.delete(f"{path}/{before}")
    until(lambda: pods() and before not in pods(), "another Pod", every=0.05)
    succeeded(uninstaller(*of, namespace=here, plan_hash=plan["plan_hash"]))
    assert remaining(stage, things) == []


# -- what is left ------------------------------------------------------------------------------------------------------


def test_traces_of_every_kind_are_found(stage: Stage, uninstaller: Uninstaller) -> None:
    """Things that no record names: only a look at the whole cluster finds them."""
    definition = defined(stage)
    group, here, there = definition["spec"]["group"], stage.namespace, stage.another_namespace()
    finalizer = f"{group}/cleanup"
    second = define(stage, crd("Refund", group))
    account, web, operator = service_account("operator", here), service("web", here), deployment("operator", here)
    things = stage.put(account, web, operator)
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": here}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    hook = {
        "name": "guard.example.com",
        "clientConfig": {"service": {"namespace": here, "name": "web"}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
    }
    stage.put(
        body(f"{RBAC}/v1", "RoleBinding", "reads", there, roleRef=role, subjects=[subject]),
        body("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", f"hook-{here}", "", webhooks=[hook]),
        lease("operator-leader", here, renewed_ago=100),
        config_map("held", there, finalizer),
    )
    done = succeeded(uninstaller(*things, definition, namespace=here))
    assert left(done) == {
        f"CustomResourceDefinition {second['metadata']['name']}": "group",
        "RoleBinding reads": "rbac",
        f"ValidatingWebhookConfiguration hook-{here}": "webhook",
        "Lease operator-leader": "lease",
        "ConfigMap held": "finalizer",
    }
    assert "see leftovers" in warnings_of(done)
    again = uninstaller(*things, namespace=here, on_leftovers="fail")
    assert "something is left" in failed(again)
    assert set(left(again)) < set(left(done)), "without the definition nothing tells its group any more"


def test_what_could_not_be_looked_at_is_said(stage: Stage, uninstaller: Uninstaller, dead_group: str) -> None:
    [settings] = stage.put(config_map("settings", stage.namespace))
    done = succeeded(uninstaller(settings, namespace=stage.namespace))
    assert any(dead_group in text for text in done["unseen"])
    assert not any("no unexpected leftovers" in line for line in done["text"])


# -- drains ------------------------------------------------------------------------------------------------------------


def test_a_product_we_know_is_drained_first(stage: Stage, uninstaller: Uninstaller, ngrok_kinds: None) -> None:
    here = stage.namespace
    operator = deployment("ngrok-operator", here)
    operator["metadata"]["labels"] = {"app.kubernetes.io/name": "ngrok-operator"}
    [route] = stage.put(ingress("web", stage.another_namespace(), "k8s.ngrok.com/finalizer"))
    domain = custom("Domain", "shop-example-com", here, "k8s.ngrok.com/finalizer")
    [workload, made] = stage.put(operator, domain)
    options: dict[str, Any] = {"namespace": here, "instance": {"namespaces": [here]}}
    plan = succeeded(uninstaller(workload, made, check_mode=True, **options))
    assert plan["profiles"] == ["ngrok"]
    assert any("release Domain" in line for line in plan["text"])
    done = succeeded(uninstaller(workload, made, plan_hash=plan["plan_hash"], **options))
    assert remaining(stage, [workload, made]) == []
    assert done["counts"]["released"] >= 1
    assert stage.finalizers(route), "the other installation's route is not touched"


def test_without_a_preflight_it_refuses_before_it_drains_as_well(
    stage: Stage, uninstaller: Uninstaller, ngrok_kinds: None
) -> None:
    definition = defined(stage)
    here = stage.namespace
    domain = custom("Domain", "one", here, "k8s.ngrok.com/finalizer")
    [held, _other] = stage.put(domain, instance(definition, "theirs", stage.another_namespace()))
    wanted = {"profile": "ngrok", "instance": {"namespaces": [here]}, "stages": ["drain", "delete"]}
    stopped = uninstaller(held, definition, namespace=here, **wanted)
    assert "nothing was changed" in failed(stopped)
    assert not stopped["changed"]
    assert stage.finalizers(held) == ["k8s.ngrok.com/finalizer"]


def test_what_comes_while_it_drains_is_not_deleted_unseen(
    stage: Stage, uninstaller: Uninstaller, ngrok_kinds: None
) -> None:
    here = stage.namespace
    [domain] = stage.put(custom("Domain", "one", here, "k8s.ngrok.com/finalizer"))
    late = config_map("late", here)
    arrived: list[Body] = []

    def somebody_comes(event: Any) -> None:
        if type(event).__name__ == "StepEnded" and not arrived:
            arrived.extend(stage.put(late))

    stopped = uninstaller(
        domain, late, namespace=here, profile="ngrok", instance={"namespaces": [here]}, on_event=somebody_comes
    )
    assert f"ConfigMap {here}/late came after the plan was made" in failed(stopped)
    assert remaining(stage, arrived) == ["late"]
    assert remaining(stage, [domain]) == ["one"]
