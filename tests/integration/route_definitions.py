# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definitions of routing kinds whose makers are not in the lab: only what routes of them must have, written by us."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from integration.stage import CRDS
from lab.plane.controlplane import ControlPlane

Body = dict[str, Any]
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_LIST = {"type": "array", "items": _ANYTHING}
# Filled in by the server where it is left out, as real definitions do it.
_WITH_DEFAULT = {**_ANYTHING, "properties": {"timeout": {"type": "string", "default": "15s"}}}


def _definition(kind: str, group: str, plural: str, spec: Body) -> Body:
    schema = {"type": "object", "required": ["spec"], "properties": {"spec": {**_ANYTHING, **spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [version],
        },
    }


DEFINITIONS = (
    _definition(
        "HTTPProxy",
        "projectcontour.io",
        "httpproxies",
        {"properties": {"routes": {"type": "array", "items": _WITH_DEFAULT}}},
    ),
    _definition("VirtualService", "networking.istio.io", "virtualservices", {"properties": {"http": _LIST}}),
    _definition("Route", "route.openshift.io", "routes", {"required": ["to"], "properties": {"to": _ANYTHING}}),
)


@pytest.fixture
def more_route_kinds(plane: ControlPlane) -> Iterator[None]:
    """Contour's, Istio's and OpenShift's routes, for one test."""
    for one in DEFINITIONS:
        plane.api.apply_crd(one)
    yield
    for one in DEFINITIONS:
        plane.api.delete(f"{CRDS}/{one['metadata']['name']}")
