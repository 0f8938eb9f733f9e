# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where members come from: every source of `members`, with the real helm and kapp, the other records made by hand."""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.teardown.members.inventories import applyset_id
from integration.helm import Helm
from integration.ranked import (
    RBAC,
    Remover,
    annotated,
    cluster_role,
    deletions,
    failed,
    kept,
    manifest,
    manifests,
    named,
    names,
    remaining,
    service_account,
    succeeded,
    when_waiting_for,
)
from integration.running import Result, warnings_of
from integration.stage import CLEANUP, GROUP, Body, Stage, body, config_map, crd, gadget, widget
from lab import tools
from lab.plane.audit import AuditTrail
from lab.plane.controlplane import ControlPlane

FLUX = "kustomize.toolkit.fluxcd.io"
FLUX_HELM = "helm.toolkit.fluxcd.io"


@pytest.fixture
def remove(plane: ControlPlane) -> Remover:
    return Remover(plane)


def found(result: Result) -> list[str]:
    """What `members_info` shows, as `Kind name`."""
    return sorted(f"{row['object']['kind']} {row['object']['name']}" for row in result["members"])


def unchanged_second_run(remove: Remover, members: Mapping[str, Any], **options: Any) -> Result:
    """Run again: nothing to do, nothing wrong."""
    result = succeeded(remove(members, **options))
    assert (result["changed"], result["survivors"]) == (False, [])
    return result


# -- Helm --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def helm(plane: ControlPlane, stage: Stage, tmp_path: Path) -> Helm:
    return Helm(plane, tmp_path, stage.namespace)


def plain(api_version: str, kind: str, name: str, **more: Any) -> Body:
    """As charts write it: mostly without a namespace."""
    annotations = more.pop("annotations", None)
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def release(helm: Helm, name: str = "shop", **more: Any) -> dict[str, Any]:
    return {"helm": {"release": name, "namespace": helm.namespace, **more}}


def test_a_helm_release_with_everything_in_it_goes_and_its_records_go_last(
    remove: Remover, stage: Stage, helm: Helm, audit: AuditTrail
) -> None:
    tail = secrets.token_hex(4)
    first, second = crd("Order", f"{tail}.example.com"), crd("Bill", f"{tail}.example.com")
    role = f"shop-{tail}"
    hook = {"helm.sh/hook": "post-install", "helm.sh/hook-weight": "1"}
    listed = {"apiVersion": "v1", "kind": "List", "items": [plain("v1", "ConfigMap", f"listed-{n}") for n in (1, 2)]}
    chart = helm.chart(
        {
            "crds/order.yaml": first,
            "templates/bill.yaml": second,
            "templates/map.yaml": plain("v1", "ConfigMap", "map", data={"a": "b"}),
            "templates/two.yaml": "\n---\n".join(
                json.dumps(one) for one in (plain("v1", "ServiceAccount", "shop"), cluster_role(role))
            ),
            "templates/order.yaml": plain(f"{tail}.example.com/v1", "Order", "first"),
            "templates/list.yaml": listed,
            "templates/kept.yaml": plain("v1", "Secret", "kept", annotations={"helm.sh/resource-policy": "keep"}),
            "templates/hook.yaml": plain("v1", "ConfigMap", "hook", annotations=hook),
            "charts/sub/Chart.yaml": {"apiVersion": "v2", "name": "sub", "version": "1.0.0"},
            "charts/sub/templates/map.yaml": plain("v1", "ConfigMap", "from-sub"),
        }
    )
    helm("install", "shop", str(chart))
    helm("upgrade", "shop", str(chart))
    [stranger] = stage.put(config_map("stranger", stage.namespace))
    members = release(helm)
    expected = {
        "ClusterRole": [role],
        "ConfigMap": ["from-sub", "hook", "listed-1", "listed-2", "map"],
        "CustomResourceDefinition": [f"bills.{tail}.example.com", f"orders.{tail}.example.com"],
        "Order": ["first"],
        "Secret": ["kept", "sh.helm.release.v1.shop.v1", "sh.helm.release.v1.shop.v2"],
        "ServiceAccount": ["shop"],
    }
    info = succeeded(remove.info(members))
    assert found(info) == [f"{kind} {name}" for kind, of_kind in expected.items() for name in of_kind]
    rows = {row["object"]["name"]: row for row in info["members"]}
    assert "helm.sh/resource-policy" in rows["kept"]["keep_marker"]
    assert all(row["owned"] for row in rows.values())
    assert [step["name"] for step in info["plan"]][-1] == "records"

    audit.begin_anew()
    result = succeeded(remove(members))
    order = deletions(audit, remove.user)
    assert sorted(order[-2:]) == ["sh.helm.release.v1.shop.v1", "sh.helm.release.v1.shop.v2"]
    assert sorted(order[-4:-2]) == expected["CustomResourceDefinition"]
    assert order[-5] == role
    assert order[0] == "first", "the custom resource, before anything that may be its operator"
    assert sorted(order[1:-5]) == sorted([*expected["ConfigMap"], "shop"])
    assert kept(result) == {"kept": ("keep", "Helm marker helm.sh/resource-policy: keep")}
    assert helm.records() == []
    assert helm("status", "shop", check=False).returncode != 0
    assert not stage.is_gone(stranger)
    assert "no record" in warnings_of(unchanged_second_run(remove, members))
    assert "no record" in failed(remove(members, missing="fail"))


