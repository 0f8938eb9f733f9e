# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bringing back: the order, what has to be taken off an object, and bundles that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.sunset.kube.plugins.module_utils.clock import StopSign
from ansible_collections.sunset.kube.plugins.module_utils.evidence.bundle import read_bundle, sealed_secrets
from ansible_collections.sunset.kube.plugins.module_utils.problems import BadOption, Refused, TimedOut
from ansible_collections.sunset.kube.plugins.module_utils.teardown.undo import Bundle, Undo, layers_of
from ansible_collections.sunset.kube.plugins.module_utils.teardown.undo_items import (
    VOLUMES,
    as_it_can_come_back,
    without_cluster_address,
)
from ansible_collections.sunset.kube.tests.unit.fake_api_server import FakeServer
from ansible_collections.sunset.kube.tests.unit.fakes import NAMESPACES, Told, cluster_on, named
from ansible_collections.sunset.kube.tests.unit.teardown.ranked_fakes import CONFIG_MAPS, InMemoryCluster


def item(kind: str, name: str = "x", api_version: str = "v1", **other: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}, **other}


DEFINITION = item("CustomResourceDefinition", "widgets.example.com", "apiextensions.k8s.io/v1")


def test_homes_and_definitions_come_first_then_secrets_then_steps_from_the_last_to_the_first() -> None:
    steps = [
        ("users", [item("Widget", "w1", "example.com/v1"), item("Widget", "w2", "example.com/v1")]),
        ("definitions", [DEFINITION]),
        ("rest", [item("ConfigMap", "a"), item("ConfigMap", "b"), item("Namespace", "shop")]),
    ]
    found = [
        (name, [one["metadata"]["name"] for one in items]) for name, items in layers_of(Bundle(steps, [item("Secret")]))
    ]
    assert found == [
        ("Namespaces", ["shop"]),
        ("CustomResourceDefinitions", ["widgets.example.com"]),
        ("Secrets", ["x"]),
        ("rest", ["b", "a"]),
        ("users", ["w2", "w1"]),
    ]


def test_a_job_comes_back_without_the_marks_of_its_former_life_unless_they_were_chosen_by_hand() -> None:
    labels = {"controller-uid": "u", "batch.kubernetes.io/job-name": "x", "app": "shop"}
    spec = {"selector": {"matchLabels": {"controller-uid": "u"}}, "template": {"metadata": {"labels": labels}}}
    back, remark = as_it_can_come_back(item("Job", spec=spec), cluster_on(FakeServer()))
    assert back["spec"] == {"template": {"metadata": {"labels": {"app": "shop"}}}}
    assert remark == "Job shop/x: it runs once more"
    by_hand = {**spec, "manualSelector": True}
    assert as_it_can_come_back(item("Job", spec=by_hand), cluster_on(FakeServer()))[0]["spec"] == by_hand
    assert spec["selector"]


def test_a_claim_whose_volume_is_there_waits_for_it_and_does_not_call_itself_bound() -> None:
    cluster = InMemoryCluster(VOLUMES)
    cluster.add(VOLUMES, "pv1", "")
    claim = item("PersistentVolumeClaim", spec={"volumeName": "pv1"})
    binding = ("pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller")
    claim["metadata"]["annotations"] = {**dict.fromkeys(binding, "yes"), "mine": "1"}
    back, remark = as_it_can_come_back(claim, cluster)
    assert back["spec"] == {"volumeName": "pv1"}
    assert back["metadata"]["annotations"] == {"mine": "1"}
    assert "kubectl patch pv pv1" in remark


def test_a_claim_whose_volume_is_gone_says_that_its_data_is() -> None:
    claim = item("PersistentVolumeClaim", spec={"volumeName": "pv1", "storageClassName": "fast"})
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes", "mine": "1"}
    back, remark = as_it_can_come_back(claim, cluster_on(FakeServer()))
    assert back["spec"] == {"storageClassName": "fast"}
    assert back["metadata"]["annotations"] == {"mine": "1"}
    assert "gone with all data" in remark


