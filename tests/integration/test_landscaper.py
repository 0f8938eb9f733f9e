# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of a Landscaper DeployItem: in which cluster they are, which object was meant, and what Helm knows of them.

The definitions are Landscaper's own; what its deployers write into a DeployItem's status is written by hand.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.jobs import blockers_info
from integration.helm import Helm
from integration.ranked import (
    RBAC,
    Remover,
    both,
    cluster_role,
    failed,
    kept,
    names,
    remaining,
    service_account,
    succeeded,
)
from integration.running import run_job, warnings_of
from integration.stage import CLEANUP, GROUP, Body, Stage, body, config_map, gadget
from lab import modules
from lab.fixtures import AsUser
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

MODULE = ("github.com/gardener/landscaper/apis", "v0.152.0")
LANDSCAPER = "landscaper.gardener.cloud"
LABEL = f"manifest.deployer.{LANDSCAPER}/deployitem"
MANIFEST, HELM = f"{LANDSCAPER}/kubernetes-manifest", f"{LANDSCAPER}/helm"
HERE, OTHER = "here", "other-cluster"  # Targets
SELF = {"selfConfig": {"serviceAccount": {"name": "deployer"}}}


@pytest.fixture(scope="session")
def landscaper_kinds(plane: ControlPlane) -> None:
    for kind in ("deployitems", "targets"):
        for definition in modules.documents(*MODULE, f"crds/manifests/{LANDSCAPER}_{kind}.yaml"):
            plane.api.apply_crd(definition)


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def helm(plane: ControlPlane, stage: Stage, tmp_path: Path) -> Helm:
    return Helm(plane, tmp_path, stage.namespace)


@pytest.fixture
def items(plane: ControlPlane, second_plane: ControlPlane, stage: Stage, landscaper_kinds: None) -> Items:
    """With a Target for each of both clusters."""
    made = Items(stage)
    made.target(HERE, {"kubeconfig": plane.admin.kubeconfig.read_text()})
    made.target(OTHER, {"kubeconfig": second_plane.admin.kubeconfig.read_text()})
    return made


class Items:
    """Puts Targets and DeployItems into the stage's namespace, as Landscaper and its deployers leave them."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def target(self, name: str, config: Any = None, **spec: Any) -> None:
        given = {"type": f"{LANDSCAPER}/kubernetes-cluster", **({"config": config} if config else {}), **spec}
        self.stage.put(body(f"{LANDSCAPER}/v1alpha1", "Target", name, self.stage.namespace, spec=given))

    def put(
        self,
        name: str,
        managed: list[Body],
        *,
        target: str | None = HERE,
        deployer: str = MANIFEST,
        config: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The DeployItem, and the option `members` for it."""
        here = self.stage.namespace
        word = "helm" if deployer == HELM else "manifest"
        of = {"apiVersion": f"{word}.deployer.{LANDSCAPER}/v1alpha2"}
        spec: Body = {"type": deployer, "config": {**of, "kind": "ProviderConfiguration", **(config or {})}}
        if target:
            spec["target"] = {"name": target, "namespace": here}
        item = body(f"{LANDSCAPER}/v1alpha1", "DeployItem", name, here, spec=spec)
        self.stage.put(item)
        status = {"observedGeneration": 1, "phase": "Succeeded"}
        status["providerStatus"] = {**of, "kind": "ProviderStatus", "managedResources": managed}
        answer = self.stage.api.patch(self.stage.api.path_of(item) + "/status", {"status": status})
        assert answer[0] == 200, answer
        return {"landscaper": {"deploy_item": name, "namespace": here}}


