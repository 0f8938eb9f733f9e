# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real helm on the run's control plane, for one namespace, with everything it writes in one directory."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab import tools
from lab.plane.controlplane import ControlPlane


class Helm:
    """Called with the arguments of the command line. `driver` says where it keeps its records."""

    def __init__(self, plane: ControlPlane, directory: Path, namespace: str) -> None:
        self._program = tools.ensure(["helm"])["helm"]
        self._plane = plane
        self._directory = directory
        self.namespace = namespace
        self.driver = "secret"

    def chart(self, files: Mapping[str, dict[str, Any] | str], name: str = "shop", folder: str = "shop") -> Path:
        """A chart of these files."""
        place = self._directory / folder
        meta = {"apiVersion": "v2", "name": name, "version": "1.0.0"}
        for path, content in {"Chart.yaml": meta, **files}.items():
            file = place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        return place

    def __call__(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        home = {f"HELM_{name}_HOME": str(self._directory / name) for name in ("CACHE", "CONFIG", "DATA")}
        command = [str(self._program), *arguments, "--namespace", self.namespace]
        command += ["--kubeconfig", str(self._plane.admin.kubeconfig)]
        env = {**os.environ, **home, "HELM_DRIVER": self.driver}
        return subprocess.run(command, env=env, check=check, capture_output=True, text=True)

    def records(self) -> list[str]:
        _status, listed = self._plane.api.get(
            f"/api/v1/namespaces/{self.namespace}/{self.driver}s", labelSelector="owner=helm"
        )
        return sorted(item["metadata"]["name"] for item in listed["items"] or ())