ADDRESSES = {
    "an address": ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": []}, {"ports": []}),
    "headless": ({"clusterIP": "None"}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize(("spec", "left"), named(ADDRESSES))
def test_a_service_can_take_another_address(spec: dict[str, Any], left: dict[str, Any] | None) -> None:
    found = without_cluster_address(item("Service", spec=spec))
    assert (found and found["spec"]) == left


def bundle_in(folder: Path, content: Any) -> Path:
    (folder / "undo").mkdir()
    (folder / "undo" / "01-first-step.json").write_text(json.dumps(content))
    return folder


def test_a_bundle_is_read_with_its_uids_from_the_run_or_from_its_undo_folder(tmp_path: Path) -> None:
    folder = bundle_in(tmp_path, {"apiVersion": "v1", "kind": "List", "items": [item("ConfigMap", "a")]})
    (folder / "undo" / "left-out.txt").write_text("Secret shop/x: not kept\n")
    ref = {"kind": "ConfigMap", "namespace": "shop", "name": "a", "uid": "u1"}
    (folder / "plan.json").write_text(json.dumps({"steps": [{"objects": [{"object": ref}]}]}))
    for path in (folder, folder / "undo"):
        found = read_bundle(str(path), None)
        assert [(name, [one["metadata"]["name"] for one in items]) for name, items in found.steps] == [
            ("first-step", ["a"])
        ]
        assert (found.left_out, found.uids) == (["Secret shop/x: not kept"], {("ConfigMap", "shop", "a"): "u1"})
    assert sealed_secrets(str(folder)) == ""
    (folder / "undo" / "secrets.vault").write_text("x")
    assert sealed_secrets(str(folder)) == str(folder / "undo" / "secrets.vault")


BROKEN = {
    "no list": {"items": "x"},
    "no objects": {"items": [{"kind": "ConfigMap"}]},
    "no name": {"items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}]},
    "another document": [1],
}


@pytest.mark.parametrize("content", named(BROKEN))
def test_a_broken_bundle_is_named_with_its_file(tmp_path: Path, content: Any) -> None:
    with pytest.raises(BadOption, match=r"01-first-step\.json"):
        read_bundle(str(bundle_in(tmp_path, content)), None)


# -- a whole undo ------------------------------------------------------------------------------------------------------

TRINKETS = {
    **item("CustomResourceDefinition", "trinkets.example.com", "apiextensions.k8s.io/v1"),
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Trinket", "plural": "trinkets"},
        "versions": [{"name": "v1"}],
    },
}


def undone(cluster: InMemoryCluster, bundle: Bundle) -> Undo:
    return Undo(bundle, cluster, cluster.clock, StopSign(), Told(), timeout=5, dry_run=False)


@pytest.mark.parametrize("missing", ["deployments", "trinkets"], ids=["served", "to be defined again"])
def test_a_right_that_is_missing_for_the_last_layer_stops_it_before_the_first(missing: str) -> None:
    cluster = InMemoryCluster()
    cluster.forbidden.add(("create", missing))
    steps = [
        ("users", [item("Deployment", "web", "apps/v1"), item("Trinket", "t", "example.com/v1")]),
        ("rest", [item("ConfigMap", "settings")]),
        ("definitions", [TRINKETS]),
    ]
    with pytest.raises(Refused, match=f"to create {missing}"):
        undone(cluster, Bundle(steps)).run()
    assert cluster.log == []


def test_whoever_waits_for_a_namespace_is_told_how_to_find_out_why() -> None:
    cluster = InMemoryCluster()
    cluster.add(NAMESPACES, "shop", "", deleted=True, finalizers=["kubernetes"])
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    with pytest.raises(TimedOut) as over:
        undone(cluster, Bundle([("homes", [home])])).run()
    assert "ansible-playbook sunset.kube.explain -e namespace=shop" in over.value.next_step


@pytest.mark.parametrize("going", [False, True], ids=["there", "on its way out"])
def test_what_is_still_being_deleted_is_not_taken_for_back(going: bool) -> None:
    cluster = InMemoryCluster()
    cluster.add(CONFIG_MAPS, "settings", deleted=going, finalizers=["example.com/hold"])
    outcome = undone(cluster, Bundle([("rest", [item("ConfigMap", "settings")])])).run()
    assert [str(ref) for ref in outcome.there] == ["ConfigMap shop/settings"] * (not going)
    assert [str(ref) for ref, _why in outcome.lost] == ["ConfigMap shop/settings"] * going
    for _ref, why in outcome.lost:
        assert "still being deleted" in why
        assert "sunset.kube.explain -e kind=ConfigMap -e name=settings -e namespace=shop" in why


def test_a_run_that_kept_nothing_has_an_empty_bundle(tmp_path: Path) -> None:
    """It only planned, or found nothing to do: the task then names the run before."""
    with pytest.raises(BadOption, match="no undo bundle in"):
        read_bundle(str(tmp_path), None)
    (tmp_path / "result.json").write_text("{}")
    for path in (tmp_path, tmp_path / "undo"):
        assert read_bundle(str(path), None).is_empty


def test_a_bundle_without_objects_is_empty() -> None:
    assert Bundle([("first", [])]).is_empty
    assert not Bundle([("first", [item("ConfigMap")])]).is_empty
    assert not Bundle([], [item("Secret")]).is_empty
