# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hub of Open Cluster Management: its real definitions, and its real controllers beside a control plane."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from lab import modules, processes, tools
from lab.plane import ports
from lab.plane.controlplane import MASTERS, ControlPlane

API = ("open-cluster-management.io/api", "v1.2.0")
DEFINITIONS = (
    "cluster/v1/*managedclusters.crd.yaml",
    "cluster/v1beta2/*managedclustersets.crd.yaml",
    "cluster/v1beta2/*managedclustersetbindings.crd.yaml",
    "cluster/v1beta1/*.crd.yaml",
    "addon/v1alpha1/*.crd.yaml",
    "work/v1/*.crd.yaml",
    "work/v1alpha1/*.crd.yaml",
    "operator/v1/*klusterlets.crd.yaml",
)


def definitions() -> list[dict[str, Any]]:
    return [one for pattern in DEFINITIONS for one in modules.documents(*API, pattern)]


def install(plane: ControlPlane) -> None:
    for one in definitions():
        plane.api.apply_crd(one)


@contextlib.contextmanager
def controllers(plane: ControlPlane) -> Iterator[None]:
    """The hub's registration and work controllers, as processes beside the control plane."""
    user = plane.user("hub", (MASTERS,))
    built = tools.ensure(["ocm-registration", "ocm-work"])
    commands = {
        "ocm-registration": [str(built["ocm-registration"]), "controller"],
        "ocm-work": [str(built["ocm-work"]), "manager"],
    }
    common = [f"--kubeconfig={user.kubeconfig}", "--disable-leader-election", "--namespace=default"]
    running = [
        processes.start([*command, *common, f"--listen=127.0.0.1:{ports.free_port()}"], plane.directory / f"{name}.log")
        for name, command in commands.items()
    ]
    try:
        yield
    finally:
        processes.stop(running)
