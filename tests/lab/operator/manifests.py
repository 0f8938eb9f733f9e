# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The project's kustomize trees, rendered by kubectl: as they are, or with what only the lab needs on top."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from lab import tools
from lab.modules import LOADER
from lab.operator.image import ROOT
from lab.problems import LabError

CONFIG = ROOT / "operator" / "config"
NAME = "sunset-operator"
NAMESPACE = "sunset-system"


def rendered(folder: Path) -> list[dict[str, Any]]:
    """Everything a kustomization stands for."""
    done = subprocess.run([str(tools.kubectl()), "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{folder} cannot be rendered: {done.stderr.strip()}")
    return [one for one in yaml.load_all(done.stdout, Loader=LOADER) if one]


def for_the_lab(
    reference: str, rights: Iterable[str], components: Iterable[str], environment: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The operator with rights (folders of config/rights) and components, an image that the node has, and variables."""
    image, _colon, tag = reference.rpartition(":")
    base = next(one for one in rendered(CONFIG / "manager") if one["kind"] == "Deployment")
    [container] = base["spec"]["template"]["spec"]["containers"]
    known = container["image"].rpartition(":")[0]
    variables = [{"name": name, "value": value} for name, value in environment.items()]
    # Merged by name: one that the manifests set already is set to something else.
    ours = {"name": container["name"], "imagePullPolicy": "Never", "env": variables}
    change = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME},
        "spec": {"template": {"spec": {"containers": [ours]}}},
    }
    with tempfile.TemporaryDirectory(prefix="overlay-") as place:

        def path(*parts: str) -> str:
            return os.path.relpath(CONFIG.joinpath(*parts), Path(place).resolve())  # kustomize knows no other

        overlay = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [path("default"), *(path("rights", name) for name in rights)],
            "components": [path("components", name) for name in components],
            "images": [{"name": known, "newName": image, "newTag": tag}],
            "patches": [{"target": {"kind": "Deployment", "name": NAME}, "patch": json.dumps(change)}],
        }
        (Path(place) / "kustomization.yaml").write_text(json.dumps(overlay))
        return rendered(Path(place))
