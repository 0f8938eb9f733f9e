# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetes-nmstate without its handlers: its real definitions, and the real admission policy that comes with it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from lab import modules
from lab.plane.controlplane import ControlPlane

MODULE = ("github.com/nmstate/kubernetes-nmstate", "v0.86.0")
# A template of Go; the admission policy in it has nothing but a prefix to fill in.
MANIFEST = "deploy/handler/operator.yaml"
ADMISSION = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def definitions() -> list[dict[str, Any]]:
    return list(modules.documents(*MODULE, "deploy/crds/*.yaml"))


def admission() -> list[dict[str, Any]]:
    """The policy that looks at every change of a NodeNetworkConfigurationPolicy, and its binding."""
    text = (modules.directory(*MODULE) / MANIFEST).read_text(encoding="utf-8")
    wanted = [part for part in re.split(r"(?m)^---$", text) if re.search(rf"(?m)^kind: ({'|'.join(ADMISSION)})$", part)]
    return [yaml.load(re.sub(r"{{[^}]*}}", "", part), Loader=modules.LOADER) for part in wanted]


def install(plane: ControlPlane) -> None:
    for one in definitions():
        plane.api.apply_crd(one)
    plane.api.create(*admission())
