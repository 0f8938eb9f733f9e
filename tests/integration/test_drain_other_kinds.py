# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds that are not in the profile and carry the product's finalizer: the drain is not complete without them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.events import Did, Planned
from integration.products import (
    LEGACY,
    OPERATOR_KINDS,
    Drainer,
    FakeController,
    controller,
    custom,
    definition,
    kind_row,
    marked,
    operator_deployment,
    service,
)
from integration.ranked import define, failed, kept, succeeded
from integration.running import warnings_of
from integration.stage import CLEANUP, CRDS, Body, Stage, body, config_map, crd, widget
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.waiting import until

LONGHORN = "longhorn.io"
NGROK = "ngrok.k8s.ngrok.com"
READ = ["get", "list", "watch"]


def serve(stage: Stage, wanted: Body) -> Body:
    """A kind for the time of one test. What is left of its objects would come back with the next definition."""
    spec = wanted["spec"]
    collection = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"

    def empty() -> None:
        for item in stage.api.get(collection)[1].get("items") or ():
            path = stage.api.path_of(item)
            stage.api.patch(path, {"metadata": {"finalizers": None}})
            stage.api.delete(path)
        until(lambda: not stage.api.get(collection)[1].get("items"), f"{collection} to be empty")

    stage.afterwards(empty)
    return define(stage, wanted)


def longhorn(stage: Stage, kind: str, plural: str) -> Body:
    return serve(stage, definition(LONGHORN, kind, plural, "v1beta2", "Namespaced"))


def held(kind: str, name: str, namespace: str, **more: Any) -> Body:
    return body(f"{LONGHORN}/v1beta2", kind, name, namespace, LONGHORN, **more)


def pool(stage: Stage, name: str, *finalizers: str, **more: Any) -> Body:
    """Of a kind that a next release of the product might bring."""
    serve(stage, crd("EndpointPool", NGROK))
    (made,) = stage.put(body(f"{NGROK}/v1", "EndpointPool", name, stage.namespace, *finalizers, **more))
    return made


# -- before and after --------------------------------------------------------------------------------------------------


def test_whatever_carries_the_finalizer_is_released_and_its_definition_can_be_deleted(
    stage: Stage, drainer: Drainer
) -> None:
    here = stage.namespace
    longhorn(stage, "Volume", "volumes")
    ticket = longhorn(stage, "AttachmentTicket", "attachmenttickets")  # no release has it yet
    things = stage.put(
        held("Volume", "v", here),
        *(held("AttachmentTicket", f"t{number}", here) for number in range(3)),
        widget("w", here, LONGHORN),
    )
    result = succeeded(drainer("longhorn", policy="Retain"))
    assert (result["drain_status"], result["progress"]) == ("completed", "5/5")
    assert [stage.finalizers(thing) for thing in things] == [[]] * 5
    assert kind_row(result, "AttachmentTicket")["role"] == "unknown"
    assert "not in the profile: Widget x1, AttachmentTicket x3" in result["table"]
    reasons = Counter(row["reason"] for row in result["retained"])
    assert reasons == {"policy Retain": 1, "not in the profile: released, never deleted": 4}
    path = f"{CRDS}/{ticket['metadata']['name']}"
    stage.api.delete(path)
    until(lambda: stage.api.get(path)[0] == 404, "the definition to go")


