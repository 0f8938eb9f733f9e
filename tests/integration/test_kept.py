# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kept is kept: what a result calls kept exists afterwards with its uid. On a real API server with its real garbage
collector, which is given its time: each test waits for an object that it deletes after the kept ones could have gone.
"""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned
from integration.ranked import (
    Remover,
    annotated,
    define,
    deletions,
    failed,
    kept,
    named,
    names,
    succeeded,
    when_waiting_for,
)
from integration.stage import CLEANUP, Body, Stage, body, config_map, crd
from integration.uninstalling import Uninstaller
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

KEEP = {"sunset.dev/keep": "true"}
READ = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def uninstaller(plane: ControlPlane) -> Uninstaller:
    return Uninstaller(plane)


def owned(thing: Body, *owners: Body, controller: bool = False) -> Body:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": controller,
        }
        for owner in owners
    ]
    return {**thing, "metadata": {**thing["metadata"], "ownerReferences": references}}


def claim(name: str, namespace: str, **labels: str) -> Body:
    resources = {"requests": {"storage": "1Mi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, "storageClassName": "none"}
    return body("v1", "PersistentVolumeClaim", name, namespace, labels=labels, spec=spec)


def workload(kind: str, name: str, namespace: str, replicas: int = 0, **more: Any) -> Body:
    labels = {"app": name}
    container = {"name": "app", "image": "lab.invalid/app:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **more}
    return body("apps/v1", kind, name, namespace, spec=spec)


def garbage_is_collected(stage: Stage, sentinel: Body) -> None:
    """The collector works in order of arrival: when it has taken this one, it has seen those before it."""
    until(lambda: stage.is_gone(sentinel), "the garbage collector", every=0.05)


def owners_of(stage: Stage, thing: Body) -> list[str]:
    return [owner["name"] for owner in stage.look(thing)["metadata"].get("ownerReferences") or ()]


# -- owners that would take kept objects along -----------------------------------------------------------------------


def test_what_a_keep_marker_stands_on_outlives_its_owner(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    """Named in the task or not, directly owned or through another object, of a kind that was listed or not."""
    where = stage.namespace
    [owner] = stage.put(config_map("owner", where))
    [between] = stage.put(owned(config_map("between", where), owner))
    licence, data, below, plain = stage.put(
        owned(annotated(config_map("licence", where), **KEEP), owner),
        owned(annotated(claim("data", where), **{"helm.sh/resource-policy": "keep"}), owner),
        owned(annotated(config_map("below", where), **KEEP), between, owner),
        owned(body("v1", "Secret", "plain", where), owner),
    )
    check = succeeded(remove(named(owner, licence), check_mode=True))
    [row] = [step for step in check["plan"] if step["detach"]]
    assert sorted(one["object"]["name"] for one in row["detach"]) == ["below", "data", "licence"]
    assert {owner["name"] for one in row["detach"] for owner in one["owners"]} == {"owner", "between"}
    assert owners_of(stage, licence) == ["owner"]
    audit.begin_anew()
    result = succeeded(remove(named(owner, licence), plan_hash=check["plan_hash"]))
    garbage_is_collected(stage, plain)
    assert [stage.is_gone(one) for one in (owner, between)] == [True, True]
    assert [owners_of(stage, one) for one in (licence, data, below)] == [[], [], []]
    assert names(result["kept"]) == ["below", "data", "licence"]
    assert result["counts"]["detached"] == 3
    writes = [(event.verb, event.name) for event in audit.writes(remove.user.name)]
    assert {name for verb, name in writes if verb == "patch"} == {"below", "data", "licence"}
    assert writes.index(("delete", "owner")) > max(
        place for place, (verb, _name) in enumerate(writes) if verb == "patch"
    )


def test_a_kept_object_without_the_permission_to_detach_it_stops_the_run(
    remove: Remover, stage: Stage, as_user: AsUser, audit: AuditTrail
) -> None:
    where = stage.namespace
    [owner] = stage.put(workload("Deployment", "web", where))
    stage.put(owned(annotated(config_map("licence", where), **KEEP), owner))
    user = as_user("detacher", [READ, {"apiGroups": ["*"], "resources": ["*"], "verbs": ["delete"]}])
    message = failed(remove(named(owner), user=user))
    assert "patch configmaps" in message
    assert audit.writes(user.name) == []


def test_a_kept_replica_set_outlives_the_deployment_that_would_adopt_it_again(remove: Remover, stage: Stage) -> None:
    where = stage.namespace
    [web] = stage.put(workload("Deployment", "web", where, replicas=1))
    path = f"/apis/apps/v1/namespaces/{where}/replicasets"
    until(lambda: stage.api.get(path)[1]["items"], "the ReplicaSet", every=0.05)
    [made] = stage.api.get(path)[1]["items"]
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", **made}
    assert stage.api.patch(stage.api.path_of(made), {"metadata": {"annotations": KEEP}})[0] == 200
    [plain] = stage.put(owned(body("v1", "Secret", "plain", where), web))
    result = succeeded(remove(named(web)))
    garbage_is_collected(stage, plain)
    assert stage.is_gone(web)
    assert owners_of(stage, made) == []
    assert "deletionTimestamp" not in stage.look(made)["metadata"]
    assert names(result["kept"]) == [made["metadata"]["name"]]
    pods = stage.api.get(f"/api/v1/namespaces/{where}/pods")[1]["items"]
    assert [pod["metadata"]["ownerReferences"][0]["uid"] for pod in pods] == [made["metadata"]["uid"]]


def test_volumes_keep_outlives_a_stateful_set_that_would_delete_them(uninstaller: Uninstaller, stage: Stage) -> None:
    where = stage.namespace
    template = {"metadata": {"name": "data"}, "spec": claim("data", where)["spec"]}
    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    more = {"serviceName": "db", "volumeClaimTemplates": [template], "persistentVolumeClaimRetentionPolicy": policy}
    [db] = stage.put(workload("StatefulSet", "db", where, replicas=1, **more))
    made = claim("data-db-0", where)
    until(
        lambda: (stage.find(made) or {"metadata": {}})["metadata"].get("ownerReferences"),
        "the claim and its owner",
        timeout=20,
        every=0.05,
    )
    made = stage.look(made)
    [plain] = stage.put(owned(body("v1", "Secret", "plain", where), db))
    result = succeeded(uninstaller(db, namespace=where, volumes="keep"))
    garbage_is_collected(stage, plain)
    assert owners_of(stage, made) == []
    assert "deletionTimestamp" not in stage.look(made)["metadata"]
    assert "data-db-0" in kept(result)
    assert any("data-db-0" in line and "owner" in line for line in result["text"])


@pytest.mark.parametrize("policy", ["refuse", "cascade", "keep"])
def test_a_namespace_is_held_back_by_what_is_kept_in_it(remove: Remover, stage: Stage, policy: str) -> None:
    where = stage.namespace
    [plain, licence] = stage.put(config_map("plain", where), annotated(config_map("licence", where), **KEEP))
    result = remove({"namespace": where}, delete_namespace=True, foreign_instances=policy)
    assert bool(result.get("failed")) == (policy == "refuse")
    assert "deletionTimestamp" not in stage.look(body("v1", "Namespace", where, ""))["metadata"]
    assert not stage.is_gone(licence)
    assert stage.is_gone(plain) == (policy != "refuse")
    assert "licence" in kept(result)


def test_a_kept_object_that_another_client_deletes_is_not_called_kept(remove: Remover, stage: Stage) -> None:
    where = stage.namespace
    held, licence = stage.put(config_map("held", where, CLEANUP), annotated(config_map("licence", where), **KEEP))

    def meanwhile() -> None:
        stage.api.delete(stage.api.path_of(licence))
        stage.release(held)

    result = remove(named(held, licence), on_event=when_waiting_for(CLEANUP, meanwhile))
    assert "ConfigMap " + where + "/licence" in failed(result)
    assert result["kept"] == []


# -- a second look ---------------------------------------------------------------------------------------------------

SECOND_LOOK = {"refuse": (True, True), "keep": (False, True), "cascade": (False, False)}


@pytest.mark.parametrize("policy", list(SECOND_LOOK))
def test_a_definition_is_looked_into_once_more_before_it_is_deleted(
    remove: Remover, stage: Stage, audit: AuditTrail, policy: str
) -> None:
    fails, stays = SECOND_LOOK[policy]
    definition = define(stage, crd("Thing", f"{secrets.token_hex(4)}.example.com"))
    where, api_version = stage.namespace, f"{definition['spec']['group']}/v1"
    [held] = stage.put(body(api_version, "Thing", "held", where, CLEANUP))
    late: list[Body] = []

    def meanwhile() -> None:
        late.extend(stage.put(body(api_version, "Thing", "customer-data", where)))
        stage.release(held)

    audit.begin_anew()
    meanwhile_once = when_waiting_for(CLEANUP, meanwhile)
    result = remove(named(held, definition), foreign_instances=policy, on_event=meanwhile_once)
    assert bool(result.get("failed")) == fails
    assert (not stage.is_gone(definition)) == stays
    if stays:
        assert not stage.is_gone(late[0])
        assert f"Thing {where}/customer-data" in kept(result)[definition["metadata"]["name"]][1]
    events = [one for one in audit.events(remove.user.name) if (one.verb, one.resource) == ("list", "things")]
    assert len([one for one in events if not one.namespace]) == 2  # for the plan, and right before the delete


def test_a_namespace_is_looked_into_once_more_before_it_is_deleted(remove: Remover, stage: Stage) -> None:
    where = stage.another_namespace()
    held, web = stage.put(config_map("held", where, CLEANUP), workload("Deployment", "web", where, replicas=1))
    late: list[Body] = []

    def meanwhile() -> None:
        late.extend(stage.put(config_map("late", where)))
        stage.release(held)

    meanwhile_once = when_waiting_for(CLEANUP, meanwhile)
    result = remove({"namespace": where}, delete_namespace=True, on_event=meanwhile_once)
    assert f"ConfigMap {where}/late" in failed(result)
    assert not stage.is_gone(late[0])
    assert stage.is_gone(web)
    assert kept(result)[where][0] == "keep"
    succeeded(remove({"namespace": where}, delete_namespace=True))


# -- the resourceVersion ---------------------------------------------------------------------------------------------


def test_a_keep_marker_set_right_before_the_delete_still_counts(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    """After the list, before any watch event can have come: the plan's last word."""
    marked, busy = stage.put(config_map("marked", stage.namespace), config_map("busy", stage.namespace))

    def at_the_last_moment(event: Any) -> None:
        if isinstance(event, Planned):
            stage.api.patch(stage.api.path_of(marked), {"metadata": {"annotations": KEEP}})
            stage.api.patch(stage.api.path_of(busy), {"data": {"changed": "meanwhile"}})

    result = succeeded(remove(named(marked, busy), on_event=at_the_last_moment))
    assert (stage.is_gone(marked), stage.is_gone(busy)) == (False, True)
    assert kept(result)["marked"][0] == "keep"
    assert len(deletions(audit, remove.user)) <= 4


