# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Release metadata proves nothing by itself: a tenant forges it in its namespace, an administrator runs the product.

The tenant may write Secrets and ConfigMaps in one namespace, a part of what the role `edit` gives. What it names lies
in another namespace, or is cluster-scoped.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import secrets
import subprocess
from pathlib import Path
from typing import Any

import pytest

from integration.gitops import FLUX, FLUX_HELM, IN_CLUSTER, application, owner, tracked
from integration.helm import Helm
from integration.ranked import Remover, annotated, cluster_role, failed, kept, manifest, remaining, succeeded
from integration.running import warnings_of
from integration.stage import Body, Stage, body, config_map, crd
from integration.test_ranked_members import Kapp, inventory_ids
from integration.uninstalling import Uninstaller
from lab import tools
from lab.fixtures import AsUser
from lab.plane.api import Api
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

pytestmark = pytest.mark.quick

TENANT = [{"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["*"]}]
IS_APP, KAPP_LABEL = "kapp.k14s.io/is-app", "kapp.k14s.io/app"
APPLYSET = "applyset.kubernetes.io"
INVENTORY_ID, OWNING = "cli-utils.sigs.k8s.io/inventory-id", "config.k8s.io/owning-inventory"


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


@pytest.fixture
def tenant(as_user: AsUser, stage: Stage) -> Api:
    """Somebody who may write Secrets and ConfigMaps in the stage's namespace, and nothing else."""
    return Api(as_user(f"tenant-{stage.namespace}", TENANT, stage.namespace))


@pytest.fixture
def billing(stage: Stage) -> str:
    """A namespace of another team."""
    return stage.another_namespace()


@pytest.fixture
def victims(stage: Stage, billing: str) -> list[Body]:
    """Of nobody's release: a map of another team, and a role of the platform."""
    return stage.put(config_map("ledger", billing, labels={"app": "payments"}), cluster_role(f"platform-{billing}"))


def forge(tenant: Api, thing: Body) -> Body:
    status, made = tenant.post(tenant.path_of(thing, collection=True), thing)
    assert status == 201, made
    return made


def release_secret(name: str, namespace: str, revision: int = 1, **content: Any) -> Body:
    """As Helm writes it."""
    whole = {"name": name, "namespace": namespace, "version": revision, "info": {"status": "deployed"}, **content}
    return packed_secret(name, namespace, gzip.compress(json.dumps(whole).encode()), revision)


def packed_secret(name: str, namespace: str, packed: bytes, revision: int = 1) -> Body:
    labels = {"owner": "helm", "name": name, "status": "deployed", "version": str(revision)}
    made = body("v1", "Secret", f"sh.helm.release.v1.{name}.v{revision}", namespace, labels=labels)
    return {**made, "type": "helm.sh/release.v1", "stringData": {"release": base64.b64encode(packed).decode()}}


def texts(things: list[Body]) -> list[str]:
    return [json.dumps(manifest(thing)) for thing in things]


def crd_files(things: list[Body]) -> dict[str, Any]:
    data = [base64.b64encode(text.encode()).decode() for text in texts(things)]
    return {"files": [{"name": f"crds/{place}.yaml", "data": text} for place, text in enumerate(data)]}


# -- Helm --------------------------------------------------------------------------------------------------------------


def test_a_forged_helm_release_deletes_nothing_outside_of_its_namespace(
    remove: Remover, stage: Stage, tenant: Api, victims: list[Body], audit: AuditTrail
) -> None:
    """By its hooks, and by the files of `crds/`; an object in its own namespace is unconfirmed."""
    [near] = stage.put(config_map("near", stage.namespace))
    hooks = [{"name": "h", "manifest": text} for text in texts([*victims, near])]
    forge(tenant, release_secret("shop", stage.namespace, hooks=hooks, chart=crd_files(victims)))
    members = {"helm": {"release": "shop", "namespace": stage.namespace}}
    audit.begin_anew()
    result = succeeded(remove(members))
    assert remaining(stage, victims) == sorted(one["metadata"]["name"] for one in victims)
    assert {name: row[0] for name, row in kept(result).items()} == dict.fromkeys(
        (one["metadata"]["name"] for one in victims), "not_owned"
    )
    assert {write.namespace for write in audit.writes(remove.user.name)} == {stage.namespace}
    assert [(row["object"]["name"], "helm.sh/hook" in row["reason"]) for row in result["unconfirmed"]] == [
        ("near", True)
    ]
    assert "only the release metadata names it" in warnings_of(result)
    assert stage.is_gone(near)


def test_hooks_of_a_forged_release_are_kept_unless_ownership_is_ignored(
    remove: Remover, stage: Stage, tenant: Api, victims: list[Body]
) -> None:
    hooks = [{"name": "h", "manifest": text} for text in texts(victims)]
    members = {"helm": {"release": "shop", "namespace": stage.namespace}}
    forge(tenant, release_secret("shop", stage.namespace, hooks=hooks))
    result = succeeded(remove(members, check_mode=True))
    reasons = {name: row[1] for name, row in kept(result).items()}
    assert reasons["ledger"].endswith("it carries no annotation helm.sh/hook, and it is in another namespace")
    assert reasons[victims[1]["metadata"]["name"]].endswith("and it is cluster-scoped")
    ignoring = succeeded(remove(members, check_mode=True, ownership="ignore"))
    assert kept(ignoring) == {}
    assert ignoring["outside_namespace"] == {
        "cluster_scoped": 1,
        "namespaces": {victims[0]["metadata"]["namespace"]: 1},
    }


def test_release_metadata_of_a_tenant_does_not_speak_for_another_namespaces_release(
    remove: Remover, stage: Stage, tenant: Api, plane: ControlPlane, billing: str, tmp_path: Path
) -> None:
    """The objects of the real one carry exactly the marks that such metadata would want, hooks among them."""
    real = Helm(plane, tmp_path, billing)
    hook = annotated(config_map("hook", billing), **{"helm.sh/hook": "post-install"})
    chart = real.chart({"templates/a.yaml": config_map("a", billing), "templates/hook.yaml": hook})
    real("install", "payments", str(chart))
    things = [config_map("a", billing), config_map("hook", billing)]
    forged = release_secret("payments", billing, manifest="\n---\n".join(texts(things)))
    forge(tenant, {**forged, "metadata": {**forged["metadata"], "namespace": stage.namespace}})
    said = failed(remove({"helm": {"release": "payments", "namespace": stage.namespace}}))
    assert f"says that the release is in namespace {billing}" in said
    hooks = [{"name": "h", "manifest": text} for text in texts(things)]
    forge(tenant, release_secret("shop", stage.namespace, hooks=hooks))
    result = succeeded(remove({"helm": {"release": "shop", "namespace": stage.namespace}}))
    assert f"Helm release {billing}/payments has it, too" in kept(result)["hook"][1]
    assert remaining(stage, things) == ["a", "hook"]
    succeeded(remove({"helm": {"release": "payments", "namespace": billing}}))
    assert remaining(stage, things) == []


def test_a_chart_with_hooks_definitions_and_a_subchart_elsewhere_is_deleted_whole(
    remove: Remover, uninstaller: Uninstaller, stage: Stage, plane: ControlPlane, billing: str, tmp_path: Path
) -> None:
    """`billing` is a namespace into which its subchart installs; real helm has marked everything."""
    helm, tail = Helm(plane, tmp_path, stage.namespace), secrets.token_hex(4)
    hook = {"helm.sh/hook": "pre-install"}
    wide = annotated(cluster_role(f"hook-{tail}"), **hook)
    far = annotated(config_map("far-hook", billing), **hook)
    definition = crd("Order", f"{tail}.example.com")
    chart = helm.chart(
        {
            "crds/order.yaml": definition,
            "templates/map.yaml": config_map("map", stage.namespace),
            "templates/hook.yaml": annotated(config_map("hook", stage.namespace), **hook),
            "templates/wide.yaml": wide,
            "templates/far.yaml": far,
            "charts/sub/Chart.yaml": {"apiVersion": "v2", "name": "sub", "version": "1.0.0"},
            "charts/sub/templates/map.yaml": config_map("from-sub", billing),
            "charts/sub/templates/role.yaml": cluster_role(f"sub-{tail}"),
        }
    )
    helm("install", "shop", str(chart))
    things = [
        *(config_map(name, stage.namespace) for name in ("map", "hook")),
        *(config_map(name, billing) for name in ("far-hook", "from-sub")),
        *(cluster_role(f"{name}-{tail}") for name in ("hook", "sub")),
        definition,
    ]
    assert len(remaining(stage, things)) == 7
    members = {"helm": {"release": "shop", "namespace": stage.namespace}}
    assert all(row["confirmed"] for row in succeeded(remove.info(members))["members"])
    result = succeeded(uninstaller(release="shop", namespace=stage.namespace))
    assert remaining(stage, things) == []
    assert (result["kept"], result["unconfirmed"]) == ([], [])
    assert result["outside_namespace"] == {"cluster_scoped": 3, "namespaces": {billing: 2}}
    line = f"outside namespace {stage.namespace}: 3 objects cluster-scoped, 2 objects in namespace {billing}"
    assert any(line in text for text in result["text"])


def test_a_definition_that_two_releases_have_is_deleted_with_the_last_one(
    remove: Remover, stage: Stage, plane: ControlPlane, billing: str, tmp_path: Path
) -> None:
    definition = crd("Order", f"{secrets.token_hex(4)}.example.com")
    for namespace in (stage.namespace, billing):
        helm = Helm(plane, tmp_path, namespace)
        helm("install", "shop", str(helm.chart({"crds/order.yaml": definition})))
    result = succeeded(remove({"helm": {"release": "shop", "namespace": stage.namespace}}))
    assert kept(result) == {
        definition["metadata"]["name"]: ("not_owned", f"Helm release {billing}/shop has it, too"),
    }
    assert not stage.is_gone(definition)
    succeeded(remove({"helm": {"release": "shop", "namespace": billing}}))
    assert stage.is_gone(definition)


def test_release_metadata_that_grows_without_end_is_refused(remove: Remover, stage: Stage, tenant: Api) -> None:
    """150 MiB in a Secret of 200 KiB; and an old revision like that is not read at all."""
    packed = gzip.compress(b" " * (150 * 1024 * 1024), 1)
    forge(tenant, packed_secret("shop", stage.namespace, packed, 2))
    members = {"helm": {"release": "shop", "namespace": stage.namespace}}
    assert "larger than 32 MiB when decompressed" in failed(remove(members))
    forge(tenant, release_secret("shop", stage.namespace, 3))
    succeeded(remove(members))


# -- kapp, ApplySet, inventory -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_forged_kapp_application_deletes_nothing_of_others(
    remove: Remover, stage: Stage, tenant: Api, victims: list[Body], plane: ControlPlane, billing: str, tmp_path: Path
) -> None:
    real = Kapp(plane, tmp_path, billing)
    real.deploy("payments", manifest(config_map("real", billing)))
    value = stage.look(config_map("real", billing))["metadata"]["labels"][KAPP_LABEL]
    kinds = [{"Group": "", "Kind": "ConfigMap"}]
    for name, key, label in (("by-any-label", "app", "payments"), ("by-the-value", KAPP_LABEL, value)):
        spec = json.dumps({"labelKey": key, "labelValue": label, "usedGKs": kinds})
        record = body("v1", "ConfigMap", f"{name}.apps.k14s.io", stage.namespace, labels={IS_APP: ""})
        forge(tenant, {**record, "data": {"spec": spec}})
    said = failed(remove({"kapp": {"app": "by-any-label", "namespace": stage.namespace}}))
    assert f"with the label app, and kapp labels its objects with {KAPP_LABEL} only" in said
    said = failed(remove({"kapp": {"app": "by-the-value", "namespace": stage.namespace}}))
    assert f"ConfigMap {billing}/payments" in said
    assert "and they cannot be of both" in said
    assert remaining(stage, [victims[0], config_map("real", billing)]) == ["ledger", "real"]


def test_a_forged_applyset_and_a_forged_inventory_are_refused(
    remove: Remover, stage: Stage, tenant: Api, billing: str
) -> None:
    identity, here = "applyset-somebody-elses-v1", stage.namespace
    made = stage.put(
        config_map("in-set", billing, labels={f"{APPLYSET}/part-of": identity}),
        annotated(config_map("in-inventory", billing), **{OWNING: "id-1"}),
    )
    stage.put(config_map("real", billing, labels={INVENTORY_ID: "id-1"}))
    parent = body("v1", "Secret", "shop", here, labels={f"{APPLYSET}/id": identity})
    forge(tenant, annotated(parent, **{f"{APPLYSET}/contains-group-kinds": "ConfigMap"}))
    inventory = body("v1", "ConfigMap", "inventory", here, labels={INVENTORY_ID: "id-1"})
    forge(tenant, {**inventory, "data": dict.fromkeys(inventory_ids(made[1:]), "")})
    assert "and the id of this object is applyset-" in failed(remove({"applyset": {"name": "shop", "namespace": here}}))
    said = failed(remove({"inventory": {"name": "inventory", "namespace": here}}))
    assert f"ConfigMap {billing}/real carries its id id-1, too" in said
    assert remaining(stage, made) == ["in-inventory", "in-set"]


def test_an_applyset_of_the_real_kubectl_has_the_id_we_compute(
    remove: Remover, stage: Stage, plane: ControlPlane, tmp_path: Path
) -> None:
    file = tmp_path / "map.json"
    file.write_text(json.dumps(manifest(config_map("a", stage.namespace))))
    command = [str(tools.kubectl()), "apply", "--prune", "--applyset=shop", f"--namespace={stage.namespace}"]
    command += [f"--filename={file}", f"--kubeconfig={plane.admin.kubeconfig}"]
    env = {**os.environ, "KUBECTL_APPLYSET": "true"}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    succeeded(remove({"applyset": {"name": "shop", "namespace": stage.namespace}}))
    assert remaining(stage, [config_map("a", stage.namespace)]) == []


# -- owners of GitOps tools --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("gitops_kinds")
def test_a_tenants_application_and_helm_release_delete_nothing_of_others(
    remove: Remover, stage: Stage, plane: ControlPlane, billing: str, tmp_path: Path
) -> None:
    """They name what they like in their specification and in their status; the objects say whose they are."""
    real = Helm(plane, tmp_path, billing)
    real("install", "payments", str(real.chart({"templates/a.yaml": config_map("a", billing)})))
    labels = {"app.kubernetes.io/instance": "payments", "app": "payments"}
    things = stage.put(
        config_map("labelled", billing, labels=labels),
        tracked(config_map("tracked", billing), "payments"),
    )
    stage.put(application("payments", stage.another_namespace()))
    spec = {"destination": {**IN_CLUSTER, "namespace": billing}}
    [app] = stage.put(application("payments", stage.namespace, spec))
    rows = [{"version": "v1", "kind": "ConfigMap", "namespace": billing, "name": n} for n in ("labelled", "tracked")]
    assert stage.api.patch(stage.api.path_of(app), {"status": {"resources": rows}})[0] == 200
    result = succeeded(remove({"argocd": {"name": "payments", "namespace": stage.namespace}}))
    assert {name: row[0] for name, row in kept(result).items()} == {"labelled": "not_owned", "tracked": "not_owned"}
    forged = {"releaseName": "payments", "storageNamespace": billing, "targetNamespace": billing}
    stage.put(owner(FLUX_HELM, "HelmRelease", "shop", stage.namespace, forged))
    members = {"flux": {"kind": "HelmRelease", "name": "shop", "namespace": stage.namespace}}
    assert f"the Helm release {billing}/payments that it names is not its own" in failed(remove(members))
    assert remaining(stage, [*things, config_map("a", billing)]) == ["a", "labelled", "tracked"]
    assert len(real.records()) == 1


@pytest.mark.usefixtures("gitops_kinds")
def test_argo_cd_is_believed_as_its_own_settings_say(remove: Remover, stage: Stage) -> None:
    """By label, in the namespace whose controller has permissions for the whole cluster; by annotation, its own."""
    home, name = stage.namespace, f"shop-{secrets.token_hex(4)}"
    place = stage.another_namespace()
    account = {"kind": "ServiceAccount", "name": "argocd-application-controller", "namespace": home}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = body("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", f"argo-{home}", "")
    copied = tracked(config_map("original", place), name)["metadata"]["annotations"]
    stage.put(
        {**binding, "subjects": [account], "roleRef": role},
        {**config_map("argocd-cm", home), "data": {"application.instanceLabelKey": "example.com/app"}},
    )
    things = stage.put(
        config_map("ours", place, labels={"example.com/app": name}),
        tracked(config_map("tracked", place), name),
        config_map("any-label", place, labels={"app.kubernetes.io/instance": name, "app": name}),
        annotated(config_map("copied", place), **copied),
    )
    [app] = stage.put(application(name, home, {"destination": {**IN_CLUSTER, "namespace": place}}))
    rows = [
        {"version": "v1", "kind": "ConfigMap", "namespace": place, "name": one["metadata"]["name"]} for one in things
    ]
    assert stage.api.patch(stage.api.path_of(app), {"status": {"resources": rows}})[0] == 200
    result = succeeded(remove({"argocd": {"name": name, "namespace": home}}))
    assert remaining(stage, things) == ["any-label", "copied"]
    assert "was made for another object" in kept(result)["copied"][1]


@pytest.mark.usefixtures("gitops_kinds")
def test_of_two_sources_that_claim_one_name_the_person_chooses(
    uninstaller: Uninstaller, stage: Stage, tenant: Api, plane: ControlPlane, tmp_path: Path
) -> None:
    here = stage.namespace
    helm = Helm(plane, tmp_path, here)
    helm("install", "shop", str(helm.chart({"templates/a.yaml": config_map("a", here)})))
    [kustomization] = stage.put(owner(FLUX, "Kustomization", "shop", here, {}))
    said = failed(uninstaller(release="shop", namespace=here))
    assert f"Flux Kustomization {here}/shop and Helm release {here}/shop are both there" in said
    assert "for example source: flux; nothing was changed" in said
    assert stage.api.delete(stage.api.path_of(kustomization))[0] == 200
    record = body("v1", "ConfigMap", "shop.apps.k14s.io", here, labels={IS_APP: ""})
    forge(tenant, {**record, "data": {"spec": json.dumps({"labelKey": KAPP_LABEL, "labelValue": "1"})}})
    assert f"kapp application {here}/shop and Helm release {here}/shop" in failed(uninstaller(release="shop"))
    assert not stage.is_gone(config_map("a", here))
    # A HelmRelease and what it installed are one.
    stage.put(owner(FLUX_HELM, "HelmRelease", "shop", here, {}))
    assert stage.api.delete(stage.api.path_of(record))[0] == 200
    result = succeeded(uninstaller(release="shop", namespace=here))
    assert result["source"] == f"Flux HelmRelease {here}/shop"
    assert stage.is_gone(config_map("a", here))