def test_a_failed_upgrade_leaves_objects_of_two_revisions_and_both_go(
    remove: Remover, stage: Stage, helm: Helm
) -> None:
    helm("install", "shop", str(helm.chart({"templates/a.yaml": plain("v1", "ConfigMap", "before")}, folder="one")))
    bad = plain("v1", "Service", "bad", spec={"ports": [{"port": 80, "protocol": "none"}]})
    chart = helm.chart({"templates/a.yaml": plain("v1", "ConfigMap", "after"), "templates/b.yaml": bad}, folder="two")
    assert helm("upgrade", "shop", str(chart), check=False).returncode != 0
    both = [config_map(name, stage.namespace) for name in ("before", "after")]
    assert remaining(stage, both) == ["after", "before"], "helm puts the new ones before it takes the old ones away"
    succeeded(remove(release(helm)))
    assert remaining(stage, both) == []
    assert helm.records() == []


def small_release(helm: Helm, *annotated_maps: tuple[str, dict[str, str]]) -> None:
    files: dict[str, Body | str] = {"templates/a.yaml": plain("v1", "ConfigMap", "a")}
    for name, marks in annotated_maps:
        files[f"templates/{name}.yaml"] = plain("v1", "ConfigMap", name, annotations=marks)
    helm("install", "shop", str(helm.chart(files)))


@pytest.mark.parametrize("driver", ["auto", "configmap"])
def test_a_release_recorded_in_config_maps_is_read_too(remove: Remover, stage: Stage, helm: Helm, driver: str) -> None:
    helm.driver = "configmap"
    small_release(helm)
    assert helm.records() == ["sh.helm.release.v1.shop.v1"]
    succeeded(remove(release(helm, driver=driver)))
    assert helm.records() == []
    assert stage.is_gone(config_map("a", stage.namespace))


def test_the_other_driver_finds_no_record(remove: Remover, stage: Stage, helm: Helm) -> None:
    small_release(helm)
    result = succeeded(remove(release(helm, driver="configmap")))
    assert "no record" in warnings_of(result)
    assert not stage.is_gone(config_map("a", stage.namespace))


@pytest.mark.parametrize("content", ["bm90IGEgcmVsZWFzZQ==", "", "H4sIAAAA"], ids=["text", "empty", "cut gzip"])
def test_a_record_that_cannot_be_read_is_a_failure_and_nothing_is_deleted(
    remove: Remover, stage: Stage, helm: Helm, audit: AuditTrail, content: str
) -> None:
    small_release(helm)
    path = f"/api/v1/namespaces/{stage.namespace}/secrets/sh.helm.release.v1.shop.v1"
    stored = base64.b64encode(content.encode()).decode()
    assert stage.api.patch(path, {"data": {"release": stored}})[0] == 200
    said = failed(remove(release(helm)))
    assert "cannot read the record" in said
    assert "sh.helm.release.v1.shop.v1" in said
    assert audit.writes(remove.user.name) == []
    assert not stage.is_gone(config_map("a", stage.namespace))