def recorded(thing: Body, uid: str | None = None, **more: Any) -> Body:
    """As the manifest deployer writes it down. An empty `uid`: without one."""
    metadata = thing["metadata"]
    resource = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": metadata["name"]}
    resource |= {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    uid = metadata["uid"] if uid is None else uid
    return {"policy": "manage", "resource": {**resource, **({"uid": uid} if uid else {})}, **more}


def of(item: str) -> dict[str, str]:
    return {LABEL: item}


def web(namespace: str, item: str) -> list[Body]:
    """What a small application consists of; the same names in every cluster."""
    role = body(f"{RBAC}/v1", "ClusterRole", f"ls-{namespace}", "", labels=of(item), rules=[])
    return [config_map("web", namespace, labels=of(item)), role]


# -- which cluster -----------------------------------------------------------------------------------------------------


def test_a_deploy_item_of_another_cluster_deletes_nothing_here(
    remove: Remover, stage: Stage, items: Items, audit: AuditTrail
) -> None:
    made = stage.put(*web(stage.namespace, "di-other"))
    members = items.put("di-other", [recorded(made[0], "1"), recorded(made[1], "2")], target=OTHER)
    for said in (failed(remove(members)), failed(remove.info(members)), failed(remove(members, check_mode=True))):
        assert f"Target {stage.namespace}/{OTHER} is another cluster" in said
        assert "members.landscaper.context" in said
    assert remaining(stage, made) == [f"ls-{stage.namespace}", "web"]
    assert audit.writes(remove.user.name) == []


def test_deploy_items_of_two_clusters_are_never_mixed(
    remove: Remover, stage: Stage, elsewhere: Stage, items: Items, plane: ControlPlane, second_plane: ControlPlane
) -> None:
    """The same names in both clusters, each with its DeployItem; those lie together in the first."""
    place = stage.namespace
    elsewhere.put(body("v1", "Namespace", place, ""))
    made, there = stage.put(*web(place, "a")), elsewhere.put(*web(place, "b"))
    here = items.put("a", [recorded(one) for one in made])
    other = items.put("b", [recorded(one) for one in there], target=OTHER)
    from_there = {"kubeconfig": both(plane, second_plane), "context": "second"}
    here_from_there, other_from_there = (
        {"landscaper": {**members["landscaper"], "context": "lab"}} for members in (here, other)
    )
    all_of_it = [f"ls-{place}", "web"]
    assert "is another cluster" in failed(remove(here_from_there, **from_there))
    assert "is another cluster" in failed(remove(other))
    assert "there is no" in warnings_of(succeeded(remove(other, **from_there))), "the DeployItem is not stored there"
    shown = succeeded(remove.info(other_from_there, **from_there))
    assert (names(shown["members"]), "context lab" in shown["source"]) == (all_of_it, True)
    succeeded(run_job(blockers_info.JOB, {"members": other_from_there, "context": "second"}, from_there["kubeconfig"]))
    assert (remaining(stage, made), remaining(elsewhere, there)) == (all_of_it, all_of_it)
    succeeded(remove(other_from_there, **from_there))
    assert (remaining(stage, made), remaining(elsewhere, there)) == (all_of_it, [])
    assert not succeeded(remove(other_from_there, **from_there))["changed"]
    succeeded(remove(here))
    assert remaining(stage, made) == []


def test_a_target_elsewhere_is_neither_called_nor_logged_in_to(
    remove: Remover, stage: Stage, items: Items, plane: ControlPlane, tmp_path: Path
) -> None:
    made = stage.put(*web(stage.namespace, "trap"))
    trace = tmp_path / "it-ran"
    with listening() as (server, called):
        kubeconfig = json.loads(plane.admin.kubeconfig.read_text())
        kubeconfig["clusters"][0]["cluster"] |= {"server": server, "insecure-skip-tls-verify": True}
        del kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]
        command = {"command": sys.executable, "args": ["-c", f"open({str(trace)!r}, 'w')"], "interactiveMode": "Never"}
        kubeconfig["users"][0]["user"] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", **command}}
        items.target("trap", {"kubeconfig": json.dumps(kubeconfig)})
        members = items.put("trap", [recorded(one) for one in made], target="trap")
        assert "is another cluster" in failed(remove(members))
        assert not called()
    assert not trace.exists()
    assert remaining(stage, made) == [f"ls-{stage.namespace}", "web"]


