# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run deleted comes back from its bundle: homes, definitions and Secrets first, and nothing twice."""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.running import PlayRun, playing, run_playbook, warnings_of
from integration.stage import CRDS
from lab.plane.controlplane import ControlPlane
from lab.waiting import until

WORD = "a-word-nobody-may-read"
PASSWORD = "open sesame"


@pytest.fixture
def home(plane: ControlPlane) -> Iterator[str]:
    """A namespace that is deleted and comes back."""
    name = f"shop-{uuid.uuid4().hex[:8]}"
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "a"}}})
    yield name
    run(plane, {"sunset.kube.ranked_delete": {"members": {"namespace": {"name": name}}, "delete_namespace": True}})


@pytest.fixture
def group(plane: ControlPlane) -> Iterator[str]:
    """A definition that is deleted and comes back."""
    name = f"g{uuid.uuid4().hex[:8]}.example.com"
    plane.api.apply_crd(definition(name))
    yield name
    path = f"{CRDS}/trinkets.{name}"
    plane.api.delete(path)
    until(lambda: plane.api.get(path)[0] == 404, "the definition to go")


@pytest.fixture
def volume(plane: ControlPlane) -> Iterator[str]:
    """A volume that keeps its data when its claim is gone."""
    name = f"pv-{uuid.uuid4().hex[:8]}"
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/nowhere"},
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
    }
    made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
    plane.api.create(made)
    yield name
    plane.api.delete(plane.api.path_of(made))


