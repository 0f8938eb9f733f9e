# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real definitions of Traefik's and Gateway API's kinds. They need neither a node nor Traefik itself."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lab import modules
from lab.plane.controlplane import ControlPlane

TRAEFIK = ("github.com/traefik/traefik/v3", "v3.6.12")
GATEWAY_API = ("sigs.k8s.io/gateway-api", "v1.4.1")
TRAEFIK_FILES = "docs/content/reference/dynamic-configuration"


def definitions() -> Iterator[dict[str, Any]]:
    yield from modules.documents(*TRAEFIK, f"{TRAEFIK_FILES}/kubernetes-crd-definition-v1.yml")
    yield from modules.documents(*GATEWAY_API, "config/crd/standard/*.yaml")


def install(plane: ControlPlane) -> None:
    """Bring the kinds into a control plane; they can be used on return. Those that are there already cost nothing."""
    _status, present = plane.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    names = {one["metadata"]["name"] for one in present["items"]}
    missing = [one for one in definitions() if one["metadata"]["name"] not in names]
    with ThreadPoolExecutor(8, thread_name_prefix="lab-routes") as pool:
        list(pool.map(plane.api.apply_crd, missing))


def traefik_rules() -> list[dict[str, Any]]:
    """What Traefik's documentation lets it do in a cluster."""
    roles = (
        document
        for name in ("kubernetes-crd-rbac.yml", "kubernetes-gateway-rbac.yml")
        for document in modules.documents(*TRAEFIK, f"{TRAEFIK_FILES}/{name}")
        if document["kind"] == "ClusterRole"
    )
    return [rule for role in roles for rule in role["rules"]]