@contextlib.contextmanager
def listening() -> Iterator[tuple[str, Any]]:
    """A port, and whether anything came to it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)

        def called() -> bool:
            with contextlib.suppress(BlockingIOError):
                server.accept()
                return True
            return False

        yield f"https://127.0.0.1:{server.getsockname()[1]}", called


def shapes(plane: ControlPlane) -> dict[str, Any]:
    """Targets that lead to this cluster, in each way Landscaper knows."""
    text = plane.admin.kubeconfig.read_text()
    cluster = json.loads(text)["clusters"][0]["cluster"]
    oidc = {"server": cluster["server"], "caData": cluster["certificate-authority-data"]}
    return {
        "text": {"config": {"kubeconfig": text}},
        "content": {"config": {"kubeconfig": json.loads(text)}},
        "bare": {"config": json.loads(text)},
        "oidc": {"config": {"oidcConfig": {**oidc, "serviceAccount": {"name": "deployer"}}}},
        "self": {"config": SELF},
        "secret": {"secretRef": {"name": "access"}},
        "key": {"secretRef": {"name": "access", "key": "whole"}},
    }


@pytest.mark.parametrize("shape", ["text", "content", "bare", "oidc", "self", "secret", "key"])
def test_every_shape_of_target_that_leads_here_is_taken(
    shape: str, remove: Remover, stage: Stage, items: Items, plane: ControlPlane
) -> None:
    text = plane.admin.kubeconfig.read_text()
    whole = json.dumps({"kubeconfig": text})
    data = {key: base64.b64encode(value.encode()).decode() for key, value in (("kubeconfig", text), ("whole", whole))}
    stage.put(body("v1", "Secret", "access", stage.namespace, data=data))
    items.target(shape, **shapes(plane)[shape])
    made = stage.put(*web(stage.namespace, "a"))
    succeeded(remove(items.put("a", [recorded(one) for one in made], target=shape)))
    assert remaining(stage, made) == []


def test_a_target_of_its_own_cluster_is_not_the_cluster_that_is_connected(
    remove: Remover, stage: Stage, elsewhere: Stage, items: Items, plane: ControlPlane, second_plane: ControlPlane
) -> None:
    items.target("self", SELF)
    there = elsewhere.put(config_map("web", elsewhere.namespace, labels=of("a")))
    members = items.put("a", [recorded(one) for one in there], target="self")["landscaper"]
    config = both(plane, second_plane)
    said = failed(remove({"landscaper": {**members, "context": "lab"}}, kubeconfig=config, context="second"))
    assert "is another cluster" in said
    assert remaining(elsewhere, there) == ["web"]


def test_the_task_may_say_that_this_cluster_is_the_target(
    remove: Remover, stage: Stage, items: Items, plane: ControlPlane
) -> None:
    """Its address differs, as that of a load balancer does from the one inside; only the task can know."""
    text = plane.admin.kubeconfig.read_text().replace("127.0.0.1", "api.internal.example.com")
    items.target("inside", {"kubeconfig": text})
    made = stage.put(*web(stage.namespace, "a"))
    members = items.put("a", [recorded(one) for one in made], target="inside")["landscaper"]
    said = failed(remove({"landscaper": members}))
    assert "api.internal.example.com" in said
    assert "members.landscaper.target: inside" in said
    assert "another Target" in failed(remove({"landscaper": {**members, "target": HERE}}))
    assert remaining(stage, made) == [f"ls-{stage.namespace}", "web"]
    succeeded(remove({"landscaper": {**members, "target": "inside"}}))
    assert remaining(stage, made) == []


def test_who_may_not_read_the_secret_of_a_target_must_say_which_cluster_it_is(
    remove: Remover, stage: Stage, items: Items, as_user: AsUser
) -> None:
    items.target("secret", secretRef={"name": "access"})
    made = stage.put(config_map("web", stage.namespace, labels=of("a")))
    members = items.put("a", [recorded(one) for one in made], target="secret")["landscaper"]
    rules = [
        {"apiGroups": [LANDSCAPER], "resources": ["*"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]},
    ]
    tenant = as_user("landscaper-tenant", rules, stage.namespace)
    said = failed(remove({"landscaper": members}, user=tenant))
    assert "may not be read" in said
    assert "members.landscaper.target: secret" in said
    succeeded(remove({"landscaper": {**members, "target": "secret"}}, user=tenant))
    assert remaining(stage, made) == []


def test_a_deploy_item_without_a_target_says_of_no_cluster_that_it_deployed_there(
    remove: Remover, stage: Stage, items: Items
) -> None:
    made = stage.put(*web(stage.namespace, "a"))
    said = failed(remove(items.put("a", [recorded(one) for one in made], target=None)))
    assert "names no Target" in said
    assert remaining(stage, made) == [f"ls-{stage.namespace}", "web"]


# -- which object ------------------------------------------------------------------------------------------------------


def test_an_object_with_another_uid_than_the_recorded_one_is_kept(remove: Remover, stage: Stage, items: Items) -> None:
    here = stage.namespace
    same, made_anew, unrecorded = stage.put(
        *(config_map(name, here, labels=of("shop")) for name in ("same", "made-anew", "unrecorded"))
    )
    entries = [recorded(same), recorded(made_anew, "1"), recorded(unrecorded, "")]
    result = succeeded(remove(items.put("shop", entries)))
    assert remaining(stage, [same, made_anew, unrecorded]) == ["made-anew"]
    verdict, why = kept(result)["made-anew"]
    assert verdict == "not_owned"
    assert "another object of that name" in why
    assert "recorded uid 1," in why


def test_a_deploy_item_names_its_objects_and_their_policies(remove: Remover, stage: Stage, items: Items) -> None:
    here = stage.namespace
    policies = {"managed": "manage", "kept": "keep", "immutable": "immutable", "ignored": "ignore"}
    thing = gadget(f"gadget-{here}")
    thing["metadata"]["labels"] = of("shop")
    made = stage.put(*(config_map(name, here, labels=of("shop")) for name in policies), thing)
    managed = [recorded(one, policy=policies[one["metadata"]["name"]]) for one in made[:-1]]
    managed.append({"resource": {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "name": f"gadget-{here}"}})
    result = succeeded(remove(items.put("shop", managed)))
    assert remaining(stage, made) == ["ignored", "kept"]
    assert kept(result)["kept"] == ("keep", "Landscaper policy keep")


def test_a_deploy_item_prepares_its_objects_as_it_recorded(remove: Remover, stage: Stage, items: Items) -> None:
    """Seen on an object that a finalizer holds: the annotation and the patch came before the delete."""
    (held,) = stage.put(config_map("held", stage.namespace, CLEANUP, labels=of("shop")))
    before = {
        "annotateBeforeDelete": {"example.com/farewell": "yes"},
        "patchBeforeDelete": {"data": {"deletion": "confirmed"}},
    }
    failed(remove(items.put("shop", [recorded(held, **before)]), timeout=10))
    now = stage.look(held)
    assert now["metadata"]["deletionTimestamp"]
    assert (now["metadata"]["annotations"], now["data"]) == ({"example.com/farewell": "yes"}, {"deletion": "confirmed"})


@pytest.mark.parametrize("policy", ["manage", "fallback", "immutable"])
def test_an_object_goes_only_while_it_is_labelled_as_the_deploy_items_own(
    policy: str, remove: Remover, stage: Stage, items: Items
) -> None:
    """Whoever writes a DeployItem's status can name any object, with its uid. He cannot label it."""
    here = stage.namespace
    made = stage.put(
        config_map("ours", here, labels=of("shop")),
        config_map("taken-over", here, labels=of("other")),
        config_map("unlabelled", here),
    )
    result = succeeded(remove(items.put("shop", [recorded(one, policy=policy) for one in made])))
    assert remaining(stage, made) == ["taken-over", "unlabelled"]
    assert sorted(kept(result)) == ["taken-over", "unlabelled"]


