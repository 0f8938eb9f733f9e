# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owners of routes as Argo CD and Flux have them: their kinds, their objects, and routes that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from integration.stage import Body, crd
from lab.controlplane import ControlPlane

ARGO, FLUX, FLUX_HELM = "argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"
SKIP, PAUSED_FOR = "argocd.argoproj.io/skip-reconcile", "sunset.dev/paused-for"
SELF_HEAL = {"syncPolicy": {"automated": {"selfHeal": True}}}
KINDS = (("Application", ARGO), ("ApplicationSet", ARGO), ("Kustomization", FLUX), ("HelmRelease", FLUX_HELM))


@pytest.fixture(scope="session")
def gitops_kinds(plane: ControlPlane) -> None:
    for kind, group in KINDS:
        plane.api.apply_crd(crd(kind, group))


def owner(group: str, kind: str, name: str, namespace: str, spec: Mapping[str, Any], **metadata: Any) -> Body:
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": dict(spec),
    }


def application(name: str, namespace: str, spec: Mapping[str, Any] = SELF_HEAL, **metadata: Any) -> Body:
    return owner(ARGO, "Application", name, namespace, spec, **metadata)


def tracked(route: Body, application_name: str) -> Body:
    """Of this Application, as Argo CD marks it by default."""
    group = route["apiVersion"].rpartition("/")[0]
    metadata = route["metadata"]
    place = f"{metadata['namespace']}/{metadata['name']}"
    return with_annotations(
        route, {"argocd.argoproj.io/tracking-id": f"{application_name}:{group}/{route['kind']}:{place}"}
    )


def labelled(route: Body, group: str, name: str, namespace: str) -> Body:
    """Of this Kustomization or HelmRelease, as Flux marks it."""
    labels = {f"{group}/name": name, f"{group}/namespace": namespace}
    return {**route, "metadata": {**route["metadata"], "labels": labels}}


def with_annotations(route: Body, annotations: Mapping[str, str]) -> Body:
    known = route["metadata"].get("annotations") or {}
    return {**route, "metadata": {**route["metadata"], "annotations": {**known, **annotations}}}
