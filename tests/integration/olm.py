# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An operator as OLM has installed it: real definitions, its objects, and a played OLM that installs and repairs."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from integration.ranked import cluster_role, define, service_account
from integration.stage import Body, Stage, body, crd, deployment
from lab import modules
from lab.plane.api import Api
from lab.plane.controlplane import ControlPlane

GROUP = "operators.coreos.com"
RELEASE = ("github.com/operator-framework/api", "v0.31.0")
ALPHA, V1, V2 = f"{GROUP}/v1alpha1", f"{GROUP}/v1", f"{GROUP}/v2"
COPIED = "olm.copiedFrom"


@pytest.fixture(scope="session")
def olm_kinds(plane: ControlPlane) -> None:
    for definition in modules.documents(*RELEASE, "crds/*.yaml"):
        plane.api.apply_crd(definition)


@dataclass
class Operator:
    """Everything of one operator; `parts` are by what they are."""

    name: str
    namespace: str
    parts: dict[str, Body] = field(default_factory=dict)

    @property
    def version(self) -> str:
        return f"{self.name}.v1.0.0"

    @property
    def members(self) -> dict[str, Any]:
        return {"olm": {"subscription": self.name, "namespace": self.namespace}}

    def names(self, *parts: str) -> list[str]:
        return [self.parts[part]["metadata"]["name"] for part in parts]


def owned(operator: Operator, kind: str = "ClusterServiceVersion", name: str = "") -> dict[str, str]:
    """As OLM labels what it makes."""
    return {
        "olm.owner": name or operator.version,
        "olm.owner.kind": kind,
        "olm.owner.namespace": operator.namespace,
    }


def component(operator: Operator) -> dict[str, str]:
    return {f"{GROUP}/{operator.name}.{operator.namespace}": ""}


def labelled(thing: Body, labels: Mapping[str, str]) -> Body:
    return {**thing, "metadata": {**thing["metadata"], "labels": dict(labels)}}


def cluster_service_version(operator: Operator, definition: str, plural: str) -> Body:
    pod = deployment("controller", operator.namespace)["spec"]
    install = {
        "strategy": "deployment",
        "spec": {
            "deployments": [{"name": "controller", "spec": pod}],
            "permissions": [{"serviceAccountName": "operator", "rules": []}],
        },
    }
    kinds = {"owned": [{"name": definition, "kind": plural, "version": "v1"}]}
    spec = {"displayName": operator.name, "install": install, "customresourcedefinitions": kinds}
    return labelled(
        body(ALPHA, "ClusterServiceVersion", operator.version, operator.namespace, spec=spec), component(operator)
    )


def install(stage: Stage) -> Operator:
    """What is there when OLM has finished: in its own namespace, copied into another one, and cluster-wide."""
    tail = secrets.token_hex(4)
    operator = Operator(f"shop-{tail}", stage.namespace)
    here, elsewhere = operator.namespace, stage.another_namespace()
    definition = define(stage, crd("Order", f"{tail}.example.com"))
    spec = {"channel": "stable", "name": operator.name, "source": "catalog", "sourceNamespace": "olm"}
    subscription = body(ALPHA, "Subscription", operator.name, here, spec=spec)
    version = cluster_service_version(operator, definition["metadata"]["name"], "Order")
    [subscription, version, group] = stage.put(
        subscription, version, body(V1, "OperatorGroup", f"group-{tail}", here, spec={"targetNamespaces": [here]})
    )
    status = {"installedCSV": operator.version, "currentCSV": operator.version, "lastUpdated": "2026-01-01T00:00:00Z"}
    answer = stage.api.patch(f"{stage.api.path_of(subscription)}/status", {"status": status})
    assert answer[0] == 200, answer
    plan = {"approval": "Automatic", "approved": True, "clusterServiceVersionNames": [operator.version]}
    copied = labelled(
        {**version, "metadata": {"name": operator.version, "namespace": elsewhere}},
        {COPIED: here, **component(operator)},
    )
    names = ("deployment", "account", "role", "group role", "plan", "condition", "copy", "operator", "order")
    made = stage.put(
        labelled(deployment("controller", here), owned(operator)),
        labelled(service_account("operator", here), component(operator)),
        labelled(cluster_role(f"role-{tail}"), owned(operator)),
        labelled(cluster_role(f"group-role-{tail}"), owned(operator, "OperatorGroup", f"group-{tail}")),
        body(ALPHA, "InstallPlan", f"install-{tail}", here, spec=plan),
        body(V2, "OperatorCondition", operator.version, here, spec={}),
        copied,
        body(V1, "Operator", f"{operator.name}.{here}", ""),
        body(f"{tail}.example.com/v1", "Order", f"order-{tail}", here),
    )
    operator.parts = {
        "subscription": subscription,
        "version": version,
        "group": group,
        "definition": definition,
        **dict(zip(names, made, strict=True)),
    }
    return operator


class LivingOlm:
    """Plays OLM: a Subscription brings its version back, a version its Deployment and its copy.

    `repaired` has what it made again, by what it is.
    """

    def __init__(self, api: Api, operator: Operator) -> None:
        self._api = api
        self._operator = operator
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self.repaired: list[str] = []
        self.problems: list[BaseException] = []

    def __enter__(self) -> LivingOlm:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5)
        assert self.problems == [], self.problems

    def _live(self) -> None:
        while not self._ended.is_set():
            try:
                for owner, things in (
                    ("subscription", ("version",)),
                    ("version", ("deployment", "copy", "condition", "role")),
                    ("definition", ("operator",)),
                    ("version", ("operator",)),
                ):
                    self._repair(owner, things)
            except Exception as problem:
                self.problems.append(problem)
                return
            self._ended.wait(0.02)

    def _repair(self, owner: str, things: tuple[str, ...]) -> None:
        for thing in things if self._is_there(owner) else ():
            wanted = self._operator.parts[thing]
            metadata = {
                key: wanted["metadata"][key] for key in ("name", "namespace", "labels") if wanted["metadata"].get(key)
            }
            again = {key: wanted[key] for key in ("apiVersion", "kind", "spec", "rules") if key in wanted}
            path = self._api.path_of(wanted, collection=True)
            if self._api.post(path, {**again, "metadata": metadata})[0] != 201:
                continue
            if self._is_there(owner):
                self.repaired.append(thing)
            else:  # as the garbage collector does with what has lost its owner
                self._api.delete(self._api.path_of(wanted))

    def _is_there(self, part: str) -> bool:
        status, seen = self._api.get(self._api.path_of(self._operator.parts[part]))
        return status != 404 and not seen["metadata"].get("deletionTimestamp")