def test_the_plan_shows_them_before_anything_is_written_and_its_hash_covers_them(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    lb, settings = stage.put(service("lb", stage.namespace, LEGACY), config_map("settings", stage.namespace, LEGACY))
    told: list[object] = []
    before = succeeded(drainer(check_mode=True, on_event=told.append))
    assert (before["drain_status"], before["changed"]) == ("pending", True)
    [planned] = [event for event in told if isinstance(event, Planned)]
    assert "not in the profile: ConfigMap x1" in planned.summary
    assert [row["name"] for row in before["plan"] if row["release"]] == ["Service", "ConfigMap (not in the profile)"]
    assert audit.writes(drainer.user.name) == []
    stage.put(config_map("more", stage.namespace, LEGACY))
    assert "plan" in failed(drainer(plan_hash=before["plan_hash"]))
    assert [stage.finalizers(thing) for thing in (lb, settings)] == [[LEGACY], [LEGACY]]


def test_what_gets_the_finalizer_while_the_drain_runs_is_found_at_the_end(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    stage.put(service("lb", here, LEGACY))
    late: list[Body] = []

    def once_released(event: object) -> None:
        if isinstance(event, Did) and event.object.kind == "Service" and not late:
            late.extend(stage.put(config_map("late", here, LEGACY)))

    result = succeeded(drainer(quiesce="none", on_event=once_released))
    assert (result["drain_status"], result["came_back"]) == ("completed", 1)
    assert stage.finalizers(late[0]) == []
    assert "ConfigMap (not in the profile)" in [row["name"] for row in result["steps"]]


def test_what_cannot_be_released_fails_the_task_with_its_name(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    (lb, settings) = stage.put(service("lb", here, LEGACY), config_map("settings", here, LEGACY))
    with FakeController(stage.api, [stage.api.path_of(settings, collection=True)], adds_back=50):
        result = drainer(quiesce="none", settle=1)
        assert "settings" in failed(result)
    assert result["drain_status"] == "failed"
    assert stage.finalizers(lb) == []


def test_a_freeze_covers_them(stage: Stage, drainer: Drainer) -> None:
    here = stage.namespace
    (settings,) = stage.put(config_map("settings", here, LEGACY, labels={"app": "web"}))
    answers: list[int] = []

    def while_frozen(event: object) -> None:
        if isinstance(event, Did) and event.object.kind == "ConfigMap" and event.action == "remove finalizer":
            patch = {"metadata": {"finalizers": [LEGACY]}}
            answers.append(stage.api.patch(stage.api.path_of(settings), patch)[0])

    succeeded(drainer(freeze=True, settle=1, quiesce="none", on_event=while_frozen))
    assert answers == [403]
    assert stage.finalizers(settings) == []


# -- policy Delete -----------------------------------------------------------------------------------------------------


def test_with_delete_they_are_released_after_the_known_kinds_and_never_deleted(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    here = stage.namespace
    operator_deployment(stage, here)
    (domain,) = stage.put(custom("Domain", "d", here, LEGACY, labels=marked(here)))
    owner = {"apiVersion": domain["apiVersion"], "kind": "Domain", "name": "d", "uid": domain["metadata"]["uid"]}
    made = pool(stage, "p", LEGACY, labels=marked(here))
    stage.api.patch(stage.api.path_of(made), {"metadata": {"ownerReferences": [owner]}})
    with controller(stage, here, "Domain"):
        result = succeeded(drainer(policy="Delete"))
    assert stage.is_gone(domain)
    assert stage.finalizers(made) == []
    assert stage.look(made)["metadata"]["uid"] == made["metadata"]["uid"]
    assert "deletionTimestamp" not in stage.look(made)["metadata"]
    [row] = [row for row in result["retained"] if row["object"]["name"] == "p"]
    assert row["reason"] == "not in the profile: released, never deleted"
    mine = [event for event in audit.writes(drainer.user.name) if event.resource in ("domains", "endpointpools")]
    assert [(event.verb, event.resource) for event in mine][-1] == ("patch", "endpointpools")
    assert {event.verb for event in mine if event.resource == "endpointpools"} == {"patch"}


# -- whose they are ----------------------------------------------------------------------------------------------------


def test_the_instance_counts_for_them_too(stage: Stage, drainer: Drainer, audit: AuditTrail) -> None:
    here, there = stage.namespace, stage.another_namespace()
    ours, theirs, elsewhere = stage.put(
        config_map("ours", here, LEGACY, labels=marked(here)),
        config_map("theirs", here, LEGACY, labels=marked(there)),
        config_map("elsewhere", there, LEGACY, labels=marked(here)),
    )
    result = succeeded(drainer(instance={"namespaces": [here], "controller_namespace": here}))
    assert [stage.finalizers(thing) for thing in (ours, theirs, elsewhere)] == [[], [LEGACY], [LEGACY]]
    assert list(kept(result)) == ["theirs"]
    lists = [event for event in audit.events(drainer.user.name) if event.resource == "configmaps"]
    assert {event.namespace for event in lists} == {here}


def test_an_anchor_is_not_one_of_them(stage: Stage, drainer: Drainer) -> None:
    """It is released last, and only where it goes."""
    here = stage.namespace
    (ko,) = stage.put(custom("KubernetesOperator", "ngrok-operator", here, LEGACY, spec={}))
    result = succeeded(drainer(remove_anchor=False))
    assert (result["changed"], stage.finalizers(ko)) == (False, [LEGACY])


# -- what cannot be looked at ------------------------------------------------------------------------------------------


def tenant(as_user: AsUser, namespace: str, *own: dict[str, Any]) -> Any:
    """May do what a profile needs in one namespace, and sees little else."""
    groups = [NGROK, "ingress.k8s.ngrok.com", "bindings.k8s.ngrok.com"]
    rules = [
        *(own or ({"apiGroups": groups, "resources": ["*"], "verbs": ["*"]},)),
        {"apiGroups": ["", "networking.k8s.io"], "resources": ["services", "ingresses"], "verbs": [*READ, "patch"]},
        {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["*"], "verbs": [*READ, "patch"]},
        {"apiGroups": ["apps", "coordination.k8s.io"], "resources": ["*"], "verbs": READ},
    ]
    as_user("tenant", [{"apiGroups": ["gateway.networking.k8s.io"], "resources": ["gatewayclasses"], "verbs": READ}])
    return as_user("tenant", rules, namespace=namespace)


def test_a_tenant_drains_a_namespace_and_is_told_what_was_not_seen(
    stage: Stage, drainer: Drainer, as_user: AsUser, audit: AuditTrail
) -> None:
    here = stage.namespace
    (lb, unseen) = stage.put(service("lb", here, LEGACY), config_map("unseen", here, LEGACY))
    wish = {
        "instance": {"namespaces": [here], "controller_namespace": here},
        "anchor": {"name": "a", "namespace": here},
    }
    result = succeeded(drainer(user=tenant(as_user, here), quiesce="none", **wish))
    assert [stage.finalizers(thing) for thing in (lb, unseen)] == [[], [LEGACY]]
    assert any(text.startswith("configmaps: ") for text in result["not_looked_at"])
    assert not any(text.startswith(("services", "domains")) for text in result["not_looked_at"])
    assert any("could not be seen everywhere" in text for text in [warnings_of(result)])
    most = Counter((e.resource, e.group, e.namespace) for e in audit.events("tenant") if e.verb == "list")
    assert all(count <= 4 for count in most.values()), most


def test_a_kind_of_the_products_own_groups_must_be_readable(
    stage: Stage, drainer: Drainer, as_user: AsUser, audit: AuditTrail
) -> None:
    here = stage.namespace
    pool(stage, "p", LEGACY)
    (lb,) = stage.put(service("lb", here, LEGACY))
    known = {
        "apiGroups": [NGROK, "ingress.k8s.ngrok.com", "bindings.k8s.ngrok.com"],
        "resources": [plural for _group, _kind, plural, _version, _scope in OPERATOR_KINDS],
        "verbs": ["*"],
    }
    wish = {
        "instance": {"namespaces": [here], "controller_namespace": here},
        "anchor": {"name": "a", "namespace": here},
    }
    result = drainer(user=tenant(as_user, here, known), quiesce="none", **wish)
    assert "EndpointPool" in failed(result)
    assert kind_row(result, "EndpointPool")["state"] == "forbidden"
    assert stage.finalizers(lb) == [LEGACY]
    assert audit.writes("tenant") == []


def test_an_api_that_does_not_answer_is_told_and_stops_nothing(stage: Stage, drainer: Drainer, dead_group: str) -> None:
    (lb,) = stage.put(service("lb", stage.namespace, LEGACY))
    result = succeeded(drainer())
    assert stage.finalizers(lb) == []
    assert any(text.startswith(dead_group) for text in result["not_looked_at"])


def test_every_other_kind_is_listed_once_before_and_once_after(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    stage.put(service("lb", stage.namespace, LEGACY))
    succeeded(drainer(quiesce="none"))
    events = [event for event in audit.events(drainer.user.name) if event.verb == "list"]
    lists = Counter((event.group, event.resource) for event in events)
    assert lists["", "configmaps"] == lists["rbac.authorization.k8s.io", "roles"] == 2
    assert (lists["", "events"], lists["discovery.k8s.io", "endpointslices"]) == (0, 0)


# -- drafts ------------------------------------------------------------------------------------------------------------


def test_a_draft_has_whatever_kind_carries_the_finalizer(stage: Stage, drainer: Drainer) -> None:
    account = body("v1", "ServiceAccount", "sa", stage.namespace, CLEANUP)
    stage.put(account)
    result = succeeded(drainer("auto"))
    [draft] = [one for one in result["draft_profiles"] if CLEANUP in one["finalizers"]]
    assert {"group": "", "kind": "ServiceAccount"} in draft["user_kinds"]


# -- kinds that profiles know ------------------------------------------------------------------------------------------

KNOWN = [
    ("flux", "source.extensions.fluxcd.io", "ArtifactGenerator", "source.extensions.fluxcd.io/finalizer"),
    ("crossplane", "ops.crossplane.io", "WatchOperation", "watchoperation.ops.crossplane.io"),
    ("cnpg", "postgresql.cnpg.io", "DatabaseRole", "cnpg.io/deleteRole"),
    *(
        ("longhorn", LONGHORN, kind, LONGHORN)
        for kind in ("VolumeAttachment", "SupportBundle", "BackupBackingImage", "EngineFrontend", "Shard", "ShardGroup")
    ),
]


@pytest.mark.parametrize(("profile", "group", "kind", "finalizer"), KNOWN, ids=[one[2] for one in KNOWN])
def test_a_kind_that_a_profile_knows_is_drained(
    stage: Stage, drainer: Drainer, profile: str, group: str, kind: str, finalizer: str
) -> None:
    serve(stage, crd(kind, group))
    (thing,) = stage.put(body(f"{group}/v1", kind, "one", stage.namespace, finalizer))
    result = succeeded(drainer(profile))
    assert (kind_row(result, kind)["role"], stage.finalizers(thing)) == ("operator", [])


def test_the_service_of_a_plugin_of_cloudnative_pg_is_released(stage: Stage, drainer: Drainer) -> None:
    (plugin,) = stage.put(service("barman", stage.namespace, "cnpg.io/cleanupPlugin"))
    result = succeeded(drainer("cnpg"))
    assert (kind_row(result, "Service")["role"], stage.finalizers(plugin)) == ("user", [])


# -- backups on remote storage -----------------------------------------------------------------------------------------


def target(namespace: str, url: str) -> Body:
    return held("BackupTarget", "default", namespace, spec={"backupTargetURL": url})


def longhorn_manager(stage: Stage) -> Body:
    workload = operator_deployment(stage, stage.namespace)
    labels = {"app.kubernetes.io/name": None, "app": "longhorn-manager"}
    stage.api.patch(stage.api.path_of(workload), {"metadata": {"labels": labels}})
    return workload


def test_delete_is_refused_while_a_backup_target_is_configured(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    here = stage.namespace
    longhorn_manager(stage)
    for kind, plural in (("BackupTarget", "backuptargets"), ("Backup", "backups")):
        longhorn(stage, kind, plural)
    things = stage.put(held("Backup", "b", here), target(here, "s3://backups@eu/"))
    for check_mode in (True, False):
        message = failed(drainer("longhorn", policy="Delete", force=True, check_mode=check_mode))
        assert f"BackupTarget {here}/default" in message
        assert "spec.backupTargetURL" in message
        assert "Retain" in message
    assert audit.writes(drainer.user.name) == []
    succeeded(drainer("longhorn", policy="Retain", quiesce="none"))
    assert [stage.finalizers(thing) for thing in things] == [[], []]


def test_delete_is_refused_while_the_old_setting_names_a_backup_target(stage: Stage, drainer: Drainer) -> None:
    """Until 1.7 there is one target, and it is a setting."""
    here = stage.namespace
    longhorn_manager(stage)
    for kind, plural in (("Backup", "backups"), ("Setting", "settings")):
        longhorn(stage, kind, plural)
    (backup,) = stage.put(held("Backup", "b", here))
    version = f"{LONGHORN}/v1beta2"
    stage.put(
        body(version, "Setting", "backup-target", here, value="nfs://backups.example.com:/"),
        body(version, "Setting", "backup-target-credential-secret", here, value="keys"),
    )
    assert f"Setting {here}/backup-target" in failed(drainer("longhorn", policy="Delete"))
    assert stage.finalizers(backup) == [LONGHORN]


def test_delete_begins_with_the_targets_as_longhorns_uninstaller_does(
    stage: Stage, drainer: Drainer, audit: AuditTrail
) -> None:
    here = stage.namespace
    longhorn_manager(stage)
    kinds = {"BackupTarget": "backuptargets", "BackupVolume": "backupvolumes", "Backup": "backups"}
    for kind, plural in kinds.items():
        longhorn(stage, kind, plural)
    things = stage.put(target(here, ""), held("BackupVolume", "bv", here), held("Backup", "b", here))
    paths = [stage.api.path_of(thing, collection=True) for thing in things]
    seen: list[Any] = []

    def while_it_is_deleted(event: object) -> None:
        if isinstance(event, Did) and event.action == "delete" and event.object.kind == "BackupTarget":
            seen.append(stage.look(target(here, ""))["metadata"]["annotations"])

    with FakeController(stage.api, paths, LONGHORN, delay=0.5):
        succeeded(drainer("longhorn", policy="Delete", on_event=while_it_is_deleted))
    assert seen == [{"longhorn.io/delete-backup-target-from-longhorn": ""}]
    deleted = [event.resource for event in audit.writes(drainer.user.name) if event.verb == "delete"]
    assert deleted == list(kinds.values())