def test_a_deploy_item_that_is_reconciled_on_a_schedule_is_told_about(
    remove: Remover, stage: Stage, items: Items
) -> None:
    made = stage.put(config_map("web", stage.namespace, labels=of("a")))
    members = items.put("a", [recorded(made[0])], config={"continuousReconcile": {"every": "1h"}})
    said = warnings_of(succeeded(remove(members, check_mode=True)))
    assert "on a schedule" in said
    assert "continuousreconcile.extensions.landscaper.gardener.cloud/active=false" in said


# -- Helm --------------------------------------------------------------------------------------------------------------


def install(helm: Helm, name: str = "shop") -> list[Body]:
    """A release, and what it made, as the tests refer to it."""
    here, tail = helm.namespace, secrets.token_hex(4)
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "example.com/web"}]}}
    deployed = body("apps/v1", "Deployment", "web", here, spec={"selector": {"matchLabels": labels}, "template": pod})
    made = [
        deployed,
        body("v1", "Service", "web", here, spec={"ports": [{"port": 80}]}),
        service_account("web", here),
        cluster_role(f"ls-{tail}"),
    ]
    chart = helm.chart({f"templates/{place}.yaml": thing for place, thing in enumerate(made)}, folder=name)
    helm("install", name, str(chart))
    return made


