# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks of the collection as a person or a pipeline starts them: by name, with extra variables."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from integration.running import PATIENCE, Play, PlayRun, _program, _surroundings, started

# These run on this machine whatever the inventory says of it; others take its word, as they may run on nodes.
OF_A_CLUSTER = {
    f"sunset.kube.{name}" for name in ("delete_cluster", "drain", "explain", "maintenance", "undo", "uninstall")
}


@contextlib.contextmanager
def playing_named(
    playbook: str, directory: Path, kubeconfig: Path, *arguments: str, **variables: Any
) -> Iterator[Play]:
    """`ansible-playbook sunset.kube.drain` (or a path), under way."""
    directory.mkdir(exist_ok=True)
    command = [_program("ansible-playbook"), playbook, "--inventory", "localhost,"]
    command += [] if playbook in OF_A_CLUSTER else ["--connection", "local"]
    command += ["--extra-vars", json.dumps(variables)] * bool(variables) + list(arguments)
    with started(command, directory, _surroundings(directory, kubeconfig)) as play:
        yield play


def play_named(playbook: str, directory: Path, kubeconfig: Path, *arguments: str, **variables: Any) -> PlayRun:
    """To the end."""
    with playing_named(playbook, directory, kubeconfig, *arguments, **variables) as play:
        return play.finish(PATIENCE)


def ending(evidence: Path) -> dict[str, Any]:
    """What a pipeline reads after a run."""
    found: dict[str, Any] = json.loads((evidence / "latest" / "result.json").read_text())
    return found