def test_an_object_that_belongs_to_another_release_by_now_stays(remove: Remover, stage: Stage, helm: Helm) -> None:
    small_release(helm, ("adopted", {}), ("unmarked", {}))
    adopted, unmarked = config_map("adopted", stage.namespace), config_map("unmarked", stage.namespace)
    marks = {"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": "elsewhere"}
    none = dict.fromkeys(marks)
    assert stage.api.patch(stage.api.path_of(adopted), {"metadata": {"annotations": marks}})[0] == 200
    assert stage.api.patch(stage.api.path_of(unmarked), {"metadata": {"annotations": none}})[0] == 200
    info = succeeded(remove.info(release(helm)))
    assert {row["object"]["name"] for row in info["members"] if not row["owned"]} == {"adopted", "unmarked"}
    result = succeeded(remove(release(helm)))
    assert {name: verdict for name, (verdict, _reason) in kept(result).items()} == {
        "adopted": "not_owned",
        "unmarked": "not_owned",
    }
    assert "elsewhere/other" in kept(result)["adopted"][1]
    assert remaining(stage, [adopted, unmarked]) == ["adopted", "unmarked"]


def test_ownership_can_be_ignored(remove: Remover, stage: Stage, helm: Helm) -> None:
    small_release(helm)
    thing = config_map("a", stage.namespace)
    marks = {"meta.helm.sh/release-name": "other"}
    assert stage.api.patch(stage.api.path_of(thing), {"metadata": {"annotations": marks}})[0] == 200
    succeeded(remove(release(helm), ownership="ignore"))
    assert stage.is_gone(thing)


def test_an_object_adopted_between_plan_and_delete_stays(remove: Remover, stage: Stage, helm: Helm) -> None:
    """Ownership is asked for once more right before the delete."""
    small_release(helm, ("held", {}))
    held, later = config_map("held", stage.namespace), config_map("a", stage.namespace)
    assert stage.api.patch(stage.api.path_of(held), {"metadata": {"finalizers": [CLEANUP]}})[0] == 200
    marks = {"meta.helm.sh/release-name": "other"}

    def adopt() -> None:
        stage.api.patch(stage.api.path_of(later), {"metadata": {"annotations": marks}})
        stage.release(held)

    groups = [
        {"resources": [{"kind": "cm", "names": ["held"]}]},
        {"predefinedResourceGroup": "namespaced-resources"},
    ]
    result = succeeded(remove(release(helm), deletion_groups=groups, on_event=when_waiting_for(CLEANUP, adopt)))
    assert kept(result)["a"][0] == "not_owned"
    assert remaining(stage, [held, later]) == ["a"]


@pytest.mark.parametrize("on_timeout", ["fail", "continue"])
def test_the_record_stays_as_long_as_anything_of_the_release_does(
    remove: Remover, stage: Stage, helm: Helm, on_timeout: str
) -> None:
    """Without its record the rest of the release could never be found again."""
    small_release(helm, ("held", {}))
    held = config_map("held", stage.namespace)
    assert stage.api.patch(stage.api.path_of(held), {"metadata": {"finalizers": [CLEANUP]}})[0] == 200
    groups = [{"predefinedResourceGroup": "namespaced-resources", "timeout": 5}]
    result = remove(release(helm), deletion_groups=groups, on_timeout=on_timeout)
    stage.release(held)
    assert bool(result.get("failed")) is (on_timeout == "fail")
    assert names(result["survivors"]) == ["held"]
    assert helm.records() == ["sh.helm.release.v1.shop.v1"]
    succeeded(remove(release(helm)))
    assert helm.records() == []


def test_definitions_of_the_chart_stay_when_no_step_takes_definitions(
    remove: Remover, stage: Stage, helm: Helm
) -> None:
    definition = crd("Order", f"{secrets.token_hex(4)}.example.com")
    helm("install", "shop", str(helm.chart({"crds/order.yaml": definition})))
    rules = [{"deletionRank": 300, "skip": True}]
    result = succeeded(remove(release(helm), deletion_order_rules=rules))
    name = definition["metadata"]["name"]
    assert names(result["unmatched"]) == [name]
    assert not stage.is_gone(definition)
    assert helm.records() == []
    stage.api.delete(stage.api.path_of(definition))