# -- who did it ------------------------------------------------------------------------------------------------------


def test_what_another_client_deleted_is_gone_and_not_deleted(remove: Remover, stage: Stage) -> None:
    where = stage.namespace
    held, theirs = stage.put(config_map("held", where, CLEANUP), body("v1", "Secret", "theirs", where))
    events: list[Any] = []

    def meanwhile() -> None:
        stage.api.delete(stage.api.path_of(theirs))
        stage.release(held)

    def on_event(event: Any) -> None:
        events.append(event)
        once(event)

    once = when_waiting_for(CLEANUP, meanwhile)
    groups = [{"resources": [{"kind": "ConfigMap"}]}, {"resources": [{"kind": "Secret"}]}]
    result = succeeded(remove(named(held, theirs), deletion_groups=groups, on_event=on_event))
    assert [(step["deleted"], step["gone"]) for step in result["steps"]] == [(1, 0), (0, 1)]
    assert (result["counts"]["deleted"], names(result["gone"])) == (1, ["theirs"])
    assert [event.object.name for event in events if isinstance(event, Did)] == ["held"]


# -- time ------------------------------------------------------------------------------------------------------------


def test_a_stuck_step_does_not_take_the_time_of_those_after_it(remove: Remover, stage: Stage) -> None:
    where = stage.namespace
    stuck, slow = stage.put(config_map("stuck", where, CLEANUP), body("v1", "Secret", "slow", where, CLEANUP))

    def release_the_slow_one(event: Any) -> None:
        if isinstance(event, Did) and event.object.name == "slow":
            stage.release(slow)

    groups = [{"resources": [{"kind": "ConfigMap"}]}, {"resources": [{"kind": "Secret"}]}]
    result = remove(
        named(stuck, slow),
        deletion_groups=groups,
        on_timeout="continue",
        timeout=4,
        on_event=release_the_slow_one,
    )
    assert stage.is_gone(slow)
    assert [one["name"] for one in result["survivors"]] == ["stuck"]
    assert [step["deleted"] for step in result["steps"]] == [0, 1]
