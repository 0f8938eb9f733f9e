# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks with one task each."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.ground import NAMESPACE
from benchmarks.peers import crop


def write_ours(folder: Path, parallel: int | None = None) -> Path:
    task: dict[str, Any] = {
        "members": {"selector": {"kinds": ["ConfigMap"], "namespaces": [NAMESPACE], "label_selector": crop.SELECTOR}}
    }
    if parallel:
        task["parallel"] = parallel
    return _write(folder / f"ours-{parallel or 'default'}.yml", {"sunset.kube.ranked_delete": task})


def write_kubernetes_core(folder: Path, definitions: Sequence[str]) -> Path:
    source = folder / "definitions.yml"
    source.write_text("".join(f"---\n{text}\n" for text in definitions))
    task = {"state": "absent", "wait": True, "src": str(source)}
    return _write(folder / "kubernetes-core.yml", {"kubernetes.core.k8s": task})


def _write(file: Path, task: dict[str, Any]) -> Path:
    variables = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    play = {"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": [{"name": "Delete", **task}]}
    file.write_text(json.dumps([play], indent=2) + "\n")
    return file


def playbook_command(playbook: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("ansible-playbook")), "--inventory", "localhost,", str(playbook)]