def test_pruning_a_release_keeps_its_record_and_what_is_desired(remove: Remover, stage: Stage, helm: Helm) -> None:
    small_release(helm, ("b", {}), ("c", {}))
    desired = [plain("v1", "ConfigMap", "b"), config_map("c", stage.namespace)]
    result = succeeded(remove(release(helm), state="pruned", desired=desired))
    assert remaining(stage, [config_map(name, stage.namespace) for name in "abc"]) == ["b", "c"]
    assert helm.records() == ["sh.helm.release.v1.shop.v1"]
    assert result["counts"]["deleted"] == 1
    unchanged_second_run(remove, release(helm), state="pruned", desired=desired)


# -- kapp --------------------------------------------------------------------------------------------------------------


class Kapp:
    def __init__(self, plane: ControlPlane, directory: Path, namespace: str) -> None:
        self._program = tools.ensure(["kapp"])["kapp"]
        self._kubeconfig = plane.admin.kubeconfig
        self._directory = directory
        self.namespace = namespace

    def deploy(self, app: str, *things: Body) -> None:
        file = self._directory / f"{app}.yml"
        file.write_text("\n---\n".join(json.dumps(thing) for thing in things))
        self("deploy", "--yes", "--app", app, "--file", str(file))

    def __call__(self, *arguments: str) -> str:
        command = [str(self._program), *arguments, "--namespace", self.namespace]
        command += ["--kubeconfig", str(self._kubeconfig)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def kapp(plane: ControlPlane, stage: Stage, tmp_path: Path) -> Kapp:
    return Kapp(plane, tmp_path, stage.namespace)


def test_a_kapp_application_goes_with_its_records_last_and_its_orphans_stay(
    remove: Remover, stage: Stage, kapp: Kapp, audit: AuditTrail
) -> None:
    here, tail = stage.namespace, secrets.token_hex(4)
    definition = crd("Order", f"{tail}.example.com")
    orphan = annotated(config_map("orphan", here), **{"kapp.k14s.io/delete-strategy": "orphan"})
    kapp.deploy(
        "shop",
        manifest(config_map("map", here)),
        manifest(orphan),
        {**cluster_role(f"role-{tail}"), "metadata": {"name": f"role-{tail}"}},
        {**definition, "metadata": {"name": definition["metadata"]["name"]}},
        {"apiVersion": f"{tail}.example.com/v1", "kind": "Order", "metadata": {"name": "first", "namespace": here}},
    )
    members = {"kapp": {"app": "shop", "namespace": here}}
    info = succeeded(remove.info(members))
    shown = found(info)
    assert {"ConfigMap map", "ConfigMap orphan", f"ClusterRole role-{tail}", "Order first"} <= set(shown)
    assert f"CustomResourceDefinition {definition['metadata']['name']}" in shown
    assert "ConfigMap shop.apps.k14s.io" in shown or "ConfigMap shop" in shown
    audit.begin_anew()
    result = succeeded(remove(members))
    order = deletions(audit, remove.user)
    assert order[0] == "first"
    records = order[order.index(definition["metadata"]["name"]) + 1 :]
    assert records
    assert all(name.startswith("shop") for name in records)
    assert kept(result)["orphan"][0] == "keep"
    _status, listed = stage.api.get(f"/api/v1/namespaces/{here}/configmaps")
    assert sorted({item["metadata"]["name"] for item in listed["items"]} - {"kube-root-ca.crt"}) == ["orphan"]
    assert json.loads(kapp("list", "--json"))["Tables"][0]["Rows"] in (None, [])
    assert "no record" in warnings_of(unchanged_second_run(remove, members))


def test_an_object_that_lost_the_label_of_its_kapp_application_stays(remove: Remover, stage: Stage, kapp: Kapp) -> None:
    kapp.deploy("shop", manifest(config_map("a", stage.namespace)), manifest(config_map("b", stage.namespace)))
    lost = config_map("b", stage.namespace)
    none = {"kapp.k14s.io/app": None, "kapp.k14s.io/association": None}
    assert stage.api.patch(stage.api.path_of(lost), {"metadata": {"labels": none}})[0] == 200
    succeeded(remove({"kapp": {"app": "shop", "namespace": stage.namespace}}))
    assert remaining(stage, [config_map("a", stage.namespace), lost]) == ["b"]


def test_pruning_a_kapp_application_keeps_what_is_desired_and_the_record(
    remove: Remover, stage: Stage, kapp: Kapp
) -> None:
    made = [manifest(config_map(name, stage.namespace)) for name in ("stays", "goes")]
    kapp.deploy("shop", *made)
    members = {"kapp": {"app": "shop", "namespace": stage.namespace}}
    succeeded(remove(members, state="pruned", desired=made[:1]))
    assert remaining(stage, made) == ["stays"]
    assert "shop" in kapp("list", "--json")


def test_a_broken_kapp_record_is_a_failure(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    record = body("v1", "ConfigMap", "shop.apps.k14s.io", stage.namespace, labels={"kapp.k14s.io/is-app": ""})
    stage.put({**record, "data": {"spec": '{"labelKey": "kapp.k14s.io/app"}'}})
    assert "cannot read the record" in failed(remove({"kapp": {"app": "shop", "namespace": stage.namespace}}))
    assert audit.writes(remove.user.name) == []


# -- manifests, references, labels -------------------------------------------------------------------------------------


def yaml_of(*things: Body) -> str:
    return "\n---\n".join(json.dumps(manifest(thing), indent=1) for thing in things)


def test_manifests_come_from_files_directories_globs_text_and_mappings(
    remove: Remover, stage: Stage, tmp_path: Path
) -> None:
    here = stage.namespace
    made = stage.put(*(config_map(f"map-{n}", here) for n in range(9)), config_map("not-named", here))
    (tmp_path / "one.yaml").write_text(yaml_of(made[0], made[1]))
    (tmp_path / "dir" / "deep").mkdir(parents=True)
    (tmp_path / "dir" / "two.yml").write_text("# nothing but a comment\n---\n" + yaml_of(made[2]))
    (tmp_path / "dir" / "deep" / "three.json").write_text(json.dumps(manifest(made[3])))
    (tmp_path / "dir" / "README.md").write_text("kind: not a manifest")
    (tmp_path / "glob-a.yaml").write_text(yaml_of(made[4]))
    (tmp_path / "glob-b.yaml").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [manifest(made[5]), manifest(made[6])]})
    )
    sources: list[Any] = [
        str(tmp_path / "one.yaml"),
        str(tmp_path / "dir"),
        str(tmp_path / "glob-*.yaml"),
        yaml_of(made[7]) + "\n---\n",
        manifest(made[8]),
    ]
    result = succeeded(remove({"manifests": sources}))
    assert remaining(stage, made) == ["not-named"]
    assert result["counts"]["deleted"] == 9
    unchanged_second_run(remove, {"manifests": sources})