def as_the_helm_deployer_lists(made: list[Body]) -> list[Body]:
    """Of the release only what is needed to see whether it is ready; without policy and uid."""
    return [{"resource": recorded(made[0], "")["resource"]}]


@pytest.mark.parametrize("config", [{}, {"helmDeployment": True}], ids=["by default", "said"])
def test_a_helm_deploy_item_is_its_whole_release(
    config: dict[str, Any], remove: Remover, stage: Stage, helm: Helm, items: Items
) -> None:
    made = install(helm)
    config = {"name": "shop", "namespace": helm.namespace, **config}
    members = items.put("web", as_the_helm_deployer_lists(made), deployer=HELM, config=config)
    shown = succeeded(remove.info(members))
    assert shown["source"] == (
        f"Helm release {helm.namespace}/shop of Landscaper DeployItem {stage.namespace}/web "
        f"(Target {stage.namespace}/{HERE})"
    )
    assert {row["object"]["kind"] for row in shown["members"]} >= {"Secret", *(thing["kind"] for thing in made)}
    succeeded(remove(members))
    assert [thing["kind"] for thing in made if not stage.is_gone(thing)] == []
    assert helm.records() == []
    again = succeeded(remove(members))
    assert not again["changed"]
    assert f"no record of Helm release {helm.namespace}/shop" in warnings_of(again)
    assert "the status lists 1 of its objects" in warnings_of(again)


def test_a_release_of_the_same_name_here_is_not_the_one_of_another_cluster(
    remove: Remover, stage: Stage, helm: Helm, items: Items, audit: AuditTrail
) -> None:
    made = install(helm)
    config = {"name": "shop", "namespace": helm.namespace}
    members = items.put("web", as_the_helm_deployer_lists(made), target=OTHER, deployer=HELM, config=config)
    audit.begin_anew()
    assert "is another cluster" in failed(remove(members))
    assert audit.writes(remove.user.name) == []
    assert len(helm.records()) == 1
    helm("uninstall", "shop")


def test_what_the_release_does_not_own_any_more_is_kept(
    remove: Remover, stage: Stage, helm: Helm, items: Items
) -> None:
    made = install(helm)
    mark = {"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": helm.namespace}
    stage.api.patch(stage.api.path_of(made[1]), {"metadata": {"annotations": mark}})
    config = {"name": "shop", "namespace": helm.namespace}
    result = succeeded(remove(items.put("web", as_the_helm_deployer_lists(made), deployer=HELM, config=config)))
    assert kept(result)["web"] == ("not_owned", f"it belongs to Helm release {helm.namespace}/other")
    assert [thing["kind"] for thing in made if not stage.is_gone(thing)] == ["Service"]


def test_without_a_release_the_list_of_the_deploy_item_is_the_whole(
    remove: Remover, stage: Stage, items: Items
) -> None:
    """`helmDeployment: false`: Helm only made the manifests, and the deployer applied them as the other one does."""
    made = stage.put(*web(stage.namespace, "a"))
    config = {"name": "shop", "namespace": stage.namespace, "helmDeployment": False}
    members = items.put("a", [recorded(one) for one in made], deployer=HELM, config=config)
    assert succeeded(remove.info(members))["source"] == (
        f"managed resources of Landscaper DeployItem {stage.namespace}/a (Target {stage.namespace}/{HERE})"
    )
    succeeded(remove(members))
    assert remaining(stage, made) == []
