# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's own kinds on a real API server: made from the roles, refused where a role would refuse, explained."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.controlplane import ControlPlane
from lab.waiting import until

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "operator" / "config" / "crd").glob("*s.yaml"))  # all but the kustomization


@pytest.fixture(scope="module")
def definitions(plane: ControlPlane) -> Iterator[list[dict[str, Any]]]:
    made = [yaml.safe_load(file.read_text()) for file in FILES]
    for one in made:
        plane.api.apply_crd(one)
    yield made
    for one in made:
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
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_role_would_refuse_is_refused_by_the_api_server(
    plane: ControlPlane, definitions: list[dict[str, Any]], namespace: str, case: str
) -> None:
    kind, spec, field = BAD[case]
    path = plane.api.path_of(resource(kind, namespace), collection=True)
    status, answer = plane.api.post(path, resource(kind, namespace, **spec))
    assert status == 422, answer
    assert field in answer["message"]


def test_kubectl_explains_them_in_plain_words(plane: ControlPlane, definitions: list[dict[str, Any]]) -> None:
    command = ["kubectl", "--kubeconfig", str(plane.admin.kubeconfig), "explain", "uninstall.spec.instances"]

    def explained() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    text = until(explained, "the API server to publish the schema", timeout=30)
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

    text = until(explained, "the API server to publish the schema", timeout=30)
    assert EXPLAINED[field] in " ".join(text.split())