def test_objects_without_a_namespace_are_taken_from_the_one_that_is_given(remove: Remover, stage: Stage) -> None:
    made = stage.put(config_map("map", stage.namespace), gadget(f"gadget-{stage.namespace}"))
    bare = [{**manifest(one), "metadata": {"name": one["metadata"]["name"]}} for one in made]
    elsewhere = succeeded(remove({"manifests": bare[:1]}, check_mode=True))
    assert elsewhere["changed"] is False, "without a word it is the namespace default"
    succeeded(remove({"manifests": {"sources": bare, "namespace": stage.namespace}}))
    assert remaining(stage, made) == []


def test_a_path_without_any_manifest_is_a_mistake(remove: Remover, tmp_path: Path) -> None:
    for source in (tmp_path / "nowhere.yaml", tmp_path):
        assert f"no manifest at {source}" in failed(remove({"manifests": [str(source)]}))


def test_a_manifest_that_is_no_yaml_is_a_mistake_with_its_place(remove: Remover, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("kind: [unclosed")
    assert str(file) in failed(remove({"manifests": [str(file)]}))


def test_an_object_with_a_generated_name_cannot_be_found_again_and_is_told(remove: Remover, stage: Stage) -> None:
    nameless = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "map-"}}
    result = succeeded(remove({"manifests": [nameless]}))
    assert "without a name" in warnings_of(result)


