# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's own kinds on a real API server: made from the roles, refused where a role would refuse, explained."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.plane.controlplane import ControlPlane
from lab.waiting import until

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
POLICY = [ROOT / "operator" / "config" / "admission" / f"{part}.yaml" for part in ("policy", "binding")]
FILES = sorted((ROOT / "operator" / "config" / "crd").glob("*s.yaml"))  # all but the kustomization


@pytest.fixture(scope="module")
def definitions(plane: ControlPlane) -> Iterator[list[dict[str, Any]]]:
    made = [yaml.safe_load(file.read_text()) for file in FILES]
    for one in made:
        plane.api.apply_crd(one)
    yield made
    for one in made:
        plane.api.delete(plane.api.path_of(one))


@pytest.fixture(scope="module")
def rules(plane: ControlPlane, definitions: list[dict[str, Any]]) -> Iterator[str]:
    """The admission policy, in force; the namespace is the operator's own."""
    made = [yaml.safe_load(file.read_text()) for file in POLICY]
    label = {"app.kubernetes.io/name": "sunset-operator"}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators-own", "labels": label}}
    plane.api.create(*made, home)

    def in_force() -> bool:
        wrong = resource("Maintenance", "default", page=7)
        return plane.api.post(plane.api.path_of(wrong, collection=True), wrong, dryRun="All")[0] == 422

    until(in_force, "the policy to be in force")
    yield "operators-own"
    for one in (*made, home):
        plane.api.delete(plane.api.path_of(one))


