# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is compared: one command line each, and what it finds prepared."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ground import NAMESPACE, Ground
from benchmarks.peers import crop, plays
from lab import tools

KUBECTL_SIZE = 300  # it does five objects a second, however many there are: more would only take longer


@dataclass(frozen=True)
class Stage:
    """One measurement's circumstances."""

    ground: Ground
    folder: Path
    size: int
    kubeconfig: Path


@dataclass(frozen=True)
class Peer:
    name: str
    command: Callable[[Stage], list[str]]  # also prepares whatever the command finds beside the objects
    rounds: int
    size: int | None = None  # measured with so many and scaled, however many the others get
    is_play: bool = False


def ours(parallel: int | None = None) -> Peer:
    def command(stage: Stage) -> list[str]:
        return plays.playbook_command(plays.write_ours(stage.folder, parallel))

    name = "sunset.kube" + (f", parallel: {parallel}" if parallel else "")
    return Peer(name, command, rounds=3, is_play=True)


def kapp() -> Peer:
    program = str(tools.ensure(["kapp"])["kapp"])

    def command(stage: Stage) -> list[str]:
        crop.write_kapp_record(stage.ground.plane)
        return [program, "delete", "--yes", "--app", crop.APP, "--namespace", crop.RECORDS]

    return Peer("kapp", command, rounds=3)


def helm() -> Peer:
    program = str(tools.ensure(["helm"])["helm"])

    def command(stage: Stage) -> list[str]:
        crop.write_helm_record(stage.ground.plane)
        return [program, "uninstall", crop.APP, "--namespace", crop.RECORDS, "--wait"]

    return Peer("helm", command, rounds=2)


def kubernetes_core() -> Peer:
    def command(stage: Stage) -> list[str]:
        return plays.playbook_command(plays.write_kubernetes_core(stage.folder, crop.definitions(stage.ground.plane)))

    return Peer("kubernetes.core", command, rounds=2, is_play=True)


def kubectl() -> Peer:
    program = str(tools.kubectl())

    def command(_stage: Stage) -> list[str]:
        return [program, "delete", "configmaps", "--namespace", NAMESPACE, "--selector", crop.SELECTOR, "--wait"]

    return Peer("kubectl", command, rounds=1, size=KUBECTL_SIZE)


def everybody() -> list[Peer]:
    return [ours(), kapp(), helm(), kubernetes_core(), kubectl()]


def versions() -> str:
    """Of the programs: those the lab builds do not know their own, but it is known from what they are built."""
    asked = subprocess.run([tools.kubectl(), "version", "--client"], capture_output=True, text=True, check=True)
    found = {
        "kapp": _first_version(_sources("kapp"), "carvel.dev/kapp "),
        "helm": _first_version(_sources("helm"), "helm.sh/helm/v3 "),
        "kubectl": _first_version(asked.stdout, "Client Version: "),
        "ansible-core": importlib.metadata.version("ansible-core"),
    }
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _sources(wrapper: str) -> str:
    return (tools.WRAPPERS / wrapper / "go.mod").read_text()


def _first_version(text: str, after: str) -> str:
    found = re.search(re.escape(after) + r"v([0-9.]+)", text)
    return found[1] if found else "of unknown version"
