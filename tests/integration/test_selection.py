# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make test` runs a third of the integration tests, and proves all that README.md promises with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
QUICK = "pytest.mark.quick"
# They work on a node and never ask the API server.
NOT_ON_A_CLUSTER = {"nmstate_apply", "nmstate_revert", "nmstate_info", "nmstate_confirm"}
# The operator's playbook runs these, in test_operator_glue.py.
BY_THE_OPERATOR = {"reconcile_begin", "reconcile_end", "requeue_after"}
# Modules that tests call by another name than their own.
CALLED = {"maintenance_info": r"maintenance\.info\("}


def quick_parts() -> Iterator[str]:
    """The source of every file, or of every single test, that is marked."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        source = file.read_text()
        tree = ast.parse(source)
        if f"\npytestmark = {QUICK}\n" in source and file != Path(__file__):
            yield source
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and QUICK in map(ast.unparse, node.decorator_list):
                yield ast.unparse(node)


def promises() -> list[str]:
    section = (ROOT / "README.md").read_text().partition("## What you can rely on\n")[2].partition("\n## ")[0]
    return [promise for promise in re.split(r"\n- ", section)[1:] if "tests/integration/" in promise]


@pytest.mark.parametrize("promise", promises(), ids=lambda text: re.sub(r"\W+", " ", text)[:40].strip())
def test_what_can_be_relied_on_is_proven_by_make_test(promise: str) -> None:
    linked = [ROOT / path for path in re.findall(r"tests/integration/\w+\.py", promise)]
    assert any(QUICK in file.read_text() for file in linked), f"none of them is marked: {[one.name for one in linked]}"


def test_every_playbook_and_every_module_of_a_cluster_is_run_by_make_test() -> None:
    sources = "\n".join(quick_parts())
    playbooks = {file.stem for file in (ROOT / "playbooks").glob("*.yml")}
    modules = {file.stem for file in (ROOT / "plugins" / "modules").glob("*.py")} - NOT_ON_A_CLUSTER - BY_THE_OPERATOR
    assert {name for name in playbooks if f"sunset.kube.{name}" not in sources} == set()
    assert {name for name in modules if not re.search(CALLED.get(name, rf"\b{name}\b"), sources)} == set()
