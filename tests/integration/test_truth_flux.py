# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flux is drained while its real kustomize- and helm-controller run, with finalizers that they have set themselves.

Played: source-controller (a source's status and the server it names), and the kubelet. A controller's Deployment is
there and has a ready pod, but the controller is a process beside the control plane, which ends when the Deployment is
scaled to 0.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.products import Drainer
from integration.ranked import succeeded
from integration.releases import FLUX
from integration.stage import Body, Stage, body, bring_to_life, config_map, deployment
from lab.controllers import flux
from lab.plane.controlplane import ControlPlane
from lab.processes import Process, stop
from lab.waiting import until

FINALIZER = "finalizers.fluxcd.io"
SOURCE = "source.toolkit.fluxcd.io/v1"
HELM, KUSTOMIZE = "helm-controller", "kustomize-controller"
BOTH = pytest.mark.parametrize("name", [HELM, KUSTOMIZE])


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One of its own, with Flux's own definitions: other tests have open ones."""
    with ControlPlane.start(tmp_path_factory.mktemp("flux")) as running:
        for one in FLUX.crds:
            running.api.apply_crd(one)
        yield running


@pytest.fixture
def stage(plane: ControlPlane) -> Iterator[Stage]:
    here = Stage(plane)
    yield here
    here.clear()


@pytest.fixture
def drainer(plane: ControlPlane) -> Drainer:
    return Drainer(plane)


@contextlib.contextmanager
def alive(stage: Stage, plane: ControlPlane, name: str) -> Iterator[Process]:
    """The controller, and its Deployment with an available replica."""
    workload = deployment(name, stage.namespace)
    workload["metadata"]["labels"] = {"app.kubernetes.io/part-of": "flux"}
    stage.put(workload)
    bring_to_life(stage, workload)
    ended = threading.Event()

    def obey(running: Process) -> None:
        """As a kubelet would: no replicas, no process."""
        while not ended.wait(0.05):
            if stage.look(workload)["spec"]["replicas"] == 0:
                stop([running])
                return

    with flux.controller(plane, name, stage.namespace) as running:
        kubelet = threading.Thread(target=obey, args=(running,), daemon=True)
        kubelet.start()
        try:
            yield running
        finally:
            ended.set()
            kubelet.join(30)


def source(stage: Stage, kind: str, spec: Body, artifact: dict[str, object]) -> None:
    """A source that has been fetched."""
    [made] = stage.put(body(SOURCE, kind, "shop", stage.namespace, spec={"interval": "1h", **spec}))
    ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "played"}
    status = {
        "artifact": artifact,
        "conditions": [{**ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "observedGeneration": made["metadata"]["generation"],
    }
    answer = stage.api.patch(f"{stage.api.path_of(made)}/status", {"status": status})
    assert answer[0] == 200, answer


def deployed(stage: Stage, name: str, files: Path) -> tuple[Body, Body]:
    """What the running controller has deployed: its own object with its finalizer, and a ConfigMap."""
    here = stage.namespace
    made = config_map("deployed", here)
    with flux.Artifacts(files) as artifacts:
        if name == HELM:
            chart = json.dumps({"apiVersion": "v2", "name": "shop", "version": "1.0.0"})
            packed = artifacts.pack("shop.tgz", {"shop/Chart.yaml": chart, "shop/templates/a.yaml": json.dumps(made)})
            reference = {"kind": "HelmRepository", "name": "none"}
            source(stage, "HelmChart", {"chart": "shop", "sourceRef": reference}, packed)
            spec = {"interval": "1h", "chartRef": {"kind": "HelmChart", "name": "shop"}}
            owner = body("helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop", here, spec=spec)
        else:
            packed = artifacts.pack("shop.tar.gz", {"a.yaml": json.dumps(made)})
            source(stage, "GitRepository", {"url": "https://git.example.com/shop"}, packed)
            spec = {"interval": "1h", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "shop"}}
            owner = body("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "shop", here, spec=spec)
        [owner] = stage.put(owner)
        until(lambda: _is_ready(stage.look(owner)), f"{owner['kind']} shop to be ready")
    assert stage.finalizers(owner) == [FINALIZER]
    return owner, made


def _is_ready(owner: Body) -> bool:
    conditions = owner.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


@BOTH
def test_retain_leaves_what_it_deployed(
    name: str, plane: ControlPlane, stage: Stage, drainer: Drainer, tmp_path: Path
) -> None:
    with alive(stage, plane, name) as running:
        owner, made = deployed(stage, name, tmp_path)
        result = succeeded(drainer("flux", policy="Retain", settle=1))
        until(lambda: not running.alive(), f"{name} to end")
    assert (result["drain_status"], result["progress"]) == ("completed", "1/1")
    assert stage.finalizers(owner) == []
    assert stage.find(made) is not None


@BOTH
def test_delete_lets_it_remove_what_it_deployed(
    name: str, plane: ControlPlane, stage: Stage, drainer: Drainer, tmp_path: Path
) -> None:
    with alive(stage, plane, name) as running:
        owner, made = deployed(stage, name, tmp_path)
        result = succeeded(drainer("flux", policy="Delete"))
        assert running.alive()
    assert (result["drain_status"], result["progress"]) == ("completed", "1/1")
    assert stage.is_gone(owner)
    assert stage.is_gone(made)
    secrets = stage.api.get(f"/api/v1/namespaces/{stage.namespace}/secrets")[1]["items"]
    assert [one["metadata"]["name"] for one in secrets if one["type"].startswith("helm.sh/")] == []