def resource(kind: str, place: str, /, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "one", "namespace": place}
    return {"apiVersion": "sunset.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def test_the_files_are_what_the_roles_say() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "operator_crds.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_kind_is_served_with_its_schema_and_nothing_is_wrong_with_it(
    plane: ControlPlane, definitions: list[dict[str, Any]]
) -> None:
    assert len(definitions) == 5
    for one in definitions:
        _status, found = plane.api.get(plane.api.path_of(one))
        conditions = {entry["type"]: entry["status"] for entry in found["status"]["conditions"]}
        assert conditions.get("NonStructuralSchema", "False") == "False"
        assert conditions["Established"] == "True"


GOOD = {
    "Uninstall": {"release": "shop", "namespace": "shop", "deleteNamespace": True, "approve": "always"},
    "Drain": {"profile": "ngrok", "policy": "Retain", "suspend": True},
    "Maintenance": {"state": "enabled", "namespace": "shop", "end": "1h30m", "exemptPaths": ["/healthz"]},
    "ManagedClusterDeletion": {"names": ["edge-7"], "onUnreachable": "wait"},
    "NetworkRevert": {"nncp": "vlan100", "maxUnavailable": "50%"},
}


@pytest.mark.parametrize("kind", GOOD)
def test_arguments_of_the_role_are_taken_with_its_defaults(
    plane: ControlPlane, definitions: list[dict[str, Any]], namespace: str, kind: str
) -> None:
    status, made = plane.api.post(
        plane.api.path_of(resource(kind, namespace), collection=True), resource(kind, namespace, **GOOD[kind])
    )
    assert status == 201, made
    assert made["spec"].items() >= GOOD[kind].items()
    assert made["spec"]["suspend"] is GOOD[kind].get("suspend", False)
    assert "timeout" in made["spec"] or kind == "NetworkRevert"


BAD = {
    "a word that is none of the choices": ("Uninstall", {"crds": "maybe"}, "spec.crds"),
    "a text for a number": ("Uninstall", {"timeout": "soon"}, "spec.timeout"),
    "no profile": ("Drain", {"policy": "Retain"}, "spec.profile"),
    "an approval that is no hash": ("Drain", {"profile": "ngrok", "approve": "yes"}, "spec.approve"),
    "a number below nothing": ("ManagedClusterDeletion", {"names": ["a"], "forceAfter": -1}, "spec.forceAfter"),
    "nothing to uninstall": ("Uninstall", {}, "say what to uninstall: release, namespace or manifests"),
    "a release without a name": ("Uninstall", {"release": "", "approve": "always"}, "release is a name"),
    "a release that is a template": ("Uninstall", {"release": "{{ x }}"}, "release is a name"),
    "two things to uninstall": ("Uninstall", {"release": "a", "manifests": [{}]}, "leave one of them out"),
    "a file with manifests": ("Uninstall", {"manifests": ["/etc/passwd"]}, "spec.manifests[0]"),
    "no clusters": ("ManagedClusterDeletion", {}, "say which clusters"),
    "an empty list of clusters": ("ManagedClusterDeletion", {"names": []}, "spec.names"),
    "clusters in two ways": ("ManagedClusterDeletion", {"names": ["a"], "labelSelector": "a=b"}, "one of them"),
    "no network policy": ("NetworkRevert", {}, "say which NodeNetworkConfigurationPolicy"),
    "a product that is not known": ("Drain", {"profile": "ngork"}, "ngrok|rook"),
    "no time at all": ("Drain", {"profile": "ngrok", "timeout": 0}, "greater than or equal to 1"),
    "more than a day": ("Maintenance", {"timeout": 86401}, "less than or equal to 86400"),
    "a pause of more than ten minutes": ("Maintenance", {"linger": 601}, "less than or equal to 600"),
    "an end that is no time": ("Maintenance", {"end": "soon"}, "end is a time like 2026-11-16T23:30:00Z"),
    "an empty end": ("Maintenance", {"end": ""}, "end is a time"),
    "a status that is no error": ("Maintenance", {"statusCode": 200}, "greater than or equal to 400"),
    "a status there is not": ("Maintenance", {"statusCode": 99999}, "less than or equal to 599"),
    "a page that is a file": ("Maintenance", {"page": "/etc/passwd"}, "spec.page"),
    "a page in disguise": ("Maintenance", {"page": r"{'html_file': '\x2fvar'}"}, "spec.page"),
    # What only the policy sees.
    "a file in a page": ("Maintenance", {"page": {"htmlFile": "/etc/passwd"}}, "A file is not read"),
    "a key of a page that is not known": ("Maintenance", {"page": {"titel": "x"}}, "title, details"),
    "a page that is a number": ("Maintenance", {"page": 7}, "spec.page is the name of a page, or an object"),
    "a profile that is a list": ("Drain", {"profile": ["ngrok"]}, "spec.profile is the name of a product"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_role_would_refuse_is_refused_by_the_api_server(plane: ControlPlane, rules: str, case: str) -> None:
    kind, spec, field = BAD[case]
    path = plane.api.path_of(resource(kind, rules), collection=True)
    status, answer = plane.api.post(path, resource(kind, rules, **spec))
    assert status == 422, answer
    assert field in answer["message"]


@pytest.mark.parametrize("kind", [kind for kind in GOOD if kind != "Maintenance"])
def test_what_acts_on_the_whole_cluster_is_refused_outside_the_operators_own_namespace(
    plane: ControlPlane, rules: str, namespace: str, kind: str
) -> None:
    for place, expected in ((namespace, 422), (rules, 201)):
        wanted = resource(kind, place, **GOOD[kind])
        status, answer = plane.api.post(plane.api.path_of(wanted, collection=True), wanted)
        assert status == expected, answer
        if expected == 422:
            assert f"create the {kind} there, not in {namespace}" in answer["message"]
    plane.api.delete(plane.api.path_of(wanted))


def test_the_spec_of_what_is_running_cannot_be_changed_but_for_suspend_and_approve(
    plane: ControlPlane, rules: str
) -> None:
    spec = {"profile": {"name": "own"}, "approve": "0123456789ab", "timeout": 60}
    [made] = plane.api.create(resource("Drain", rules, **spec))
    path = plane.api.path_of(made)
    assert plane.api.patch(path, {"spec": {"timeout": 61}})[0] == 200, "it has not begun"
    running = {
        "type": "Progressing",
        "status": "True",
        "reason": "Running",
        "lastTransitionTime": "2026-11-16T20:00:00Z",
    }
    assert plane.api.patch(f"{path}/status", {"status": {"conditions": [running]}})[0] == 200
    for change in (
        {"timeout": 62},
        {"profile": "ngrok"},
        {"profile": {"name": "b"}},
        {"force": True},
        {"timeout": None},
    ):
        status, answer = plane.api.patch(path, {"spec": change})
        assert (status, "only suspend and approve" in answer["message"]) == (422, True), change
    for change in ({"suspend": True}, {"approve": None}, {"approve": "always"}):
        assert plane.api.patch(path, {"spec": change})[0] == 200
    assert plane.api.patch(path, {"metadata": {"finalizers": ["sunset.dev/drain"]}})[0] == 200
    done = {**running, "status": "False", "reason": "Completed"}
    plane.api.patch(f"{path}/status", {"status": {"conditions": [done]}})
    assert plane.api.patch(path, {"spec": {"timeout": 62}})[0] == 200
    assert plane.api.patch(path, {"metadata": {"finalizers": None}})[0] == 200
    plane.api.delete(path)


def test_what_was_stored_before_the_rules_can_still_be_deleted(plane: ControlPlane, rules: str, namespace: str) -> None:
    """Its finalizer is taken off, although nobody could create it any more."""
    [definition] = [yaml.safe_load(file.read_text()) for file in FILES if file.stem == "maintenances"]
    old = json.loads(json.dumps(definition))
    fields = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    for name in ("end", "page"):
        for word in ("x-kubernetes-validations", "pattern", "maxLength"):
            fields[name].pop(word, None)
    wanted = resource("Maintenance", namespace, end="soon", page="{'a': 1}")
    wanted["metadata"]["finalizers"] = ["sunset.dev/maintenance"]
    path = plane.api.path_of(wanted)
    plane.api.apply_crd(old)
    until(lambda: plane.api.post(plane.api.path_of(wanted, collection=True), wanted)[0] == 201, "it to be stored")
    plane.api.apply_crd(definition)
    until(lambda: plane.api.patch(path, {"spec": {"end": "later"}}, dryRun="All")[0] == 422, "the rules")
    assert plane.api.delete(path)[0] == 200
    assert plane.api.patch(path, {"metadata": {"finalizers": None}})[0] == 200
    assert plane.api.get(path)[0] == 404


def test_kubectl_explains_them_in_plain_words(plane: ControlPlane, definitions: list[dict[str, Any]]) -> None:
    command = ["kubectl", "--kubeconfig", str(plane.admin.kubeconfig), "explain", "uninstall.spec.instances"]

    def explained() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    text = until(explained, "the API server to publish the schema")
    assert "ENUM: refuse delete keep" in " ".join(text.split())
    assert "Whether custom resources of others go with the definitions." in " ".join(text.split())


def said_of(definition: dict[str, Any]) -> dict[str, str]:
    """What is told of each field of the spec."""
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return {name: field["description"] for name, field in schema["properties"]["spec"]["properties"].items()}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nobody_has_to_know_ansible_to_read_what_they_say(file: Path) -> None:
    definition = yaml.safe_load(file.read_text())
    for name, text in said_of(definition).items():
        assert text.endswith("."), name
        assert re.findall(r"\b[A-Z]\(", text) == [], "markup"
        assert re.findall(r"\b[a-z]+_[a-z_]+\b|\brole\b|--\w+", text) == [], f"{name}: names of variables, or options"


def test_what_would_reach_too_far_is_not_offered(definitions: list[dict[str, Any]]) -> None:
    """Credentials that anybody may read who may look, addresses that the operator is sent to, and whose page it is."""
    offered = {one["spec"]["names"]["kind"]: set(said_of(one)) for one in definitions}
    assert "spoke" not in offered["ManagedClusterDeletion"]
    assert not {"verify", "holder"} & offered["Maintenance"]


EXPLAINED = {
    "maintenance.spec.end": "Until when, for example 2026-11-16T23:30:00Z, or how long, for example 1h30m.",
    "drain.spec.onDeletion": "With suspend it goes without draining.",
    "managedclusterdeletion.spec.names": "Names of the clusters.",
    "networkrevert.spec.onFailure": "undo puts the policy back on its nodes when some fail.",
    "uninstall.spec.maintenance": '"true" puts a maintenance page',
}


@pytest.mark.parametrize("field", EXPLAINED)
def test_kubectl_explains_a_field_of_each_kind(
    plane: ControlPlane, definitions: list[dict[str, Any]], field: str
) -> None:
    command = ["kubectl", "--kubeconfig", str(plane.admin.kubeconfig), "explain", field]

    def explained() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    text = until(explained, "the API server to publish the schema")
    assert EXPLAINED[field] in " ".join(text.split())