def test_an_empty_list_is_no_object_without_a_name(remove: Remover, stage: Stage) -> None:
    result = succeeded(remove({"manifests": [{"apiVersion": "v1", "kind": "List", "items": []}]}))
    assert (result["changed"], warnings_of(result)) == (False, "")


def test_an_object_in_a_namespace_that_is_gone_is_gone(remove: Remover) -> None:
    result = unchanged_second_run(remove, named(config_map("a", "no-such-namespace")))
    assert result["counts"]["gone"] == 1


def test_references_take_both_spellings_and_any_name_of_a_kind(remove: Remover, stage: Stage) -> None:
    here = stage.namespace
    made = stage.put(config_map("a", here), widget("b", here), widget("c", here), gadget(f"d-{here}"))
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": here, "name": "a"},
        {"api_version": f"{GROUP}/v1beta1", "kind": "Widget", "namespace": here, "name": "b"},
        {"kind": f"widgets.{GROUP}", "namespace": here, "name": "c"},
        {"kind": "gadget", "name": f"d-{here}"},
    ]
    succeeded(remove({"objects": objects}))
    assert remaining(stage, made) == []


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"objects": [{"kind": "ConfigMap"}]}, "members.objects[0].name"),
        ({"objects": [{"name": "a"}]}, "members.objects[0].kind"),
        ({"objects": [{"kind": "ConfigMpa", "name": "a"}]}, "did you mean ConfigMap"),
        ({"selector": {}}, "label_selector or kinds"),
        ({"selector": {"label_selector": "a in b"}}, "a in b"),
        ({}, "exactly one of"),
        ({"namespace": "default", "objects": []}, "exactly one of"),
        ({"namespace": ""}, "namespace"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_members_are_refused_before_anything_is_written(
    remove: Remover, audit: AuditTrail, members: dict[str, Any], said: str
) -> None:
    assert said in failed(remove(members))
    assert audit.writes(remove.user.name) == []


def test_a_selector_without_kinds_looks_through_every_kind(remove: Remover, stage: Stage) -> None:
    here, there, label = stage.namespace, stage.another_namespace(), {"shop": secrets.token_hex(4)}
    made = stage.put(
        config_map("a", here, labels=label),
        widget("b", there, labels=label),
        body(f"{RBAC}/v1", "ClusterRole", f"c-{here}", "", labels=label),
        body("coordination.k8s.io/v1", "Lease", "transient", here, labels=label),
        config_map("unlabelled", here),
    )
    result = succeeded(remove({"selector": {"label_selector": f"shop={label['shop']}"}}))
    assert remaining(stage, made) == ["transient", "unlabelled"]
    assert [step["deleted"] for step in result["steps"]] == [2, 1, 0]


def test_a_selector_takes_kinds_in_namespaces_only(remove: Remover, stage: Stage) -> None:
    here, there = stage.namespace, stage.another_namespace()
    made = stage.put(widget("a", here), widget("b", there), config_map("c", here))
    succeeded(remove({"selector": {"kinds": [f"widgets.{GROUP}"], "namespaces": [here]}}))
    assert remaining(stage, made) == ["b", "c"]


def test_pruning_by_a_selector_keeps_what_is_desired(remove: Remover, stage: Stage) -> None:
    label = {"shop": secrets.token_hex(4)}
    made = stage.put(*(config_map(name, stage.namespace, labels=label) for name in ("stays", "goes")))
    members = {"selector": {"label_selector": f"shop={label['shop']}", "kinds": ["ConfigMap"]}}
    succeeded(remove(members, state="pruned", desired=manifests(made[0])["manifests"]))
    assert remaining(stage, made) == ["stays"]


# -- records of other deployers ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def foreign_kinds(plane: ControlPlane) -> None:
    for kind, group in (("Kustomization", FLUX), ("HelmRelease", FLUX_HELM)):
        plane.api.apply_crd(crd(kind, group))


def with_status(stage: Stage, thing: Body, status: Body) -> Body:
    [made] = stage.put(thing)
    answer = stage.api.patch(stage.api.path_of(thing) + "/status", {"status": status})
    assert answer[0] == 200, answer
    return made


def inventory_ids(things: Iterable[Body]) -> list[str]:
    """`namespace_name_group_kind`, the way Flux and cli-utils write it."""
    ids = []
    for thing in things:
        group, _slash, _version = thing["apiVersion"].rpartition("/")
        name = thing["metadata"]["name"].replace(":", "__")
        ids.append(f"{thing['metadata'].get('namespace', '')}_{name}_{group}_{thing['kind']}")
    return ids


def test_a_flux_kustomization_lists_its_members_in_its_inventory(
    remove: Remover, stage: Stage, foreign_kinds: None
) -> None:
    here = stage.namespace
    labels = {f"{FLUX}/name": "shop", f"{FLUX}/namespace": here}
    made = stage.put(
        config_map("map", here, labels=labels),
        body(f"{RBAC}/v1", "ClusterRole", f"{here}:viewer", "", labels=labels),
        config_map("taken-over", here, labels={**labels, f"{FLUX}/name": "other"}),
        annotated(config_map("unpruned", here, labels=labels), **{f"{FLUX}/prune": "disabled"}),
    )
    [bystander] = stage.put(config_map("bystander", here, labels=labels))
    entries = [{"id": identity, "v": "v1"} for identity in inventory_ids(made)]
    record = body(f"{FLUX}/v1", "Kustomization", "shop", here)
    with_status(stage, record, {"inventory": {"entries": entries}})
    members = {"flux": {"name": "shop", "namespace": here}}
    result = succeeded(remove(members))
    assert remaining(stage, [*made, bystander]) == ["bystander", "taken-over", "unpruned"]
    assert {name: verdict for name, (verdict, _reason) in kept(result).items()} == {
        "taken-over": "not_owned",
        "unpruned": "keep",
    }
    unchanged_second_run(remove, members)


def test_a_flux_kustomization_that_is_not_there_is_nothing_to_do(
    remove: Remover, stage: Stage, foreign_kinds: None
) -> None:
    members = {"flux": {"name": "nobody", "namespace": stage.namespace}}
    assert "there is no Flux Kustomization" in warnings_of(unchanged_second_run(remove, members))


def test_an_unreadable_flux_inventory_is_a_failure(
    remove: Remover, stage: Stage, foreign_kinds: None, audit: AuditTrail
) -> None:
    record = body(f"{FLUX}/v1", "Kustomization", "shop", stage.namespace)
    with_status(stage, record, {"inventory": {"entries": [{"id": "gibberish", "v": "v1"}]}})
    assert "gibberish" in failed(remove({"flux": {"name": "shop", "namespace": stage.namespace}}))
    assert audit.writes(remove.user.name) == []


def test_a_flux_helm_release_leads_to_the_release_behind_it(
    remove: Remover, stage: Stage, helm: Helm, foreign_kinds: None
) -> None:
    small_release(helm)
    spec = {"releaseName": "shop", "storageNamespace": stage.namespace}
    stage.put(body(f"{FLUX_HELM}/v1", "HelmRelease", "from-flux", stage.namespace, spec=spec))
    members = {"flux": {"kind": "HelmRelease", "name": "from-flux", "namespace": stage.namespace}}
    succeeded(remove(members))
    assert stage.is_gone(config_map("a", stage.namespace))
    assert helm.records() == []


def test_an_applyset_names_its_kinds_and_marks_its_members(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here, identity = stage.namespace, applyset_id("shop", stage.namespace, "Secret")
    part = {"applyset.kubernetes.io/part-of": identity}
    made = stage.put(
        config_map("a", here, labels=part),
        widget("b", here, labels=part),
        service_account("other-kind", here),
        config_map("c", here),
    )
    marks = {
        "applyset.kubernetes.io/contains-group-kinds": f"ConfigMap,Widget.{GROUP}",
        "applyset.kubernetes.io/tooling": "kubectl/v1.35",
    }
    parent = body("v1", "Secret", "shop", here, labels={"applyset.kubernetes.io/id": identity})
    [record] = stage.put(annotated(parent, **marks))
    audit.begin_anew()
    succeeded(remove({"applyset": {"name": "shop", "namespace": here}}))
    assert remaining(stage, [*made, record]) == ["c", "other-kind"]
    assert deletions(audit, remove.user) == ["b", "a", "shop"]


def test_a_cli_utils_inventory_lists_its_members(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    here = stage.namespace
    mine = {"config.k8s.io/owning-inventory": "id-1"}
    made = stage.put(
        annotated(config_map("a", here), **mine),
        annotated(widget("detached", here), **mine, **{"client.lifecycle.config.k8s.io/deletion": "detach"}),
        annotated(config_map("other", here), **{"config.k8s.io/owning-inventory": "id-2"}),
        config_map("nobodys", here),
    )
    inventory = body("v1", "ConfigMap", "inventory", here, labels={"cli-utils.sigs.k8s.io/inventory-id": "id-1"})
    [record] = stage.put({**inventory, "data": dict.fromkeys(inventory_ids(made), "")})
    audit.begin_anew()
    result = succeeded(remove({"inventory": {"name": "inventory", "namespace": here}}))
    assert remaining(stage, [*made, record]) == ["detached", "nobodys", "other"]
    assert {name: verdict for name, (verdict, _reason) in kept(result).items()} == {
        "detached": "keep",
        "nobodys": "not_owned",
        "other": "not_owned",
    }
    assert deletions(audit, remove.user) == ["a", "inventory"]


# -- a whole namespace -------------------------------------------------------------------------------------------------


def test_a_sweep_takes_the_contents_and_leaves_the_namespace(remove: Remover, stage: Stage) -> None:
    here = stage.another_namespace()
    made = stage.put(
        config_map("a", here),
        widget("b", here),
        body("v1", "Secret", "c", here),
        body("coordination.k8s.io/v1", "Lease", "lease", here),
        annotated(config_map("kept", here), **{"sunset.dev/keep": "true"}),
    )
    result = succeeded(remove({"namespace": here}))
    assert remaining(stage, made) == ["kept", "lease"]
    assert {"kube-root-ca.crt", "default"} <= set(kept(result))
    assert stage.api.get(f"/api/v1/namespaces/{here}")[1]["status"]["phase"] == "Active"
    unchanged_second_run(remove, {"namespace": here})


@pytest.mark.parametrize(
    "options",
    [
        {"delete_namespace": True},
        {
            "deletion_order_rules": [
                {"deletionRank": 150, "types": [{"group": "", "version": "v1", "kind": "namespace"}]}
            ]
        },
    ],
    ids=["by option", "by a rule"],
)
def test_a_sweep_takes_the_namespace_too_when_told_so(
    remove: Remover, stage: Stage, audit: AuditTrail, options: dict[str, Any]
) -> None:
    here = stage.another_namespace()
    made = stage.put(config_map("a", here), widget("b", here))
    result = succeeded(remove({"namespace": here}, **options))
    assert remaining(stage, made) == []
    assert deletions(audit, remove.user) == ["b", "a", here]
    assert stage.api.get(f"/api/v1/namespaces/{here}")[0] == 404
    assert result["survivors"] == []
    assert "there is no namespace" in warnings_of(unchanged_second_run(remove, {"namespace": here}, **options))


def test_a_kept_object_in_a_swept_namespace_stops_the_deletion_of_the_namespace(
    remove: Remover, stage: Stage, audit: AuditTrail
) -> None:
    here = stage.another_namespace()
    stage.put(annotated(config_map("treasure", here), **{"sunset.dev/keep": "true"}), config_map("dust", here))
    assert "treasure" in failed(remove({"namespace": here}, delete_namespace=True))
    assert audit.writes(remove.user.name) == []


def test_members_info_reads_only_and_shows_what_is_missing(remove: Remover, stage: Stage, audit: AuditTrail) -> None:
    made = stage.put(config_map("here", stage.namespace, "a.example.com/finalizer"))
    lost = config_map("lost", stage.namespace)
    info = succeeded(remove.info(named(*made, lost)))
    assert info["changed"] is False
    [row] = info["members"]
    assert (row["finalizers"], row["owned"], row["keep_marker"]) == (["a.example.com/finalizer"], True, "")
    assert [row["name"] for row in info["absent"]] == ["lost"]
    assert audit.writes(remove.user.name) == []
    checked = succeeded(remove(named(*made, lost), check_mode=True))
    assert checked["plan_hash"] == info["plan_hash"]
    assert checked["plan"] == info["plan"]
