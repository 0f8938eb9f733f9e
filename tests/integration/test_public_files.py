# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the public repository runs by itself is what the checkout has: versions, targets, combinations."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.quick


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def test_pre_commit_has_the_versions_of_the_constraints() -> None:
    pins = dict(
        re.findall(r"^([\w-]+)==(\S+)", (ROOT / "tests/requirements/constraints.txt").read_text(), re.MULTILINE)
    )
    found = {}
    for repository in loaded(".pre-commit-config.yaml")["repos"]:
        for hook in repository["hooks"]:
            wanted = hook.get("additional_dependencies") or [f"{hook['id']}=={repository['rev'].removeprefix('v')}"]
            found |= dict(one.split("==") for one in wanted)
    named = {"ruff-check": "ruff", "ruff-format": "ruff", "reuse-lint-file": "reuse"}
    assert found == {name: pins[named.get(name, name)] for name in found}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_may_only_read_and_runs_targets_that_there_are(file: Path) -> None:
    text = file.read_text()
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert set(re.findall(r"uses: (\S+)", text)) <= {
        "actions/checkout@v6",
        "actions/setup-go@v6",
        "actions/setup-python@v6",
    }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
    [oldest_go] = re.findall(
        r"^OLDEST_GO = \((\d+), (\d+)\)", (ROOT / "scripts/run_tests.py").read_text(), re.MULTILINE
    )
    assert set(re.findall(r'go-version: "(.+)"', text)) <= {".".join(oldest_go)}


def test_the_matrix_begins_with_the_oldest_ansible_core_that_is_supported() -> None:
    command = [sys.executable, str(ROOT / "tests" / "matrix.py"), "--list"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert loaded("meta/runtime.yml")["requires_ansible"] == f">={told[0]['core']}.0"
    assert {one["core"] for one in told} == {
        file.stem.removeprefix("ignore-") for file in (ROOT / "tests" / "sanity").iterdir()
    }
    assert [bool(one["more"]) for one in told] == [True, *[False] * (len(told) - 2), True]