def definition(group: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Trinket", "plural": "trinkets", "singular": "trinket", "listKind": "TrinketList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"trinkets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def run(plane: ControlPlane, task: dict[str, Any], **how: Any) -> PlayRun:
    return run_playbook([task], plane.admin.kubeconfig, **how)


def deleted(plane: ControlPlane, folder: Path, objects: list[dict[str, Any]]) -> Path:
    task = {
        "members": {"objects": objects},
        "evidence_dir": str(folder),
        "undo_vault_password": PASSWORD,
        "timeout": 90,
    }
    done = run(plane, {"sunset.kube.ranked_delete": task})
    assert done.rc == 0, done.stdout
    return Path(done.result["evidence"])


def now(plane: ControlPlane, api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    """An object, or nothing."""
    named = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
    status, found = plane.api.get(plane.api.path_of(named))
    return {} if status == 404 else found


def names(rows: list[dict[str, Any]]) -> set[str]:
    return {f"{row['object']['kind']} {row['object']['name']}" for row in rows}


def furnish(plane: ControlPlane, home: str, group: str) -> list[dict[str, Any]]:
    """Objects of every kind that needs care; the bundle's order is the deletion's."""
    inside = {"namespace": home}
    template = {"metadata": {"labels": {"app": "shop"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    job = {"metadata": {}, "spec": {**template["spec"], "restartPolicy": "Never"}}
    made = [
        {"apiVersion": f"{group}/v1", "kind": "Trinket", "metadata": {"name": "w", **inside}, "spec": {"size": 3}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", **inside}, "stringData": {"w": WORD}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", **inside}, "data": {"a": "b"}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", **inside},
            "spec": {"ports": [{"port": 80}], "selector": {"app": "shop"}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", **inside},
            "spec": {"selector": {"matchLabels": {"app": "shop"}}, "template": template},
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once", **inside}, "spec": {"template": job}},
    ]
    for item in made:
        plane.api.create(item)
    listed = [{"api_version": one["apiVersion"], "kind": one["kind"], **one["metadata"]} for one in made]
    return [
        *listed,
        {"kind": "CustomResourceDefinition", "name": f"trinkets.{group}"},
        {"kind": "Namespace", "name": home},
    ]


@pytest.mark.quick
def test_all_of_it_comes_back_as_it_was_and_only_once(
    plane: ControlPlane, home: str, group: str, tmp_path: Path
) -> None:
    bundle = deleted(plane, tmp_path, furnish(plane, home, group))
    undo = {"sunset.kube.undo": {"bundle": str(bundle), "undo_vault_password": PASSWORD, "evidence_dir": str(tmp_path)}}

    tried = run(plane, undo, check=True, diff=True)
    assert tried.rc == 0, tried.stdout
    wanted = {
        "Trinket w", "Secret login", "ConfigMap settings", "Service web", "Deployment web", "Job once",
        f"CustomResourceDefinition trinkets.{group}", f"Namespace {home}",
    }  # fmt: skip
    assert names(tried.result["restored"]) == wanted
    assert tried.result["changed"]
    assert now(plane, "v1", "Namespace", home) == {}

    done = run(plane, undo, extra_args=["-vvv"])
    assert done.rc == 0, done.stdout
    assert names(done.result["restored"]) == wanted
    assert done.result["lost"] == []
    for row in done.result["restored"]:
        assert row["old_uid"] != row["object"]["uid"] or row["object"]["kind"] == "Secret"
    secret = now(plane, "v1", "Secret", "login", home)
    assert secret["data"] == {"w": base64.b64encode(WORD.encode()).decode()}
    assert now(plane, f"{group}/v1", "Trinket", "w", home)["spec"] == {"size": 3}
    assert now(plane, "v1", "Namespace", home)["metadata"]["labels"]["team"] == "a"
    assert "runs once more" in done.stdout
    secrets = (WORD, base64.b64encode(WORD.encode()).decode(), PASSWORD)
    texts = [done.stdout, json.dumps(done.result)]
    texts += [file.read_text() for file in Path(done.result["evidence"]).rglob("*") if file.is_file()]
    assert not any(word in text for text in texts for word in secrets)

    again = run(plane, undo)
    assert again.rc == 0, again.stdout
    assert (again.result["changed"], again.result["restored"]) == (False, [])
    assert len(again.result["existing"]) == len(wanted)


def test_a_run_that_was_killed_can_be_undone(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    """The bundle is there before the first delete, Secrets encrypted."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": namespace}}
    held = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": namespace, "finalizers": ["example.com/hold"]},
    }
    plane.api.create({**secret, "stringData": {"w": WORD}}, held)
    path = f"/api/v1/namespaces/{namespace}/configmaps/held"
    objects = [
        {"kind": thing["kind"], "name": thing["metadata"]["name"], "namespace": namespace} for thing in (secret, held)
    ]
    task = {"members": {"objects": objects}, "evidence_dir": str(tmp_path), "undo_vault_password": PASSWORD}
    with playing([{"sunset.kube.ranked_delete": task}], plane.admin.kubeconfig) as play:
        play.until(lambda: plane.api.get(path)[1]["metadata"].get("deletionTimestamp"), "the first delete")
        play.until(lambda: now(plane, "v1", "Secret", "login", namespace) == {}, "the Secret to be gone")
        play.kill()
    plane.api.patch(path, {"metadata": {"finalizers": None}})
    bundle = tmp_path / "latest"
    written = [file.read_text() for file in bundle.rglob("*") if file.is_file()]
    assert not any(WORD in text or base64.b64encode(WORD.encode()).decode() in text for text in written)
    undo = {"bundle": str(bundle), "undo_vault_password": PASSWORD}
    done = run(plane, {"sunset.kube.undo": undo})
    assert done.rc == 0, done.stdout
    assert names(done.result["restored"]) == {"Secret login", "ConfigMap held"}


def test_a_run_that_went_on_names_the_folders_before_and_an_empty_one_is_an_error(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    inside = {"namespace": namespace}
    first, second = (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **inside}} for name in ("first", "second")
    )
    plane.api.create(first, {**second, "metadata": {**second["metadata"], "finalizers": ["example.com/hold"]}})
    wanted = {"manifests": [first, second], "evidence_dir": str(tmp_path), "fail_fast": False, **inside}
    stopped = run(plane, {"sunset.kube.uninstall": {**wanted, "timeout": 10}})
    assert stopped.rc != 0, stopped.stdout
    plane.api.patch(plane.api.path_of(second), {"metadata": {"finalizers": None}})
    plane.api.create(second)  # somebody makes it again
    went_on, again = (run(plane, {"sunset.kube.uninstall": wanted}) for _run in range(2))
    assert (went_on.rc, again.rc, again.result["changed"]) == (0, 0, False)
    empty = run(plane, {"sunset.kube.undo": {"bundle": str(tmp_path / "latest")}})
    assert f"bundle: {went_on.result['evidence']}" in empty.result["msg"]
    done = run(plane, {"sunset.kube.undo": {"bundle": went_on.result["evidence"]}})
    assert done.rc == 0, done.stdout
    assert names(done.result["restored"]) == {"ConfigMap second"}
    assert done.result["left_out"] == [
        "1 objects were gone before this run; if an earlier one deleted them, its folder has them"
    ]
    assert stopped.result["evidence"] in warnings_of(done.result)
    run(plane, {"sunset.kube.undo": {"bundle": stopped.result["evidence"]}})
    assert now(plane, "v1", "ConfigMap", "first", namespace)


def test_what_is_there_is_not_touched_and_what_cannot_come_back_is_named(
    plane: ControlPlane, namespace: str, group: str, tmp_path: Path
) -> None:
    inside = {"namespace": namespace}
    plane.api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **inside}, "data": {"is": "old"}}
    )
    plane.api.create({"apiVersion": f"{group}/v1", "kind": "Trinket", "metadata": {"name": "w", **inside}})
    gone = [{"api_version": "v1", "kind": "ConfigMap", "name": "a", **inside}]
    gone += [{"api_version": f"{group}/v1", "kind": "Trinket", "name": "w", **inside}]
    bundle = deleted(plane, tmp_path, gone)
    plane.api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **inside}, "data": {"is": "new"}}
    )
    deleted(plane, tmp_path, [{"kind": "CustomResourceDefinition", "name": f"trinkets.{group}"}])
    done = run(plane, {"sunset.kube.undo": {"bundle": str(bundle)}})
    assert done.rc != 0
    assert [one["name"] for one in done.result["existing"]] == ["a"]
    assert names(done.result["lost"]) == {"Trinket w"}
    assert "is not installed" in done.result["lost"][0]["reason"]
    assert "run the task again" in done.result["msg"]
    assert now(plane, "v1", "ConfigMap", "a", namespace)["data"] == {"is": "new"}


def test_what_is_still_being_deleted_is_not_taken_for_back(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}
    plane.api.create(thing)
    bundle = deleted(plane, tmp_path, [{"kind": "ConfigMap", "name": "a", "namespace": namespace}])
    plane.api.create({**thing, "metadata": {**thing["metadata"], "finalizers": ["example.com/hold"]}})  # type: ignore[dict-item]
    path = plane.api.path_of(thing)
    plane.api.delete(path)
    undo = {"sunset.kube.undo": {"bundle": str(bundle)}}
    stopped = run(plane, undo)
    assert stopped.rc != 0
    assert (names(stopped.result["lost"]), stopped.result["existing"]) == ({"ConfigMap a"}, [])
    assert "still being deleted" in stopped.result["msg"]
    plane.api.patch(path, {"metadata": {"finalizers": None}})
    done = run(plane, undo)
    assert done.rc == 0, done.stdout
    assert names(done.result["restored"]) == {"ConfigMap a"}


def test_a_claim_is_bound_again_by_the_command_that_is_told(
    plane: ControlPlane, namespace: str, volume: str, tmp_path: Path
) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        "volumeName": volume,
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": namespace},
        "spec": spec,
    }
    plane.api.create(claim)
    path = plane.api.path_of(claim)

    def phase() -> str:
        return str(plane.api.get(path)[1]["status"].get("phase"))

    until(lambda: phase() == "Bound", "the claim to be bound")
    bundle = deleted(plane, tmp_path, [{"kind": "PersistentVolumeClaim", "name": "data", "namespace": namespace}])
    done = run(plane, {"sunset.kube.undo": {"bundle": str(bundle)}})
    assert done.rc == 0, done.stdout
    told = re.search(r"kubectl patch pv (\S+) --type json -p '(.*?)'", warnings_of(done.result))
    assert told is not None
    assert told[1] == volume
    plane.api.patch(f"/api/v1/persistentvolumes/{volume}", json.loads(told[2]))
    until(lambda: phase() == "Bound", "the claim to be bound again")


def test_a_plan_after_the_run_names_the_run_to_take(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    """A run in check mode keeps nothing, and is the latest."""
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}
    plane.api.create(thing)
    task = {"sunset.kube.uninstall": {"manifests": [thing], "namespace": namespace, "evidence_dir": str(tmp_path)}}
    done, tried = run(plane, task), run(plane, task, check=True)
    assert (done.rc, tried.rc) == (0, 0)
    empty = run(plane, {"sunset.kube.undo": {"bundle": str(tmp_path / "latest")}})
    assert f"bundle: {done.result['evidence']}" in empty.result["msg"]


def test_a_folder_without_a_bundle_says_what_to_give(plane: ControlPlane, tmp_path: Path) -> None:
    done = run(plane, {"sunset.kube.undo": {"bundle": str(tmp_path)}})
    assert "give the folder a run left below its evidence_dir" in done.result["msg"]


def test_a_wrong_password_changes_nothing(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": namespace}}
    plane.api.create(secret)
    bundle = deleted(plane, tmp_path, [{"kind": "Secret", "name": "login", "namespace": namespace}])
    done = run(plane, {"sunset.kube.undo": {"bundle": str(bundle), "undo_vault_password": "wrong"}})
    assert "cannot open" in done.result["msg"]
    left = run(plane, {"sunset.kube.undo": {"bundle": str(bundle)}})
    assert left.rc == 0
    assert "come back only with undo_vault_password" in left.stdout
    assert now(plane, "v1", "Secret", "login", namespace) == {}
